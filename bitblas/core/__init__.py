"""Matrix, Vector, Scalar, masks and delayed expressions: GraphBLAS semantics, no arithmetic of its own.

A statement `C(mask, accum, replace) << expr` goes: base.py (call style) -> update.py (what kind of value) ->
vector.py / matrix.py (the verb, then the merge into C). GraphBLAS C API 2.1, sections 3 and 4.
"""

from __future__ import annotations

from .base import replace
from .explain import explain
from .matrix import Matrix, TransposedMatrix
from .operators import op, op_from_string
from .scalar import Scalar
from .vector import Vector

__all__ = ["Matrix", "Scalar", "TransposedMatrix", "Vector", "explain", "op", "op_from_string", "replace"]

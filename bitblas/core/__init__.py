"""Matrix, Vector, Scalar, masks and delayed expressions: GraphBLAS semantics; the arithmetic is in operations.

A statement `C(mask, accum, replace) << expr` goes: statement/indexing.py (call style) -> statement/running.py (errors,
traces) -> assign.py (what kind of value, then the merge into C). GraphBLAS C API 2.1, sections 3 and 4.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from semirings.operators import applied_to_scalars_by

from .aggregators import op, op_from_string
from .hooks import late
from .matrix.matrix import Matrix, TransposedMatrix
from .scalar import Scalar
from .statement.indexing import replace
from .statement.infix import apply_operator
from .statement.running import explain
from .vector import Vector


def _extras(name: str) -> Callable[[], Any]:
    """The loader of a class of core/ss."""

    def load() -> Any:
        from . import ss

        return getattr(ss, name)

    return load


late.update(MatrixExtras=_extras("MatrixExtras"), VectorExtras=_extras("VectorExtras"))
sys.modules[f"{__name__}.vector.vector"] = sys.modules[f"{__name__}.vector"]  # its name in pickles of older versions
applied_to_scalars_by(apply_operator)  # binary.plus(1, 2): the operators themselves know no Scalars

__all__ = ["Matrix", "Scalar", "TransposedMatrix", "Vector", "explain", "op", "op_from_string", "replace"]

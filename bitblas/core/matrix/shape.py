"""Methods that change a Matrix in place: size and diagonal. resize: GraphBLAS C API 2.1, section 4.2.5.5."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from semirings.dtypes import cast_scalar, check_cast

from ... import verbs
from ...exceptions import DimensionMismatch
from ..convert import check_size, same_device, written_array
from ..options import check_options
from ..statement.mask import Mask, check
from ..statement.operand import Operand, object_of
from ..statement.operands import several
from ..vector.vector import Vector
from .stored import StoredMatrix


class MatrixReshape(StoredMatrix):
    __slots__ = ()

    def resize(self, nrows: Any, ncols: Any) -> None:
        """Change the shape in place; entries beyond it are deleted."""
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        self._adopt(verbs.submatrix.place(self._store, 0, 0, *shape))

    def setdiag(self, values: Any, k: Any = 0, *, mask: Any = None, accum: Any = None, **opts: Any) -> None:
        """Set diagonal k: to a scalar, to a list or array, or to a Vector, whose missing entries are deleted there
        unless there is an accumulator.

        mask: a Vector mask along the diagonal, or a Matrix mask. Raises IndexError for a diagonal that is outside,
        DimensionMismatch, TypeError.
        """
        check_options(opts)
        k, size = _diagonal(self, k)
        v = _diagonal_values(self, values, size)
        nrows, ncols = self.shape
        m = None if mask is None else _along(self, mask, k, size)
        to_write = v if m is None else v.dup(mask=m)
        D = to_write.diag(k)
        D.resize(nrows, ncols)
        if accum is None:
            inside = v.dup(bool, clear=True)
            for some in (self.diag(k), to_write):  # other positions are neither written nor deleted
                inside(some.S) << True
            gone = (inside if m is None else inside.dup(mask=m)).diag(k)
            gone.resize(nrows, ncols)
            self(gone.S) << D
        else:
            self(D.S, accum) << D


def _diagonal(A: Any, k: Any) -> tuple[int, int]:
    try:
        k = operator.index(int(k) if isinstance(k, float) and k.is_integer() else k)
    except TypeError:
        raise TypeError(f"k: expected an integer, got {k!r}") from None
    size = min(A.nrows + min(k, 0), A.ncols - max(k, 0))
    if size <= 0 and (k <= -A.nrows if k < 0 else 0 < k >= A.ncols):
        raise IndexError(f"k: expected a diagonal of a matrix of {A.nrows} x {A.ncols}, got {k}")
    return k, max(0, size)


def _diagonal_values(A: Any, values: Any, size: int) -> Vector:
    if isinstance(values, Operand) and values.ndim:
        v: Vector = object_of(values, 1, "setdiag")
        if v.size != size:
            raise DimensionMismatch(f"values: expected a Vector of size {size}, that of the diagonal, got {v.size}")
        same_device("setdiag", A, v)
        check_cast(v.dtype, A.dtype)
        return v
    own = A.dtype if A.dtype._is_udt else None
    if own is not None and not several(values, own):
        return Vector.from_scalar(values, size, own, device=A.device)
    if isinstance(values, Operand):
        values = values._resolve()
    array, dtype = written_array(A.device, values, A.dtype)
    if isinstance(array, np.generic):
        return Vector.from_scalar(cast_scalar(array, dtype), size, dtype, device=A.device)
    if array.ndim != 1:
        raise TypeError(f"values: expected a scalar, a Vector or a list, got an array of shape {array.shape}")
    if len(array) != size:
        raise DimensionMismatch(f"values: expected {size} values, the length of the diagonal, got {len(array)}")
    return Vector.from_dense(array, dtype=dtype, device=A.device)


def _along(A: Any, mask: Any, k: int, size: int) -> Mask:
    """The mask as a Vector mask along diagonal k."""
    m = check(mask, getattr(mask, "ndim", 1))
    if m.ndim == 2:
        if m.shape != A.shape:
            raise DimensionMismatch(f"mask: expected shape {A.shape}, got {m.shape}")
        return Mask(m.parent.diag(k), m.structure, m.complement)
    if m.parent.size != size:
        raise DimensionMismatch(f"mask: expected size {size}, that of the diagonal, got {m.parent.size}")
    return m

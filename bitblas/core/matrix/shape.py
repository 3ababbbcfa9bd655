"""Operations on whole matrices: Kronecker product, power, and what moves entries or sets a diagonal.

kronecker: GraphBLAS C API 2.1, section 4.3.12; resize: 4.2.5.5; build: 4.2.5.9. The others are python-graphblas'.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Typed, semiring
from semirings import binary as binary_ops
from semirings.dtypes import cast_scalar

from ...exceptions import DimensionMismatch, OutputNotEmpty
from ...store import MatrixStore, full_vector
from ...verbs import submatrix
from ...verbs.mxm import mxm
from .. import operators
from ..convert import check_size, same_device, value_array
from ..operators import typed
from ..options import check_options
from ..statement.expr import MatrixExpression
from ..statement.mask import Mask, check
from ..statement.operand import Operand, object_of
from ..vector.vector import Vector

if TYPE_CHECKING:
    from .matrix import Matrix


class MatrixWhole:
    """What Matrix and TransposedMatrix share."""

    __slots__ = ()
    _store: Any
    _matrix: Any
    _transposed: bool
    nrows: Any
    ncols: Any
    shape: Any
    dtype: Any
    device: Any

    def kronecker(self, other: Any, op: Any = binary_ops.times) -> MatrixExpression:
        """op(self[i, j], other[k, l]) at (i * other.nrows + k, j * other.ncols + l).

        op: BinaryOp, Monoid or text. Raises TypeError, KeyError (op has not that type).
        """
        B = object_of(other, 2, "kronecker")
        same_device("kronecker", self, B)
        f = typed(op, "binary", self.dtype, B.dtype)
        run = lambda mask: submatrix.kronecker(self._store, B._store, f)
        return MatrixExpression(self.nrows * B.nrows, self.ncols * B.ncols, "kronecker", (self, B), f, run)

    def power(self, n: Any, op: Any = semiring.plus_times) -> MatrixExpression:
        """self to the power n by repeated squaring, of self's dtype; n = 0: the multiplier's identity on the diagonal.

        Raises DimensionMismatch unless self is square, ValueError for negative n, or n = 0 and a multiplier that has
        no monoid; TypeError, KeyError for op.
        """
        if self.nrows != self.ncols:
            raise DimensionMismatch(f"power: expected a square matrix, got {self.shape}")
        try:
            exponent = operator.index(int(n) if isinstance(n, float) and n.is_integer() else n)
        except TypeError:
            raise TypeError(f"n: expected a non-negative integer, got {n!r}") from None
        f = typed(op, "semiring", self.dtype, self.dtype)
        if exponent < 0:
            raise ValueError(f"n: expected a non-negative integer, got {exponent}")
        if exponent == 0 and operators.monoid_of(f.op.binaryop) is None:
            raise ValueError(f"n: expected a positive integer with {f!r}, whose multiplier has no identity, got 0")
        run = lambda mask: _power(self._store, exponent, f)
        return MatrixExpression(self.nrows, self.ncols, "power", (self, exponent), f, run, self.dtype)

    def reposition(
        self, row_offset: Any, column_offset: Any, *, nrows: Any = None, ncols: Any = None
    ) -> MatrixExpression:
        """A Matrix of nrows x ncols (self's if not given) with self's entries moved by the offsets; what falls out is
        dropped."""
        shape = self.nrows if nrows is None else int(nrows), self.ncols if ncols is None else int(ncols)
        nrows, ncols = check_size("nrows", shape[0]), check_size("ncols", shape[1])
        by = int(row_offset), int(column_offset)
        run = lambda mask: submatrix.place(self._store, *by, nrows, ncols)
        return MatrixExpression(nrows, ncols, "reposition", (self, *by), None, run, self.dtype)


def _power(A: MatrixStore, n: int, op: Typed) -> MatrixStore:
    if n == 0:
        multiply = operators.monoid_of(op.op.binaryop)
        assert multiply is not None  # `power` refuses what has no identity
        one = multiply.identity(A.dtype)
        return submatrix.from_diagonal(full_vector(A.device, A.nrows, one, A.dtype), 0)
    result = None
    while True:
        if n & 1:
            result = A if result is None else mxm(result, A, op)
        n >>= 1
        if not n:
            assert result is not None
            return result
        A = mxm(A, A, op)


class MatrixReshape:
    """What changes a Matrix in place."""

    __slots__ = ()

    def resize(self: Matrix, nrows: Any, ncols: Any) -> None:  # type: ignore[misc]
        """Change the shape in place; entries beyond it are deleted."""
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        self._adopt(submatrix.place(self._store, 0, 0, *shape))

    def build(  # type: ignore[misc]
        self: Matrix, rows: Any, columns: Any, values: Any, *, dup_op: Any = None, clear: bool = False,
        nrows: Any = None, ncols: Any = None,
    ) -> None:  # fmt: skip
        """Insert entries into a Matrix that has none, or after `clear`.

        nrows, ncols: resize it first. Raises OutputNotEmpty, and what `from_coo` raises.
        """
        if self.nvals and not clear:
            raise OutputNotEmpty(f"build: expected a Matrix without entries, got {self.nvals}; clear=True deletes them")
        shape = self.nrows if nrows is None else nrows, self.ncols if ncols is None else ncols
        array, _ = value_array(self.device, values, self.dtype)
        fresh = type(self).from_coo(
            rows, columns, array, self.dtype, nrows=shape[0], ncols=shape[1], dup_op=dup_op, device=self.device
        )
        self._adopt(fresh._store)

    def setdiag(  # type: ignore[misc]
        self: Matrix, values: Any, k: Any = 0, *, mask: Any = None, accum: Any = None, **opts: Any
    ) -> None:
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
            inside << True
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
        return v
    array, dtype = value_array(A.device, values._resolve() if isinstance(values, Operand) else values, None)
    if isinstance(array, np.generic):
        return Vector.from_scalar(cast_scalar(array, dtype), size, dtype, device=A.device)
    if array.ndim != 1:
        raise TypeError(f"values: expected a scalar, a Vector or a list, got an array of shape {array.shape}")
    if len(array) != size:
        raise DimensionMismatch(f"values: expected {size}, as many as the diagonal has, got {len(array)}")
    return Vector.from_dense(array, dtype=dtype, device=A.device)


def _along(A: Any, mask: Any, k: int, size: int) -> Mask:
    """The mask as one of a Vector along diagonal k."""
    m = check(mask, getattr(mask, "ndim", 1))
    if m.ndim == 2:
        if m.shape != A.shape:
            raise DimensionMismatch(f"mask: expected shape {A.shape}, got {m.shape}")
        return Mask(m.parent.diag(k), m.structure, m.complement)
    if m.parent.size != size:
        raise DimensionMismatch(f"mask: expected size {size}, that of the diagonal, got {m.parent.size}")
    return m

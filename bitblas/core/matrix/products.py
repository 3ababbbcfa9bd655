"""Products of matrices: mxm and mxv, Kronecker product, power. GraphBLAS C API 2.1, sections 4.3.1 to 4.3.3, 4.3.12."""

from __future__ import annotations

import operator
from typing import Any

from semirings import Typed, semiring
from semirings import binary as binary_ops

from ... import verbs
from ...exceptions import DimensionMismatch
from ...store import MatrixStore, full_vector
from ..convert import same_device
from ..operators import monoid_of, typed
from ..statement.expr import MatrixExpression, VectorExpression
from ..statement.operand import object_of
from ..statement.products import multiply_vector


class MatrixProducts:
    """Products of Matrix and TransposedMatrix."""

    __slots__ = ()
    _store: Any
    _matrix: Any
    _transposed: bool
    nrows: Any
    ncols: Any
    shape: Any
    dtype: Any
    device: Any

    def mxm(self, other: Any, op: Any = semiring.plus_times) -> MatrixExpression:
        """The matrix product, of self.nrows x other.ncols.

        Raises DimensionMismatch unless self.ncols equals other.nrows; TypeError, KeyError for op.
        """
        B = other if type(other) is type(self) else object_of(other, 2, "mxm")
        (nrows, inner), (of_b, ncols) = self.shape, B.shape
        if inner != of_b:
            raise DimensionMismatch(f"mxm: expected inner sizes that are the same, got {self.shape} and {B.shape}")
        if self.device is not B.device:
            same_device("mxm", self, B)
        f = typed(op, "semiring", self.dtype, B.dtype)
        (a, ta), (b, tb) = (self._matrix, self._transposed), (B._matrix, B._transposed)

        def run(mask: Any, order: Any = None) -> MatrixStore:
            return verbs.mxm.mxm(a._at(order), b._at(order), f, transpose_a=ta, transpose_b=tb, mask=mask)

        args = self, B
        along = None if f.op.is_positional else args
        return MatrixExpression(nrows, ncols, "mxm", args, f, run, None, True, along)

    def mxv(self, other: Any, op: Any = semiring.plus_times) -> VectorExpression:
        """The product with a Vector, as a column: a vector of self.nrows. Errors as in `mxm`."""
        return multiply_vector(self, object_of(other, 1, "mxv"), op, "mxv")

    def kronecker(self, other: Any, op: Any = binary_ops.times) -> MatrixExpression:
        """op(self[i, j], other[k, l]) at (i * other.nrows + k, j * other.ncols + l).

        op: BinaryOp, Monoid or text. Raises TypeError, KeyError (op has no version for the type).
        """
        B = object_of(other, 2, "kronecker")
        same_device("kronecker", self, B)
        f = typed(op, "binary", self.dtype, B.dtype)
        run = lambda mask: verbs.between.kronecker(self._store, B._store, f)
        return MatrixExpression(self.nrows * B.nrows, self.ncols * B.ncols, "kronecker", (self, B), f, run)

    def power(self, n: Any, op: Any = semiring.plus_times) -> MatrixExpression:
        """self to the power n by repeated squaring, of self's dtype; n = 0: the multiplier's identity on the diagonal.

        Raises DimensionMismatch unless self is square, ValueError for negative n, or for n = 0 if the multiplier has no
        monoid; TypeError, KeyError for op.
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
        if exponent == 0 and monoid_of(f.op.binaryop) is None:
            raise ValueError(f"n: expected a positive integer with {f!r}, whose multiplier has no identity, got 0")
        run = lambda mask: _power(self._store, exponent, f)
        return MatrixExpression(self.nrows, self.ncols, "power", (self, exponent), f, run, self.dtype)


def _power(A: MatrixStore, n: int, op: Typed) -> MatrixStore:
    if n == 0:
        multiply = monoid_of(op.op.binaryop)
        assert multiply is not None  # `power` refuses multipliers without identity
        one = multiply.identity(A.dtype)
        return verbs.between.from_diagonal(full_vector(A.device, A.nrows, one, A.dtype), 0)
    result = None
    while True:
        if n & 1:
            result = A if result is None else verbs.mxm.mxm(result, A, op)
        n >>= 1
        if not n:
            assert result is not None
            return result
        A = verbs.mxm.mxm(A, A, op)

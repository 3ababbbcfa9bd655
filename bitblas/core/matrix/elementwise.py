"""Element-wise operations, apply and select of matrices, with a Vector as either operand where it can be broadcast.

GraphBLAS C API 2.1, sections 4.3.4, 4.3.5, 4.3.8, 4.3.9. Operations return delayed expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import binary as binary_ops
from semirings import monoid
from semirings.dtypes import BOOL, DataType, check_cast

from ... import verbs
from ...device import Device
from ...exceptions import DimensionMismatch
from ...order import Order
from ...store import MatrixStore, full_vector
from ..convert import same_device
from ..operators import typed
from ..statement.expr import MatrixExpression
from ..statement.mask import matrix_mask
from ..statement.operand import Operand, object_of
from ..statement.operands import apply_operator, index_operator, operands, select_mask, union_operator
from ..statement.orders import movable


class MatrixElementwise(Operand):
    """`_stored`: the content in its stored order; `_store`: in the user's order; `_order` is the stored order."""

    __slots__ = ()
    ndim = 2

    if TYPE_CHECKING:

        @property
        def _order(self) -> Order | None: ...
        @property
        def _stored(self) -> MatrixStore: ...
        @property
        def _store(self) -> MatrixStore: ...
        @property
        def nrows(self) -> int: ...
        @property
        def ncols(self) -> int: ...
        @property
        def dtype(self) -> DataType: ...

    def _at(self, order: Order | None) -> MatrixStore:
        """The content in its own order or in the user's."""
        return self._store if order is None else self._stored

    @property
    def shape(self) -> tuple[int, int]:
        return (self.nrows, self.ncols)

    def _partner(self, other: Any, where: str, *, restrict: bool = False) -> Any:
        if type(other) is type(self):
            B = other
        elif isinstance(other, Operand) and other.ndim == 1:
            return self._beside(other._resolve(), where, columns=False, restrict=restrict)
        else:
            B = object_of(other, 2, where)
        if self.nrows != B.nrows or self.ncols != B.ncols:
            raise DimensionMismatch(f"{where}: expected two matrices of one shape, got {self.shape} and {B.shape}")
        if self.device is not B.device:
            same_device(where, self, B)
        return B

    def _beside(self, vector: Any, where: str, *, columns: bool, restrict: bool) -> Broadcast:
        """A Vector broadcast to this shape: as each of its rows, or of its columns."""
        return Broadcast(vector, self, where, columns=columns, restrict=restrict)

    def ewise_add(self, other: Any, op: Any = monoid.plus) -> MatrixExpression:
        """The union: op where both have an entry, else the single entry. A Vector is broadcast to every row.

        op: BinaryOp, Monoid or text. Raises DimensionMismatch, TypeError, KeyError (op has no version for the type).
        """
        return self._ewise(self._partner(other, "ewise_add"), op, "ewise_add", verbs.matrix.ewise_add)

    def ewise_mult(self, other: Any, op: Any = binary_ops.times) -> MatrixExpression:
        """The intersection: op where both have an entry. Errors as in `ewise_add`."""
        return self._ewise(self._partner(other, "ewise_mult", restrict=True), op, "ewise_mult", verbs.matrix.ewise_mult)

    def _ewise(self, B: Any, op: Any, method: str, verb: Callable[..., MatrixStore]) -> MatrixExpression:
        dtype = self.dtype
        f = typed(op, "binary", dtype, B.dtype)
        if method == "ewise_add" and dtype is not f.return_type:
            check_cast(dtype, f.return_type)
        run = lambda mask, order=None: verb(self._at(order), B._at(order), f)
        args = self, B
        along = None if f.op.positional else args
        return MatrixExpression(self.nrows, self.ncols, method, args, f, run, None, False, along)

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> MatrixExpression:
        """The union, with a default for the missing operand; the result type also holds the defaults."""
        B = self._partner(other, "ewise_union")
        f, x, y = union_operator(op, self.dtype, B.dtype, left_default, right_default)
        at = lambda A, order: verbs.matrix.cast(A._at(order), f.dtype)
        run = lambda mask, order=None: verbs.matrix.ewise_union(at(self, order), at(B, order), f, x, y)
        args = self, B, x, y
        return MatrixExpression(self.nrows, self.ncols, "ewise_union", args, f, run, along=movable(f, self, B))

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> MatrixExpression:
        """op of every entry: a UnaryOp; a BinaryOp with a scalar `left` or `right`; an IndexUnaryOp with its thunk as
        `right`. Raises TypeError, KeyError (op has no version for the type)."""
        kind, f, scalar = apply_operator(op, self.dtype, left, right)
        along, (nrows, ncols) = (self,), self.shape
        if kind == "unary":
            run: Any = lambda mask, order: verbs.matrix.apply(self._at(order), f)
        elif kind == "index":
            run = lambda mask, order: verbs.matrix.apply_index(self._at(order), f, scalar)
        else:
            run = lambda mask, order: verbs.matrix.apply_bound(self._at(order), f, scalar, left=kind == "left")
        args = along if scalar is None else operands(self, kind, scalar)
        return MatrixExpression(nrows, ncols, "apply", args, f, run, None, False, along)

    def select(self, op: Any, thunk: Any = None) -> MatrixExpression:
        """The entries for which op(value, row, column, thunk) is true; or those under a mask, or a BOOL object. Raises
        TypeError, KeyError (op has no version for the type)."""
        mask = select_mask(op, thunk, 2)
        if mask is not None:
            mask.fits(self)

            def run(_: Any, order: Any) -> MatrixStore:
                A = self._at(order)
                return verbs.matrix.merge(A, A, matrix_mask(mask, order), None, True)

            both = self, mask.parent
            return MatrixExpression(self.nrows, self.ncols, "select", (self, mask), None, run, self.dtype, along=both)
        dtype, (nrows, ncols) = self.dtype, self.shape
        f, value = index_operator(op, dtype, thunk, "select")
        keep = lambda _, order: verbs.matrix.select(self._at(order), f, value)
        return MatrixExpression(nrows, ncols, "select", (self, value), f, keep, dtype, False, (self,))


class Broadcast(MatrixElementwise):
    """`vector` with the shape of `partner`. columns: it is the left operand and becomes each column, else each row.
    restrict: it is needed only where the partner has entries."""

    __slots__ = ("columns", "partner", "restrict", "vector")
    _transposed = False
    _order = None  # made in the user's order

    def __init__(self, vector: Any, partner: Any, where: str, *, columns: bool, restrict: bool) -> None:
        self.vector, self.partner, self.columns, self.restrict = vector, partner, columns, restrict
        size = partner.shape[0 if columns else 1]
        if vector.size != size:
            raise DimensionMismatch(
                f"{where}: expected a Vector of size {size}, because the matrix of {partner.shape} has that many "
                f"{'rows' if columns else 'columns'}, got {vector.size}"
            )
        same_device(where, vector, partner)

    @property
    def name(self) -> str:
        return self.vector.name

    @property
    def dtype(self) -> DataType:
        return self.vector.dtype

    @property
    def device(self) -> Device:
        return self.vector.device

    @property
    def nrows(self) -> int:
        return self.partner.nrows

    @property
    def ncols(self) -> int:
        return self.partner.ncols

    @property
    def _store(self) -> MatrixStore:
        u = self.vector._store
        if self.restrict:
            return verbs.between.spread(self.partner._store, u, columns=self.columns)
        ones = full_vector(u.device, self.ncols if self.columns else self.nrows, np.bool_(True), BOOL)
        if self.columns:
            return verbs.between.outer(u, ones, binary_ops.first[u.dtype])
        return verbs.between.outer(ones, u, binary_ops.second[u.dtype])

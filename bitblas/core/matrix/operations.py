"""Operations of matrices as delayed expressions: element-wise, apply, select, products, Kronecker, power, A[I, J].

GraphBLAS C API 2.1, sections 4.3.1 to 4.3.9 and 4.3.12. A Vector is broadcast if it is an element-wise operand.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from semirings import Typed, monoid, semiring
from semirings import binary as binary_ops
from semirings.dtypes import BOOL, DataType, check_cast

from ... import operations
from ...device import Device
from ...exceptions import DimensionMismatch
from ...order import Order
from ...store import MatrixStore, SparseStore, full_vector
from ..convert import one_shown, same_device
from ..operators import monoid_of, typed
from ..statement.expressions import MatrixExpression, ScalarExpression, VectorExpression, multiply_vector
from ..statement.indexing import Axis, IndexExpr, One, Several, parse
from ..statement.infix import Operand, describe, object_of
from ..statement.masks import matrix_mask
from ..statement.orders import movable
from ..statement.scalar_operands import apply_operator, index_operator, operands, select_mask, union_operator

if TYPE_CHECKING:
    from ...operations.operands import MatrixMask
    from ...store import VectorStore
    from ..scalar import Scalar
    from ..statement.masks import Mask
    from ..typing import Axes, IndexLike, MaskLike, OperandArg, OperandLike, OperatorLike, Run
    from ..vector.vector import Vector
    from .matrix import Matrix


# ---- Element-wise operations, apply and select of matrices, with a Vector as either operand where it can be
# broadcast.
#
# GraphBLAS C API 2.1, sections 4.3.4, 4.3.5, 4.3.8, 4.3.9. Operations return delayed expressions.


class MatrixElementwise(Operand):
    """`_stored`: the content in its stored order; `_store`: in the user's order; `_order` is the stored order."""

    __slots__ = ()
    ndim = 2
    name: Any
    _transposed: bool

    if TYPE_CHECKING:

        @property
        def _matrix(self) -> Matrix: ...
        @property
        def nvals(self) -> int: ...
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

    def _at(self, order: Order | None) -> MatrixStore:
        """The content in its own order or in the user's."""
        return self._store if order is None else self._stored

    @property
    def shape(self) -> tuple[int, int]:
        return (self.nrows, self.ncols)

    def _partner(self, other: OperandLike, where: str, *, restrict: bool = False) -> MatrixElementwise:
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

    def _beside(self, vector: Vector, where: str, *, columns: bool, restrict: bool) -> Broadcast:
        """A Vector broadcast to this shape: as each of its rows, or of its columns."""
        return Broadcast(vector, self, where, columns=columns, restrict=restrict)

    def ewise_add(self, other: OperandLike, op: OperatorLike = monoid.plus) -> MatrixExpression:
        """The union: op where both have an entry, else the single entry. A Vector is broadcast to every row.

        op: BinaryOp, Monoid or text. Raises DimensionMismatch, TypeError, KeyError (op has no version for the type).
        """
        return self._ewise(self._partner(other, "ewise_add"), op, "ewise_add", operations.ewise_matrix.UNION)

    def ewise_mult(self, other: OperandLike, op: OperatorLike = binary_ops.times) -> MatrixExpression:
        """The intersection: op where both have an entry. Errors as in `ewise_add`."""
        B = self._partner(other, "ewise_mult", restrict=True)
        return self._ewise(B, op, "ewise_mult", operations.ewise_matrix.BOTH)

    def _ewise(self, B: MatrixElementwise, op: OperatorLike, method: str, mode: int) -> MatrixExpression:
        dtype = self.dtype
        f = typed(op, "binary", dtype, B.dtype)
        if method == "ewise_add" and dtype is not f.return_type:
            check_cast(dtype, f.return_type)
        run = lambda mask, order=None: operations.ewise_matrix.ewise(self._at(order), B._at(order), f, mode)
        args = self, B
        along = None if f.op.positional else args
        return MatrixExpression(self.nrows, self.ncols, method, args, f, run, None, False, along)

    def ewise_union(
        self, other: OperandLike, op: OperatorLike, left_default: OperandLike, right_default: OperandLike
    ) -> MatrixExpression:
        """The union, with a default for the missing operand; the result type also holds the defaults."""
        B = self._partner(other, "ewise_union")
        f, x, y = union_operator(op, self.dtype, B.dtype, left_default, right_default)
        at = lambda A, order: operations.ewise_matrix.cast(A._at(order), f.dtype)
        FILLED, both = operations.ewise_matrix.FILLED, (x, y)
        run = lambda mask, order=None: operations.ewise_matrix.ewise(at(self, order), at(B, order), f, FILLED, both)
        args = self, B, x, y
        return MatrixExpression(self.nrows, self.ncols, "ewise_union", args, f, run, along=movable(f, self, B))

    def apply(self, op: OperatorLike, right: OperandArg = None, *, left: OperandArg = None) -> MatrixExpression:
        """op of every entry: a UnaryOp; a BinaryOp with a scalar `left` or `right`; an IndexUnaryOp with its thunk as
        `right`. Raises TypeError, KeyError (op has no version for the type)."""
        kind, f, scalar = apply_operator(op, self.dtype, left, right)
        along, (nrows, ncols) = (self,), self.shape
        if kind == "unary":
            run: Run = lambda mask, order: operations.ewise_matrix.apply(self._at(order), f)
        elif kind == "index":
            run = lambda mask, order: operations.ewise_matrix.apply_index(self._at(order), f, scalar)
        else:
            run = lambda mask, order: operations.ewise_matrix.apply_bound(
                self._at(order), f, scalar, left=kind == "left"
            )
        args = along if scalar is None else operands(self, kind, scalar)
        return MatrixExpression(nrows, ncols, "apply", args, f, run, None, False, along)

    def select(self, op: OperatorLike | Mask | Operand, thunk: OperandArg = None) -> MatrixExpression:
        """The entries for which op(value, row, column, thunk) is true; or those under a mask, or a BOOL object. Raises
        TypeError, KeyError (op has no version for the type)."""
        mask = select_mask(op, thunk, 2)
        if mask is not None:
            mask.fits(self)
            both, read = (self, mask.parent), partial(_under_mask, self, mask)
            return MatrixExpression(self.nrows, self.ncols, "select", (self, mask), None, read, self.dtype, along=both)
        dtype, (nrows, ncols) = self.dtype, self.shape
        f, value = index_operator(op, dtype, thunk, "select")
        keep = lambda _, order: operations.ewise_matrix.select(self._at(order), f, value)
        return MatrixExpression(nrows, ncols, "select", (self, value), f, keep, dtype, False, (self,))


def _under_mask(A: MatrixElementwise, selected: Mask, mask: object, order: Order | None) -> MatrixStore:
    store = A._at(order)
    return operations.ewise_matrix.merge(store, store, matrix_mask(selected, order), None, True)


class Broadcast(MatrixElementwise):
    """`vector` with the shape of `partner`. columns: it is the left operand and becomes each column, else each row.
    restrict: it is needed only where the partner has entries."""

    __slots__ = ("columns", "device", "dtype", "name", "ncols", "nrows", "partner", "restrict", "vector")
    _transposed = False
    name: str
    dtype: DataType
    device: Device
    nrows: int
    ncols: int
    _order = None  # made in the user's order

    def __init__(
        self, vector: Vector, partner: MatrixElementwise, where: str, *, columns: bool, restrict: bool
    ) -> None:
        self.vector, self.partner, self.columns, self.restrict = vector, partner, columns, restrict
        self.name, self.dtype, self.device = vector.name, vector.dtype, vector.device
        self.nrows, self.ncols = partner.shape
        size = partner.shape[0 if columns else 1]
        if vector.size != size:
            raise DimensionMismatch(
                f"{where}: expected a Vector of size {size}, because the matrix of {partner.shape} has that many "
                f"{'rows' if columns else 'columns'}, got {vector.size}"
            )
        same_device(where, vector, partner)

    @property
    def _store(self) -> MatrixStore:
        u = self.vector._store
        if self.restrict:
            return operations.assign_extract.broadcast(self.partner._store, u, columns=self.columns)
        ones = full_vector(u.device, self.ncols if self.columns else self.nrows, np.bool_(True), BOOL)
        if self.columns:
            return operations.assign_extract.outer(u, ones, binary_ops.first[u.dtype])
        return operations.assign_extract.outer(ones, u, binary_ops.second[u.dtype])


# ---- Products of matrices: mxm and mxv, Kronecker product, power. GraphBLAS C API 2.1, sections 4.3.1 to 4.3.3,
# 4.3.12.


class MatrixProducts(MatrixElementwise):
    """Products of Matrix and TransposedMatrix."""

    __slots__ = ()

    def mxm(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> MatrixExpression:
        """The matrix product, of self.nrows x other.ncols.

        Raises DimensionMismatch unless self.ncols equals other.nrows; TypeError, KeyError for op.
        """
        B = other if isinstance(other, type(self)) else object_of(other, 2, "mxm")
        (nrows, inner), (of_b, ncols) = self.shape, B.shape
        if inner != of_b:
            raise DimensionMismatch(f"mxm: expected inner sizes that are the same, got {self.shape} and {B.shape}")
        if self.device is not B.device:
            same_device("mxm", self, B)
        f = typed(op, "semiring", self.dtype, B.dtype)
        args, run = (self, B), partial(_product, self, B, f)
        along = None if f.op.is_positional else args
        return MatrixExpression(nrows, ncols, "mxm", args, f, run, None, True, along)

    def mxv(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> VectorExpression:
        """The product with a Vector, as a column: a vector of self.nrows. Errors as in `mxm`."""
        return multiply_vector(self, object_of(other, 1, "mxv"), op, "mxv")

    def kronecker(self, other: OperandLike, op: OperatorLike = binary_ops.times) -> MatrixExpression:
        """op(self[i, j], other[k, l]) at (i * other.nrows + k, j * other.ncols + l).

        op: BinaryOp, Monoid or text. Raises TypeError, KeyError (op has no version for the type).
        """
        B = object_of(other, 2, "kronecker")
        same_device("kronecker", self, B)
        f = typed(op, "binary", self.dtype, B.dtype)
        run = lambda mask: operations.assign_extract.kronecker(self._store, B._store, f)
        return MatrixExpression(self.nrows * B.nrows, self.ncols * B.ncols, "kronecker", (self, B), f, run)

    def power(self, n: Any, op: OperatorLike = semiring.plus_times) -> MatrixExpression:
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


def _product(
    A: MatrixElementwise, B: MatrixElementwise, op: Typed, mask: MatrixMask | None, order: Order | None = None
) -> MatrixStore:
    a, b = A._matrix._at(order), B._matrix._at(order)
    return operations.spgemm.mxm(a, b, op, transpose_a=A._transposed, transpose_b=B._transposed, mask=mask)


def _power(A: MatrixStore, n: int, op: Typed) -> MatrixStore:
    if n == 0:
        multiply = monoid_of(op.op.binaryop)
        assert multiply is not None  # `power` refuses multipliers without identity
        one = multiply.identity(A.dtype)
        return operations.assign_extract.from_diagonal(full_vector(A.device, A.nrows, one, A.dtype), 0)
    result = None
    while True:
        if n & 1:
            result = A if result is None else operations.spgemm.mxm(result, A, op)
        n >>= 1
        if not n:
            assert result is not None
            return result
        A = operations.spgemm.mxm(A, A, op)


# ---- A[I, J] of a Matrix or TransposedMatrix: reading by index. GraphBLAS C API 2.1, section 4.3.6.


class MatrixIndex(MatrixElementwise):
    """Indices are ints (negative ones count from the end), slices, lists or arrays of ints, integer Scalars; out of
    range raises IndexError, another type TypeError."""

    __slots__ = ()
    to_coo: Any

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: tuple[One, One]) -> IndexExpr[Scalar]: ...
        @overload
        def __getitem__(self, key: tuple[One, Several] | tuple[Several, One]) -> IndexExpr[Vector]: ...
        @overload
        def __getitem__(self, key: tuple[Several, Several]) -> IndexExpr[Matrix]: ...
        @overload
        def __getitem__(self, key: tuple[IndexLike, IndexLike]) -> IndexExpr: ...

    def __getitem__(self, key: tuple[IndexLike, IndexLike]) -> IndexExpr:
        return IndexExpr(self, parse(self, key))

    def _extract(self, axes: Axes) -> ScalarExpression | VectorExpression | MatrixExpression:
        rows, cols = axes
        if rows.size is None and cols.size is None:
            return ScalarExpression("__getitem__", (self,), None, partial(self._element, rows.at, cols.at), self.dtype)
        if rows.size is None or cols.size is None:
            size: Any = cols.size if rows.size is None else rows.size
            return VectorExpression(
                size, "__getitem__", (self,), None, partial(_read_line, self, rows, cols), self.dtype
            )
        read = partial(_read_part, self, rows, cols)
        return MatrixExpression(rows.size, cols.size, "__getitem__", (self,), None, read, self.dtype)

    def _element(self, i: int, j: int, mask: object = None) -> np.generic | None:
        A = self._matrix._stored
        if A.order is not None:
            i, j = A.order.place(i), A.order.place(j)
        return operations.assign_extract.element(A, *((j, i) if self._transposed else (i, j)))

    def __contains__(self, index: object) -> bool:
        rows, cols = parse(self, index)
        if rows.size is not None or cols.size is not None:
            raise TypeError(f"index in A: expected two integers, got {describe(index)}")
        return self._element(rows.at, cols.at) is not None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """The (row, column) pairs of the entries, in the order of `to_coo`."""
        i, j, _ = self.to_coo(values=False)
        host = self.device.to_host
        return iter(zip(host(i), host(j)))

    def get(self, row: IndexLike, col: IndexLike, default: Any = None) -> Any:
        """A[row, col] as a Python scalar, or `default` if there is no entry. IndexError out of range."""
        rows, cols = parse(self, (row, col))
        if rows.size is not None or cols.size is not None:
            raise ValueError(f"index: expected single indices, got {describe(row)} and {describe(col)}")
        found = self._element(rows.at, cols.at)
        return default if found is None else one_shown(found, self.dtype)


def _read_line(A: MatrixIndex, rows: Axis, cols: Axis, mask: MaskLike) -> VectorStore:
    """A[i, J] or A[I, j] as a store."""
    fixed, along = (rows, cols) if rows.size is None else (cols, rows)
    store = A._matrix._stored
    order, column = store.order, (fixed is cols) != A._transposed
    line = operations.assign_extract.line(store, fixed.at if order is None else order.place(fixed.at), column=column)
    if order is not None:
        line = operations.permute.vector_in(dataclasses.replace(line, order=order), None)
    if along.at is None:
        return line
    if type(line) is SparseStore and (region := along.region):
        return operations.compressed.extract_range(line, region)
    return operations.compressed.extract(line, along.array(store.device))


def _read_part(A: MatrixIndex, rows: Axis, cols: Axis, mask: MaskLike) -> MatrixStore:
    """A[I, J] as a store."""
    store = A._store
    if rows.at is None and cols.at is None:
        return store
    ranges = store.structure.hypersparse
    return operations.assign_extract.extract(
        store, rows.places(store.device, ranges), cols.places(store.device, ranges)
    )

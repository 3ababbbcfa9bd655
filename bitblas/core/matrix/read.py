"""Methods of Matrix and A.T that read: operations as delayed expressions, A[I, J], exports of entries; and A.T itself.

GraphBLAS C API 2.1, sections 4.2.8 (tuples), 4.3.1 to 4.3.10 and 4.3.12. A Vector is broadcast if it is an element-wise
operand.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from semirings import Monoid, Typed, dtypes, monoid, semiring
from semirings import binary as binary_ops
from semirings.dtypes import BOOL, DataType, check_cast

from ... import foreign_names, operations
from ...device import Device
from ...exceptions import DimensionMismatch
from ...formats.csr.layout import pointers_of
from ...order import Order
from ...store import MatrixStore, SparseStore, full_vector
from .. import aggregators
from ..building import fill_of
from ..convert import check_size, one_shown, same_device, shown
from ..hooks import Accessor, late
from ..hooks import state as recording
from ..operators import monoid_of, typed
from ..options import check_options
from ..show import Shown
from ..statement.expressions import MatrixExpression, ScalarExpression, TypedMatrix, VectorExpression, multiply_vector
from ..statement.indexing import Axis, IndexExpr, One, Several, parse
from ..statement.infix import Operand, Operators, describe, object_of
from ..statement.masks import check, common, in_users_order, matrix_mask, movable
from ..statement.running import guarded
from ..statement.scalar_operands import apply_operator, index_operator, operands, select_mask, union_operator
from ..vector import Vector

if TYPE_CHECKING:
    from typing import SupportsInt

    from ...operations.operands import MatrixMask
    from ...store import VectorStore
    from ..scalar import Scalar
    from ..statement.masks import Mask
    from ..typing import (
        Array,
        Axes,
        DTypeArg,
        IndexLike,
        MaskArg,
        MaskLike,
        OperandArg,
        OperandLike,
        OperatorLike,
        Run,
        SizeArg,
    )
    from ..vector import Vector
    from .matrix import Matrix


def is_columnwise(order: object) -> bool:
    """Whether text such as "columnwise" or "F" means by columns. ValueError for unknown text."""
    text = str(order).lower()
    if text in ("f", "col", "cols", "column", "columns", "colwise", "columnwise"):
        return True
    if text in ("c", "row", "rows", "rowwise"):
        return False
    raise ValueError(f"order: expected 'rowwise' (or 'C') or 'columnwise' (or 'F'), got {order!r}")


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
        """The union: op where both have an entry, else the single entry. GraphBLAS C API 2.1, section 4.3.5.

        Parameters
        ----------
        other : Matrix or Vector
            Of the same shape; a Vector of ncols is broadcast to every row.
        op : BinaryOp, Monoid or str, optional
            Such as `binary.max` or "max"; plus if not given.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of this shape; `.new()` or `C <<` computes it.

        Raises
        ------
        DimensionMismatch
            The shapes differ.
        TypeError
            `other` is neither a Matrix nor a Vector, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.

        Examples
        --------
        >>> A, B = Matrix.from_coo([0, 0], [0, 1], [3, 5]), Matrix.from_coo([0], [1], [7], nrows=1, ncols=2)
        >>> A.ewise_add(B, "max").new().to_dicts()
        {0: {0: 3, 1: 7}}
        """
        return self._ewise(self._partner(other, "ewise_add"), op, "ewise_add", operations.ewise_matrix.UNION)

    def ewise_mult(self, other: OperandLike, op: OperatorLike = binary_ops.times) -> MatrixExpression:
        """The intersection: op where both have an entry. GraphBLAS C API 2.1, section 4.3.4.

        Parameters
        ----------
        other : Matrix or Vector
            Of the same shape; a Vector of ncols is broadcast to every row.
        op : BinaryOp, Monoid or str, optional
            Such as `binary.max` or "max"; times if not given.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of this shape; `.new()` or `C <<` computes it.

        Raises
        ------
        DimensionMismatch
            The shapes differ.
        TypeError
            `other` is neither a Matrix nor a Vector, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.

        Examples
        --------
        >>> A, B = Matrix.from_coo([0, 0], [0, 1], [3, 5]), Matrix.from_coo([0], [1], [7], nrows=1, ncols=2)
        >>> A.ewise_mult(B).new().to_dicts()
        {0: {1: 35}}
        """
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
        """The union: op everywhere, with a default for the operand that has no entry.

        Parameters
        ----------
        other : Matrix or Vector
            Of the same shape; a Vector of ncols is broadcast to every row.
        op : BinaryOp, Monoid or str
            Such as `binary.minus` or "minus".
        left_default, right_default : scalar
            Stand for missing entries of self and of `other`; the result type also holds them.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of this shape; `.new()` or `C <<` computes it.

        Raises
        ------
        DimensionMismatch
            The shapes differ.
        TypeError
            `other` is neither a Matrix nor a Vector, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.
        """
        B = self._partner(other, "ewise_union")
        f, x, y = union_operator(op, self.dtype, B.dtype, left_default, right_default)
        at = lambda A, order: operations.ewise_matrix.cast(A._at(order), f.dtype)
        FILLED, both = operations.ewise_matrix.FILLED, (x, y)
        run = lambda mask, order=None: operations.ewise_matrix.ewise(at(self, order), at(B, order), f, FILLED, both)
        args = self, B, x, y
        return MatrixExpression(self.nrows, self.ncols, "ewise_union", args, f, run, along=movable(f, self, B))

    def apply(self, op: OperatorLike, right: OperandArg = None, *, left: OperandArg = None) -> MatrixExpression:
        """op of every entry. GraphBLAS C API 2.1, section 4.3.8.

        Parameters
        ----------
        op : UnaryOp, BinaryOp, IndexUnaryOp or str
            Such as `unary.sqrt`, "sqrt", or "times" with a scalar.
        right : scalar, optional
            The second operand of a BinaryOp, or the thunk of an IndexUnaryOp.
        left : scalar, optional
            The first operand of a BinaryOp.

        Returns
        -------
        MatrixExpression
            A delayed Matrix with the same positions; `.new()` or `C <<` computes it.

        Raises
        ------
        TypeError
            `op` is no such operator, or a BinaryOp without a scalar or with two.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.

        Examples
        --------
        >>> Matrix.from_coo([0], [1], [5]).apply("times", right=2).new().to_dicts()
        {0: {1: 10}}
        """
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
        """The entries for which op(value, row, column, thunk) is true. GraphBLAS C API 2.1, section 4.3.9.

        Parameters
        ----------
        op : SelectOp, IndexUnaryOp, str, mask, Matrix or Vector
            Such as ">", "tril" or `B.S`; under a mask, its entries; a BOOL object stands for its values.
        thunk : scalar, optional
            What `op` compares with.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of this shape and dtype; `.new()` or `C <<` computes it.

        Raises
        ------
        TypeError
            `op` is no such operator or mask.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.

        Examples
        --------
        >>> Matrix.from_coo([0, 0], [0, 1], [3, 5]).select(">", 4).new().to_dicts()
        {0: {1: 5}}
        """
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


# ---- Methods of both Matrix and TransposedMatrix that read. Operations return delayed expressions.


class MatrixRead(TypedMatrix, MatrixElementwise, Shown):
    """`_matrix`: the Matrix itself; `_transposed`: whether it is read transposed; `_stored`: the content of that view
    in its stored order; `_store`: in the user's order.

    Indices are ints (negative ones count from the end), slices, lists or arrays of ints, integer Scalars; out of range
    raises IndexError, another type TypeError. Exported indices are UINT64, on the object's device.
    """

    __slots__ = ()
    T: Any

    @property
    def _order(self) -> Order | None:
        return self._matrix._data.order

    ss = Accessor("MatrixExtras")

    # ---- products: sections 4.3.1 to 4.3.3, 4.3.12 ----

    def mxm(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> MatrixExpression:
        """The matrix product over a semiring. GraphBLAS C API 2.1, section 4.3.1.

        Parameters
        ----------
        other : Matrix
            Of self.ncols rows.
        op : semiring or str, optional
            Such as `semiring.min_plus` or "min_plus"; plus_times if not given.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of self.nrows x other.ncols; `.new()` or `C <<` computes it.

        Raises
        ------
        DimensionMismatch
            self.ncols differs from other.nrows.
        TypeError
            `other` is no Matrix, or `op` no semiring.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.

        Examples
        --------
        >>> A = Matrix.from_coo([0, 1], [1, 0], [3, 5])
        >>> A.mxm(A).new().to_dicts()
        {0: {0: 15}, 1: {1: 15}}
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
        """The product with a Vector, as a column, over a semiring. GraphBLAS C API 2.1, section 4.3.3.

        Parameters
        ----------
        other : Vector
            Of self.ncols positions.
        op : semiring or str, optional
            Such as `semiring.min_plus` or "min_plus"; plus_times if not given.

        Returns
        -------
        VectorExpression
            A delayed Vector of self.nrows positions; `.new()` or `w <<` computes it.

        Raises
        ------
        DimensionMismatch
            self.ncols differs from other.size.
        TypeError
            `other` is no Vector, or `op` no semiring.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.

        Examples
        --------
        >>> A, v = Matrix.from_coo([0, 1], [1, 0], [3, 5]), Vector.from_coo([0, 1], [10, 20])
        >>> A.mxv(v).new().to_dict(), A.mxv(v, "min_plus").new().to_dict()
        ({0: 60, 1: 50}, {0: 23, 1: 15})
        """
        return multiply_vector(self, object_of(other, 1, "mxv"), op, "mxv")

    def kronecker(self, other: OperandLike, op: OperatorLike = binary_ops.times) -> MatrixExpression:
        """The Kronecker product: op(self[i, j], other[k, l]) at (i * other.nrows + k, j * other.ncols + l).

        Parameters
        ----------
        other : Matrix
            Of any shape.
        op : BinaryOp, Monoid or str, optional
            Such as `binary.plus` or "plus"; times if not given.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of self.nrows * other.nrows x self.ncols * other.ncols.

        Raises
        ------
        TypeError
            `other` is no Matrix, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.
        """
        B = object_of(other, 2, "kronecker")
        same_device("kronecker", self, B)
        f = typed(op, "binary", self.dtype, B.dtype)
        run = lambda mask: operations.assign_extract.kronecker(self._store, B._store, f)
        return MatrixExpression(self.nrows * B.nrows, self.ncols * B.ncols, "kronecker", (self, B), f, run)

    def power(self, n: Any, op: OperatorLike = semiring.plus_times) -> MatrixExpression:
        """self to the power n, by repeated squaring.

        Parameters
        ----------
        n : int
            At least 0; for 0 the multiplier's identity on the diagonal.
        op : semiring or str, optional
            Such as `semiring.min_plus` or "min_plus"; plus_times if not given.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of this shape and dtype.

        Raises
        ------
        DimensionMismatch
            self is not square.
        ValueError
            A negative n, or 0 if the multiplier has no monoid; no operator has that name.
        TypeError
            `n` is no integer, or `op` no semiring.
        KeyError
            `op` has no version for the dtype.
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

    # ---- A[I, J]: section 4.3.6 ----

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
        """The entry A[row, col] as a Python scalar.

        Parameters
        ----------
        row, col : int
            Single indices; negative ones count from the end.
        default : optional
            The answer if there is no entry; None if not given.

        Returns
        -------
        scalar
            The value, or `default`.

        Raises
        ------
        IndexError
            An index is out of range.
        ValueError
            Several indices; `A[rows, cols]` reads them.
        """
        rows, cols = parse(self, (row, col))
        if rows.size is not None or cols.size is not None:
            raise ValueError(f"index: expected single indices, got {describe(row)} and {describe(col)}")
        found = self._element(rows.at, cols.at)
        return default if found is None else one_shown(found, self.dtype)

    # ---- reductions: section 4.3.10 ----

    def reduce_rowwise(self, op: OperatorLike = monoid.plus) -> VectorExpression:
        """The reduction of each row that has entries. GraphBLAS C API 2.1, section 4.3.10.

        Parameters
        ----------
        op : Monoid, Aggregator or str, optional
            Such as `monoid.max`, "max" or `agg.mean`; plus if not given.

        Returns
        -------
        VectorExpression
            A delayed Vector of nrows positions, without an entry for an empty row.

        Raises
        ------
        TypeError
            `op` is no monoid and no aggregator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.

        Examples
        --------
        >>> Matrix.from_coo([0, 0, 1], [0, 1, 0], [3, 5, 7]).reduce_rowwise("max").new().to_dict()
        {0: 5, 1: 7}
        """
        return self._reduce_lines(op, "reduce_rowwise", self.nrows, self._transposed)

    def reduce_columnwise(self, op: OperatorLike = monoid.plus) -> VectorExpression:
        """The reduction of each column that has entries. GraphBLAS C API 2.1, section 4.3.10.

        Parameters
        ----------
        op : Monoid, Aggregator or str, optional
            Such as `monoid.max`, "max" or `agg.mean`; plus if not given.

        Returns
        -------
        VectorExpression
            A delayed Vector of ncols positions, without an entry for an empty column.

        Raises
        ------
        TypeError
            `op` is no monoid and no aggregator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.
        """
        return self._reduce_lines(op, "reduce_columnwise", self.ncols, not self._transposed)

    def _reduce_lines(self, op: OperatorLike, method: str, size: int, transpose: bool) -> VectorExpression:
        aggregator = None if type(op) is Monoid else aggregators.find(op)
        if aggregator is not None:
            return aggregators.delayed(aggregator, self, method, size)
        f = typed(op, "monoid", self.dtype)
        A = self._matrix
        run = lambda into: operations.spmv.reduce_rows(A._read(), f, transpose=transpose, into=into)
        along = (self,)
        return VectorExpression(size, method, along, f, run, None, False, True, along)

    def reduce_scalar(self, op: OperatorLike = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The reduction of all entries. GraphBLAS C API 2.1, section 4.3.10.

        Parameters
        ----------
        op : Monoid, Aggregator or str, optional
            Such as `monoid.max`, "max" or `agg.mean`; plus if not given.
        allow_empty : bool, optional
            Without entries the result is an empty Scalar if true, the monoid's identity if false.

        Returns
        -------
        ScalarExpression
            A delayed Scalar; `.new()` computes it, `.value` is its Python number.

        Raises
        ------
        TypeError
            `op` is no monoid and no aggregator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.

        Examples
        --------
        >>> Matrix.from_coo([0, 0], [0, 1], [3, 5]).reduce_scalar().value
        8
        """
        aggregator = aggregators.find(op)
        if aggregator is not None:
            return aggregators.delayed(aggregator, self, "reduce_scalar", None, allow_empty)
        f = typed(op, "monoid", self.dtype)
        run = partial(_reduced, self._matrix, f, None if allow_empty else f.identity)
        return ScalarExpression("reduce_scalar", (self,) if allow_empty else (self, f.identity), f, run)

    # ---- the whole object ----

    def reposition(
        self, row_offset: SupportsInt, column_offset: SupportsInt, *, nrows: SizeArg = None, ncols: SizeArg = None
    ) -> MatrixExpression:
        """The entries at positions shifted by offsets; those that fall outside are dropped.

        Parameters
        ----------
        row_offset, column_offset : int
            Added to each row and column; may be negative.
        nrows, ncols : int, optional
            The shape of the result; this one if not given.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of nrows x ncols and this dtype.

        Raises
        ------
        InvalidValue
            A size is below 0.
        """
        shape = self.nrows if nrows is None else int(nrows), self.ncols if ncols is None else int(ncols)
        nrows, ncols = check_size("nrows", shape[0]), check_size("ncols", shape[1])
        by = int(row_offset), int(column_offset)
        run = lambda mask: operations.assign_extract.place(self._store, *by, nrows, ncols)
        return MatrixExpression(nrows, ncols, "reposition", (self, *by), None, run, self.dtype)

    def diag(self, k: int = 0, dtype: DTypeArg = None, *, name: str | None = None, **opts: object) -> Vector:
        """The diagonal as a Vector.

        Parameters
        ----------
        k : int, optional
            Which one: 0 the main diagonal, above it if positive, below if negative.
        dtype : optional
            Of the Vector; this one if not given.
        name : str, optional
            Of the Vector.

        Returns
        -------
        Vector
            With an entry for each entry of the diagonal.
        """
        check_options(opts)
        u = operations.assign_extract.diagonal(self._matrix._store, -int(k) if self._transposed else int(k))
        v = Vector._from_store(u, name)
        return v if dtype is None else v.dup(dtype, name=name)

    def dup(
        self,
        dtype: DTypeArg = None,
        *,
        clear: bool = False,
        mask: MaskArg = None,
        name: str | None = None,
        **opts: object,
    ) -> Matrix:
        """A copy, whole or in part.

        Parameters
        ----------
        dtype : optional
            What values are cast to; this one if not given.
        clear : bool, optional
            Without entries.
        mask : mask, optional
            Such as `B.S` or `~B.V`: only the entries under it.
        name : str, optional
            Of the copy.

        Returns
        -------
        Matrix
            On the same device.

        Raises
        ------
        TypeError
            `mask` is no mask.
        """
        check_options(opts)
        kind = self.dtype if dtype is None else dtypes.lookup_dtype(dtype)
        make, layout = type(self._matrix), self._matrix._layout
        recorded = bool(recording.threads) and recording.recorder is not None and recording.recorder.takes(self._matrix)
        if clear or mask is not None or recorded:
            C = make(kind, self.nrows, self.ncols, name=name, device=self.device)
            if not clear:
                C._update(self, None if mask is None else check(mask, 2), None, False)
            return C
        # Structures are immutable: a copy shares them.
        with self.device.guard:
            check_cast(self.dtype, kind)
            return make._from_store(operations.ewise_matrix.cast(self._stored, kind).tagged(self._order), name, layout)

    def isequal(self, other: OperandLike, *, check_dtype: bool = False, **opts: object) -> bool:
        """Whether another Matrix has the same shape, the same positions and equal values.

        Parameters
        ----------
        other : Matrix
            On the same device.
        check_dtype : bool, optional
            The dtypes must be the same too.

        Returns
        -------
        bool
            Not a Matrix of comparisons: that is `A.ewise_mult(B, "eq")`.

        Raises
        ------
        TypeError
            `other` is no Matrix.
        DeviceError
            `other` is on another device.
        """
        check_options(opts)
        B = object_of(other, 2, "isequal")
        same_device("isequal", self, B)
        if self.shape != B.shape or (check_dtype and self.dtype is not B.dtype) or self.nvals != B.nvals:
            return False
        f = typed(binary_ops.eq, "binary", self.dtype, B.dtype)
        order = common((self, B))
        x, y = self._at(order), B._at(order)
        if x.structure is not y.structure:
            x, y = x.uncached(), y.uncached()
        same = operations.ewise_matrix.ewise(x, y, f, operations.ewise_matrix.BOTH)
        return same.nvals == self.nvals and bool(
            operations.ewise_matrix.reduce_scalar(same, monoid.land[BOOL]) in (None, True)
        )

    def isclose(
        self,
        other: OperandLike,
        *,
        rel_tol: float = 1e-7,
        abs_tol: float = 0.0,
        check_dtype: bool = False,
        **opts: object,
    ) -> bool:
        """Whether another Matrix has the same shape, the same positions and nearly equal values.

        Parameters
        ----------
        other : Matrix
            On the same device.
        rel_tol, abs_tol : float, optional
            abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol) for all values.
        check_dtype : bool, optional
            The dtypes must be the same too.

        Returns
        -------
        bool
            True if all are close.

        Raises
        ------
        TypeError
            `other` is no Matrix.
        DeviceError
            `other` is on another device.
        """
        check_options(opts)
        B = object_of(other, 2, "isclose")
        same_device("isclose", self, B)
        if self.shape != B.shape or (check_dtype and self.dtype is not B.dtype) or self.nvals != B.nvals:
            return False
        if self.dtype._is_udt:
            return self.isequal(B)
        (i, j, x), (k, l, y) = (
            operations.ewise_matrix.coo(self._in_users_order),
            operations.ewise_matrix.coo(B._in_users_order),
        )
        return bool(((i == k) & (j == l)).all()) and operations.ewise_matrix.all_close(
            self.device, x, y, rel_tol, abs_tol
        )

    # ---- entries, dense arrays, CSR and CSC arrays, dicts ----

    @property
    def _in_users_order(self) -> MatrixStore:
        """The content in the user's order, for one read: the stored order is unchanged, and no second copy is kept."""
        return in_users_order(self.name, self._stored, keep=False)

    def to_coo(
        self, dtype: DTypeArg = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> Any:
        """The entries as arrays on the object's device, by row, then column.

        Parameters
        ----------
        dtype : optional
            Of the values; the Matrix's own if not given.
        rows, columns, values : bool, optional
            Which arrays to make; the others are None.
        sort : bool, optional
            False: in the order of the stored format.

        Returns
        -------
        tuple of arrays
            (rows, columns, values); indices are UINT64.

        Examples
        --------
        >>> rows, columns, values = Matrix.from_coo([1, 0], [0, 1], [3, 5]).to_coo()
        >>> rows.tolist(), columns.tolist(), values.tolist()
        ([0, 1], [1, 0], [5, 3])
        """
        i, j, x = self._coo(dtype, values, sort, rows)
        return (i, j if columns else None, x)

    @guarded
    def _coo(self, dtype: DTypeArg = None, values: bool = True, sort: bool = True, rows: bool = True) -> Any:
        """Its rows, columns and values, of a transpose too: by row, then column, or in stored order."""
        A = self._in_users_order if sort else self._stored
        order = A.order
        if dtype is not None:
            check_cast(A.dtype, kind := dtypes.lookup_dtype(dtype))
            A = operations.ewise_matrix.cast(A, kind).tagged(order)
        if sort:
            i, j, x = operations.ewise_matrix.coo(A, rows=rows, values=values)
        else:
            i, j = A.coo()
            x = A.device.full(len(i), A.values) if A.iso else A.values
        if values and x is A.raw:
            x = A.values.copy()  # callers may write to the result
        i = i.view(np.uint64) if rows else None
        return i, j.view(np.uint64), shown(A.device, x, A.dtype) if values else None

    @guarded
    def to_dense(self, fill_value: OperandArg = None, dtype: DTypeArg = None, **opts: object) -> Array:
        """A two-dimensional array, on the object's device.

        Parameters
        ----------
        fill_value : scalar, optional
            Where there is no entry; needed unless the Matrix is full.
        dtype : optional
            Of the array; if not given, one that holds both values and `fill_value`.

        Returns
        -------
        array
            Of nrows x ncols.

        Raises
        ------
        TypeError
            Entries are missing and no `fill_value` is given.

        Examples
        --------
        >>> Matrix.from_coo([1, 0], [0, 1], [3, 5]).to_dense(0).tolist()
        [[0, 5], [3, 0]]
        """
        check_options(opts)
        A = self._in_users_order
        fill, kind = fill_of(fill_value, dtype, A.dtype, A.nvals == A.nrows * A.ncols)
        i, j, x = operations.ewise_matrix.coo(A)
        out = A.device.xp.full((A.nrows, A.ncols), fill)
        values = operations.value_arrays.cast(A.device, x, A.dtype, kind) if len(x) else x.astype(kind.np_type)
        out.reshape(-1)[i * A.ncols + j] = values
        return shown(A.device, out, kind)

    def to_csr(self, dtype: DTypeArg = None, *, sort: bool = True) -> tuple[Array, Array, Array]:
        """The entries in compressed rows, as arrays on the object's device.

        Parameters
        ----------
        dtype : optional
            Of the values; the Matrix's own if not given.
        sort : bool, optional
            For compatibility: columns always ascend within a row.

        Returns
        -------
        tuple of arrays
            (indptr, columns, values): row i is at indptr[i]:indptr[i + 1]. UINT64 but the values.
        """
        i, j, x = self._coo(dtype)
        ptr = pointers_of(i, self.nrows, self.device).view(np.uint64)
        return ptr, j, x

    def to_csc(self, dtype: DTypeArg = None, *, sort: bool = True) -> tuple[Array, Array, Array]:
        """The entries in compressed columns, as arrays on the object's device.

        Parameters
        ----------
        dtype : optional
            Of the values; the Matrix's own if not given.
        sort : bool, optional
            For compatibility: rows always ascend within a column.

        Returns
        -------
        tuple of arrays
            (indptr, rows, values): column j is at indptr[j]:indptr[j + 1]. UINT64 but the values.
        """
        return self.T.to_csr(dtype)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A table with the columns source, target and weight for libraries that read Arrow (polars, DuckDB, ..).
        ImportError without pyarrow."""
        return late["io"]().to_arrow(self).__arrow_c_stream__(requested_schema)

    def __binsparse_descriptor__(self) -> dict[str, Any]:
        """The descriptor of `__binsparse__` (format CSR). Experimental: the protocol is a draft of the array API."""
        return late["io"]().binsparse.describe(self)[0]

    def __binsparse__(self) -> dict[str, Array]:
        """The arrays of the descriptor by name, on the object's device. Experimental."""
        return late["io"]().binsparse.describe(self)[1]

    def to_torch(self, layout: str = "csr") -> Any:
        """A sparse tensor of PyTorch on the same device: `bitblas.torch.to_torch`.

        Parameters
        ----------
        layout : str, optional
            "csr", "csc" or "coo".

        Returns
        -------
        torch.Tensor
            Of this shape.

        Raises
        ------
        ImportError
            PyTorch is not installed.
        """
        return late["torch"]().to_torch(self, layout)

    def to_dcsr(self, dtype: DTypeArg = None, *, sort: bool = True) -> tuple[Array, Array, Array, Array]:
        """The entries in compressed rows, without the empty ones, as arrays on the object's device.

        Parameters
        ----------
        dtype : optional
            Of the values; the Matrix's own if not given.
        sort : bool, optional
            For compatibility: columns always ascend within a row.

        Returns
        -------
        tuple of arrays
            (rows that have entries, indptr, columns, values); UINT64 but the values.
        """
        i, j, x = self._coo(dtype)
        xp = self.device.xp
        first = xp.flatnonzero(xp.append(xp.ones(min(1, len(i)), bool), i[1:] != i[:-1]))
        return i[first].view(np.uint64), xp.append(first, len(i)).astype(np.uint64), j, x

    def to_dcsc(self, dtype: DTypeArg = None, *, sort: bool = True) -> tuple[Array, Array, Array, Array]:
        """The entries in compressed columns, without the empty ones, as arrays on the object's device.

        Parameters
        ----------
        dtype : optional
            Of the values; the Matrix's own if not given.
        sort : bool, optional
            For compatibility: rows always ascend within a column.

        Returns
        -------
        tuple of arrays
            (columns that have entries, indptr, rows, values); UINT64 but the values.
        """
        return self.T.to_dcsr(dtype)

    def to_edgelist(
        self, dtype: DTypeArg = None, *, values: bool = True, sort: bool = True
    ) -> tuple[Array, Array | None]:
        """The entries as one array of (row, column) pairs, on the object's device.

        Parameters
        ----------
        dtype : optional
            Of the values; the Matrix's own if not given.
        values : bool, optional
            False: None in place of the values.
        sort : bool, optional
            False: in the order of the stored format.

        Returns
        -------
        tuple
            (array of shape (nvals, 2), values).
        """
        i, j, x = self.to_coo(dtype, values=values, sort=sort)
        return self.device.xp.stack((i, j), axis=1), x

    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, object]]:
        """The entries as nested dictionaries of Python numbers.

        Parameters
        ----------
        order : str, optional
            "rowwise" or "columnwise".

        Returns
        -------
        dict
            {row: {column: value}}; columnwise {column: {row: value}}.

        Raises
        ------
        ValueError
            Another `order`.
        """
        source = self.T if is_columnwise(order) else self
        host = self.device.to_host
        out: dict[int, dict[int, object]] = {}
        for i, j, x in zip(*(host(a).tolist() for a in source._coo())):
            out.setdefault(i, {})[j] = x
        return out


# ---- What expressions compute.


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


def _read_line(A: MatrixRead, rows: Axis, cols: Axis, mask: MaskLike) -> VectorStore:
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


def _read_part(A: MatrixRead, rows: Axis, cols: Axis, mask: MaskLike) -> MatrixStore:
    """A[I, J] as a store."""
    store = A._store
    if rows.at is None and cols.at is None:
        return store
    ranges = store.structure.hypersparse
    I = rows.places(store.device, ranges)
    return operations.assign_extract.extract(store, I, I if cols is rows else cols.places(store.device, ranges))


def _reduced(A: Matrix, monoid: Typed, empty: np.generic | None, mask: object) -> np.generic | None:
    """empty: the result without entries."""
    found = operations.ewise_matrix.reduce_scalar(A._stored, monoid)
    return empty if found is None else found


# ---- A.T: a transposed view of a Matrix.


class TransposedMatrix(MatrixRead, Operators, metaclass=foreign_names.Hinted):
    """A.T: a view of A with rows and columns exchanged; `.new()` makes it a Matrix. Products read the view directly."""

    __slots__ = ("__weakref__", "_matrix")
    _matrix: Matrix
    _transposed = True

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    @property
    def T(self) -> Matrix:
        return self._matrix

    @property
    def name(self) -> str:
        return f"{self._matrix.name}.T"

    @property
    def dtype(self) -> DataType:
        return self._matrix.dtype

    @property
    def device(self) -> Device:
        return self._matrix.device

    @property
    def nrows(self) -> int:
        return self._matrix.ncols

    @property
    def ncols(self) -> int:
        return self._matrix.nrows

    @property
    def nvals(self) -> int:
        return self._matrix.nvals

    @property
    def _store(self) -> MatrixStore:
        return operations.ewise_matrix.transpose(self._matrix._store)

    @property
    def _stored(self) -> MatrixStore:
        return operations.ewise_matrix.transpose(self._matrix._stored).tagged(self._order)

    def to_coo(
        self, dtype: DTypeArg = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> Any:
        """(rows, columns, values) as from `Matrix.to_coo`, in the order of the underlying matrix: by column, then
        row."""
        j, i, x = self._matrix.to_coo(dtype, rows=columns, columns=rows, values=values, sort=sort)
        return i, j, x

    def wait(self, how: str = "materialize") -> TransposedMatrix:
        """Itself, after pending writes and device work are complete."""
        self._matrix.wait(how)
        return self

    def new(self, dtype: DTypeArg = None, *, mask: MaskArg = None, name: str | None = None, **opts: Any) -> Matrix:
        """The transpose as a Matrix."""
        return self.dup(dtype, mask=mask, name=name, **opts)

    def __dir__(self) -> list[str]:
        return dir(type(self))


foreign_names.add_foreign_names(TransposedMatrix, foreign_names.MATRIX)

"""What Matrix and TransposedMatrix share: reading. Operations return delayed expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import binary as binary_ops
from semirings import dtypes, monoid, semiring
from semirings.dtypes import BOOL, DataType

from ...device import Device
from ...exceptions import DimensionMismatch
from ...order import Order
from ...store import MatrixStore
from ...verbs import matrix as verbs
from ...verbs import product, submatrix
from ...verbs.mxm import mxm
from .. import aggregators
from ..accessor import Accessor
from ..convert import same_device
from ..operators import typed
from ..options import check_options
from ..show import Shown
from ..statement.base import Operand, describe
from ..statement.expr import MatrixExpression, ScalarExpression, VectorExpression
from ..statement.mask import check
from ..statement.operands import apply_operator, index_operator, operands, select_mask, union_operator
from ..statement.orders import common, movable
from ..statement.products import multiply_vector
from ..vector.vector import Vector, vector_of
from .build import MatrixExport
from .index import MatrixIndex
from .shape import MatrixWhole

if TYPE_CHECKING:
    from .matrix import Matrix


def matrix_of(value: Any, where: str) -> Any:
    """A Matrix or TransposedMatrix, computed if it is delayed. TypeError otherwise."""
    if isinstance(value, MatrixRead):
        return value
    if isinstance(value, Operand) and value.ndim == 2:
        return value._resolve()
    raise TypeError(f"{where}: expected a Matrix, got {describe(value)}")


class MatrixRead(MatrixExport, MatrixIndex, MatrixWhole, Shown):
    """`_matrix`: the Matrix itself; `_transposed`: read it the other way round; `_stored`: the result of doing so, as
    it lies; `_store`: in the user's order."""

    __slots__ = ()
    ndim = 2
    _transposed: bool
    name: Any

    if TYPE_CHECKING:

        @property
        def _matrix(self) -> Matrix: ...
        @property
        def nrows(self) -> int: ...
        @property
        def ncols(self) -> int: ...
        @property
        def nvals(self) -> int: ...
        @property
        def dtype(self) -> DataType: ...
        @property
        def device(self) -> Device: ...

    @property
    def _order(self) -> Order | None:
        return self._matrix._data.order

    def _at(self, order: Order | None) -> MatrixStore:
        """What it holds, in its own order or in the user's."""
        return self._store if order is None else self._stored

    @property
    def shape(self) -> tuple[int, int]:
        return (self.nrows, self.ncols)

    # ---- products: GraphBLAS C API 2.1, sections 4.3.1 to 4.3.3 ----

    def mxm(self, other: Any, op: Any = semiring.plus_times) -> MatrixExpression:
        """The matrix product, of self.nrows x other.ncols.

        Raises DimensionMismatch unless self.ncols is other.nrows; TypeError, KeyError for op.
        """
        B = matrix_of(other, "mxm")
        if self.ncols != B.nrows:
            raise DimensionMismatch(f"mxm: expected inner sizes that are the same, got {self.shape} and {B.shape}")
        same_device("mxm", self, B)
        f = typed(op, "semiring", self.dtype, B.dtype)
        (a, ta), (b, tb) = (self._matrix, self._transposed), (B._matrix, B._transposed)

        def run(mask: Any, order: Any = None) -> MatrixStore:
            return mxm(a._at(order), b._at(order), f, transpose_a=ta, transpose_b=tb, mask=mask)

        along = None if f.op.is_positional else (self, B)
        return MatrixExpression(self.nrows, B.ncols, "mxm", (self, B), f, run, masked=True, along=along)

    def mxv(self, other: Any, op: Any = semiring.plus_times) -> VectorExpression:
        """The product with a Vector, as a column: a vector of self.nrows. Errors as in `mxm`."""
        return multiply_vector(self, vector_of(other, "mxv"), op, "mxv")

    # ---- element-wise, apply, select: sections 4.3.4, 4.3.5, 4.3.8, 4.3.9 ----

    def _partner(self, other: Any, where: str, *, restrict: bool = False) -> Any:
        if isinstance(other, Operand) and other.ndim == 1:
            from ..statement.broadcast import Broadcast

            return Broadcast(other._resolve(), self, where, columns=False, restrict=restrict)
        B = matrix_of(other, where)
        if self.shape != B.shape:
            raise DimensionMismatch(f"{where}: expected two matrices of one shape, got {self.shape} and {B.shape}")
        same_device(where, self, B)
        return B

    def ewise_add(self, other: Any, op: Any = monoid.plus) -> MatrixExpression:
        """The union: op where both have an entry, else the one there is. A Vector counts as every row.

        op: BinaryOp, Monoid or text. Raises DimensionMismatch, TypeError, KeyError (op has not that type).
        """
        B = self._partner(other, "ewise_add")
        f = typed(op, "binary", self.dtype, B.dtype)
        run = lambda mask, order=None: verbs.ewise_add(self._at(order), B._at(order), f)
        return MatrixExpression(self.nrows, self.ncols, "ewise_add", (self, B), f, run, along=movable(f, self, B))

    def ewise_mult(self, other: Any, op: Any = binary_ops.times) -> MatrixExpression:
        """The intersection: op where both have an entry. Errors as in `ewise_add`."""
        B = self._partner(other, "ewise_mult", restrict=True)
        f = typed(op, "binary", self.dtype, B.dtype)
        run = lambda mask, order=None: verbs.ewise_mult(self._at(order), B._at(order), f)
        return MatrixExpression(self.nrows, self.ncols, "ewise_mult", (self, B), f, run, along=movable(f, self, B))

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> MatrixExpression:
        """The union, with a default for the operand that is missing; the type also holds the defaults."""
        B = self._partner(other, "ewise_union")
        f, x, y = union_operator(op, self.dtype, B.dtype, left_default, right_default)
        at = lambda A, order: verbs.cast(A._at(order), f.dtype)
        run = lambda mask, order=None: verbs.ewise_union(at(self, order), at(B, order), f, x, y)
        args = self, B, x, y
        return MatrixExpression(self.nrows, self.ncols, "ewise_union", args, f, run, along=movable(f, self, B))

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> MatrixExpression:
        """op of every entry: a UnaryOp; a BinaryOp with a scalar `left` or `right`; an IndexUnaryOp with its thunk as
        `right`. Raises TypeError, KeyError (op has not that type)."""
        kind, f, scalar = apply_operator(op, self.dtype, left, right)
        if kind == "unary":
            run: Any = lambda mask, order: verbs.apply(self._at(order), f)
        elif kind == "index":
            run = lambda mask, order: verbs.apply_index(self._at(order), f, scalar)
        else:
            run = lambda mask, order: verbs.apply_bound(self._at(order), f, scalar, left=kind == "left")
        args = operands(self, kind, scalar)
        return MatrixExpression(self.nrows, self.ncols, "apply", args, f, run, along=(self,))

    def select(self, op: Any, thunk: Any = None) -> MatrixExpression:
        """The entries for which op(value, row, column, thunk) is true; or those under a mask, or a BOOL object.
        Raises TypeError, KeyError (op has not that type)."""
        mask = select_mask(op, thunk, 2)
        if mask is not None:
            mask.fits(self)

            def run(_: Any, order: Any) -> MatrixStore:
                from .assign import matrix_mask

                A = self._at(order)
                return verbs.merge(A, A, matrix_mask(mask, order), None, True)

            both = self, mask.parent
            return MatrixExpression(self.nrows, self.ncols, "select", (self, mask), None, run, self.dtype, along=both)
        f, value = index_operator(op, self.dtype, thunk, "select")
        keep = lambda _, order: verbs.select(self._at(order), f, value)
        return MatrixExpression(self.nrows, self.ncols, "select", (self, value), f, keep, self.dtype, along=(self,))

    ss = Accessor("MatrixExtras")

    # ---- reductions: section 4.3.10 ----

    def reduce_rowwise(self, op: Any = monoid.plus) -> VectorExpression:
        """The monoid's sum of each row that has entries: a vector of nrows. op may be an aggregator, as `agg.mean`."""
        return self._reduce(op, "reduce_rowwise", self.nrows, self._transposed)

    def reduce_columnwise(self, op: Any = monoid.plus) -> VectorExpression:
        """The monoid's sum of each column that has entries: a vector of ncols. op may be an aggregator."""
        return self._reduce(op, "reduce_columnwise", self.ncols, not self._transposed)

    def _reduce(self, op: Any, method: str, size: int, transpose: bool) -> VectorExpression:
        aggregator = aggregators.find(op)
        if aggregator is not None:
            return aggregators.delayed(aggregator, self, method, size)
        f = typed(op, "monoid", self.dtype)
        A = self._matrix
        run = lambda mask: product.reduce_rows(A._read(), f, transpose=transpose)
        return VectorExpression(size, method, (self,), f, run, along=(self,))

    def reduce_scalar(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The monoid's sum of all entries. Without entries: an empty Scalar, or the identity if `allow_empty` is
        false. op may be an aggregator too. Raises TypeError (op has no monoid), KeyError."""
        aggregator = aggregators.find(op)
        if aggregator is not None:
            return aggregators.delayed(aggregator, self, "reduce_scalar", None, allow_empty)
        f = typed(op, "monoid", self.dtype)
        A = self._matrix

        def run(mask: Any) -> np.generic | None:
            found = verbs.reduce_scalar(A._stored, f)
            return f.identity if found is None and not allow_empty else found

        return ScalarExpression("reduce_scalar", (self,), f, run)

    # ---- the whole object ----

    def diag(self, k: int = 0, dtype: Any = None, *, name: str | None = None, **opts: Any) -> Vector:
        """Diagonal k as a Vector."""
        check_options(opts)
        u = submatrix.diagonal(self._matrix._store, -int(k) if self._transposed else int(k))
        v = Vector._from_store(u, name)
        return v if dtype is None else v.dup(dtype, name=name)

    def dup(
        self, dtype: Any = None, *, clear: bool = False, mask: Any = None, name: str | None = None, **opts: Any
    ) -> Matrix:
        """A copy: cast to `dtype`, without entries (`clear`), or only those under `mask`."""
        from .matrix import Matrix

        check_options(opts)
        kind = self.dtype if dtype is None else dtypes.lookup_dtype(dtype)
        layout = self._matrix._layout
        if clear or mask is not None:
            C = Matrix(kind, self.nrows, self.ncols, name=name, device=self.device)
            if mask is not None and not clear:
                C._update(self, check(mask, 2), None, False)
            return C
        # Structures are immutable: a copy shares them.
        with self.device.guard:
            return Matrix._from_store(verbs.cast(self._stored, kind).tagged(self._order), name, layout)

    def isequal(self, other: Any, *, check_dtype: bool = False, **opts: Any) -> bool:
        """The same shape, the same structure, equal values; the dtype counts with `check_dtype`."""
        check_options(opts)
        B = matrix_of(other, "isequal")
        same_device("isequal", self, B)
        if self.shape != B.shape or (check_dtype and self.dtype is not B.dtype) or self.nvals != B.nvals:
            return False
        f = typed(binary_ops.eq, "binary", self.dtype, B.dtype)
        order = common((self, B))
        x, y = self._at(order), B._at(order)
        if x.structure is not y.structure:
            x, y = x.in_passing(), y.in_passing()
        same = verbs.ewise_mult(x, y, f)
        return same.nvals == self.nvals and bool(verbs.reduce_scalar(same, monoid.land[BOOL]) in (None, True))

    def isclose(
        self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False, **opts: Any
    ) -> bool:
        """The same shape and structure, and abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)."""
        check_options(opts)
        B = matrix_of(other, "isclose")
        same_device("isclose", self, B)
        if self.shape != B.shape or (check_dtype and self.dtype is not B.dtype) or self.nvals != B.nvals:
            return False
        (i, j, x), (k, l, y) = verbs.coo(self._whole), verbs.coo(B._whole)
        return bool(((i == k) & (j == l)).all()) and verbs.all_close(self.device, x, y, rel_tol, abs_tol)

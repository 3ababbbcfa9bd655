"""Methods of both Matrix and A.T that read, and TransposedMatrix. Operations return delayed expressions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Monoid, Typed, dtypes, monoid
from semirings import binary as binary_ops
from semirings.dtypes import BOOL, DataType, check_cast

from ... import foreign_names, operations
from ...device import Device
from ...order import Order
from ...store import MatrixStore
from .. import aggregators
from ..convert import check_size, same_device
from ..late_binding import Accessor
from ..operators import typed
from ..options import check_options
from ..show import Shown
from ..statement.expressions import MatrixExpression, ScalarExpression, TypedMatrix, VectorExpression
from ..statement.infix import Operators, object_of
from ..statement.masks import check
from ..statement.orders import common
from ..statement.symbolic import state as recording
from ..vector.vector import Vector
from .arrays import MatrixExport
from .operations import MatrixIndex, MatrixProducts

if TYPE_CHECKING:
    from typing import SupportsInt

    from ..typing import DTypeArg, MaskArg, OperandLike, OperatorLike, SizeArg
    from .matrix import Matrix


# ---- Methods of both Matrix and TransposedMatrix that read. Operations return delayed expressions.


class MatrixRead(TypedMatrix, MatrixExport, MatrixIndex, MatrixProducts, Shown):
    """`_matrix`: the Matrix itself; `_transposed`: whether it is read transposed; `_stored`: the content of that view
    in its stored order; `_store`: in the user's order."""

    __slots__ = ()

    @property
    def _order(self) -> Order | None:
        return self._matrix._data.order

    ss = Accessor("MatrixExtras")

    # ---- reductions: section 4.3.10 ----

    def reduce_rowwise(self, op: OperatorLike = monoid.plus) -> VectorExpression:
        """The monoid's reduction of each row that has entries: a vector of nrows. op may be an aggregator, such as
        `agg.mean`."""
        return self._reduce_lines(op, "reduce_rowwise", self.nrows, self._transposed)

    def reduce_columnwise(self, op: OperatorLike = monoid.plus) -> VectorExpression:
        """The monoid's reduction of each column that has entries: a vector of ncols. op may be an aggregator."""
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
        """The monoid's reduction of all entries. Without entries: an empty Scalar, or the identity if `allow_empty` is
        false. op may be an aggregator too. Raises TypeError (op has no monoid), KeyError."""
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
        """A Matrix of nrows x ncols (self's if not given) with self's entries shifted by the offsets; entries that fall
        outside are dropped."""
        shape = self.nrows if nrows is None else int(nrows), self.ncols if ncols is None else int(ncols)
        nrows, ncols = check_size("nrows", shape[0]), check_size("ncols", shape[1])
        by = int(row_offset), int(column_offset)
        run = lambda mask: operations.assign_extract.place(self._store, *by, nrows, ncols)
        return MatrixExpression(nrows, ncols, "reposition", (self, *by), None, run, self.dtype)

    def diag(self, k: int = 0, dtype: DTypeArg = None, *, name: str | None = None, **opts: object) -> Vector:
        """Diagonal k as a Vector."""
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
        """A copy: cast to `dtype`, without entries (`clear`), or only those under `mask`."""
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
        """The same shape, the same structure, equal values; the dtype counts with `check_dtype`."""
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
        """The same shape and structure, and abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)."""
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

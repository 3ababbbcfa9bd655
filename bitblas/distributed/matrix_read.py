"""Read-only operations of a distributed Matrix and its transpose: products, reductions, extraction."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import monoid, semiring

from ..core import Matrix as Whole
from ..core import aggregators
from ..core.operators import typed
from ..core.statement.axes import Axis, parse
from ..core.statement.expr import ScalarExpression
from ..core.statement.indexing import IndexExpr
from ..core.statement.operand import Operand, describe
from ..exceptions import DimensionMismatch
from . import exchange, shares
from .expr import SharedExpression
from .positions import check_product
from .products import multiply_vector
from .start import current


class MatrixRead:
    """Operations that a distributed Matrix and TransposedMatrix share."""

    __slots__ = ()
    _matrix: Any
    _transposed: bool
    _rows: Any
    nrows: Any
    ncols: Any
    shape: Any
    dtype: Any

    def mxv(self, other: Any, op: Any = semiring.plus_times) -> SharedExpression:
        """The product with a Vector, as a column."""
        return multiply_vector(self, other, op, "mxv")

    def mxm(self, other: Any, op: Any = semiring.plus_times) -> SharedExpression:
        """The matrix product: this rank's rows of self times all of the other matrix, which is gathered."""
        B: Any = other._resolve() if isinstance(other, Operand) and other.ndim == 2 else None
        if not hasattr(B, "_mirror"):
            raise TypeError(f"mxm: expected a distributed Matrix, got {describe(other)}")
        if self.ncols != B.nrows:
            raise DimensionMismatch(f"mxm: expected equal inner sizes, got {self.shape} and {B.shape}")
        f = typed(op, "semiring", self.dtype, B.dtype)
        check_product(f, False)

        def local() -> Any:
            part, whole = self._rows()._part, B._matrix._gathered()
            return part.mxm(whole.T if B._transposed else whole, f)

        return SharedExpression((self.nrows, B.ncols), "mxm", (self, other), f, local, f.return_type)

    def reduce_rowwise(self, op: Any = monoid.plus) -> SharedExpression:
        """The monoid's sum of each row that has entries. op may be an aggregator, such as `agg.mean`."""
        return self._lines_joined(op, "reduce_rowwise", self._transposed)

    def reduce_columnwise(self, op: Any = monoid.plus) -> SharedExpression:
        """The monoid's sum of each column that has entries. op may be an aggregator."""
        return self._lines_joined(op, "reduce_columnwise", not self._transposed)

    def _lines_joined(self, op: Any, method: str, across: bool) -> SharedExpression:
        M = self._matrix
        size = M.ncols if across else M.nrows
        dtype = M._part.reduce_rowwise(op).dtype
        if not across:
            return SharedExpression((size,), method, (self,), None, lambda: M._part.reduce_rowwise(op), dtype)
        if aggregators.find(op) is not None:
            local: Any = lambda: M.T._rows()._part.reduce_rowwise(op)
        else:
            f = typed(op, "monoid", self.dtype)
            local = lambda: exchange.joined(M._part.reduce_columnwise(f).new(), M.column_shares, f)
        return SharedExpression((size,), method, (self,), None, local, dtype)

    def reduce_scalar(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The monoid's sum of all entries."""
        f, M = typed(op, "monoid", self.dtype), self._matrix

        def run(mask: Any) -> Any:
            with current().statement(lambda: f"{M.name}.reduce_scalar({f!r})"):
                found = exchange.folded(M._part.reduce_scalar(f).new()._value, f)
            return f.identity if found is None and not allow_empty else found

        return ScalarExpression("reduce_scalar", (M,), f, run)

    def gathered(self) -> Whole:
        """The whole matrix, as a `bitblas.Matrix` of this rank's own."""
        found = self._matrix._gathered()
        return (found.T if self._transposed else found).dup()

    def to_coo(self, *, rows: bool = True, columns: bool = True, values: bool = True, share: bool = False) -> Any:
        """(rows, columns, values) of all entries, on every rank; with `share`, of this rank's entries."""
        M = self._matrix
        i, j, x = M._part.to_coo(values=values)
        i = i + np.uint64(M.shares.low)
        found = [i, j] if x is None else [i, j, x]
        if not share and current().size > 1:
            found = exchange.concatenated(found)
        if self._transposed:
            found[:2] = found[1::-1]
        return (found[0] if rows else None, found[1] if columns else None, found[2] if values else None)

    def __getitem__(self, key: Any) -> IndexExpr:
        return IndexExpr(self, parse(self, key))

    def _extract(self, axes: tuple[Axis, ...]) -> Any:
        rows, columns = axes
        M = self._matrix
        if rows.size is None and columns.size is None:
            i, j = (columns.at, rows.at) if self._transposed else (rows.at, columns.at)
            return ScalarExpression("__getitem__", (M,), None, lambda mask: M._element(i, j), M.dtype)
        shape = tuple(a.size for a in axes if a.size is not None)

        def local() -> Any:
            A = self._rows()
            mine = [a.array(M.device) for a in axes]
            if rows.size is None:  # a row is gathered on all ranks
                whole = A._gathered()
                at = shares.of(shape[0])
                return whole[rows.at, mine[1][at.low : at.high]].new()
            if rows.at is None:
                return A._part[:, columns.at if columns.size is None else mine[1]].new()
            to = shares.of(rows.size)
            whole = A._gathered()
            return whole[mine[0][to.low : to.high], columns.at if columns.size is None else mine[1]].new()

        return SharedExpression(shape, "__getitem__", (self,), None, local, M.dtype)

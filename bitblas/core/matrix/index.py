"""A[I, J] of a Matrix or TransposedMatrix: reading by index. GraphBLAS C API 2.1, section 4.3.6."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ... import verbs
from ...sparse import SparseStore
from ...store import MatrixStore
from ..convert import one_shown
from ..statement.axes import Axis, One, Several, parse
from ..statement.expr import MatrixExpression, ScalarExpression, VectorExpression
from ..statement.indexing import IndexExpr
from ..statement.operand import describe

if TYPE_CHECKING:
    from ..scalar import Scalar
    from ..vector.vector import Vector
    from .matrix import Matrix


class MatrixIndex:
    """Indices are ints (negative ones count from the end), slices, lists or arrays of ints, integer Scalars; out of
    range raises IndexError, another type TypeError."""

    __slots__ = ()
    _matrix: Any
    _transposed: bool
    _store: Any
    device: Any
    dtype: Any
    to_coo: Any

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: tuple[One, One]) -> IndexExpr[Scalar]: ...
        @overload
        def __getitem__(self, key: tuple[One, Several] | tuple[Several, One]) -> IndexExpr[Vector]: ...
        @overload
        def __getitem__(self, key: tuple[Several, Several]) -> IndexExpr[Matrix]: ...
        @overload
        def __getitem__(self, key: Any) -> IndexExpr[Any]: ...

    def __getitem__(self, key: Any) -> IndexExpr[Any]:
        return IndexExpr(self, parse(self, key))

    def _extract(self, axes: tuple[Axis, ...]) -> Any:
        rows, cols = axes
        if rows.size is None and cols.size is None:
            run: Any = lambda mask: self._element(rows.at, cols.at)
            return ScalarExpression("__getitem__", (self,), None, run, self.dtype)
        if rows.size is None or cols.size is None:
            return self._extract_line(rows, cols)

        def part(mask: Any) -> MatrixStore:
            if rows.at is None and cols.at is None:
                return self._store
            A = self._store
            I, J = (a.places(self.device, A.structure.renumbers) for a in axes)
            return verbs.submatrix.extract(A, I, J)

        return MatrixExpression(rows.size, cols.size, "__getitem__", (self,), None, part, self.dtype)

    def _extract_line(self, rows: Axis, cols: Axis) -> VectorExpression:
        fixed, along = (rows, cols) if rows.size is None else (cols, rows)

        def run(mask: Any) -> Any:
            column = (fixed is cols) != self._transposed
            A = self._matrix._stored
            line = verbs.submatrix.line(A, fixed.at if A.order is None else A.order.place(fixed.at), column=column)
            if A.order is not None:
                line = verbs.reorder.vector_in(dataclasses.replace(line, order=A.order), None)
            if along.region and type(line) is SparseStore:
                return verbs.local.extract_range(line, along.region)
            return line if along.at is None else verbs.local.extract(line, along.array(self.device))

        assert along.size is not None  # the other axis is the single index
        return VectorExpression(along.size, "__getitem__", (self,), None, run, self.dtype)

    def _element(self, i: int, j: int) -> np.generic | None:
        A = self._matrix._stored
        if A.order is not None:
            i, j = A.order.place(i), A.order.place(j)
        return verbs.submatrix.element(A, *((j, i) if self._transposed else (i, j)))

    def __contains__(self, index: Any) -> bool:
        rows, cols = parse(self, index)
        if rows.size is not None or cols.size is not None:
            raise TypeError(f"index in A: expected two integers, got {describe(index)}")
        return self._element(rows.at, cols.at) is not None

    def __iter__(self) -> Iterator[Any]:
        """The (row, column) pairs of the entries, in the order of `to_coo`."""
        i, j, _ = self.to_coo(values=False)
        host = self.device.to_host
        return iter(zip(host(i), host(j)))

    def get(self, row: Any, col: Any, default: Any = None) -> Any:
        """A[row, col] as a Python scalar, or `default` if there is no entry. IndexError out of range."""
        rows, cols = parse(self, (row, col))
        if rows.size is not None or cols.size is not None:
            raise ValueError(f"index: expected single indices, got {describe(row)} and {describe(col)}")
        found = self._element(rows.at, cols.at)
        return default if found is None else one_shown(found, self.dtype)

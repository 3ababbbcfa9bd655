"""`selectk`, `compactify`, `sort`, `scan`, `head`: in each row, in each column, or in a whole vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Typed, binary, dtypes, monoid
from semirings.dtypes import BOOL, UINT64

from ...exceptions import DomainMismatch
from ..convert import check_size
from ..matrix.matrix import Matrix
from ..operators import typed
from ..options import check_options
from ..statement.running import guarded
from ..vector.vector import Vector
from .segments import Segments, check_how, descending

# Comparisons that a plain sort of keys implements, and whether it is descending.
DOWN = {binary.lt: False, binary.le: False, binary.gt: True, binary.ge: True}


class Choosing:
    """Shared by Matrix and Vector. Results are new objects."""

    __slots__ = ()
    _parent: Any

    @property
    def device(self) -> Any:
        return self._parent.device

    def _made(self, segments: Segments, name: str | None, dtype: Any = None, width: int | None = None) -> Any:
        kind: Any = Matrix if self._parent.ndim == 2 else Vector
        return kind._from_store(segments.stored(dtype, width=width), name)

    def _selectk(self, how: str, k: int, order: Any, name: str | None, seed: Any) -> Any:
        how = check_how(how)
        if k < 0:
            raise ValueError(f"k: expected a number of entries, got {k}; negative k is not allowed")
        s = Segments.of(self._parent, order)
        places = s.ordered(how, seed)[s.ranks() < k]
        return self._made(s.taken(self.device.xp.sort(places)), name)

    def _compactify(
        self, how: str, k: Any, order: Any, reverse: bool, asindex: bool, name: str | None, seed: Any
    ) -> Any:
        how = check_how(how)
        s = Segments.of(self._parent, order)
        ranks = s.ranks()
        width = (int(ranks.max()) + 1 if len(ranks) else 0) if k is None else check_size("k", k)
        found = s.taken(s.ordered(how, seed)[ranks < width])
        if reverse and how != "random":
            found = found.taken(found.sorted_by(-found.ranks()))
        if asindex:
            found = found._replace(values=found.index.astype(np.uint64), dtype=UINT64)
        return self._made(found._replace(index=found.ranks()), name, width=width)

    def _sort(self, op: Any, order: Any, values: bool, permutation: bool) -> tuple[Any, Any]:
        f = typed(op, "binary", self._parent.dtype)
        if f.return_type is not BOOL:
            raise DomainMismatch(
                f"op: expected a comparison, which gives BOOL, got {op!r}, which gives {f.return_type}"
            )
        s = Segments.of(self._parent, order)
        found = s.taken(_sorted(s, f))
        ranks = found.ranks()
        made = self._made(found._replace(index=ranks), "Values") if values else None
        if not permutation:
            return made, None
        where = found._replace(index=ranks, values=found.index.astype(np.uint64), dtype=UINT64)
        return made, self._made(where, "Permutation")

    def _scan(self, op: Any, order: Any, name: str | None) -> Any:
        s = Segments.of(self._parent, order)
        return self._made(s.scanned(typed(op, "monoid", self._parent.dtype)), name)

    @guarded
    def head(self, n: int = 10, dtype: Any = None, *, sort: bool = False) -> tuple[Any, ...]:
        """The first n entries (by row, then column) in the form of `to_coo`."""
        *index, values = self._parent.to_coo(None if dtype is None else dtypes.lookup_dtype(dtype))
        return (*(i[:n] for i in index), values[:n])


def _sorted(s: Segments, op: Typed) -> Any:
    if isinstance(s.values, np.generic):
        return s.device.xp.arange(len(s.segment))
    down = DOWN.get(op.op)
    if down is not None:
        return s.sorted_by(descending(s.values) if down else s.values)
    return s.sorted_with(op)


class MatrixChoosing(Choosing):
    """order: "rowwise" or "columnwise", and synonyms; ValueError for anything else."""

    __slots__ = ()

    @guarded
    def selectk(self, how: str, k: int, order: Any = "rowwise", *, name: str | None = None, seed: Any = None) -> Any:
        """Up to k entries of each row (column).

        how: "first", "last", "smallest" and "largest" (of equal ones the first, the last), or "random": each with the
        same probability, determined by `seed`. Raises ValueError for another one, or a k below 0.
        """
        return self._selectk(how, k, order, name, seed)

    @guarded
    def compactify(
        self, how: str = "first", k: int | None = None, order: Any = "rowwise", *, reverse: bool = False,
        asindex: bool = False, name: str | None = None, seed: Any = None,
    ) -> Any:  # fmt: skip
        """The entries of each row moved to the left (of each column to the top), in the order of `how`.

        how, seed: as in `selectk`. k: columns (rows) of the result, so that k entries of each stay; None: enough to
        keep all. reverse: reverse the remaining entries. asindex: their original columns (rows) instead of their
        values. Raises ValueError.
        """
        return self._compactify(how, k, order, reverse, asindex, name, seed)

    @guarded
    def sort(
        self, op: Any = binary.lt, order: Any = "rowwise", *, values: bool = True, permutation: bool = True, **opts: Any
    ) -> tuple[Any, Any]:
        """(Values, Permutation): the entries of each row (column) sorted and moved to the left (top), and their
        original columns (rows); None for a result that was not requested.

        op: a comparison, such as `binary.lt` for ascending order; equal ones keep their order. Raises DomainMismatch
        for an operator that does not return BOOL.
        """
        check_options(opts)
        return self._sort(op, order, values, permutation)

    @guarded
    def scan(self, op: Any = monoid.plus, order: Any = "rowwise", *, name: str | None = None, **opts: Any) -> Any:
        """Prefix sums: each entry combined with those before it in its row (column). Raises TypeError unless op is a
        monoid."""
        check_options(opts)
        return self._scan(op, order, name)


class VectorChoosing(Choosing):
    """selectk, compactify, sort and scan of a Vector."""

    __slots__ = ()

    @guarded
    def selectk(self, how: str, k: int, *, name: str | None = None, seed: Any = None) -> Any:
        """Up to k entries.

        how: "first", "last", "smallest" and "largest" (of equal ones the first, the last), or "random": each with the
        same probability, determined by `seed`. Raises ValueError for another one, or a k below 0.
        """
        return self._selectk(how, k, "rowwise", name, seed)

    @guarded
    def compactify(
        self, how: str = "first", size: int | None = None, *, reverse: bool = False, asindex: bool = False,
        name: str | None = None, seed: Any = None,
    ) -> Any:  # fmt: skip
        """The entries moved to the beginning, in the order of `how`.

        how, seed: as in `selectk`. size: of the result; None: the number of entries. reverse: reverse the remaining
        entries. asindex: their original indices instead of their values. Raises ValueError.
        """
        return self._compactify(how, size, "rowwise", reverse, asindex, name, seed)

    @guarded
    def sort(
        self, op: Any = binary.lt, *, values: bool = True, permutation: bool = True, **opts: Any
    ) -> tuple[Any, Any]:
        """(Values, Permutation): the entries sorted and moved to the beginning, and their original indices; None for a
        result that was not requested. op: as in `Matrix.ss.sort`."""
        check_options(opts)
        return self._sort(op, "rowwise", values, permutation)

    @guarded
    def scan(self, op: Any = monoid.plus, *, name: str | None = None, **opts: Any) -> Any:
        """Prefix sums: each entry combined with those before it. TypeError unless op is a monoid."""
        check_options(opts)
        return self._scan(op, "rowwise", name)


__all__ = ["MatrixChoosing", "VectorChoosing"]

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

# Comparisons that a plain sort of keys does, and whether it goes down.
DOWN = {binary.lt: False, binary.le: False, binary.gt: True, binary.ge: True}


class Choosing:
    """Of both kinds of objects. Results are new objects."""

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
        """What `to_coo` gives, of the first n entries (by row, then column) alone."""
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
    """Of a Matrix. order: "rowwise" or "columnwise", and other words for them; ValueError for what is neither."""

    __slots__ = ()

    @guarded
    def selectk(self, how: str, k: int, order: Any = "rowwise", *, name: str | None = None, seed: Any = None) -> Any:
        """Up to k entries of each row (column).

        how: "first", "last", "smallest" and "largest" (of equal ones the first, the last), or "random": each with the
        same probability, `seed` says which. Raises ValueError for another one, or a k below 0.
        """
        return self._selectk(how, k, order, name, seed)

    @guarded
    def compactify(
        self, how: str = "first", k: int | None = None, order: Any = "rowwise", *, reverse: bool = False,
        asindex: bool = False, name: str | None = None, seed: Any = None,
    ) -> Any:  # fmt: skip
        """The entries of each row moved to the left (of each column to the top), in the order that `how` says.

        how, seed: as in `selectk`. k: columns (rows) of the result, so that k entries of each stay; None: as many as
        none is lost. reverse: the other way round, those that stay. asindex: the columns (rows) where they were in the
        place of their values. Raises ValueError.
        """
        return self._compactify(how, k, order, reverse, asindex, name, seed)

    @guarded
    def sort(
        self, op: Any = binary.lt, order: Any = "rowwise", *, values: bool = True, permutation: bool = True, **opts: Any
    ) -> tuple[Any, Any]:
        """(Values, Permutation): the entries of each row (column) sorted and moved to the left (top), and the columns
        (rows) where they were; None in the place of what is not wanted.

        op: a comparison, such as `binary.lt` for the smallest first; equal ones keep their order. Raises DomainMismatch
        for an operator that does not give BOOL.
        """
        check_options(opts)
        return self._sort(op, order, values, permutation)

    @guarded
    def scan(self, op: Any = monoid.plus, order: Any = "rowwise", *, name: str | None = None, **opts: Any) -> Any:
        """Each entry joined with those before it in its row (column): sums of prefixes, where the entries are.

        Raises TypeError for what is no monoid.
        """
        check_options(opts)
        return self._scan(op, order, name)


class VectorChoosing(Choosing):
    """Of a Vector."""

    __slots__ = ()

    @guarded
    def selectk(self, how: str, k: int, *, name: str | None = None, seed: Any = None) -> Any:
        """Up to k entries.

        how: "first", "last", "smallest" and "largest" (of equal ones the first, the last), or "random": each with the
        same probability, `seed` says which. Raises ValueError for another one, or a k below 0.
        """
        return self._selectk(how, k, "rowwise", name, seed)

    @guarded
    def compactify(
        self, how: str = "first", size: int | None = None, *, reverse: bool = False, asindex: bool = False,
        name: str | None = None, seed: Any = None,
    ) -> Any:  # fmt: skip
        """The entries moved to the beginning, in the order that `how` says.

        how, seed: as in `selectk`. size: of the result; None: as many as there are entries. reverse: the other way
        round, those that stay. asindex: the indices where they were in the place of their values. Raises ValueError.
        """
        return self._compactify(how, size, "rowwise", reverse, asindex, name, seed)

    @guarded
    def sort(
        self, op: Any = binary.lt, *, values: bool = True, permutation: bool = True, **opts: Any
    ) -> tuple[Any, Any]:
        """(Values, Permutation): the entries sorted and moved to the beginning, and the indices where they were; None
        in the place of what is not wanted. op: as in `Matrix.ss.sort`."""
        check_options(opts)
        return self._sort(op, "rowwise", values, permutation)

    @guarded
    def scan(self, op: Any = monoid.plus, *, name: str | None = None, **opts: Any) -> Any:
        """Each entry joined with those before it: sums of prefixes, where the entries are. TypeError for what is no
        monoid."""
        check_options(opts)
        return self._scan(op, "rowwise", name)


__all__ = ["MatrixChoosing", "VectorChoosing"]

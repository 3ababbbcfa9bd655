"""`A.profile(virtual_nodes=True)`: a table of the bytes that virtual nodes would save."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ..display import aligned, html
from ..exceptions import InvalidValue
from ..formats import FORMATS, Structure
from ..formats.virtual.layout import Virtual
from ..formats.virtual.mining import Mined, foresee, mined
from ..store import MatrixStore
from .facts import facts


@dataclass(frozen=True)
class Part:
    """A matrix, its entries, and its smallest format."""

    name: str
    nvals: int
    layout: str
    nbytes: int


@dataclass(frozen=True)
class VirtualNodes:
    """Bytes of A = R or L V, which format="virtual" stores as one graph, compared with A in the smallest of the formats
    that are chosen for memory; prints as a table. seconds: time of the mining."""

    nodes: int
    seconds: float
    whole: Part
    made: Part
    entries: tuple[int, int, int]  # of R, L, V

    @property
    def nbytes(self) -> int:
        return self.made.nbytes

    @property
    def saved(self) -> int:
        """Bytes; negative if A itself is smaller."""
        return self.whole.nbytes - self.nbytes

    def __str__(self) -> str:
        return "\n".join([self._head(), *aligned(self._rows())])

    def _repr_html_(self) -> str:
        return html(self._head(), self._rows())

    def _head(self) -> str:
        share = 100 * self.saved / max(1, self.whole.nbytes)
        what = f"{share:.0f} % of the bytes saved" if self.saved > 0 else "nothing saved"
        return f"{self.nodes} virtual nodes, {what}; found in {self.seconds:.2f} s"

    def _rows(self) -> list[list[str]]:
        parts = [[name, str(nvals), "", "", ""] for name, nvals in zip("RLV", self.entries)]
        whole, made = (
            [x.name, str(x.nvals), x.layout, str(x.nbytes), f"{x.nbytes / max(1, self.whole.nvals):.2f}"]
            for x in (self.whole, self.made)
        )
        return [["matrix", "entries", "form", "bytes", "bytes/entry of A"], whole, *parts, made]


def smallest(of: Structure) -> Part:
    seen = facts(of, exact=True)
    key = min((key for key in seen.forms if FORMATS[key].cost.may_be_smallest(seen)), key=seen.bytes_of)
    return Part("A", of.nvals, key, seen.bytes_of(key))


def with_nodes(of: Structure) -> tuple[Virtual, Mined, float]:
    """format="virtual" of a structure, its nodes, and the seconds of the mining. Its bytes are known afterwards, and
    count in a choice for memory."""
    foresee(of.nrows, of.ncols, of.nvals)
    rows = of.plain_rows()
    begin = time.perf_counter()
    found = mined(rows)
    seconds = time.perf_counter() - begin
    layout, kept = Virtual.of(found, rows)
    of.primary.cache.setdefault("counted", {})[layout.key] = float(layout.nbytes)
    return layout, kept, seconds


def virtual_nodes(A: MatrixStore) -> VirtualNodes:
    """Raises InvalidValue if values differ: an entry of L or V represents many of A."""
    if not A.iso:
        raise InvalidValue("profile: virtual nodes need a matrix with one value for all entries")
    foresee(A.nrows, A.ncols, A.nvals)
    whole = smallest(A.structure)
    layout, kept, seconds = with_nodes(A.structure)
    made = Part("R or L V", sum(kept.entries), f"{layout.key}, in {layout.inner.key}", layout.nbytes)
    return VirtualNodes(kept.nodes, seconds, whole, made, kept.entries)

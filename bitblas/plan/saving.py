"""What virtual nodes would save of a matrix, as a table: `A.profile(virtual_nodes=True)`."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ..exceptions import InvalidValue
from ..formats import FORMATS, Structure
from ..store import MatrixStore
from ..table import aligned, html
from .facts import facts
from .virtual import mined


@dataclass(frozen=True)
class Part:
    """A matrix, its entries, and the form that holds it in the fewest bytes."""

    name: str
    nvals: int
    form: str
    nbytes: int


@dataclass(frozen=True)
class VirtualNodes:
    """What A = R or L V would take, beside A, each in the smallest of the forms that are chosen for memory; prints as a
    table. seconds: what mining took."""

    nodes: int
    seconds: float
    whole: Part
    parts: tuple[Part, Part, Part]  # R, L, V

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    @property
    def saved(self) -> int:
        """Bytes; below 0 where A alone is smaller."""
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
        total = [
            "R or L V", str(sum(part.nvals for part in self.parts)), "", str(self.nbytes),
            f"{self.nbytes / max(1, self.whole.nvals):.2f}",
        ]  # fmt: skip
        rows = [
            [part.name, str(part.nvals), part.form, str(part.nbytes), f"{part.nbytes / max(1, self.whole.nvals):.2f}"]
            for part in (self.whole, *self.parts)
        ]
        return [["matrix", "entries", "form", "bytes", "bytes/entry of A"], *rows, total]


def smallest(name: str, of: Structure) -> Part:
    seen = facts(of, exact=True)
    key = min((key for key in seen.forms if FORMATS[key].may_be_smallest(seen)), key=seen.bytes_of)
    return Part(name, of.nvals, key, seen.bytes_of(key))


def virtual_nodes(A: MatrixStore) -> VirtualNodes:
    """Raises InvalidValue where values differ: an entry of L or V stands for many of A."""
    if not A.iso:
        raise InvalidValue("profile: expected a matrix of one value for virtual nodes, got values of their own")
    begin = time.perf_counter()
    found = mined(A.structure)
    seconds = time.perf_counter() - begin
    names = zip("RLV", (found.rest, found.uses, found.columns))
    R, L, V = (smallest(name, part) for name, part in names)
    return VirtualNodes(found.nodes, seconds, smallest("A", A.structure), (R, L, V))

"""Virtual nodes: lists of columns that several rows share, as vertices of their own.

The smallest layout of web graphs.

A row that has such a list references its node instead, so A = R or L V: R holds the remaining entries, L which rows use
which node, and V the columns of each node. The three are one graph. Nodes are placed among the rows and among the
columns, near those that use them; a row's entries of R and of L are one row of the graph, which is stored in one of
`INNER`, the layout of fewest bytes. mining.py finds nodes. Each entry of A is in R, or belongs to exactly one use of a
node, so products are correct for every monoid (verbs/virtual.py).

Entry order: row, column, as in CSR. Kernels that read rows get plain ones, built for them. Transposes have the same
nodes; a selection has none, because mining would take longer than selecting.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...device import Device
from ...kernels.prologue import Variant
from .. import sound
from ..blocks import blocks_bytes
from ..cgr.format import Cgr
from ..choice import Format
from ..contract import Later, Region
from ..csr import format as csr
from ..nib.format import Nib
from .build import Graph, keys_of, merged, unfolded
from .call import FORMATS
from .mining import Mined, mined
from .places import Places

INNER = (Nib, Cgr)  # layouts of the graph, by their numbers in files
# A node must save more entries than this; values are tried in turn until the size grows. A node's own cost is repaid by
# the first entry in the benchmarks' web graph, by 3 on indochina-2004, by 17 on facebook_combined (measured).
LEAST = (0, 2, 4, 8, 16, 32, math.inf)


@dataclass(eq=False)
class Virtual(csr.Unlisted):
    """Row i of the matrix is the i-th row of `inner` that is not a node's; columns likewise."""

    device: Device
    nrows: int
    ncols: int
    inner: Any  # a layout of INNER, nrows + nodes x ncols + nodes
    rows: Places
    cols: Places  # the same object as `rows` if the matrix is square
    nvals: int
    cache = Later()

    formats: ClassVar[tuple[Format, ...]] = FORMATS
    format = FORMATS[0]
    key = format.key
    compact = True

    @property
    def nbytes(self) -> int:
        return sum(int(x.nbytes) for x in self.arrays().values())

    @classmethod
    def from_csr(cls, rows: csr.Csr, tile: int | None, order: bool) -> tuple[Virtual, Any]:
        """Mines, which takes seconds for ten million entries. Peak memory: that of `mined` on the host, and of the
        codes."""
        return cls.of(mined(rows), rows)[0], None

    @classmethod
    def of(cls, found: Mined, rows: csr.Csr) -> tuple[Virtual, Mined]:
        """The smallest layout of rows in which nodes were found, and the nodes that it keeps."""
        best, size = (merged(found, rows), found), math.inf
        for least in LEAST:
            kept = found.worth(least)
            graph = best[0] if kept is found else merged(kept, rows)
            if (now := min(bytes_in(kind, graph.rows) for kind in INNER)) >= size:
                break
            best, size = (graph, kept), now
        return cls._of(best[0], rows), best[1]

    @classmethod
    def without(cls, rows: csr.Csr) -> Virtual:
        """The layout of these rows without nodes."""
        return cls._of(Graph(rows, *(np.zeros(0, np.int64),) * 2), rows)

    @classmethod
    def _of(cls, graph: Graph, rows: csr.Csr) -> Virtual:
        device = rows.device
        inner: Any = min(INNER, key=lambda kind: bytes_in(kind, graph.rows))
        places = Places.of(device, graph.row_nodes, graph.rows.nrows)
        others = places if rows.nrows == rows.ncols else Places.of(device, graph.col_nodes, graph.rows.ncols)
        form = inner.from_csr(graph.rows, None, False)[0]
        return cls(device, rows.nrows, rows.ncols, form, places, others, rows.nvals)

    def plain(self) -> csr.Csr:
        """The same entries by rows, built unless a caller still holds them (weak reference). Peak memory: 60 bytes per
        entry, and 50 per position."""
        found = self.cache["plain"]() if "plain" in self.cache else None
        if found is None:
            needed = 60 * self.nvals + 50 * (self.inner.nrows + self.inner.ncols)
            self.device.foresee(f"rows of {self.nvals} entries", needed)
            graph = self.inner.to_csr(False)[0]
            found = unfolded(graph, self.rows, self.cols, self.nrows, self.ncols, self.nvals)
            self.cache["plain"] = weakref.ref(found)
        return found

    def columns(self, low: int = 0, high: int | None = None) -> Any:
        return self.plain().columns(low, high)

    def columns_at(self, places: Any) -> Any:
        return self.plain().columns_at(places)

    def coo(self) -> tuple[Any, Any]:
        return self.plain().coo()

    def to_csr(self, order: bool) -> tuple[csr.Csr, Any]:
        return self.plain(), None

    def by_rows(self, order: bool) -> tuple[Any, Any]:
        return self.plain(), None

    def transpose(self, order: bool) -> tuple[Virtual, Any]:
        inner = self.inner.transpose(False)[0]
        places = self.plain().transpose(True)[1] if order else None
        return Virtual(self.device, self.ncols, self.nrows, inner, self.cols, self.rows, self.nvals), places

    def clip(self, region: Region, order: bool) -> tuple[Virtual, Any]:
        rows, places = self.plain().clip(region, order)
        return self.without(rows), places

    def filter(self, keep: Any) -> tuple[Virtual, Any]:
        return self.without(self.plain().filter(keep)[0]), keep

    def equals(self, other: Any) -> bool:
        return self.plain().equals(other.plain())

    def is_symmetric(self) -> bool:
        return self.plain().is_symmetric()

    def arrays(self) -> dict[str, Any]:
        cols = {} if self.rows is self.cols else {"col_nodes": self.cols.bits}
        return {**self.inner.arrays(), "row_nodes": self.rows.bits, **cols}

    def numbers(self) -> dict[str, int]:
        held = {f"inner_{name}": x for name, x in self.inner.numbers().items()}
        return super().numbers() | {"nodes": self.rows.nodes, "inner": INNER.index(type(self.inner))} | held

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Virtual:
        given = {name: x for name, x in numbers.items() if not name.startswith("inner_")}
        nrows, ncols, nvals, nodes, kind = sound.counts(given, "nrows", "ncols", "nvals", "nodes", "inner")
        if refusal := cls.format.refusal(max(nrows, nodes), ncols):
            raise ValueError(f"numbers: {cls.key!r} {refusal}")
        if kind >= len(INNER):
            raise ValueError(f"inner: expected a number below {len(INNER)}, got {kind}")
        held = {name.removeprefix("inner_"): x for name, x in numbers.items() if name.startswith("inner_")}
        sizes = {"row_nodes": nrows + nodes} | ({} if nrows == ncols else {"col_nodes": ncols + nodes})
        bits = {name: x for name, x in arrays.items() if name in sizes}
        sound.expect(bits, **{name: ((np.uint64,), -(-size // 64) or 1) for name, size in sizes.items()})
        inner = INNER[kind].restored(device, held, {name: x for name, x in arrays.items() if name not in sizes})
        if (inner.nrows, inner.ncols) != (nrows + nodes, ncols + nodes):
            raise ValueError(f"inner: expected {nrows + nodes} x {ncols + nodes}, got {inner.nrows} x {inner.ncols}")
        rows, *cols = (Places(device, size, nodes, bits[name]) for name, size in sizes.items())
        return cls(device, nrows, ncols, inner, rows, cols[0] if cols else rows, nvals)

    def check(self) -> None:
        """Also checks that each entry is represented once."""
        self.inner.check()
        self.rows.check("row_nodes")
        self.cols.check("col_nodes")
        keys = keys_of(self.inner.to_csr(False)[0], self.rows, self.cols, self.nvals)
        if not bool((keys[1:] > keys[:-1]).all()):
            raise ValueError("nodes: expected each entry to be represented once")

    @classmethod
    def samples(cls) -> Iterator[Variant]:
        return iter(())


def bytes_in(kind: Any, graph: csr.Csr) -> int:
    """Bytes of a graph in one of the layouts of `INNER`."""
    return blocks_bytes(graph.nrows, kind.format.count(graph))

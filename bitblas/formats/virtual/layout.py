"""Virtual nodes: lists of columns that several rows share, as vertices of their own. The smallest layout of web graphs.

A row that has such a list references its node instead, so A = R or L V: R holds the remaining entries, L which rows use
which node, and V the columns of each node. The three are one graph. Nodes are placed among the rows and among the
columns, near those that use them; a row's entries of R and of L are one row of the graph, which is stored in one of
`INNER`, the layout of fewest bytes. mining.py finds nodes. Each entry of A is in R, or belongs to exactly one use of a
node, so products are correct for every monoid (operations/virtual_nodes.py).

Entry order: row, column, as in CSR. Kernels that read rows get plain ones, built for them. Transposes have the same
nodes; a selection has none, because mining would take longer than selecting.
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import tuning
from ...device import Device
from ...kernels.variant import Variant
from ...typing import Array
from .. import validation
from ..cgr.layout import Cgr
from ..coded import blocks_bytes
from ..contract import LazyDict, Order, Region, compute_once
from ..csr import layout as csr
from ..csr.layout import Csr, from_arrays, index_type, numbers_of, pointers_of, split_keys
from ..nib.layout import Nib
from ..schedule import Part
from .cost import FORMATS
from .mining import Mined, mined

if TYPE_CHECKING:
    from typing import Self

# ---- Positions of virtual nodes among the rows or columns of a matrix, which keep their order.


@dataclass(eq=False)
class Places:
    """Positions of nodes: bit p is set if position p is a node's."""

    device: Device
    size: int  # positions: of nodes and others
    nodes: int
    bits: Array  # uint64, at least one word
    cache = LazyDict()

    @classmethod
    def of(cls, device: Device, nodes: np.ndarray, size: int) -> Places:
        """Nodes at these positions (ascending, on the host) of `size`."""
        bits = np.zeros(-(-size // 64) or 1, np.uint64)
        np.bitwise_or.at(bits, nodes >> 6, np.uint64(1) << (nodes & 63).astype(np.uint64))
        return cls(device, size, len(nodes), device.asarray(bits))

    @property
    def others(self) -> int:
        return self.size - self.nodes

    def turned(self) -> Places:
        """The complement, with nodes and others exchanged; computed on first use."""

        def compute() -> Places:
            flags = 1 - self.flags()
            flags[self.size :] = 0
            bits = self.device.xp.packbits(flags, bitorder="little").view(np.uint64)
            return Places(self.device, self.size, self.others, bits)

        return compute_once(self.cache, "turned", compute)

    def flags(self) -> Array:
        """Whether a node is at each position of the words."""
        return self.device.xp.unpackbits(self.bits.view(np.uint8), bitorder="little")

    def before(self) -> Array:
        """Number of nodes before each word, UINT32, computed on first use."""

        def compute() -> Array:
            per_word = self.flags().reshape(-1, 64).sum(axis=1, dtype=np.uint32)
            return self.device.xp.cumsum(per_word, dtype=np.uint32) - per_word

        return compute_once(self.cache, "before", compute)

    def at(self) -> Array:
        """The position of every 64th non-node, UINT32, computed on first use."""

        def compute() -> Array:
            xp = self.device.xp
            found = xp.flatnonzero(self.flags()[: self.size] == 0)[::64].astype(np.uint32)
            return found if len(found) else xp.zeros(1, np.uint32)

        return compute_once(self.cache, "at", compute)

    def numbers(self) -> tuple[Array, Array]:
        """For each position whether it is a node's, and its number among nodes or among others (INT64). Computed at
        every call."""
        xp, is_node = self.device.xp, self.flags()[: self.size].astype(bool)
        node = xp.cumsum(is_node, dtype=np.int64) - is_node
        return is_node, xp.where(is_node, node, xp.arange(self.size) - node)

    def signed(self) -> Array:
        """For each position its number among the others, or ~ the number of the node, INT32, computed on first use."""

        def compute() -> Array:
            is_node, number = self.numbers()
            return self.device.xp.where(is_node, ~number, number).astype(np.int32)

        return compute_once(self.cache, "signed", compute)

    def check(self, name: str) -> None:
        """ValueError unless the number of set bits equals the number of nodes, and no bit beyond the last position is
        set."""
        flags = self.flags()
        if int(flags.sum()) != self.nodes or bool(flags[self.size :].any()):
            raise ValueError(f"{name}: expected {self.nodes} set bits within {self.size} positions")


def of_nodes(rows: Places, cols: Places) -> Part:
    """The rows of nodes, whose sums go to the columns of the same nodes."""
    xp = rows.device.xp
    is_node, number = rows.numbers()
    at = xp.flatnonzero(cols.flags()[: cols.size])
    place = xp.where(is_node, at[xp.where(is_node, number, 0)] if len(at) else number, 0)
    return Part("nodes", is_node, place, cols.size)


def of_others(rows: Places) -> Part:
    """The other rows, whose sums go to their positions in the matrix."""
    is_node, number = rows.numbers()
    return Part("others", ~is_node, number, rows.others)


# ---- Build the graph with virtual nodes from rows, and expand it back.


class Graph(NamedTuple):
    """Rows with nodes among the rows and columns, and the positions of nodes there, on the host."""

    rows: Csr
    row_nodes: np.ndarray
    col_nodes: np.ndarray


def merged(found: Mined, of: Csr) -> Graph:
    """The graph of mined rows. A node is placed before the row in the middle of its users, and before that column, so
    most gaps stay as short as they were."""
    nrows, ncols, many = of.nrows, of.ncols, np.arange(found.nodes)
    before = found.middle, np.minimum(found.middle, ncols)
    row_nodes, col_nodes = (middle + many for middle in before)
    rows, cols = (
        np.arange(size) + np.searchsorted(middle, np.arange(size), side="right")
        for size, middle in zip((nrows, ncols), before)
    )
    left = np.repeat(np.arange(nrows), np.diff(found.ptr))
    row = np.concatenate([rows[left], rows[found.user], row_nodes[found.node_at]])
    col = np.concatenate([cols[found.col], col_nodes[found.node], cols[found.member]])
    device, shape = of.device, (nrows + found.nodes, ncols + found.nodes)
    row, col = device.asarray(row), device.asarray(col)
    places = csr.sort_entries(device, row, col, *shape)
    ptr = pointers_of(row[places], shape[0], device)
    return Graph(from_arrays(device, *shape, ptr, col[places]), row_nodes, col_nodes)


def keys_of(inner: Csr, rows: Places, cols: Places, nvals: int) -> Array:
    """The matrix entries that the graph represents, as ascending row * ncols + column: those between rows and columns,
    and for each use of a node the node's columns. ValueError unless there are `nvals`."""
    xp, device = inner.device.xp, inner.device
    row = numbers_of(inner.ptr, inner.nvals, device)
    col = inner.columns().astype(np.int64)
    (of_node, row_number), (to_node, col_number) = rows.numbers(), cols.numbers()
    is_use, is_member = to_node[col], of_node[row]
    if bool((is_use & is_member).any()):
        raise ValueError("nodes: expected no node that uses another")
    left = ~(is_use | is_member)
    user, node = row_number[row[is_use]], col_number[col[is_use]]
    member = col_number[col[is_member]]
    first = pointers_of(row_number[row[is_member]], rows.nodes, device)
    many = first[1:] - first[:-1]
    used = xp.zeros(rows.nodes, bool)
    used[node] = True
    if bool((many == 0).any()) or not bool(used.all()):
        raise ValueError("nodes: expected each node to have columns and a use")
    length = many[node]
    ptr = xp.zeros(len(node) + 1, np.int64)
    xp.cumsum(length, out=ptr[1:])
    rest, total = col_number[col[left]], int(ptr[-1])
    if len(rest) + total != nvals:
        raise ValueError(f"nodes: expected {nvals} entries, got {len(rest) + total}")
    use = numbers_of(ptr, total, device)
    among = first[node][use] + xp.arange(total) - ptr[use]
    keys = xp.concatenate([row_number[row[left]] * cols.others + rest, user[use] * cols.others + member[among]])
    keys.sort()
    return keys


def unfolded(inner: Csr, rows: Places, cols: Places, nrows: int, ncols: int, nvals: int) -> Csr:
    """The rows that the graph represents, from the entries of `keys_of`; on the CPU row by row."""
    device, xp = inner.device, inner.device.xp
    if not device.host_memory:
        keys = keys_of(inner, rows, cols, nvals)
        return from_arrays(device, nrows, ncols, *split_keys(device, keys, nrows, ncols))
    (of_node, _), (to_node, number) = rows.numbers(), cols.numbers()
    node_rows, length = np.flatnonzero(of_node), np.diff(inner.ptr)
    many = np.append(0, np.cumsum(np.where(to_node, 0, 1)[inner.columns()], dtype=np.int64))  # columns before an entry
    named = np.flatnonzero(to_node[inner.columns()])
    sizes = many[inner.ptr[1:]] - many[inner.ptr[:-1]]
    if bool((sizes[node_rows] < length[node_rows]).any()):
        raise ValueError("nodes: expected no node that uses another")
    user = np.searchsorted(inner.ptr, named, side="right") - 1
    sizes += np.bincount(user, length[node_rows[number[inner.columns()[named]]]], len(sizes)).astype(np.int64)
    ptr = np.append(0, np.cumsum(sizes[~of_node]))
    if int(ptr[-1]) != nvals:
        raise ValueError(f"nodes: expected {nvals} entries, got {int(ptr[-1])}")
    col, unsorted = xp.empty(nvals, index_type(ncols)), xp.empty(nrows, bool)
    graph = np.flatnonzero(~of_node), inner.ptr, inner.col, np.where(to_node, ~number, number), node_rows
    bounds = device.ranges(nrows, tuning.count("formats.parallel_entries"), work=nvals)
    variant = Variant("formats/virtual/unfold", (), (("MOST", tuning.count("virtual.merged_lists")),))
    device.kernel(variant)(nrows, *graph, ptr, col, unsorted, bounds=bounds)
    for row in np.flatnonzero(unsorted):
        col[ptr[row] : ptr[row + 1]].sort()
    return from_arrays(device, nrows, ncols, ptr, col)


# ---- Virtual nodes: lists of columns that several rows share, as vertices of their own.

INNER: tuple[type[Nib | Cgr], ...] = (Nib, Cgr)  # layouts of the graph, by their numbers in files
# A node must save more entries than this; values are tried in turn until the size grows. A node's own cost is repaid by
# the first entry in the benchmarks' web graph, by 3 on indochina-2004, by 17 on facebook_combined (measured).
LEAST = (0, 2, 4, 8, 16, 32, math.inf)


@dataclass(eq=False)
class Virtual(csr.RowsOnDemand):
    """Row i of the matrix is the i-th row of `inner` that is not a node's; columns in the same way."""

    device: Device
    nrows: int
    ncols: int
    inner: Nib | Cgr  # a layout of INNER, nrows + nodes x ncols + nodes
    rows: Places
    cols: Places  # the same object as `rows` if the matrix is square
    nvals: int
    cache = LazyDict()

    format = FORMATS[0]
    key = format.key
    compact = True

    @classmethod
    def from_csr(cls, rows: csr.Csr, tile: int | None, order: bool) -> tuple[Virtual, Order]:
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
        inner = min(INNER, key=lambda kind: bytes_in(kind, graph.rows))
        places = Places.of(device, graph.row_nodes, graph.rows.nrows)
        others = places if rows.nrows == rows.ncols else Places.of(device, graph.col_nodes, graph.rows.ncols)
        layout = inner.from_csr(graph.rows, None, False)[0]
        return cls(device, rows.nrows, rows.ncols, layout, places, others, rows.nvals)

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

    def by_rows(self, order: bool) -> tuple[csr.Rows, Order]:
        return self.plain(), None

    def transpose(self, order: bool) -> tuple[Virtual, Order]:
        inner = self.inner.transpose(False)[0]
        places = self.plain().transpose(True)[1] if order else None
        return Virtual(self.device, self.ncols, self.nrows, inner, self.cols, self.rows, self.nvals), places

    def clip(self, region: Region, order: bool) -> tuple[Virtual, Order]:
        rows, places = self.plain().clip(region, order)
        return self.without(rows), places

    def filter(self, keep: Array) -> tuple[Virtual, Array]:
        return self.without(self.plain().filter(keep)[0]), keep

    def equals(self, other: Self) -> bool:
        return self.plain().equals(other.plain())

    def is_symmetric(self) -> bool:
        """By hashes of all positions (csr/layout.py), without expanding the uses of nodes: entry (i, j) has the hash
        f(i) g(j), so the entries of a row have the hash f(i) times the sum of g, and a use of a node adds the sum of
        the node's columns. Peak memory: 50 bytes per position, and 24 per entry of symmetry.band."""
        is_node, number = self.rows.numbers()
        f, total = csr.scrambled(number), 0
        g = csr.scrambled(f)
        for rows, f_sums, g_sums in self._bands(is_node, f, g):  # columns of nodes are no nodes
            f[rows], g[rows] = f_sums, g_sums
        for rows, f_sums, g_sums in self._bands(~is_node, f, g):
            total += int((f[rows] * g_sums - g[rows] * f_sums).sum())
        return total % (1 << 64) == 0

    def _bands(self, some: Array, *hashes: Array) -> Iterator[tuple[Array, ...]]:
        """The rows of the graph that are marked, in bands of about symmetry.band entries: their positions, and the sums
        of hashes of the columns of each, modulo 2^64."""
        xp, band = self.device.xp, tuning.count("symmetry.band")
        rows = xp.flatnonzero(some)
        ptr = self.inner.pointers(rows)
        limits = self.device.to_host(xp.searchsorted(ptr, xp.arange(0, int(ptr[-1]) + band, band))).tolist()
        for first, last in itertools.pairwise(sorted({0, *(min(x, len(rows)) for x in limits), len(rows)})):
            part = self.inner.some_rows(rows[first:last], False)[0]
            upto = xp.zeros((len(hashes), part.nvals + 1), np.uint64)
            for line, x in zip(upto, hashes, strict=True):
                x[part.columns()].cumsum(out=line[1:])
            yield rows[first:last], *(upto[:, part.ptr[1:]] - upto[:, part.ptr[:-1]])

    def arrays(self) -> dict[str, Array]:
        cols = {} if self.rows is self.cols else {"col_nodes": self.cols.bits}
        return {**self.inner.arrays(), "row_nodes": self.rows.bits, **cols}

    def numbers(self) -> dict[str, int]:
        inner_numbers = {f"inner_{name}": x for name, x in self.inner.numbers().items()}
        return super().numbers() | {"nodes": self.rows.nodes, "inner": INNER.index(type(self.inner))} | inner_numbers

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Virtual:
        whole = {name: x for name, x in numbers.items() if not name.startswith("inner_")}
        nrows, ncols, nvals, nodes, kind = validation.expect_numbers(whole, "nrows", "ncols", "nvals", "nodes", "inner")
        if refusal := cls.format.cost.refusal(max(nrows, nodes), ncols):
            raise ValueError(f"numbers: {cls.key!r} {refusal}")
        if kind >= len(INNER):
            raise ValueError(f"inner: expected a number below {len(INNER)}, got {kind}")
        inner_numbers = {name.removeprefix("inner_"): x for name, x in numbers.items() if name.startswith("inner_")}
        sizes = {"row_nodes": nrows + nodes} | ({} if nrows == ncols else {"col_nodes": ncols + nodes})
        bits = {name: x for name, x in arrays.items() if name in sizes}
        validation.expect_arrays(bits, **{name: ((np.uint64,), -(-size // 64) or 1) for name, size in sizes.items()})
        rest = {name: x for name, x in arrays.items() if name not in sizes}
        inner = INNER[kind].restored(device, inner_numbers, rest)
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


def bytes_in(kind: type[Nib | Cgr], graph: csr.Csr) -> int:
    """Bytes of a graph in one of the layouts of `INNER`."""
    return blocks_bytes(graph.nrows, kind.format.cost.count(graph))

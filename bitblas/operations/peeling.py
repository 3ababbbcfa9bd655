"""Peel a graph level by level: core numbers, trusses and truss numbers, at the cost of the edges that change.

A truss counts the triangles of each edge, C<A> = A plus.pair A', removes the edges with too few, and counts again. The
second count differs from the first only at edges of triangles that have lost an edge. So each removed edge looks for
its triangles, by intersecting the rows of its ends, and lowers the counts of their other edges. Core numbers do the
same with vertices and their neighbours. The rounds run on the device (kernels/peeling.cu); on the CPU one thread
removes one item after the other. A GPU lists the triangles of each edge first if there are few, as in meshes: then
edges need not wait for a round.

Counts are exact integers, so the result is the same on every device and in any order.

Wang, Cheng: Truss decomposition in massive networks. PVLDB 5(9), 2012.
Kabir, Madduri: Shared-memory graph truss decomposition. HiPC 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semirings.cached import cached_property
from semirings.dtypes import INT32, INT64, lookup_dtype

from .. import tuning
from ..device import Device, dummy, threads
from ..formats.csr.layout import Csr, from_arrays, index_type, numbers_of, pointers_of
from ..kernels.variant import Variant
from ..store import MatrixStore
from ..typing import Array
from .convert import of_rows
from .variants import Types

NEVER = 1 << 62  # no level, and no number of items, is as large
MOST_PLACES = 1 << 27  # of lists of triangles: edge_counts.cuh
STATE = 27  # numbers of the state: peeling.cu
MODE, DONE = 0, 3  # on the CPU: peeling.cpu.py


@dataclass(frozen=True, eq=False)
class EdgeNumbers:
    """The edges of an undirected graph without its self loops, and where they are stored.

    rows: the symmetric matrix. ptr, head: rows that hold each edge once, at the end of lower degree (ties: of lower
    number), so that no row is long; an edge's number is its place there. tail: the row of each edge. count: of edges.
    """

    device: Device
    rows: Csr
    ptr: Array
    tail: Array
    head: Array
    count: int

    @cached_property
    def edge(self) -> Array:
        """The number of the edge of each entry of the matrix; self loops have the number of edges."""
        device, rows = self.device, self.rows
        nvals, kind = rows.nvals, np.dtype(dict(self.types)["ITEM"].np_type)
        device.foresee(f"numbers of the edges of {nvals} entries", kind.itemsize * nvals)
        edge = device.xp.empty(max(1, nvals), kind)
        bounds = device.ranges(nvals, tuning.count("parallel.entries"))
        if nvals:
            kernel = device.kernel(Variant("kernels/number_edges", self.types, (("LANES", 1),)))
            kernel(nvals, rows.nrows, rows.ptr, rows.col, self.ptr, self.head, edge, bounds=bounds)
        return edge[:nvals]

    @property
    def has_self_loops(self) -> bool:
        """Whether the matrix has self loops, which are no edges."""
        return 2 * self.count < self.rows.nvals

    @property
    def entries(self) -> float:
        """Entries of the matrix per row, on average."""
        return self.rows.nvals / self.rows.nrows

    @property
    def has_few_entries(self) -> bool:
        """Whether rows are read in full, by few threads."""
        return self.entries <= tuning.value("peeling.few_entries")

    @cached_property
    def has_short_rows(self) -> bool:
        """Whether one thread for each edge merges two of the rows that hold each edge once."""
        return int((self.ptr[1:] - self.ptr[:-1]).max()) <= tuning.count("peeling.merged_row")

    @property
    def types(self) -> Types:
        """The types of the arrays, by the names that kernels use."""
        return (
            ("PTR", lookup_dtype(self.rows.ptr.dtype)),
            ("COL", lookup_dtype(self.head.dtype)),
            ("ITEM", INT32 if self.rows.nvals < 1 << 31 else INT64),
        )


def number_edges(A: MatrixStore) -> EdgeNumbers:
    """Number the edges of a symmetric matrix. Raises OutOfMemory."""
    device, xp, rows, n = A.device, A.device.xp, A.structure.plain_rows(), A.nrows
    nvals = rows.nvals
    device.foresee(f"edges of {nvals} entries", 32 * nvals)
    # Each edge once, from the lower to the higher degree
    col, row = rows.columns(0, nvals), numbers_of(rows.ptr, nvals, device)
    degree = rows.ptr[1:] - rows.ptr[:-1]
    from_, to = degree[row], degree[col]
    first = (from_ < to) | ((from_ == to) & (row < col))
    head, tail = col[first], row[first]
    count = len(head)
    ptr = pointers_of(tail, n, device).astype(rows.ptr.dtype)
    if not count:
        head = tail = xp.zeros(1, col.dtype)
    return EdgeNumbers(device, rows, ptr, tail.astype(head.dtype), head, count)


def count_triangles(edges: EdgeNumbers, *, by_vertex: bool = False) -> Array:
    """The number of triangles that contain each edge, or each vertex: of the type of column numbers."""
    device, xp, ptr, m = edges.device, edges.device.xp, edges.ptr, edges.count
    n = len(ptr) - 1
    count = xp.zeros(n if by_vertex else m, edges.head.dtype)
    if m < 3:
        return count
    by = ("BY_VERTEX", int(by_vertex))
    if not device.is_simt:
        return _count_by_range(edges, count, ptr[1:] - ptr[:-1], by)
    if edges.has_short_rows:
        kernel = device.kernel(Variant("kernels/merge_triangles", edges.types, (by,)))
        kernel(m, edges.tail, ptr, edges.head, count)
        return count
    # Rows of up to `room` columns by one warp each, the others by one block
    length = ptr[1:] - ptr[:-1]
    short = tuning.count("peeling.short_row")
    for lanes, room, rows in (
        (32, short, xp.flatnonzero((length > 1) & (length <= short))),
        (256, tuning.count("peeling.row_table"), xp.flatnonzero(length > short)),
    ):
        if len(rows):
            constants = ("LANES", lanes), ("ROOM", room), ("WORDS", max(32, room // 2)), by
            kernel = device.kernel(Variant("kernels/edge_triangles", edges.types, constants))
            kernel(len(rows), rows.astype(edges.head.dtype), ptr, edges.head, count)
    return count


def _count_by_range(edges: EdgeNumbers, count: Array, length: Array, by: tuple[str, int]) -> Array:
    """The same on the CPU: each thread counts into an array of its own, and the arrays are added."""
    device, ptr, m, n = edges.device, edges.ptr, edges.count, len(edges.ptr) - 1
    bounds, parts, part = None, 1, np.zeros(n + 1, np.int64)
    if device.splits(m, tuning.count("parallel.entries")):
        # Work of a row: the rows of its columns
        work = np.zeros(m + 1, np.int64)
        np.cumsum(length[edges.head], out=work[1:])
        bounds = threads.ranges_by_work((work[ptr] + ptr)[1:], device.threads)
        parts = len(bounds) - 1
        for k, begin in enumerate(bounds[:-1].tolist()):
            part[begin] = k * len(count)
    counts = count if parts == 1 else np.zeros(parts * len(count), count.dtype)
    kernel = device.kernel(Variant("kernels/triangles_by_range", edges.types, (by,)))
    kernel(n, part, ptr, edges.head, counts, bounds=bounds)
    return counts if parts == 1 else counts.reshape(parts, len(count)).sum(axis=0, dtype=count.dtype)


@dataclass(frozen=True, eq=False)
class _Items:
    """What is peeled. counts: neighbours or triangles of each item, lowered in place. graph: the arguments of
    PeelGraph; types: of its arrays. elements: of a frontier, if it has all items. entries: per item, on average.
    triangles: if `graph` lists them (PeelGraph), they."""

    device: Device
    counts: Array
    graph: tuple[Array, ...]
    types: Types
    elements: int
    entries: float
    truss: bool
    triangles: Array | None = None


def _peel(items: _Items, first: int, last: int) -> Array:
    """Peel the levels `first` to `last`, with counts of at most that number. Returns the level that removed each item,
    -1 for those that are left, whose counts are then the remaining ones."""
    device, xp, n = items.device, items.device.xp, len(items.counts)
    ptr, col, edge, *_ = items.graph
    kind, simt, truss = dict(items.types)["ITEM"].np_type, items.device.is_simt, items.truss
    # Rows of few entries are read in full; others are copied without removed edges
    few = items.entries <= tuning.value("peeling.few_entries")
    listed = items.triangles is not None
    copies = simt and truss and not few and not listed
    copied = (col.itemsize + edge.itemsize) * len(col) if copies else 0
    needed = (items.counts.itemsize + 4 + 2 * kind.itemsize) * n + 16 * items.elements + copied
    device.foresee(f"peeling of {n} items", needed)
    # A kernel that reads lists of triangles sets the levels itself
    level = xp.empty(n, items.counts.dtype) if listed else device.full(n, items.counts.dtype.type(-1))
    mark = device.full(n, np.uint32(0xFFFFFFFF)) if truss and not listed else xp.empty(1, np.uint32)
    triangles = xp.empty(1, np.uint64) if not listed else items.triangles
    live = [xp.empty_like(x) for x in (ptr, col, edge)] if copies else (ptr, col, edge)
    now, next_ = (
        (xp.empty(items.elements, np.int64) for _ in range(2)) if simt else (xp.empty(n, kind), xp.empty(1, kind))
    )
    left = xp.empty(n, kind) if simt else np.arange(n, dtype=kind)
    lists = now, next_, left, xp.empty(n if simt else 1, kind)
    state = xp.zeros(STATE, np.int64)
    arguments = len(ptr) - 1, *items.graph, *live, triangles, items.counts, mark, level, *lists, state, first, last
    if not simt:
        # In parts, so that an interrupt may end it between them
        kernel = device.kernel(Variant("kernels/peel_levels", items.types, (("TRUSS", int(truss)),)))
        while state[MODE] != DONE:
            kernel(1, *arguments, tuning.count("peeling.interrupt"))
        return level
    kernel = device.kernel(Variant("kernels/peel_levels", items.types, _constants(items, few, copies)))
    kernel(n, *arguments, 0)
    return level


def _constants(items: _Items, few: bool, copies: bool) -> tuple[tuple[str, int], ...]:
    """The constants of the GPU's kernel. few: rows have few entries. copies: rows are copied without removed edges."""
    listed, threads = items.triangles is not None, _of_kind("block", items.truss)
    lanes = 1 if listed else 8 if few else 32
    # Rounds and scans of one block: long rows' cores take longer than a barrier and a round of all; warps that go on by
    # themselves gain nothing from such rounds.
    scans = items.truss or few
    rounds = scans and not listed
    return (
        ("TRUSS", int(items.truss)),
        ("TRIANGLES", int(listed)),
        ("HERE", tuning.count("peeling.own_rounds") if listed else 0),
        ("COMPACT", int(copies)),
        ("SEGMENT", _of_kind("segment", items.truss)),
        ("SEGMENTED", int(items.elements > len(items.counts) and not listed)),
        ("LANES", lanes),
        ("SMALL_ROUND", tuning.count("peeling.small_round") * threads // lanes if rounds else 0),
        ("SMALL_SCAN", tuning.count("peeling.small_scan") * threads if scans else 0),
        ("THREADS", threads),
        ("RESIDENT", 1),
        ("COOPERATIVE", 1),
    )


def _of_kind(name: str, truss: bool) -> int:
    return tuning.count(f"peeling.{name}.{'truss' if truss else 'core'}")


def core_levels(A: MatrixStore) -> Array:
    """The core number of each row of a symmetric matrix, INT64; self loops do not count. Raises OutOfMemory."""
    device, xp, rows, n = A.device, A.device.xp, A.structure.plain_rows(), A.nrows
    if not n:
        return xp.zeros(0, np.int64)
    kind = index_type(n)
    degree = rows.ptr[1:] - rows.ptr[:-1]
    counts = degree.astype(kind, copy=False)  # degree is a new array
    looped = _self_loops(rows)
    if len(looped):
        counts[looped] -= 1
    none = dummy(device, np.dtype(kind).char)
    types: Types = (("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(kind)), ("ITEM", lookup_dtype(kind)))
    elements = n + rows.nvals // _of_kind("segment", False)
    graph = rows.ptr, rows.col, none, none, none
    return _peel(_Items(device, counts, graph, types, elements, rows.nvals / n, False), 0, NEVER).astype(np.int64)


def _self_loops(rows: Csr) -> Array:
    """The rows with a self loop, cached with the layout."""
    if "self loops" not in rows.cache:
        col = rows.columns(0, rows.nvals)
        places = rows.device.xp.flatnonzero(col == numbers_of(rows.ptr, rows.nvals, rows.device))
        rows.cache["self loops"] = col[places].astype(np.int64)
    found: Array = rows.cache["self loops"]
    return found


def _peel_edges(edges: EdgeNumbers, counts: Array, first: int, last: int) -> Array:
    """The level that removes each edge (-1: none). counts: each edge's triangles, lowered to those left."""
    device, xp, m = edges.device, edges.device.xp, edges.count
    if not m:
        return counts
    elements = m
    if device.is_simt:
        if items := _listed(edges, counts, last):
            return _peel(items, first, last)
        length = edges.rows.ptr[1:] - edges.rows.ptr[:-1]
        shorter = xp.minimum(length[edges.tail], length[edges.head])
        elements += int((shorter // _of_kind("segment", True)).sum(dtype=np.int64))
    graph = edges.rows.ptr, edges.rows.col, edges.edge, edges.tail, edges.head
    return _peel(_Items(device, counts, graph, edges.types, elements, edges.entries, True), first, last)


def _listed(edges: EdgeNumbers, counts: Array, last: int) -> _Items | None:
    """The edges with a list of the triangles of each, for levels up to `last`; None if there are too many triangles."""
    device, xp, m = edges.device, edges.device.xp, edges.count
    if not (edges.has_few_entries and edges.has_short_rows) or m >= MOST_PLACES:
        return None  # rows of many entries usually have too many
    first, totals = xp.empty(m, edges.ptr.dtype), xp.zeros(2, np.uint64)
    device.kernel(Variant("kernels/reserve_triangles", edges.types, ()))(m, counts, first, totals)
    places, most = device.to_host(totals).tolist()
    listed = places - m
    if places > MOST_PLACES or most > 33 or listed > tuning.value("peeling.listed") * m:
        return None
    device.foresee(f"triangles of {m} edges", 8 * places)
    triangles = xp.zeros(places + 2, np.uint64)  # two are read past a list
    kernel = device.kernel(Variant("kernels/list_triangles", edges.types, ()))
    kernel(m, edges.tail, edges.ptr, edges.head, first, triangles)
    graph = first, edges.head, first, edges.head, edges.head  # all but the first are not read
    elements = max(1, min(listed, last * m))  # an edge that is removed has at most `last` triangles
    return _Items(device, counts, graph, edges.types, elements, 0, True, triangles)


def truss(edges: EdgeNumbers, least: int) -> MatrixStore:
    """The edges that remain, both ways, if each must be in at least `least` remaining triangles, with the number of
    these triangles: INT64."""
    counts = count_triangles(edges)
    # Where rows have few entries, some edge nearly always falls
    if least <= 0 or (edges.count and not edges.has_few_entries and int(counts.min()) >= least):
        return _of_edges(edges, counts)
    _peel_edges(edges, counts, least - 1, least - 1)
    stays = counts >= least  # those of removed edges are lower
    return _of_places(edges, counts, edges.device.xp.flatnonzero(_at_entries(edges, stays)))


def truss_numbers(edges: EdgeNumbers) -> MatrixStore:
    """The truss number of each edge, both ways: INT64."""
    return _of_edges(edges, _peel_edges(edges, count_triangles(edges), 0, NEVER) + 2)


def triangles_of_edges(edges: EdgeNumbers) -> MatrixStore:
    """The number of triangles that contain each edge, both ways: INT64."""
    return _of_edges(edges, count_triangles(edges))


def _at_entries(edges: EdgeNumbers, values: Array) -> Array:
    """The value of the edge of each entry; 0 for self loops."""
    if edges.has_self_loops:
        xp = edges.device.xp
        values = xp.concatenate([values, xp.zeros(1, values.dtype)])
    return values[edges.edge]


def _of_edges(edges: EdgeNumbers, values: Array) -> MatrixStore:
    """The matrix of a value for each edge, INT64."""
    if edges.has_self_loops:
        return _of_places(edges, values, edges.device.xp.flatnonzero(edges.edge < edges.count))
    return of_rows(edges.rows, INT64, values[edges.edge].astype(np.int64))


def _of_places(edges: EdgeNumbers, values: Array, places: Array) -> MatrixStore:
    """The same of the entries at these places alone, which are no self loops."""
    device, xp, rows = edges.device, edges.device.xp, edges.rows
    if not len(places):
        none = from_arrays(device, rows.nrows, rows.ncols, xp.zeros_like(rows.ptr), xp.zeros(0, rows.col.dtype))
        return of_rows(none, INT64, xp.zeros(0, np.int64))
    if len(places) == rows.nvals:
        return _of_edges(edges, values)
    ptr = xp.searchsorted(places, rows.ptr)
    col = rows.columns(0, rows.nvals)[places]
    found = values[edges.edge[places]].astype(np.int64)
    return of_rows(from_arrays(device, rows.nrows, rows.ncols, ptr, col), INT64, found)


def triangles_of_vertices(edges: EdgeNumbers) -> tuple[Array, Array]:
    """The number of triangles that contain each vertex, and the number of its neighbours: INT64."""
    rows = edges.rows
    degree = (rows.ptr[1:] - rows.ptr[:-1]).astype(np.int64)
    if edges.has_self_loops:
        degree[_self_loops(rows)] -= 1
    return count_triangles(edges, by_vertex=True).astype(np.int64), degree

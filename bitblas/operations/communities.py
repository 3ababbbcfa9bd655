"""Louvain and Leiden on a device: moves, refinement, contraction, components inside of communities.

`Level` holds a graph with integer weights. `algorithms/communities/louvain.py` states the method. On the CPU these are
its steps. A GPU runs a pass through all levels in one launch (`climbed`, kernels/louvain_levels.cu), because most
levels are so small that a launch takes longer than its work. Labels are INT32, weights and their sums INT64; gains are
FP64, computed from sums below 2^53 without fused multiply-add, so all devices and any number of threads move the same
vertices.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from semirings import semiring
from semirings.cached import cached_property
from semirings.dtypes import BOOL, FP64, INT32, INT64, UINT32, lookup_dtype

from .. import tuning
from ..device import Device, Kernel, dummy
from ..device.threads import Bounds
from ..formats import Structure
from ..formats.csr.layout import Csr, close_gaps, from_arrays
from ..kernels.variant import Variant
from ..store import MatrixStore, PlainValues
from ..typing import Array
from . import contraction
from .map_products import LARGEST, Choice, Keys, MapProduct, Operands, Score, Selection, prepare, run, run_listed
from .operands import unit_bounds

GAIN_UNIT = 1024  # a gain is counted in units of 1 / 1024 of a weight
FREE = 0xFFFFFFFF  # a slot of a table without a key
STATE_WORDS = 37  # State in louvain_levels.cu
SCORE = "s - x * y"  # sum of weights to a community, less share of the vertex times weight of the community


@functools.cache
def _kernel(device: Device, name: str, ptr: str, col: str) -> Kernel:
    constants: dict[str, tuple[tuple[str, int], ...]] = {
        "move_vertices": (("GAIN_UNIT", GAIN_UNIT),),
    }
    types = tuple((key, lookup_dtype(t)) for key, t in (("PTR", ptr), ("COL", col)) if t)
    return device.kernel(Variant(f"kernels/{name}", types, constants.get(name, ())))


class Level:
    """A graph of one level: n vertices, integer weights below 2^53 in all.

    rows, values: its entries, each edge both ways. degree: the weight of the edges of each vertex, INT64. loop: the
    part of it that is a self loop in `rows`. extra: what degree has in addition to the entries of the row (None:
    nothing).
    total: the sum of the degrees. share: resolution / total * degree, FP64.
    """

    def __init__(
        self,
        rows: Csr,
        values: PlainValues,
        degree: Array,
        extra: Array | None,
        resolution: float,
        loop: Array | None = None,
    ) -> None:
        self.rows, self.values, self.degree, self.extra, self.resolution = rows, values, degree, extra, resolution
        self.device, self.n, self.nvals = rows.device, rows.nrows, rows.nvals
        self.total = int(degree.sum())
        self.share = degree.astype(np.float64) * (resolution / (self.total or 1))
        self.loop = _diagonal(rows, values) if loop is None else loop
        self.matrix = self._matrix(rows, values)
        self.kernels: dict[str, Kernel] = {}

    def _matrix(self, rows: Csr, values: PlainValues) -> MatrixStore:
        iso = isinstance(values, np.generic)
        return MatrixStore(Structure(rows), BOOL if iso else INT64, np.True_ if iso else values)

    def _ranges(self, n: int) -> Bounds:
        return self.device.ranges(n, tuning.count("parallel.entries"))

    def _run(self, name: str, n: int, *args: object, bounds: Bounds = None) -> None:
        if name not in self.kernels:
            reads = name in ("move_vertices", "inner_rows", "link_entries")
            ptr, col = (self.rows.ptr.dtype.name, self.rows.col.dtype.name) if reads else ("", "")
            self.kernels[name] = _kernel(self.device, name, ptr, col)
        self.kernels[name](n, *args, bounds=bounds)

    # ---- sums and numbers

    def vertices(self) -> Array:
        """0 to n - 1, INT32."""
        return self.device.xp.arange(self.n, dtype=np.int32)

    def sums(self, label: Array, x: Array, count: int) -> Array:
        """The sum of x (INT64) per label, for labels below count."""
        sums = self.device.xp.zeros(count, np.int64)
        self._run("sum_by_label", len(label), label, x, sums)
        return sums

    def renumbered(self, label: Array) -> tuple[Array, int]:
        """The labels (below n) renumbered to 0..k-1 in ascending order, and k."""
        xp = self.device.xp
        if not self.n:
            return label, 0
        there = xp.zeros(self.n, bool)
        there[label] = True
        ends = xp.cumsum(there, dtype=np.int32)
        return (ends - np.int32(1))[label], int(ends[-1])

    # ---- moves

    def start(self, label: Array) -> Moves:
        return Moves(self, label)

    # ---- refinement

    def refined(self, label: Array, keys: list[int]) -> Array:
        """A finer partition into connected parts, each named by one of its vertices: in each round (with a number of
        `keys` for its random half) single vertices join the part of their own community that gains most."""
        xp, n = self.device.xp, self.n
        inner, near = self._inside(label)
        sigma = self.sums(label, self.degree, n)
        # vertices loosely tied to their community stay alone: w(v, C - v) < share k(v) sigma(C - v)
        settled = near.astype(np.float64) >= self.share * (sigma[label] - self.degree).astype(np.float64)
        settled = settled.view(np.uint8)
        part, size, sigma = self.vertices(), xp.ones(n, np.int32), self.degree.copy()
        turn, weight = xp.empty(n, bool), xp.empty(n, np.float64)
        best = _product(inner, part, n, self.share, weight, turn)
        for key in keys:
            self._run(
                "draw_joins", n, key, settled, part, size, sigma, turn.view(np.uint8), weight, bounds=self._ranges(n)
            )
            choice = run(best)
            self._run("join_parts", n, turn.view(np.uint8), choice.key, choice.score, self.degree, part, size, sigma)
        return part

    def _inside(self, label: Array) -> tuple[MatrixStore, Array]:
        """The entries whose ends have the same label, and the sum of each of their rows without the diagonal."""
        rows, device, iso = self.rows, self.device, isinstance(self.values, np.generic)
        ptr, near, room = np.zeros(self.n + 1, rows.ptr.dtype), np.empty(self.n, np.int64), max(1, rows.nvals)
        col, values = np.empty(room, rows.col.dtype), np.empty(1 if iso else room, np.int64)
        bounds = unit_bounds(rows, device)
        source = dummy(device, "int64") if iso else self.values
        args = rows.ptr, rows.col, source, np.int64(1), int(not iso), self.loop, label, near, ptr, col, values
        self._run("inner_rows", self.n, *args, bounds=bounds)
        if bounds is not None:
            close_gaps(rows.ptr[bounds], bounds, ptr, (col,) if iso else (col, values))
        nvals = int(ptr[-1])
        inner = from_arrays(device, self.n, self.n, ptr, col[:nvals])
        return self._matrix(inner, self.values if iso else values[:nvals]), near

    # ---- levels

    def contracted(self, part: Array, count: int) -> Level:
        """The graph whose vertices are the parts (INT32, below count)."""
        rows, values, loop = contraction.contract_rows(self.device, self.rows, self.values, part, count)
        extra = None if self.extra is None else self.sums(part, self.extra, count)
        return Level(rows, values, self.sums(part, self.degree, count), extra, self.resolution, loop)

    def split(self, label: Array) -> Array:
        """The components of the subgraphs of each label: for each vertex the smallest vertex of its component."""
        parent, rows = self.vertices(), self.rows
        self._run("link_entries", rows.nvals, rows.nrows, rows.ptr, rows.col, label, parent)
        root = self.device.xp.empty(self.n, np.int32)
        self._run("flatten", self.n, parent, root, bounds=self._ranges(self.n))
        return root

    def inside(self) -> int:
        """The weight of all self loops, both directions."""
        return int(self.loop.sum()) + self.extra_inside()

    def extra_inside(self) -> int:
        """The part of it that is not in `rows`, the same on all levels."""
        return 0 if self.extra is None else int(self.extra.sum())

    def host_degrees(self) -> np.ndarray:
        return self.device.to_host(self.degree)

    # ---- on a GPU

    @property
    def one_launch(self) -> bool:
        """Whether `climbed` runs a pass."""
        return self.device.is_simt

    def climbed(
        self,
        label: Array,
        enough: float,
        key: int,
        rounds: tuple[int, int, int, int],
        refine: bool,
        steps: list[Array] | None,
    ) -> Climbed:
        """A pass through all levels. enough: the least gain of a sweep that goes on, times `total`. rounds: classes,
        sweeps, rounds of the refinement, entries up to which each level is refined. steps: None, or a list for the
        partition into the vertices of each level."""
        return self.climb.run(label, enough, key, rounds, refine, steps)

    @cached_property
    def climb(self) -> Climb:
        return Climb(self)


class Moves:
    """Moves of the vertices of a level between communities. label: INT32, in place; sigma: the sum of the degrees of
    each community, weight: the same in FP64; active: the vertices that may have a better community, of which the first
    counts[0] of `waiting` are the list."""

    def __init__(self, level: Level, label: Array) -> None:
        xp, n = level.device.xp, level.n
        self.level, self.label = level, label.copy()
        self.sigma = level.sums(self.label, level.degree, n)
        self.weight = self.sigma.astype(np.float64)
        self.active, self.waiting, self.turn = xp.ones(n, np.uint8), level.vertices(), level.vertices()
        self.counts = np.array([n, 0], np.int64)
        self.best = _product(level.matrix, self.label, n, level.share, self.weight)
        self.choice = Choice(xp.empty(n, np.int32), xp.empty(n, np.float64), xp.empty(n, np.int64))

    def sweep(self, key: int, classes: int) -> tuple[int, float]:
        """Each active vertex moves to its best community, one random class of vertices after the other. Returns how
        many moved, and how much modularity (without a division by `total`) the moves of each class gain if no other
        vertex moved."""
        level, counts, totals, rows = self.level, self.counts, np.zeros(2, np.int64), self.level.rows
        for which in range(classes):
            counts[1] = 0
            lists = self.waiting, self.turn, self.active, counts
            level._run("draw_turns", int(counts[0]), key, classes, which, *lists)
            turns = int(counts[1])
            # best[v] = argmax over communities c of w(v, c) - share[v] sigma[c]
            best = run_listed(self.best, self.turn[:turns], self.choice)
            args = self.turn, best.key, best.score, best.own, level.degree, level.loop, level.share, self.weight
            more = self.label, self.sigma, self.active, self.waiting, counts, totals
            level._run("move_vertices", turns, *args, rows.ptr, rows.col, *more)
        return int(totals[0]), int(totals[1]) / GAIN_UNIT


class Climbed(NamedTuple):
    """The result of a pass: labels below n of the first level, the degrees above 0 of the vertices of the last level,
    the weight of its self loops, and how many sweeps were made."""

    label: Array
    degrees: np.ndarray
    inside: int
    sweeps: int


class Climb:
    """Passes through all levels on a GPU, one launch for each, and their memory: 20 bytes an entry (36 if the sum of
    the weights is 2^32 or more) and 73 a vertex."""

    def __init__(self, level: Level) -> None:
        device, rows = level.device, level.rows
        self.level, n, nvals, iso = level, level.n, level.nvals, isinstance(level.values, np.generic)
        self.warp_row, self.block_row = (tuning.count(f"louvain.{name}_row") for name in ("warp", "block"))
        self.threads, self.resident = tuning.count("louvain.threads"), tuning.count("louvain.blocks")
        self.sum = UINT32 if level.total < 1 << 32 else INT64
        blocks, word = self.resident * device.multiprocessors, self.sum.np_type.name
        slots, slot_words = nvals + nvals // 2, 2 if self.sum is UINT32 else 4  # a slot: key and sum
        # Rows that hold more than warp_row and block_row entries are listed.
        listed = [min(n, nvals // longest) + 1 for longest in (self.warp_row, self.block_row)]
        hubs = listed[1]
        numbers, sums = "int32", "int64"
        vertices = {
            **dict.fromkeys(("whole", "label", "part", "target", "size"), (n, numbers)),
            **dict.fromkeys(("sigma", "tied"), (n, sums)),
            "base": (n + 1, sums),
            "active": (n, "uint8"),
        }
        lists = (
            *((n + 32 * (blocks + 1), numbers), *((count, numbers) for count in (*listed, *listed))),  # movers, rows
            *((2 * hubs, numbers), (2 * hubs, numbers), (6 * hubs, sums)),  # parts of hubs
            *((hubs, sums), (blocks, sums)),
        )
        table = slots * slot_words, "uint32"
        following = (n + 1, sums), (nvals, numbers), (nvals, word), (n, sums), (n, sums)
        needed = sum(count * np.dtype(kind).itemsize for count, kind in (*vertices.values(), *lists, table, *following))
        needed += 8 * n * (rows.ptr.dtype != np.int64) + 4 * nvals * (not iso and word == "uint32")
        device.foresee(f"communities of {n} vertices and {nvals} entries", needed)

        def made(count: int, kind: str) -> Array:
            return device.xp.empty(count, kind)

        arrays = {name: made(*shape) for name, shape in vertices.items()}
        self.whole, self.label, self.sigma, self.found = (arrays[k] for k in ("whole", "label", "sigma", "part"))
        halves = arrays["base"].view(np.int32)
        arrays |= {"number": halves[:n], "finer": halves[n : 2 * n]}  # base is used after them
        slots_made = device.xp.zeros(table[0], np.uint32)
        slots_made[::slot_words] = FREE
        # VertexArrays, RowLists, the table and LevelArrays of louvain_levels.cu
        order = "whole", "label", "part", "target", "number", "finer", "size", "sigma", "tied", "base", "active"
        made_lists, made_levels = ([made(*shape) for shape in shapes] for shapes in (lists, following))
        self.memory = n, *(arrays[name] for name in order), *made_lists, slots_made, *made_levels
        ptr, col = rows.ptr.astype(np.int64, copy=False), rows.col.astype(np.int32, copy=False)
        values = (dummy(device, "int64") if iso else level.values).astype(word, copy=False)
        self.graph = n, nvals, ptr, col, values, int(not iso), level.degree, level.loop

    def run(
        self,
        label: Array,
        enough: float,
        key: int,
        rounds: tuple[int, int, int, int],
        refine: bool,
        steps: list[Array] | None,
    ) -> Climbed:
        level, device, n = self.level, self.level.device, self.level.n
        self.whole[...], self.label[...] = level.vertices(), label
        # state: vertices, entries, level, done, key, inside, sweeps, and what each launch clears
        state = device.asarray(np.array([n, level.rows.nvals, 0, 0, key, *[0] * (STATE_WORDS - 5)], np.int64))
        kernel = device.kernel(self._variant(rounds))
        factor, done = np.float64(level.resolution / level.total), False
        while not done:
            state[7:] = 0
            levels, before = (1 << 40, 0) if steps is None else (1, len(steps))
            units = max(n, level.rows.nvals // 4)
            kernel(units, *self.graph, *self.memory, self.found, state, int(refine), levels, factor, np.float64(enough))
            size, _, count, done, _, inside, sweeps = device.to_host(state)[:7].tolist()
            if steps is not None and count > before:
                steps.append(self.whole.copy())
        degrees = self.sigma[:size]
        return Climbed(self.found.copy(), device.to_host(degrees[degrees > 0]), inside, sweeps)

    def _variant(self, rounds: tuple[int, int, int, int]) -> Variant:
        classes, sweeps, joins, small = rounds
        slots = 2 * max(self.threads // 32 * self.warp_row, self.block_row)
        shared = (4 + self.sum.np_type.itemsize) * slots
        constants = {"THREADS": self.threads, "RESIDENT": self.resident, "COOPERATIVE": 1, "SHARED_BYTES": shared}
        constants |= {"CLASSES": classes, "SWEEPS": sweeps, "JOINS": joins, "SMALL": small, "GAIN_UNIT": GAIN_UNIT}
        constants |= {"WARP_ROW": self.warp_row, "BLOCK_ROW": self.block_row}
        constants["SORTED"] = tuning.count("louvain.sorted_entries")
        return Variant("kernels/louvain_levels", (("SUM", self.sum), ("COL", INT32)), tuple(constants.items()))


def _product(
    matrix: MatrixStore, label: Array, n: int, share: Array, weight: Array, turn: Array | None = None
) -> MapProduct:
    """For each row (of `turn`) the other label of the largest score. Reads what its arrays hold when it runs."""
    f = semiring.plus_pair[INT64] if matrix.iso else semiring.plus_first[INT64]
    score = Score(SCORE, FP64, share, weight)
    return prepare(Operands(matrix, Keys(label, n), f, Selection(LARGEST), False, score, label, turn))


def _diagonal(rows: Csr, values: PlainValues) -> Array:
    """The values of the diagonal, INT64, 0 where there is none."""
    device, xp = rows.device, rows.device.xp
    loop, iso = xp.zeros(rows.nrows, np.int64), isinstance(values, np.generic)
    if rows.nvals:
        ptr, col = rows.ptr.dtype.name, rows.col.dtype.name
        bounds = device.ranges(rows.nrows, tuning.count("parallel.entries"))
        source = dummy(device, "int64") if iso else values
        args = rows.ptr, rows.col, source, np.int64(1), int(not iso), loop
        _kernel(device, "diagonal", ptr, col)(rows.nrows, *args, bounds=bounds)
    return loop


def _row_sums(A: MatrixStore) -> Array:
    """The sum of each row, INT64."""
    rows: Csr = A.structure.plain_rows()
    if A.iso:
        return (rows.ptr[1:] - rows.ptr[:-1]).astype(np.int64)
    ends = rows.device.xp.zeros(rows.nvals + 1, np.int64)
    rows.device.xp.cumsum(A.values, out=ends[1:])
    return ends[rows.ptr[1:]] - ends[rows.ptr[:-1]]


def level_of(A: MatrixStore, resolution: float, weighted: bool) -> Level:
    """The first level, of a symmetric matrix: each entry with weight 1, or weighted, with its value (INT64). A self
    loop counts as both directions."""
    rows, values = contraction.rows_of(A)
    if not weighted:
        values = np.int64(1)
    elif isinstance(values, np.generic):
        values = A.device.full(rows.nvals, values)
    degree, extra = _row_sums(MatrixStore(Structure(rows), INT64, values)), _diagonal(rows, values)
    if not bool((extra != 0).any()):
        return Level(rows, values, degree, None, resolution)
    return Level(rows, values, degree + extra, extra, resolution)

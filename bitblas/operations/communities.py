"""Steps of Louvain and Leiden on a device: best communities, moves, refinement, contraction, components inside.

`Level` holds a graph with integer weights. `algorithms/communities/louvain.py` states the method; these are its steps.
Labels are INT32, weights and their sums INT64; gains are FP64, computed from sums below 2^53 without fused
multiply-add, so all devices and any number of threads move the same vertices.
"""

from __future__ import annotations

import functools

import numpy as np

from semirings import semiring
from semirings.dtypes import BOOL, FP64, INT64, lookup_dtype

from .. import tuning
from ..device import Device, Kernel, dummy
from ..device.threads import Bounds
from ..formats import Structure
from ..formats.csr.layout import Csr
from ..kernels.variant import Variant
from ..store import MatrixStore, PlainValues
from ..typing import Array
from . import contraction
from .map_products import LARGEST, Choice, Keys, MapProduct, Operands, Score, Selection, prepare, run

GAIN_UNIT = 1024  # a gain is counted in units of 1 / 1024 of a weight
SCORE = "s - x * y"  # sum of weights to a community, less share of the vertex times weight of the community


@functools.cache
def _kernel(device: Device, name: str, ptr: str, col: str) -> Kernel:
    constants: dict[str, tuple[tuple[str, int], ...]] = {
        "move_vertices": (("GAIN_UNIT", GAIN_UNIT),),
        "mark_neighbors": (("LANES", 32),),
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

    def __init__(self, rows: Csr, values: PlainValues, degree: Array, extra: Array | None, resolution: float) -> None:
        self.rows, self.values, self.degree, self.extra, self.resolution = rows, values, degree, extra, resolution
        self.device, self.n = rows.device, rows.nrows
        self.total = int(degree.sum())
        self.share = degree.astype(np.float64) * (resolution / (self.total or 1))
        self.loop = _diagonal(rows, values)
        self.matrix = self._matrix(rows, values)

    def _matrix(self, rows: Csr, values: PlainValues) -> MatrixStore:
        iso = isinstance(values, np.generic)
        return MatrixStore(Structure(rows), BOOL if iso else INT64, np.True_ if iso else values)

    def _ranges(self, n: int) -> Bounds:
        return self.device.ranges(n, tuning.count("parallel.entries"))

    def _run(self, name: str, n: int, *args: object, bounds: Bounds = None) -> None:
        reads = name in ("move_vertices", "mark_neighbors", "same_label", "link_entries")
        ptr = self.rows.ptr.dtype.name if reads else ""
        col = self.rows.col.dtype.name if reads and name != "move_vertices" else ""
        _kernel(self.device, name, ptr, col)(n, *args, bounds=bounds)

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
        inner = self._inside(label)
        near = _row_sums(inner) - self.loop
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

    def _inside(self, label: Array) -> MatrixStore:
        """The entries whose ends have the same label."""
        rows = self.rows
        same = self.device.xp.empty(rows.nvals, bool)
        args = rows.nrows, rows.ptr, rows.col, label, same.view(np.uint8)
        self._run("same_label", rows.nvals, *args, bounds=self._ranges(rows.nvals))
        inner, _ = rows.filter(same)
        values = self.values if isinstance(self.values, np.generic) else self.values[same]
        return self._matrix(inner, values)

    # ---- levels

    def contracted(self, part: Array, count: int) -> Level:
        """The graph whose vertices are the parts (INT32, below count)."""
        smaller = contraction.contract(self.device, self.rows, self.values, part, count, symmetric=True)
        rows: Csr = smaller.structure.plain_rows()
        extra = None if self.extra is None else self.sums(part, self.extra, count)
        return Level(rows, smaller.values, self.sums(part, self.degree, count), extra, self.resolution)

    def split(self, label: Array) -> Array:
        """The components of the subgraphs of each label: for each vertex the smallest vertex of its component."""
        parent, rows = self.vertices(), self.rows
        self._run("link_entries", rows.nvals, rows.nrows, rows.ptr, rows.col, label, parent)
        root = self.device.xp.empty(self.n, np.int32)
        self._run("flatten", self.n, parent, root, bounds=self._ranges(self.n))
        return root

    def inside(self) -> int:
        """The weight of all self loops, both directions."""
        return int(self.loop.sum()) + (0 if self.extra is None else int(self.extra.sum()))

    def host_degrees(self) -> np.ndarray:
        return self.device.to_host(self.degree)


class Moves:
    """Moves of the vertices of a level between communities. label: INT32, in place; sigma: the sum of the degrees of
    each community; active: the vertices that may have a better community."""

    def __init__(self, level: Level, label: Array) -> None:
        xp, n = level.device.xp, level.n
        self.level, self.label = level, label.copy()
        self.sigma = level.sums(self.label, level.degree, n)
        self.active, self.moved = xp.ones(n, np.uint8), xp.empty(n, np.uint8)
        self.turn, self.weight = xp.empty(n, bool), xp.empty(n, np.float64)
        self.best = _product(level.matrix, self.label, n, level.share, self.weight, self.turn)

    def sweep(self, key: int, classes: int) -> tuple[int, float]:
        """Each active vertex moves to its best community, one random class of vertices after the other. Returns how
        many moved, and how much modularity (without a division by `total`) the moves of each class gain if no other
        vertex moved."""
        level, n, turn = self.level, self.level.n, self.turn.view(np.uint8)
        rows, bounds = level.rows, level._ranges(n)
        totals = level.device.xp.zeros((classes, 3), np.int64)
        for which in range(classes):
            level._run("draw_turns", n, key, classes, which, self.active, self.sigma, turn, self.weight, bounds=bounds)
            # best[v] = argmax over communities c of w(v, c) - share[v] sigma[c]
            best: Choice = run(self.best)
            args = best.key, best.score, best.own, level.degree, level.loop, level.share, self.weight, rows.ptr
            level._run("move_vertices", n, turn, *args, self.label, self.sigma, self.moved, totals[which])
            more = rows.ptr, rows.col, self.label, self.moved, totals[which], self.active
            level._run("mark_neighbors", n, rows.nvals, *more, bounds=bounds)
        found = level.device.to_host(totals).sum(axis=0).tolist()
        return found[0], found[1] / GAIN_UNIT


def _product(matrix: MatrixStore, label: Array, n: int, share: Array, weight: Array, turn: Array) -> MapProduct:
    """For each row of `turn` the other label of the largest score. Reads what its arrays hold when it runs."""
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

"""Levels of Louvain and Leiden: graphs with integer weights, and the steps that the method takes on them.

bitblas runs the steps as kernels (operations/communities.py). `StatementLevel` states them as GraphBLAS statements, for
python-graphblas: the same numbers, so both give the same communities.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np

from . import _check as check
from ._parts import random_hash

if TYPE_CHECKING:
    from typing import Self

    from ..core import Matrix
    from ..typing import Array

Steps: TypeAlias = "list[Array]"  # the part of each vertex of the graph, level by level
GAIN_UNIT = 1024  # gains are counted in units of 1 / 1024 of a weight, as integers
EXACT = 52  # bits of the sum of all weights: sums of FP64 numbers below 2^53 are exact in any order


class Moves(Protocol):
    """Moves of vertices between communities, from the communities `label` on."""

    label: Array

    def sweep(self, key: int, classes: int) -> tuple[int, float]:
        """Each active vertex moves to its best community, one random class of vertices after the other. Returns the
        number of moves, and the sum of their gains."""


class Level(Protocol):
    """A graph of n vertices and nvals entries. total: the sum of the degrees. Labels are INT32 arrays."""

    n: int
    nvals: int
    total: int

    @property
    def one_launch(self) -> bool:
        """Whether `climbed` of operations/communities.py runs a pass."""

    def vertices(self) -> Array:
        """0 to n - 1."""

    def renumbered(self, label: Array) -> tuple[Array, int]:
        """Labels renumbered to 0..k-1 in ascending order, and k."""

    def start(self, label: Array) -> Moves:
        """Moves from these communities on; all vertices are active."""

    def refined(self, label: Array, keys: list[int]) -> Array:
        """A finer partition into connected parts, each named by one of its vertices."""

    def contracted(self, part: Array, count: int) -> Self:
        """The graph whose vertices are the parts: S' A S."""

    def split(self, label: Array) -> Array:
        """For each vertex the smallest vertex that is connected to it inside of its community."""

    def inside(self) -> int:
        """The weight of all self loops, both directions."""

    def host_degrees(self) -> np.ndarray:
        """The degree of each vertex, INT64."""


AnyLevel = TypeVar("AnyLevel", bound=Level)


def first_level(A: Matrix, weighted: bool, resolution: float, gb: ModuleType) -> Level:
    """The graph of a symmetric Matrix, each entry with weight 1 or, if weighted, with its value as an integer."""
    W = integer_weights(A, gb) if weighted else A
    store = getattr(W, "_in_users_order", None)
    if store is None:
        if not weighted:
            W = A.apply(gb.unary.one[gb.dtypes.INT64]).new()
        loops = W.diag().to_dense(0)
        return StatementLevel(W, loops, resolution, gb)
    from ..operations.communities import level_of

    return level_of(store, resolution, weighted)


def integer_weights(A: Matrix, gb: ModuleType) -> Matrix:
    """The values of A as INT64: exactly if they are integers with a sum below 2^52. Otherwise all are multiplied by the
    largest power of two for which the sum stays below 2^52, and rounded: each is off by at most 2^-52 of the sum.
    InvalidValue for values below 0, infinite or NaN, and unless those of (i, j) and (j, i) are equal.
    """
    FP64, unary, binary = gb.dtypes.FP64, gb.unary, gb.binary
    total = check.weights(gb, A)
    if not A.isequal(A.T):
        raise gb.exceptions.InvalidValue(
            "argument A: expected a symmetric matrix with equal weights at (i, j) and (j, i), got different ones. "
            "Hint: A.ewise_add(A.T, 'plus').new() adds them up."
        )
    real = A.dtype.name.startswith("FP")
    W = A.apply(unary.identity[FP64]).new()
    if total >= 2.0**EXACT or (real and not W.isequal(W.apply(unary.floor).new())):
        # W = floor(2^shift W + 1/2), in two factors, because 2^shift can pass the range of FP64
        shift = EXACT - 1 - int(np.frexp(total)[1])
        for part in (shift // 2, shift - shift // 2):
            W = W.apply(binary.times, right=2.0**part).new()
        W = W.apply(binary.plus, right=0.5).new().apply(unary.floor).new()
    return W.apply(unary.identity[gb.dtypes.INT64]).new()


class StatementLevel:
    """A Level by statements on Matrices. A: INT64, symmetric; extra: what the degree of each vertex has in addition to
    its row."""

    one_launch = False

    def __init__(self, A: Matrix, extra: Array, resolution: float, gb: ModuleType) -> None:
        self.A, self.extra, self.resolution, self.gb, self.n = A, extra, resolution, gb, A.nrows
        self.nvals = A.nvals
        # k = sum of the row + extra; share = resolution / total * k
        self.degree = A.reduce_rowwise(gb.monoid.plus).new().to_dense(0) + extra
        self.total = int(self.degree.sum())
        self.share = self.degree.astype(np.float64) * (resolution / (self.total or 1))
        self.loop = A.diag().to_dense(0)

    def vertices(self) -> Array:
        return np.arange(self.n, dtype=np.int32)

    def renumbered(self, label: Array) -> tuple[Array, int]:
        kinds, number = np.unique(label, return_inverse=True)
        return number.reshape(-1).astype(np.int32), len(kinds)

    def sums(self, label: Array, x: Array, count: int) -> Array:
        """The sum of x per label."""
        return self.gb.Vector.from_coo(label, x, size=count, dup_op=self.gb.binary.plus).to_dense(0)

    def start(self, label: Array) -> StatementMoves:
        return StatementMoves(self, label)

    def best(self, A: Matrix, label: Array, weight: Array, turn: Array) -> tuple[Array, Array, Array]:
        """For each vertex of `turn` the other community of the largest score, or -1, its score, and the weight to the
        own community."""
        gb, n = self.gb, self.n
        # C = A plus.first S; score = C[v, c] - share[v] weight[c]
        S = gb.Matrix.from_coo(self.vertices(), label, True, nrows=n, ncols=n)
        v, c, w = A.mxm(S, gb.semiring.plus_first[gb.dtypes.INT64]).new().to_coo()
        with np.errstate(over="ignore"):  # of parts that are too heavy, and of extreme resolutions
            score = w.astype(np.float64) - self.share[v] * weight[c]
        own, best, top = np.zeros(n, np.int64), np.full(n, -1), np.zeros(n)
        home = c == label[v]
        own[v[home]] = w[home]
        kept = turn[v] & ~home
        v, c, score = v[kept], c[kept], score[kept]
        order = np.lexsort((c, -score, v))
        v, c, score = v[order], c[order], score[order]
        first = np.ones(len(v), bool)
        first[1:] = v[1:] != v[:-1]
        best[v[first]], top[v[first]] = c[first], score[first]
        return best, top, own

    def refined(self, label: Array, keys: list[int]) -> Array:
        gb, n = self.gb, self.n
        i, j, w = self.A.to_coo()
        same = label[i] == label[j]
        B = gb.Matrix.from_coo(i[same], j[same], w[same], gb.dtypes.INT64, nrows=n, ncols=n)
        near = B.reduce_rowwise(gb.monoid.plus).new().to_dense(0) - self.loop
        rest = self.sums(label, self.degree, n)[label] - self.degree
        settled = near.astype(np.float64) >= self.share * rest.astype(np.float64)
        part, size, sigma = self.vertices(), np.ones(n, np.int64), self.degree.copy()
        for key in keys:
            turn = settled & (part == self.vertices()) & (size == 1)
            turn &= random_hash(self.vertices().astype(np.int64), key) & 1 == 0
            best, score, _ = self.best(B, part, np.where(turn, 1e300, sigma.astype(np.float64)), turn)
            go = np.flatnonzero(turn & (best >= 0) & (score > 0) & ~turn[best])
            part[go] = best[go]
            size, sigma = np.bincount(part, minlength=n), self.sums(part, self.degree, n)
        return part

    def contracted(self, part: Array, count: int) -> StatementLevel:
        gb, n = self.gb, self.n
        # S' A S
        S = gb.Matrix.from_coo(self.vertices(), part, 1, gb.dtypes.INT64, nrows=n, ncols=count)
        C = S.T.mxm(self.A, gb.semiring.plus_times).new().mxm(S, gb.semiring.plus_times).new()
        return StatementLevel(C, self.sums(part, self.extra, count), self.resolution, gb)

    def split(self, label: Array) -> Array:
        i, j, _ = self.A.to_coo()
        same = label[i] == label[j]
        root = self.vertices()
        while True:
            # root[i] = min(root[i], root[j]); root = root[root]
            lower = root.copy()
            np.minimum.at(lower, i[same], root[j[same]])
            lower = lower[lower]
            if (lower == root).all():
                return root
            root = lower

    def inside(self) -> int:
        return int(self.loop.sum()) + int(self.extra.sum())

    def host_degrees(self) -> np.ndarray:
        return np.asarray(self.degree)


class StatementMoves:
    """Moves by statements."""

    def __init__(self, level: StatementLevel, label: Array) -> None:
        self.level, self.label = level, label.copy()
        self.active = np.ones(level.n, bool)

    def sweep(self, key: int, classes: int) -> tuple[int, float]:
        level, count, gained = self.level, 0, 0
        i, j, _ = level.A.to_coo()
        draw = random_hash(level.vertices().astype(np.int64), key) & classes - 1
        for which in range(classes):
            turn = self.active & (draw == which)
            self.active &= ~turn
            weight = level.sums(self.label, level.degree, level.n).astype(np.float64)
            best, score, own = level.best(level.A, self.label, weight, turn)
            left = weight[self.label] - level.degree.astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                stay = (own - level.loop).astype(np.float64) - level.share * left
                gain = score - stay
            moved = (best >= 0) & (score > stay)
            self.label[moved] = best[moved]
            count += int(moved.sum())
            gained += int((np.minimum(gain[moved], 2.0**EXACT) * GAIN_UNIT).astype(np.int64).sum())
            # neighbours in other communities become active; all, if the rows of moved vertices hold one entry of four
            beside = moved[i]
            if 4 * int(beside.sum()) > len(i):
                self.active[:] = True
            else:
                self.active[j[beside & (self.label[i] != self.label[j])]] = True
        return count, gained / GAIN_UNIT

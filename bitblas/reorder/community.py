"""Community order: vertices that share many edges are placed together, at every scale.

Vertices are matched in pairs, along the edge that is heaviest for the size of its ends; pairs are matched in pairs, and
so on: after three rounds there are patches of eight, the rows of a tile, and after eight rounds patches of up to 256.
Reverse Cuthill-McKee orders these few patches. On the way back the member of each pair whose neighbours come earlier is
placed first. Vertices without a free neighbour are matched if they prefer the same vertex (the leaves of a star). Hubs
belong to no community: they come before all others, by degree.

Sums and scores are integers, and ties are broken by a hash of the two ends, so the order is the same on every device.

Karypis, Kumar: A fast and high quality multilevel scheme for partitioning irregular graphs. SIAM J. on Scientific
Computing 20 (1998), for the matching. LaSalle et al: Improving graph partitioning for modern graphs and architectures.
IA^3 2015, for pairs of leaves. Fagginger Auer, Bisseling: A GPU algorithm for greedy graph matching. 2012, for the
rounds in which two that prefer each other are matched.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np

from semirings import monoid
from semirings.dtypes import INT64

from .. import tuning
from ..core import Matrix
from ..core.matrix.views import MatrixRead
from ..core.statement.running import guarded
from ..device import Device
from ..formats.csr.layout import pointers_of
from ..operations.value_arrays import reduce_segments
from ..typing import Array
from ._graph import by, firsts, hash16, inverse, square, undirected
from .rcm import in_bands


class EdgeLists(NamedTuple):
    """Edges in both directions, sorted by i: ends i and j, weights, and the row pointers (INT64)."""

    i: Array
    j: Array
    weight: Array
    ptr: Array

    @property
    def n(self) -> int:
        return len(self.ptr) - 1


def community(A: MatrixRead) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n).

    Peak memory: about 100 bytes per edge between vertices that are not hubs. Raises DimensionMismatch, TypeError.
    """
    return _community(square(A))


@guarded
def _community(A: Matrix) -> Array:
    device, xp, n = A.device, A.device.xp, A.nrows
    i, j = undirected(A)._stored.coo()
    degree = xp.bincount(i, minlength=n)
    hub = degree * n > tuning.count("community.hub_degree") * len(i)
    kept = (i != j) & ~(hub[i] | hub[j])
    i, j = i[kept], j[kept]
    order = in_patches(device, EdgeLists(i, j, xp.ones(len(i), np.int64), pointers_of(i, n, device)))
    hubs = xp.flatnonzero(hub)
    return xp.concatenate([hubs[xp.argsort(-degree[hubs], kind="stable")], order[~hub[order]]])


def in_patches(device: Device, graph: EdgeLists) -> Array:
    """The community order of a graph without hubs."""
    xp = device.xp
    size = xp.ones(graph.n, np.int64)
    steps = []
    for _ in range(tuning.count("community.levels")):
        pair = pair_numbers(device, graph, size)
        count = int(pair.max()) + 1 if len(pair) else 0
        if (graph.n - count) * tuning.count("community.stop_share") < graph.n:
            break
        steps.append((graph, pair))
        size = xp.bincount(pair, size, count).astype(np.int64)
        graph = contracted(device, graph, pair, count)
    coarse = Matrix.from_coo(graph.i, graph.j, True, nrows=graph.n, ncols=graph.n, device=device, format="csr")
    order = in_bands(coarse)
    for graph, pair in reversed(steps):
        place = inverse(xp, order)[pair]
        order = by(xp, place, pull(xp, graph, place))
    return order


def pair_numbers(device: Device, graph: EdgeLists, size: Array) -> Array:
    """The number of the pair of each vertex; an unmatched vertex has a number of its own."""
    xp, n = device.xp, graph.n
    mate = xp.arange(n)
    free, first = xp.ones(n, bool), None
    rest = graph
    for k in range(tuning.count("community.matchings")):
        choice = preferred(device, rest, size, k)
        first = choice if first is None else first
        matched = xp.flatnonzero((choice >= 0) & (choice[choice] == mate) & free)
        mate[matched], free[matched] = choice[matched], False
        kept = free[rest.i] & free[rest.j]
        i = rest.i[kept]
        if not len(i):
            break
        rest = EdgeLists(i, rest.j[kept], rest.weight[kept], pointers_of(i, n, device))
    assert first is not None  # there is at least one round
    leaves = xp.flatnonzero(free & (first >= 0))
    if len(leaves):
        leaves = leaves[xp.argsort(first[leaves], kind="stable")]
        choice = first[leaves]
        start = xp.zeros(len(leaves), np.int64)
        heads = firsts(xp, choice)
        start[heads] = heads
        rank = xp.arange(len(leaves)) - cummax(xp, start)
        left = xp.flatnonzero((rank[:-1] % 2 == 0) & (choice[1:] == choice[:-1]))
        a, b = leaves[left], leaves[left + 1]
        mate[a], mate[b] = b, a
    heads = mate >= xp.arange(n)
    number = xp.cumsum(heads) - 1
    return number[xp.minimum(mate, xp.arange(n))]


def cummax(xp: ModuleType, ascending_or_zero: Array) -> Array:
    """Replace each zero by the last nonzero number before it."""
    at = xp.flatnonzero(ascending_or_zero)
    runs = xp.zeros(len(ascending_or_zero), np.int64)
    runs[at] = 1
    known = xp.concatenate([xp.zeros(1, np.int64), ascending_or_zero[at]])
    return known[xp.cumsum(runs)]


def preferred(device: Device, graph: EdgeLists, size: Array, k: int) -> Array:
    """The preferred neighbour of each vertex, -1 for none: the heaviest edge relative to the sizes of its ends."""
    xp = device.xp
    choice = xp.full(graph.n, -1)
    if not len(graph.i):
        return choice
    low, high = xp.minimum(graph.i, graph.j), xp.maximum(graph.i, graph.j)
    tie_break = hash16(low * 0x9E3779B1 + high * 0x85EBCA6B + k)
    score = xp.minimum((graph.weight << 24) // (size[graph.i] * size[graph.j]), 1 << 46) << 16 | tie_break
    some = xp.flatnonzero(graph.ptr[1:] > graph.ptr[:-1])
    best = xp.zeros(graph.n, np.int64)
    best[some] = reduce_segments(device, monoid.max[INT64], score, xp.append(graph.ptr[some], len(score)))
    at = xp.flatnonzero(score == best[graph.i])
    at = at[firsts(xp, graph.i[at])]
    choice[graph.i[at]] = graph.j[at]
    return choice


def contracted(device: Device, graph: EdgeLists, pair: Array, count: int) -> EdgeLists:
    """Contract the pairs to vertices; weights of parallel edges are added."""
    xp = device.xp
    i, j = pair[graph.i], pair[graph.j]
    kept = i != j
    keys, weight = i[kept] * count + j[kept], graph.weight[kept]
    order = xp.argsort(keys, kind="stable")
    keys = keys[order]
    at = firsts(xp, keys)
    total = xp.append(xp.zeros(1, np.int64), xp.cumsum(weight[order]))
    weight = total[xp.append(at[1:], len(keys))] - total[at] if len(at) else total[:0]
    i, j = keys[at] // max(1, count), keys[at] % max(1, count)
    return EdgeLists(i, j, weight, pointers_of(i, count, device))


def pull(xp: ModuleType, graph: EdgeLists, place: Array) -> Array:
    """The mean signed distance of the neighbours of each vertex in the order."""
    total = xp.zeros((2, len(graph.i) + 1), np.int64)
    xp.cumsum(graph.weight * (place[graph.j] - place[graph.i]), out=total[0, 1:])
    xp.cumsum(graph.weight, out=total[1, 1:])
    distance, weight = total[:, graph.ptr[1:]] - total[:, graph.ptr[:-1]]
    return distance / xp.maximum(weight, 1)

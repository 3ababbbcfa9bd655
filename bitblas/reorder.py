"""Vertex orders: degree(A), bfs(A), rcm(A), community(A), llp(A), gorder(A); docs/orders.md compares them.

Each takes a square Matrix, whose entry (i, j) is an edge, and returns an array (INT64, on A's device): perm[new] = old.
Directions and values are ignored: an unsymmetric matrix is read as the pattern of A + A'. The same A gives the same
order on every device.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import NamedTuple

import numpy as np

from semirings import binary, monoid, semiring
from semirings.dtypes import BOOL, INT64

from . import device as devices
from . import tuning
from .algorithms import connected_components
from .core import Matrix, Vector
from .core.matrix.read import MatrixRead
from .core.statement.indexing import replace
from .core.statement.running import guarded
from .device import Device
from .exceptions import DimensionMismatch
from .formats import Structure
from .formats.csr.layout import pointers_of
from .kernels.variant import Variant
from .operations.value_arrays import reduce_segments
from .operations.vector_entries import build
from .store import MatrixStore
from .typing import Array

# ---- The undirected pattern of a matrix that the orders read, without values and self loops.


def square(A: MatrixRead) -> Matrix:
    """Validate a square Matrix. Raises TypeError, DimensionMismatch."""
    if not isinstance(A, MatrixRead):
        raise TypeError(f"A: expected a Matrix, got {type(A).__qualname__}. Hint: Matrix.from_coo makes one")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"A: expected a square matrix, whose rows and columns are the same vertices, got {A.shape}. Hint: store a "
            "bipartite graph with nrows + ncols vertices"
        )
    return A._matrix  # the transpose has the same edges


def order_of(compute: Callable[[Matrix], Array]) -> Callable[[MatrixRead], Array]:
    """Make a public order of a function of a square Matrix."""
    run = guarded(compute)

    @wraps(compute)
    def order(A: MatrixRead) -> Array:
        return run(square(A))

    return order


def undirected(A: Matrix) -> Matrix:
    """The pattern of A + A' in the user's order; nothing is cached in A."""
    pattern = A._in_users_order.structure
    G = Matrix._from_store(MatrixStore(Structure(pattern.primary), BOOL, np.True_))
    if pattern.symmetric:
        return G
    return G.ewise_add(G.T, binary.lor).new()


def first_of_each(xp: ModuleType, ascending: Array) -> Array:
    """The start of each run of equal numbers."""
    fresh = xp.ones(len(ascending), bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return xp.flatnonzero(fresh)


def inverse_permutation(xp: ModuleType, perm: Array) -> Array:
    """The inverse permutation."""
    places = xp.empty_like(perm)
    places[perm] = xp.arange(len(perm), dtype=perm.dtype)
    return places


def sort_by(xp: ModuleType, *keys: Array) -> Array:
    """Sort positions by the first key, ties by the next keys, then by position."""
    order = xp.argsort(keys[-1], kind="stable")
    for key in keys[-2::-1]:
        order = order[xp.argsort(key[order], kind="stable")]
    return order


def hash16(x: Array) -> Array:
    """A 16-bit hash of integers."""
    x = x & 0xFFFFFFFF
    x = ((x ^ x >> 15) * 0x2C1B3C6D) & 0xFFFFFFFF
    return (x ^ x >> 13) & 0xFFFF


# ---- Degree order: vertices by descending degree, ties by number.
#
# On power-law graphs most entries then are in few rows and columns: small column numbers, and tiles that share hubs.


def degrees(A: Matrix) -> Array:
    """The number of entries in the row and column of each vertex (INT64)."""
    xp, n = A.device.xp, A.nrows
    rows, cols = A._stored.coo()
    return xp.bincount(rows, minlength=n) + xp.bincount(cols, minlength=n)


@order_of
def degree(A: Matrix) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n): descending degree, ties by ascending number.

    Raises DimensionMismatch, TypeError.
    """
    return A.device.xp.argsort(-degrees(A), kind="stable")


# ---- Reverse Cuthill-McKee: a breadth-first search from a peripheral vertex, reversed, which reduces the bandwidth.
#
# Neighbours get close numbers, so the matrix becomes a band. Within a level vertices are sorted by the position of
# their first neighbour in the level before, then by degree, then by number, as in the sequential algorithm; so all
# vertices of a level, in all components, are placed at once. Each search begins at the last vertex of an earlier
# search, which began at a vertex of least degree.
#
# Cuthill, McKee: Reducing the bandwidth of sparse symmetric matrices. ACM National Conference 1969. George, Liu: An
# implementation of a pseudoperipheral node finder. ACM TOMS 5 (1979), for the beginnings.


@order_of
def rcm(A: Matrix) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n). Components are contiguous, the one with the
    smallest vertex last. Raises DimensionMismatch, TypeError."""
    return in_bands(undirected(A))


def in_bands(G: Matrix) -> Array:
    """The reverse Cuthill-McKee order of an undirected graph."""
    xp, n = G.device.xp, G.nrows
    if not n:
        return xp.zeros(0, np.int64)
    label = connected_components(G).to_dense()
    degree = G.mxv(Vector.from_scalar(True, n, device=G.device), semiring.plus_pair[INT64]).new().to_dense(0)
    lowest = sort_by(xp, label, degree)
    rim = search_order(G, lowest[first_of_each(xp, label[lowest])], label, degree)
    last = xp.append(first_of_each(xp, label[rim])[1:], n) - 1
    return xp.ascontiguousarray(search_order(G, rim[last], label, degree)[::-1])


def search_order(G: Matrix, roots: Array, label: Array, degree: Array) -> Array:
    """The vertices in search order, component by component. roots: one per component, sorted by label."""
    xp, n, place = G.device.xp, G.nrows, 0
    seen, near = Vector(BOOL, n, device=G.device), Vector(INT64, n, device=G.device)
    level, levels, widest = roots, [], int(degree.max()) + 1
    while len(level):
        levels.append(level)
        places = xp.arange(place, place + len(level), dtype=np.int64)
        last = Vector._from_store(build(G.device, n, INT64, level, places, distinct=True))
        seen(last.S) << True
        # near<!seen, replace> = G min.second last: the first neighbour in the last level
        near(~seen.S, replace) << G.mxv(last, semiring.min_second[INT64])
        found, first = near.to_coo()
        found = found.view(np.int64)
        place += len(level)
        level = found[xp.argsort(first * widest + degree[found], kind="stable")]
    order = xp.concatenate(levels)
    return order[xp.argsort(label[order], kind="stable")]


# ---- Breadth-first order: vertices sorted by the position of their first neighbour, which keeps neighbour numbers
# close.
#
# Gap codes profit: neighbours of consecutive vertices are found together, so their lists share runs of numbers. Each
# component starts at its vertex of the smallest number, where a crawl of it may have begun.
#
# Apostolico, Drovandi: Graph compression by BFS. Algorithms 2 (2009).


@order_of
def bfs(A: Matrix) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n). Components are contiguous, ordered by their
    smallest vertex. Raises DimensionMismatch, TypeError."""
    G = undirected(A)
    xp, n = G.device.xp, G.nrows
    if not n:
        return xp.zeros(0, np.int64)
    label = connected_components(G).to_dense()
    degree = G.mxv(Vector.from_scalar(True, n, device=G.device), semiring.plus_pair[INT64]).new().to_dense(0)
    together = xp.argsort(label, kind="stable")
    return search_order(G, together[first_of_each(xp, label[together])], label, degree)


# ---- Community order: vertices that share many edges are placed together, at every scale.
#
# Vertices are matched in pairs, along the edge that is heaviest for the size of its ends; pairs are matched in pairs,
# and so on: after three rounds there are patches of eight, the rows of a tile, and after eight rounds patches of up to
# 256. Reverse Cuthill-McKee orders these few patches. On the way back the member of each pair whose neighbours come
# earlier is placed first. Vertices without a free neighbour are matched if they prefer the same vertex (the leaves of a
# star). Hubs belong to no community: they come before all others, by degree.
#
# Sums and scores are integers, and ties are broken by a hash of the two ends, so the order is the same on every device.
#
# Karypis, Kumar: A fast and high quality multilevel scheme for partitioning irregular graphs. SIAM J. on Scientific
# Computing 20 (1998), for the matching. LaSalle et al: Improving graph partitioning for modern graphs and
# architectures. IA^3 2015, for pairs of leaves. Fagginger Auer, Bisseling: A GPU algorithm for greedy graph matching.
# 2012, for the rounds in which two that prefer each other are matched.


class EdgeLists(NamedTuple):
    """Edges in both directions, sorted by i: ends i and j, weights, and the row pointers (INT64)."""

    i: Array
    j: Array
    weight: Array
    ptr: Array

    @property
    def n(self) -> int:
        return len(self.ptr) - 1


@order_of
def community(A: Matrix) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n).

    Peak memory: about 100 bytes per edge between vertices that are not hubs. Raises DimensionMismatch, TypeError.
    """
    device, xp, n = A.device, A.device.xp, A.nrows
    i, j = undirected(A)._stored.coo()
    degree = xp.bincount(i, minlength=n)
    hub = degree * n > tuning.count("community.hub_degree") * len(i)
    kept = (i != j) & ~(hub[i] | hub[j])
    i, j = i[kept], j[kept]
    order = order_patches(device, EdgeLists(i, j, xp.ones(len(i), np.int64), pointers_of(i, n, device)))
    hubs = xp.flatnonzero(hub)
    return xp.concatenate([hubs[xp.argsort(-degree[hubs], kind="stable")], order[~hub[order]]])


def order_patches(device: Device, graph: EdgeLists) -> Array:
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
        graph = contract(device, graph, pair, count)
    coarse = Matrix.from_coo(graph.i, graph.j, True, nrows=graph.n, ncols=graph.n, device=device, format="csr")
    order = in_bands(coarse)
    for graph, pair in reversed(steps):
        place = inverse_permutation(xp, order)[pair]
        order = sort_by(xp, place, pull(xp, graph, place))
    return order


def pair_numbers(device: Device, graph: EdgeLists, size: Array) -> Array:
    """The number of the pair of each vertex; an unmatched vertex has a number of its own."""
    xp, n = device.xp, graph.n
    mate = xp.arange(n)
    free, first = xp.ones(n, bool), None
    rest = graph
    for k in range(tuning.count("community.matchings")):
        choice = preferred_neighbors(device, rest, size, k)
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
        heads = first_of_each(xp, choice)
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


def preferred_neighbors(device: Device, graph: EdgeLists, size: Array, k: int) -> Array:
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
    at = at[first_of_each(xp, graph.i[at])]
    choice[graph.i[at]] = graph.j[at]
    return choice


def contract(device: Device, graph: EdgeLists, pair: Array, count: int) -> EdgeLists:
    """Contract the pairs to vertices; weights of parallel edges are added."""
    xp = device.xp
    i, j = pair[graph.i], pair[graph.j]
    kept = i != j
    keys, weight = i[kept] * count + j[kept], graph.weight[kept]
    order = xp.argsort(keys, kind="stable")
    keys = keys[order]
    at = first_of_each(xp, keys)
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


# ---- Layered label propagation: nested communities at every scale, without a given size.
#
# One layer is label propagation with a resolution gamma: a vertex takes the label l that maximizes k[l] - gamma (vol[l]
# - k[l]), where k[l] of its neighbours and vol[l] of all vertices have it. Large gammas give small, dense communities,
# zero the largest. Layers go from fine to coarse. After each layer, communities are sorted by their first vertices and
# keep the previous order inside, so that the coarsest layer is the outermost.
#
# A random half of the vertices chooses at once in each round: if all did, two neighbours would only swap labels. Scores
# are integers and ties are broken by a hash, so the order is the same on every device. (In the authors' code vertices
# choose one after the other, and the order of the layers is random.)
#
# Boldi, Rosa, Santini, Vigna: Layered label propagation: a multiresolution coordinate-free ordering for compressing
# social networks. WWW 2011.

FINEST = 10  # layers of gamma = 2^0, 2^-1 .. 2^-FINEST, as in the paper, then 0


@order_of
def llp(A: Matrix) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n).

    Peak memory: about 60 bytes per edge. Raises DimensionMismatch, TypeError.
    """
    device, xp, n = A.device, A.device.xp, A.nrows
    i, j = undirected(A)._stored.coo()
    kept = i != j
    i, j = i[kept], j[kept]
    order = xp.arange(n)
    for layer in range(FINEST + 2):
        # gamma = weight / 2^FINEST
        weight = (1 << FINEST) >> layer if layer <= FINEST else 0
        order = refine_order(xp, propagate_labels(device, n, i, j, weight), order)
    return order


def propagate_labels(device: Device, n: int, i: Array, j: Array, weight: int) -> Array:
    """Propagate labels until hardly any changes; a label is the number of a vertex."""
    xp = device.xp
    label, vertex, active = xp.arange(n), xp.arange(n), xp.ones(n, bool)
    changes, least = [n, n], tuning.count("llp.stop_share")
    for k in range(tuning.count("llp.rounds")):
        choosing = (hash16(vertex * 0x9E3779B1 + (k // 2 + 1) * 0x85EBCA6B) + k & 1 == 1) & active
        active &= ~choosing
        edges = choosing[i]
        v, choice = best_labels(device, n, i[edges], label[j[edges]], label, weight, k)
        changed = xp.zeros(n, bool)
        changed[v] = label[v] != choice
        label[v] = choice
        # a vertex reconsiders its label after a neighbour's label changed
        active[i[changed[j]]] = True
        changes[k % 2] = int(changed.sum())
        if sum(changes) * least < n:
            break
    return label


def best_labels(
    device: Device, n: int, i: Array, near: Array, label: Array, weight: int, k: int
) -> tuple[Array, Array]:
    """The distinct vertices of i, and the label that each takes. near: the labels of neighbours, by edge."""
    xp = device.xp
    if not len(i):
        return i, i
    keys = i * n + near
    keys.sort()
    heads = first_of_each(xp, keys)
    count = xp.diff(xp.append(heads, len(keys)))
    v, found = keys[heads] // n, keys[heads] % n
    is_current = found == label[v]
    # score = k[l] - gamma (vol[l] - k[l]), times 2^FINEST; a vertex is not its own neighbour
    others = xp.bincount(label, minlength=n)[found] - is_current - count
    tie_break = hash16(found * 0x9E3779B1 + (k + 1) * 0x85EBCA6B)
    score = ((count << FINEST) - weight * others << 1 | is_current) << 16 | tie_break
    at = xp.append(first_of_each(xp, v), len(v))
    best = reduce_segments(device, monoid.max[INT64], score, at)
    most = xp.flatnonzero(score == xp.repeat(best, xp.diff(at)))
    most = most[first_of_each(xp, v[most])]
    return v[most], found[most]


def refine_order(xp: ModuleType, label: Array, order: Array) -> Array:
    """Sort communities by the position of their first vertex; the order within a community is kept."""
    here = label[order]
    together = xp.argsort(here, kind="stable")
    heads = together[first_of_each(xp, here[together])]
    place = xp.empty(len(label), np.int64)
    place[here[heads]] = heads
    return order[xp.argsort(place[here], kind="stable")]


# ---- Gorder: place each vertex after those with which it shares most neighbours, for cache locality.
#
# The score of a pair is 1 for an edge between them, plus 1 for each common neighbour; the next vertex is the one with
# the highest sum of scores with the w vertices before it (the window). The total is at least 1 / (2 w) of the optimum.
# The first vertex is the one with most neighbours. Of equal scores, the vertex that was near the window most recently
# goes first, then the one with most neighbours. As in the authors' code, neighbours of more than sqrt(n) neighbours do
# not count as common ones; this bounds the time, which is that of reading all pairs of neighbours of all other
# vertices. The algorithm is sequential: it runs on the host, on one core, for every device of A.
#
# Wei, Yu, Lu, Lin: Speedup graph processing by graph ordering. SIGMOD 2016.


@order_of
def gorder(A: Matrix) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n).

    Peak memory: 40 bytes per edge and 70 per vertex, on the host. Raises DimensionMismatch, TypeError.
    """
    host, n = devices.get("cpu"), A.nrows
    i, j = (A.device.to_host(part) for part in undirected(A)._stored.coo())
    i, j = i[i != j], j[i != j]
    ptr, col = pointers_of(i, n, host).astype(np.int64), j.astype(np.int32 if n < 1 << 31 else np.int64)
    order, window = np.zeros(n, np.int64), tuning.count("gorder.window")
    if n:
        degree = np.diff(ptr)
        # the largest score: an edge and all common neighbours with every vertex of the window
        head = np.full(window * (int(degree.max()) + 1) + 1, -1)
        key, bucket, behind, ahead = np.zeros(n, np.int64), *(np.full(n, -1) for _ in range(3))
        first = np.argsort(-degree, kind="stable")
        variant = Variant("kernels/gorder", (), (("WINDOW", window),))
        host.kernel(variant)(n, first, ptr, col, math.isqrt(n), key, bucket, head, behind, ahead, order)
    return A.device.asarray(order)


ORDERS: dict[str, Callable[[MatrixRead], Array]] = {f.__name__: f for f in (degree, bfs, rcm, community, llp, gorder)}

__all__ = ["ORDERS", "bfs", "community", "degree", "gorder", "llp", "rcm"]

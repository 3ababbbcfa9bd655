"""Reference answers in NumPy and SciPy, without a GraphBLAS, and the graphs of the tests."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph


@dataclass(frozen=True)
class Graph:
    """Edges rows[k] -> cols[k] without duplicates, sorted by row; symmetric: each edge is there both ways."""

    n: int
    rows: np.ndarray
    cols: np.ndarray
    symmetric: bool

    @classmethod
    def of(cls, n, edges, *, symmetric=False):
        pairs = {(int(i), int(j)) for i, j in edges}
        if symmetric:
            pairs |= {(j, i) for i, j in pairs}
        table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        return cls(n, table[:, 0].copy(), table[:, 1].copy(), symmetric)

    def scipy(self, values=None):
        values = np.ones(len(self.rows), np.int64) if values is None else values
        return sp.csr_array((values, (self.rows, self.cols)), shape=(self.n, self.n))

    def symmetric_integers(self, low, high, seed=0):
        """The same for (i, j) and (j, i)."""
        table = np.random.default_rng(seed).integers(low, high + 1, (self.n, self.n))
        return table[np.maximum(self.rows, self.cols), np.minimum(self.rows, self.cols)]

    def integers(self, low, high, seed=0):
        """One random integer per edge, from low to high."""
        return np.random.default_rng(seed).integers(low, high + 1, len(self.rows))


# --- answers ---------------------------------------------------------------------------------------------------------


def finite(found):
    return {int(v): found[v] for v in np.flatnonzero(np.isfinite(found))}


def levels(graph, source):
    """{vertex: edges on a shortest path}"""
    found = finite(csgraph.dijkstra(graph.scipy(), indices=source, unweighted=True))
    return {vertex: int(level) for vertex, level in found.items()}


def parents_fault(graph, source, parents):
    """The fault of {vertex: parent} as a breadth-first tree, or None."""
    level = levels(graph, source)
    edges = set(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True))
    if parents.keys() != level.keys():
        return f"found {sorted(parents)}, reachable are {sorted(level)}"
    if parents[source] != source:
        return f"the parent of the source {source} is {parents[source]}"
    for vertex, parent in parents.items():
        if vertex != source and (parent, vertex) not in edges:
            return f"no edge from parent {parent} to {vertex}"
        if vertex != source and level[parent] != level[vertex] - 1:
            return f"{vertex} on level {level[vertex]} has a parent on level {level[parent]}"
    return None


def distances(graph, weights, source):
    """{vertex: distance}, or None if a negative cycle can be reached."""
    try:
        return finite(csgraph.bellman_ford(graph.scipy(weights), indices=source))
    except csgraph.NegativeCycleError:
        return None


def pagerank(graph, alpha=0.85):
    """Ranks, as the solution of a dense system of equations."""
    n, P = graph.n, graph.scipy().toarray().astype(float)
    P[P.sum(axis=1) == 0] = 1
    P /= P.sum(axis=1, keepdims=True)
    return np.linalg.solve(np.eye(n) - alpha * P.T, np.full(n, (1 - alpha) / n))


def lazy_walk(graph, weights, source, alpha):
    """Where a lazy walk ends that stops before each step with probability alpha: a direct solution. It stays at a
    vertex without weights."""
    W = graph.scipy(weights).toarray()
    d = W.sum(axis=1)
    step = np.where(d[:, None] > 0, W / np.where(d > 0, d, 1)[:, None], np.eye(graph.n))
    start = np.zeros(graph.n)
    start[np.atleast_1d(source)] = 1 / np.size(source)
    lazy = (np.eye(graph.n) + step) / 2
    return np.linalg.solve(np.eye(graph.n) - (1 - alpha) * lazy.T, alpha * start)


def conductance(graph, weights, members):
    """Weight of the edges that leave a set over the lesser volume of the two sides; None if it has all of the volume, 0
    if it has none."""
    W, inside = graph.scipy(weights).toarray(), np.zeros(graph.n, bool)
    inside[members] = True
    volume, total = W[inside].sum(), W.sum()
    if volume == total:
        return None
    return float(W[inside][:, ~inside].sum() / min(volume, total - volume)) if volume else 0.0


def components(graph, strong=False):
    """The smallest vertex of the component, per vertex."""
    count, label = csgraph.connected_components(graph.scipy(), directed=strong, connection="strong")
    smallest = np.full(count, graph.n)
    np.minimum.at(smallest, label, np.arange(graph.n))
    return smallest[label]


def triangles(graph):
    """trace(A^3) / 6, without self loops."""
    A = graph.scipy()
    A = A - sp.diags_array(A.diagonal(), dtype=A.dtype)
    return int((A @ A).multiply(A.T).sum()) // 6


def neighbours(graph):
    """The sets of neighbours, without self loops."""
    near = [set() for _ in range(graph.n)]
    for i, j in zip(graph.rows.tolist(), graph.cols.tolist(), strict=True):
        if i != j:
            near[i].add(j)
    return near


def betweenness(graph, sources=None):
    """Brandes' algorithm, one source and one vertex at a time."""
    near = neighbours(graph)
    total = np.zeros(graph.n)
    for source in range(graph.n) if sources is None else sources:
        level, paths, order = {source: 0}, {source: 1}, [source]  # as many as there are: exact
        for v in order:  # grows on the way
            for w in near[v]:
                if w not in level:
                    level[w], paths[w] = level[v] + 1, 0
                    order.append(w)
                if level[w] == level[v] + 1:
                    paths[w] += paths[v]
        share = dict.fromkeys(order, 0.0)
        for v in reversed(order):
            share[v] = sum(paths[v] / paths[w] * (1 + share[w]) for w in near[v] if level[w] == level[v] + 1)
            total[v] += share[v] if v != source else 0
    return total


def independent_fault(graph, members):
    """The fault of a set of vertices as a maximal independent one, or None."""
    near = neighbours(graph)
    for v in range(graph.n):
        if v in members and near[v] & members:
            return f"members {v} and {min(near[v] & members)} are adjacent"
        if v not in members and not near[v] & members:
            return f"{v} could be added"
    return None


def vertex_hash(v, seed=0, *more):
    """The random number of a vertex: MurmurHash3's finalizer twice, and once more for each key."""

    def mixed(x):
        x = (x ^ x >> 16) * 0x85EBCA6B % 2**32
        x = (x ^ x >> 13) * 0xC2B2AE35 % 2**32
        return x ^ x >> 16

    v = mixed(v)
    for key in (seed, *more):
        v = mixed(v ^ key % 2**32)
    return v


def greedy_independent(graph, seed=0):
    """The set that a greedy search finds, the best score first."""
    near, entries = neighbours(graph), np.bincount(graph.rows, minlength=graph.n).tolist()
    score = [((h >> 1) // (d + 1), h) for h, d in ((vertex_hash(v, seed), entries[v]) for v in range(graph.n))]
    members = set()
    for v in sorted(range(graph.n), key=score.__getitem__, reverse=True):
        if not near[v] & members:
            members.add(v)
    return members


def greedy_dominating(graph, seed=0):
    """The set that a greedy search finds: the vertex that dominates most others, vertex by vertex."""
    covers = [{v} for v in range(graph.n)]
    for i, j in zip(graph.rows.tolist(), graph.cols.tolist(), strict=True):
        covers[i].add(j)
    left, members = set(range(graph.n)), set()
    while left:
        best = max(range(graph.n), key=lambda v: (len(covers[v] & left), vertex_hash(v, seed)))
        members.add(best)
        left -= covers[best]
    return members


def greedy_colors(graph, seed=0):
    """The lowest color that no neighbour has, vertex by vertex, by falling number of entries in the row."""
    near, entries = neighbours(graph), np.bincount(graph.rows, minlength=graph.n).tolist()
    color = {}
    for v in sorted(range(graph.n), key=lambda v: (entries[v], vertex_hash(v, seed)), reverse=True):
        used = {color.get(w) for w in near[v]}
        color[v] = next(c for c in range(graph.n) if c not in used)
    return color


def forest(graph, weights):
    """The number of edges of a minimum spanning forest, and its weight."""
    trees, _ = csgraph.connected_components(graph.scipy(), directed=False)
    return graph.n - trees, csgraph.minimum_spanning_tree(graph.scipy(weights)).sum()


def forest_fault(graph, weights, found):
    """The fault of {(i, j): weight} as a minimum spanning forest stored in both directions, or None."""
    given = dict(zip(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True), weights.tolist(), strict=True))
    wrong = [e for e, w in found.items() if given.get(e) != w or found.get(e[::-1]) != w]
    if wrong:
        return f"{wrong[0]} is no edge of the graph, has another weight there, or stands one way only"
    count, total = forest(graph, weights)
    reached = components(Graph.of(graph.n, found))
    if not np.array_equal(reached, components(graph)):
        return f"connects {reached.tolist()}, expected {components(graph).tolist()}"
    if len(found) != 2 * count:
        return f"{len(found)} entries, expected {2 * count}: there is a cycle"
    if not np.isclose(float(sum(found.values())), 2.0 * total):
        return f"the weights sum to {sum(found.values())}, expected {2 * total}"
    return None


# --- graphs ----------------------------------------------------------------------------------------------------------

# Zachary's karate club, numbered from 1: vertex, its smaller neighbours. J. of Anthropological Research 33 (1977).
_KARATE = """2:1 3:1,2 4:1,2,3 5:1 6:1 7:1,5,6 8:1,2,3,4 9:1,3 10:3 11:1,5,6 12:1 13:1,4 14:1,2,3,4 17:6,7 18:1,2 20:1,2
22:1,2 26:24,25 28:3,24,25 29:3 30:24,27 31:2,9 32:1,25,26,29 33:3,9,15,16,19,21,23,24,30,31,32
34:9,10,14,15,16,19,20,21,23,24,27,28,29,30,31,32,33"""


def karate():
    lists = (item.split(":") for item in _KARATE.split())
    return Graph.of(34, [(int(v) - 1, int(w) - 1) for v, near in lists for w in near.split(",")], symmetric=True)


def path(n, seed=None):
    """A path; with a seed its vertices are numbered at random."""
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    return Graph.of(n, pairwise(order), symmetric=True)


def grid(height, width):
    at = np.arange(height * width).reshape(height, width)
    right = zip(at[:, :-1].ravel(), at[:, 1:].ravel(), strict=True)
    down = zip(at[:-1].ravel(), at[1:].ravel(), strict=True)
    return Graph.of(at.size, [*right, *down], symmetric=True)


def random(n, edges, seed, *, symmetric=False):
    """Pairs of random vertices, some of them self loops; few edges leave several components."""
    return Graph.of(n, np.random.default_rng(seed).integers(0, n, (edges, 2)), symmetric=symmetric)


def hub(n, seed):
    """Vertex n - 1 is adjacent to all; the others have few edges."""
    few = np.random.default_rng(seed).integers(0, n - 1, (n, 2))
    return Graph.of(n, [*few, *((n - 1, i) for i in range(n - 1))], symmetric=True)


GRAPHS = {
    "karate": karate(),
    "tree": Graph.of(15, [((i - 1) // 2, i) for i in range(1, 15)], symmetric=True),
    "path": path(40),
    "path_shuffled": path(100, seed=1),
    "star": Graph.of(9, [(0, i) for i in range(1, 9)], symmetric=True),
    "one_vertex": Graph.of(1, [], symmetric=True),
    "one_loop": Graph.of(1, [(0, 0)], symmetric=True),
    "no_edges": Graph.of(5, [], symmetric=True),
    "self_loops": Graph.of(6, [(0, 0), (0, 1), (1, 1), (1, 2), (0, 2), (5, 5)], symmetric=True),
    "disconnected": Graph.of(11, [(0, 4), (4, 8), (8, 0), (3, 9), (9, 10), (2, 7)], symmetric=True),
    "complete": Graph.of(12, [(i, j) for i in range(12) for j in range(i)], symmetric=True),
    "grid": grid(7, 9),
    "hub": hub(120, seed=2),
    "random": random(200, 500, seed=3, symmetric=True),
    "random_sparse": random(150, 90, seed=4, symmetric=True),
    "directed_cycle": Graph.of(7, [(i, (i + 1) % 7) for i in range(7)]),
    "directed_dag": Graph.of(8, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (5, 4), (2, 6)]),
    "directed_star_in": Graph.of(6, [(i, 0) for i in range(1, 6)]),
    "directed_random": random(130, 400, seed=5),
    "directed_sparse": random(130, 110, seed=6),
}

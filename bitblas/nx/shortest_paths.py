"""networkx.algorithms.shortest_paths, distance_measures, traversal: paths and distances, eccentricities, breadth-first
search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas import algorithms
from bitblas.algorithms.centrality.closeness import distance_sums

from .arrays import Edge, Node, NodeOrNodes, Nodes, Number, Refused, Scores, Start, exact_sum
from .graph import Graph
from .searches import (
    bellman_ford_tree,
    dijkstra_tree,
    distance_weights,
    distances,
    entries,
    fewest_edges_path,
    host,
    least_weight_path,
    levels,
    path_to,
    paths_to_all,
    require_ends,
    require_node,
    search_distances,
)

# ---- networkx.algorithms.shortest_paths.unweighted: breadth-first search from one node or from all.


def _levels_by_node(G: Graph, node: Node, cutoff: float | None) -> dict[Node, int]:
    found: dict[Node, int] = {}
    for length, (level, _) in enumerate(levels(G, G.numbers([node]), cutoff)):
        found.update(dict.fromkeys(G.nodes_at(level), length))
    return found


def single_source_shortest_path_length(G: Graph, source: Node, cutoff: float | None = None) -> dict[Node, int]:
    require_node(G, source, f"Source {source} is not in G")
    return _levels_by_node(G, source, cutoff)


def single_target_shortest_path_length(G: Graph, target: Node, cutoff: float | None = None) -> dict[Node, int]:
    require_node(G, target, f"Target {target} is not in G")
    return _levels_by_node(G.transposed, target, cutoff)


def all_pairs_shortest_path_length(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Node, dict[Node, int]]]:
    return ((node, _levels_by_node(G, node, cutoff)) for node in G)


def _paths(G: Graph, source: Node, cutoff: float | None) -> dict[Node, list[Node]]:
    found = {source: [source]}
    for level, parents in levels(G, G.numbers([source]), cutoff):
        for node, parent in zip(G.nodes_at(level), G.nodes_at(parents)):
            if node is not source:
                found[node] = [*found[parent], node]
    return found


def single_source_shortest_path(G: Graph, source: Node, cutoff: float | None = None) -> dict[Node, list[Node]]:
    require_node(G, source, f"Source {source} not in G")
    return _paths(G, source, cutoff)


def single_target_shortest_path(G: Graph, target: Node, cutoff: float | None = None) -> dict[Node, list[Node]]:
    require_node(G, target, f"Target {target} not in G")
    return {node: path[::-1] for node, path in _paths(G.transposed, target, cutoff).items()}


def bidirectional_shortest_path(G: Graph, source: Node, target: Node) -> list[Node]:
    require_ends(G, source, target)
    path = fewest_edges_path(G, G.number[source], G.number[target])
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return [G.labels[node] for node in path]


def all_pairs_shortest_path(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    return ((node, _paths(G, node, cutoff)) for node in G)


# ---- networkx.algorithms.shortest_paths.weighted: Dijkstra and Bellman-Ford, paths and lengths.

# One node: its distance and path; all: the distances and paths by node.
Found = tuple[Number, list[Node]] | tuple[Scores, dict[Node, list[Node]]]


def _lengths(G: Graph, sources: Nodes, cutoff: float | None, weight: str, negative: bool = False) -> Scores:
    at, lengths = distances(G, G.numbers(sources).tolist(), weight, cutoff, negative=negative)
    return dict(zip(G.nodes_at(at), lengths.tolist()))


def _length(G: Graph, source: Node, target: Node, weight: str, word: str, negative: bool) -> Number:
    ends = [G.number[target]] if target in G else []
    _, found = distances(G, G.number[source], weight, negative=negative, targets=ends)
    if not len(found):
        raise nx.NetworkXNoPath(f"{word} {target} not reachable from {source}")
    return found[0].item()


def _require_sources(G: Graph, sources: Nodes) -> None:
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        require_node(G, source, f"Node {source} not found in graph")


def _result_of(G: Graph, tree: tuple[np.ndarray, np.ndarray, np.ndarray], target: Node, no_path: str) -> Found:
    """The answer for a target, or for all nodes, from nodes, distances and predecessors."""
    nodes, lengths, parents = tree
    if target is None:
        return dict(zip(G.nodes_at(nodes), lengths.tolist())), paths_to_all(G, nodes, parents)
    length = lengths[nodes == G.number.get(target, -1)]
    if not len(length):
        raise nx.NetworkXNoPath(no_path)
    return length[0].item(), path_to(G, nodes.tolist(), parents.tolist(), G.number[target])


def multi_source_dijkstra_path_length(
    G: Graph, sources: Nodes, cutoff: float | None = None, weight: str = "weight"
) -> Scores:
    _require_sources(G, sources)
    return _lengths(G, sources, cutoff, weight)


def multi_source_dijkstra(
    G: Graph, sources: Nodes, target: Node = None, cutoff: float | None = None, weight: str = "weight"
) -> Found:
    _require_sources(G, sources)
    if target in sources:
        return 0, [target]
    tree = dijkstra_tree(G, G.numbers(sources).tolist(), weight, cutoff)
    return _result_of(G, tree, target, f"No path to {target}.")


def bidirectional_dijkstra(G: Graph, source: Node, target: Node, weight: str = "weight") -> tuple[Number, list[Node]]:
    require_ends(G, source, target)
    if source == target:
        return 0, [source]
    found = least_weight_path(G, G.number[source], G.number[target], weight)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    length, path = found
    return length, [G.labels[node] for node in path]


def single_source_bellman_ford(G: Graph, source: Node, target: Node = None, weight: str = "weight") -> Found:
    if source == target:
        require_node(G, source, f"Node {source} is not found in the graph")
        return 0, [source]
    tree = bellman_ford_tree(G, require_node(G, source, f"Source {source} not in G"), weight)
    return _result_of(G, tree, target, f"Target {target} cannot be reached from given sources")


def single_source_dijkstra_path_length(
    G: Graph, source: Node, cutoff: float | None = None, weight: str = "weight"
) -> Scores:
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


def dijkstra_path_length(G: Graph, source: Node, target: Node, weight: str = "weight") -> Number:
    require_node(G, source, f"Node {source} not found in graph")
    return 0 if source == target else _length(G, source, target, weight, "Node", False)


def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: float | None = None, weight: str = "weight"
) -> Iterator[tuple[Node, Scores]]:
    distance_weights(G, weight)  # raises Refused at the call, not during iteration
    return ((node, _lengths(G, [node], cutoff, weight)) for node in G)


def single_source_bellman_ford_path_length(G: Graph, source: Node, weight: str = "weight") -> Scores:
    require_node(G, source, f"Source {source} not in G")
    return _lengths(G, [source], None, weight, negative=True)


def bellman_ford_path_length(G: Graph, source: Node, target: Node, weight: str = "weight") -> Number:
    if source == target:
        require_node(G, source, f"Node {source} not found in graph")
        return 0
    require_node(G, source, f"Source {source} not in G")
    return _length(G, source, target, weight, "node", True)


def all_pairs_bellman_ford_path_length(G: Graph, weight: str = "weight") -> Iterator[tuple[Node, Scores]]:
    distance_weights(G, weight, negative=True)
    return ((node, _lengths(G, [node], None, weight, negative=True)) for node in G)


def negative_edge_cycle(G: Graph, weight: str = "weight", heuristic: bool = True) -> bool:
    values = G.values_of(weight)
    if not (values < 0).any():
        return False
    if not G.directed:  # the edge in both directions is a negative cycle
        return True
    # an extra node with an edge of weight 0 to every node reaches every cycle
    n = len(G)
    rows, cols = G.edge_ends
    A = gb.Matrix.from_coo(
        np.concatenate([rows, np.full(n, n)]),
        np.concatenate([cols, np.arange(n)]),
        np.concatenate([values, np.zeros(n, values.dtype)]),
        nrows=n + 1,
        ncols=n + 1,
        dup_op=gb.binary.min,
    )
    try:
        search_distances(A, n)
    except nx.NetworkXUnbounded:
        return True
    return False


# ---- networkx.algorithms.shortest_paths.dense: Floyd-Warshall, infinite distance where no path exists.


def floyd_warshall(G: Graph, weight: str = "weight") -> dict[Node, Scores]:
    found = {}
    for at, node in enumerate(G):
        near, lengths = distances(G, at, weight)
        of = dict(zip(G.nodes_at(near), lengths.tolist()))  # integers stay integers
        found[node] = {other: of.get(other, np.inf) for other in G}
    return found


def floyd_warshall_numpy(G: Graph, nodelist: Collection[Node] | None = None, weight: str = "weight") -> np.ndarray:
    if nodelist is not None and not len(nodelist) == len(G) == len(set(nodelist)):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    order = np.arange(len(G)) if nodelist is None else G.numbers(nodelist)
    found = np.full((len(G), len(G)), np.inf)
    for row, source in enumerate(order.tolist()):
        near, lengths = distances(G, source, weight)
        found[row, near] = lengths
    return found[:, order]


def floyd_warshall_predecessor_and_distance(
    G: Graph, weight: str = "weight"
) -> tuple[dict[Node, dict[Node, Node]], dict[Node, Scores]]:
    before: dict[Node, dict[Node, Node]] = {}
    loops = set(G.rows[G.rows == G.cols].tolist())  # NetworkX lists the predecessor of a node with a self loop
    for at, node in enumerate(G):
        nodes, _, parents = dijkstra_tree(G, [at], weight)
        found = dict(zip(G.nodes_at(nodes), G.nodes_at(parents)))
        if at not in loops:
            del found[node]
        if found:
            before[node] = found
    return before, floyd_warshall(G, weight)


# ---- networkx.algorithms.shortest_paths.generic: dispatch by source, target, weight and method.


def has_path(G: Graph, source: Node, target: Node) -> bool:
    require_ends(G, source, target)
    return bool(algorithms.bfs_levels(G.structure, G.number[source], targets=G.number[target]).nvals)


def shortest_path_length(
    G: Graph, source: Node = None, target: Node = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    bellman = method == "bellman-ford"
    if source is not None and target is not None:
        if weight is not None:
            lengths = bellman_ford_path_length if bellman else dijkstra_path_length
            return lengths(G, source, target, weight)
        require_ends(G, source, target)
        _, length = distances(G, G.number[source], targets=[G.number[target]])
        if not len(length):
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return int(length[0])
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path_length(G)
        pairs = all_pairs_bellman_ford_path_length if bellman else all_pairs_dijkstra_path_length
        return pairs(G, weight=weight)
    H, node = (G, source) if target is None else (G.transposed, target)
    if weight is None:
        return single_source_shortest_path_length(H, node)
    single = single_source_bellman_ford_path_length if bellman else single_source_dijkstra_path_length
    return single(H, node, weight=weight)


def all_shortest_paths(
    G: Graph, source: Node, target: Node, weight: str | None = None, method: str = "dijkstra"
) -> Iterator[list[Node]]:
    if weight is not None and method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    text = f"Source {source} not in G" if weight is None else f"Node {source} is not found in the graph"
    at = require_node(G, source, text if method == "dijkstra" or weight is None else f"Source {source} not in G")
    no_path = nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    if target not in G:
        raise no_path
    A = G.structure if weight is None else distance_weights(G, weight)
    if weight is not None and not (G.values_of(weight) > 0).all():
        raise Refused("edges of no length")
    rows, _, vertices = entries(algorithms.all_shortest_paths(A, at, G.number[target]))
    if not len(rows):
        raise no_path
    parts = np.split(vertices, np.flatnonzero(np.diff(rows)) + 1)
    return (G.nodes_at(part) for part in parts)


def shortest_simple_paths(G: Graph, source: Node, target: Node, weight: str | None = None) -> Iterator[list[Node]]:
    """All paths without repeated nodes, shortest first: found in batches that grow. The first search is at the call."""
    s, t = (
        require_node(G, node, f"{kind} node {node} not in graph", nx.NodeNotFound)
        for node, kind in ((source, "source"), (target, "target"))
    )
    A = G.structure if weight is None else distance_weights(G, weight)
    first = _simple_paths(A, s, t, 1)
    if not first:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")

    def found() -> Iterator[list[Node]]:
        paths, count, seen = first, 1, set[tuple[int, ...]]()
        while True:
            for path in paths:  # which of equally long ones are among the first may differ between batches
                if path not in seen:
                    seen.add(path)
                    yield G.nodes_at(np.array(path))
            if len(paths) < count:
                return
            count *= BATCHES
            paths = _simple_paths(A, s, t, count)

    return found()


BATCHES = 6  # each batch of simple paths has so many times as many as the one before it


def _simple_paths(A: gb.Matrix, source: int, target: int, count: int) -> list[tuple[int, ...]]:
    """The `count` shortest simple paths. Refused for lengths that are not exact."""
    try:
        rows, _, vertices = entries(algorithms.k_shortest_paths(A, source, target, count)[0])
    except gb.exceptions.InvalidValue as error:
        raise Refused(str(error)) from None
    parts = np.split(vertices, np.flatnonzero(np.diff(rows)) + 1) if len(rows) else []
    return [tuple(part.tolist()) for part in parts]


def average_shortest_path_length(G: Graph, weight: str | None = None, method: str | None = None) -> float:
    n = len(G)
    if method not in (None, "unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"):
        raise ValueError(f"method not supported: {method}")
    if not n:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    length = _total(G, None if method == "unweighted" else weight, negative=method == "bellman-ford")
    if length is None:
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    return length / (n * (n - 1))


def wiener_index(G: Graph, weight: str | None = None) -> float:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    length = _total(G, weight)
    if length is None:
        return float("inf")
    return length if G.directed else length / 2


def _total(G: Graph, weight: str | None, negative: bool = False) -> Number | None:
    """The sum of the distances between all pairs; None if some pair has no path."""
    if weight is None:
        pairs, far = (host(each).sum() for each in distance_sums(G.structure))
        return int(far) if pairs == len(G) * (len(G) - 1) else None
    found: Number = 0
    for source in range(len(G)):
        at, lengths = distances(G, source, weight, negative=negative)
        if len(at) < len(G):
            return None
        found += exact_sum(lengths)
    return found


# ---- networkx.algorithms.distance_measures: eccentricity, diameter, radius, center, periphery.


def eccentricity(G: Graph, v: NodeOrNodes = None, sp: object = None, weight: str | None = None) -> Any:
    found = {}
    if v is None and weight is None and len(G):
        label = algorithms.strongly_connected_components if G.directed else algorithms.connected_components
        if host(label(G.structure)).any():  # some node is outside the component of node 0
            raise _unreachable(G)
        return G.by_node(host(algorithms.eccentricity(G.structure)))
    for node in G.nbunch_iter(v):
        at, lengths = distances(G, G.number[node], weight)
        if len(at) != len(G):
            raise _unreachable(G)
        found[node] = lengths[-1].item()
    return found[v] if v in G else found


def _unreachable(G: Graph) -> nx.NetworkXError:
    because = "the digraph is not strongly connected" if G.directed else "the graph is not connected"
    return nx.NetworkXError(f"Found infinite path length because {because}")


def diameter(G: Graph, e: Start | None = None, usebounds: bool = False, weight: str | None = None) -> Number:
    if _by_bounds(G, e, usebounds):
        return _bounds(G, weight, lambda b: (b.upper <= b.most_lower) & (2 * b.lower >= b.most_upper)).most_lower.item()
    return max(_all(G, e, weight).values())


def radius(G: Graph, e: Start | None = None, usebounds: bool = False, weight: str | None = None) -> Number:
    if _by_bounds(G, e, usebounds):
        out = lambda b: (b.lower >= b.least_upper) & (b.upper + 1 <= 2 * b.least_lower)
        return _bounds(G, weight, out).least_upper.item()
    return min(_all(G, e, weight).values())


def center(G: Graph, e: Start | None = None, usebounds: bool = False, weight: str | None = None) -> list[Node]:
    if _by_bounds(G, e, usebounds):
        known = lambda b: b.least_lower == b.least_upper
        found = _bounds(G, weight, lambda b: (b.lower > b.least_upper) & (known(b) | (b.upper + 1 < 2 * b.least_lower)))
        return G.nodes_at(np.flatnonzero(found.all_lower == found.least_upper))
    if e is None and weight is None and not G.directed and not len(G):
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    far = _all(G, e, weight)
    least = min(far.values())
    return [node for node in far if far[node] == least]


def periphery(G: Graph, e: Start | None = None, usebounds: bool = False, weight: str | None = None) -> list[Node]:
    if _by_bounds(G, e, usebounds):
        known = lambda b: b.most_lower == b.most_upper
        found = _bounds(G, weight, lambda b: (b.upper < b.most_lower) & (known(b) | (b.lower > b.most_upper)))
        return G.nodes_at(np.flatnonzero(found.all_lower == found.most_lower))
    far = _all(G, e, weight)
    most = max(far.values())
    return [node for node in far if far[node] == most]


def _all(G: Graph, e: Start | None, weight: str | None) -> Start:
    return eccentricity(G, weight=weight) if e is None else e


def _by_bounds(G: Graph, e: Start | None, usebounds: bool) -> bool:
    return usebounds is True and e is None and not G.directed


class _Bounds:
    """Bounds of the eccentricities: lower and upper of the open nodes, all_lower of all nodes, and their extremes so
    far.
    """

    lower: np.ndarray
    upper: np.ndarray
    all_lower: np.ndarray
    least_lower = least_upper = np.float64(np.inf)
    most_lower = most_upper = np.int64(0)


def _bounds(G: Graph, weight: str | None, ruled_out: Callable[[_Bounds], np.ndarray]) -> _Bounds:
    """Eccentricity bounds from a few searches, with NetworkX's rules (Takes, Kosters: Determining the diameter of small
    world networks, CIKM 2011). ruled_out: which open nodes need no further search.
    """
    b, degree = _Bounds(), G.degree.array
    whole = weight is None or G.values_of(weight).dtype.kind == "i"
    all_upper = np.full(len(G), np.iinfo(np.int64).max if whole else np.inf)
    b.all_lower = np.zeros(len(G), np.int64)
    open_ = np.arange(len(G))
    current, high = max(range(len(G)), key=degree.tolist().__getitem__), False
    while len(open_):
        at, lengths = distances(G, current, weight)
        if len(at) != len(G):
            raise nx.NetworkXError("Cannot compute metric because graph is not connected.")
        length, far = np.empty_like(lengths), lengths[-1]
        if whole and far >= 1 << 61:
            raise Refused("distances of 2^61 and more, whose sums may overflow")
        length[at] = lengths
        d = length[open_]
        # lower = max(lower, d, far - d); upper = min(upper, far + d)
        b.lower = np.maximum(b.all_lower[open_], np.maximum(d, far - d))
        b.upper = np.minimum(all_upper[open_], far + d)
        b.all_lower = b.all_lower.astype(lengths.dtype, copy=False)
        b.all_lower[open_], all_upper[open_] = b.lower, b.upper
        b.least_lower, b.most_lower = min(b.least_lower, b.lower.min()), max(b.most_lower, b.lower.max())
        b.least_upper, b.most_upper = min(b.least_upper, b.upper.min()), max(b.most_upper, b.upper.max())
        left = ~(ruled_out(b) | (b.lower >= b.upper))  # lower > upper is possible by rounding
        open_, lower, upper = open_[left], b.lower[left], b.upper[left]
        # next: alternately the largest upper bound and the least lower bound, ties to the highest degree
        high = not high
        if len(open_):
            current = int(open_[np.lexsort((-degree[open_], -upper if high else lower))[0]])
    return b


# ---- networkx.algorithms.traversal: breadth-first search in NetworkX's order.


def bfs_layers(G: Graph, sources: NodeOrNodes) -> Iterator[list[Node]]:
    chosen = [sources] if sources in G else list(set(sources))
    for source in chosen:
        require_node(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    return (G.nodes_at(level) for level, _ in levels(G, G.numbers(chosen)))


def descendants_at_distance(G: Graph, source: Node, distance: int) -> set[Node]:
    require_node(G, source, f"The node {source} is not in the graph.", nx.NetworkXError)
    for depth, (level, _) in enumerate(levels(G, G.numbers([source]))):
        if depth == distance:
            return set(G.nodes_at(level))
    return set()


def bfs_edges(
    G: Graph, source: Node, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: object = None
) -> Iterator[Edge]:
    kind = "digraph" if G.directed else "graph"
    require_node(G, source, f"The node {source} is not in the {kind}.", nx.NetworkXError)
    return _edges(G, source, depth_limit)


def generic_bfs_edges(
    G: Graph, source: Node, neighbors: object = None, depth_limit: int | None = None
) -> Iterator[Edge]:
    return bfs_edges(G, source, depth_limit=depth_limit)


def _edges(G: Graph, source: Node, depth_limit: int | None) -> Iterator[Edge]:
    found = levels(G, G.numbers([source]), depth_limit)
    next(found)
    for level, parents in found:
        yield from zip(G.nodes_at(parents), G.nodes_at(level))


def bfs_predecessors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: object = None
) -> Iterator[Edge]:
    return ((child, parent) for parent, child in bfs_edges(G, source, depth_limit=depth_limit))


def bfs_successors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: object = None
) -> Iterator[tuple[Node, list[Node]]]:
    return _successors(source, bfs_edges(G, source, depth_limit=depth_limit))


def _successors(source: Node, edges: Iterator[Edge]) -> Iterator[tuple[Node, list[Node]]]:
    children: list[Node] = []
    parent = source
    for above, child in edges:
        if above != parent:
            yield parent, children
            parent, children = above, []
        children.append(child)
    yield parent, children


def bfs_tree(
    G: Graph, source: Node, reverse: bool = False, depth_limit: int | None = None, sort_neighbors: object = None
) -> Any:
    T = nx.DiGraph()
    T.add_node(source)
    T.add_edges_from(bfs_edges(G, source, depth_limit=depth_limit))
    return T

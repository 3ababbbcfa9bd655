"""networkx.algorithms.components, bipartite, tree.recognition, dag: components, two-coloring, topological order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas import algorithms
from bitblas.exceptions import InvalidValue

from .arrays import Edge, Node, Number, Refused
from .graph import Graph
from .searches import distances, entries, host, reachable_nodes, require_node

# ---- networkx.algorithms.components: connected, weakly and strongly connected components, condensation.


def component_labels(G: Graph) -> np.ndarray:
    """The number of the first node of each node's component, ignoring edge directions."""
    if not len(G):
        return np.zeros(0, np.int64)
    return host(G._cached_as("components", lambda: algorithms.connected_components(G.both_ways)))


def _components(G: Graph) -> Iterator[set[Node]]:
    """The components in the order of their first nodes."""
    return group_nodes(G, component_labels(G))


def group_nodes(G: Graph, label: np.ndarray) -> Iterator[set[Node]]:
    """The sets of nodes with equal labels, in label order."""
    order = np.argsort(label, kind="stable")
    nodes = G.nodes_at(order)
    ends = np.flatnonzero(np.diff(label[order])) + 1
    limits = [0, *ends.tolist(), len(nodes)] if nodes else [0]
    return (set(nodes[low:high]) for low, high in pairwise(limits))


def _count(G: Graph) -> int:
    return len(np.unique(component_labels(G)))


def is_connected(G: Graph) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return not component_labels(G).any()


connected_components = weakly_connected_components = _components
number_connected_components = number_weakly_connected_components = _count
is_weakly_connected = is_connected


def node_connected_component(G: Graph, n: Node) -> set[Node]:
    return set(G.nodes_at(reachable_nodes(G, G.number[n])))


# ---- networkx.algorithms.components.biconnected and bridges ----


def _blocks(G: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ends of the edges, loops excepted, and the number of the biconnected component of each."""

    def make() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, cols, block = entries(algorithms.biconnected_components(G.both_ways))
        once = rows < cols
        return rows[once], cols[once], block[once]

    return G._cached_as("blocks", make)


def biconnected_components(G: Graph) -> Iterator[set[Node]]:
    rows, cols, block = _blocks(G)
    order = np.argsort(block, kind="stable")
    ends = np.flatnonzero(np.diff(block[order])) + 1
    nodes = G.nodes_at(np.stack([rows[order], cols[order]], axis=1).ravel())
    limits = [0, *(2 * ends).tolist(), len(nodes)] if nodes else [0]
    return (set(nodes[low:high]) for low, high in pairwise(limits))


def articulation_points(G: Graph) -> Iterator[Node]:
    at, _ = entries(algorithms.articulation_points(G.both_ways))
    return iter(G.nodes_at(at))


def bridges(G: Graph, root: Node = None) -> Iterator[Edge]:
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    u, v = G.edge_ends
    rows, cols, block = _blocks(G)
    alone = np.bincount(block, minlength=1)[block] == 1
    n = len(G)
    found = np.isin(np.minimum(u, v) * n + np.maximum(u, v), rows[alone] * n + cols[alone])
    if root is not None:
        label = component_labels(G)
        found &= label[u] == label[G.number[root]]
    return zip(G.nodes_at(u[found]), G.nodes_at(v[found]))


# ---- directed -------------------------------------------------------------------------------------------------------


def _condensed(G: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges between strongly connected components, and each node's component number. A component's successors have
    lower numbers, as in the order in which NetworkX finds them.
    """

    def make() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        C, label = algorithms.condensation(G.structure)
        level = host(algorithms.topological_levels(C))
        number = np.empty(len(level), np.int64)
        number[np.argsort(-level, kind="stable")] = np.arange(len(level))
        rows, cols = (number[ends.astype(np.int64)] for ends in entries(C)[:2])
        return rows, cols, number[host(label)]

    return G._cached_as("strong", make)


def strongly_connected_components(G: Graph) -> Iterator[set[Node]]:
    return group_nodes(G, _condensed(G)[2] if len(G) else np.zeros(0, np.int64))


def number_strongly_connected_components(G: Graph) -> int:
    return int(_condensed(G)[2].max(initial=-1)) + 1 if len(G) else 0


def is_strongly_connected(G: Graph) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return number_strongly_connected_components(G) == 1


def condensation(G: Graph, scc: object = None) -> Graph:
    if not len(G):
        return Graph([], np.zeros(1, np.int64), np.zeros(0, np.int64), directed=True, graph={"mapping": {}})
    rows, cols, label = _condensed(G)
    order = np.lexsort((cols, rows))
    members = list(group_nodes(G, label))
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(members)))])
    return Graph(
        list(range(len(members))),
        ptr,
        cols[order],
        directed=True,
        graph={"mapping": G.by_node(label)},
        node_data=[{"members": nodes} for nodes in members],
    )


# ---- networkx.algorithms.bipartite.basic: bipartite test and two-coloring.


def sides(G: Graph) -> np.ndarray | None:
    """The parity of the distance from the first node of each component; None if an edge joins nodes of equal parity."""
    parity = np.zeros(len(G), np.int64)
    H = G if not G.directed else _both(G)
    first = component_labels(G)
    for root in np.unique(first[np.diff(H.ptr) > 0]).tolist():
        at, lengths = distances(H, root)
        parity[at] = lengths % 2
    return None if (parity[G.rows] == parity[G.cols]).any() else parity


def _both(G: Graph) -> Graph:
    """The graph with every edge in both directions."""
    rows, cols, _ = entries(G.both_ways)
    return Graph(G.labels, np.searchsorted(rows, np.arange(len(G) + 1)), cols, directed=True)


def is_bipartite(G: Graph) -> bool:
    return sides(G) is not None


def color(G: Graph) -> dict[Node, int]:
    parity = sides(G)
    if parity is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    isolated = G.degree.array == 0
    return G.by_node(np.where(isolated, 0, 1 - parity))


# ---- networkx.algorithms.tree.recognition: tests for trees, forests and arborescences.


def is_tree(G: Graph) -> bool:
    _require_nodes(G)
    return G.number_of_edges() == len(G) - 1 and is_connected(G)


def is_forest(G: Graph) -> bool:
    _require_nodes(G)
    return G.number_of_edges() == len(G) - len(set(component_labels(G).tolist()))


def is_arborescence(G: Graph) -> bool:
    return is_tree(G) and bool(G.in_degree.array.max() <= 1)


def is_branching(G: Graph) -> bool:
    return is_forest(G) and bool(G.in_degree.array.max() <= 1)


def _require_nodes(G: Graph) -> None:
    if not len(G):
        raise nx.exception.NetworkXPointlessConcept("G has no nodes.")


# ---- networkx.algorithms.dag: ancestors, descendants, topological order.


def descendants(G: Graph, source: Node) -> set[Node]:
    return _others(G, source)


def ancestors(G: Graph, source: Node) -> set[Node]:
    return _others(G.transposed, source)


def _others(G: Graph, source: Node) -> set[Node]:
    kind = "digraph" if G.directed else "graph"
    at = require_node(G, source, f"The node {source} is not in the {kind}.", nx.NetworkXError)
    return set(G.nodes_at(reachable_nodes(G, at))) - {source}


def topological_generations(G: Graph) -> Iterator[list[Node]]:
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    return _generations(G)


class Changed(nx.NetworkXUnfeasible, RuntimeError):
    """The graph changed during the sort. NetworkX raises either base class, depending on where it detects the
    change.
    """


def _generations(G: Graph) -> Iterator[list[Node]]:
    """Topological levels in NetworkX's order: within a level, nodes are sorted by the last edge that reaches them in
    reading order. That is the maximum of rank * width + position over predecessors, a max.plus product. Changed is
    raised if the original graph changes meanwhile.
    """
    P, width = G.neighbour_positions, int(np.diff(G.ptr).max(initial=1))
    at, level = entries(algorithms.topological_levels(G.structure))
    order = np.argsort(level, kind="stable")
    ends = np.searchsorted(level[order], np.arange(int(level.max(initial=-1)) + 2))
    ranked = at[order[: ends[1]]] if len(level) else at
    for depth in range(len(ends) - 1):
        if depth:
            # keys<level> = q max.plus P, q[before] = rank * width
            q = gb.Vector.from_coo(ranked, np.arange(len(ranked)) * width, size=len(G))
            here = gb.Vector.from_coo(at[order[ends[depth] : ends[depth + 1]]], True, size=len(G))
            nodes, keys = entries(q.vxm(P, gb.semiring.max_plus).new(mask=here.S))
            ranked = nodes[np.argsort(keys, kind="stable")]
        yield G.nodes_at(ranked)
        if not G.is_current():
            raise Changed("Graph changed during iteration")
    if len(at) < len(G):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


def topological_sort(G: Graph) -> Iterator[Node]:
    for generation in topological_generations(G):
        yield from generation


def has_cycle(G: Graph) -> bool:
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    return algorithms.topological_levels(G.structure).nvals < len(G)


def is_directed_acyclic_graph(G: Graph) -> bool:
    return G.directed and not has_cycle(G)


def dag_longest_path(
    G: Graph, weight: str = "weight", default_weight: float = 1, topo_order: object = None
) -> list[Node]:
    return G.nodes_at(np.array(_longest(G, weight, default_weight)[0], np.int64))


def dag_longest_path_length(G: Graph, weight: str = "weight", default_weight: float = 1) -> Number:
    return _longest(G, weight, default_weight)[1]


def _longest(G: Graph, weight: str, default: float) -> tuple[list[int], Number]:
    """The nodes and the length of a longest path. Of parallel edges, the longest counts."""
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    try:
        return algorithms.dag_longest_path(G.matrix(weight, "max", default))
    except InvalidValue as error:
        if "acyclic" in str(error):
            raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration") from None
        raise Refused(str(error)) from None

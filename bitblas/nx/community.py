"""networkx.algorithms.community, cuts, flow, boundary, dominating: node sets, partitions and the edges between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.community.quality import NotAPartition

import bitblas as gb
from bitblas import algorithms
from bitblas.exceptions import InvalidValue

from .arrays import Node, Nodes, Number, Refused, Scores, exact_sum, sum_by_group
from .components import group_nodes
from .graph import Graph, entries_at
from .searches import entries, host, require_node

# ---- networkx.algorithms.boundary: nodes adjacent to a node set.


def neighbours(G: Graph, nodes: np.ndarray) -> np.ndarray:
    """The nodes that an edge from one of these leads to: BOOL, by number."""
    found = np.zeros(len(G), bool)
    if len(nodes):
        # q = nodes any.pair A
        q = gb.Vector.from_coo(np.unique(nodes), True, size=len(G))
        found[entries(q.vxm(G.structure, gb.semiring.any_pair[gb.dtypes.BOOL]).new())[0]] = True
    return found


def node_boundary(G: Graph, nbunch1: Nodes, nbunch2: Nodes | None = None) -> set[Node]:
    inner = G.numbers(nbunch1)
    near = neighbours(G, inner)
    near[inner] = False
    found = set(G.nodes_at(np.flatnonzero(near)))
    return found if nbunch2 is None else found & set(nbunch2)


# ---- networkx.algorithms.cuts: cut size and node expansion.


def cut_size(G: Graph, S: Nodes, T: Nodes | None = None, weight: str | None = None) -> Number:
    inner, outer = np.zeros(len(G), bool), np.zeros(len(G), bool)
    inner[G.numbers(S)] = True
    if T is not None:
        outer[G.numbers(T)] = True
    elif G.directed:
        raise TypeError("'NoneType' object is not iterable")  # NetworkX's error: it also iterates over T
    else:
        outer = ~inner
    rows, cols = G.edge_ends
    crossing = inner[rows] & outer[cols] | outer[rows] & inner[cols]
    # NetworkX sums edges out of S and edges out of T: an edge from a node in both sets counts twice
    sides = (crossing & inner[rows], crossing & outer[rows]) if G.directed else (crossing,)
    if weight is None:
        return sum(int(side.sum()) for side in sides)
    values = G.values_of(weight)
    return sum(exact_sum(values[side]) for side in sides)


def node_expansion(G: Graph, S: Collection[Node]) -> float:
    kind = "digraph" if G.directed else "graph"
    at = [require_node(G, node, f"The node {node} is not in the {kind}.", nx.NetworkXError) for node in S]
    return int(neighbours(G, np.array(at, np.int64)).sum()) / len(S)


# ---- networkx.algorithms.community: community detection and quality of partitions.

Parts = Iterable[Collection[Node]]


def parts(G: Graph, partition: Parts) -> np.ndarray | None:
    """The part number of each node; None unless `partition` is a partition of the nodes."""
    part, seen = np.full(len(G), -1), 0
    for k, nodes in enumerate(partition):
        part[G.numbers(nodes)] = k
        seen += len(nodes)
    return part if seen == len(G) and (part >= 0).all() else None


def modularity(G: Graph, communities: Parts, weight: str | None = "weight", resolution: float = 1) -> float:
    communities = list(communities)
    part = parts(G, communities)
    if part is None:
        raise NotAPartition(G, communities)
    rows, cols = G.edge_ends
    values = np.ones(len(rows), np.int64) if weight is None else G.values_of(weight)
    inside = exact_sum(values[part[rows] == part[cols]])
    sides = (G.out_degree, G.in_degree) if G.directed else (G.degree, G.degree)
    leaving, coming = (side(weight=weight).array for side in sides)
    degrees = exact_sum(leaving)
    norm = 1 / degrees**2
    out, into = (sum_by_group(degree, part, len(communities)).astype(np.float64) for degree in (leaving, coming))
    return float(inside / (degrees / (1 if G.directed else 2)) - resolution * (out * into).sum() * norm)


def intra_community_edges(G: Graph, partition: Parts) -> int:
    part = parts(G, partition)
    if part is None:
        raise Refused("parts that do not form a partition")
    rows, cols = G.edge_ends
    return int((part[rows] == part[cols]).sum())


def inter_community_edges(G: Graph, partition: Parts) -> int:
    inside = intra_community_edges(G, partition)
    return int(G.size()) - inside


def _communities(
    G: Graph, find: Callable[..., gb.Vector], weight: str | None, resolution: float, seed: Any, **options: float
) -> list[set[Node]]:
    """Communities by a bitblas algorithm."""
    return list(group_nodes(G, host(_found(G, find, weight, resolution, seed, **options)))) if len(G) else []


def _found(
    G: Graph, find: Callable[..., Any], weight: str | None, resolution: float, seed: Any, **options: float
) -> Any:
    """The answer of a bitblas algorithm. As in NetworkX, seed may be a random number generator."""
    if weight is not None and (G.values_of(weight) < 0).any():
        raise Refused("negative weights")
    number = seed if isinstance(seed, int) else seed.randrange(2**31)
    return find(G.matrix(weight), weighted=True, resolution=resolution, seed=number, **options)


def louvain_communities(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-07,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Node]]:
    return _communities(G, algorithms.louvain, weight, resolution, seed, tol=threshold)


def louvain_partitions(
    G: Graph, weight: str | None = "weight", resolution: float = 1, threshold: float = 1e-07, seed: Any = None
) -> Iterator[list[set[Node]]]:
    """From small communities to large ones, as NetworkX yields them; the last is that of `louvain_communities`."""
    find = lambda A, **options: algorithms.louvain(A, levels=True, **options)
    for level in _found(G, find, weight, resolution, seed, tol=threshold):
        yield list(group_nodes(G, host(level)))


def leiden_communities(
    G: Graph, weight: str | None = "weight", resolution: float = 1, max_level: int | None = None, seed: Any = None
) -> list[set[Node]]:
    return _communities(G, algorithms.leiden, weight, resolution, seed)


# ---- networkx.classes.function and other functions of edges or degrees: regular, s-metric, dominating.


def number_of_selfloops(G: Graph) -> int:
    rows, cols = G.edge_ends
    return int((rows == cols).sum())


def is_empty(G: Graph) -> bool:
    return not len(G.cols)


def is_negatively_weighted(G: Graph, edge: object = None, weight: str = "weight") -> bool:
    return bool((G.values_of(weight) < 0).any())


def s_metric(G: Graph) -> float:
    degree = G.degree.array
    rows, cols = G.edge_ends
    return float((degree[rows] * degree[cols]).sum())


def is_dominating_set(G: Graph, nbunch: Nodes) -> bool:

    chosen = G.numbers(nbunch)
    near = neighbours(G, chosen)
    near[chosen] = True
    return bool(near.all())


def min_weighted_dominating_set(G: Graph, weight: str | None = None) -> set[Node]:
    return set(G.nodes_at(entries(algorithms.dominating_set(G.structure))[0]))


# ---- networkx.algorithms.flow.maxflow: maximum flow and minimum cut.

WHOLE = 2.0**53  # integers up to here are exact floats


def _network(G: Graph, _s: Node, _t: Node, capacity: str) -> tuple[Node, int, int]:
    """The capacity matrix and the numbers of the two nodes. Infinite capacities become a value above the sum of all
    others.
    """
    for node in (_s, _t):
        if node not in G:
            raise nx.NetworkXError(f"node {node!s} not in graph")
    if _s == _t:
        raise nx.NetworkXError("source and sink are the same node")
    values = G.values_of(capacity, np.inf)
    if not (values >= 0).all():
        raise Refused("capacities below 0, or NaN")
    A, s, t = G.matrix(capacity, default=np.inf), G.number[_s], G.number[_t]
    endless = values == np.inf
    finite = values[~endless]
    total = float(finite.sum(dtype=np.float64))
    if not 4 * total < np.inf:
        raise Refused("capacities whose sum overflows a float")
    if endless.any():
        if (finite >= WHOLE).any():  # they may have been integers that are not exact floats
            raise Refused("edges without a capacity next to capacities of 2^53 and more")
        if (entries(algorithms.bfs_levels(A.select(gb.select.valueeq, np.inf).new(), s))[0] == t).any():
            raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.")
        A = A.apply(gb.binary.min, right=2 * total + 1).new()
        if (finite == np.floor(finite)).all() and total < WHOLE:  # integers
            A = A.dup(gb.dtypes.INT64)
    return A, s, t


def maximum_flow(
    flowG: Graph, _s: Node, _t: Node, capacity: str = "capacity", flow_func: object = None, **kwargs: object
) -> tuple[Number, dict[Node, Scores]]:
    A, s, t = _network(flowG, _s, _t, capacity)
    value, F = algorithms.maximum_flow(A, s, t)
    if not flowG.directed:  # opposite flows along an edge cancel
        F = gb.binary.minus(F | F.T, left_default=0, right_default=0).new()
        F = F.select(gb.select.valuegt, 0).new()
    return value, _flow_by_node(flowG, F)


def _flow_by_node(flowG: Graph, F: gb.Matrix) -> dict[Node, Scores]:
    """The flow along each edge."""
    rows, cols, amount = entries(F)
    entry_flow = np.zeros(len(flowG.cols), amount.dtype)
    entry_flow[entries_at(flowG, rows.astype(np.int64), cols.astype(np.int64))] = amount
    found: dict[Node, Scores] = {node: {} for node in flowG}
    for u, v, x in zip(flowG.nodes_at(flowG.rows), flowG.nodes_at(flowG.cols), entry_flow.tolist()):
        found[u][v] = x
    return found


def max_flow_min_cost(
    G: Graph, s: Node, t: Node, capacity: str = "capacity", weight: str = "weight"
) -> dict[Node, Scores]:
    A, source, sink = _network(G, s, t, capacity)
    try:
        return _flow_by_node(G, algorithms.minimum_cost_flow(A, G.matrix(weight, default=0), source, sink)[2])
    except InvalidValue as error:
        raise Refused(str(error)) from None


def network_simplex(
    G: Graph, demand: str = "demand", capacity: str = "capacity", weight: str = "weight"
) -> tuple[Number, dict[Node, Scores]]:
    """The cheapest flow that satisfies all demands: the cheapest maximum flow from a new node, with an edge to each
    node that supplies, to another one, with an edge from each node that demands."""
    n = len(G)
    if not n:
        raise nx.NetworkXError("graph has no nodes")
    demands = np.array([0 if G.node_data is None else G.node_data[k].get(demand, 0) for k in range(n)])
    costs, room = G.values_of(weight, 0), G.values_of(capacity, np.inf)
    if demands.dtype.kind not in "iu" or costs.dtype.kind not in "iu" or not (room == np.floor(room)).all():
        raise Refused("demands, capacities or weights that are not integers")
    if (costs < 0).any() or not (room >= 0).all() or (room[room < np.inf] >= WHOLE).any():
        raise Refused("negative weights, capacities below 0 or of 2^53 and more, NaN")
    if int(demands.sum()):
        raise nx.NetworkXUnfeasible("total node demand is not zero")
    total = int(demands.clip(0).sum())
    rows, cols, each = entries(G.matrix(capacity, default=np.inf))
    gives, takes = np.flatnonzero(demands < 0), np.flatnonzero(demands > 0)
    # costs are 0 or more, so no edge needs more than everything that is supplied
    A = gb.Matrix.from_coo(
        np.concatenate([rows.astype(np.int64), np.full(len(gives), n), takes]),
        np.concatenate([cols.astype(np.int64), gives, np.full(len(takes), n + 1)]),
        np.concatenate([np.minimum(each, total).astype(np.int64), -demands[gives], demands[takes]]),
        nrows=n + 2, ncols=n + 2,
    )  # fmt: skip
    K = G.matrix(weight, default=0).dup()
    K.resize(n + 2, n + 2)
    try:
        value, cost, F = algorithms.minimum_cost_flow(A, K, n, n + 1)
    except InvalidValue as error:
        raise Refused(str(error)) from None
    if value < total:
        raise nx.NetworkXUnfeasible("no flow satisfies all node demands")
    return cost, _flow_by_node(G, F[:n, :n].new())


def maximum_flow_value(
    flowG: Graph, _s: Node, _t: Node, capacity: str = "capacity", flow_func: object = None, **kwargs: object
) -> Number:
    return algorithms.minimum_cut(*_network(flowG, _s, _t, capacity))[0]


def minimum_cut(
    flowG: Graph, _s: Node, _t: Node, capacity: str = "capacity", flow_func: object = None, **kwargs: object
) -> tuple[Node, tuple[set[Node], set[Node]]]:
    value, side = algorithms.minimum_cut(*_network(flowG, _s, _t, capacity))
    near = host(side)
    return value, (set(flowG.nodes_at(near.nonzero()[0])), set(flowG.nodes_at((~near).nonzero()[0])))


minimum_cut_value = maximum_flow_value

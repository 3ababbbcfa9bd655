"""networkx.algorithms.flow.maxflow: maximum flow and minimum cut."""

from __future__ import annotations

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas import algorithms

from .arrays import Node, Number, Refused, Scores
from .graph import Graph
from .searches import entries, host

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
    n = len(flowG)
    rows, cols, amount = (F.device.to_host(x) for x in F.to_coo())
    entry_flow = np.zeros(len(flowG.cols), amount.dtype)
    keys = flowG.rows * n + flowG.cols
    order = np.argsort(keys)
    entry_flow[order[np.searchsorted(keys[order], rows.astype(np.int64) * n + cols.astype(np.int64))]] = amount
    found: dict[Node, Scores] = {node: {} for node in flowG}
    for u, v, x in zip(flowG.nodes_at(flowG.rows), flowG.nodes_at(flowG.cols), entry_flow.tolist()):
        found[u][v] = x
    return value, found


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

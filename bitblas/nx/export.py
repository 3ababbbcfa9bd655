"""Conversion of the backend's `Graph` to NetworkX graphs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

if TYPE_CHECKING:
    from .graph import Graph

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def to_networkx(G: Graph) -> Any:
    """The NetworkX graph with the same nodes, edges and attributes, neighbours in G's order."""
    made = KINDS[2 * G.is_multigraph() + G.is_directed()]()
    made.graph.update(G.graph)
    made.add_nodes_from(zip(G.labels, G.node_data) if G.node_data is not None else G.labels)
    kept = np.arange(len(G.cols)) if G.kept is None else np.flatnonzero(G.kept)
    held = _held(G, kept)
    if G.is_directed():
        for u, v, inner in zip(G.nodes_at(G.rows[kept]), G.nodes_at(G.cols[kept]), held):
            made._succ[u][v] = made._pred[v][u] = inner
        return made
    # Both ends of an edge share one dictionary, and each node keeps its own order of neighbours.
    of_edge = dict(zip(zip(G.rows[kept].tolist(), G.cols[kept].tolist()), held))
    for u, v in zip(G.rows.tolist(), G.cols.tolist()):
        made._adj[G.labels[u]][G.labels[v]] = of_edge[(u, v) if u <= v else (v, u)]
    return made


def _held(G: Graph, kept: np.ndarray) -> list[dict[Any, Any]]:
    """The edge data of each kept entry: attributes, by key in a multigraph."""
    data: Iterable[dict[str, Any]]
    if G.data is not None:
        data = map(dict, G.data)
    elif G.values:
        data = (dict(zip(G.values, each)) for each in zip(*(array.tolist() for array in G.values.values())))
    else:
        data = ({} for _ in range(int(G.size())))
    if G.counts is None:
        return list(data)
    counts = G.counts[kept].tolist()
    each = zip(chain.from_iterable(map(range, counts)) if G.keys is None else G.keys, data)
    return [dict(next(each) for _ in range(count)) for count in counts]

"""networkx.algorithms.dag: what is before and behind a node."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .graph import Graph
from .walk import number, reached


def descendants(G: Graph, source: Any) -> set[Any]:
    return _others(G, source)


def ancestors(G: Graph, source: Any) -> set[Any]:
    return _others(G.turned, source)


def _others(G: Graph, source: Any) -> set[Any]:
    kind = "digraph" if G.directed else "graph"
    at = number(G, source, f"The node {source} is not in the {kind}.", nx.NetworkXError)
    return set(G.nodes_at(reached(G, at))) - {source}

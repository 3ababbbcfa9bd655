"""networkx.algorithms.dag: ancestors, descendants, topological order."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas.algorithms import topological_levels

from .graph import Graph
from .searches import entries, reached, require_node
from .typing import Node


def descendants(G: Graph, source: Node) -> set[Node]:
    return _others(G, source)


def ancestors(G: Graph, source: Node) -> set[Node]:
    return _others(G.transposed, source)


def _others(G: Graph, source: Node) -> set[Node]:
    kind = "digraph" if G.directed else "graph"
    at = require_node(G, source, f"The node {source} is not in the {kind}.", nx.NetworkXError)
    return set(G.nodes_at(reached(G, at))) - {source}


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
    at, level = entries(topological_levels(G.structure))
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
    return topological_levels(G.structure).nvals < len(G)


def is_directed_acyclic_graph(G: Graph) -> bool:
    return G.directed and not has_cycle(G)

"""networkx.algorithms.components: connected, weakly and strongly connected components, condensation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import networkx as nx
import numpy as np

from bitblas import algorithms

from .graph import Graph
from .searches import host, reached
from .typing import Node


def labelled(G: Graph) -> np.ndarray:
    """The number of the first node of each node's component, ignoring edge directions."""
    if not len(G):
        return np.zeros(0, np.int64)
    return host(G._cached_as("components", lambda: algorithms.connected_components(G.both_ways)))


def _components(G: Graph) -> Iterator[set[Node]]:
    """The components in the order of their first nodes."""
    return grouped(G, labelled(G))


def grouped(G: Graph, label: np.ndarray) -> Iterator[set[Node]]:
    """The sets of nodes with equal labels, in label order."""
    order = np.argsort(label, kind="stable")
    nodes = G.nodes_at(order)
    ends = np.flatnonzero(np.diff(label[order])) + 1
    limits = [0, *ends.tolist(), len(nodes)] if nodes else [0]
    return (set(nodes[low:high]) for low, high in pairwise(limits))


def _count(G: Graph) -> int:
    return len(np.unique(labelled(G)))


def connected(G: Graph) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return not labelled(G).any()


connected_components = weakly_connected_components = _components
number_connected_components = number_weakly_connected_components = _count
is_connected = is_weakly_connected = connected


def node_connected_component(G: Graph, n: Node) -> set[Node]:
    return set(G.nodes_at(reached(G, G.number[n])))


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
        rows, cols = (number[C.device.to_host(ends).astype(np.int64)] for ends in C.to_coo()[:2])
        return rows, cols, number[host(label)]

    return G._cached_as("strong", make)


def strongly_connected_components(G: Graph) -> Iterator[set[Node]]:
    return grouped(G, _condensed(G)[2] if len(G) else np.zeros(0, np.int64))


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
    members = list(grouped(G, label))
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(members)))])
    return Graph(
        list(range(len(members))),
        ptr,
        cols[order],
        directed=True,
        graph={"mapping": G.by_node(label)},
        node_data=[{"members": nodes} for nodes in members],
    )

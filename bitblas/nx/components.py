"""networkx.algorithms.components: connected and weakly connected components."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from bitblas import algorithms

from .graph import Graph
from .walk import host, reached


def labelled(G: Graph) -> np.ndarray:
    """The number of the first node of each node's component, directions left aside."""
    if not len(G):
        return np.zeros(0, np.int64)
    return host(G._kept_as("components", lambda: algorithms.connected_components(G.both_ways)))


def _components(G: Graph) -> Iterator[set[Any]]:
    """In the order of their first nodes."""
    label = labelled(G)
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


def node_connected_component(G: Graph, n: Any) -> set[Any]:
    return set(G.nodes_at(reached(G, G.number[n])))

"""networkx.algorithms.tree.recognition: tests for trees, forests and arborescences."""

from __future__ import annotations

import networkx as nx

from .components import connected, labelled
from .graph import Graph


def is_tree(G: Graph) -> bool:
    _some(G)
    return G.number_of_edges() == len(G) - 1 and connected(G)


def is_forest(G: Graph) -> bool:
    _some(G)
    return G.number_of_edges() == len(G) - len(set(labelled(G).tolist()))


def is_arborescence(G: Graph) -> bool:
    return is_tree(G) and bool(G.in_degree.array.max() <= 1)


def is_branching(G: Graph) -> bool:
    return is_forest(G) and bool(G.in_degree.array.max() <= 1)


def _some(G: Graph) -> None:
    if not len(G):
        raise nx.exception.NetworkXPointlessConcept("G has no nodes.")

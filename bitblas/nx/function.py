"""networkx.classes.function and other functions of edges or degrees: regular, s-metric, dominating."""

from __future__ import annotations

from .graph import Graph
from .typing import Nodes


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
    from .boundary import neighbours

    chosen = G.numbers(nbunch)
    near = neighbours(G, chosen)
    near[chosen] = True
    return bool(near.all())

"""Power iteration with NetworkX's stopping rule: the sum of absolute changes is below n tol."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np

import bitblas as gb

from .graph import Graph
from .typing import Start


def vector(values: np.ndarray) -> gb.Vector:
    """A full Vector, FP64."""
    return gb.Vector.from_dense(np.asarray(values, np.float64))


def as_array(G: Graph, values: Start, absent: float = 0.0) -> np.ndarray:
    """A dictionary by node as an array, `absent` where missing."""
    return np.array([values.get(node, absent) for node in G], np.float64)


def check_start(G: Graph, nstart: Start) -> None:
    """Raise KeyError like NetworkX's loops over `nstart`: for a node that is not in the graph, and for a neighbour that
    is not in `nstart`.
    """
    if len(nstart) == len(G) and all(node in nstart for node in G):
        return
    for node in nstart:
        if node not in G:
            raise KeyError(node)
        at = G.number[node]
        for near in G.nodes_at(G.cols[G.ptr[at] : G.ptr[at + 1]]):
            if near not in nstart:
                raise KeyError(near)


def power_iteration(x: gb.Vector, step: Callable[[gb.Vector], gb.Vector], tol: float, max_iter: int) -> gb.Vector:
    """x = step(x) until sum |change| < n tol. PowerIterationFailedConvergence after max_iter rounds."""
    for _ in range(max_iter):
        before, x = x, step(x)
        # error = sum |x - before|
        change = gb.binary.minus(x & before).new().apply(gb.unary.abs).new()
        if change.reduce(gb.monoid.plus, allow_empty=False).new().value < x.size * tol:
            return x
    raise nx.PowerIterationFailedConvergence(max_iter)


def two_norm(x: gb.Vector) -> float:
    """sqrt(x . x)"""
    return float(x.inner(x, gb.semiring.plus_times).new().value or 0.0) ** 0.5

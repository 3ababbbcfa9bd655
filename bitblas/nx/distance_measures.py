"""networkx.algorithms.distance_measures: eccentricity, diameter, radius, center, periphery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from bitblas import algorithms

from .arrays import Node, NodeOrNodes, Number, Refused, Start
from .graph import Graph
from .searches import distances, host


def eccentricity(G: Graph, v: NodeOrNodes = None, sp: object = None, weight: str | None = None) -> Any:
    found = {}
    if v is None and weight is None and len(G):
        label = algorithms.strongly_connected_components if G.directed else algorithms.connected_components
        if host(label(G.structure)).any():  # some node is outside the component of node 0
            raise _unreachable(G)
        return G.by_node(host(algorithms.eccentricity(G.structure)))
    for node in G.nbunch_iter(v):
        at, lengths = distances(G, G.number[node], weight)
        if len(at) != len(G):
            raise _unreachable(G)
        found[node] = lengths[-1].item()
    return found[v] if v in G else found


def _unreachable(G: Graph) -> nx.NetworkXError:
    because = "the digraph is not strongly connected" if G.directed else "the graph is not connected"
    return nx.NetworkXError(f"Found infinite path length because {because}")


def diameter(G: Graph, e: Start | None = None, usebounds: bool = False, weight: str | None = None) -> Number:
    if _by_bounds(G, e, usebounds):
        return _bounds(G, weight, lambda b: (b.upper <= b.most_lower) & (2 * b.lower >= b.most_upper)).most_lower.item()
    return max(_all(G, e, weight).values())


def radius(G: Graph, e: Start | None = None, usebounds: bool = False, weight: str | None = None) -> Number:
    if _by_bounds(G, e, usebounds):
        out = lambda b: (b.lower >= b.least_upper) & (b.upper + 1 <= 2 * b.least_lower)
        return _bounds(G, weight, out).least_upper.item()
    return min(_all(G, e, weight).values())


def center(G: Graph, e: Start | None = None, usebounds: bool = False, weight: str | None = None) -> list[Node]:
    if _by_bounds(G, e, usebounds):
        known = lambda b: b.least_lower == b.least_upper
        found = _bounds(G, weight, lambda b: (b.lower > b.least_upper) & (known(b) | (b.upper + 1 < 2 * b.least_lower)))
        return G.nodes_at(np.flatnonzero(found.all_lower == found.least_upper))
    if e is None and weight is None and not G.directed and not len(G):
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    far = _all(G, e, weight)
    least = min(far.values())
    return [node for node in far if far[node] == least]


def periphery(G: Graph, e: Start | None = None, usebounds: bool = False, weight: str | None = None) -> list[Node]:
    if _by_bounds(G, e, usebounds):
        known = lambda b: b.most_lower == b.most_upper
        found = _bounds(G, weight, lambda b: (b.upper < b.most_lower) & (known(b) | (b.lower > b.most_upper)))
        return G.nodes_at(np.flatnonzero(found.all_lower == found.most_lower))
    far = _all(G, e, weight)
    most = max(far.values())
    return [node for node in far if far[node] == most]


def _all(G: Graph, e: Start | None, weight: str | None) -> Start:
    return eccentricity(G, weight=weight) if e is None else e


def _by_bounds(G: Graph, e: Start | None, usebounds: bool) -> bool:
    return usebounds is True and e is None and not G.directed


class _Bounds:
    """Bounds of the eccentricities: lower and upper of the open nodes, all_lower of all nodes, and their extremes so
    far.
    """

    lower: np.ndarray
    upper: np.ndarray
    all_lower: np.ndarray
    least_lower = least_upper = np.float64(np.inf)
    most_lower = most_upper = np.int64(0)


def _bounds(G: Graph, weight: str | None, ruled_out: Callable[[_Bounds], np.ndarray]) -> _Bounds:
    """Eccentricity bounds from a few searches, with NetworkX's rules (Takes, Kosters: Determining the diameter of small
    world networks, CIKM 2011). ruled_out: which open nodes need no further search.
    """
    b, degree = _Bounds(), G.degree.array
    whole = weight is None or G.values_of(weight).dtype.kind == "i"
    all_upper = np.full(len(G), np.iinfo(np.int64).max if whole else np.inf)
    b.all_lower = np.zeros(len(G), np.int64)
    open_ = np.arange(len(G))
    current, high = max(range(len(G)), key=degree.tolist().__getitem__), False
    while len(open_):
        at, lengths = distances(G, current, weight)
        if len(at) != len(G):
            raise nx.NetworkXError("Cannot compute metric because graph is not connected.")
        length, far = np.empty_like(lengths), lengths[-1]
        if whole and far >= 1 << 61:
            raise Refused("distances of 2^61 and more, whose sums may overflow")
        length[at] = lengths
        d = length[open_]
        # lower = max(lower, d, far - d); upper = min(upper, far + d)
        b.lower = np.maximum(b.all_lower[open_], np.maximum(d, far - d))
        b.upper = np.minimum(all_upper[open_], far + d)
        b.all_lower = b.all_lower.astype(lengths.dtype, copy=False)
        b.all_lower[open_], all_upper[open_] = b.lower, b.upper
        b.least_lower, b.most_lower = min(b.least_lower, b.lower.min()), max(b.most_lower, b.lower.max())
        b.least_upper, b.most_upper = min(b.least_upper, b.upper.min()), max(b.most_upper, b.upper.max())
        left = ~(ruled_out(b) | (b.lower >= b.upper))  # lower > upper is possible by rounding
        open_, lower, upper = open_[left], b.lower[left], b.upper[left]
        # next: alternately the largest upper bound and the least lower bound, ties to the highest degree
        high = not high
        if len(open_):
            current = int(open_[np.lexsort((-degree[open_], -upper if high else lower))[0]])
    return b

"""networkx.algorithms.centrality.betweenness: betweenness of nodes and edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitblas import algorithms

from ..graph import Graph
from ..searches import host, reached


def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    n = len(G)
    chosen = None if k is None or k == n else G.numbers(seed.sample(G.labels, k))
    if not n:
        return {}
    sources = range(n) if chosen is None else chosen.tolist()
    found = host(algorithms.betweenness_centrality(G.structure, list(sources)), 0.0)
    if endpoints:
        for source in sources:
            others = reached(G, source)
            found[others] += 1
            found[source] += len(others) - 2
    scale = scales(n, chosen, normalized, G.directed, endpoints)
    return G.by_node(found if scale is None else found * scale)


def scales(n: int, sources: np.ndarray | None, normalized: bool, directed: bool, endpoints: bool) -> np.ndarray | None:
    """NetworkX's normalisation factor of the sum over the sources, per node; None for 1.

    A sum over k of the n sources is extrapolated to all of them. Without end points, a source lies on paths from one
    source fewer than other nodes do.
    """
    others = n if endpoints else n - 1  # possible ends, on either side, of a path through a node
    if others < 2:
        return None
    k = others if sources is None else len(sources)
    pairs = lambda k: k * (others - 1) if normalized else k * (1 if directed else 2) / others
    scale = np.full(n, 1 / pairs(k))
    if sources is not None and not endpoints:
        scale[sources] = 1 / pairs(k - 1) if k > 1 else np.nan
    return scale


def edge_betweenness_centrality(
    G: Graph, k: int | None = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> dict[Any, float]:
    n = len(G)
    sources = None if k is None or k == n else G.numbers(seed.sample(G.labels, k)).tolist()
    found = algorithms.edge_betweenness_centrality(G.structure, sources)
    rows, cols, values = (found.device.to_host(x) for x in found.to_coo())
    if not G.directed:  # NetworkX sums both directions of an edge
        values = values + values[np.lexsort((rows, cols))]
    order = np.argsort(G.rows * n + G.cols)
    of_entry = np.empty(len(values))
    of_entry[order] = values
    scale = 1 / (n * (n - 1)) if normalized and n > 1 else 1 if G.directed or normalized else 0.5
    if sources is not None:
        scale *= n / len(sources)
    ends = zip(*(G.nodes_at(at) for at in G.edge_ends))
    return dict(zip(ends, (of_entry[slice(None) if G.kept is None else G.kept] * scale).tolist()))

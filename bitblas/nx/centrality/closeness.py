"""networkx.algorithms.centrality.closeness and .harmonic: closeness and harmonic centrality."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitblas import algorithms

from ..graph import Graph
from ..searches import distances, host, require_node
from ..sums import exact_sum


def closeness_centrality(G: Graph, u: Any = None, distance: str | None = None, wf_improved: bool = True) -> Any:
    H, n = G.turned, len(G)
    if u is None and distance is None and n:
        return G.by_node(host(algorithms.closeness_centrality(G.structure, improved=wf_improved)))
    found = {}
    for node in G if u is None else [u]:
        _, lengths = distances(H, require_node(G, node, f"Source {node} is not in G"), distance)
        far, others = exact_sum(lengths), len(lengths) - 1.0
        found[node] = 0.0
        if far > 0.0 and n > 1:
            found[node] = others / far * (others / (n - 1) if wf_improved else 1)
    return found if u is None else found[u]


def harmonic_centrality(
    G: Graph, nbunch: Any = None, distance: str | None = None, sources: Any = None
) -> dict[Any, float]:
    if nbunch is None and distance is None and sources is None and len(G):
        return G.by_node(host(algorithms.harmonic_centrality(G.structure)))
    targets = set(G.nbunch_iter(nbunch))
    starts = set(G.nbunch_iter(sources))
    sums, few = np.zeros(len(G)), len(targets) < len(starts)
    # search from the smaller set, backwards if that is the targets
    H, ends = (G.turned, G.numbers(starts)) if few else (G, np.zeros(0, np.int64))
    for source in G.numbers(targets if few else starts).tolist():
        at, lengths = distances(H, source, distance)
        at, lengths = at[lengths != 0], lengths[lengths != 0]
        if few:
            sums[source] = (1 / lengths[np.isin(at, ends)]).sum()
        else:
            sums[at] += 1 / lengths
    return {node: sums[G.number[node]].item() for node in targets}

"""networkx.algorithms.triads: directed graphs of three nodes."""

from __future__ import annotations

from .graph import Graph


def is_triad(G: Graph) -> bool:
    return len(G) == 3 and G.directed and not (G.rows == G.cols).any()

"""networkx.algorithms.tournament: exactly one directed edge between every two nodes."""

from __future__ import annotations

import bitblas as gb

from .graph import Graph


def is_tournament(G: Graph) -> bool:
    n = len(G)
    # nvals(A) = n (n - 1) / 2, no loops, and nvals(A .* A') = 0
    A = G.loopless
    return len(G.cols) == A.nvals == n * (n - 1) // 2 and A.ewise_mult(A.T, gb.binary.pair).new().nvals == 0

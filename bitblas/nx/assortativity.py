"""networkx.algorithms.assortativity: the degrees of neighbours."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import bitblas as gb

from .degrees import Degrees
from .graph import Graph
from .walk import host


def average_neighbor_degree(
    G: Graph, source: str = "out", target: str = "out", nodes: Any = None, weight: str | None = None
) -> dict[Any, float]:
    for name, side in (("source", source), ("target", target)) if G.directed else ():
        if side not in ("in", "out", "in+out"):
            raise nx.NetworkXError(f"{name} argument {side} must be 'in', 'out' or 'in+out'")
    if not G.directed and (source, target) != ("out", "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    own, theirs = (Degrees(G, side if G.directed else "all") for side in (source, target))
    degree = gb.Vector.from_dense(theirs.array)
    A, total = G.matrix(weight), np.zeros(len(G))
    # sum = A plus.times degree over those behind, A' plus.times degree over those before
    if "out" in source:
        total += host(A.mxv(degree, gb.semiring.plus_times).new(), 0)
    if "in" in source and G.directed:
        total += host(degree.vxm(A, gb.semiring.plus_times).new(), 0)
    count = own(weight=weight).array
    found = np.divide(total, count, out=np.zeros(len(G)), where=count != 0)
    return {node: found[G.number[node]].item() for node in G.nbunch_iter(nodes)}

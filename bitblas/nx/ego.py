"""networkx.generators.ego: subgraph within a radius of a node."""

from __future__ import annotations

import numpy as np

from bitblas.algorithms import bfs_levels

from .graph import Graph
from .searches import entries, require_node
from .typing import Node


def ego_graph(
    G: Graph, n: Node, radius: float = 1, center: bool = True, undirected: bool = False, distance: str | None = None
) -> Graph:
    source = require_node(G, n, f"Source {n} is not in G" if not undirected else f"Node {n} not found in graph")
    near = np.zeros(len(G), bool)
    if radius >= 0:
        A = G.both_ways if undirected else G.structure
        near[entries(bfs_levels(A, source, depth_limit=int(min(radius, len(G)))))[0]] = True
    near[source] &= center
    return G.part(near, near[G.rows] & near[G.cols])

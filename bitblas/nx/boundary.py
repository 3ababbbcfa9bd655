"""networkx.algorithms.boundary: nodes adjacent to a node set."""

from __future__ import annotations

import numpy as np

import bitblas as gb

from .graph import Graph
from .searches import entries
from .typing import Node, Nodes


def neighbours(G: Graph, nodes: np.ndarray) -> np.ndarray:
    """The nodes that an edge from one of these leads to: BOOL, by number."""
    found = np.zeros(len(G), bool)
    if len(nodes):
        # q = nodes any.pair A
        q = gb.Vector.from_coo(np.unique(nodes), True, size=len(G))
        found[entries(q.vxm(G.structure, gb.semiring.any_pair[gb.dtypes.BOOL]).new())[0]] = True
    return found


def node_boundary(G: Graph, nbunch1: Nodes, nbunch2: Nodes | None = None) -> set[Node]:
    inner = G.numbers(nbunch1)
    near = neighbours(G, inner)
    near[inner] = False
    found = set(G.nodes_at(np.flatnonzero(near)))
    return found if nbunch2 is None else found & set(nbunch2)

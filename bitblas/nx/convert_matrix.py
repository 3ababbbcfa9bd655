"""networkx.convert_matrix and networkx.linalg: matrices of SciPy and NumPy."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .graph import Graph


def to_scipy_sparse_array(
    G: Graph, nodelist: Any = None, dtype: Any = None, weight: str | None = "weight", format: str = "csr"
) -> Any:
    import scipy as sp

    if not len(G):
        raise nx.NetworkXError("Graph has no nodes or edges")
    n = len(G)
    place = np.arange(n)
    if nodelist is not None:
        found = G.numbers(nodelist)
        for node in nodelist:
            if node not in G:
                raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
        if len(np.unique(found)) != n:
            raise nx.NetworkXError("nodelist contains duplicates.")
        place[found] = np.arange(n)
    rows, cols = (place[end] for end in G.edges_at)
    values = np.ones(len(rows), np.int64) if weight is None else G.values_of(weight)
    if not len(rows):
        values = values.astype(np.float64)  # as SciPy takes an empty list
    if not G.directed:
        other = rows != cols
        rows, cols = np.concatenate([rows, cols[other]]), np.concatenate([cols, rows[other]])
        values = np.concatenate([values, values[other]])
    A = sp.sparse.coo_array((values, (rows, cols)), shape=(n, n), dtype=dtype)
    try:
        return A.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error

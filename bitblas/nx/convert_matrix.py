"""networkx.convert_matrix and networkx.linalg: SciPy and NumPy matrices of a graph."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .arrays import Nodes, Refused, fits_int64, sum_by_group
from .graph import Graph


def to_scipy_sparse_array(
    G: Graph, nodelist: Nodes | None = None, dtype: Any = None, weight: str | None = "weight", format: str = "csr"
) -> Any:
    import scipy as sp

    if not len(G):
        raise nx.NetworkXError("Graph has no nodes or edges")
    n = len(G)
    for node in nodelist or ():
        if node not in G:
            raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
    rows, cols, values = _entries(G, nodelist, weight)
    if not len(rows):
        values = values.astype(np.float64)  # SciPy's dtype for an empty list
    if not G.directed and (values[rows == cols] == np.iinfo(np.int64).min).any():
        raise Refused("a self loop of weight -2^63, which NetworkX negates")
    kind = values.dtype if dtype is None else np.dtype(dtype)
    if G.is_multigraph() and format != "coo" and kind.kind in "iu":  # SciPy sums parallel edges in this dtype
        _check_sums(G, rows, cols, values, kind)
    A = sp.sparse.coo_array((_cast(values, kind), (rows, cols)), shape=(n, n), dtype=dtype)
    try:
        return A.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


def to_numpy_array(
    G: Graph,
    nodelist: Nodes | None = None,
    dtype: Any = None,
    order: Any = None,
    multigraph_weight: Any = sum,
    weight: str | None = "weight",
    nonedge: float = 0.0,
) -> np.ndarray:
    if nodelist is not None and (strange := set(nodelist) - set(G)):
        raise nx.NetworkXError(f"Nodes {strange} in nodelist is not in G")
    found = np.full((len(G), len(G)), nonedge, dtype=dtype, order=order)
    rows, cols, values = _entries(G, nodelist, weight)
    if G.is_multigraph():
        rows, cols, values = _merge_parallel_edges(G, rows, cols, values, JOINS[multigraph_weight])
    found[rows, cols] = _cast(values, found.dtype)
    return found


JOINS = {sum: np.add, min: np.minimum, max: np.maximum}


def _merge_parallel_edges(
    G: Graph, rows: np.ndarray, cols: np.ndarray, values: np.ndarray, join: Any
) -> tuple[np.ndarray, ...]:
    """Merge parallel edges with `join`. Sums that may exceed INT64 are Python ints."""
    keys = rows * len(G) + cols
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    fresh = np.diff(keys, prepend=-1) != 0
    first = np.flatnonzero(fresh)
    if join is np.add and not fits_int64(values):
        values = sum_by_group(values, np.cumsum(fresh) - 1, len(first))
    elif len(first):
        values = join.reduceat(values, first)
    return keys[first] // len(G), keys[first] % len(G), values


def _cast(values: np.ndarray, dtype: Any) -> np.ndarray:
    """The values in a NumPy dtype. Integers out of range raise OverflowError or ValueError, as Python numbers do in
    NumPy; arrays would wrap.
    """
    if dtype.kind in "iu" and values.dtype.kind in "ifO" and len(values):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        least, most = values.min(), values.max()
        if not (low <= least and (most < float(high) if values.dtype.kind == "f" else most <= high)):
            return np.array(values.tolist(), dtype)
    return values.astype(dtype)


def _check_sums(G: Graph, rows: np.ndarray, cols: np.ndarray, values: np.ndarray, dtype: Any) -> None:
    """Raise Refused if sums of parallel edges overflow the dtype."""
    sums = _merge_parallel_edges(G, rows, cols, _cast(values, dtype).astype(np.int64), np.add)[2]
    limits = np.iinfo(dtype)
    if len(sums) and not (limits.min <= sums.min() and sums.max() <= limits.max):
        raise Refused(f"parallel edges whose sums overflow {dtype}")


def _entries(G: Graph, nodelist: Nodes | None, weight: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns (positions in `nodelist`) and values of all entries, parallel edges separately."""
    place = np.arange(len(G))
    if nodelist is not None:
        found = G.numbers(nodelist)
        if len(np.unique(found)) != len(G):
            raise nx.NetworkXError("nodelist contains duplicates.")
        place[found] = np.arange(len(G))
    rows, cols = (place[end] for end in G.edge_ends)
    values = np.ones(len(rows), np.int64) if weight is None else G.values_of(weight)
    if G.directed:
        return rows, cols, values
    other = rows != cols
    ends = np.concatenate([rows, cols[other]]), np.concatenate([cols, rows[other]])
    return *ends, np.concatenate([values, values[other]])

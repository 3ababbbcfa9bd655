"""Conversion of NetworkX graphs to the backend's `Graph`, and of a `Graph` to SciPy and NumPy matrices.

NetworkX stores a dictionary of neighbours per node. Most of the time goes into reading one Python object per neighbour
from scattered memory. Each object is therefore read once, in a compiled loop that prefetches many at a time; its hash
identifies the node.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, compress, repeat
from operator import methodcaller
from typing import Any

import networkx as nx
import numpy as np

from ..device.dictionaries import attributes
from .arrays import Attributes, Nodes, Refused, as_numbers, fits_int64, numbers_of, sum_by_group
from .graph import KINDS, Graph

_values = methodcaller("values")


@contextmanager
def _no_collections() -> Iterator[None]:
    """Disable garbage collection: a collection would visit every object of the graph, and there is no garbage to
    find.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@_no_collections()
def from_networkx(
    G: Any,
    edge_attrs: Attributes | None = None,
    node_attrs: Attributes | None = None,
    *,
    preserve_edge_attrs: bool = True,
    preserve_node_attrs: bool = True,
    preserve_graph_attrs: bool = True,
    like: Graph | None = None,
) -> Graph:
    """Convert any NetworkX graph to a Graph.

    edge_attrs, node_attrs: attributes to keep, with their default values. preserve_*: keep all attributes instead.
    like: a Graph with the same nodes and edges, whose structure is reused.
    Raises Refused if an attribute of edge_attrs is not a real number.
    """
    adj = G._adj
    if type(G) not in KINDS or type(adj) is not dict:  # a view, or a class with its own adjacency
        adj = {u: dict(neighbours) for u, neighbours in G.adjacency()}
    several = G.is_multigraph()
    items = lambda: chain.from_iterable(map(_values, adj.values()))
    if like is not None:
        made, labels = like.like(), like.labels
    else:
        labels = list(adj)
        ptr = np.zeros(len(labels) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, adj.values()), np.int64, len(labels)), out=ptr[1:])
        counts = np.fromiter(map(len, items()), np.int64, int(ptr[-1])) if several else None
        cols = numbers_of(adj, int(ptr[-1]), labels)
        made = Graph(labels, ptr, cols, directed=G.is_directed(), counts=counts)

    chosen = None if made.kept is None else made.kept.tobytes()

    def per_edge(inner: Callable[[Any], Iterable[Any]]) -> Iterable[Any]:
        each = items() if chosen is None else compress(items(), chosen)
        return chain.from_iterable(map(inner, each)) if several else each

    def read(name: str, default: Any) -> Iterable[Any]:
        return map(dict.get, per_edge(_values), repeat(name), repeat(default))

    if preserve_edge_attrs:
        made.data = list(map(dict, per_edge(_values)))
        if several:
            made.keys = list(per_edge(iter))
    elif edge_attrs:
        count = len(made.cols) if made.counts is None else int(made.counts.sum())
        kept = made.kept if made.kept is None or made.counts is None else np.repeat(made.kept, made.counts)
        for name, default in edge_attrs.items():
            found = attributes(adj, 1 + several, count, kept, name, default)
            if found is None:
                found = as_numbers(partial(read, name, default), name)
            made.values[name] = found
    if preserve_node_attrs or node_attrs:
        nodes = G._node
        of_nodes = map(nodes.__getitem__, labels)
        selected = None if preserve_node_attrs else node_attrs
        made.node_data = list(
            map(dict, of_nodes) if selected is None else (_selected(data, selected) for data in of_nodes)
        )
    if preserve_graph_attrs:
        made.graph = dict(G.graph)
    return made


def _selected(data: Attributes, attrs: Attributes) -> Attributes:
    return {name: data.get(name, default) for name, default in attrs.items() if default is not None or name in data}


# ---- networkx.convert_matrix and networkx.linalg: SciPy and NumPy matrices of a graph.


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

"""Conversion of NetworkX graphs to the backend's `Graph`.

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

import numpy as np

from ..device.dictionaries import attributes
from .arrays import Attributes, as_numbers, numbers_of
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

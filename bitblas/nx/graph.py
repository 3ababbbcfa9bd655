"""`Graph` of the backend: node labels, entries in NetworkX's order, its matrices, degree views, export to NetworkX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, compress, repeat
from typing import Any, TypeVar

import networkx as nx
import numpy as np

import bitblas as gb
from semirings.cached import cached_property

from .arrays import (
    Attributes,
    Node,
    NodeOrNodes,
    Nodes,
    Number,
    as_numbers,
    ascending,
    exact_sum,
    fits_int64,
    sum_by_group,
)

# ---- Conversion of the backend's `Graph` to NetworkX graphs.

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def to_networkx(G: Graph) -> Any:
    """The NetworkX graph with the same nodes, edges and attributes, neighbours in G's order."""
    made = KINDS[2 * G.is_multigraph() + G.is_directed()]()
    made.graph.update(G.graph)
    made.add_nodes_from(zip(G.labels, G.node_data) if G.node_data is not None else G.labels)
    kept = np.arange(len(G.cols)) if G.kept is None else np.flatnonzero(G.kept)
    held = _edge_data(G, kept)
    if G.is_directed():
        for u, v, inner in zip(G.nodes_at(G.rows[kept]), G.nodes_at(G.cols[kept]), held):
            made._succ[u][v] = made._pred[v][u] = inner
        return made
    # Both ends of an edge share one dictionary, and each node keeps its own order of neighbours.
    of_edge = dict(zip(zip(G.rows[kept].tolist(), G.cols[kept].tolist()), held))
    for u, v in zip(G.rows.tolist(), G.cols.tolist()):
        made._adj[G.labels[u]][G.labels[v]] = of_edge[(u, v) if u <= v else (v, u)]
    return made


def _edge_data(G: Graph, kept: np.ndarray) -> list[dict[Any, Any]]:
    """The edge data of each kept entry: attributes, by key in a multigraph."""
    data: Iterable[dict[str, Any]]
    if G.data is not None:
        data = map(dict, G.data)
    elif G.values:
        data = (dict(zip(G.values, each)) for each in zip(*(array.tolist() for array in G.values.values())))
    else:
        data = ({} for _ in range(int(G.size())))
    if G.counts is None:
        return list(data)
    counts = G.counts[kept].tolist()
    each = zip(chain.from_iterable(map(range, counts)) if G.keys is None else G.keys, data)
    return [dict(next(each) for _ in range(count)) for count in counts]


# ---- `Graph` of the backend: node labels, entries in NetworkX's order, its matrices and degree views.

T = TypeVar("T")

# ---- Degree views of `Graph`: `G.degree[u]`, `G.degree(nodes, weight="cost")`, iteration.


class Degrees:
    """Degree view. side: "out", "in" or "in+out" of a directed graph, "all" of an undirected one, where a self loop
    counts 2.
    """

    def __init__(self, G: Graph, side: str, weight: str | None = None, nodes: Nodes | None = None) -> None:
        self._graph, self._side, self._weight, self._nodes = G, side, weight, nodes

    @property
    def array(self) -> np.ndarray:
        """The degree of every node: INT64, FP64 for float weights, or Python ints if sums may exceed INT64."""
        return self._graph._cached_as(("degree", self._side, self._weight), self._count)

    def _count(self) -> np.ndarray:
        G, side, weight = self._graph, self._side, self._weight
        rows, cols = G.edge_ends
        if weight is None and G.counts is None and side in ("out", "all"):
            loops = rows[rows == cols]
            return np.diff(G.ptr) + (np.bincount(loops, minlength=len(G)) if side == "all" and len(loops) else 0)
        values = None if weight is None else G.values_of(weight)
        ends = (*(() if side == "in" else (rows,)), *(() if side == "out" else (cols,)))
        end = np.concatenate(ends)
        if values is None:
            return np.bincount(end, minlength=len(G))
        return sum_by_group(np.tile(values, len(ends)), end, len(G))

    def __call__(self, nbunch: NodeOrNodes = None, weight: str | None = None) -> Any:
        """The degree of a node, or a view of the degrees of nodes, optionally weighted."""
        chosen = Degrees(self._graph, self._side, weight)
        if nbunch is None:
            return chosen
        if nbunch in self._graph:
            return chosen[nbunch]
        return Degrees(self._graph, self._side, weight, self._graph.nbunch_iter(nbunch))

    def __getitem__(self, node: Node) -> Number:
        found = self.array[self._graph.number[node]]
        return found.item() if isinstance(found, np.generic) else found

    def __iter__(self) -> Iterator[tuple[Node, Number]]:
        if self._nodes is None:
            return zip(self._graph.labels, self.array.tolist())
        return ((node, self[node]) for node in self._nodes)

    def __len__(self) -> int:
        return len(self._graph)


# ---- Adjacency matrices of a `Graph`, and its entries by position.

MERGES = {"plus": np.add, "min": np.minimum, "max": np.maximum}  # of parallel edges


def of_entries(G: Graph, values: int | np.ndarray) -> gb.Matrix:
    """The matrix of one value, or of an array with a value per entry in NetworkX's order."""
    order, _ = ascending_order(G)
    cols = G._cached_as("ascending columns", lambda: G.cols[order])
    found = values[order] if isinstance(values, np.ndarray) else values
    return gb.Matrix.from_csr(G.ptr, cols, found, ncols=len(G))


def entry_values(G: Graph, weight: str, parallel: str = "plus", default: float = 1) -> np.ndarray:
    """The weight of each entry, INT64 or FP64; parallel edges are merged by plus, min or max. Sums that may exceed
    INT64 are FP64.
    """
    values = G.values_of(weight, default)
    if G.counts is not None and len(values):
        if parallel == "plus" and not fits_int64(values):
            values = values.astype(np.float64)
        counts = G.counts if G.kept is None else G.counts[G.kept]
        values = MERGES[parallel].reduceat(values, np.cumsum(counts) - counts)
    return values if G.kept is None else values[edges_of(G)]


def edges_of(G: Graph) -> np.ndarray:
    """The edge number of each entry of an undirected graph, parallel edges merged: INT64."""

    def number() -> np.ndarray:
        kept = np.asarray(G.kept)
        number = np.cumsum(kept) - 1
        order, by_column = ascending_order(G)
        mirror = np.empty_like(order)  # the transposed entry: the one at the same position in (column, row) order
        mirror[order] = by_column
        return np.where(kept, number, number[mirror])

    return G._cached_as("edge", number)


def entries_at(G: Graph, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """The numbers of the entries at these existing positions. rows, cols: INT64."""
    order, n = ascending_order(G)[0], len(G)
    return order[np.searchsorted(G.rows * n + G.cols[order], rows * n + cols)]


def ascending_order(G: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Permutations of the entries: by (row, column), and by (column, row)."""
    return G._cached_as("ascending", lambda: ascending(G.ptr, G.cols))


# ---- `Graph` of the backend: a Matrix and the node labels, numbered in NetworkX's iteration order.


class Graph:
    """A graph of the backend, accepted by NetworkX's functions.

    labels: list, the nodes in NetworkX's order; node k is row and column k. ptr, cols: INT64 arrays, the neighbours of
    each node in NetworkX's order, parallel edges merged. counts: INT64, the number of parallel edges of each entry;
    None unless it is a multigraph. values: by attribute name, one number per edge (`edge_ends`). data, keys: the
    attributes of each edge, and its keys in a multigraph, if all were requested. node_data: the same of nodes.

    Other attributes of a NetworkX graph (`G.edges`, `G[u]`) are answered by an equivalent NetworkX graph, which is made
    at first use and frozen: a Graph cannot be changed.
    """

    __networkx_backend__ = "bitblas"

    def __init__(
        self,
        labels: list[Node],
        ptr: np.ndarray,
        cols: np.ndarray,
        *,
        directed: bool,
        counts: np.ndarray | None = None,
        values: dict[str, np.ndarray] | None = None,
        data: list[Attributes] | None = None,
        keys: list[Node] | None = None,
        node_data: list[Attributes] | None = None,
        graph: Attributes | None = None,
    ) -> None:
        self.labels, self.ptr, self.cols, self.counts = labels, ptr, cols, counts
        self.directed, self.values, self.data, self.keys, self.node_data = directed, values or {}, data, keys, node_data
        self.graph = graph or {}
        self.__networkx_cache__: Attributes = {}
        # NetworkX's cache of the original graph, with an entry "bitblas"; NetworkX clears it when that graph changes.
        self.networkx_cache: Attributes | None = None
        self._cache: dict[Node, Any] = {}
        self._structure_cache: dict[str, Any] = {}  # cached values that depend on the structure only

    def is_current(self) -> bool:
        """Whether the original graph is unchanged, as far as known."""
        return self.networkx_cache is None or "bitblas" in self.networkx_cache

    def like(self) -> Graph:
        """A graph of the same nodes and edges without attributes; values derived from the structure are shared."""
        made = Graph(self.labels, self.ptr, self.cols, directed=self.directed, counts=self.counts)
        made._structure_cache = self._structure_cache
        return made

    # ---- nodes and their numbers ------------------------------------------------------------------------------------

    @cached_property
    def number(self) -> dict[Node, int]:
        """The number of each node."""
        return dict(zip(self.labels, range(len(self.labels))))

    @cached_property
    def _nodes(self) -> _Nodes:
        return _Nodes(self.number)

    def numbers(self, nodes: Nodes) -> np.ndarray:
        """The numbers of those `nodes` that are in the graph, in order: INT64."""
        found = map(self.number.get, nodes)
        return np.array([k for k in found if k is not None], np.int64)

    def nodes_at(self, numbers: np.ndarray) -> list[Node]:
        """The nodes with these numbers."""
        return self._labels[numbers].tolist()

    @cached_property
    def _labels(self) -> np.ndarray:
        return np.fromiter(self.labels, object, len(self.labels))

    def by_node(self, values: np.ndarray) -> dict[Node, Any]:
        """The values as a dictionary of Python numbers by node."""
        return dict(zip(self.labels, values.tolist()))

    # ---- edges ------------------------------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> np.ndarray:
        """The row of each entry: INT64."""
        return np.repeat(np.arange(len(self.labels)), np.diff(self.ptr))

    @cached_property
    def kept(self) -> np.ndarray | None:
        """The entries that represent their edge: the upper triangle of an undirected graph; None if all do."""
        return None if self.directed else self.cols >= self.rows

    @cached_property
    def edge_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The two ends of each edge, parallel edges separately, in the order of `values`, `data` and `keys`."""
        return self._of_edges(self.rows), self._of_edges(self.cols)

    def _of_edges(self, entries: np.ndarray) -> np.ndarray:
        kept = slice(None) if self.kept is None else self.kept
        return entries[kept] if self.counts is None else np.repeat(entries[kept], self.counts[kept])

    def values_of(self, weight: str, default: float = 1) -> np.ndarray:
        """The attribute of each edge as INT64 or FP64, with the default where missing. Raises Refused for other
        types.
        """
        if weight in self.values:  # converted with the default of NetworkX's function
            return self.values[weight]
        data = self.data

        def read() -> np.ndarray:
            if data is None:
                return np.full(len(self.edge_ends[0]), default)
            return as_numbers(lambda: map(dict.get, data, repeat(weight), repeat(default)), weight)

        return self._cached_as((weight, default), read)

    # ---- matrices ---------------------------------------------------------------------------------------------------

    def _cached_as(self, key: Node, make: Callable[[], T]) -> T:
        """make(), cached; under a string key if it depends on the structure only."""
        made: dict[Any, Any] = self._structure_cache if isinstance(key, str) else self._cache
        if key not in made:
            made[key] = make()
        found: T = made[key]
        return found

    @property
    def structure(self) -> gb.Matrix:
        """The adjacency matrix, n x n, BOOL: two entries per undirected edge, one per self loop."""
        return self._cached_as("structure", lambda: of_entries(self, True))

    @property
    def loopless(self) -> gb.Matrix:
        """`structure` without the diagonal."""
        return self._cached_as("loopless", lambda: self.structure.select(gb.select.offdiag).new())

    @property
    def both_ways(self) -> gb.Matrix:
        """`structure` with every edge in both directions."""
        A = self.structure
        return self._cached_as("both", lambda: A.ewise_add(A.T, gb.binary.pair).new()) if self.directed else A

    @cached_property
    def transposed(self) -> Graph:
        """The reversed graph, neighbours in order of their numbers; the graph itself if undirected."""
        if not self.directed:
            return self
        order = np.argsort(self.cols, kind="stable")
        ptr = np.concatenate([[0], np.cumsum(np.bincount(self.cols, minlength=len(self)))])
        pick = order if self.counts is None else np.argsort(np.repeat(self.cols, self.counts), kind="stable")
        at = lambda given: None if given is None else [given[k] for k in pick.tolist()]
        counts = None if self.counts is None else self.counts[order]
        return Graph(
            self.labels,
            ptr,
            self.rows[order],
            directed=True,
            counts=counts,
            data=at(self.data),
            values={name: values[pick] for name, values in self.values.items()},
            keys=at(self.keys),
            node_data=self.node_data,
            graph=self.graph,
        )

    def part(self, nodes: np.ndarray, entries: np.ndarray) -> Graph:
        """The subgraph of these nodes and entries (BOOL arrays), with attributes. Not for a multigraph."""
        number = np.cumsum(nodes) - 1
        ptr = np.concatenate([[0], np.cumsum(np.bincount(self.rows[entries], minlength=len(self))[nodes])])
        edges = entries if self.kept is None else entries[self.kept]
        return Graph(
            list(compress(self.labels, nodes)),
            ptr,
            number[self.cols[entries]],
            directed=self.directed,
            data=None if self.data is None else list(compress(self.data, edges)),
            graph=self.graph,
            values={name: values[edges] for name, values in self.values.items()},
            node_data=None if self.node_data is None else list(compress(self.node_data, nodes)),
        )

    def reverse(self, copy: bool = True) -> Graph:
        """`transposed`, like NetworkX's method. NetworkXError for an undirected graph."""
        if not self.directed:
            raise nx.NetworkXError("Cannot reverse an undirected graph.")
        return self.transposed

    @property
    def neighbour_positions(self) -> gb.Matrix:
        """The position of each neighbour in NetworkX's order, from 0: n x n, INT64."""
        place = lambda: np.arange(len(self.cols)) - np.repeat(self.ptr[:-1], np.diff(self.ptr))
        return self._cached_as("neighbour positions", lambda: of_entries(self, place()))

    def matrix(self, weight: str | None = None, parallel: str = "plus", default: float = 1) -> gb.Matrix:
        """The weights, n x n, INT64 or FP64; ones without `weight`. parallel: how parallel edges are merged, plus, min
        or max; sums that may exceed INT64 are FP64. default: the weight of edges without one.
        """

        def values() -> int | np.ndarray:
            if weight is None:
                return 1 if self.counts is None or parallel != "plus" else self.counts
            return entry_values(self, weight, parallel, default)

        return self._cached_as((weight, parallel, default), lambda: of_entries(self, values()))

    # ---- as NetworkX's graphs ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.labels)

    def __contains__(self, node: object) -> bool:
        return node in self._nodes

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.counts is not None

    def order(self) -> int:
        return len(self.labels)

    number_of_nodes = order

    def has_node(self, node: object) -> bool:
        return node in self

    def size(self, weight: str | None = None) -> Number:
        """The number of edges, or the sum of their weights as a float."""
        return len(self.edge_ends[0]) if weight is None else float(exact_sum(self.values_of(weight)))

    def number_of_edges(self, u: Node = None, v: Node = None) -> int:
        """The number of all edges, or of those from u to v."""
        if u is None:
            return int(self.size())
        row = slice(self.ptr[self.number[u]], self.ptr[self.number[u] + 1])
        found = self.cols[row] == self.number.get(v, -1)
        return int((found if self.counts is None else self.counts[row] * found).sum())

    def has_edge(self, u: Node, v: Node) -> bool:
        return u in self and self.number_of_edges(u, v) > 0

    def nbunch_iter(self, nbunch: NodeOrNodes = None) -> Iterator[Node]:
        """The nodes, or those of `nbunch` that exist. NetworkXError if it is neither a node nor nodes."""
        return nx.Graph.nbunch_iter(self._nodes, nbunch)

    @property
    def degree(self) -> Degrees:
        return Degrees(self, "in+out" if self.directed else "all")

    @property
    def in_degree(self) -> Degrees:
        return Degrees(self, "in")

    @property
    def out_degree(self) -> Degrees:
        return Degrees(self, "out")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or (not hasattr(nx.Graph, name) and not hasattr(nx.DiGraph, name)):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.networkx, name)

    @property
    def networkx(self) -> Any:
        """The equivalent NetworkX graph, frozen."""
        return self._cached_as(None, lambda: nx.freeze(to_networkx(self)))

    def __getitem__(self, node: Node) -> Any:
        return self.__getattr__("adj")[node]

    def __str__(self) -> str:
        """As NetworkX's."""
        kind = ("Multi" if self.is_multigraph() else "") + ("DiGraph" if self.directed else "Graph")
        named = f" named {self.graph['name']!r}" if self.graph.get("name") else ""
        return f"{kind}{named} with {len(self)} nodes and {self.number_of_edges()} edges"

    def __repr__(self) -> str:
        return f"<bitblas.nx {self}>"


class _Nodes:
    """The part of a graph that NetworkX's `nbunch_iter` reads, so that its messages are NetworkX's."""

    def __init__(self, number: dict[Node, int]) -> None:
        self._adj = number

    def __iter__(self) -> Iterator[Node]:
        return iter(self._adj)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self._adj
        except TypeError:  # unhashable, so not a node
            return False

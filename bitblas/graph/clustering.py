"""`Clustering`: a partition of the vertices into communities, with the methods of igraph's VertexClustering."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import extras
from ..exceptions import DimensionMismatch, InvalidValue

if TYPE_CHECKING:
    from .answers import Values
    from .graph import Graph

METHODS = ("vi", "nmi", "rand", "adjusted_rand")


class Clustering(Sequence[list[Hashable]]):
    """Communities of a graph, the largest first (ties: that of the smallest vertex). `clusters[k]` lists the names of
    community k; `len(clusters)` is their number, iteration gives one list after the other.

    Parameters
    ----------
    graph
        The graph. membership: INT64 array, the community of each vertex by number.
    """

    __slots__ = ("graph", "membership")

    def __init__(self, graph: Graph, labels: np.ndarray) -> None:
        kinds, first, which, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
        number = np.empty(len(kinds), np.int64)
        number[np.lexsort((first, -sizes))] = np.arange(len(kinds))
        self.graph, self.membership = graph, number[which]

    @classmethod
    def of(cls, values: Values) -> Clustering:
        """From a value for each vertex, equal in a community.

        Raises
        ------
        InvalidValue
            If a vertex has none.
        """
        index, labels = values.entries
        if len(index) != len(values.graph):
            raise InvalidValue(
                f"clustering: expected a community for each vertex, got {len(index)} of {len(values.graph)}"
            )
        return cls(values.graph, labels)

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.membership)

    def sizes(self) -> list[int]:
        """The number of vertices of each community."""
        return np.bincount(self.membership).tolist() if self.n else []

    def __len__(self) -> int:
        return int(self.membership.max(initial=-1)) + 1

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return [self.graph._name(v) for v in np.flatnonzero(self.membership == self._number(k)).tolist()]

    def __iter__(self) -> Iterator[list[Hashable]]:
        order = np.argsort(self.membership, kind="stable")
        parts = np.split(order, np.cumsum(self.sizes())[:-1]) if self.n else []
        return ([self.graph._name(v) for v in part.tolist()] for part in parts)

    def _number(self, k: int) -> int:
        if not -len(self) <= k < len(self):
            raise IndexError(f"clustering: expected a number from 0 to {len(self) - 1}, got {k}")
        return k % len(self)

    def modularity(self, *, weighted: bool = False, resolution: float = 1.0) -> float:
        """The modularity of the communities: `algorithms.modularity`. Directions of edges count if the graph is
        directed."""
        import bitblas as gb

        A = self.graph.matrix
        labels = gb.Vector.from_dense(self.membership, device=A.device.name)
        how: dict[str, Any] = {"directed": self.graph.directed, "weighted": weighted, "resolution": resolution}
        return float(gb.algorithms.modularity(A, labels, **how))

    def subgraph(self, k: int) -> Graph:
        """The graph of the vertices of one community and the edges between them."""
        return self.graph.subgraph(self[k])

    def subgraphs(self) -> list[Graph]:
        """The graph of each community."""
        return [self.graph.subgraph(names) for names in self]

    def giant(self) -> Graph:
        """The graph of the largest community.

        Raises
        ------
        InvalidValue
            Without vertices.
        """
        if not self.n:
            raise InvalidValue("clustering: expected a vertex, got none")
        return self.subgraph(0)

    def cluster_graph(self, dup_op: str = "plus") -> Graph:
        """The graph whose vertices are the communities, without the edges inside of them.

        Parameters
        ----------
        dup_op : optional
            Combines the weights of the edges between two communities (of an undirected graph, each edge
            once); a pattern counts edges.
        """
        import bitblas as gb

        from ..io.build import host_coo

        i, j, values = host_coo(self.graph.matrix)
        row, col = self.membership[i], self.membership[j]
        outside = row != col
        row, col, values = row[outside], col[outside], values[outside]
        values = values.astype(np.int64) if values.dtype == np.bool_ else values
        where: dict[str, Any] = {"nrows": len(self), "ncols": len(self), "device": self.graph.matrix.device.name}
        A = gb.Matrix.from_coo(row, col, values, dup_op=dup_op, **where)
        return type(self.graph)(A, directed=self.graph.directed)

    def compare_to(self, other: Clustering | Sequence[int], method: str = "vi") -> float:
        """The distance or similarity of two partitions of the same vertices.

        Parameters
        ----------
        other
            A Clustering, or the community of each vertex.
        method : optional
            "vi" (variation of information, in nats), "nmi" (mutual information divided by the mean of both
            entropies), "rand", "adjusted_rand".

        Raises
        ------
        ValueError
            method.
        DimensionMismatch

        Notes
        -----
        Meila: Comparing clusterings by the variation of information. COLT 2003. Hubert, Arabie: Comparing partitions.
        Journal of Classification 2 (1985).
        """
        if method not in METHODS:
            raise ValueError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
        labels = other.membership if isinstance(other, Clustering) else np.asarray(other)
        if labels.shape != self.membership.shape:
            raise DimensionMismatch(f"other: expected a community for each of {self.n} vertices, got {labels.shape}")
        second = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        width = int(second.max(initial=0)) + 1
        both = np.unique(self.membership * width + second, return_counts=True)[1]
        return _compared(method, self.n, both, np.bincount(self.membership), np.bincount(second))

    def to_igraph(self) -> Any:
        """An igraph.VertexClustering of `graph.to_igraph()`.

        Raises
        ------
        ImportError
            Without igraph.
        """
        igraph = extras.load("igraph", "to_igraph")
        return igraph.VertexClustering(self.graph.to_igraph(), self.membership.tolist())

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.sizes()[:5])) + ", .." * (len(self) > 5)
        return f"Clustering({self.n} vertices, {len(self)} communities of {sizes or 'no'} vertices)"


def _compared(method: str, n: int, both: np.ndarray, one: np.ndarray, two: np.ndarray) -> float:
    """From the sizes of the intersections, and of the communities of each partition."""
    if method in ("vi", "nmi"):
        h_both, h_one, h_two = (_entropy(part[part > 0] / max(1, n)) for part in (both, one, two))
        if method == "vi":
            return max(0.0, 2 * h_both - h_one - h_two)
        return 1.0 if not h_one + h_two else 2 * (h_one + h_two - h_both) / (h_one + h_two)
    pairs = lambda sizes: sum(k * (k - 1) // 2 for k in sizes.tolist())
    inside, first, second, every = pairs(both), pairs(one), pairs(two), n * (n - 1) // 2
    if not every:
        raise InvalidValue(f"compare_to: expected two vertices or more for {method!r}, got {n}")
    if method == "rand":
        return (every + 2 * inside - first - second) / every
    expected, most = first * second / every, (first + second) / 2
    return 1.0 if most == expected else (inside - expected) / (most - expected)


def _entropy(share: np.ndarray) -> float:
    return float(-(share * np.log(share)).sum())

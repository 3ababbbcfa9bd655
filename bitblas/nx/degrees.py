"""Degree views of `Graph`: `G.degree[u]`, `G.degree(nodes, weight="cost")`, iteration."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .sums import by_group

if TYPE_CHECKING:
    from .graph import Graph


class Degrees:
    """Degree view. side: "out", "in" or "in+out" of a directed graph, "all" of an undirected one, where a self loop
    counts 2.
    """

    def __init__(self, G: Graph, side: str, weight: str | None = None, nodes: Any = None) -> None:
        self._graph, self._side, self._weight, self._nodes = G, side, weight, nodes

    @property
    def array(self) -> np.ndarray:
        """The degree of every node: INT64, FP64 for float weights, or Python ints if sums may exceed INT64."""
        return self._graph._kept_as(("degree", self._side, self._weight), self._count)

    def _count(self) -> np.ndarray:
        G, side, weight = self._graph, self._side, self._weight
        rows, cols = G.edges_at
        if weight is None and G.counts is None and side in ("out", "all"):
            loops = rows[rows == cols]
            return np.diff(G.ptr) + (np.bincount(loops, minlength=len(G)) if side == "all" and len(loops) else 0)
        values = None if weight is None else G.values_of(weight)
        ends = (*(() if side == "in" else (rows,)), *(() if side == "out" else (cols,)))
        end = np.concatenate(ends)
        return (
            np.bincount(end, minlength=len(G)) if values is None else by_group(np.tile(values, len(ends)), end, len(G))
        )

    def __call__(self, nbunch: Any = None, weight: str | None = None) -> Any:
        """The degree of a node, or a view of the degrees of nodes, optionally weighted."""
        chosen = Degrees(self._graph, self._side, weight)
        if nbunch is None:
            return chosen
        if nbunch in self._graph:
            return chosen[nbunch]
        return Degrees(self._graph, self._side, weight, self._graph.nbunch_iter(nbunch))

    def __getitem__(self, node: Hashable) -> int | float:
        found = self.array[self._graph.number[node]]
        return found.item() if isinstance(found, np.generic) else found

    def __iter__(self) -> Iterator[tuple[Hashable, int | float]]:
        if self._nodes is None:
            return zip(self._graph.labels, self.array.tolist())
        return ((node, self[node]) for node in self._nodes)

    def __len__(self) -> int:
        return len(self._graph)

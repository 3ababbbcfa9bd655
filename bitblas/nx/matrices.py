"""Adjacency matrices of a `Graph`, and its entries by position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import bitblas as gb

from .numbering import ascending
from .sums import fits

if TYPE_CHECKING:
    from .graph import Graph

JOINS = {"plus": np.add, "min": np.minimum, "max": np.maximum}  # of parallel edges


def of_entries(G: Graph, values: Any) -> Any:
    """The matrix of one value, or of an array with a value per entry in NetworkX's order."""
    order, _ = _ascending(G)
    cols = G._kept_as("ascending columns", lambda: G.cols[order])
    found = values[order] if isinstance(values, np.ndarray) else values
    return gb.Matrix.from_csr(G.ptr, cols, found, ncols=len(G))


def entry_values(G: Graph, weight: str, parallel: str = "plus", default: float = 1) -> np.ndarray:
    """The weight of each entry, INT64 or FP64; parallel edges are merged by plus, min or max. Sums that may exceed
    INT64 are FP64.
    """
    values = G.values_of(weight, default)
    if G.counts is not None and len(values):
        if parallel == "plus" and not fits(values):
            values = values.astype(np.float64)
        counts = G.counts if G.kept is None else G.counts[G.kept]
        values = JOINS[parallel].reduceat(values, np.cumsum(counts) - counts)
    return values if G.kept is None else values[edges_of(G)]


def edges_of(G: Graph) -> np.ndarray:
    """The edge number of each entry of an undirected graph, parallel edges merged: INT64."""
    return G._kept_as("edge", lambda: _edges(G))


def entries_at(G: Graph, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """A BOOL mask of the entries at these existing positions. rows, cols: INT64."""
    order, n = _ascending(G)[0], len(G)
    found = np.zeros(len(order), bool)
    found[order[np.searchsorted(G.rows * n + G.cols[order], rows * n + cols)]] = True
    return found


def _ascending(G: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Permutations of the entries: by (row, column), and by (column, row)."""
    return G._kept_as("ascending", lambda: ascending(G.ptr, G.cols))


def _edges(G: Graph) -> np.ndarray:
    kept = np.asarray(G.kept)
    number = np.cumsum(kept) - 1
    order, across = _ascending(G)
    mirror = np.empty_like(order)  # the transposed entry: the one at the same position in (column, row) order
    mirror[order] = across
    return np.where(kept, number, number[mirror])

"""Edge direction and vertex numbering: the readers' defaults, and warnings when they look wrong.

Every reader makes its Graph through `graph_of` or `graph_of_matrix`, so all of them follow one rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exceptions import DimensionMismatch, warn
from ..graph import Graph, validation
from ..graph.edges import both_ways, has_all_reverse_edges
from .build import check_dup_op, warn_conflicting_directions

SPARSE, FEW = (
    10,
    1000,
)  # vertices look like ids above FEW numbers and SPARSE numbers per vertex with edges


def graph_of(source: str, A: Any, labels: Any, directed: bool | None, *, stated: bool | None = None) -> Graph:
    """The Graph of a matrix from a reader: directed unless directed=False or the source states that it is undirected.

    stated: what the source states; None: nothing. If neither `stated` nor `directed` is given, a warning reports that
    every edge is present in both directions. source: the name in the warning.
    """
    if directed is None and stated is None and has_all_reverse_edges(A):
        warn(
            f"{source}: every edge is present in both directions: pass directed=False if the graph is undirected, "
            "directed=True if not"
        )
    found = stated if directed is None else directed
    return Graph._of_names(A, labels, directed=True if found is None else found)


def graph_of_matrix(
    source: str,
    A: Any,
    labels: Any,
    directed: bool | None,
    *,
    stated: bool | None = None,
    dup_op: Any = None,
    **storage: Any,
) -> Graph:
    """The same for a file that stores a matrix; directed=False adds the reverse of each edge.

    If the two directions have different values, the smaller is kept, or dup_op combines them. storage: of the Matrix.
    """
    directed = validation.flag("directed", directed)
    if directed is False and not has_all_reverse_edges(A, loops=True):
        if A.nrows != A.ncols:
            raise DimensionMismatch(f"{source}: directed=False: expected a square matrix, got {A.nrows} x {A.ncols}")
        check_dup_op(dup_op)
        if dup_op is None and A.ewise_mult(A.T, "ne").new().reduce_scalar("lor").new().value:
            warn_conflicting_directions(source)
        A = both_ways(A, dup_op, **storage)
    return graph_of(source, A, labels, directed, stated=stated)


def check_numbering(source: str, size: int, lowest: int, used: Callable[[], int], *, base_given: bool) -> None:
    """Warn if vertex numbers look like ids, or as if they started at 1. Not called if the user gave a size.

    size: the number of vertices. lowest: the smallest vertex with an edge. used: counts the vertices with edges,
    exactly if they are fewer than a tenth.
    """
    if size > FEW and size > SPARSE * (found := used()):
        warn(
            f"{source}: {found} different vertex numbers, but {size} vertices, so that {size - found} have no edge: "
            "pass labels=True if these are ids, size= if this is intended"
        )
    elif lowest > 0 and size > 0 and not base_given:
        warn(f"{source}: vertex 0 has no edges: pass base=1 or labels=True; base=0 if this is intended")


def count_used(rows: np.ndarray, cols: np.ndarray, size: int) -> int:
    """The number of vertices with edges; a lower bound if it is more than a tenth of all."""
    if size > 2 * SPARSE * len(rows):
        return len(np.unique(np.concatenate([rows, cols])))
    there, found = np.zeros(size, bool), 0
    for part in (slice(0, size), slice(size, None)):  # the first edges usually suffice
        there[rows[part]] = there[cols[part]] = True
        found = int(np.count_nonzero(there))
        if size <= SPARSE * found:
            break
    return found


def count_used_in(A: Any) -> int:
    """The same for a square Matrix whose edges were read in chunks."""
    import bitblas as gb

    ends = A.reduce_rowwise(gb.monoid.any).new()
    if A.nrows > SPARSE * ends.nvals:  # the rows usually suffice
        ends = ends.ewise_add(A.reduce_columnwise(gb.monoid.any).new(), gb.monoid.any).new()
    return int(ends.nvals)

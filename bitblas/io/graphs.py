"""Make a Graph of the edges that a reader found: vertex numbering, direction, and warnings when defaults look wrong.

Every reader makes its Graph through `graph_of_edges`, `graph_of` or `graph_of_matrix`, so all of them follow one rule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from semirings import monoid

from ..core import Matrix
from ..exceptions import DimensionMismatch, InvalidValue, warn
from ..graph import Graph, validation
from ..graph.edges import both_ways, has_all_reverse_edges
from .build import Entries, MatrixOptions, build, check_dup_op, warn_conflicting_directions

# Vertex numbers look like ids above FEW vertices and SPARSE vertices per vertex with edges.
SPARSE, FEW = 10, 1000


class Numbering(NamedTuple):
    """How a file or table numbers its vertices: the arguments `base`, `size` and `labels` of its reader."""

    base: int | None = None
    size: int | None = None
    labels: bool | None = None

    @property
    def first(self) -> int:
        """The number of the first vertex. InvalidValue unless it is 0 or 1."""
        if self.base not in (None, 0, 1):
            raise InvalidValue(f"base: expected 0 or 1, got {self.base!r}")
        return self.base or 0

    def check(self, source: str, vertices: int, lowest: int, used: Callable[[], int]) -> None:
        """`check_numbering`, unless the user states what the numbers are."""
        if self.size is None and self.labels is None:
            check_numbering(source, vertices, lowest, used, base_given=self.base is not None)


def graph_of(
    source: str, A: Matrix, labels: Sequence[Hashable] | None, directed: bool | None, *, stated: bool | None = None
) -> Graph:
    """The Graph of a matrix from a reader: directed unless directed=False or the source states that it is undirected.

    stated: what the source states; None: nothing. If neither `stated` nor `directed` is given, a warning reports that
    every edge is present in both directions. source: the name in the warning.
    """
    if directed is None and stated is None and has_all_reverse_edges(A):
        warn(
            f"{source}: every edge is present in both directions: pass directed=False if the graph is undirected, "
            "directed=True if not"
        )
    known = stated if directed is None else directed
    return Graph._of_names(A, labels, directed=True if known is None else known)


def graph_of_edges(
    source: str,
    entries: Entries,
    vertices: int,
    labels: Sequence[Hashable] | None,
    directed: bool | None,
    options: MatrixOptions,
    where: Callable[[int, int], str] | None = None,
    early: int | None = None,
) -> Graph:
    """The Graph of edges between vertices from 0: `build`, then `graph_of`."""
    shape, ways = (vertices, vertices), directed is not False
    A = build(source, entries, shape, options, directed=ways, where=where, early=early)
    return graph_of(source, A, labels, directed)


def graph_of_matrix(
    source: str,
    A: Matrix,
    labels: Sequence[Hashable] | None,
    directed: bool | None,
    options: MatrixOptions,
    *,
    stated: bool | None = None,
) -> Graph:
    """The same for a file that stores a matrix; directed=False adds the reverse of each edge.

    If the two directions have different values, the smaller is kept, or dup_op combines them.
    """
    directed, dup_op = validation.flag("directed", directed), options.dup_op
    if directed is False and not has_all_reverse_edges(A, loops=True):
        if A.nrows != A.ncols:
            raise DimensionMismatch(f"{source}: directed=False: expected a square matrix, got {A.nrows} x {A.ncols}")
        check_dup_op(dup_op)
        if dup_op is None and has_conflicting_directions(A):
            warn_conflicting_directions(source)
        A = both_ways(A, dup_op, **options.storage)
    return graph_of(source, A, labels, directed, stated=stated)


def has_conflicting_directions(A: Matrix) -> bool:
    """Whether an edge is present in both directions with different values."""
    return bool(A.ewise_mult(A.T, "ne").new().reduce_scalar("lor").new().value)


def check_numbering(source: str, size: int, lowest: int, used: Callable[[], int], *, base_given: bool) -> None:
    """Warn if vertex numbers look like ids, or as if they started at 1. Not called if the user gave a size.

    size: the number of vertices. lowest: the smallest vertex with an edge. used: counts the vertices with edges,
    exactly if they are fewer than a tenth.
    """
    if size > FEW and size > SPARSE * (count := used()):
        warn(
            f"{source}: {count} different vertex numbers, but {size} vertices, so that {size - count} have no edge: "
            "pass labels=True if these are ids, size= if this is intended"
        )
    elif lowest > 0 and size > 0 and not base_given:
        warn(f"{source}: vertex 0 has no edges: pass base=1 or labels=True; base=0 if this is intended")


def count_used(rows: np.ndarray, cols: np.ndarray, size: int) -> int:
    """The number of vertices with edges; a lower bound if it is more than a tenth of all."""
    if size > 2 * SPARSE * len(rows):
        return len(np.unique(np.concatenate([rows, cols])))
    used, count = np.zeros(size, bool), 0
    for part in (slice(0, size), slice(size, None)):  # the first edges usually suffice
        used[rows[part]] = used[cols[part]] = True
        count = int(np.count_nonzero(used))
        if size <= SPARSE * count:
            break
    return count


def count_used_in(A: Matrix) -> int:
    """The same for a square Matrix whose edges were read in chunks."""
    ends = A.reduce_rowwise(monoid.any).new()
    if A.nrows > SPARSE * ends.nvals:  # the rows usually suffice
        ends = ends.ewise_add(A.reduce_columnwise(monoid.any).new(), monoid.any).new()
    return int(ends.nvals)

"""Closeness and harmonic centrality: how near a vertex is to the vertices that reach it.

Method: breadth-first searches from all vertices, 64 at once (`_parts.py`). The bits that a round adds at a
vertex are sources at the same distance, so counting them updates both sums. With weights, shortest paths against the
edges from 64 vertices at once, as the rows of a matrix.

State: reached[v] is the number of vertices that reach v, and total[v] the sum of their distances, or of the inverse
distances; FP64, full.

Input: any square A. A stored entry A[i, j] is the edge i -> j, of length 1 unless weighted. Paths lead to the vertex.

Check: NetworkX's closeness_centrality and harmonic_centrality.

Freeman: Centrality in social networks, conceptual clarification. Social Networks 1 (1979).
Wasserman, Faust: Social network analysis. Cambridge 1994, for graphs that are not connected.
Marchiori, Latora: Harmony in the small-world. Physica A 285 (2000).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm, on_device_of_matrix
from .._parts import MultiSourceSearch, batches, count_bits
from ..paths.all_pairs import distances_from_each
from ..paths.bfs import searched_levels
from ..paths.sssp import facts_of


@algorithm(answer="value per vertex", work="sources")
def closeness_centrality(A, *, improved=True, weighted=False, gb=None):
    """The inverse of the mean distance to each vertex, over the vertices that reach it.

    A: Matrix, n x n, any dtype. improved: bool, scale by the fraction of the other vertices that reach it, so that
    vertices of small components do not rank first. weighted: bool, whether values are the lengths of the edges, 0 or
    more. gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full: 0 at a vertex that no other vertex reaches.
    Raises InvalidValue (a length out of range), DimensionMismatch (A not square), TypeError (wrong types).
    """
    n = A.nrows
    check.flag("improved", improved)
    reached, total = (x.to_dense() for x in distance_sums(A, weighted=weighted, gb=gb))
    # c = reached / total, times reached / (n - 1)
    c = reached / (total + (total == 0)) * (total > 0)
    return gb.Vector.from_dense(c * (reached / max(1, n - 1)) if improved else c)


@algorithm(answer="value per vertex", work="sources")
def harmonic_centrality(A, *, weighted=False, gb=None):
    """The sum of the inverse distances to each vertex, over all vertices that reach it.

    A: Matrix, n x n, any dtype. weighted: bool, whether values are the lengths of the edges, 0 or more; a distance of 0
    contributes 0. gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full.
    Raises InvalidValue (a length out of range), DimensionMismatch (A not square), TypeError (wrong types).
    """
    return distance_sums(A, inverse=True, weighted=weighted, gb=gb)[1]


@on_device_of_matrix
def distance_sums(A, *, inverse=False, weighted=False, gb=None):
    """The vectors reached and total of the module's State."""
    work = loops.shared_work()
    if check.flag("weighted", weighted):
        check.weights(gb, A)
        FP64, plus = gb.dtypes.FP64, gb.monoid.plus[gb.dtypes.FP64]
        if A.dtype != gb.dtypes.BOOL and loops.cached(facts_of, A, gb)[2] >= 2**63:
            A = A.dup(FP64)  # integer distances could exceed 2^63
        reached, total = gb.Vector.from_scalar(0.0, A.nrows), gb.Vector.from_scalar(0.0, A.nrows)
        for to in work.part(batches(A.nrows)):
            # D[k, :] = the distances to vertex to[k] from all vertices that reach it, itself included
            D = distances_from_each(A.T, list(to), gb=gb)
            # reached[to] += the entries of each row, less itself; total[to] += the row sums of D, or of 1 / D
            part = slice(to.start, to.stop)
            reached(plus)[part] << D.apply(gb.unary.one[FP64]).new().reduce_rowwise(plus).new()
            D = D.apply(gb.unary.identity[FP64]).new()
            D << D.select(gb.select.valuegt, 0.0)
            if inverse:
                D << D.apply(gb.binary.truediv, left=1.0)
            total(plus)[part] << D.reduce_rowwise(plus).new()
            loops.report(len(to), total=A.nrows)
        reached, total = work.total(reached), work.total(total)
        reached(plus) << -1.0
        return reached, total
    if loops.searches_by_columns(A):
        return _by_levels(A, work, inverse, gb)
    loop = loops.cached_loop(_searching, A, gb, inverse)
    searches, reached, total = (loop.state[name] for name in ("searches", "reached", "total"))
    reached << 0.0
    total << 0.0
    for sources in work.part(batches(A.nrows)):
        searches.start(sources)
        loop.run()
    return work.total(loop.result(reached)), work.total(loop.result(total))


def _by_levels(A, work, inverse, gb):
    """The same by the levels of 64 searches at once, whose rounds cost what is active."""
    FP64, plus, n = gb.dtypes.FP64, gb.monoid.plus[gb.dtypes.FP64], A.nrows
    # reached = -1: the vertex itself
    reached, total = gb.Vector.from_scalar(0.0, n), gb.Vector.from_scalar(0.0, n)
    for sources in work.part(batches(n)):
        # reached += the entries of each column of V; total += their sums, or those of 1 / V
        with loops.silenced():
            V = searched_levels(A, list(sources), gb)
        reached(plus) << V.apply(gb.unary.one[FP64]).new().reduce_columnwise(plus)
        if inverse:
            V = V.apply(gb.unary.identity[FP64]).new()
            V << V.select(gb.select.valuegt, 0.0)
            V << V.apply(gb.binary.truediv, left=1.0)
        total(plus) << V.reduce_columnwise(plus)
        loops.report(len(sources), total=n)
    reached, total = work.total(reached), work.total(total)
    reached(plus) << -1.0
    return reached, total


def _searching(A, gb, inverse):
    FP64, binary = gb.dtypes.FP64, gb.binary
    searches = MultiSourceSearch(A, gb)
    bits, t = gb.Vector(gb.dtypes.UINT64, A.nrows), gb.Vector(gb.dtypes.UINT64, A.nrows)
    reached, total, found = (gb.Vector(FP64, A.nrows) for _ in range(3))
    weight = gb.Scalar(FP64)

    def body(_):
        searches.step(back=False)
        # found = popcount(fresh)
        bits << searches.fresh
        count_bits(bits, t, gb)
        found << bits
        # reached += found; total += found * depth, or found / depth
        reached(binary.plus) << found
        weight << (searches.depth.apply(binary.truediv, left=1.0) if inverse else searches.depth)
        found << found.apply(binary.times, right=weight)
        total(binary.plus) << found

    return {"body": body, "while_": searches.going, "searches": searches, "reached": reached, "total": total}

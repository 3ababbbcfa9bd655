"""Modularity: the fraction of edges inside communities, minus the fraction expected at random.

Method: with S[v, c] = 1 for v in community c, M = S' A S holds the weights between communities. With m the total
weight, Q = sum over c of (M[c, c] / m - resolution * row[c] * column[c] / m^2), where row and column are the sums of M.

State: M has an entry for each pair of communities with an edge between them, FP64.

Input: any square A with values of 0 or more. Directed: A[i, j] is the edge i -> j. An undirected graph has each edge
both ways and a self loop once, which counts as both.

Check: NetworkX's modularity.

Newman, Girvan: Finding and evaluating community structure in networks. Physical Review E 69 (2004).
Leicht, Newman: Community structure in directed networks. Physical Review Letters 100 (2008).
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import index_range


@algorithm(answer="number", arrays=(40, 12))
def modularity(A, labels, *, directed=False, weighted=False, resolution=1.0, gb=None):
    """The modularity of a partition of the vertices into communities.

    A: Matrix, n x n, any dtype. labels: Vector of size n, full, integers from 0 to n - 1: vertices with the same label
    are a community. directed: bool, whether edges are directed: if not, a self loop counts twice, for its two ends.
    weighted: bool, whether the values of A (0 or more) are weights. resolution: float >= 0; larger values favour
    smaller communities. gb: the library, bitblas if None.
    Returns a Python float, at most 1; 0 for a graph without edges.
    Raises InvalidValue (labels or resolution out of range, a weight below 0), DimensionMismatch (A not square, labels
    of another size), TypeError (wrong types).
    """
    n = A.nrows
    label = check.labels(gb, "labels", labels, n)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    check.flag("directed", directed)
    hint = "1 is the default"
    resolution = check.number(gb, "resolution", resolution, lambda x: 0 <= x < float("inf"), "0 or more", hint)
    return quality(between(weights(A, weighted, gb, directed), label, n, gb), resolution, gb)


def weights(A, weighted, gb, directed=False):
    """A with its values or with ones: FP64. Self loops count twice unless directed."""
    FP64 = gb.dtypes.FP64
    W = A.apply(gb.unary.identity[FP64] if weighted else gb.unary.one[FP64]).new()
    self_loops = W.select(gb.select.diag).new()
    # W += diag(W)
    if not directed and self_loops.nvals:
        W(gb.binary.plus) << self_loops
    return W


def to_communities(A, vertex, label, count, gb):
    """A plus.first S: the weight from each vertex to each community. label: an array of labels below count; vertex: 0
    to n - 1.
    """
    S = gb.Matrix.from_coo(vertex, label, True, nrows=A.ncols, ncols=count)
    return A.mxm(S, gb.semiring.plus_first[gb.dtypes.FP64]).new()


def between(A, label, count, gb):
    """S' A S: the weight between each pair of communities, for an array of labels below count."""
    i, j, w = to_communities(A, index_range(A.ncols, gb), label, count, gb).to_coo()
    return gb.Matrix.from_coo(label[i], j, w, nrows=count, ncols=count, dup_op=gb.binary.plus)


def quality(M, resolution, gb):
    """The modularity, from the weights M between communities."""
    plus = gb.monoid.plus
    # row, column = the sums of M; m = sum(row); Q = trace(M) / m - resolution sum(row .* column) / m^2
    row = M.reduce_rowwise(plus).new().to_dense(0.0)
    column = M.reduce_columnwise(plus).new().to_dense(0.0)
    m, inside = float(row.sum()), float(M.diag().to_dense(0.0).sum())
    return inside / m - resolution * float((row / m * (column / m)).sum()) if m else 0.0

"""Modularity: the fraction of edges inside communities, minus the fraction expected at random.

Method: with S[v, c] = 1 where v is in community c, M = S' A S holds the weights between any two communities. With m the
sum of all, Q is the share of m on the diagonal, less what would be there by chance, the products of row and column
sums: Q = sum over c of (M[c, c] / m - resolution * row[c] * column[c] / m^2).

State: M has an entry for each two communities with an edge between them, FP64.

Input: any square A with values of 0 or more. Directed: A[i, j] is the edge i -> j; an undirected graph has each edge
both ways, and a self loop once, which counts as both.

Check: NetworkX's modularity.

Newman, Girvan: Finding and evaluating community structure in networks. Physical Review E 69 (2004).
Leicht, Newman: Community structure in directed networks. Physical Review Letters 100 (2008).
"""

from .. import _check as check
from .._parts import numbers


@check.on_its_device
def modularity(A, labels, *, directed=False, weighted=False, resolution=1.0, gb=None):
    """The modularity of a division of a graph into communities.

    A: Matrix, n x n, any dtype. labels: Vector of size n, full, integers from 0 to n - 1: vertices with the same one
    are a community. directed: bool, whether edges have a direction: if not, a self loop counts twice, as its ends do.
    weighted: bool, whether the values of A (0 or more) are weights. resolution: float >= 0; above 1 smaller communities
    are better. gb: the library, bitblas if None.
    Returns a Python float, at most 1; 0 for a graph without edges.
    Raises InvalidValue (labels or resolution out of range, a weight below 0), DimensionMismatch (A not square, another
    size of labels), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    label = check.labels(gb, "labels", labels, n)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    check.flag("directed", directed)
    hint = "1 is the default"
    resolution = check.number(gb, "resolution", resolution, lambda x: 0 <= x < float("inf"), "0 or more", hint)
    return quality(between(weights(A, weighted, gb, directed), label, n, gb), resolution, gb)


def weights(A, weighted, gb, directed=False):
    """A with its values, or with ones: FP64; without directions a self loop counts twice."""
    FP64 = gb.dtypes.FP64
    W = A.apply(gb.unary.identity[FP64] if weighted else gb.unary.one[FP64]).new()
    loops = W.select(gb.select.diag).new()
    # W += diag(W)
    if not directed and loops.nvals:
        W(gb.binary.plus) << loops
    return W


def to_communities(A, vertex, label, count, gb):
    """A plus.first S: the weight of the edges from each vertex to each community, for an array of labels below count;
    vertex: 0 to n - 1."""
    S = gb.Matrix.from_coo(vertex, label, True, nrows=A.ncols, ncols=count)
    return A.mxm(S, gb.semiring.plus_first[gb.dtypes.FP64]).new()


def between(A, label, count, gb):
    """S' A S: the weight of the edges from each community to each other, for an array of labels below count."""
    i, j, w = to_communities(A, numbers(A.ncols, gb), label, count, gb).to_coo()
    return gb.Matrix.from_coo(label[i], j, w, nrows=count, ncols=count, dup_op=gb.binary.plus)


def quality(M, resolution, gb):
    """The modularity of communities between which M has the weights."""
    plus = gb.monoid.plus
    # row, column = the sums of M; m = sum(row)
    row = M.reduce_rowwise(plus).new().to_dense(0.0)
    column = M.reduce_columnwise(plus).new().to_dense(0.0)
    m, inside = float(row.sum()), float(M.diag().to_dense(0.0).sum())
    return inside / m - resolution * float((row / m * (column / m)).sum()) if m else 0.0

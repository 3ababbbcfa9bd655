"""Adamic-Adar and resource allocation: shared neighbours, weighted down by their degree.

Method: A D plus.first A', where column k of A D has the value of neighbour k: 1 / log(d[k]) or 1 / d[k].

State: the product has an entry for each pair of vertices with a common neighbour, or for each requested pair.

Input: A with a symmetric structure; values and dtype are ignored.

Check: NetworkX's adamic_adar_index and resource_allocation_index.

Adamic, Adar: Friends and neighbors on the web. Social Networks 25 (2003).
Zhou, Lu, Zhang: Predicting missing links via local information. European Physical J. B 71 (2009).
"""

from .._algorithm import algorithm
from .._parts import degrees
from .neighbors import best_scores, common_neighbor_scores


@algorithm(graph="undirected", answer="value per pair", arrays=(16, 40))
def adamic_adar(A, *, pairs=None, top=None, gb=None):
    """The sum of 1 / log(degree) over the common neighbours of two vertices.

    A: Matrix, n x n, any dtype, symmetric structure (checked). pairs: Matrix, n x n, whose entries (u, v) are the pairs
    to compare; None: all vertices that share a neighbour. top: int >= 1, only the best scores of each u; None: all. gb:
    the library, bitblas if None.
    Returns a Matrix, n x n, FP64: no entry without a common neighbour, nor at (v, v) unless pairs has it; a neighbour
    of degree 1 counts 0.
    Raises InvalidValue (A not symmetric, top out of range), DimensionMismatch (A not square, pairs of another size),
    TypeError.
    """
    # D[k] = 1 / log(d[k]), 0 for degree 1: such a vertex is no common neighbour of two vertices
    d = degrees(A, gb)
    logarithms = gb.Vector.from_dense(d.clip(2) * 1.0).apply(gb.unary.log).new().to_dense()
    return _weighted(A, (d > 1) / logarithms, pairs, top, gb)


@algorithm(graph="undirected", answer="value per pair", arrays=(16, 40))
def resource_allocation(A, *, pairs=None, top=None, gb=None):
    """The sum of 1 / degree over the common neighbours of two vertices.

    A: Matrix, n x n, any dtype, symmetric structure (checked). pairs, top, gb: as for `adamic_adar`.
    Returns a Matrix, n x n, FP64: no entry without a common neighbour, nor at (v, v) unless pairs has it.
    Raises InvalidValue (A not symmetric, top out of range), DimensionMismatch (A not square, pairs of another size),
    TypeError.
    """
    # D[k] = 1 / d[k]
    return _weighted(A, 1 / degrees(A, gb).clip(1), pairs, top, gb)


def _weighted(A, value, pairs, top, gb):
    n = A.nrows
    # B = A D; S<pairs> = B plus.first A'
    i, k, _ = A.to_coo(values=False)
    B = gb.Matrix.from_coo(i, k, value[k], gb.dtypes.FP64, nrows=n, ncols=n)
    u, v, score = common_neighbor_scores(B, A, gb.semiring.plus_first[gb.dtypes.FP64], pairs, gb)
    return best_scores(u, v, score, n, top, gb)

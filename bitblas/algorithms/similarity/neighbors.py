"""Jaccard, overlap, cosine similarity, Adamic-Adar and resource allocation: shared neighbours, counted and weighted.

Method: C = A plus.pair A' counts the common neighbours of two vertices; the scores are C / (d[u] + d[v] - C),
C / min(d[u], d[v]) and C / sqrt(d[u] d[v]), with degrees d.

State: C has an entry for each pair of vertices with a common neighbour, or for each requested pair.

Input: any square A; dtype and values are ignored. Directed: the neighbours of u are the entries of A[u, :].

Check: neighbour sets, pair by pair; NetworkX's adamic_adar_index and resource_allocation_index.

Jaccard: The distribution of the flora in the alpine zone. New Phytologist 11 (1912).
Salton, McGill: Introduction to modern information retrieval. McGraw-Hill 1983, for the cosine.
Adamic, Adar: Friends and neighbors on the web. Social Networks 25 (2003).
Zhou, Lu, Zhang: Predicting missing links via local information. European Physical J. B 71 (2009).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import cost_of_rows, degrees, index_range, rows_of

# ---- Scores of vertex pairs by common neighbours, and the best scores of each row.


def common_neighbor_scores(A, B, ring, pairs, gb, work):
    """A ring B' at the entries of `pairs`, or everywhere except (v, v): rows, columns, values; of a rank's rows."""
    n = A.nrows
    if pairs is None:
        rows = work.rows(n, lambda: cost_of_rows(A, degrees(A, gb) * 0, degrees(B, gb), gb))
        C = rows_of(A, rows).mxm(B.T, ring).new()
        C << C.select(gb.select.offdiag, rows.start)
    else:
        if check.square(gb, pairs, "pairs") != n:
            raise gb.exceptions.DimensionMismatch(
                f"argument pairs: expected a Matrix of {n} rows and columns, got {pairs.nrows}. "
                f"Hint: each entry (u, v) is a pair of vertices to compare."
            )
        rows = work.rows(n, lambda: cost_of_rows(pairs, degrees(A, gb), degrees(B, gb), gb))
        C = rows_of(A, rows).mxm(B.T, ring).new(mask=rows_of(pairs, rows).S)
    check.memory(A, f"similarity: scores of {C.nvals} pairs of vertices", 48 * C.nvals)
    i, j, score = C.to_coo()
    return i + i.dtype.type(rows.start), j, score


def best_scores(i, j, score, n, top, gb):
    """The n x n Matrix of the scores; with `top`, only the best of each row, ties to the lowest columns."""
    if top is not None:
        top = check.count(gb, "top", top, "None gives all")
        order = (-score).argsort(kind="stable")
        order = order[i[order].argsort(kind="stable")]
        i, j, score = i[order], j[order], score[order]
        # keep positions below top within each row, after sorting by row and falling score
        place = index_range(len(i), gb)
        first = gb.Vector.from_coo(i, place, size=n, dup_op=gb.binary.min).to_dense(0)
        kept = place - first[i] < top
        i, j, score = i[kept], j[kept], score[kept]
    return gb.Matrix.from_coo(i, j, score, gb.dtypes.FP64, nrows=n, ncols=n)


# ---- Jaccard, overlap and cosine similarity.


@algorithm(answer="value per pair", arrays=(8, 24), work="rows")
def jaccard(A, *, pairs=None, top=None, gb=None):
    """The Jaccard similarity of vertices: common neighbours over the union of the neighbourhoods.

    A: Matrix, n x n, any dtype. pairs: Matrix, n x n, whose entries (u, v) are the pairs to compare; None: all vertices
    that share a neighbour. top: int >= 1, only the best scores of each u; None: all. gb: the library, bitblas if None.
    Returns a Matrix, n x n, FP64, values above 0; no entry without a common neighbour, nor at (v, v) unless pairs has
    it.
    Raises InvalidValue (top out of range), DimensionMismatch (A not square, pairs of another size), TypeError.
    """
    return _scaled(A, pairs, top, gb, lambda c, d, e: c / (d + e - c))


@algorithm(answer="value per pair", arrays=(8, 24), work="rows")
def overlap(A, *, pairs=None, top=None, gb=None):
    """The overlap coefficient of vertices: common neighbours over the smaller neighbourhood.

    A: Matrix, n x n, any dtype. pairs, top, gb: as for `jaccard`.
    Returns a Matrix, n x n, FP64, values above 0; no entry without a common neighbour, nor at (v, v) unless pairs has
    it.
    Raises InvalidValue (top out of range), DimensionMismatch (A not square, pairs of another size), TypeError.
    """
    return _scaled(A, pairs, top, gb, lambda c, d, e: c / d.clip(max=e))


@algorithm(answer="value per pair", arrays=(8, 24), work="rows")
def cosine(A, *, pairs=None, top=None, gb=None):
    """The cosine similarity of vertices, their rows taken as 0/1 vectors.

    A: Matrix, n x n, any dtype. pairs, top, gb: as for `jaccard`.
    Returns a Matrix, n x n, FP64, values above 0; no entry without a common neighbour, nor at (v, v) unless pairs has
    it.
    Raises InvalidValue (top out of range), DimensionMismatch (A not square, pairs of another size), TypeError.
    """
    return _scaled(A, pairs, top, gb, lambda c, d, e: c / (d * 1.0 * e) ** 0.5)


def _scaled(A, pairs, top, gb, score):
    n = A.nrows
    # C<pairs> = A plus.pair A'; d = A plus.pair 1
    work = loops.shared_work()
    u, v, c = common_neighbor_scores(A, A, gb.semiring.plus_pair[gb.dtypes.INT64], pairs, gb, work)
    d = degrees(A, gb)
    # S = score(C, d[u], d[v])
    return work.union(best_scores(u, v, score(c, d[u], d[v]), n, top, gb))


# ---- Adamic-Adar and resource allocation: shared neighbours, weighted down by their degree.
#
# Method: A D plus.first A', where column k of A D has the value of neighbour k: 1 / log(d[k]) or 1 / d[k].
#
# State: the product has an entry for each pair of vertices with a common neighbour, or for each requested pair.
#
# Input: A with a symmetric structure; values and dtype are ignored.


@algorithm(graph="undirected", answer="value per pair", arrays=(16, 40), work="rows")
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


@algorithm(graph="undirected", answer="value per pair", arrays=(16, 40), work="rows")
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
    work = loops.shared_work()
    u, v, score = common_neighbor_scores(B, A, gb.semiring.plus_first[gb.dtypes.FP64], pairs, gb, work)
    return work.union(best_scores(u, v, score, n, top, gb))

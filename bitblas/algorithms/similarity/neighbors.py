"""Jaccard, overlap and cosine similarity of neighbourhoods.

Method: C = A plus.pair A' counts the neighbours that two vertices share, and their degrees d scale it: to
C / (d[u] + d[v] - C), C / min(d[u], d[v]), or C / sqrt(d[u] d[v]).

State: C has an entry for each two vertices with a common neighbour, or of those pairs that are asked for.

Input: any square A; an edge is a stored entry, whatever its dtype and value. Directed: the neighbours of u are those
that A[u, :] has.

Check: sets of neighbours, pair by pair.

Jaccard: The distribution of the flora in the alpine zone. New Phytologist 11 (1912).
Salton, McGill: Introduction to modern information retrieval. McGraw-Hill 1983, for the cosine.
"""

from .. import _check as check
from .._parts import degrees
from ._pairs import best, common


@check.on_its_device
def jaccard(A, *, pairs=None, top=None, gb=None):
    """The Jaccard similarity of vertices: of the neighbours that either has, the share that both have.

    A: Matrix, n x n, any dtype. pairs: Matrix, n x n: the entries (u, v) are the pairs to compare; None: all vertices
    that share a neighbour. top: int >= 1: for each u only the so many best; None: all. gb: the library, bitblas if
    None.
    Returns a Matrix, n x n, FP64: the similarities, which are above 0; no entry where no neighbour is shared, nor at
    (v, v) unless pairs has it.
    Raises InvalidValue (top out of range), DimensionMismatch (A not square, pairs of another size), TypeError.
    """
    return _scaled(A, pairs, top, gb, lambda c, d, e: c / (d + e - c))


@check.on_its_device
def overlap(A, *, pairs=None, top=None, gb=None):
    """The overlap coefficient of vertices: of the neighbours of the one with fewer, the share that the other one has.

    A: Matrix, n x n, any dtype. pairs, top, gb: as for `jaccard`.
    Returns a Matrix, n x n, FP64: the similarities, which are above 0; no entry where no neighbour is shared, nor at
    (v, v) unless pairs has it.
    Raises InvalidValue (top out of range), DimensionMismatch (A not square, pairs of another size), TypeError.
    """
    return _scaled(A, pairs, top, gb, lambda c, d, e: c / d.clip(max=e))


@check.on_its_device
def cosine(A, *, pairs=None, top=None, gb=None):
    """The cosine similarity of vertices: of their rows as vectors of zeros and ones.

    A: Matrix, n x n, any dtype. pairs, top, gb: as for `jaccard`.
    Returns a Matrix, n x n, FP64: the similarities, which are above 0; no entry where no neighbour is shared, nor at
    (v, v) unless pairs has it.
    Raises InvalidValue (top out of range), DimensionMismatch (A not square, pairs of another size), TypeError.
    """
    return _scaled(A, pairs, top, gb, lambda c, d, e: c / (d * 1.0 * e) ** 0.5)


def _scaled(A, pairs, top, gb, score):
    gb = check.library(gb)
    n = check.square(gb, A)
    # C<pairs> = A plus.pair A'; d = A plus.pair 1
    u, v, c = common(A, A, gb.semiring.plus_pair[gb.dtypes.INT64], pairs, gb)
    d = degrees(A, gb)
    # S = score(C, d[u], d[v])
    return best(u, v, score(c, d[u], d[v]), n, top, gb)

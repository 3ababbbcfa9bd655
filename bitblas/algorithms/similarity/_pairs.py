"""Scores of vertex pairs by common neighbours, and the best scores of each row."""

from .. import _check as check
from .._parts import index_range


def common(A, B, ring, pairs, gb):
    """A ring B' at the entries of `pairs`, or everywhere except (v, v): rows, columns, values."""
    n = A.nrows
    if pairs is None:
        C = A.mxm(B.T, ring).new()
        C << C.select(gb.select.offdiag)
    else:
        if check.square(gb, pairs, "pairs") != n:
            raise gb.exceptions.DimensionMismatch(
                f"argument pairs: expected a Matrix of {n} rows and columns, got {pairs.nrows}. "
                f"Hint: each entry (u, v) is a pair of vertices to compare."
            )
        C = A.mxm(B.T, ring).new(mask=pairs.S)
    check.memory(A, f"similarity: scores of {C.nvals} pairs of vertices", 48 * C.nvals)
    return C.to_coo()


def best(i, j, score, n, top, gb):
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

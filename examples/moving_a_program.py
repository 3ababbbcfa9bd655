"""The same program text on python-graphblas and on bitblas. Run with: python examples/moving_a_program.py

Needs python-graphblas: pip install '.[compare]'
"""

import graphblas

import bitblas


def nearest(gb, A, sources):
    """Distances from the nearest of `sources`, by rounds of relaxation (Bellman and Ford)."""
    d = gb.Vector.from_coo(sources, 0.0, dtype=gb.dtypes.FP64, size=A.nrows)
    for _ in range(A.nrows):
        before = d.dup()
        d(gb.binary.min) << d.vxm(A, gb.semiring.min_plus)
        if d.isequal(before):
            break
    return d


def within(gb, A, sources, limit):
    """The edges between vertices that are at most `limit` away, and their mean length."""
    near = nearest(gb, A, sources).select("<=", limit)
    keep = near.to_coo()[0]
    B = A[keep, keep].new()
    return B.nvals, B.reduce_scalar(gb.monoid.plus).value / B.nvals


rows = [0, 0, 1, 1, 2, 3, 4, 4, 5]
cols = [1, 2, 2, 3, 4, 5, 5, 6, 6]
lengths = [4.0, 1.5, 0.5, 3.0, 2.0, 1.0, 2.5, 7.0, 1.0]

answers = {}
for gb in (graphblas, bitblas):
    A = gb.Matrix.from_coo(rows, cols, lengths, nrows=7, ncols=7)
    answers[gb.__name__] = nearest(gb, A, [0, 3]).to_dict(), within(gb, A, [0, 3], 4.0)
    print(f"{gb.__name__:10}", *answers[gb.__name__])
assert answers["graphblas"] == answers["bitblas"]

# Objects move too.
there = bitblas.io.to_graphblas(A)
assert bitblas.io.from_graphblas(there).isequal(A)

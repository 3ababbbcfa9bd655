"""An algorithm of your own: the k-truss of a graph, checked edge by edge. Run with: python examples/own_algorithm.py

A k-truss is the largest subgraph in which every edge is in at least k - 2 triangles (Cohen 2008): a way to find the
parts of a network that hold together. Needs python-graphblas for the comparison at the end.
"""

import bitblas as gb


def k_truss(A, k, *, gb=gb):
    """The k-truss of an undirected graph without loops: a Matrix, INT64, its values the triangles of each edge."""
    C = A.dup(gb.dtypes.INT64)
    while True:
        before = C.nvals
        # triangles<C> = C plus.pair C: for each edge, the common neighbours of its ends; nowhere else
        triangles = C.mxm(C, gb.semiring.plus_pair[gb.dtypes.INT64]).new(mask=C.S)
        C = triangles.select(">=", k - 2).new()
        if C.nvals == before:
            return C


# A clique of five (0 .. 4), a triangle hanging on it (4, 5, 6), and a path.
edges = [(i, j) for i in range(5) for j in range(i)] + [(4, 5), (5, 6), (6, 4), (6, 7), (7, 8)]
rows, cols = zip(*edges, *[(j, i) for i, j in edges])
A = gb.Matrix.from_coo(rows, cols, True, nrows=9, ncols=9)

for k in (3, 4, 5, 6):
    T = k_truss(A, k)
    vertices = sorted({int(i) for i, _ in T})
    print(f"{k}-truss: {T.nvals // 2} edges, vertices {vertices}")
    # The definition, by hand: every edge that is left closes at least k - 2 triangles with edges that are left.
    left = set(T)
    for i, j in left:
        assert sum((i, v) in left and (v, j) in left for v in vertices) == T[i, j].value >= k - 2

assert sorted({i for i, _ in k_truss(A, 3)}) == [0, 1, 2, 3, 4, 5, 6]  # the path is in no triangle
assert sorted({i for i, _ in k_truss(A, 5)}) == [0, 1, 2, 3, 4]  # the clique
assert k_truss(A, 6).nvals == 0


# The program uses nothing that python-graphblas has not: there it gives the same.
def compare():
    import graphblas

    B = graphblas.Matrix.from_coo(rows, cols, True, nrows=9, ncols=9)
    for k in (3, 4, 5, 6):
        assert k_truss(B, k, gb=graphblas).isequal(gb.io.to_graphblas(k_truss(A, k)))


compare()

"""Connected components: which vertices can reach each other in an undirected graph.

Method: FastSV. Every vertex points to a parent with a number not above its own; pointers only ever fall, and stay
inside the component. A round looks at the grandparents of the neighbours, hooks the smallest one to the vertex and to
its parent, and shortens all paths; in practice a few rounds are enough, also on long paths.

State: f[u] is the parent of u, gf[u] its grandparent, both full. P is the pointer graph, P[u, f[u]] = 1, always n
entries: P x gathers x at the parents, P' x scatters x to them, and where several meet the smallest wins.

Input: A with a symmetric structure (each edge stored both ways); values and dtype do not matter. On other matrices the
answer is not promised to be the weak components.

Zhang, Azad, Buluc: Parallel algorithms for finding connected components using linear algebra. JPDC 144 (2020).
Zhang, Azad, Hu: FastSV: a distributed-memory connected component algorithm with fast convergence. SIAM PP 2020.
"""

from . import _check as check


@check.on_its_device
def connected_components(A, *, gb=None):
    """The smallest vertex number of the component of each vertex.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: two vertices are connected exactly if their labels are equal.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    minimum, INT64 = gb.binary.min, gb.dtypes.INT64
    min_second = gb.semiring.min_second[INT64]  # typed, or labels would become floats next to a matrix of floats

    # f[u] = u
    f = gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new()
    P = _pointers(f, gb)
    gf, low, before = f.dup(), f.dup(), gb.Vector(INT64, n)

    # If a round leaves gf as it is, gf[u] = f[f[u]] <= f[u] <= low[u] <= gf[v] for each neighbour v of u, and the same
    # the other way round: gf is constant on a component, and its smallest vertex has never pointed but to itself.
    while not gf.isequal(before):
        before << gf
        # low = gf min (A min.second gf)
        low << gf
        low(minimum) << A.mxv(gf, min_second)
        # f min= P' min.second low: hook the parents
        f(minimum) << P.T.mxv(low, min_second)
        # f min= low: hook the vertices, and shorten, since low <= gf
        f(minimum) << low
        # gf = P min.second f, with the P of the new f
        P = _pointers(f, gb)
        gf << P.mxv(f, min_second)
    return gf


def _pointers(f, gb):
    """The matrix with P[u, f[u]] = 1. The API builds a structure from values only through arrays."""
    return gb.Matrix.from_coo(*f.to_coo(), True, nrows=f.size, ncols=f.size)

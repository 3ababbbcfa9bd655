"""Single-source shortest paths: the least total weight of a path from a source to each vertex.

Method: Bellman-Ford in rounds, relaxing only the edges that leave a vertex whose distance has just improved. After k
rounds every path of up to k edges is counted. A shortest path without a negative cycle has at most n - 1 edges, so an
improvement in round n proves such a cycle.

State: d holds the best distances so far, q those of them that the last round improved. No entry means "no path yet";
infinity is not used for it, so integer weights work the same way.

Input: any square A, directed, A[i, j] the weight of the edge i -> j. Weights may be negative or zero. NaN and
-infinity are not supported. A path must not overflow the dtype of the distances (UINT64 weights must fit INT64).

Bellman: On a routing problem. Quarterly of Applied Mathematics 16 (1958).
Kepner, Gilbert (eds): Graph Algorithms in the Language of Linear Algebra. SIAM 2011, chapter 5.
"""

from . import _check as check


@check.on_its_device
def sssp(A, source, *, gb=None):
    """The distance from `source` to each vertex.

    A: Matrix, n x n; in a BOOL matrix every entry, also False, is an edge of weight 1. source: int, 0 <= source < n.
    gb: the library, bitblas if None.
    Returns a Vector of size n, FP32 or FP64 as A is, else INT64: 0 at the source, no entry at a vertex that cannot be
    reached.
    Raises InvalidValue (a negative cycle can be reached from the source; to see that takes n rounds),
    DimensionMismatch (A not square), IndexOutOfBound (source out of range), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    source = check.vertex(gb, "source", source, n)
    binary, dtypes = gb.binary, gb.dtypes

    if A.dtype == dtypes.BOOL:
        A = A.apply(gb.unary.one).new()
    dtype = A.dtype if A.dtype in (dtypes.FP32, dtypes.FP64) else dtypes.INT64

    d = gb.Vector(dtype, n)  # distances
    d[source] = 0
    q = d.dup()  # frontier: the distances that have just improved
    worse = gb.Vector(dtypes.BOOL, n)
    for _ in range(n):
        # q = q min.+ A
        q << q.vxm(A, gb.semiring.min_plus[dtype])
        # q<!(q >= d), replace> = q: a vertex without a distance is not in `worse`, so it stays
        worse << binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        if q.nvals == 0:
            return d
        # d min= q
        d(binary.min) << q
    raise gb.exceptions.InvalidValue(
        f"argument A: expected no negative cycle that source {source} can reach, got one: distances still fall after "
        f"{n} rounds. Hint: in an undirected graph one edge of negative weight is such a cycle."
    )

"""All-pairs distances: shortest-path lengths from many vertices, or from all, to every vertex, and of pairs.

Method: from given sources, one search after another. From all, Floyd-Warshall by blocks of vertices: shortest paths
within a block by repeated squaring, then paths through the block as a product of two panels.

State: D[s, v] is the best distance found so far from source s to v; no entry means "no path yet".

Input: any square A, directed; A[i, j] is the weight of the edge i -> j. Weights may be negative, zero or infinite. Path
lengths must not overflow the dtype of the distances (UINT64 weights must fit INT64).

Check: SciPy's dijkstra and floyd_warshall; distances from one source at a time.

Floyd: Algorithm 97, shortest path. Communications of the ACM 5 (1962).
Venkataraman, Sahni, Mukhopadhyaya: A blocked all-pairs shortest-paths algorithm. ACM J. of Exp. Algorithmics 8 (2003).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import transposed
from .sssp import sssp, weights_of


@algorithm(answer="distances per source", weighted=True, work="sources")
def distances_from_each(A, sources, *, targets=None, limit=None, gb=None):
    """The distance from each of several sources to each vertex.

    A: Matrix, n x n; in a BOOL matrix every entry, also False, is an edge of weight 1. sources: vertices, k of them;
    None: all. targets, limit: as for `sssp`, of each search. gb: the library, bitblas if None.
    Returns a Matrix, k x n, FP32 or FP64 if A is, else INT64: row s has the distances from sources[s], no entry at an
    unreachable vertex.
    Raises InvalidValue (a weight is NaN or -infinity; integer weights for which a path may exceed 2^63; limit below 0;
    a reachable negative cycle), DimensionMismatch (A not square), IndexOutOfBound (a vertex out of range), TypeError
    (wrong types).
    """
    n = A.nrows
    sources = list(range(n)) if sources is None else check.vertices(gb, "sources", sources, n)
    dtype = A.dtype if A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64) else gb.dtypes.INT64
    work = loops.shared_work()
    own = work.part(sources)
    D = gb.Matrix(dtype, len(own), n)
    for s, source in enumerate(own):
        # D[s, :] = the distances from sources[s]
        D[s, :] << sssp(A, source, targets=targets, limit=limit, gb=gb)
        loops.report(total=len(sources))
    return work.stacked(D)


@algorithm(answer="value per pair", weighted=True, arrays=(24, 0), work="sources")
def distances_of_pairs(A, pairs, *, limit=None, gb=None):
    """The distance between each of some pairs of vertices.

    A: Matrix, n x n; in a BOOL matrix every entry, also False, is an edge of weight 1. pairs: Matrix, n x n, any dtype:
    an entry (s, t) requests the distance from s to t. limit: as for `sssp`, of each search. gb: the library, bitblas if
    None.
    Returns a Matrix, n x n, FP32 or FP64 if A is, else INT64: an entry at each pair with a path. It searches once for
    each vertex on the side that has fewer, and stops at the vertices of its pairs.
    Raises InvalidValue (a weight is NaN or -infinity; integer weights for which a path may exceed 2^63; limit below 0;
    a reachable negative cycle), DimensionMismatch (A not square, or pairs not of its shape), TypeError (wrong types).
    """
    n = A.nrows
    if check.square(gb, pairs, "pairs") != n:
        raise gb.exceptions.DimensionMismatch(
            f"argument pairs: expected a Matrix of {n} rows and columns, got {pairs.nrows}. "
            "Hint: an entry (s, t) for each pair of vertices."
        )
    # the ends of pairs on each side; search from the fewer, if these are the second ends backwards along A'
    sides = [gb.Vector.from_coo(x, True, size=n).to_coo()[0].astype("int64") for x in pairs.to_coo(values=False)[:2]]
    back = len(sides[1]) < len(sides[0])
    along, wanted = [loops.cached(transposed, X, gb) if back else X for X in (A, pairs)]
    dtype, starts = A.dtype if A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64) else gb.dtypes.INT64, sides[back]
    work = loops.shared_work()
    own = work.part(starts.tolist())
    D = gb.Matrix(dtype, len(own), n)
    for s, source in enumerate(own):
        # D[s, :] = the distances from starts[s] to the entries of its row
        targets = wanted[source, :].new().to_coo(values=False)[0].tolist()
        D[s, :] << sssp(along, source, targets=targets, limit=limit, gb=gb)
        loops.report(total=len(starts))
    i, j, d = work.stacked(D).to_coo()
    i = starts[i]
    i, j = (j, i) if back else (i, j)
    return gb.Matrix.from_coo(i, j, d, dtype, nrows=n, ncols=n)


@algorithm(answer="value per pair", weighted=True)
def all_pairs_distances(A, *, gb=None):
    """The distance between each pair of vertices.

    A: Matrix, n x n; in a BOOL matrix every entry, also False, is an edge of weight 1. gb: the library, bitblas if
    None.
    Returns a Matrix, n x n, FP32 or FP64 if A is, else INT64: 0 on the diagonal, no entry without a path. It needs
    memory for n^2 entries and about n^3 steps: use `distances_from_each` for large sparse graphs.
    Raises InvalidValue (a weight is NaN or -infinity; integer weights for which a path may exceed 2^63; a negative
    cycle), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    n = A.nrows
    A, dtype, bound = _weighted(A, gb)
    check.memory(A, f"all_pairs_distances: distances of {n} x {n} vertices", 16 * n * n)
    if bound >= 2**63:  # sums of several paths may overflow; single searches are exact
        return distances_from_each(A, list(range(n)), gb=gb)
    minimum, min_plus = gb.binary.min, gb.semiring.min_plus[dtype]
    # D = A; D min= I, where I has zeros on its diagonal
    D = A.dup(dtype)
    index = list(range(n))
    D(minimum) << gb.Matrix.from_coo(index, index, 0, dtype, nrows=n, ncols=n)
    size = tuning.count("all_pairs.block")
    for first in range(0, n, size):
        block = slice(first, min(n, first + size))
        # P = D[block, block]; P min= P min.+ P doubles the path length, until nothing changes
        P = D[block, block].new()
        for _ in range((P.nrows - 1).bit_length()):
            before = P.dup()
            P(minimum) << P.mxm(P, min_plus)
            if P.isequal(before):
                break
        if P.diag().reduce(gb.monoid.min, allow_empty=False).new().value < 0:
            raise _cycle(gb)
        # D min= (D[:, block] min.+ P) min.+ (P min.+ D[block, :])
        into, out = D[:, block].new(), D[block, :].new()
        into << into.mxm(P, min_plus)
        out << P.mxm(out, min_plus)
        D(minimum) << into.mxm(out, min_plus)
        loops.report(total=-(-n // size))
    return D


def _weighted(A, gb):
    """The weights (1 for BOOL), the dtype of distances, and an upper bound of integer sums."""
    dtypes = gb.dtypes
    if A.dtype == dtypes.BOOL:
        return A.apply(gb.unary.one[dtypes.INT64]).new(), dtypes.INT64, 0
    lowest, _, bound = weights_of(A, gb)
    # three paths are joined; with negative weights, walks in a block grow until a negative cycle is found
    bound *= 3 if lowest >= 0 else 3 * tuning.count("all_pairs.block")
    return A, A.dtype if A.dtype in (dtypes.FP32, dtypes.FP64) else dtypes.INT64, bound


def _cycle(gb):
    return gb.exceptions.InvalidValue(
        "argument A: expected no negative cycle, got one. Hint: negative_cycle returns it; in an undirected graph an "
        "edge of negative weight is such a cycle."
    )

"""k-cores: the k-core is the largest subgraph in which every vertex has at least k neighbours.

Method: peeling. A round removes all vertices with at most k remaining neighbours, whose core number is k, and lowers
the degrees of their neighbours. Then k grows to the lowest remaining degree. bitblas runs all rounds in kernels of
their own, which read only the rows of removed vertices; on the CPU one thread removes one vertex after the other.

State: d holds the degrees of the remaining vertices, INT64; no entry means "removed".

Input: A with a symmetric structure; values, dtype and self loops are ignored.

Check: NetworkX's core_number and k_core.

Seidman: Network structure and minimum degree. Social Networks 5 (1983).
Dhulipala, Blelloch, Shun: Julienne, a framework for parallel graph algorithms using bucketing. SPAA 2017.
Kabir, Madduri: Parallel k-core decomposition on multicore platforms. IPDPS workshops 2017.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import core_levels, has_peeling, induced_subgraph


@algorithm(graph="undirected", answer="value per vertex", arrays=(8, 9))
def core_numbers(A, *, gb=None):
    """The largest k for which each vertex is in the k-core.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    if has_peeling(A):
        return core_levels(A, gb)
    n = A.nrows
    loop = loops.cached_loop(_peeling, A, gb)
    core, d, k = (loop.state[name] for name in ("cores", "while_", "k"))
    # core = 0
    core << 0
    # d = A plus.pair 1, minus 1 at self loops; k = min(d)
    self_loops = A.select(gb.select.diag).new().reduce_rowwise(gb.monoid.any).new().apply(gb.unary.one[gb.dtypes.INT64])
    d << 0
    d(gb.monoid.plus) << A.mxv(gb.Vector.from_scalar(True, n), gb.semiring.plus_pair[gb.dtypes.INT64])
    d(gb.binary.minus) << self_loops.new()
    k << d.reduce(gb.monoid.min, allow_empty=False)
    loop.run()
    return loop.result(core)


def _peeling(A, gb):
    INT64, binary = gb.dtypes.INT64, gb.binary
    core, d, t, q = (gb.Vector(INT64, A.nrows) for _ in range(4))
    k, lowest = gb.Scalar(INT64), gb.Scalar(INT64)

    def body(_):
        # q = d<d <= k>; core<q> = k
        q << d.select(gb.select.valuele, k)
        core(q.S) << k
        # d<!q, replace> = d
        d(~q.S, gb.replace) << d
        # d -= A plus.pair q, at the remaining vertices
        t(d.S, gb.replace) << A.mxv(q, gb.semiring.plus_pair[INT64])
        d(binary.minus) << t
        # k = max(k, min(d))
        lowest << d.reduce(gb.monoid.min, allow_empty=False)
        k << k.ewise_add(lowest, binary.max)

    return {"body": body, "while_": d, "cores": core, "k": k}


@algorithm(graph="undirected", answer="undirected graph", arrays=(8, 24))
def k_core(A, k, *, gb=None):
    """The k-core of an undirected graph, on the same vertices.

    A: Matrix, n x n, any dtype, symmetric structure (checked). k: int >= 0. gb: the library, bitblas if None.
    Returns a Matrix, n x n, of A's dtype: the entries of A between vertices with a core number of at least k.
    Raises InvalidValue (A not symmetric, k below 0), DimensionMismatch (A not square), TypeError (wrong types).
    """
    n = A.nrows
    k = min(n, check.count(gb, "k", k, "the 0-core is the whole graph", least=0))  # no vertex has n neighbours
    # the entries of A with core[i] >= k and core[j] >= k
    return induced_subgraph(A, core_numbers(A, gb=gb).select(gb.select.valuege, k).new(), gb)

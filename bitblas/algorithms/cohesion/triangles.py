"""Triangle count: the number of triples of pairwise adjacent vertices.

Method: L holds each edge once, directed from the lower to the higher vertex of some order. An edge i -> j closes a
triangle with every k that both i and j point to. L L' counts these k, and the mask L keeps the counts on edges, so each
triangle is counted once, at the edge between its two lowest vertices. If the graph has hubs, the order is by rising
degree: a vertex of high degree has few neighbours of higher degree, so no row of L is long. Otherwise L is the lower
triangle, which is cheaper to build.

State: C has the structure of L and holds the number of triangles that each edge closes. L, half of A's entries, is
cached with A.

Input: A with a symmetric structure (each edge stored both ways). Values, dtype and self loops are ignored.

Check: trace(A^3) / 6.

Wolf, Deveci, Berry, Hammond, Rajamanickam: Fast linear algebra-based triangle counting with KokkosKernels. HPEC 2017.
Schank, Wagner: Finding, counting and listing all triangles in large graphs. WEA 2005, for the order by degree.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import degrees


@algorithm(graph="undirected", answer="count", arrays=(0, 4))
def triangle_count(A, *, gb=None):
    """The number of triangles of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Python int.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """

    # L = A<i before j>
    L = loops.cached(_directed, A, gb)
    # C<L> = L plus.pair L'; count = sum(C)
    C = L.mxm(L.T, gb.semiring.plus_pair[gb.dtypes.INT64]).new(mask=L.S)
    return int(C.reduce_scalar(gb.monoid.plus, allow_empty=False).new().value)


def _directed(A, gb):
    has_hubs = A.nvals > 0 and int(degrees(A, gb).max()) * A.nrows > tuning.value("triangles.skew") * A.nvals
    return _by_degree(A, gb) if has_hubs else A.select(gb.select.tril, -1).new()


def _by_degree(A, gb):
    """The entries of A from a lower to a higher degree; ties go from the lower to the higher vertex number."""
    check.memory(A, f"triangle_count: the order by degree of {A.nvals} entries", 40 * A.nvals)
    i, j, _ = A.to_coo(values=False)
    degree = degrees(A, gb)
    from_, to = degree[i], degree[j]
    kept = (from_ < to) | ((from_ == to) & (i < j))
    return gb.Matrix.from_coo(i[kept], j[kept], True, nrows=A.nrows, ncols=A.ncols)

"""Betweenness centrality: through each vertex, how many of the shortest paths between others go.

Method: Brandes, for a batch of sources at once. A breadth-first search from each counts the shortest paths to every
vertex; then, from the last level back to the first, each vertex hands to those before it the share of the paths that
came through them.

State: row s of a matrix belongs to source s of the batch. F[d] holds the vertices on level d, its values are numbers
of shortest paths; P has an entry where a vertex was found. D is one plus the dependency: D[s, v] - 1 is the sum, over
all targets, of the share of the shortest paths from s that go through v. A batch is as large as ENTRIES allow.

Input: any square A; an edge is a stored entry of length one, whatever its dtype and value; self loops do not matter.
Directed: A[i, j] is the edge i -> j.

Brandes: A faster algorithm for betweenness centrality. J. of Mathematical Sociology 25 (2001).
Kepner, Gilbert (eds): Graph Algorithms in the Language of Linear Algebra. SIAM 2011, chapter 6.
"""

from . import _check as check

ENTRIES = 1 << 22  # of a matrix with a row per source of the batch, if every vertex is found


@check.on_its_device
def betweenness_centrality(A, sources=None, *, gb=None):
    """The sum, over the sources s and all targets t, of the share of the shortest paths from s to t that go through v.

    A: Matrix, n x n, any dtype. sources: vertices, each counted as often as it is named; all n if None. gb: the
    library, bitblas if None.
    Returns a Vector, FP64, size n, full. Paths do not go through their own ends, and nothing is normalised: with all
    sources it is NetworkX's betweenness_centrality(G, normalized=False) of a DiGraph. An undirected graph stored both
    ways has each path twice, once from either end: half of the result is what NetworkX says of a Graph.
    Raises DimensionMismatch (A not square), IndexOutOfBound (a source out of range), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    sources = range(n) if sources is None else check.vertices(gb, "sources", sources, n)

    c = gb.Vector.from_scalar(0.0, n)
    batch = max(1, ENTRIES // max(1, n))
    for first in range(0, len(sources), batch):
        # c += D, summed over the batch
        _add_dependencies(c, A, sources[first : first + batch], gb)
    return c


def _add_dependencies(c, A, sources, gb):
    """c += the dependencies of some sources."""
    FP64, binary, plus = gb.dtypes.FP64, gb.binary, gb.monoid.plus
    plus_first = gb.semiring.plus_first[FP64]
    rows = range(len(sources))

    # F[0][s, sources[s]] = 1
    F = [gb.Matrix.from_coo(rows, sources, 1.0, nrows=len(sources), ncols=c.size)]
    P = F[0].dup(gb.dtypes.BOOL)
    while F[-1].nvals:
        # F[d + 1]<!P, replace> = F[d] plus.first A: the number of paths is the sum over the vertices before
        F.append(F[-1].mxm(A, plus_first).new(mask=~P.S))
        # P<F[d + 1]> = true
        P(F[-1].S) << True

    F.pop()
    D = F[-1].apply(gb.unary.one).new()
    while len(F) > 2:
        # D = D ./ F[d]
        D << binary.truediv(D & F.pop())
        # D<F[d - 1]> = (D plus.first A') .* F[d - 1]
        D << binary.times(D.mxm(A.T, plus_first).new(mask=F[-1].S) & F[-1])
        # c += sum of the rows of D
        c(plus) << D.reduce_columnwise(plus)
        # D += 1, and 1 where F[d - 1] alone has an entry
        D << binary.plus(D | F[-1].apply(gb.unary.one).new())

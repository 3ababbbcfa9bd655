"""Maximum matching: as many edges of a bipartite graph as possible of which no two meet.

Method: from a maximal matching on, searches from all unmatched vertices of the one side at once: along any edge to the
other side, along a matched edge back. Every search (root) that comes to an unmatched vertex ends there, with a path
on which edges not matched and matched take turns: they change their roles, which matches one more pair. As no vertex
is found twice, such paths do not meet. When no search finds one, there is none, and the matching is as large as can be.

State: mate[v] is the vertex that v is matched with, -1 without; before[v] is the vertex over which v was found, root[u]
the one that the search began with; arrays. q holds the vertices found in the last round, and themselves as values.

Input: A with a symmetric structure and two sides; values and dtype do not matter.

Check: SciPy's maximum_bipartite_matching.

Hopcroft, Karp: An n^(5/2) algorithm for maximum matchings in bipartite graphs. SIAM J. on Computing 2 (1973).
Azad, Buluc, Pothen: Computing maximum cardinality matchings in parallel on bipartite graphs. IEEE TPDS 28 (2017).
"""

from .. import _check as check
from .. import _watch as watch
from .._parts import numbers
from .bipartite import bipartite_sides
from .matching import maximal_matching


@check.on_its_device
def maximum_matching(A, *, gb=None):
    """A maximum matching of a bipartite graph.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n: at each matched vertex the one that it is matched with, no entry elsewhere.
    Raises InvalidValue (the graph is not bipartite), DimensionMismatch (A not square), TypeError (A is no Matrix).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    side = bipartite_sides(A, gb=gb)
    if side is None:
        raise gb.exceptions.InvalidValue(
            "argument A: expected a bipartite graph, got a cycle of an odd number of edges. "
            "Hint: maximal_matching takes any graph, and finds at least half as many edges."
        )
    left, index = side.to_dense() == 0, numbers(n, gb)
    mate = maximal_matching(A, gb=gb).to_dense(-1)
    while True:
        before, leaves = _searched(A, mate, index, index[left & (mate < 0)], gb)
        if not len(leaves):
            (v,) = (mate >= 0).nonzero()
            return gb.Vector.from_coo(v, mate[v], gb.dtypes.INT64, size=n)
        # along each path, from its end to its root: mate[v] = before[v], mate[before[v]] = v
        v = leaves
        while len(v):
            u = before[v]
            mate[v], mate[u], v = u, v, mate[u]
            v = v[v >= 0]
        watch.tell()


def _searched(A, mate, index, u, gb):
    """Over which vertex each was found, from the vertices u on; the unmatched vertices that searches have ended at."""
    n, INT64 = A.nrows, gb.dtypes.INT64
    root, before, leaf = index.copy(), index * 0 - 1, index * 0 - 1
    seen, q = gb.Vector(gb.dtypes.BOOL, n), gb.Vector(INT64, n)
    while len(u):
        # q[u] = u; q<!seen, replace> = q min.first A; seen<q> = true
        q << gb.Vector.from_coo(u, u, INT64, size=n)
        q(~seen.S, gb.replace) << q.vxm(A, gb.semiring.min_first[INT64])
        seen(q.S) << True
        v, over = q.to_coo()
        before[v], root[v] = over, root[over]
        # leaf[root] = the smallest one found that has no mate
        end = v[mate[v] < 0].astype("int64")
        if len(end):
            at, first = gb.Vector.from_coo(root[end], end, size=n, dup_op=gb.binary.min).to_coo()
            leaf[at] = first
        # u = the mates of the others, in searches that go on
        v = v[(mate[v] >= 0) & (leaf[root[v]] < 0)]
        u = mate[v]
        root[u] = root[v]
    return before, leaf[leaf >= 0]

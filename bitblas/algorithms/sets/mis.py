"""Maximal independent set: vertices of which no two are adjacent, and to which none can be added.

Method: Luby's, with scores drawn once. In a round every vertex whose score is above those of all its neighbours joins
the set and leaves the graph, its neighbours with it. The more neighbours, the lower the score tends to be, so that
joining removes few others and the set becomes large. Scores differ, so the best vertex of what is left joins in every
round; a few rounds are enough. The result is the set that a greedy search in the order of the scores finds.

State: s holds the scores of the vertices that are still in the graph, INT64; no entry stands for "gone".

Input: A with a symmetric structure (each edge stored both ways); values, dtype and self loops do not matter.

Check: the greedy search in the same order; none can be added.

Luby: A simple parallel algorithm for the maximal independent set problem. SIAM J. on Computing 15 (1986).
Blelloch, Fineman, Shun: Greedy sequential maximal independent set and matching are parallel on average. SPAA 2012.
"""

from .. import _check as check
from .. import _watch as watch
from .._scores import hashes


@check.on_its_device
def maximal_independent_set(A, *, seed=None, gb=None):
    """A maximal independent set of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). seed: int, or None for 0: the same seed gives the
    same set, on every device and library. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at the members, no entry elsewhere. Vertices without neighbours are members.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library, seed no integer).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    seed = 0 if seed is None else check.integer("seed", seed)

    # s = random / (1 + degree), made unique by its low bits
    degree, random = hashes(A, seed, gb)
    s = gb.Vector.from_dense((random >> 1) // (degree + 1) << 32 | random)
    members = gb.Vector(gb.dtypes.BOOL, n)
    add_greedily(members, s, A, gb)
    return members


def add_greedily(members, s, A, gb):
    """members |= the greedy independent set of the vertices that have a score in s; s is used up."""
    best, worse = gb.Vector(gb.dtypes.INT64, s.size), gb.Vector(gb.dtypes.BOOL, s.size)
    fresh, gone = worse.dup(), worse.dup()
    while s.nvals:
        # best<s, replace> = A max.second s: the best score next to each vertex; a self loop gives its own
        best(s.S, gb.replace) << A.mxv(s, gb.semiring.max_second[gb.dtypes.INT64])
        # fresh<!(best > s), replace> = true
        worse << gb.binary.gt(best & s)
        fresh(~worse.V, gb.replace) << s.apply(gb.unary.one)
        # members<fresh> = true
        members(fresh.S) << True
        # gone<s, replace> = A any.pair fresh; gone<fresh> = true
        gone(s.S, gb.replace) << A.mxv(fresh, gb.semiring.any_pair[gb.dtypes.BOOL])
        gone(fresh.S) << True
        # s<!gone, replace> = s
        s(~gone.S, gb.replace) << s
        watch.tell()

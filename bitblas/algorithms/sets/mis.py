"""Maximal independent set: pairwise non-adjacent vertices to which no vertex can be added (Luby).

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
from .._roots import at
from .._scores import MASK, degrees, random

UNEVEN = 8  # times the mean degree: with such hubs, one neighbour says of most vertices that they do not join


@check.on_its_device
def maximal_independent_set(A, *, seed=None, gb=None):
    """A maximal independent set of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). seed: int, or None for 0: the same seed gives the
    same set, on every device and library. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at the members, no entry elsewhere. Vertices without neighbours are members.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix,
    seed not an integer).
    """
    gb = check.library(gb)
    check.symmetric(gb, A)
    seed = 0 if seed is None else check.integer("seed", seed)
    loop = check.loop(_joining, A, gb)
    # seed, 32 bits of it
    loop.state["seed"] << (seed & MASK)
    loop.run()
    return loop.result(loop.state["members"])


def _joining(A, gb):
    BOOL, INT64, binary = gb.dtypes.BOOL, gb.dtypes.INT64, gb.binary
    degree, seed = degrees(A, gb), gb.Scalar(INT64)
    vertex = degree.apply(gb.indexunary.index).new(INT64)
    s, members = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    most = degree.reduce(gb.monoid.max).new().value or 0
    uneven = most * A.nrows > UNEVEN * A.nvals and getattr(A, "order", None) is None  # places are read
    # likely = the neighbour of the fewest neighbours, the first of them; the vertex itself where there is none
    likely = vertex.dup()
    if uneven:
        key = binary.bor(degree.apply(binary.bshift, right=32).new() & vertex).new()
        likely(binary.second) << A.mxv(key, gb.semiring.min_second[INT64]).new().apply(binary.band, right=MASK)

    def begin():
        # s = score = random / (1 + degree), made unique by its low bits
        draw = random(vertex, seed, gb)
        share = binary.cdiv(draw.apply(binary.bshift, right=-1).new() & degree.apply(binary.plus, right=1).new())
        score = binary.bor(share.new().apply(binary.bshift, right=32).new() & draw).new()
        s << score
        members.clear()
        if uneven:
            # where the score of that one is better, the others need not be looked at
            worse = binary.gt(at(score, likely) & score).new()
            join(0, score, score.dup(mask=~worse.V), first=True)
        else:
            join(0, score)

    def join(_, score=s, among=s, first=False):
        # best<among, replace> = A max.second score: the best next to each vertex; a self loop gives its own
        best = A.mxv(score, gb.semiring.max_second[INT64]).new(mask=among.S)
        # fresh<among & !(best > s), replace> = true; members<fresh> = true
        worse = binary.gt(best & s).new()
        fresh = among.apply(gb.unary.one[INT64]).new(BOOL, mask=~worse.V)
        members(fresh.S) << True
        if first:
            # s<!fresh & !fresh[likely], replace> = s: of these the others need not be looked at either
            s(~fresh.S, gb.replace) << s
            s(~at(fresh, likely).S, gb.replace) << s
        # gone<s, replace> = A any.pair fresh
        gone = A.mxv(fresh, gb.semiring.any_pair[BOOL]).new(mask=s.S)
        # s<!gone & !fresh, replace> = s
        s(~gone.S, gb.replace) << s
        s(~fresh.S, gb.replace) << s

    return {"begin": begin, "body": join, "while_": s, "members": members, "seed": seed}

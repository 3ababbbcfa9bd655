"""Maximal independent set: pairwise non-adjacent vertices to which no vertex can be added (Luby).

Method: Luby's algorithm with scores drawn once. In a round every vertex whose score exceeds those of all its neighbours
joins the set, and it and its neighbours leave the graph. Scores tend to be lower for vertices of high degree, so a
member removes few others and the set becomes large. Scores are distinct, so the best remaining vertex joins in every
round; a few rounds suffice. The result equals that of the greedy algorithm in the order of scores.

State: s holds the scores of the vertices still in the graph, INT64; no entry means "removed".

Input: A with a symmetric structure (each edge stored both ways); values, dtype and self loops are ignored.

Check: the greedy search in the same order; none can be added.

Luby: A simple parallel algorithm for the maximal independent set problem. SIAM J. on Computing 15 (1986).
Blelloch, Fineman, Shun: Greedy sequential maximal independent set and matching are parallel on average. SPAA 2012.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import MASK, degree_vector, gather_values, mixed_vector


@algorithm(graph="undirected", answer="value per vertex")
def maximal_independent_set(A, *, seed=None, gb=None):
    """A maximal independent set of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). seed: int, or None for 0: the same seed gives the same
    set on every device and library. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at the members, no entry elsewhere. Vertices without neighbours are members.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix, seed not an
    integer).
    """
    seed = 0 if seed is None else check.integer("seed", seed)
    loop = loops.cached_loop(_joining, A, gb)
    # seed mod 2^32
    loop.state["seed"] << (seed & MASK)
    return loop.evaluate("members", gb)


def _joining(A, gb):
    BOOL, INT64, UINT32, binary = gb.dtypes.BOOL, gb.dtypes.INT64, gb.dtypes.UINT32, gb.binary
    degree, seed = degree_vector(A, gb), gb.Scalar(UINT32)
    vertex = degree.apply(gb.indexunary.index).new(INT64)
    mixed, above = mixed_vector(vertex.dup(UINT32), gb), degree.apply(binary.plus, right=1).new(UINT32)
    s, members = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    at_once = loops.runs_in_any_order(A) and A.nvals <= tuning.value("selection.degree") * A.nrows
    most = degree.reduce(gb.monoid.max).new().value or 0
    skewed = most * A.nrows > tuning.value("mis.skew") * A.nvals
    uneven = not at_once and skewed and getattr(A, "order", None) is None  # positions are read
    # likely = the neighbour of lowest degree, ties to the smallest; the vertex itself if it has none
    likely = vertex.dup()
    if uneven:
        key = binary.bor(degree.apply(binary.bshift, right=32).new() & vertex).new()
        likely(binary.second) << A.mxv(key, gb.semiring.min_second[INT64]).new().apply(binary.band, right=MASK)

    def begin():
        # s = score = random / (1 + degree) in the upper bits, random in the lower, so that scores are distinct
        draw = mixed_vector(mixed.apply(binary.bxor[UINT32], right=seed).new(), gb)
        share = binary.cdiv[UINT32](draw.apply(binary.bshift[UINT32], right=-1).new() & above).new(INT64)
        score = binary.bor[INT64](share.apply(binary.bshift[INT64], right=32).new() & draw).new()
        s << score
        if uneven:
            # worse = score[likely] > score: these vertices cannot join, so their other neighbours are not read
            worse = binary.gt(gather_values(score, likely) & score).new()
            join(0, score, score.dup(mask=~worse.V), first=True)
        elif not at_once:
            join(0, score)

    def join(_, score=s, among=s, first=False):
        # best<among, replace> = A max.second score: the best score among neighbours (and itself, at a self loop)
        best = A.mxv(score, gb.semiring.max_second[INT64]).new(mask=among.S)
        # fresh<among & !(best > s), replace> = true; members<fresh> = true
        worse = binary.gt(best & s).new()
        fresh = among.apply(gb.unary.one[INT64]).new(BOOL, mask=~worse.V)
        members(fresh.S) << True
        if first:
            # s<!fresh & !fresh[likely], replace> = s; the other neighbours of these are not read either
            s(~fresh.S, gb.replace) << s
            s(~gather_values(fresh, likely).S, gb.replace) << s
        # gone<s, replace> = A any.pair fresh
        gone = A.mxv(fresh, gb.semiring.any_pair[BOOL]).new(mask=s.S)
        # s<!gone & !fresh, replace> = s
        s(~gone.S, gb.replace) << s
        s(~fresh.S, gb.replace) << s

    # Priorities are distinct, so the result does not depend on the order in which vertices are decided.
    return {"begin": begin, "body": join, "while_": s, "fixpoint": True, "members": members, "seed": seed}

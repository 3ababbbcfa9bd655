"""Single-source shortest paths: least path weight from a source to each vertex (delta-stepping, Bellman-Ford).

Method: delta-stepping without the division into light and heavy edges, with a window instead of buckets. A round
relaxes the out-edges of the improved vertices within delta of the nearest one. Few vertices are relaxed before their
distance is final, as in Dijkstra's algorithm, and many are relaxed at once, as in Bellman-Ford. With negative weights
no distance is final early, so all improved vertices are relaxed in every round, which is Bellman-Ford. A shortest path
without a negative cycle has at most n - 1 edges, so an improvement in round n proves a negative cycle. With a
limit or targets, distances beyond a bound are dropped: the limit, lowered to the farthest target's distance so far.

State: d holds the best distances so far, q those that improved since their vertex was relaxed. No entry means "no path
yet"; infinity is not used, so integer weights work the same way.

Input: any square A, directed; A[i, j] is the weight of the edge i -> j. Weights may be negative, zero or infinite. Path
lengths must not overflow the dtype of the distances (UINT64 weights must fit INT64).

Check: Bellman-Ford over all edges.

Meyer, Sanders: Delta-stepping: a parallelizable shortest path algorithm. J. of Algorithms 49 (2003).
Bellman: On a routing problem. Quarterly of Applied Mathematics 16 (1958).
Sridhar et al: Delta-stepping SSSP: from vertices and edges to GraphBLAS implementations. IPDPSW 2019.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .bfs import levels_until
from .negative_cycle import negative_cycle

ROUNDED = 1 + 2.0**-20  # exceeds the rounding error of an FP64 sum
DROP = "remove such edges with A.select"


@algorithm(answer="distance per vertex", weighted=True, work="search")
def sssp(A, source, *, targets=None, limit=None, delta=None, gb=None):
    """The distance from `source` to each vertex.

    A: Matrix, n x n; in a BOOL matrix every entry, also False, is an edge of weight 1. source: int, 0 <= source < n, or
    several: paths start at any of them. targets: a vertex, or several: stop when their distances are final, and return
    only these; None: all vertices. limit: float >= 0: omit vertices beyond this distance, and do not search there;
    None: no limit. delta: float > 0, the window of a round beyond the nearest unfinished vertex; chosen from weights
    and degrees if None; it affects time only. If a weight is negative, delta is ignored, and targets and limit save no
    time. gb: the library, bitblas if None.
    Returns a Vector of size n, FP32 or FP64 if A is, else INT64: 0 at the source, no entry at an unreachable vertex.
    Raises InvalidValue (a weight is NaN or -infinity; integer weights for which a path may exceed 2^63; delta or limit
    out of range; a negative cycle reachable from the source, detected after n rounds), DimensionMismatch (A not
    square), IndexOutOfBound (a vertex out of range), TypeError (wrong types).
    """
    targets = None if targets is None else check.sources(gb, "targets", targets, A.nrows)
    d, last = distances_until(A, source, targets, limit, delta, gb)
    # w<targets> = d<d <= last>
    d = d if last is None else d.select(gb.select.valuele, last).new()
    return d if targets is None else d.dup(mask=check.members(gb, targets, A.nrows).S)


def distances_until(A, source, targets, limit, delta, gb):
    """The distances, up to the limit and to that of the farthest target; and None. If a weight is negative, all
    distances, because a path to a near vertex may pass far ones; and the limit.
    """
    n = A.nrows
    source = check.sources(gb, "source", source, n)
    if delta is not None:
        delta = check.number(gb, "delta", delta, lambda x: x > 0, "a number above 0", "None chooses one")
    far = float("inf")
    if limit is not None:
        far = check.number(gb, "limit", limit, lambda x: x >= 0, "a number, 0 or more", "None has no limit")
    dtypes = gb.dtypes
    if A.dtype == dtypes.BOOL:
        return levels_until(A, source, int(far) if far < n else None, targets, gb), None

    dtype = A.dtype if A.dtype in (dtypes.FP32, dtypes.FP64) else dtypes.INT64
    lowest, mean, bound = weights_of(A, gb)
    if lowest < 0:
        delta = float("inf")
    elif delta is None:
        delta = tuning.value("sssp.delta") * mean * n / max(1, A.nvals)
    if dtype == dtypes.INT64:
        delta = int(min(delta, 2**61, 2**63 - 1 - bound))  # distance + delta stays below 2^63
        far = int(min(far, 2**63 - 1))
    stops = "" if lowest < 0 else "targets" if targets is not None else "limit" if limit is not None else ""
    loop = loops.cached_loop(_relaxation, A, gb, dtype, delta, n if lowest < 0 else None, stops)
    d, q, nearest = (loop.state[name] for name in ("distances", "while_", "nearest"))
    # d = q = 0 at the sources; nearest = 0
    check.set_entries(gb, d, source, 0)
    check.set_entries(gb, q, source, 0)
    nearest << 0
    # ends<targets, replace> = limit; bound = limit
    ends, bound = loop.state["ends"], loop.state["bound"]
    if stops:
        ends(check.members(gb, targets or [], n).S, gb.replace) << far
        bound << far
    loop.run()
    if q.nvals:
        # R = the edges that leave reached vertices
        i, j, w = A.to_coo()
        on = d.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False)[i]
        R = gb.Matrix.from_coo(i[on], j[on], w[on], A.dtype, nrows=n, ncols=n)
        cycle = negative_cycle(R, gb=gb)
        hint = "in an undirected graph an edge of negative weight is such a cycle"
        raise check.path_error(gb, [*cycle, *cycle[:1]], "no negative cycle reachable from the source", "", hint)
    # d = d<d <= bound>: distances beyond it may not be final
    d = loop.result(d)
    if stops:
        return d.select(gb.select.valuele, bound).new(), None
    return d, None if limit is None else gb.Scalar.from_value(far, dtype)


def _relaxation(A, gb, dtype, delta, limit, stops):
    n, binary, select = A.nrows, gb.binary, gb.select
    d, q = gb.Vector(dtype, n), gb.Vector(dtype, n)
    nearest, far, bound = gb.Scalar(dtype), gb.Scalar(dtype), gb.Scalar(dtype)
    ends = gb.Vector(dtype, n)  # at each target the lower of its distance and the limit
    # A Scalar rather than a constant, so that one compiled body serves all graphs.
    width = gb.Scalar.from_value(delta, dtype)

    def begin():
        return gb.Vector(dtype, n), gb.Vector(dtype, n), gb.Vector(gb.dtypes.BOOL, n)

    def body(_, near, t, worse):
        # near = q<q <= nearest + width>; q<!near, replace> = q
        far << nearest.apply(binary.plus, right=width)
        near << q.select(select.valuele, far)
        q(~near.S, gb.replace) << q
        # t = near min.+ A
        t << near.vxm(A, gb.semiring.min_plus[dtype])
        # t<!(t >= d), replace> = t; a vertex without a distance is not in `worse`, so it remains
        worse << binary.ge(t & d)
        t(~worse.V, gb.replace) << t
        if stops:
            # t = t<t <= bound>
            t << t.select(select.valuele, bound)
        # d<t> = t; q<t> = t
        d(t.S) << t
        q(t.S) << t
        if stops == "targets":
            # ends min= d at the targets; bound = max(ends); q = q<q <= bound>
            ends(binary.min) << binary.second(ends & d)
            bound << ends.reduce(gb.monoid.max, allow_empty=False)
            q << q.select(select.valuele, bound)
        # nearest = min(q)
        nearest << q.reduce(gb.monoid.min, allow_empty=False)

    # The result does not depend on the order of relaxation; with negative weights rounds are limited to n.
    parts = {"begin": begin, "body": body, "while_": q, "limit": limit}
    state = {"distances": d, "nearest": nearest, "bound": bound, "ends": ends}
    return {**parts, "fixpoint": limit is None and not stops, **state}


def weights_of(A, gb):
    """The lowest weight, the mean magnitude and the bound of `facts_of`. InvalidValue for NaN and -infinity, and if the
    bound is 2^63 or more.
    """
    lowest, mean, bound = loops.cached(facts_of, A, gb)
    if bound >= 2**63:
        raise gb.exceptions.InvalidValue(
            f"argument A: expected integers whose sum over {A.nrows} edges stays below 2^63, got a weight of "
            f"{_extreme(A, lowest, gb)}. Hint: convert with A.dup(float), or drop placeholder weights with A.select."
        )
    return lowest, mean, bound


def lengths_of(A, gb):
    """The weights in the dtype of distances, 1 for BOOL. InvalidValue for negative weights, NaN, and too long paths."""
    dtypes = gb.dtypes
    if A.dtype == dtypes.BOOL:
        return A.apply(gb.unary.one[dtypes.INT64]).new()
    lowest, _, bound = weights_of(A, gb)
    check.no_nan(gb, "A", lowest >= 0, "values of 0 or more", lowest)
    if bound >= 2**62:
        raise gb.exceptions.InvalidValue(
            f"argument A: expected integers whose sum over {2 * A.nrows} edges stays below 2^63, got larger ones. "
            "Hint: convert with A.dup(float)."
        )
    return A.dup(A.dtype if A.dtype in (dtypes.FP32, dtypes.FP64) else dtypes.INT64)


def facts_of(A, gb):
    """The lowest weight, the mean magnitude, and an upper bound of integer path lengths (of walks of n edges whose
    first edges are a shortest path); 0 for floats. InvalidValue for NaN and -infinity.
    """
    FP64, plus = gb.dtypes.FP64, gb.monoid.plus
    lowest = A.reduce_scalar(gb.monoid.min, allow_empty=False).new().value
    # a sum of both signs could give NaN as inf - inf; the magnitude of -2^63 exceeds INT64
    B = A.apply(gb.unary.abs[FP64]).new() if lowest < 0 else A
    mean = B.reduce_scalar(plus[FP64], allow_empty=False).new().value / max(1, A.nvals)
    if mean != mean or lowest == -float("inf"):
        i, j, w = A.to_coo()
        at = int(((w != w) | (w == -float("inf"))).argmax())
        got = f", an edge whose weight is {'NaN' if mean != mean else '-infinity'}"
        raise check.path_error(gb, [int(i[at]), int(j[at])], "weights that are numbers above -infinity", got, DROP)
    if A.dtype in (gb.dtypes.FP32, FP64):
        return lowest, mean, 0
    # no path exceeds the sum of all edges, nor n times the longest; walks along a negative cycle may
    ahead = min(2 * int(mean * A.nvals * ROUNDED), abs(_extreme(A, lowest, gb)) * A.nrows)
    return lowest, mean, max(ahead, -int(lowest) * A.nrows)


def _extreme(A, lowest, gb):
    """The integer weight of largest magnitude, given the lowest."""
    return max(int(A.reduce_scalar(gb.monoid.max, allow_empty=False).new().value), int(lowest), key=abs)

"""Minimum-cost flow: the cheapest of all maximum flows from a source to a sink.

Method: primal-dual (successive shortest paths, all of one length at once). The residual graph has each edge with
capacity left, at its cost, and the reverse of each edge with flow, at minus its cost. In a phase, potentials rise by
the distances from the source, over min.plus of the reduced costs, and a maximum flow along the edges of reduced cost 0
is added. Reduced costs stay 0 or more, so every phase has longer paths than the last; the flow is optimal throughout.

State: X holds the flow along each edge, p the potentials, no entry at vertices that cannot be reached any more.

Input: any square A of integers: A[i, j] is the capacity of the edge i -> j, and costs[i, j] the cost of one unit.

Check: NetworkX's max_flow_min_cost.

Ford, Fulkerson: Flows in networks. Princeton 1962, chapter 3.
Ahuja, Magnanti, Orlin: Network flows. Prentice Hall 1993, section 9.8.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from ..paths.sssp import sssp, weights_of
from .max_flow import maximum_flow

MOST = 2**62  # capacities and path costs below this can be added


@algorithm(answer=("count", "count", "flow per edge"), weighted=True, arrays=(16, 64))
def minimum_cost_flow(A, costs, source, sink, *, gb=None):
    """The cheapest maximum flow from a source to a sink: its value, its cost, and the flow along each edge.

    A: Matrix, n x n, integers or BOOL: capacities, 0 or more; those of a BOOL matrix are 0 and 1. costs: Matrix, n x n,
    integers: the cost of one unit along each edge; edges without an entry are free. source, sink: int, two different
    vertices. gb: the library, bitblas if None.
    Returns two Python ints, the value and the cost, and a Matrix, INT64, n x n: the positive flows along edges. If
    several flows are optimal it is one of them.
    Raises InvalidValue (capacities or costs that are floats, a capacity below 0, capacities or costs of paths of 2^62
    or more, a cycle of negative cost that can be reached from the source, source equals sink), DimensionMismatch (A not
    square, or costs not of its shape), IndexOutOfBound (source or sink out of range), TypeError (wrong types).
    """
    n, INT64, binary = A.nrows, gb.dtypes.INT64, gb.binary
    s, t = check.vertex(gb, "source", source, n), check.vertex(gb, "sink", sink, n)
    if s == t:
        raise gb.exceptions.InvalidValue(
            f"argument sink: expected a vertex other than the source, got {t}. Hint: choose two different vertices."
        )
    A, K = _checked(A, costs, gb)
    i, j, capacity = A.to_coo()
    cost = K.to_coo()[2]
    X = A.apply(binary.second, right=0).new()
    p = gb.Vector.from_scalar(0, n, dtype=INT64)
    value = 0
    with loops.silenced():
        while True:
            flow, known = X.to_coo()[2], p.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False)
            at = p.to_dense(0)
            # reduced[e] = cost[e] + p[i] - p[j]; W = reduced at edges with capacity left, min -reduced' with flow
            reduced, inside = cost + at[i] - at[j], known[i] & known[j]
            ahead, back = inside & (flow < capacity), inside & (flow > 0)
            W = gb.Matrix.from_coo(i[ahead], j[ahead], reduced[ahead], INT64, nrows=n, ncols=n)
            W(binary.min) << gb.Matrix.from_coo(j[back], i[back], -reduced[back], INT64, nrows=n, ncols=n)
            # p += the distances from the source
            d = sssp(W, s, gb=gb)
            if t not in d:
                break
            p << binary.plus(p & d)
            at, known = p.to_dense(0), d.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False)
            tight = (cost + at[i] - at[j] == 0) & known[i] & known[j]
            ahead, back = tight & ahead, tight & back
            # C = the capacity left, plus the flow that can be taken back; F = a maximum flow
            left = gb.Matrix.from_coo(i[ahead], j[ahead], (capacity - flow)[ahead], INT64, nrows=n, ncols=n)
            taken = gb.Matrix.from_coo(j[back], i[back], flow[back], INT64, nrows=n, ncols=n)
            more, F = maximum_flow(left.ewise_add(taken, binary.plus).new(), s, t, gb=gb)
            value += more
            # X += min(F, left); X -= (F - min(F, left))'
            first = binary.min(F & left).new()
            F(binary.minus) << first
            X(binary.plus) << first
            X(binary.minus) << binary.second(X & F.T).new()
    flow = X.to_coo()[2]
    total = sum(units * price for units, price in zip(flow.tolist(), cost.tolist()))
    return value, total, X.select(gb.select.valuegt, 0).new()


def _checked(A, costs, gb):
    """Capacities, and costs with the same structure: INT64."""
    n, dtypes = A.nrows, gb.dtypes
    if check.square(gb, costs, "costs") != n:
        raise gb.exceptions.DimensionMismatch(
            f"argument costs: expected a Matrix of {n} rows and columns, got {costs.nrows}. Hint: a cost for each edge."
        )
    for name, M in (("A", A), ("costs", costs)):
        if not M.dtype.name.startswith(("INT", "UINT", "BOOL")):
            raise gb.exceptions.InvalidValue(
                f"argument {name}: expected integers, got {M.dtype.name}. Hint: scale and convert with dup(int)."
            )
    if check.weights(gb, A) >= MOST:
        raise gb.exceptions.InvalidValue(
            "argument A: expected capacities whose sum stays below 2^62, got larger ones. Hint: clip or scale them."
        )
    A = A.select(gb.select.offdiag).new(dtypes.INT64)
    # K = 0 at the edges; K<K> += costs
    K = A.apply(gb.binary.second, right=0).new()
    K(gb.binary.plus) << gb.binary.second(K & costs.dup(dtypes.INT64)).new()
    if weights_of(K, gb)[2] >= MOST:
        raise gb.exceptions.InvalidValue(
            "argument costs: expected costs of paths below 2^62, got larger ones. Hint: scale them."
        )
    return A, K

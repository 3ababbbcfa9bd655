"""Maximum flow and minimum cut: parallel push-relabel.

Method: the source saturates its edges. A vertex with excess (more inflow than outflow) pushes it along edges with
residual capacity to vertices one level lower, or raises its height to one above the lowest such neighbour. Global
relabelling sets all heights to distances, by searches from the sink, and from the source for vertices that cannot reach
the sink: after `flow.push_rounds` rounds of pushes, or one round per `flow.search_levels` levels of the last search if
that is more. On long paths excess therefore travels the whole way between two searches.

Numbers: the loop runs in INT64. Float capacities become multiples of a power of two, such that the edges of a vertex
sum to less than 2^62. Rounds therefore end, and inflow equals outflow exactly. Integers are scaled only if the edges of
a vertex sum to 2^62 or more. If scaling loses bits of the result, the flow is a first part of the maximum flow. The
residual graph's flow is bounded by the cut found, so a finer multiple suffices for it; its maximum flow is the next
part, and so on until the cut is saturated.

State: vectors have a position per vertex, then one per arc, ordered by tail. M leads from a vertex to its arcs, and
from an arc to its head and to its reverse arc. Behind the arcs come groups; T and L lead down and along the tree of
each vertex (`_arcs.py`). At arcs: room is the residual capacity, back that of the reverse arc. At vertices: q is
the positive excess, h the height. going is q's structure when a round began, so the last round, without excess, only
computes heights.

Input: any square A: A[i, j] is the capacity of the edge i -> j, finite, 0 or more. Self loops are ignored. Integers are
exact, and the value of a flow may exceed UINT64.

Check: NetworkX's maximum_flow_value; flow conservation and bounds, and a cut of equal value.

Goldberg, Tarjan: A new approach to the maximum-flow problem. J. of the ACM 35 (1988).
Cherkassky, Goldberg: On implementing the push-relabel method for the maximum flow problem. Algorithmica 19 (1997).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import index_range
from ._arcs import (
    LARGEST,
    SMALLEST,
    ArcTree,
    arcs_of,
    bits_of,
    holds_floats,
    minimum,
    most_at_a_vertex,
    times_power,
    total,
)

BITS = 62  # bits of the sum of the capacities at a vertex, an upper bound of all sums in the loop
EXACT = 2.0**-48  # relative error allowed in the value of a float flow


@algorithm(answer=("number", "flow per edge"), weighted=True, arrays=(40, 60))
def maximum_flow(A, source, sink, *, gb=None):
    """The maximum flow from a source to a sink: its value, and the flow along each edge.

    A: Matrix, n x n, any dtype, capacities; those of a BOOL matrix are 0 and 1. source, sink: int, two different
    vertices. gb: the library, bitblas if None.
    Returns a Python int or float, and a Matrix, n x n, INT64, UINT64 (if A is) or FP64 (floats): the positive flows
    along edges. Integers are exact, and the value may exceed 2^64. If several maximum flows exist it is one of them,
    for integers the same on every device and library.
    Raises InvalidValue (a capacity below 0 or not finite; source equals sink), DimensionMismatch (A not square),
    IndexOutOfBound (source or sink out of range), TypeError (wrong types).
    """
    value, _, i, j, used = _flow(A, source, sink, gb)
    positive = used > 0
    i, j, used = i[positive], j[positive], used[positive]
    if used.dtype.kind != "f":
        used = used.astype("uint64" if A.dtype == gb.dtypes.UINT64 else "int64")
    return value, gb.Matrix.from_coo(i, j, used, nrows=A.nrows, ncols=A.nrows)


@algorithm(answer=("number", "value per vertex"), weighted=True, arrays=(40, 60))
def minimum_cut(A, source, sink, *, gb=None):
    """The minimum cut between a source and a sink: its capacity, and the side of each vertex.

    A: Matrix, n x n, any dtype, capacities; those of a BOOL matrix are 0 and 1. source, sink: int, two different
    vertices. gb: the library, bitblas if None.
    Returns a Python int or float, and a Vector, BOOL, size n, full: False at the vertices that can still reach the sink
    under a maximum flow. The edges from True to False are the cut. Integers are exact, and the value may exceed 2^64.
    Raises InvalidValue (a capacity below 0 or not finite; source equals sink), DimensionMismatch (A not square),
    IndexOutOfBound (source or sink out of range), TypeError (wrong types).
    """
    value, loop, *_ = _flow(A, source, sink, gb)
    return value, gb.Vector.from_dense(_side(loop, A.nrows))


def _flow(A, source, sink, gb):
    """The value, the last loop that ran, the arcs, and the flow along each arc."""
    n = A.nrows
    s, t = check.vertex(gb, "source", source, n), check.vertex(gb, "sink", sink, n)
    if s == t:
        raise gb.exceptions.InvalidValue(
            f"argument sink: expected a vertex other than the source, got {t}. Hint: choose two different vertices."
        )
    floats = holds_floats(A, gb)
    # the total capacity, then the total at one vertex
    if check.weights(gb, A) >= 2.0**BITS and not floats and most_at_a_vertex(A, gb) >= 2.0**BITS:
        return _flow_in_parts(A, s, t, gb)
    loop = loops.cached_loop(_pushes, A, gb)
    i, j, used = _run(loop, s, t, n, gb)
    value = int(used[j == t].sum())
    if floats:
        bits, lost = loop.state["bits"], loop.state["lost"]
        value, used = times_power(float(value), bits), times_power(used.astype("float64"), bits)
        if lost is not None and float(lost[_cut(loop, i, j, n)].sum()) > EXACT * value:
            return _flow_in_parts(A, s, t, gb)
    return value, loop, i, j, used


def _run(loop, s, t, n, gb):
    """Run the loop from s to t. Returns the arcs and their flow, negative if it runs along the reverse arc."""
    for name, v in (("source", s), ("sink", t)):
        check.set_entries(gb, loop.state[name], [v], True)
    loop.run()
    i, j, capacity = loop.state["arcs"]
    return i, j, capacity - loop.state["room"].to_dense(0)[n : n + len(i)]


def _side(loop, n):
    """After the loop: the vertices that cannot reach the sink along residual edges."""
    return loop.state["h"].to_dense()[:n] >= n


def _cut(loop, i, j, n):
    """The arcs from that side to the other."""
    side = _side(loop, n)
    return side[i] & ~side[j]


def _flow_in_parts(A, s, t, gb):
    """Like _flow, for capacities that span more bits than INT64."""
    n, floats = A.nrows, holds_floats(A, gb)
    i, j, capacity = arcs_of(A, gb, gb.dtypes.FP64 if floats else gb.dtypes.UINT64)
    kind, rev, used = capacity.dtype.type, (j * n + i).argsort(), capacity * 0
    bound = min(total(capacity[i == s]), total(capacity[j == t]))
    while True:
        # rest = min(residual capacity, most), where most exceeds any possible flow
        if floats:
            most = kind(min(2 * bound, LARGEST) or SMALLEST)
        else:
            most = kind(min(bound + 1, 2**64 - 1))
        rest = minimum(capacity - used, most)
        rest = rest + minimum(used[rev], most - rest)
        bits = bits_of(total(rest)) - BITS
        bits = bits if floats else max(bits, 0)
        B = gb.Matrix.from_coo(i, j, times_power(rest, -bits).astype("int64"), nrows=n, ncols=n)
        loop = loops.Loop(_pushes, B, gb)
        _, _, part = _run(loop, s, t, n, gb)
        # used += part; flow along the reverse arc is cancelled first
        part = times_power((part * (part > 0)).astype(capacity.dtype), bits)
        back = minimum(part, used[rev])
        used = minimum(used - back[rev] + (part - back), capacity)
        value = total(used[j == t]) - total(used[i == t])
        # bound = the residual capacity across the cut, an upper bound of the remaining flow
        cut, before = _cut(loop, i, j, n), bound
        bound = total((capacity - used)[cut]) + total(used[rev][cut])
        if bound <= EXACT * value or 2 * bound > before if floats else bits == 0:
            return value, loop, i, j, used


def _pushes(A, gb):
    n, BOOL, binary = A.nrows, gb.dtypes.BOOL, gb.binary
    kind, bits, lost = gb.dtypes.INT64, 0, None
    if holds_floats(A, gb):
        i, j, exact = arcs_of(A, gb, gb.dtypes.FP64)
        bits = bits_of(most_at_a_vertex(A, gb)) - BITS
        capacity = times_power(exact, -bits).astype("int64")
        lost = exact - times_power(capacity.astype("float64"), bits)
        lost = lost if (lost > 0).any() else None
    else:
        i, j, capacity = arcs_of(A, gb, kind)
    m = len(i)
    vertex, arc, rev, tree = index_range(n, gb), index_range(m, gb), (j * n + i).argsort(), ArcTree(i, n, gb)
    size, T, L, groups = tree.size, tree.T, tree.L, tree.groups
    index = gb.dtypes.INT32 if 2 * size < 2**31 else gb.dtypes.INT64  # half the bytes if INT32 suffices

    def of_arcs(values):
        x = index_range(size, gb).astype(index.np_type)
        x[n : n + m] = values
        return gb.Vector.from_dense(x)

    tail, head = of_arcs(i), of_arcs(j)
    capacities, opposite = (gb.Vector.from_coo(n + arc, x, kind, size=size) for x in (capacity, capacity[rev]))
    arcs, vertices = (gb.Vector.from_coo(x, True, size=size) for x in (n + arc, vertex))
    # M: tail -> arc, arc -> head, arc -> reverse arc
    rows, columns = index_range(3 * m, gb), index_range(3 * m, gb)
    rows[:m], rows[m : 2 * m], rows[2 * m :] = i, n + arc, n + arc
    columns[:m], columns[m : 2 * m], columns[2 * m :] = n + arc, j, n + rev
    M = gb.Matrix.from_coo(rows, columns, True, BOOL, nrows=size, ncols=size)
    reach, positive = gb.semiring.any_pair[BOOL], gb.select.valuegt
    ring, min_second = gb.semiring, gb.semiring.min_second[index]
    any_first, plus_first, plus_second = (x[kind] for x in (ring.any_first, ring.plus_first, ring.plus_second))
    room, back, q = (gb.Vector(kind, size) for _ in range(3))
    going, source, sink = (gb.Vector(BOOL, size) for _ in range(3))
    h = gb.Vector(index, size)
    left, active, pushes = gb.Scalar(gb.dtypes.INT64), gb.Scalar(gb.dtypes.INT64), gb.Scalar(BOOL)
    # SuiteSparse 9.4.5 does not terminate for a push from few vertices under a large sparse mask
    masks = loops.runs_fused(A)

    def begin():
        inner, seen, near, open_, f = (gb.Vector(BOOL, size) for _ in range(5))
        # inner = all vertices except source and sink
        inner(~source.S) << vertices
        inner(~sink.S, gb.replace) << inner
        # most = the capacities of the source's arcs, all saturated
        most = gb.Vector(kind, size)
        most(source.vxm(M, reach).new().S) << capacities
        room << capacities
        back << opposite
        q.clear()
        flow(most, inner)
        going << source
        return inner, seen, near, open_, f

    def flow(most, inner):
        # room -= most; back += most; y = most plus.first M; room<arcs> += y; back<arcs> -= y; q<inner> += y
        y = most.vxm(M, plus_first).new()
        room(binary.minus) << most
        back(binary.plus) << most
        room(arcs.S, binary.plus) << y
        back(arcs.S, binary.minus) << y
        y(inner.S, gb.replace) << y
        q(binary.plus) << y
        q << q.select(positive, 0)

    def body(_, inner, seen, near, open_, f):
        going(q.S, gb.replace) << True
        # open = arcs whose reverse has room; h = the number of residual arcs from each vertex to the sink
        open_(back.select(positive, 0).new().S, gb.replace) << True
        h << n
        seen << arcs
        f << sink
        loops.repeat(lambda level: search(level, seen, open_, f), while_=f)
        # h = n + distance to the source if the sink is unreachable; 2 n if both are
        near << seen
        f << source
        loops.repeat(lambda level: search(level, seen, open_, f), while_=f)
        # left = the depth of the deeper search
        left << h.select(gb.select.valuelt, n).new().reduce(gb.monoid.max, allow_empty=False)
        h(~near.S, binary.plus) << n
        go_on()
        loops.repeat(lambda _: some_pushes(inner), while_=pushes)

    def some_pushes(inner):
        rounds = tuning.count("flow.push_rounds")
        loops.repeat(lambda _: push(inner), while_=q, limit=rounds)
        left << left.apply(binary.minus, right=tuning.count("flow.search_levels") * rounds)
        go_on()

    def go_on():
        # pushes = min(nvals(q), left) > 0; true at first, since excess can reach sink or source
        active << q.nvals
        active << active.ewise_add(left, binary.min)
        pushes << active.apply(binary.gt, right=0)

    def search(level, seen, open_, f):
        # h<f> = level; seen<f> = true; f<!seen, replace> = heads of open arcs of f
        h(f.S) << level
        seen(f.S) << True
        x = f.vxm(M, reach)
        x = x.new(mask=open_.S) if masks else binary.pair[BOOL](x.new() & open_).new()
        f(~seen.S, gb.replace) << x.vxm(M, reach)

    def push(inner):
        # e = the excess at the tail of each arc; r = room<room > 0>
        e, r = q.vxm(M, any_first).new(), gb.Vector(kind, size)
        r(e.S) << room
        r << r.select(positive, 0)
        # h<q> max= 1 + min h at the heads of arcs with room
        up, down, most = gb.Vector(index, size), gb.Vector(index, size), gb.Vector(kind, size)
        up(r.S) << h[head.to_dense()]
        up << up.apply(binary.plus, right=1)
        h(binary.max) << M.mxv(up, min_second).new(mask=q.S)
        # most = min(e, r) at arcs that lead exactly one level down
        up(r.S, gb.replace) << h[tail.to_dense()]
        down(r.S) << h[head.to_dense()]
        down << binary.minus(up & down)
        down << down.select(gb.select.valueeq, 1)
        most(down.S) << binary.min(e & r)
        # out = the sum of most over the arcs of a vertex; few<out > q> = true: not enough for all; rest<few> = q
        out, rest, few = M.mxv(most, plus_second).new(mask=q.S), gb.Vector(kind, size), gb.Vector(BOOL, size)
        few(binary.gt(out & q).new().V) << True
        rest(few.S) << q
        # q -= min(q, out)
        q(binary.minus) << binary.min(out & q).new()
        share(most, rest, few)
        flow(most, inner)

    def share(most, rest, few):
        # sums = most at arcs, and at groups the sum over their children
        sums, left, part = (gb.Vector(kind, size) for _ in range(3))
        full, kept = gb.Vector(BOOL, size), gb.Vector(BOOL, size)
        sums << most
        part << most
        for _ in range(tree.depth - 1):
            part << T.mxv(part, plus_second).new(mask=groups.S)
            sums(part.S) << part
        # most<!arcs of few, replace> = most
        most(~few.vxm(M, reach).new().S, gb.replace) << most
        for level in range(tree.depth):
            # left = rest of the parent, minus the sums of earlier siblings
            left << rest.vxm(T, any_first)
            part(left.S, gb.replace) << sums
            left(left.S, binary.minus) << L.mxv(part, plus_second)
            left << left.select(positive, 0)
            # most = min(left, sums); if left >= sums all children are filled, else rest = left is shared below
            part << binary.min(left & part)
            most(part.S) << part
            if level < tree.depth - 1:
                full << binary.ge(left & sums)
                kept(full.V) << True
                kept << kept.vxm(T, reach)
                most(kept.S) << sums
                rest(~full.V, gb.replace) << left
        if tree.depth > 1:
            most(arcs.S, gb.replace) << most

    return {
        "begin": begin,
        "body": body,
        "while_": going,
        "arcs": (i, j, capacity),
        "room": room,
        "h": h,
        "source": source,
        "sink": sink,
        "bits": bits,
        "lost": lost,
    }

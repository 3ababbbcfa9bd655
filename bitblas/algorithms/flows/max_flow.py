"""Largest flows: how much can get from a source to a sink along edges of limited capacity, and what is the limit.

Method: push-relabel, all vertices at once. The source fills its edges; a vertex into which more goes than out of it
pushes the excess along edges with room, to vertices whose height is one less, or rises to one above the lowest of
these. Every few rounds heights are measured anew: the edges to the sink, or, where no way leads there, to the source.

State: vectors have a place for each of the n vertices, and then one for each arc: those of a vertex are neighbours,
their numbers among them are rank, and tail and head their ends. M leads from a vertex to its arcs, from an arc to its
head, and to the arc back. At arcs: room is how much more can flow, back how much more along the one back. At vertices:
q is the excess of those that have some, h the height. going holds what q held when a round began: so the last one,
without excess, measures heights alone.

Input: any square A: A[i, j] is the capacity of the edge i -> j, 0 or more and finite. Self loops do not matter.

Check: NetworkX's maximum_flow_value; a flow that keeps all bounds, and a cut of the same value.

Goldberg, Tarjan: A new approach to the maximum-flow problem. J. of the ACM 35 (1988).
Cherkassky, Goldberg: On implementing the push-relabel method for the maximum flow problem. Algorithmica 19 (1997).
"""

from .. import _check as check
from .._parts import numbers

ROUNDS = 16  # between two measurements of heights, which cost about as much


@check.on_its_device
def maximum_flow(A, source, sink, *, gb=None):
    """The largest flow from a source to a sink: its value, and how much goes along each edge.

    A: Matrix, n x n, any dtype, capacities; those of a BOOL matrix are 0 and 1. source, sink: int, two different
    vertices. gb: the library, bitblas if None.
    Returns a Python int or float, and a Matrix, n x n, INT64 or FP64: what goes along an edge, where that is above 0.
    Of many largest flows it is one, the same on every device and library for integers.
    Raises InvalidValue (a capacity below 0 or not finite; source and sink are the same), DimensionMismatch (A not
    square), IndexOutOfBound (source or sink out of range), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    value, loop, (i, j, used) = _flow(A, source, sink, gb)
    return value, gb.Matrix.from_coo(i[used > 0], j[used > 0], used[used > 0], nrows=A.nrows, ncols=A.nrows)


@check.on_its_device
def minimum_cut(A, source, sink, *, gb=None):
    """The cut of least capacity between a source and a sink: its value, and the side of the source.

    A: Matrix, n x n, any dtype, capacities; those of a BOOL matrix are 0 and 1. source, sink: int, two different
    vertices. gb: the library, bitblas if None.
    Returns a Python int or float, and a Vector, BOOL, size n, full: False at the vertices from which the sink can still
    be reached when the flow is largest. The edges from True to False are the cut.
    Raises InvalidValue (a capacity below 0 or not finite; source and sink are the same), DimensionMismatch (A not
    square), IndexOutOfBound (source or sink out of range), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    value, loop, _ = _flow(A, source, sink, gb)
    return value, gb.Vector.from_dense(loop.state["h"].to_dense()[: A.nrows] >= A.nrows)


def _flow(A, source, sink, gb):
    """The value, the loop, the arcs and what goes along them."""
    n = check.square(gb, A)
    s, t = check.vertex(gb, "source", source, n), check.vertex(gb, "sink", sink, n)
    if s == t:
        raise gb.exceptions.InvalidValue(
            f"argument sink: expected another vertex than the source, got {t}. Hint: a flow goes from one to another."
        )
    check.weights(gb, A)
    loop = check.loop(_pushes, A, gb)
    for name, v in (("source", s), ("sink", t)):
        check.put(gb, loop.state[name], [v], True)
    loop.run()
    i, j, capacity = loop.state["arcs"]
    used = capacity - loop.state["room"].to_dense(0)[n:]
    return used[j == t].sum().item(), loop, (i, j, used)


def _arcs(A, gb):
    """Rows, columns and capacities of the edges, by row, each with the one back, whose capacity may be 0."""
    dtype = gb.dtypes.FP64 if A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64) else gb.dtypes.INT64
    B = A.dup(dtype)
    # B = A without its diagonal; B += 0 A'
    B << B.select(gb.select.offdiag)
    zeros = B.apply(gb.binary.times, right=0).new()
    B(gb.binary.plus) << zeros.T
    i, j, room = B.to_coo()
    return i.astype("int64"), j.astype("int64"), room, dtype


def _pushes(A, gb):
    n, BOOL, INT64, binary, reach = A.nrows, gb.dtypes.BOOL, gb.dtypes.INT64, gb.binary, gb.semiring.any_pair
    i, j, capacity, kind = _arcs(A, gb)
    m = len(i)
    size, vertex, arc = n + m, numbers(n, gb), n + numbers(m, gb)
    rev = (j * n + i).argsort()

    def over_arcs(values, at_vertices, dtype):
        x = numbers(size, gb).astype(dtype.np_type)
        x[:n], x[n:] = at_vertices, values
        return gb.Vector.from_dense(x)

    first = i.searchsorted(vertex)
    tail, head, rank = (
        over_arcs(x, y, INT64) for x, y in ((i, vertex), (j, vertex), (arc - n - first[i], 0))
    )
    here = gb.Vector.from_dense(numbers(size, gb))
    cap = gb.Vector.from_coo(arc, capacity, kind, size=size)
    rows, columns = numbers(3 * m, gb), numbers(3 * m, gb)
    rows[:m], rows[m : 2 * m], rows[2 * m :] = i, arc, arc
    columns[:m], columns[m : 2 * m], columns[2 * m :] = arc, j, n + rev
    M = gb.Matrix.from_coo(rows, columns, True, BOOL, nrows=size, ncols=size)
    room, back, q = (gb.Vector(kind, size) for _ in range(3))
    going, source, sink = (gb.Vector(BOOL, size) for _ in range(3))
    h = gb.Vector(INT64, size)
    plus_first, plus_second, any_first = (
        getattr(gb.semiring, x)[kind] for x in ("plus_first", "plus_second", "any_first")
    )
    arcs = gb.Vector.from_coo(arc, True, size=size)

    def begin():
        # the source fills its edges
        inner, seen, near, has, f = (gb.Vector(BOOL, size) for _ in range(5))
        room << cap
        back.clear()
        inner << True
        inner(arcs.S) << False
        inner(source.S) << False
        inner(sink.S) << False
        inner << inner.select(gb.select.valueeq, True)
        q.clear()
        moved = gb.Vector(kind, size)
        moved(source.vxm(M, reach[BOOL]).new().S) << cap
        y = moved.vxm(M, plus_first).new()
        room(binary.minus) << moved
        room(arcs.S, binary.plus) << y
        t = room.vxm(M, plus_first).new()
        back(arcs.S) << t
        q(inner.S) << y
        q << q.select(gb.select.valuegt, 0)
        going << source
        return inner, seen, near, has, f

    def body(_, inner, seen, near, has, f):
        # heights: the arcs with room to the sink, n and those to the source where no way leads there
        going(q.S, gb.replace) << True
        has << back.select(gb.select.valuegt, 0).new().apply(gb.unary.one[BOOL])
        h << n
        seen << arcs
        f << sink
        check.repeat(lambda level: search(level, seen, has, f), while_=f)
        near << seen
        f << source
        check.repeat(lambda level: search(level, seen, has, f), while_=f)
        h(~near.S, binary.plus) << n
        check.repeat(lambda _: push(inner), while_=q, limit=ROUNDS)

    def search(level, seen, has, f):
        h(f.S) << level
        seen(f.S) << True
        # x = the arcs that lead there, by those back; f<!seen, replace> = their other ends
        x = f.vxm(M, reach[BOOL]).new(mask=has.S)
        f(~seen.S, gb.replace) << x.vxm(M, reach[BOOL])

    def push(inner):
        # e = the excess at the tails of arcs
        e = q.vxm(M, any_first).new()
        # h<q> = max(h, 1 + min h over the arcs with room)
        rise, low = gb.Vector(INT64, size), gb.Vector(kind, size)
        low(e.S) << room
        low << low.select(gb.select.valuegt, 0)
        rise(low.S) << h[head.to_dense()]
        rise << rise.apply(binary.plus, right=1)
        h(binary.max) << M.mxv(rise, gb.semiring.min_second[INT64]).new(mask=q.S)
        # most = what may flow along arcs that lead one down
        upper, lower = gb.Vector(INT64, size), gb.Vector(INT64, size)
        upper(low.S) << h[tail.to_dense()]
        lower(low.S) << h[head.to_dense()]
        down = binary.minus(upper & lower).new()
        down << down.select(gb.select.valueeq, 1)
        most = gb.Vector(kind, size)
        most(down.S) << binary.min(e & low)
        # out = min(q, the sum of most over the arcs of a vertex); few: at arcs of those that cannot fill them all
        out = M.mxv(most, plus_second).new(mask=q.S)
        over = binary.gt(out & q).new()
        out << binary.min(out & q)
        short = gb.Vector(BOOL, size)
        short(over.V) << True
        few = short.vxm(M, reach[BOOL]).new()
        # c = the sums of most over the arcs of a vertex up to each; where they come to e + most nothing is left
        c, top, wide = gb.Vector(kind, size), gb.Vector(kind, size), gb.Vector(INT64, size)
        c(few.S) << 0
        c(few.S, binary.plus) << most
        top(few.S) << e
        top(few.S, binary.plus) << most
        wide(few.S) << rank
        wide << wide.select(gb.select.valuege, 1)
        step = gb.Scalar(INT64)
        step << 1
        check.repeat(lambda _: add(c, top, wide, step), while_=wide)
        # moved = max(0, min(most, e - what goes before))
        c << binary.minus(top & c)
        most(most.S, binary.min) << c
        most << most.select(gb.select.valuegt, 0)
        # room -= moved; that back += moved; q += what comes in, less what goes out
        y = most.vxm(M, plus_first).new()
        room(binary.minus) << most
        back(binary.plus) << most
        room(arcs.S, binary.plus) << y
        back(arcs.S, binary.minus) << y
        q(binary.minus) << out
        y(inner.S, gb.replace) << y
        q(binary.plus) << y
        q << q.select(gb.select.valuegt, 0)

    def add(c, top, wide, step):
        # c<rank >= step> += c, so many arcs before
        before = here.apply(binary.minus, right=step).new()
        more = gb.Vector(kind, size)
        more(wide.S) << c[before.to_dense()]
        c(binary.plus) << more
        step << step.apply(binary.times, right=2)
        wide(binary.lt(c & top).new().V, gb.replace) << wide
        wide << wide.select(gb.select.valuege, step)

    return {
        "begin": begin, "body": body, "while_": going, "arcs": (i, j, capacity), "room": room, "h": h,
        "source": source, "sink": sink,
    }  # fmt: skip

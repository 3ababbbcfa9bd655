"""Largest flows: how much can get from a source to a sink along edges of limited capacity, and what is the limit.

Method: push-relabel, all vertices at once. The source fills its edges; a vertex into which more goes than out of it
pushes the excess along edges with room, to vertices whose height is one less, or rises to one above the lowest of
these. Every few rounds heights are measured anew: the edges to the sink, or, where no way leads there, to the source.

State: arcs from i to j with room r for more flow, and rev, the one back; e is the excess at a vertex, h its height.

Input: any square A: A[i, j] is the capacity of the edge i -> j, 0 or more and finite. Self loops do not matter.

Check: NetworkX's maximum_flow_value; a flow that keeps all bounds, and a cut of the same value.

Goldberg, Tarjan: A new approach to the maximum-flow problem. J. of the ACM 35 (1988).
Cherkassky, Goldberg: On implementing the push-relabel method for the maximum flow problem. Algorithmica 19 (1997).
"""

from .. import _check as check
from .. import _watch as watch
from .._parts import numbers
from ..paths.bfs import bfs_levels

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
    value, (i, j, used), _ = _flow(A, source, sink, gb)
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
    value, _, h = _flow(A, source, sink, gb)
    return value, gb.Vector.from_dense(h >= A.nrows)


def _flow(A, source, sink, gb):
    """The value, the arcs and what goes along them, and the heights at the end."""
    n = check.square(gb, A)
    s, t = check.vertex(gb, "source", source, n), check.vertex(gb, "sink", sink, n)
    if s == t:
        raise gb.exceptions.InvalidValue(
            f"argument sink: expected another vertex than the source, got {t}. Hint: a flow goes from one to another."
        )
    i, j, room = _arcs(A, gb)
    r, rev, v = room.copy(), (j * n + i).argsort(), numbers(n, gb)
    inner = (v != s) & (v != t)
    # the source fills its edges
    (k,) = (i == s).nonzero()
    r[k], r[rev[k]] = 0, r[rev[k]] + room[k]
    e = _sums(j[k], room[k], n, gb)
    while True:
        h = _heights(i, j, r, s, t, n, gb)
        for _ in range(ROUNDS):
            active = (e > 0) & inner
            if not active.any():
                return e[t].item(), (i, j, room - r), h
            # k = the arcs that excess flows along, one after the other, until nothing is left of it
            (k,) = ((r > 0) & active[i] & (h[i] == h[j] + 1)).nonzero()
            u, most = i[k], r[k].clip(max=e[i[k]])
            before = most.cumsum() - most
            first = gb.Vector.from_coo(u, numbers(len(k), gb), size=n, dup_op=gb.binary.min).to_dense(0)
            moved = (e[u] - (before - before[first[u]])).clip(0, most)
            r[k], r[rev[k]] = r[k] - moved, r[rev[k]] + moved
            e = e + _sums(j[k], moved, n, gb) - _sums(u, moved, n, gb)
            # h<e > 0> = max(h, 1 + min h[j] over the arcs with room)
            (k,) = ((r > 0) & ((e > 0) & inner)[i]).nonzero()
            rise = gb.Vector.from_coo(i[k], h[j[k]] + 1, size=n, dup_op=gb.binary.min).to_dense(0)
            h = h.clip(rise)
            watch.tell()


def _arcs(A, gb):
    """Rows, columns and capacities of the edges, by row, each with the one back, whose capacity may be 0."""
    check.weights(gb, A)
    dtype = gb.dtypes.FP64 if A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64) else gb.dtypes.INT64
    B = A.dup(dtype)
    # B = A without its diagonal; B += 0 A'
    B << B.select(gb.select.offdiag)
    zeros = B.apply(gb.binary.times, right=0).new()
    B(gb.binary.plus) << zeros.T
    i, j, room = B.to_coo()
    return i.astype("int64"), j.astype("int64"), room


def _sums(at, values, n, gb):
    """The sum of the values at each vertex."""
    return gb.Vector.from_coo(at, values, size=n, dup_op=gb.binary.plus).to_dense(0)


def _heights(i, j, r, s, t, n, gb):
    """Arcs with room from each vertex to the sink; n and the arcs to the source where no way leads there."""
    (k,) = (r > 0).nonzero()
    back = gb.Matrix.from_coo(j[k], i[k], True, nrows=n, ncols=n)
    h = 2 * n - numbers(n, gb) * 0
    for target, more in ((s, n), (t, 0)):
        v, level = bfs_levels(back, target, gb=gb).to_coo()
        h[v] = level + more
    return h

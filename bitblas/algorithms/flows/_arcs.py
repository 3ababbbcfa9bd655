"""Arcs of a flow network: exact arithmetic on capacities, and a tree over the arcs of each vertex."""

from __future__ import annotations

import math
import sys

from .._check import tuning
from .._parts import index_range

# ---- Exact arithmetic on capacities and flows of any size, stored as FP64 or UINT64 arrays.

LARGEST, SMALLEST = sys.float_info.max, math.ulp(0.0)  # the positive floats


def holds_floats(A, gb):
    return A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64)


def most_at_a_vertex(A, gb):
    """An upper bound of the total capacity of the edges at one vertex, in and out: a float."""
    plus, most = gb.monoid.plus[gb.dtypes.FP64], gb.monoid.max[gb.dtypes.FP64]
    sums = A.reduce_rowwise(plus).new(), A.reduce_columnwise(plus).new()
    return sum(max(0.0, float(x.reduce(most, allow_empty=False).new().value)) for x in sums)


def bits_of(total):
    """The least k with total < 2^k, for an int or a float."""
    return math.frexp(total)[1] if isinstance(total, float) else total.bit_length()


def times_power(x, bits):
    """x times 2^bits, for an FP64 or UINT64 array, or a float; UINT64 bits that are shifted out are lost."""
    if isinstance(x, float) or x.dtype.kind == "f":
        half = bits // 2  # 2^bits may overflow a float
        return x * 2.0**half * 2.0 ** (bits - half)
    return x << x.dtype.type(bits) if bits >= 0 else x >> x.dtype.type(-bits)


def minimum(x, y):
    """The element-wise minimum, for arrays of any device."""
    return x * (x <= y) + y * (x > y)


def total(x):
    """The exact sum of an FP64 array, as a float, or of a UINT64 array, as a Python int of any size."""
    if x.dtype.kind == "f":
        return float(x.sum())
    half = x.dtype.type(32)
    high = x >> half
    return (int(high.sum()) << 32) + int((x - (high << half)).sum())


def arcs_of(A, gb, kind):
    """Rows, columns and capacities of the edges, by row; each edge has a reverse arc, of capacity 0 if missing in A."""
    B = A.dup(kind)
    # B = A off the diagonal; B += 0 A'
    B << B.select(gb.select.offdiag)
    zeros = B.apply(gb.binary.times, right=0).new()
    B(gb.binary.plus) << zeros.T
    i, j, capacity = B.to_coo()
    return i.astype("int64"), j.astype("int64"), capacity


# ---- Tree over the arcs of each vertex: prefix sums of flow in a few levels of small groups.


class ArcTree:
    """A tree per vertex below n; its leaves are the vertex's arcs, numbered from n on by their tails.

    Up to `flow.siblings` arcs form a group, as many groups form the next group, and so on; siblings have consecutive
    numbers. size: total number of nodes; depth: levels below the vertices. T leads from a node to its children, L to
    its earlier siblings.
    """

    def __init__(self, tail, n, gb):
        width = tuning.count("flow.siblings")
        owner, parents, places, self.size, self.depth = tail, [], [], n, 0
        while len(owner) or not self.depth:
            # rank = position of a node among those of its vertex; wide = whether they exceed the width
            node = index_range(len(owner), gb)
            rank, plus = node - owner.searchsorted(owner), gb.binary.plus
            wide = gb.Vector.from_coo(owner, node * 0 + 1, size=n, dup_op=plus).to_dense(0)[owner] > width
            self.size, self.depth = self.size + len(node), self.depth + 1
            (first,) = (wide & (rank % width == 0)).nonzero()
            parent, place = owner.copy(), rank.copy()
            parent[wide] = self.size + first.searchsorted(node[wide], side="right") - 1
            place[wide] %= width
            parents.append(parent)
            places.append(place)
            owner = owner[first]
        node = index_range(self.size, gb)
        parent, place, begin = node.copy(), node * 0, index_range(self.size + 1, gb) * 0
        at = n
        for above, before in zip(parents, places, strict=True):
            parent[at : at + len(above)], place[at : at + len(above)] = above, before
            at += len(above)
        begin[1:] = place.cumsum()
        entry = index_range(int(begin[-1]), gb)
        columns = entry + (node - place - begin[:-1])[begin.searchsorted(entry, side="right") - 1]
        self.L = gb.Matrix.from_csr(begin, columns, True, nrows=self.size, ncols=self.size)
        self.T = gb.Matrix.from_coo(parent[n:], node[n:], True, nrows=self.size, ncols=self.size)
        self.groups = gb.Vector.from_coo(node[n + len(tail) :], True, size=self.size)

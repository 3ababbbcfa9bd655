"""Negative cycles: find a directed cycle whose weights sum to less than 0.

Method: Bellman and Ford's rounds from all vertices at once, each remembering the vertex over which it improved. As soon
as these lead around in a circle, that is a negative cycle; if there is one, they do so after n rounds at the latest.
Circles are looked for by pointer jumping after 1, 2, 4, .. rounds.

State: d is the least weight of a walk found so far that ends at a vertex, an array; before[v] is the vertex before v on
it, v itself while there is none; moved tells the two apart.

Input: any square A, directed, A[i, j] the weight of the edge i -> j. An undirected edge of negative weight is a cycle.

Check: NetworkX's negative_edge_cycle; the sum of the weights.

Bellman: On a routing problem. Quarterly of Applied Mathematics 16 (1958).
Cherkassky, Goldberg: Negative-cycle detection algorithms. Mathematical Programming 85 (1999).
"""

from .. import _check as check
from .. import _watch as watch
from .._parts import numbers


@check.on_its_device
def negative_cycle(A, *, gb=None):
    """A cycle of negative weight in a directed graph.

    A: Matrix, n x n, any dtype but BOOL, whose edges weigh 1. gb: the library, bitblas if None.
    Returns a list of Python ints: the vertices of a cycle in its order, each once; empty if there is none.
    Raises InvalidValue (a weight is NaN or -infinity; integers so low that a walk of n edges may pass -2^63),
    DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    if A.dtype == gb.dtypes.BOOL:
        return []
    i, j, w = A.to_coo()
    real = A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64)
    if real:
        check.numbers(gb, "A", not ((w != w) | (w == -float("inf"))).any(), "no NaN and no -infinity")
    if not (w < 0).any():
        return []
    w = w.astype("float64" if real else "int64")
    if not real and -int(w.min()) * n >= 2**63:  # walks of n edges
        raise gb.exceptions.InvalidValue(
            f"argument A: expected integers of which {n} are above -2^63 together, got a weight of {int(w.min())}. "
            f"Hint: A.dup(float) has longer walks."
        )
    index = numbers(n, gb)
    # d = 0, before[v] = v
    d, before, moved = (index * 0).astype(w.dtype), index.copy(), index < 0
    for number in range(1, n + 1):
        # t[j] = min over i of d[i] + A[i, j]; better: t < d
        walk = d[i] + w
        v, t = gb.Vector.from_coo(j, walk, size=n, dup_op=gb.binary.min).to_coo()
        better = t < d[v]
        if not better.any():
            return []
        # d<better> = t; before<better> = the smallest i that gives t
        d[v[better]] = t[better]
        fresh = index < 0
        fresh[v[better]] = True
        hit = fresh[j] & (walk == d[j])
        at, over = gb.Vector.from_coo(j[hit], i[hit].astype("int64"), size=n, dup_op=gb.binary.min).to_coo()
        before[at], moved[at] = over, True
        watch.tell(total=n)
        if number & (number - 1) == 0 or number == n:
            found = _circle(before, moved, n)
            if found:
                return found
    return []


def _circle(before, moved, n):
    """The vertices of a circle of predecessors, in the order of the edges, or none."""
    # ahead[v] = the vertex n steps or more before v: where it has a predecessor still, it is on a circle
    ahead = before
    for _ in range(max(1, n).bit_length()):
        ahead = ahead[ahead]
    (on,) = moved[ahead].nonzero()
    if not len(on):
        return []
    before, start = before.tolist(), int(ahead[on[0]])
    circle = [start]
    while before[circle[-1]] != start:
        circle.append(before[circle[-1]])
    return circle[::-1]

"""Negative cycles: find a directed cycle whose weights sum to less than 0.

Method: Bellman-Ford from all vertices at once, recording the predecessor of each improvement. A cycle of predecessors
is a negative cycle; if the graph has one, such a cycle appears after at most n rounds. Predecessors are tested by
pointer jumping after 1, 2, 4, .. rounds.

State: d is the least weight found so far of a walk that ends at a vertex, an array. before[v] is the predecessor of v
on it, v itself if none; moved distinguishes this from a self loop.

Input: any square A, directed; A[i, j] is the weight of the edge i -> j. An undirected edge of negative weight is a
cycle.

Check: NetworkX's negative_edge_cycle; the sum of the weights.

Bellman: On a routing problem. Quarterly of Applied Mathematics 16 (1958).
Cherkassky, Goldberg: Negative-cycle detection algorithms. Mathematical Programming 85 (1999).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import index_range


@algorithm(answer="vertices", weighted=True, arrays=(36, 36))
def negative_cycle(A, *, gb=None):
    """A cycle of negative weight in a directed graph.

    A: Matrix, n x n, any dtype; edges of a BOOL matrix have weight 1. gb: the library, bitblas if None.
    Returns a list of Python ints: the vertices of a cycle in order, each once; empty if there is none.
    Raises InvalidValue (a weight is NaN or -infinity; integers so low that a walk of n edges may pass -2^63),
    DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    n = A.nrows
    if A.dtype == gb.dtypes.BOOL:
        return []
    i, j, w = A.to_coo()
    real = A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64)
    if real:
        check.no_nan(gb, "A", not ((w != w) | (w == -float("inf"))).any(), "no NaN and no -infinity")
    if not (w < 0).any():
        return []
    w = w.astype("float64" if real else "int64")
    if not real and -int(w.min()) * n >= 2**63:  # a walk of n edges could overflow
        raise gb.exceptions.InvalidValue(
            f"argument A: expected integers whose sum over {n} edges stays above -2^63, got a weight of "
            f"{int(w.min())}. Hint: convert with A.dup(float)."
        )
    index = index_range(n, gb)
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
        loops.report(total=n)
        if number & (number - 1) == 0 or number == n:
            found = _circle(before, moved, n)
            if found:
                return found
    return []


def _circle(before, moved, n):
    """The vertices of a cycle of predecessors, in edge order; empty if there is none."""
    # ahead[v] = the vertex n or more steps before v; if that vertex has a predecessor, it is on a cycle
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

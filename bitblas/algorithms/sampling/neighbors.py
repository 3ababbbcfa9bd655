"""Neighbour sampling: random edges of each vertex, hop by hop (GraphSAGE).

Method: each edge of a vertex draws a key, and the edges with the smallest keys are taken, so no edge is taken twice.
For sampling in proportion to weights the keys are exponentially distributed with the weight as rate. Random numbers are
hashes of the two ends of the edge, the hop and the seed: the same on every device and library.

State: `there` has an entry at each vertex sampled from in this hop.

Input: any square A. A stored entry A[i, j] is the edge i -> j; values are used only if weighted.

Check: numbers of edges, each an edge of A; shares by weight; the same samples from both libraries.

Hamilton, Ying, Leskovec: Inductive representation learning on large graphs. NIPS 2017.
Efraimidis, Spirakis: Weighted random sampling with a reservoir. Information Processing Letters 97 (2006).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import random_hash


@algorithm(answer="edges per hop", work="sources")
def sample_neighbors(A, starts, counts, *, weighted=False, seed=None, gb=None):
    """Random edges around some vertices, hop by hop: at most a given number per vertex.

    A: Matrix, n x n, any dtype. starts: vertices. counts: list of int >= 1, the edges per vertex in each hop, or an int
    for one hop. weighted: bool, take edges in proportion to their values (0 or more); else uniformly. seed: int, or
    None for 0: the same seed gives the same edges. gb: the library, bitblas if None.
    Returns a tuple of Matrix, n x n, of the dtype of A, one per hop: the sampled edges of the vertices that the
    previous hop reached.
    Raises InvalidValue (a count below 1, a weight out of range), DimensionMismatch (A not square), IndexOutOfBound (a
    start out of range), TypeError (wrong types).
    """
    n = A.nrows
    starts = check.vertices(gb, "starts", starts, n)
    each = [counts] if isinstance(counts, str) or not hasattr(counts, "__iter__") else counts
    counts = [check.count(gb, "counts", k, "at least one edge per vertex") for k in each]
    seed = 0 if seed is None else check.integer("seed", seed)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    work = loops.shared_work()
    hops, there = [], gb.Vector.from_coo(sorted(set(starts)), True, size=n)
    for hop, count in enumerate(counts):
        # near = A[there, :]
        v = work.part(there.to_coo(values=False)[0])
        near = A[v, :].new()
        check.memory(A, f"sample_neighbors: keys of {near.nvals} edges", 56 * near.nvals)
        i, j, values = near.to_coo()
        rows, j = v.view("int64")[i], j.view("int64")
        key = (random_hash(j, seed, hop, 1) ^ random_hash(rows, seed, hop, 2)) + 0.5
        if weighted:
            # key = - log(u) / weight
            u = random_hash(key.astype("int64"), seed) + 0.5
            key = -gb.Vector.from_dense(u / 2**32).apply(gb.unary.log).new().to_dense() / values
        # sort by (row, key); keep the first `count` of each row
        order = key.argsort(kind="stable")
        order = order[rows[order].argsort(kind="stable")]
        kept = order[_places(rows[order]) < count]
        hops.append(work.union(gb.Matrix.from_coo(rows[kept], j[kept], values[kept], A.dtype, nrows=n, ncols=n)))
        # there = the heads of the kept edges
        there = gb.Vector.from_coo(hops[-1].to_coo(rows=False, values=False)[1], True, size=n)
        loops.report(total=len(counts))
    return tuple(hops)


def _places(rows):
    """The position of each entry within its row, for ascending rows."""
    return (rows >= 0).cumsum() - 1 - rows.searchsorted(rows)

"""Biased random walks (node2vec): second-order walks that return, stay near, or move away.

Method: rejection sampling. A step is drawn as in an unbiased walk and accepted with a probability proportional to 1/p
for the previous vertex, 1 for its neighbours, and 1/q for others, over the largest of the three; rejected walks draw
again. Random numbers are hashes of walk, step, attempt and seed: the same on every device.

State: at[k] is the vertex of walk k, -1 after its end, last[k] the one before. Edges are looked up by their number,
row n + column.

Input: any square A. A stored entry A[i, j] is the edge i -> j; values are used only if weighted.

Check: every step is an edge; shares by weight and bias; the same walks from both libraries.

Grover, Leskovec: node2vec, scalable feature learning for networks. KDD 2016.
Yang, Zhang, Chen, Chen: KnightKing, a fast distributed graph random walk engine. SOSP 2019, for rejection.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import hash_more, index_range
from .walks import Steps, chance, draws, table


@algorithm(answer="walks", arrays=(16, 24), work="sources")
def node2vec_walks(A, starts, length, *, p=1.0, q=1.0, weighted=False, seed=None, gb=None):
    """A random walk from each of the vertices in `starts`, biased by the previous vertex.

    A: Matrix, n x n, any dtype. starts: vertices, one per walk. length: int >= 1, steps. p: float > 0: larger values
    make returning less likely. q: float > 0: larger values make leaving the previous vertex's neighbours less likely.
    weighted: bool, take edges in proportion to their values (0 or more); else uniformly. seed: int, or None for 0: the
    same seed gives the same walks. gb: the library, bitblas if None.
    Returns a Matrix, INT64, len(starts) x (length + 1): a row holds the vertices of a walk, the start first; it ends
    early at a vertex without an out-edge, or without one of weight above 0.
    Raises InvalidValue (length below 1, p, q or a weight out of range), DimensionMismatch (A not square),
    IndexOutOfBound (a start out of range), TypeError (wrong types).
    """
    n = A.nrows
    starts = check.vertices(gb, "starts", starts, n)
    length = check.count(gb, "length", length, "a walk has one step or more")
    back, away = (
        1 / check.number(gb, name, given, lambda x: 0 < x < float("inf"), "a number above 0", "1 is no bias")
        for name, given in (("p", p), ("q", q))
    )
    seed = 0 if seed is None else check.integer("seed", seed)
    steps = Steps(A, weighted, gb, rows=True)
    edges, most = steps.rows * n + steps.j, max(1.0, back, away)

    work, size = loops.shared_work(), len(starts)
    together = tuning.count("node2vec.steps")
    number, own = index_range(max(size, together), gb), work.part(range(size))
    at = gb.Vector.from_coo(number[:size], starts, gb.dtypes.INT64, size=size).to_dense(0)[own.start : own.stop]
    last, places = at * 0 - 1, [at]
    for hashes in draws(own, length, seed, gb) if len(steps.j) else ():
        (waits,) = ((at >= 0) & (steps.d[at] > 0)).nonzero()
        to, tries = at * 0 - 1, 0
        while len(waits):
            # to = the first accepted of several drawn steps; accept with probability bias / most
            some = max(1, together // len(waits))
            draw = number[: len(waits) * some]
            w, k = waits[draw // some], 2 * (tries + draw % some)
            before, hashed = last[w], hashes[w]
            v = steps.next_vertices(at[w], chance(hash_more(hashed, k)))
            bias = (v == before) * back + (v != before) * (away + (1 - away) * _are_edges(edges, before * n + v))
            bias = bias * (before >= 0) + most * (before < 0)
            go = (chance(hash_more(hashed, k + 1)) * most <= bias).reshape(-1, some)
            found, first = go.any(axis=1), go.argmax(axis=1)
            to[waits] = found * (v[first + draw[::some]] + 1) - 1
            waits, tries = waits[~found], tries + some
        at, last = to, at
        places.append(at)
        loops.report(total=length)
    return work.stacked(table(places, length, gb))


def _are_edges(edges, keys):
    """Whether each number is in `edges`, which is sorted."""
    k = edges.searchsorted(keys).clip(max=max(0, len(edges) - 1))
    return edges[k] == keys

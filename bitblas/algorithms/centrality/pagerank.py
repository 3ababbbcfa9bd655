"""PageRank: how often a random surfer visits each vertex.

Method: power iteration. With probability alpha the surfer follows one of the out-edges, each with the same
probability; else, and at a vertex without out-edges (dangling), the next vertex is any of all n.

State: r is full, one rank per vertex, and sums to 1. The division by the out-degree is done once, in w, so A needs no
values. What does not flow along edges, from the jumps and the dangling vertices, is what the flow lacks to the sum 1.

Input: any square A; an edge is a stored entry, whatever its dtype and value. Directed: A[i, j] is the edge i -> j.

Page, Brin, Motwani, Winograd: The PageRank citation ranking. Stanford InfoLab 1999-66.
Langville, Meyer: Deeper inside PageRank. Internet Mathematics 1 (2004), for the dangling vertices.
"""

from .. import _check as check
from .. import _watch as watch


@check.on_its_device
def pagerank(A, *, alpha=0.85, tol=1e-6, max_iter=100, gb=None):
    """The rank of each vertex.

    A: Matrix, n x n, any dtype. alpha: float, 0 <= alpha < 1. tol: float > 0; stops when the sum of the absolute
    changes of one round is below it. max_iter: int >= 1; if tol is not met by then, the last iterate is returned, and a
    `algorithms.Watch` around the call says so.
    gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full, with sum 1.
    Raises InvalidValue (alpha, tol or max_iter out of range), DimensionMismatch (A not square), TypeError.
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    alpha = check.number(gb, "alpha", alpha, lambda x: 0 <= x < 1, "a number in [0, 1)", "0.85 is usual")
    tol = check.number(gb, "tol", tol, lambda x: x > 0, "a number above 0", "1e-6 is the default")
    max_iter = check.count(gb, "max_iter", max_iter, "100 is the default")
    FP64 = gb.dtypes.FP64
    if n == 0:
        return gb.Vector(FP64, 0)

    loop = check.loop(_iteration, A, gb, tol, max_iter)
    r, w, going = (loop.state[name] for name in ("ranks", "shares", "while_"))
    r << 1 / n
    going << True
    # w = alpha / (A plus.pair r): alpha over the out-degree, no entry where there is no out-edge
    w << A.mxv(r, gb.semiring.plus_pair[FP64])
    w << w.apply(gb.binary.truediv, left=alpha)
    loop.run()
    if going.value:
        watch.stopped()
    return loop.result(r)


def _iteration(A, gb, tol, max_iter):
    n, binary, unary, plus, FP64 = A.nrows, gb.binary, gb.unary, gb.monoid.plus, gb.dtypes.FP64
    r, w, t, flow = (gb.Vector(FP64, n) for _ in range(4))
    total, rest, change = (gb.Scalar(FP64) for _ in range(3))
    going = gb.Scalar(gb.dtypes.BOOL)

    def body(_):
        # t = A' plus.second (w .* r)
        flow << binary.times(w & r)
        t << A.T.mxv(flow, gb.semiring.plus_second[FP64])
        # t += (1 - sum(t)) / n: the rest comes to all vertices alike
        total << t.reduce(plus, allow_empty=False)
        rest << total.apply(binary.minus, left=1.0)
        rest << rest.apply(binary.truediv, right=float(n))
        t(plus) << rest
        # go on if sum(|r - t|) >= tol; r = t
        r << binary.minus(r & t)
        r << r.apply(unary.abs)
        change << r.reduce(plus)
        going << change.apply(binary.ge, right=tol)
        r << t

    return {"body": body, "while_": going, "limit": max_iter, "ranks": r, "shares": w}

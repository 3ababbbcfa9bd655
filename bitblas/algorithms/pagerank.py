"""PageRank: how often a random surfer visits each vertex.

Method: power iteration. With probability alpha the surfer follows one of the out-edges, each with the same
probability; else, and at a vertex without out-edges (dangling), the next vertex is any of all n.

State: r is full, one rank per vertex, and sums to 1. The division by the out-degree is done once, in w, so A needs no
values. What does not flow along edges, from the jumps and the dangling vertices, is what the flow lacks to the sum 1.

Input: any square A; an edge is a stored entry, whatever its dtype and value. Directed: A[i, j] is the edge i -> j.

Page, Brin, Motwani, Winograd: The PageRank citation ranking. Stanford InfoLab 1999-66.
Langville, Meyer: Deeper inside PageRank. Internet Mathematics 1 (2004), for the dangling vertices.
"""

from . import _check as check


@check.on_its_device
def pagerank(A, *, alpha=0.85, tol=1e-6, max_iter=100, gb=None):
    """The rank of each vertex.

    A: Matrix, n x n, any dtype. alpha: float, 0 <= alpha < 1. tol: float > 0; stops when the sum of the absolute
    changes of one round is below it. max_iter: int >= 1; if tol is not met by then, the last iterate is returned.
    gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full, with sum 1.
    Raises InvalidValue (alpha, tol or max_iter out of range), DimensionMismatch (A not square), TypeError.
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    alpha = check.number(gb, "alpha", alpha, lambda x: 0 <= x < 1, "a number in [0, 1)", "0.85 is usual")
    tol = check.number(gb, "tol", tol, lambda x: x > 0, "a number above 0", "1e-6 is the default")
    max_iter = check.count(gb, "max_iter", max_iter, "100 is the default")
    binary, unary, plus, FP64 = gb.binary, gb.unary, gb.monoid.plus, gb.dtypes.FP64
    if n == 0:
        return gb.Vector(FP64, 0)

    r = gb.Vector.from_scalar(1 / n, n)
    # w = alpha / (A plus.pair r): alpha over the out-degree, no entry where there is no out-edge
    w = A.mxv(r, gb.semiring.plus_pair[FP64]).new()
    w << w.apply(binary.truediv, left=alpha)
    before, flow, change = (gb.Vector(FP64, n) for _ in range(3))

    for _ in range(max_iter):
        before, r = r, before
        # r = A' plus.second (w .* before)
        flow << binary.times(w & before)
        r << A.T.mxv(flow, gb.semiring.plus_second[FP64])
        # r += (1 - sum(r)) / n: the rest comes to all vertices alike
        r(plus) << (1 - r.reduce(plus, allow_empty=False).value) / n
        # stop if sum(|r - before|) < tol
        change << binary.minus(r & before)
        change << change.apply(unary.abs)
        if change.reduce(plus).value < tol:
            break
    return r

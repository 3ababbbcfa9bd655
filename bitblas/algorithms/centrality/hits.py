"""HITS: good hubs have edges to good authorities, and good authorities have edges from good hubs.

Method: power iteration of h = A A' h, scaled to sum 1 in every round; a = A' h.

State: h and a are full, FP64.

Input: any square A. A stored entry A[i, j] is the edge i -> j; values are used only if weighted.

Check: NetworkX's hits; A A' h is a multiple of h.

Kleinberg: Authoritative sources in a hyperlinked environment. J. of the ACM 46 (1999).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm

TINY = 1e-300  # divisor instead of 0: without edges, sums and scores are 0


@algorithm(answer=("value per vertex", "value per vertex"), work="sweeps")
def hits(A, *, weighted=False, tol=1e-8, max_iter=100, gb=None):
    """The hub score and the authority score of each vertex.

    A: Matrix, n x n, any dtype. weighted: bool, whether the values of A (0 or more) are weights. tol: float > 0; stops
    when the sum of absolute changes of the hubs in one round is below tol. max_iter: int >= 1; if tol is not met by
    then, the last iterate is returned with a ConvergenceWarning (see `algorithms.Watch`). gb: the library, bitblas if
    None.
    Returns two Vectors, hubs and authorities, FP64, size n, full, each with sum 1 (0 in a graph without edges).
    Raises InvalidValue (an option or a weight out of range), DimensionMismatch (A not square), TypeError.
    """
    n = A.nrows
    tol, max_iter = loops.check_limits(gb, tol, max_iter)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    if n == 0:
        return gb.Vector(gb.dtypes.FP64, 0), gb.Vector(gb.dtypes.FP64, 0)

    loop = loops.cached_loop(_iteration, A, gb, weighted, tol, max_iter)
    h, a = loop.state["hubs"], loop.state["authorities"]
    # h = 1 / n
    h << 1 / n
    loops.run_until_converged(loop, "hits")
    # a = a / sum(a)
    total = a.reduce(gb.monoid.plus, allow_empty=False).new().value
    return loop.result(h), a.apply(gb.binary.truediv, right=max(total, TINY)).new()


def _iteration(A, gb, weighted, tol, max_iter):
    FP64, binary = gb.dtypes.FP64, gb.binary
    along = gb.semiring.plus_times[FP64] if weighted else gb.semiring.plus_second[FP64]
    h, a, t = (gb.Vector(FP64, A.nrows) for _ in range(3))
    total, change = gb.Scalar(FP64), loops.Change(gb, tol)

    def body(_):
        # a = A' plus.second h (plus.times if weighted), 0 where no edge leads in
        a << A.T.mxv(h, along)
        a(binary.plus) << 0.0
        # t = A plus.second a
        t << A.mxv(a, along)
        t(binary.plus) << 0.0
        # t = t / sum(t)
        total << t.reduce(gb.monoid.plus, allow_empty=False)
        total << total.apply(binary.max, right=TINY)
        t << t.apply(binary.truediv, right=total)
        change.step(h, t)

    return {"body": body, "while_": change.going, "limit": max_iter, "hubs": h, "authorities": a}

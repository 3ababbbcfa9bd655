"""Eigenvector centrality: the score of a vertex is proportional to the sum of its in-neighbours' scores.

Method: power iteration of x = (A' + I) x, scaled to 2-norm 1 in every round. Adding the identity keeps the iteration
from oscillating on bipartite graphs and does not change the eigenvectors.

State: x is full, FP64, with 2-norm 1.

Input: any square A. A stored entry A[i, j] is the edge i -> j; values are used only if weighted.

Check: NetworkX's eigenvector_centrality; A' x is a multiple of x.

Bonacich: Power and centrality, a family of measures. American J. of Sociology 92 (1987).
Newman: Networks, an introduction. Oxford 2010, section 7.2.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm


@algorithm(answer="value per vertex", work="sweeps")
def eigenvector_centrality(A, *, weighted=False, tol=1e-6, max_iter=100, gb=None):
    """The eigenvector of A' for its largest eigenvalue.

    A: Matrix, n x n, any dtype. weighted: bool, whether the values of A (0 or more) are weights. tol: float > 0; stops
    when the sum of absolute changes in one round is below n tol. max_iter: int >= 1; if tol is not met by then, the
    last iterate is returned with a ConvergenceWarning (see `algorithms.Watch`). gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full, with 2-norm 1. If the eigenvector is not unique (the graph is not connected),
    it is the one nearest to all ones.
    Raises InvalidValue (an option or a weight out of range), DimensionMismatch (A not square), TypeError.
    """
    n = A.nrows
    tol, max_iter = loops.check_limits(gb, tol, max_iter)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    if n == 0:
        return gb.Vector(gb.dtypes.FP64, 0)

    loop = loops.cached_loop(_iteration, A, gb, weighted, n * tol, max_iter)
    x = loop.state["scores"]
    # x = 1 / n
    x << 1 / n
    loops.run_until_converged(loop, "eigenvector_centrality")
    return loop.result(x)


def _iteration(A, gb, weighted, tol, max_iter):
    FP64, binary = gb.dtypes.FP64, gb.binary
    along = gb.semiring.plus_times[FP64] if weighted else gb.semiring.plus_second[FP64]
    x, t, squares = (gb.Vector(FP64, A.nrows) for _ in range(3))
    norm, change = gb.Scalar(FP64), loops.Change(gb, tol)

    def body(_):
        # t = A' plus.second x + x (plus.times if weighted)
        t << A.T.mxv(x, along)
        t(binary.plus) << x
        # t = t / sqrt(sum(t .* t))
        squares << binary.times(t & t)
        norm << squares.reduce(gb.monoid.plus, allow_empty=False)
        norm << norm.apply(gb.unary.sqrt)
        t << t.apply(binary.truediv, right=norm)
        change.step(x, t)

    return {"body": body, "while_": change.going, "limit": max_iter, "scores": x}

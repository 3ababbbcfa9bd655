"""Katz centrality: the number of walks that end at a vertex, damped by a factor alpha per edge.

Method: power iteration of x = alpha A' x + beta, which sums walks of all lengths; a walk of k edges counts alpha^k. The
sum is finite if alpha is below 1 over the largest eigenvalue of A.

State: x is full, FP64.

Input: any square A. A stored entry A[i, j] is the edge i -> j; values are used only if weighted.

Check: NetworkX's katz_centrality; a direct solution of the system.

Katz: A new status index derived from sociometric analysis. Psychometrika 18 (1953).
Newman: Networks, an introduction. Oxford 2010, section 7.3.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm

PERIODS = 12  # changes summed in the proof that alpha is too large; a multiple of the periods 1, 2, 3, 4, 6
PROOF_ROUNDS = 100  # limit of the rounds in which that proof's set S shrinks


@algorithm(answer="value per vertex", work="sweeps")
def katz_centrality(A, *, alpha=0.1, beta=1.0, weighted=False, normalized=True, tol=1e-6, max_iter=1000, gb=None):
    """The Katz centrality of each vertex: x = alpha A' x + beta.

    A: Matrix, n x n, any dtype. alpha: float, 0 < alpha < 1 / (largest eigenvalue of A). beta: float > 0, the initial
    score of each vertex. weighted: bool, whether the values of A (0 or more) are weights. normalized: bool, scale the
    result to 2-norm 1. tol: float > 0; stops when the sum of absolute changes in one round is below n tol. max_iter:
    int >= 1; if tol is not met by then, the last iterate is returned with a ConvergenceWarning (see
    `algorithms.Watch`). gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full.
    Raises InvalidValue (an option or a weight out of range; alpha so large that the sum is infinite), DimensionMismatch
    (A not square), TypeError.
    """
    n = A.nrows
    hint = "0.1 and 1 are the defaults"
    alpha = check.number(gb, "alpha", alpha, lambda x: 0 < x < float("inf"), "a number above 0", hint)
    beta = check.number(gb, "beta", beta, lambda x: 0 < x < float("inf"), "a number above 0", hint)
    tol, max_iter = loops.check_limits(gb, tol, max_iter)
    check.flag("normalized", normalized)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    if n == 0:
        return gb.Vector(gb.dtypes.FP64, 0)

    loop = loops.cached_loop(_iteration, A, gb, alpha, beta, weighted, n * tol, max_iter)
    x = loop.state["scores"]
    # x = 0
    x << 0.0
    loops.run_until_converged(loop, "katz_centrality", lambda: _refuse_divergence(A, x, alpha, beta, weighted, gb))
    x = loop.result(x)
    norm = loops.two_norm(x, gb)
    if not norm < float("inf"):
        raise _too_large(A, alpha, weighted, gb)
    # x = x / sqrt(sum(x .* x))
    return x.apply(gb.binary.truediv, right=norm).new() if normalized else x


def _along(weighted, gb):
    return (gb.semiring.plus_times if weighted else gb.semiring.plus_second)[gb.dtypes.FP64]


def _too_large(A, alpha, weighted, gb):
    return gb.exceptions.InvalidValue(
        f"argument alpha: expected less than 1 over the largest eigenvalue of A, got {alpha!r}. "
        f"Hint: {_enough(A, weighted, gb)}."
    )


def _refuse_divergence(A, x, alpha, beta, weighted, gb):
    """InvalidValue if the sum is proven infinite; else a hint that alpha is too large if the last change grew."""
    along = _along(weighted, gb)
    t, u, y = (gb.Vector(gb.dtypes.FP64, A.nrows) for _ in range(3))

    def round_of(out, t):
        # out = alpha A' t
        out << A.T.mxv(t, along)
        out << out.apply(gb.binary.times, right=alpha)

    # t = alpha A' x + beta - x, the change of the next round; u = alpha A' t, the change after that
    round_of(t, x)
    t(gb.binary.plus) << beta
    t(gb.binary.minus) << x
    round_of(u, t)
    grows = _sum(u, gb) >= _sum(t, gb)
    # If M >= 0 and M y >= y for some nonzero y >= 0, M has an eigenvalue >= 1 and the sum of its powers is infinite.
    # Try y = the sum of PERIODS changes (whole periods of a periodic M), restricted to a set S of vertices that shrinks
    # until M y >= y on S.
    t << t.select(gb.select.valuegt, 0.0)
    y << t
    for _ in range(PERIODS - 1):
        round_of(u, t)
        t << u
        y << gb.binary.plus(y | t)
    proven = False
    for _ in range(PROOF_ROUNDS):
        round_of(u, y)
        holds = gb.binary.ge(u & y).new()
        inside = y.dup(mask=holds.V)
        if inside.nvals == y.nvals:
            proven = y.nvals > 0
            break
        y = inside
    if proven:
        raise _too_large(A, alpha, weighted, gb)
    return f"alpha={alpha!r} is too large, {_enough(A, weighted, gb)}" if grows else ""


def _sum(x, gb):
    """The 1-norm of a vector, as a float."""
    return x.apply(gb.unary.abs).new().reduce(gb.monoid.plus, allow_empty=False).new().value


def _enough(A, weighted, gb):
    """Hint with an alpha that is small enough: no eigenvalue exceeds the largest row sum."""
    # max(A plus.second 1)
    sums = A.mxv(gb.Vector.from_scalar(1.0, A.nrows), _along(weighted, gb)).new()
    most = sums.reduce(gb.monoid.max, allow_empty=False).new().value
    return f"{0.99 / most:.3g} is small enough: it is below 1 over the largest sum of a row, {most:.6g}"


def _iteration(A, gb, alpha, beta, weighted, tol, max_iter):
    FP64, binary, along = gb.dtypes.FP64, gb.binary, _along(weighted, gb)
    x, t = gb.Vector(FP64, A.nrows), gb.Vector(FP64, A.nrows)
    change = loops.Change(gb, tol)

    def body(_):
        # t = alpha (A' plus.second x) + beta
        t << A.T.mxv(x, along)
        t << t.apply(binary.times, right=alpha)
        t(binary.plus) << beta
        change.step(x, t)

    return {"body": body, "while_": change.going, "limit": max_iter, "scores": x}

"""PageRank: how often a random surfer visits each vertex.

Method: power iteration. With probability alpha the surfer follows an out-edge, chosen uniformly or in proportion to the
weights. Otherwise, and at a vertex without out-edges (dangling), the surfer jumps to any of the n vertices, uniformly
or in proportion to the personalization.

State: r is full and sums to 1. w holds alpha over the out-degree, so A needs no values; w is 0 at dangling vertices, so
that all vectors are full. The rank that does not flow along edges (jumps and dangling vertices) is 1 minus the sum of
the flow, and is known before the product.

Input: any square A. A stored entry A[i, j] is the edge i -> j; values are used only if weighted.

Check: NetworkX's pagerank; a dense power method.

Page, Brin, Motwani, Winograd: The PageRank citation ranking. Stanford InfoLab 1999-66.
Langville, Meyer: Deeper inside PageRank. Internet Mathematics 1 (2004), for dangling vertices and personalization.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm


@algorithm(answer="value per vertex", work="sweeps")
def pagerank(A, *, alpha=0.85, personalization=None, weighted=False, tol=1e-6, max_iter=100, dtype=None, gb=None):
    """The PageRank of each vertex: the probability that a random surfer is there.

    A: Matrix, n x n, any dtype. alpha: float, 0 <= alpha < 1. personalization: Vector of size n, values >= 0 with a sum
    above 0, no entry is 0: jumps are in proportion to it; None: uniform. weighted: bool, whether the values of A (0 or
    more) are weights. tol: float > 0; stops when the sum of absolute changes in one round is below tol. max_iter: int
    >= 1; if tol is not met by then, the last iterate is returned with a ConvergenceWarning (see `algorithms.Watch`).
    dtype: FP64 or FP32, the type of the ranks, FP64 if None; FP32 moves half the bytes and suits a tol of 1e-5 or more.
    gb: the library, bitblas if None.
    Returns a Vector, dtype, size n, full, with sum 1.
    Raises InvalidValue (alpha, tol, max_iter or a weight out of range, another dtype), DimensionMismatch (A not square,
    personalization of another size), TypeError.
    """
    n = A.nrows
    alpha = check.number(gb, "alpha", alpha, lambda x: 0 <= x < 1, "a number in [0, 1)", "0.85 is usual")
    tol, max_iter = loops.check_limits(gb, tol, max_iter)
    dtype = _ranked_in(gb, dtype)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    jumps = None if personalization is None else _jumps(personalization, n, gb)
    if n == 0:
        return gb.Vector(dtype, 0)

    loop = loops.cached_loop(_iteration, A, gb, weighted, jumps is not None, alpha, tol, max_iter, dtype)
    if jumps is not None:
        loop.state["jumps"] << jumps
    loops.run_until_converged(loop, "pagerank")
    return loop.result(loop.state["ranks"])


def _ranked_in(gb, dtype):
    """The validated type of the ranks."""
    allowed = {kind.name: kind for kind in (gb.dtypes.FP64, gb.dtypes.FP32)}
    try:
        return allowed[gb.dtypes.lookup_dtype("FP64" if dtype is None else dtype).name]
    except (KeyError, TypeError, ValueError):
        raise gb.exceptions.InvalidValue(
            f"argument dtype: expected FP64 or FP32, got {dtype!r}. Hint: FP64 is usual, FP32 is faster."
        ) from None


def _jumps(personalization, n, gb):
    """The jump probability of each vertex: full, with sum 1."""
    v = check.vector(gb, "personalization", personalization, n)
    total = check.sum_of_weights(gb, v, v, "personalization", "drop them")
    if n and total == 0:
        raise gb.exceptions.InvalidValue(
            "argument personalization: expected a value above 0, got none. Hint: pass None for uniform jumps."
        )
    # jumps = personalization / sum(personalization), 0 elsewhere
    jumps = gb.Vector.from_scalar(0.0, n)
    jumps(gb.binary.plus) << personalization.apply(gb.binary.truediv[gb.dtypes.FP64], right=total)
    return jumps


def _iteration(A, gb, weighted, personal, alpha, tol, max_iter, dtype):
    n, binary, plus, FP64 = A.nrows, gb.binary, gb.monoid.plus, gb.dtypes.FP64
    along = gb.semiring.plus_times[dtype] if weighted else gb.semiring.plus_second[dtype]
    r, p, w = gb.Vector(dtype, n), gb.Vector(dtype, n), gb.Vector.from_scalar(0.0, n, dtype=dtype)
    # w = alpha / (A plus.pair 1), or alpha / row sums of A if weighted; 0 at dangling vertices
    leaving = A.reduce_rowwise(plus[dtype]).new() if weighted else A.mxv(w, gb.semiring.plus_pair[dtype]).new()
    leaving << leaving.select(gb.select.valuegt, 0.0)
    w(leaving.S) << leaving.apply(binary.truediv, left=alpha)
    rest, change = gb.Scalar(FP64), loops.Change(gb, tol)
    # Scalars rather than constants, so that one compiled body serves all sizes and alphas.
    less, size = gb.Scalar.from_value(-alpha, FP64), gb.Scalar.from_value(n, FP64)

    def begin():
        # r = 1 / n
        r << 1 / n
        flow = gb.Vector(dtype, n)
        share(flow)
        return (flow,)

    def share(flow):
        # flow = w .* r; rest = 1 - alpha sum((w != 0) .* r), over n if jumps are uniform
        flow << binary.times(w & r)
        flows = w.apply(binary.isne, right=0.0).new()
        flows << binary.times(flows & r)
        rest << flows.reduce(plus, allow_empty=False)
        rest << rest.apply(binary.times, right=less)
        rest << rest.apply(binary.plus, right=1.0)
        if not personal:
            rest << rest.apply(binary.truediv, right=size)

    def body(_, flow):
        # t = A' plus.second flow + rest * p, or + rest if jumps are uniform
        t = A.T.mxv(flow, along).new()
        t(plus) << (p.apply(binary.times, right=rest) if personal else 0.0)
        if not personal:
            t << t.apply(binary.plus, right=rest)
        change.step(r, t)
        share(flow)

    state = {"ranks": r, "jumps": p, "while_": change.going}
    return {"begin": begin, "body": body, "limit": max_iter, **state}

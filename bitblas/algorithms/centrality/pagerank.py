"""PageRank: how often a random surfer visits each vertex.

Method: power iteration. With probability alpha the surfer follows one of the out-edges, each with the same
probability, or in proportion to its weight; else, and at a vertex without out-edges (dangling), the next vertex is any
of all n, or one in proportion to the personalization.

State: r is full, one rank per vertex, and sums to 1. The division by the out-degree is done once, in w, so A needs no
values; w is 0 where nothing can flow, so that all vectors are full. What does not flow along edges, from the jumps and
the dangling vertices, is what the flow of the others lacks to the sum 1; it is known before the product.

Input: any square A; an edge is a stored entry, and its value matters only if weighted. Directed: A[i, j] is i -> j.

Check: NetworkX's pagerank; a dense power method.

Page, Brin, Motwani, Winograd: The PageRank citation ranking. Stanford InfoLab 1999-66.
Langville, Meyer: Deeper inside PageRank. Internet Mathematics 1 (2004), for dangling vertices and personalization.
"""

from .. import _check as check
from .. import _power as power


@check.on_its_device
def pagerank(A, *, alpha=0.85, personalization=None, weighted=False, tol=1e-6, max_iter=100, dtype=None, gb=None):
    """The rank of each vertex.

    A: Matrix, n x n, any dtype. alpha: float, 0 <= alpha < 1. personalization: Vector of size n, values >= 0 of a sum
    above 0: where jumps lead, in proportion; no entry is 0; None: everywhere alike. weighted: bool, whether the values
    of A (0 or more) are weights. tol: float > 0; stops when the sum of the absolute changes of one round is below it.
    max_iter: int >= 1; if tol is not met by then, the last iterate is returned, and a ConvergenceWarning says so (or an
    `algorithms.Watch` around the call). dtype: FP64 or FP32, what ranks are computed in, FP64 if None; FP32 moves half
    the bytes, and is good for a tol of 1e-5 or more. gb: the library, bitblas if None.
    Returns a Vector, dtype, size n, full, with sum 1.
    Raises InvalidValue (alpha, tol, max_iter or a weight out of range, another dtype), DimensionMismatch (A not
    square, another size of personalization), TypeError.
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    alpha = check.number(gb, "alpha", alpha, lambda x: 0 <= x < 1, "a number in [0, 1)", "0.85 is usual")
    tol, max_iter = power.limits(gb, tol, max_iter)
    dtype = _ranked_in(gb, dtype)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    jumps = None if personalization is None else _jumps(personalization, n, gb)
    if n == 0:
        return gb.Vector(dtype, 0)

    loop = check.loop(_iteration, A, gb, weighted, jumps is not None, alpha, tol, max_iter, dtype)
    if jumps is not None:
        loop.state["jumps"] << jumps
    power.run(loop, "pagerank")
    return loop.result(loop.state["ranks"])


def _ranked_in(gb, dtype):
    """The type of the ranks."""
    allowed = {kind.name: kind for kind in (gb.dtypes.FP64, gb.dtypes.FP32)}
    try:
        return allowed[gb.dtypes.lookup_dtype("FP64" if dtype is None else dtype).name]
    except (KeyError, TypeError, ValueError):
        raise gb.exceptions.InvalidValue(
            f"argument dtype: expected FP64 or FP32, got {dtype!r}. Hint: FP64 is usual, FP32 is faster."
        ) from None


def _jumps(personalization, n, gb):
    """The probability of each vertex to be jumped to: full, with sum 1."""
    total = check.weights(gb, check.vector(gb, "personalization", personalization, n), "personalization", "drop them")
    if n and total == 0:
        raise gb.exceptions.InvalidValue(
            "argument personalization: expected a value above 0, got none. Hint: None jumps everywhere alike."
        )
    # jumps = personalization / its sum, 0 elsewhere
    jumps = gb.Vector.from_scalar(0.0, n)
    jumps(gb.binary.plus) << personalization.apply(gb.binary.truediv[gb.dtypes.FP64], right=total)
    return jumps


def _iteration(A, gb, weighted, personal, alpha, tol, max_iter, dtype):
    n, binary, plus, FP64 = A.nrows, gb.binary, gb.monoid.plus, gb.dtypes.FP64
    along = gb.semiring.plus_times[dtype] if weighted else gb.semiring.plus_second[dtype]
    r, p, w = gb.Vector(dtype, n), gb.Vector(dtype, n), gb.Vector.from_scalar(0.0, n, dtype=dtype)
    # w = alpha / (A plus.pair w): over the out-degree, or the sum of the weights; 0 where nothing can flow
    leaving = A.reduce_rowwise(plus[dtype]).new() if weighted else A.mxv(w, gb.semiring.plus_pair[dtype]).new()
    leaving << leaving.select(gb.select.valuegt, 0.0)
    w(leaving.S) << leaving.apply(binary.truediv, left=alpha)
    rest, change = gb.Scalar(FP64), power.Change(gb, tol)
    # Scalars, where constants would be compiled into the body: it is one for all sizes and alphas.
    less, size = gb.Scalar.from_value(-alpha, FP64), gb.Scalar.from_value(n, FP64)

    def begin():
        # r = 1 / n
        r << 1 / n
        flow = gb.Vector(dtype, n)
        share(flow)
        return (flow,)

    def share(flow):
        # flow = w .* r; rest = 1 - alpha sum((w != 0) .* r)
        flow << binary.times(w & r)
        flows = w.apply(binary.isne, right=0.0).new()
        flows << binary.times(flows & r)
        rest << flows.reduce(plus, allow_empty=False)
        rest << rest.apply(binary.times, right=less)
        rest << rest.apply(binary.plus, right=1.0)
        if not personal:
            rest << rest.apply(binary.truediv, right=size)

    def body(_, flow):
        # t = A' plus.second flow + rest p: the rest comes to all vertices alike, or as they are preferred
        t = A.T.mxv(flow, along).new()
        t(plus) << (p.apply(binary.times, right=rest) if personal else 0.0)
        if not personal:
            t << t.apply(binary.plus, right=rest)
        change.step(r, t)
        share(flow)

    state = {"ranks": r, "jumps": p, "while_": change.going}
    return {"begin": begin, "body": body, "limit": max_iter, **state}

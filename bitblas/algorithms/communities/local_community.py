"""Local clustering: a community around given vertices, from the part of the graph near them (PageRank-Nibble).

Method: a lazy random walk starts at the sources, ends before each step with probability alpha, and in a step stays
where it is with probability 1/2. p[v], the personalized PageRank, is the probability that it ends at v. Pushes
approximate it: a vertex whose residual r is at least eps times its degree d moves alpha r into p, keeps half of the
rest, and sends the other half along its edges. All such vertices push at the same time, until none is left. The sweep
cut sorts the vertices with p > 0 by p / d and returns the prefix of least conductance: weight of the edges that leave
it, over the sum of its degrees or of all other degrees, whichever is less.

State: p and r are sparse, with sum 1 together. A vertex that has pushed keeps (1 - alpha) / 2 eps d or more of r, so
the degrees of the vertices in p add up to at most 2 / ((1 - alpha) eps), however large the graph is.

Input: A with a symmetric structure and, if weighted, symmetric values. A degree is the number of entries of a row, or
their sum if weighted; a self loop counts once, and never leaves a community.

Check: a direct solution of the system of the walk: 0 <= exact - p <= eps d; the bound on degrees; conductance of every
prefix, from its definition; NetworkX's conductance.

Andersen, Chung, Lang: Local graph partitioning using PageRank vectors. FOCS 2006.
Shun, Roosta-Khorasani, Fountoulakis, Mahoney: Parallel local graph clustering. PVLDB 9 (2016), for parallel pushes.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm

FAR = float("inf")
ROUNDING = 1e-12  # relative error of a sum of degrees


@algorithm(graph="undirected", answer="value per vertex")
def approximate_pagerank(A, source, *, alpha=0.15, eps=1e-4, weighted=False, gb=None):
    """The personalized PageRank of the vertices near `source`, less at most eps times the degree of each.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). source: int, 0 <= source < n, or several: the
    walk starts at any of them. alpha: float, 0 < alpha < 1, the probability that the lazy walk ends before a step;
    smaller values reach farther. eps: float > 0; the degrees of all vertices that have a value add up to at most
    2 / ((1 - alpha) eps). weighted: bool, whether the values of A (0 or more) are weights. gb: the library, bitblas if
    None.
    Returns a Vector, FP64, size n: no entry at a vertex that is too far, none at all if eps exceeds the share of each
    source over its degree; the sum is at most 1.
    Raises InvalidValue (A not symmetric, an option or a weight out of range, no source), DimensionMismatch (A not
    square), IndexOutOfBound (source out of range), TypeError.
    """
    return _pushed(A, source, alpha, eps, weighted, gb)


@algorithm(graph="undirected", answer=("vertices", "number"), arrays=(8, 0))
def local_community(A, source, *, alpha=0.15, eps=1e-4, weighted=False, gb=None):
    """The community around `source` that a sweep over its approximate PageRank finds, and its conductance.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). source: int, 0 <= source < n, or several. alpha,
    eps, weighted, gb: as for `approximate_pagerank`.
    Returns a list of Python ints, the vertices of the community in descending order of PageRank over degree, and a
    Python float: the conductance, from 0 (no edge leaves) to 1. The community may lack a source. It has all edges of
    the graph only if no other is found.
    Raises InvalidValue (A not symmetric, an option or a weight out of range, no source, eps too large for the degree of
    a source), DimensionMismatch (A not square), IndexOutOfBound (source out of range), TypeError.
    """
    p = _pushed(A, source, alpha, eps, weighted, gb)
    vertex, rank = p.to_coo()
    degree = loops.cached(_weighted_degrees if weighted else _degrees, A, gb).to_dense(0.0)
    if not len(vertex):
        sources = check.sources(gb, "source", source, A.nrows)
        most = 1 / len(sources) / float(degree[sources].min())
        raise gb.exceptions.InvalidValue(
            f"argument eps: expected at most {most:.3g}, the share of a source over its degree, got {eps:.3g}, with "
            "which nothing is near. Hint: pass a tenth of that, or less."
        )
    d = degree[vertex]
    # a vertex without edges comes first: nothing leaves it
    order = vertex[(-rank / (d + (d == 0) * 1e-300)).argsort(kind="stable")]

    # B = A[order, order]; inside[k] = weight of the edges of vertex k to itself and to vertices before it
    B = A[order, order].new()
    B = B.apply(gb.unary.identity[gb.dtypes.FP64] if weighted else gb.unary.one[gb.dtypes.FP64]).new()
    plus, select = gb.monoid.plus[gb.dtypes.FP64], gb.select
    inside = B.select(select.tril, 0).new().reduce_rowwise(plus).new().to_dense(0.0)
    inside = inside + B.select(select.triu, 1).new().reduce_columnwise(plus).new().to_dense(0.0)
    # volume[k] = sum of degrees up to vertex k; conductance = (volume - inside) / min(volume, total - volume)
    volume, total = degree[order].cumsum(), float(degree.sum())
    cut = (volume - inside.cumsum()).clip(0.0)
    rest = total - volume
    smaller = volume + (rest - volume) * (rest < volume)
    everything = rest <= ROUNDING * total
    conductance = cut / (smaller + everything + (smaller == 0)) + 2.0 * everything
    best = int(conductance.argmin())
    if bool(everything[best]):
        return order.tolist(), 0.0
    return order[: best + 1].tolist(), float(conductance[best])


def _degrees(A, gb):
    """The number of entries of each row: full, FP64."""
    # d = A plus.pair 1
    d = gb.Vector.from_scalar(0.0, A.nrows)
    d << A.mxv(d, gb.semiring.plus_pair[gb.dtypes.FP64])
    d(~d.S) << 0.0
    return d


def _weighted_degrees(A, gb):
    """The sum of each row: full, FP64."""
    d = gb.Vector.from_scalar(0.0, A.nrows)
    d(gb.binary.plus) << A.reduce_rowwise(gb.monoid.plus[gb.dtypes.FP64])
    return d


def _pushed(A, source, alpha, eps, weighted, gb):
    """The approximate PageRank; validates the arguments."""
    n, binary = A.nrows, gb.binary
    source = check.sources(gb, "source", source, n)
    if not source:
        raise gb.exceptions.InvalidValue("argument source: expected a vertex or several, got none. Hint: pass [v].")
    alpha = check.number(gb, "alpha", alpha, lambda x: 0 < x < 1, "a number between 0 and 1", "0.15 is the default")
    eps = check.number(gb, "eps", eps, lambda x: 0 < x < FAR, "a number above 0", "1e-4 is the default")
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    d = loops.cached(_weighted_degrees if weighted else _degrees, A, gb)

    loop = loops.cached_loop(_pushes, A, gb, weighted)
    p, r, q, least, share, ends, stays = (
        loop.state[name] for name in ("ranks", "residual", "while_", "least", "share", "ends", "stays")
    )
    # least = eps d, infinite without edges; share = (1 - alpha) / 2 / d
    least << FAR
    share << 0.0
    leaving = d.select(gb.select.valuegt, 0.0).new()
    least(leaving.S) << leaving.apply(binary.times, right=eps)
    share(leaving.S) << leaving.apply(binary.truediv, left=(1 - alpha) / 2)
    ends << alpha
    stays << (1 - alpha) / 2
    # r = 1 / count at the sources; q = r<r >= least>
    p.clear()
    check.set_entries(gb, r, source, [1 / len(source)] * len(source))
    q << r
    q(binary.ge(r & least).new().V, gb.replace) << q
    loop.run()
    # the walk never leaves a vertex without edges
    p(least.select(gb.select.valueeq, FAR).new().S) << r
    return loop.result(p)


def _pushes(A, gb, weighted):
    n, binary, FP64 = A.nrows, gb.binary, gb.dtypes.FP64
    along = gb.semiring.plus_times[FP64] if weighted else gb.semiring.plus_first[FP64]
    p, r, q = (gb.Vector(FP64, n) for _ in range(3))
    least, share = (gb.Vector.from_scalar(0.0, n) for _ in range(2))
    ends, stays = gb.Scalar(FP64), gb.Scalar(FP64)

    def begin():
        return gb.Vector(FP64, n), gb.Vector(gb.dtypes.BOOL, n)

    def body(_, t, enough):
        # p += alpha q
        p(binary.plus) << q.apply(binary.times, right=ends)
        # r<q> = (1 - alpha) / 2 q; r += (share .* q) plus.first A
        t << binary.times(q & share)
        r(q.S) << q.apply(binary.times, right=stays)
        r(binary.plus) << t.vxm(A, along)
        # q = r<r >= least>
        enough << binary.ge(r & least)
        q(enough.V, gb.replace) << r

    state = {"ranks": p, "residual": r, "least": least, "share": share, "ends": ends, "stays": stays}
    return {"begin": begin, "body": body, "while_": q, **state}

"""Betweenness centrality: the share of shortest paths that pass through each vertex or along each edge.

Method: Brandes. A breadth-first search from each source counts the shortest paths to every vertex. Then, from the last
level back to the first, each vertex passes its predecessors their share of the paths through it. `batch` sources run at
once, as the rows of matrices. Both sweeps are nested loops inside the single round of one loop.

State: p (rows of P) is the number of shortest paths from the source, FP64 because it grows without bound; no entry
means "not found". If path counts exceed FP64's range (as in a 600 x 600 grid), which is detected some steps later, the
searches run again with natural logarithms: sums become logaddexp, products and quotients become sums and differences,
and only ratios between adjacent levels are converted back. d (rows of D) is the dependency: the sum over all targets of
the share of shortest paths through v; when v passes on its share, v itself counts as one more target. Frontiers are
saved on a stack, so the way back costs what was in a level. V, for edges, is the level of each vertex, -1 if not found.

Rounding: counts round like any FP64 sum. A logarithm l has an absolute error of up to l 2^-53 per step, which is a
relative error of the count. If counts grow to e^l in h steps, results may be off by 2 h l 2^-53, typically by less than
2 sqrt(h) l 2^-53 (600 x 600 grid from a corner, l = 826, h = 1198: 2.2e-10 and 6.4e-12; the worst error found against
exact integers was 1.1e-12).

Input: any square A. A stored entry A[i, j] is the edge i -> j of length 1; dtype, values and self loops are ignored.

Check: NetworkX's betweenness_centrality and edge_betweenness_centrality; Brandes' algorithm, vertex by vertex.

Brandes: A faster algorithm for betweenness centrality. J. of Mathematical Sociology 25 (2001).
Brandes: On variants of shortest-path betweenness centrality. Social Networks 30 (2008), for edges.
Kepner, Gilbert (eds): Graph Algorithms in the Language of Linear Algebra. SIAM 2011, chapter 6.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import index_range, random_hash
from ..connectivity.topological import topological_levels
from ..paths.sssp import lengths_of, sssp

BATCH = 64  # sources per batch: one 64-bit word per vertex
EULER = 2.718281828459045


@algorithm(answer="value per vertex", work="sources")
def betweenness_centrality(
    A, sources=None, *, k=None, seed=None, batch=BATCH, weighted=False, normalized=False, endpoints=False, gb=None
):
    """The sum, over all pairs of vertices, of the fraction of their shortest paths that pass through each vertex.

    A: Matrix, n x n, any dtype. sources: vertices where paths begin, repeated ones count repeatedly; all n if None. k:
    int, draw k distinct sources at random; n / k times the result estimates the result of all. seed: int, or None for
    0: the same seed draws the same sources. batch: int, sources per batch, which takes eight matrices of `batch` rows.
    weighted: bool, whether the values, above 0, are lengths of edges; else, and for BOOL, all are 1. normalized: bool,
    divide by the number of pairs of a source and a target. endpoints: bool, whether paths pass through their ends. gb:
    the library, bitblas if None.
    Returns a Vector, FP64, size n, full: the sum over sources s and targets t of the share of the shortest s-t paths
    through v. With all sources it equals NetworkX's betweenness_centrality(G, normalized=False) of a DiGraph; an
    undirected graph stored both ways counts each path twice, once per direction: half of the result is NetworkX's value
    for a Graph. Normalized, it is NetworkX's value for both, also from k sources.
    Raises InvalidValue (batch below 1; k below 1, above n, or given together with sources; if weighted, a value that
    is NaN, 0 or less, or lost in the rounding of a distance), DimensionMismatch (A not square), IndexOutOfBound (a
    source out of range), TypeError (wrong types).
    """
    n = A.nrows
    sources = _sources(gb, sources, k, seed, n)
    batch = check.count(gb, "batch", batch, "1 takes the least memory")
    endpoints, normalized = check.flag("endpoints", endpoints), check.flag("normalized", normalized)
    c, plus, logs = gb.Vector.from_scalar(0.0, n), gb.monoid.plus, False
    lengths = _lengths(A, weighted, gb)
    size = batch if lengths is None else 1
    work = loops.shared_work()
    own = work.part(sources)
    for first in range(0, len(own), size):
        # c += the column sums of D, over all batches
        some = list(own[first : first + size])
        if lengths is None:
            found, logs = _searched(A, gb, some, min(batch, len(own)), logs)
            D = found["dependencies"]
        else:
            D = _by_length(lengths, some[0], gb)[0]
        c(plus) << (D.reduce_columnwise(plus) if D.ndim == 2 else D)
        if endpoints:
            # each path counts at its target, and at its source
            one = D.apply(gb.unary.one).new()
            reached = one.reduce_rowwise(plus).new().to_coo()[1].tolist() if D.ndim == 2 else [one.nvals]
            c(plus) << (one.reduce_columnwise(plus) if D.ndim == 2 else one)
            ends = [number - 2.0 for number in reached]
            c(plus) << gb.Vector.from_coo(some, ends, gb.dtypes.FP64, size=n, dup_op=gb.binary.plus)
        loops.report(len(some), total=len(sources))
    c = work.total(c)
    if normalized:
        # c /= the number of pairs: sources times targets, of which v is none unless end points count
        pairs = gb.Vector.from_scalar(float(max(1, len(sources) * (n - 1 - (not endpoints)))), n)
        if not endpoints:
            its = gb.Vector.from_coo(sources, [2.0 - n] * len(sources), gb.dtypes.FP64, size=n, dup_op=gb.binary.plus)
            pairs(plus) << its
        c << gb.binary.truediv(c & pairs.apply(gb.binary.max, right=1.0).new())
    return c


@algorithm(answer="value per edge", arrays=(64, 56), work="sources")
def edge_betweenness_centrality(
    A, sources=None, *, k=None, seed=None, batch=BATCH, weighted=False, normalized=False, gb=None
):
    """The sum, over all pairs of vertices, of the fraction of their shortest paths that use each edge.

    A: Matrix, n x n, any dtype. sources, k, seed, batch, weighted, gb: as for `betweenness_centrality`. normalized:
    bool, divide by the number of pairs of a source and a target.
    Returns a Matrix, FP64, n x n, with the structure of A: the sum over sources s and targets t of the share of the
    shortest s-t paths along the edge. With all sources it equals NetworkX's edge_betweenness_centrality(G,
    normalized=False) of a DiGraph. For an undirected graph stored both ways, E[i, j] and E[j, i] are each NetworkX's
    value for the edge of a Graph; normalized, this is their sum.
    Raises as `betweenness_centrality` does.
    """
    n = A.nrows
    sources = _sources(gb, sources, k, seed, n)
    batch = check.count(gb, "batch", batch, "1 takes the least memory")
    normalized, lengths = check.flag("normalized", normalized), _lengths(A, weighted, gb)
    i, j, _ = A.to_coo()
    e, logs = i * 0.0, False
    work = loops.shared_work()
    own = work.part(sources)
    for source in own if lengths else ():
        # e[i, j] += p[i] / p[j] (1 + d[j]) at tight edges
        D, P, tight, logarithms = _by_length(lengths, source, gb)
        d, p, u, v = D.to_dense(0.0), P.to_dense(1.0), i[tight], j[tight]
        e[tight] += (EULER ** (p[u] - p[v]) if logarithms else p[u] / p[v]) * (1 + d[v])
        loops.report(total=len(sources))
    for first in range(0, 0 if lengths else len(own), batch):
        some = list(own[first : first + batch])
        found, logs = _searched(A, gb, some, min(batch, len(own)), logs, edges=True)
        P, V = found["paths"]
        columns = [(found["dependencies"], 0.0), (P, 1.0), (V, -1)]
        for _, d, number, depth in zip(some, *(X.to_dense(lacking).reshape(-1, n) for X, lacking in columns)):
            # e[i, j] += p[i] / p[j] (1 + d[j]) if V[j] = V[i] + 1
            ahead = (depth[i] >= 0) * (depth[i] + 1 == depth[j])
            share = EULER ** (ahead * (number[i] - number[j])) if logs else number[i] / number[j]
            e += ahead * share * (1 + d[j])
        loops.report(len(some), total=len(sources))
    e = work.total(e)
    if normalized:
        e = e / max(1, len(sources) * (n - 1))
    return gb.Matrix.from_coo(i, j, e, gb.dtypes.FP64, nrows=n, ncols=n)


def _sources(gb, sources, k, seed, n):
    """The sources: those given, or k of n drawn at random, or all."""
    seed = 0 if seed is None else check.integer("seed", seed)
    if k is None:
        return range(n) if sources is None else check.vertices(gb, "sources", sources, n)
    if sources is not None:
        raise gb.exceptions.InvalidValue(
            f"argument k: expected None if sources are given, got {k!r}. Hint: pass either sources or k."
        )
    k = check.count(gb, "k", k, "k is the number of sources to draw")
    if k > n:
        raise gb.exceptions.InvalidValue(
            f"argument k: expected at most {n}, the number of vertices, got {k}. Hint: None takes all vertices."
        )
    # the k vertices with the smallest hashes
    return random_hash(index_range(n, gb), seed).argsort(kind="stable")[:k].tolist()


def _searched(A, gb, sources, k, logs, edges=False):
    """The loop's state after up to k searches, and whether they used logarithms. After an overflow, later batches use
    logarithms from the start.
    """
    for tried in (False, True)[logs:]:
        loop = loops.cached_loop(_searching, A, gb, k, tried, edges)
        starts, D, most = (loop.state[name] for name in ("starts", "dependencies", "most"))
        # starts[s, sources[s]] = true; the loop runs
        loop.state["while_"] << True
        if k > 1:
            at = list(range(len(sources))), sources
            starts << gb.Matrix.from_coo(*at, True, gb.dtypes.BOOL, nrows=k, ncols=A.nrows)
        else:
            starts.clear()
            starts[sources[0]] = True
        with loops.silenced():  # rounds are sources here
            loop.run()
        # an overflowed count is infinite, and the shares derived from it are not finite
        total = (D.reduce if k == 1 else D.reduce_scalar)(gb.monoid.plus, allow_empty=False).new().value
        if tried or (total < float("inf") and most.value < float("inf")):
            break
    return loop.state, tried


def _searching(A, gb, k, logs, edges):
    """A loop for k sources. D: the dependencies of each source on each vertex it reaches (a Vector for one source).
    most: the largest path count. logs: path counts and shares are stored as logarithms. edges: whether P and V are
    returned.
    """
    FP64, INT32, BOOL = (getattr(gb.dtypes, name) for name in ("FP64", "INT32", "BOOL"))
    binary, n, saved = gb.binary, A.nrows, loops.frontier_stack()
    make = (lambda kind: gb.Matrix(kind, k, n)) if k > 1 else (lambda kind: gb.Vector(kind, n))
    D, starts = make(FP64), make(BOOL)
    paths = (make(FP64), make(INT32)) if edges else ()
    depth, ahead, most = gb.Scalar(INT32), gb.Scalar(gb.dtypes.INT64), gb.Scalar(FP64)
    searches, number = gb.Scalar(BOOL), gb.Scalar(BOOL)
    # one, sum along edges, product, quotient: for plain numbers, then for logarithms
    one, plus_first, times, divided = 1.0, gb.semiring.plus_first, binary.times, binary.truediv
    if logs:
        plus_first = gb.semiring.register_anonymous(gb.monoid.numpy.logaddexp, binary.first)
        one, times, divided = 0.0, binary.plus, binary.minus

    def along(X, B):
        return X.mxm(B, plus_first[FP64]) if k > 1 else X.vxm(B, plus_first[FP64])

    def largest(X):
        return (X.reduce_scalar if k > 1 else X.reduce)(gb.monoid.max, allow_empty=False)

    def begin():
        return make(FP64), make(FP64), make(BOOL), *(paths or (make(FP64),))

    def body(_, Q, T, level, P, V=None):
        # Q<starts, replace> = one; no paths, levels or frontiers yet
        Q(starts.S, gb.replace) << one
        P.clear()
        T.clear()
        saved.clear()
        if edges:
            V << -1
            depth << -1
        searches << True
        loops.repeat(lambda _: some_steps(Q, P, V), searches)
        # P<Q> = Q: counts that overflowed; most = max(P); D<P, replace> = 0
        P(Q.S) << Q
        most << largest(P)
        D(P.S, gb.replace) << 0.0
        # level = the last frontier, whose vertices have dependency 0; none after an overflow
        saved.pop(level)
        right = make(BOOL)
        right(level.S, gb.replace) << number
        level(right.V, gb.replace) << True
        share(T, P, level)
        loops.repeat(lambda _: back(Q, T, P, level), level)
        # D<starts> = 0: a source is an end of all its paths
        D(starts.S) << 0.0
        searches << False

    def some_steps(Q, P, V):
        # searches = Q is not empty and max(Q) is finite; after an overflow there is no way back either
        loops.repeat(lambda _: forth(Q, P, V), Q, limit=tuning.count("betweenness.steps"))
        most << largest(Q)
        number << most.apply(binary.lt, right=float("inf"))
        ahead << Q.nvals
        searches << ahead.apply(binary.gt, right=0)
        searches << binary.land(searches & number)

    def forth(Q, P, V):
        # save Q; P<Q> = Q; V<Q> = depth
        saved.push(Q)
        if edges:
            depth << depth.apply(binary.plus, right=1)
            V(Q.S) << depth
        P(Q.S) << Q
        # Q<!P, replace> = Q plus.first A: the path count is the sum over all predecessors
        Q(~P.S, gb.replace) << along(Q, A)

    def share(T, P, level):
        # T<level> = (1 + D) ./ P, whose logarithm is log1p(D) - log(P); later levels may stay in T, because no edge of
        # a level before reaches them; a vector is pushed along, so it has one level only
        T(level.S, replace=k == 1) << (D.apply(gb.unary.log1p) if logs else D.apply(binary.plus, right=1.0))
        T(level.S) << divided(T & P)

    def back(Q, T, P, level):
        # level = the frontier before; Q<level, replace> = T plus.first A', of which the next level has entries
        saved.pop(level)
        Q(level.S, gb.replace) << along(T, A.T)
        # D<level> += Q .* P
        if logs:
            Q(level.S) << times(Q & P)
            D(level.S, gb.monoid.plus) << Q.apply(gb.unary.exp)
        else:
            D(level.S, gb.monoid.plus) << times(Q & P)
        share(T, P, level)

    state = {"starts": starts, "dependencies": D, "most": most, "paths": paths}
    return {"begin": begin, "body": body, "while_": searches, **state}


# ---- Betweenness by lengths of edges.
#
# Method: Brandes, one source at a time. An edge is tight if the distance of its end equals that of its start plus its
# length. Tight edges form an acyclic graph T, whose topological levels are the order of both sweeps: all predecessors
# of a vertex are on lower levels.
#
# State: p and d as above, Vectors; a vertex that is not reached has no entry.


def _lengths(A, weighted, gb):
    """The graph, its rows, columns and lengths as arrays; None if all edges have length 1."""
    if not check.flag("weighted", weighted) or A.dtype == gb.dtypes.BOOL:
        return None
    check.memory(A, f"betweenness: paths along {A.nvals} edges with lengths", 64 * A.nvals)
    A = lengths_of(A, gb)
    i, j, w = A.to_coo()
    check.no_nan(gb, "A", not (w <= 0).any(), "values above 0", w.min() if len(w) else 0)
    return A, i, j, w


def _by_length(lengths, source, gb):
    """The dependencies of the source on each vertex that it reaches, the numbers of shortest paths, which edges are
    tight, and whether the numbers are logarithms.
    """
    A, i, j, w = lengths
    n = A.nrows
    with loops.silenced():
        far = sssp(A, source, gb=gb)
        distance, reached = far.to_dense(0), far.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False)
        # T = A<distance[i] + A[i, j] == distance[j]>
        tight = reached[i] & (distance[i] + w == distance[j]) & (i != j)
        u, v = i[tight], j[tight]
        lost = (distance[u] == distance[v]) & (distance[u] < float("inf"))
        check.no_nan(gb, "A", not lost.any(), "values that a distance can be increased by", "one lost in rounding")
        T = gb.Matrix.from_coo(u, v, True, nrows=n, ncols=n)
        level = topological_levels(T, gb=gb)
    check.no_nan(gb, "A", level.nvals == n, "finite values", "infinite ones on shortest paths")
    levels = [
        level.select(gb.select.valueeq, depth).new()
        for depth in range(1, int(level.reduce(gb.monoid.max).new().value) + 1)
    ]
    for logs in (False, True):
        D, P = _along(T, levels, source, logs, gb)
        # an overflowed count is infinite, and the shares derived from it are not finite
        if D.reduce(gb.monoid.plus).new().value < float("inf") and P.reduce(gb.monoid.max).new().value < float("inf"):
            break
    return D, P, tight, logs


def _along(T, levels, source, logs, gb):
    """Both sweeps along the graph T, whose vertices after the source are on these levels."""
    binary, FP64, plus = gb.binary, gb.dtypes.FP64, gb.monoid.plus
    plus_first, plus_second = gb.semiring.plus_first, gb.semiring.plus_second
    one, times, divided = 1.0, binary.times, binary.truediv
    if logs:
        total = gb.monoid.numpy.logaddexp
        plus_first = gb.semiring.register_anonymous(total, binary.first)
        plus_second = gb.semiring.register_anonymous(total, binary.second)
        one, times, divided = 0.0, binary.plus, binary.minus
    P = gb.Vector.from_coo([source], [one], FP64, size=T.nrows)
    for level in levels:
        # P<level> = P plus.first T
        P(level.S) << P.vxm(T, plus_first[FP64])
    # D<P> = 0
    D = P.apply(binary.second, right=0.0).new()
    for level in reversed(levels):
        # t<level> = (1 + D) ./ P; D += P .* (T plus.second t)
        t = (D.apply(gb.unary.log1p) if logs else D.apply(binary.plus, right=1.0)).new(mask=level.S)
        t << divided(t & P)
        t << T.mxv(t, plus_second[FP64])
        t << times(t & P)
        D(plus) << (t.apply(gb.unary.exp) if logs else t)
    # the source is an end of all paths
    D[source] = 0.0
    return D, P

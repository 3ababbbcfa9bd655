"""Betweenness centrality: the share of shortest paths that pass through each vertex or along each edge.

Method: Brandes. A breadth-first search from each source counts the shortest paths to every vertex; then, from the last
level back to the first, each vertex hands to those before it the share of the paths that came through them. Of
vertices, `batch` sources at once, a row of a matrix for each; of edges one at a time. Both ways are loops inside of the
one round of a program.

State: p (a row of P) is the number of shortest paths from the source, FP64, as it grows without bounds; no entry stands
for "not found". Where numbers of paths pass FP64's range (as in a grid of 600 x 600), which is seen some steps later,
the searches run again, now with their natural logarithms: sums are logaddexp, products and quotients sums and
differences, and only ratios from one level to the next become numbers again. d (a row of D) is the dependency: the
sum, over all targets, of the share of the shortest paths that go through v; v itself is one target more of what it
hands on. V holds the number of steps to each vertex, -1 where it was not found, W its low byte, so that to find the
vertices of one number (level, as presence alone) costs a quarter of the bytes.

Rounding: of numbers as in every sum of FP64. A logarithm l is rounded by up to l 2^-53 in each step, an error of the
number relative to itself: where numbers grow to e^l in h steps, results may be off by 2 h l 2^-53, and mostly are by
less than 2 sqrt(h) l 2^-53 (a grid of 600 x 600 from a corner, l = 826, h = 1198: 2.2e-10 and 6.4e-12; compared with
integers of any length, 1.1e-12 was the worst).

Input: any square A; an edge is a stored entry of length one, whatever its dtype and value; self loops do not matter.
Directed: A[i, j] is the edge i -> j.

Check: NetworkX's betweenness_centrality and edge_betweenness_centrality; Brandes' algorithm, vertex by vertex.

Brandes: A faster algorithm for betweenness centrality. J. of Mathematical Sociology 25 (2001).
Brandes: On variants of shortest-path betweenness centrality. Social Networks 30 (2008), for edges.
Kepner, Gilbert (eds): Graph Algorithms in the Language of Linear Algebra. SIAM 2011, chapter 6.
"""

from .. import _check as check
from .. import _watch as watch
from .._parts import numbers
from .._scores import drawn

BATCH = 64  # sources at once: a word of bits for each vertex
TOGETHER = 64  # steps after which the numbers of paths are looked at
EULER = 2.718281828459045


@check.on_its_device
def betweenness_centrality(A, sources=None, *, k=None, seed=None, batch=BATCH, gb=None):
    """The sum, over the sources s and all targets t, of the share of the shortest paths from s to t that go through v.

    A: Matrix, n x n, any dtype. sources: vertices, each counted as often as it is named; all n if None. k: int, for so
    many different sources drawn at random; n / k times the result estimates that of all. seed: int, or None for 0: the
    same seed draws the same. batch: int, how many at once, for which there are six matrices of as many rows. gb: the
    library, bitblas if None.
    Returns a Vector, FP64, size n, full. Paths do not go through their own ends, and nothing is normalised: with all
    sources it is NetworkX's betweenness_centrality(G, normalized=False) of a DiGraph. An undirected graph stored both
    ways has each path twice, once from either end: half of the result is what NetworkX says of a Graph.
    Raises InvalidValue (batch below 1; k below 1, above n, or beside sources), DimensionMismatch (A not square),
    IndexOutOfBound (a source out of range), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    sources = _sources(gb, sources, k, seed, n)
    batch = check.count(gb, "batch", batch, "1 takes the least memory")

    # c = the sum of d
    c, plus, logs = gb.Vector.from_scalar(0.0, n), gb.monoid.plus, False
    for first in range(0, len(sources), batch):
        some = list(sources[first : first + batch])
        found, logs = _searched(A, gb, some, min(batch, len(sources)), logs)
        D = found["dependencies"]
        c(plus) << (D.reduce_columnwise(plus) if D.ndim == 2 else D)
        watch.tell(len(some), total=len(sources))
    return c


@check.on_its_device
def edge_betweenness_centrality(A, sources=None, *, k=None, seed=None, batch=BATCH, gb=None):
    """The sum, over the sources s and all targets t, of the share of the shortest paths from s to t along each edge.

    A: Matrix, n x n, any dtype. sources: vertices, each counted as often as it is named; all n if None. k, seed: int,
    for so many sources drawn at random, as for `betweenness_centrality`. batch: int, how many at once, for which there
    are six matrices of as many rows. gb: the library, bitblas if None.
    Returns a Matrix, FP64, n x n, of the structure of A. Nothing is normalised: with all sources it is NetworkX's
    edge_betweenness_centrality(G, normalized=False) of a DiGraph. An undirected graph stored both ways has each path
    once in either direction: E[i, j] and E[j, i] are each what NetworkX says of the edge of a Graph.
    Raises InvalidValue (batch below 1; k below 1, above n, or beside sources), DimensionMismatch (A not square),
    IndexOutOfBound (a source out of range), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    sources = _sources(gb, sources, k, seed, n)
    batch = check.count(gb, "batch", batch, "1 takes the least memory")
    i, j, _ = A.to_coo()
    e, logs = i * 0.0, False
    for first in range(0, len(sources), batch):
        some = list(sources[first : first + batch])
        found, logs = _searched(A, gb, some, min(batch, len(sources)), logs, edges=True)
        P, V = found["paths"]
        held = [(found["dependencies"], 0.0), (P, 1.0), (V, -1)]
        for _, d, number, depth in zip(some, *(X.to_dense(lacking).reshape(-1, n) for X, lacking in held)):
            # e[i, j] += p[i] / p[j] (1 + dependency[j]), from each level to the next
            ahead = (depth[i] >= 0) * (depth[i] + 1 == depth[j])
            share = EULER ** (ahead * (number[i] - number[j])) if logs else number[i] / number[j]
            e += ahead * share * (1 + d[j])
        watch.tell(len(some), total=len(sources))
    return gb.Matrix.from_coo(i, j, e, gb.dtypes.FP64, nrows=n, ncols=n)


def _sources(gb, sources, k, seed, n):
    """The vertices that searches begin at: those given, or k drawn of n, or all."""
    seed = 0 if seed is None else check.integer("seed", seed)
    if k is None:
        return range(n) if sources is None else check.vertices(gb, "sources", sources, n)
    if sources is not None:
        raise gb.exceptions.InvalidValue(
            f"argument k: expected None beside sources, got {k!r}. Hint: sources names them, k has them drawn."
        )
    k = check.count(gb, "k", k, "so many sources are drawn")
    if k > n:
        raise gb.exceptions.InvalidValue(
            f"argument k: expected at most {n}, the vertices, got {k}. Hint: None takes all of them."
        )
    # those k vertices whose hashes are the least
    return drawn(numbers(n, gb), seed).argsort(kind="stable")[:k].tolist()


def _searched(A, gb, sources, k, logs, edges=False):
    """The state after k searches, of which there are fewer where sources are, and whether they ran by logarithms: if
    numbers do not suffice, those of the next sources do from the start."""
    for tried in (False, True)[logs:]:
        loop = check.loop(_searching, A, gb, k, tried, edges)
        frontier, D, most = (loop.state[name] for name in ("level", "dependencies", "most"))
        # frontier[s, sources[s]] = true, the loop goes on
        loop.state["while_"] << True
        if k > 1:
            at = list(range(len(sources))), sources
            frontier << gb.Matrix.from_coo(*at, True, gb.dtypes.BOOL, nrows=k, ncols=A.nrows)
        else:
            frontier.clear()
            frontier[sources[0]] = True
        with watch.part():  # rounds are sources here
            loop.run()
        # a number out of range is infinite, and what is handed on then is not finite
        total = (D.reduce if k == 1 else D.reduce_scalar)(gb.monoid.plus, allow_empty=False).new().value
        if tried or (total < float("inf") and most.value < float("inf")):
            break
    return loop.state, tried


def _searching(A, gb, k, logs, edges):
    """D, the dependency of each of k sources on each vertex that it reaches; of one source as a Vector. most: the
    largest number of paths. logs: logarithms stand for the numbers of paths, and for what is handed on. edges: whether
    P and V are asked for."""
    FP64, INT32, UINT8, BOOL = (getattr(gb.dtypes, name) for name in ("FP64", "INT32", "UINT8", "BOOL"))
    binary, n = gb.binary, A.nrows
    make = (lambda kind: gb.Matrix(kind, k, n)) if k > 1 else (lambda kind: gb.Vector(kind, n))
    D, level = make(FP64), make(BOOL)
    paths = (make(FP64), make(INT32)) if edges else ()
    depth, low, goes_on, searches = gb.Scalar(INT32), gb.Scalar(UINT8), gb.Scalar(BOOL), gb.Scalar(BOOL)
    most, number, ahead = gb.Scalar(FP64), gb.Scalar(BOOL), gb.Scalar(gb.dtypes.INT64)
    # one, sums along edges, products and quotients: of numbers, of logarithms
    one, plus_first, times, divided = 1.0, gb.semiring.plus_first, binary.times, binary.truediv
    if logs:
        plus_first = gb.semiring.register_anonymous(gb.monoid.numpy.logaddexp, binary.first)
        one, times, divided = 0.0, binary.plus, binary.minus

    def along(X, B):
        return X.mxm(B, plus_first[FP64]) if k > 1 else X.vxm(B, plus_first[FP64])

    def largest(X):
        return (X.reduce_scalar if k > 1 else X.reduce)(gb.monoid.max, allow_empty=False)

    def begin():
        return make(FP64), make(FP64), make(UINT8), *(paths or (make(FP64), make(INT32)))

    def body(_, Q, T, W, P, V):
        # Q<level, replace> = one, at the sources
        Q(level.S, gb.replace) << one
        P.clear()
        V << -1
        W << 0
        depth << 0
        found(Q, P, V, W)
        searches << True
        check.repeat(lambda _: some_steps(Q, P, V, W), searches)
        # D<P, replace> = 0; back from the last level, whose vertices hand on themselves alone
        D(P.S, gb.replace) << 0.0
        to_the_one_before(V, W)
        goes_on << binary.land(goes_on & number)
        share(T, P)
        check.repeat(lambda _: back(T, P, V, W), goes_on)
        most << largest(P)
        searches << False

    def found(Q, P, V, W):
        # P<Q> = Q; V<Q> = depth; W<Q> = its low byte
        P(Q.S) << Q
        V(Q.S) << depth
        low << depth.apply(binary.band, right=255)
        W(Q.S) << low

    def some_steps(Q, P, V, W):
        # on, unless there is nothing ahead, or a number that is none: then there is no way back either
        check.repeat(lambda _: forth(Q, P, V, W), Q, limit=TOGETHER)
        most << largest(Q)
        number << most.apply(binary.lt, right=float("inf"))
        ahead << Q.nvals
        searches << ahead.apply(binary.gt, right=0)
        searches << binary.land(searches & number)

    def forth(Q, P, V, W):
        # Q<!P, replace> = Q plus.first A: a vertex has the paths of all vertices before it
        Q(~P.S, gb.replace) << along(Q, A)
        depth << depth.apply(binary.plus, right=1)
        found(Q, P, V, W)

    def to_the_one_before(V, W):
        # level = where V == depth, presence alone: bytes are looked at first
        depth << depth.apply(binary.minus, right=1)
        goes_on << depth.apply(binary.gt, right=1)
        low << depth.apply(binary.band, right=255)
        near = make(BOOL)
        near << W.select("==", low)
        near(near.S, gb.replace) << V.select("==", depth)
        level(near.S, gb.replace) << True

    def share(T, P):
        # T<level, replace> = (1 + D) ./ P, whose logarithm is log1p(D) - log(P)
        T(level.S, gb.replace) << (D.apply(gb.unary.log1p) if logs else D.apply(binary.plus, right=1.0))
        T << divided(T & P)

    def back(T, P, V, W):
        # T<level, replace> = T plus.first A', from the level behind; D += T .* P
        to_the_one_before(V, W)
        T(level.S, gb.replace) << along(T, A.T)
        T << times(T & P)
        D(gb.monoid.plus) << (T.apply(gb.unary.exp) if logs else T)
        share(T, P)

    state = {"level": level, "dependencies": D, "most": most, "paths": paths}
    return {"begin": begin, "body": body, "while_": searches, **state}

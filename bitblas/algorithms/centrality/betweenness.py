"""Betweenness centrality: through each vertex, or along each edge, how many of the shortest paths between others go.

Method: Brandes. A breadth-first search from each source counts the shortest paths to every vertex; then, from the last
level back to the first, each vertex hands to those before it the share of the paths that came through them. Of
vertices, `batch` sources at once, a row of a matrix for each; of edges one at a time. Both ways are loops inside of the
one round of a program.

State: p (a row of P) is the number of shortest paths from the source, FP64, as it grows without bounds; no entry stands
for "not found". Only ratios from one level to the next are asked for: where numbers of paths pass FP64's range (as in a
grid of 1000 x 1000) the searches run again, now with those of a level divided by 2^64 as long as one is above 2^960,
which s (a row of S) notes. d (a row of D) is the dependency: the sum, over all targets, of the share of the shortest
paths that go through v; v itself is one target more of what it hands on. V holds the number of steps to each vertex, -1
where it was not found, W its low byte, so that to find the vertices of one number (level, as presence alone) costs a
quarter of the bytes.

Input: any square A; an edge is a stored entry of length one, whatever its dtype and value; self loops do not matter.
Directed: A[i, j] is the edge i -> j.

Check: NetworkX's betweenness_centrality and edge_betweenness_centrality; Brandes' algorithm, vertex by vertex.

Brandes: A faster algorithm for betweenness centrality. J. of Mathematical Sociology 25 (2001).
Brandes: On variants of shortest-path betweenness centrality. Social Networks 30 (2008), for edges.
Kepner, Gilbert (eds): Graph Algorithms in the Language of Linear Algebra. SIAM 2011, chapter 6.
"""

from .. import _check as check
from .. import _watch as watch

BATCH = 64  # sources at once: a word of bits for each vertex
LARGE, SMALLER = 2.0**960, 2.0**-64  # no level has 2^64 times the paths of the one before


@check.on_its_device
def betweenness_centrality(A, sources=None, *, batch=BATCH, gb=None):
    """The sum, over the sources s and all targets t, of the share of the shortest paths from s to t that go through v.

    A: Matrix, n x n, any dtype. sources: vertices, each counted as often as it is named; all n if None. batch: int,
    how many at once, for which there are six matrices of as many rows. gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full. Paths do not go through their own ends, and nothing is normalised: with all
    sources it is NetworkX's betweenness_centrality(G, normalized=False) of a DiGraph. An undirected graph stored both
    ways has each path twice, once from either end: half of the result is what NetworkX says of a Graph.
    Raises InvalidValue (batch below 1; of vertices at one distance from the sources of a batch one has 10^560 times the
    shortest paths of another, or more), DimensionMismatch (A not square), IndexOutOfBound (a source out of range),
    TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    sources = range(n) if sources is None else check.vertices(gb, "sources", sources, n)
    batch = check.count(gb, "batch", batch, "1 takes the least memory")

    # c = the sum of d
    c, plus, scaled = gb.Vector.from_scalar(0.0, n), gb.monoid.plus, False
    for first in range(0, len(sources), batch):
        some = list(sources[first : first + batch])
        found, scaled = _searched(A, gb, some, min(batch, len(sources)), scaled)
        D = found["dependencies"]
        c(plus) << (D.reduce_columnwise(plus) if D.ndim == 2 else D)
        watch.tell(len(some), total=len(sources))
    return c


@check.on_its_device
def edge_betweenness_centrality(A, sources=None, *, gb=None):
    """The sum, over the sources s and all targets t, of the share of the shortest paths from s to t along each edge.

    A: Matrix, n x n, any dtype. sources: vertices, each counted as often as it is named; all n if None. gb: the
    library, bitblas if None.
    Returns a Matrix, FP64, n x n, of the structure of A. Nothing is normalised: with all sources it is NetworkX's
    edge_betweenness_centrality(G, normalized=False) of a DiGraph. An undirected graph stored both ways has each path
    once in either direction: E[i, j] and E[j, i] are each what NetworkX says of the edge of a Graph.
    Raises InvalidValue (of vertices at one distance from a source one has 10^560 times the shortest paths of another,
    or more), DimensionMismatch (A not square), IndexOutOfBound (a source out of range), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    sources = range(n) if sources is None else check.vertices(gb, "sources", sources, n)
    i, j, _ = A.to_coo()
    e, scaled = i * 0.0, False
    for source in sources:
        found, scaled = _searched(A, gb, [source], 1, scaled)
        state = found["dependencies"], *found["paths"]
        d, number, depth, divided = (x.to_dense(y) for x, y in zip(state, (0.0, 1.0, -1, 1.0)))
        # e[i, j] += p[i] / p[j] s[j] (1 + dependency[j]), from each level to the next
        e += (depth[i] >= 0) * (depth[i] + 1 == depth[j]) * (number[i] / number[j] * divided[j] * (1 + d[j]))
        watch.tell(total=len(sources))
    return gb.Matrix.from_coo(i, j, e, gb.dtypes.FP64, nrows=n, ncols=n)


def _searched(A, gb, sources, k, scaled):
    """The state after k searches, of which there are fewer where sources are, and whether numbers of paths had to be
    scaled: if so, those of the next sources are from the start."""
    for tried in (False, True)[scaled:]:
        loop = check.loop(_searching, A, gb, k, tried)
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
        # a number out of range is infinite, or it is 0, and what is handed on is not finite
        total = (D.reduce if k == 1 else D.reduce_scalar)(gb.monoid.plus, allow_empty=False).new().value
        if 0 <= total < float("inf") and most.value < float("inf"):
            return loop.state, tried
    raise gb.exceptions.InvalidValue(
        f"argument A: expected numbers of shortest paths that FP64 holds, got vertices at one distance from the "
        f"sources {sources[0]}, .. with 10^560 times as many as others. Hint: batch=1 takes each source by itself."
    )


def _searching(A, gb, k, scaled):
    """D, the dependency of each of k sources on each vertex that it reaches; of one source as a Vector. most: the
    largest number of paths."""
    FP64, INT32, UINT8, BOOL = (getattr(gb.dtypes, name) for name in ("FP64", "INT32", "UINT8", "BOOL"))
    binary, n = gb.binary, A.nrows
    make = (lambda kind: gb.Matrix(kind, k, n)) if k > 1 else (lambda kind: gb.Vector(kind, n))
    D, level = make(FP64), make(BOOL)
    paths = () if k > 1 else (make(FP64), make(INT32), make(FP64))  # of one source, whose edges may be asked for
    depth, low, goes_on, searches = gb.Scalar(INT32), gb.Scalar(UINT8), gb.Scalar(BOOL), gb.Scalar(BOOL)
    most, factor = gb.Scalar(FP64), gb.Scalar(FP64)
    plus_first = gb.semiring.plus_first

    def along(X, B):
        return X.mxm(B, plus_first[FP64]) if k > 1 else X.vxm(B, plus_first[FP64])

    def largest(X):
        return (X.reduce_scalar if k > 1 else X.reduce)(gb.monoid.max, allow_empty=False)

    def begin():
        many = (FP64, FP64, UINT8, FP64, INT32, *[FP64] * scaled)
        return *map(make, many[:3]), *(paths or map(make, many[3:]))

    def body(_, Q, T, W, P, V, S=None):
        # Q<level, replace> = 1, at the sources
        Q(level.S, gb.replace) << 1.0
        P.clear()
        V << -1
        W << 0
        depth << 0
        if scaled:
            S.clear()
            factor << 1.0
        found(Q, P, V, W, S)
        check.repeat(lambda steps: forth(steps, Q, P, V, W, S), Q)
        # D<P, replace> = 0; back from the last level, whose vertices hand on themselves alone
        D(P.S, gb.replace) << 0.0
        to_the_one_before(V, W)
        share(T, P, S)
        check.repeat(lambda _: back(T, P, V, W, S), goes_on)
        most << largest(P)
        searches << False

    def found(Q, P, V, W, S):
        # P<Q> = Q; V<Q> = depth; W<Q> = its low byte
        P(Q.S) << Q
        V(Q.S) << depth
        low << depth.apply(binary.band, right=255)
        W(Q.S) << low
        if scaled:
            # S<Q> = factor, the next one 2^-64 if max(Q) > 2^960, else 1
            S(Q.S) << factor
            most << largest(Q)
            searches << most.apply(binary.gt, right=LARGE)
            factor << searches
            factor << factor.apply(binary.pow, left=SMALLER)

    def forth(steps, Q, P, V, W, S):
        # Q<!P, replace> = factor (Q plus.first A): a vertex has the paths of all vertices before it
        Q(~P.S, gb.replace) << along(Q, A)
        if scaled:
            Q << Q.apply(binary.times, right=factor)
        depth << steps
        depth << depth.apply(binary.plus, right=1)
        found(Q, P, V, W, S)

    def to_the_one_before(V, W):
        # level = where V == depth: bytes are looked at first
        depth << depth.apply(binary.minus, right=1)
        goes_on << depth.apply(binary.gt, right=1)
        low << depth.apply(binary.band, right=255)
        level << W.select("==", low)
        level(level.S, gb.replace) << V.select("==", depth)

    def share(T, P, S):
        # T<level, replace> = S (1 + D) ./ P
        T(level.S, gb.replace) << D.apply(binary.plus, right=1.0)
        T << binary.truediv(T & P)
        if scaled:
            T << binary.times(T & S)

    def back(T, P, V, W, S):
        # T<level, replace> = T plus.first A', from the level behind; D += T .* P
        to_the_one_before(V, W)
        T(level.S, gb.replace) << along(T, A.T)
        T << binary.times(T & P)
        D(gb.monoid.plus) << T
        share(T, P, S)

    state = {"level": level, "dependencies": D, "most": most, "paths": paths}
    return {"begin": begin, "body": body, "while_": searches, **state}

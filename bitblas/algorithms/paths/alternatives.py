"""Several paths between two vertices: the k shortest paths without repeated vertices, and all shortest paths.

Method: Yen, with Lawler's partition. The next path deviates from a known one at some vertex: it shares the path up to
there, leaves it by an edge that no known path with this beginning uses, and is a shortest path in the rest of the
graph. All deviations from one path are searched at once, as rows of a matrix, by Bellman-Ford: D min.plus A under the
complement of F, the vertices of the shared beginnings. As in A*, the distance to the target in the whole graph is
added: the most promising entries of each row are continued first, and those beyond the bound of their row are dropped.
All shortest paths: see below.

State: D[r, v] is the best distance from the source to v in row r, and H[r, v] the round that found it: H rises along
every shortest path, so that a path read backwards repeats no vertex, even if weights are 0. T holds the improvements
of a round, Q those not yet continued, b the bounds of the rows.

Input: any square A, directed; A[i, j] is the weight of the edge i -> j, 0 or more.

Check: NetworkX's shortest_simple_paths and all_shortest_paths.

Yen: Finding the k shortest loopless paths in a network. Management Science 17 (1971).
Lawler: A procedure for computing the k best solutions to discrete optimization problems. Management Science 18 (1972).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import index_range, transposed
from .bfs import bfs_levels
from .sssp import distances_until, facts_of, lengths_of, sssp


@algorithm(answer=("walks", "value per walk"), weighted=True)
def k_shortest_paths(A, source, target, k, *, gb=None):
    """The k shortest paths from one vertex to another that repeat no vertex.

    A: Matrix, n x n, weights of 0 or more; in a BOOL matrix every entry, also False, is an edge of weight 1. source,
    target: int, 0 <= source, target < n. k: int >= 1. gb: the library, bitblas if None.
    Returns a Matrix, INT64, with a row of vertices for each path, shortest first, and a Vector of their lengths, FP32
    or FP64 if A is, else INT64. Fewer than k rows if there are no more paths; which of several equally long ones is
    not specified.
    Raises InvalidValue (a weight is NaN or negative; integer weights for which two paths may exceed 2^63; k below 1),
    DimensionMismatch (A not square), IndexOutOfBound (a vertex out of range), TypeError (wrong types).
    """
    n = A.nrows
    source, target = check.vertex(gb, "source", source, n), check.vertex(gb, "target", target, n)
    k = check.count(gb, "k", k, "k is the number of paths")
    A = lengths_of(A, gb)
    # ahead = diag(the distance from each vertex to the target)
    ahead = sssp(loops.cached(transposed, A, gb), target, gb=gb).diag()
    waiting, found = [_Candidate(0, [source], [])], list[_Candidate]()
    if source != target:
        waiting = _deviations(A, ahead, waiting[0], target, None, gb)
    while waiting and len(found) < k:
        waiting.sort(key=lambda candidate: candidate.length)
        found.append(waiting.pop(0))
        found[-1].complete(A, target, gb)
        # of the others the first k - len(found) may be answers: longer paths are not searched
        needed = k - len(found)
        if needed:
            last = waiting[needed - 1].length if len(waiting) >= needed else None
            waiting += _deviations(A, ahead, found[-1], target, last, gb)
        loops.report(total=k)
    paths = [candidate.path for candidate in found]
    rows, columns = [r for r, path in enumerate(paths) for _ in path], [c for path in paths for c in range(len(path))]
    vertices, width = [v for path in paths for v in path], max(map(len, paths), default=0)
    P = gb.Matrix.from_coo(rows, columns, vertices, gb.dtypes.INT64, nrows=len(paths), ncols=width)
    lengths = [candidate.length for candidate in found]
    return P, gb.Vector.from_coo(list(range(len(paths))), lengths, A.dtype, size=len(paths))


class _Candidate:
    """A path: its length, its beginning up to a vertex, the successors of that vertex that belong to other candidates,
    and the distances D and rounds H of its row of a search, from which `complete` reads the rest.
    """

    def __init__(self, length, start, banned, D=None, H=None):
        self.length, self.start, self.banned, self.D, self.H, self.path = length, start, banned, D, H, start

    def complete(self, A, target, gb):
        """Find the whole path, from the target backwards."""
        if self.D is None:
            return
        back, way = loops.cached(transposed, A, gb), [target]
        distance, rounds = (dict(zip(*(x.tolist() for x in X.to_coo()))) for X in (self.D, self.H))
        while rounds[way[-1]] > 1:
            v = way[-1]
            # before = the u with D[u] + A[u, v] == D[v], found in an earlier round
            u, d = gb.binary.plus(self.D & back[v, :].new()).new().to_coo()
            way.append(next(x for x in u[d == distance[v]].tolist() if rounds[x] < rounds[v]))
        self.path, self.D, self.H = [*self.start, *reversed(way)], None, None


def _deviations(A, ahead, known, target, last, gb):
    """A candidate for each vertex at which a path can leave the known one, none longer than `last`."""
    n, dtype, binary = A.nrows, A.dtype, gb.binary
    path = known.path
    starts = [path[: place + 1] for place in range(len(known.start) - 1, max(1, len(path) - 1))]
    banned = [path[len(start) : len(start) + 1] for start in starts]
    banned[0] = [*known.banned, *banned[0]]
    k, width = len(starts), _width(A, gb)
    F, first = (_members(lists, n, gb) for lists in (starts, [[*a, *b] for a, b in zip(starts, banned)]))
    # base[r] = the length of the beginning; T<!first> = base + the edges that leave its last vertex
    edges = [A.get(path[place], path[place + 1]) for place in range(len(path) - 1)]
    base = gb.Vector.from_coo(list(range(k)), [sum(edges[: len(start) - 1]) for start in starts], dtype, size=k)
    Q, T, D, H = (gb.Matrix(kind, k, n) for kind in (dtype, dtype, dtype, gb.dtypes.INT64))
    T(~first.S) << base.diag().mxm(A[[start[-1] for start in starts], :].new(), gb.semiring.min_plus[dtype])
    most = last if last is not None else 2**63 - 1 if dtype == gb.dtypes.INT64 else float("inf")
    b = gb.Vector.from_scalar(most, k, dtype=dtype)

    def within(B, X):
        # diag(B) any.first X >= X
        return binary.ge(B.diag().mxm(X, gb.semiring.any_first[dtype]).new() & X).new()

    def through(X):
        # the length of the shortest path through each vertex: X + the distance to the target
        return X.mxm(ahead, gb.semiring.min_plus[dtype]).new()

    rounds = 0
    while T.nvals or Q.nvals:
        # T<through(T) <= b, replace> = T; T<!(T >= D), replace> = T
        T(within(b, through(T)).V, gb.replace) << T
        worse = binary.ge(T & D).new()
        T(~worse.V, gb.replace) << T
        # D<T> = T; H<T> = the round; Q<T> = T; b min= D[:, target]
        rounds += 1
        D(T.S) << T
        H(T.S) << rounds
        Q(T.S) << T
        b(binary.min) << D[:, target].new()
        # Q<through(Q) <= b, replace> = Q; near = the entries of Q within `width` of the shortest of their row
        X = through(Q)
        Q(within(b, X).V, gb.replace) << Q
        near = within(X.reduce_rowwise(gb.monoid.min).new().apply(binary.plus, right=width).new(), X)
        T(near.V, gb.replace) << Q
        Q(~near.V, gb.replace) << Q
        # T<!F, replace> = T min.plus A
        T(~F.S, gb.replace) << T.mxm(A, gb.semiring.min_plus[dtype])
    rows, lengths = (x.tolist() for x in D[:, target].new().to_coo())
    return [_Candidate(d, starts[r], banned[r], D[r, :].new(), H[r, :].new()) for r, d in zip(rows, lengths)]


def _width(A, gb):
    """The mean weight: how much longer than the best of its row a path may be that is continued in a round."""
    mean = loops.cached(facts_of, A, gb)[1]
    return mean if A.dtype != gb.dtypes.INT64 else int(mean)


def _members(lists, n, gb):
    """A BOOL matrix with a row for each list of vertices."""
    rows = [row for row, members in enumerate(lists) for _ in members]
    columns = [v for members in lists for v in members]
    return gb.Matrix.from_coo(rows, columns, True, gb.dtypes.BOOL, nrows=len(lists), ncols=n)


# ---- All shortest paths from one vertex to another.
#
# Method: an edge is tight if the distance of its end equals that of its start plus its weight. The paths along tight
# edges are listed edge by edge: E any.pair T, where row r of E has an entry at the end of path r; each entry of the
# product is a longer path. Only vertices from which the target can be reached along tight edges are kept. If an edge of
# length 0 is tight, U holds the vertices of each path, which it must not repeat.
#
# State: `before` and `vertex` are arrays: the row of each path without its last edge, and its last vertex.
#
# Input: as for the k shortest paths.


@algorithm(answer="walks", weighted=True, arrays=(24, 40))
def all_shortest_paths(A, source, target, *, gb=None):
    """All shortest paths from one vertex to another that repeat no vertex.

    A: Matrix, n x n, weights of 0 or more; in a BOOL matrix every entry, also False, is an edge of weight 1. source,
    target: int, 0 <= source, target < n. gb: the library, bitblas if None.
    Returns a Matrix, INT64, with a row of vertices for each path; no rows if there is none. Their number may grow
    exponentially with that of the edges.
    Raises InvalidValue (a weight is NaN or negative; integer weights for which two paths may exceed 2^63),
    DimensionMismatch (A not square), IndexOutOfBound (a vertex out of range), TypeError (wrong types).
    """
    n, INT64 = A.nrows, gb.dtypes.INT64
    source, target = check.vertex(gb, "source", source, n), check.vertex(gb, "target", target, n)
    A = lengths_of(A, gb)
    d, _ = distances_until(A, source, [target], None, None, gb)
    # T = A<d[i] + A[i, j] == d[j]>
    distance, reached = d.to_dense(0), d.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False)
    i, j, w = A.to_coo()
    tight = reached[i] & reached[j] & (distance[i] + w == distance[j]) & (i != j)
    T = gb.Matrix.from_coo(i[tight], j[tight], True, nrows=n, ncols=n)
    # T = T between vertices from which the target can be reached
    to = bfs_levels(loops.cached(transposed, T, gb), target, gb=gb).apply(gb.unary.one[gb.dtypes.BOOL]).new()
    T << T.mxm(to.diag(), gb.semiring.any_pair[gb.dtypes.BOOL])
    i, j, _ = T.to_coo(values=False)
    U = _members([[source]], n, gb) if (distance[i] == distance[j]).any() else None
    vertex = gb.Vector.from_coo([0], source, INT64, size=1).to_dense()[: int(target in to)]
    before, steps, total, cells = vertex * 0, [], 0, 0
    while len(vertex):
        steps.append((before, vertex, (vertex == target).nonzero()[0]))
        total, cells = total + len(steps[-1][2]), cells + len(steps[-1][2]) * len(steps)
        # E[r, vertex[r]] = true, at the paths that do not end here; E<!U, replace> = E any.pair T
        (open_,) = (vertex != target).nonzero()
        E = gb.Matrix.from_coo(open_, vertex[open_], True, gb.dtypes.BOOL, nrows=len(vertex), ncols=n)
        E << E.mxm(T, gb.semiring.any_pair[gb.dtypes.BOOL])
        if U is not None:
            E(~U.S, gb.replace) << E
        check.memory(A, f"all_shortest_paths: {E.nvals + total} paths", 16 * E.nvals + 32 * cells)
        before, vertex, _ = E.to_coo(values=False)
        before, vertex = before.astype("int64"), vertex.astype("int64")
        if U is not None:
            # U = U[before, :], with the new vertices
            U = U[before, :].new()
            U(gb.binary.lor) << gb.Matrix.from_coo(
                index_range(len(vertex), gb), vertex, True, nrows=len(vertex), ncols=n
            )
    return _read_back(steps, total, gb)


def _read_back(steps, total, gb):
    """A row of vertices for each of the `total` paths that end in a step."""
    P = gb.Matrix(gb.dtypes.INT64, total, len(steps))
    first = 0
    for last in range(len(steps)):
        ends = steps[last][2]
        if len(ends):
            row = index_range(len(ends), gb) + first
            first += len(ends)
            for step in range(last, -1, -1):
                before, vertex, _ = steps[step]
                # P[row, step] = the vertex of each path in this step
                P(gb.binary.second) << gb.Matrix.from_coo(
                    row, row * 0 + step, vertex[ends], gb.dtypes.INT64, nrows=total, ncols=len(steps)
                )
                ends = before[ends]
    return P

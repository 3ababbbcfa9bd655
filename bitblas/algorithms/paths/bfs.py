"""Breadth-first search: levels and parents from one or several sources.

Method: the frontier q holds the vertices found in the last round. The product q A follows all edges that leave it, and
the complemented mask drops vertices found before, so every edge is used once. The library chooses between push (from
the frontier) and pull (into the unvisited vertices).

State: an entry means "found"; no value encodes "not found".

Input: any square A. A stored entry A[i, j] is the edge i -> j; dtype and values are ignored.

Check: SciPy's dijkstra; parents are one level closer.

Yang, Buluc, Owens: Implementing push-pull efficiently in GraphBLAS. ICPP 2018.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm

SHORT = 2**7, 2**15  # rounds whose levels fit 8 and 16 bits: fewer bytes, which many searches write


@algorithm(answer="distance per vertex", work="search")
def bfs_levels(A, source, *, depth_limit=None, targets=None, gb=None):
    """The number of edges on a shortest path from `source` to each vertex.

    A: Matrix, n x n, any dtype. source: int, 0 <= source < n, or several: paths start at any of them. depth_limit:
    int >= 0: stop at this distance; None: no limit. targets: a vertex, or several: stop when all of them are found, and
    return only their levels; None: all vertices. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n: 0 at the source, no entry at a vertex that is not reached.
    Raises DimensionMismatch (A not square), IndexOutOfBound (a vertex out of range), InvalidValue (depth_limit below
    0), TypeError (wrong types).
    """
    n = A.nrows
    source = check.sources(gb, "source", source, n)
    targets = None if targets is None else check.sources(gb, "targets", targets, n)
    v = levels_until(A, source, depth_limit, targets, gb)
    # w<targets> = v
    return v if targets is None else v.dup(mask=check.members(gb, targets, n).S)


def levels_until(A, source, depth_limit, targets, gb):
    """The levels of the vertices found until all targets are found; of all if targets is None."""
    loop = loops.cached_loop(_levels, A, gb, _rounds(gb, depth_limit), targets is not None)
    if targets is not None:
        # left = the targets; going = there are any
        loop.state["left"] << check.members(gb, targets, A.nrows)
        loop.state["while_"] << bool(targets)
    # q = true at the sources
    return loop.evaluate("levels", gb, start="frontier", source=source)


@algorithm(answer="distances per source", work="sources")
def levels_from_each(A, sources, *, depth_limit=None, gb=None):
    """The number of edges on a shortest path from each of several sources to each vertex.

    A: Matrix, n x n, any dtype. sources: vertices, k of them, searched from simultaneously: 64 searches take a few
    times as long as one. depth_limit: as for `bfs_levels`. gb: the library, bitblas if None.
    Returns a Matrix, INT64, k x n: row s has the levels from sources[s], 0 at the source, no entry at a vertex that is
    not reached.
    Raises DimensionMismatch (A not square), IndexOutOfBound (a source out of range), InvalidValue (depth_limit below
    0), TypeError (wrong types).
    """
    n = A.nrows
    sources = check.vertices(gb, "sources", sources, n)
    rounds, work = _rounds(gb, depth_limit), loops.shared_work()
    return work.stacked(searched_levels(A, work.part(sources), gb, rounds, gb.dtypes.INT64))


def searched_levels(A, sources, gb, rounds=None, dtype=None):
    """The levels, of so many rounds at most. dtype: None: the narrowest type that holds them."""
    kinds, k = loops.cached(_level_types, A, gb), len(sources)
    while True:
        dtype_of_loop, most = kind = kinds[0]
        limit = rounds if most is None else most if rounds is None else min(most, rounds)
        loop = loops.cached_loop(_levels_of_each, A, gb, limit, k, dtype_of_loop)
        # Q[s, sources[s]] = true
        V = loop.evaluate("levels", gb, start="while_", source=sources, dtype=dtype)
        if limit == rounds or loop.rounds < limit:
            return V
        if kinds[0] is kind:  # some path is longer; later searches begin with the next type
            kinds.pop(0)


def _level_types(A, gb):
    """Types of levels, with the rounds that they hold; shortened when a search takes more. On the CPU, where each type
    compiles kernels of its own, only two."""
    narrow, wide = zip((gb.dtypes.INT8, gb.dtypes.INT16), SHORT)
    return [*([narrow] if loops.runs_in_any_order(A) else []), wide, (gb.dtypes.INT64, None)]


def _levels_of_each(A, gb, limit, k, dtype):
    V = gb.Matrix(dtype, k, A.nrows)  # levels
    Q = gb.Matrix(gb.dtypes.BOOL, k, A.nrows)  # frontiers

    def body(level):
        # V<Q> = level
        V(Q.S) << level
        # Q<!V, replace> = Q any.pair A
        Q(~V.S, gb.replace) << Q.mxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

    return {"body": body, "while_": Q, "limit": limit, "levels": V}


def _rounds(gb, depth_limit):
    """The rounds of a search: one per level, including level 0."""
    hint = "0 returns only the sources, None has no limit"
    return None if depth_limit is None else 1 + check.count(gb, "depth_limit", depth_limit, hint, least=0)


def _levels(A, gb, limit, stops):
    v = gb.Vector(gb.dtypes.INT64, A.nrows)  # levels
    q = gb.Vector(gb.dtypes.BOOL, A.nrows)  # frontier

    def body(level):
        # v<q> = level
        v(q.S) << level
        # q<!v, replace> = q any.pair A
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

    if not stops:
        return {"body": body, "while_": q, "limit": limit, "levels": v, "frontier": q}
    left, going, more = gb.Vector(gb.dtypes.BOOL, A.nrows), gb.Scalar(gb.dtypes.BOOL), gb.Scalar(gb.dtypes.BOOL)
    count = gb.Scalar(gb.dtypes.INT64)

    def until_found(level):
        body(level)
        # left<!v, replace> = left; going = left and q have entries
        left(~v.S, gb.replace) << left
        count << left.nvals
        more << count.apply(gb.binary.gt, right=0)
        count << q.nvals
        going << count.apply(gb.binary.gt, right=0)
        going << gb.binary.land(going & more)

    return {"body": until_found, "while_": going, "limit": limit, "levels": v, "frontier": q, "left": left}


@algorithm(answer="parent per vertex", work="search")
def bfs_parents(A, source, *, depth_limit=None, gb=None):
    """A breadth-first tree from `source`: the parent of each vertex.

    A: Matrix, n x n, any dtype. source: int, 0 <= source < n, or several: a tree from each. depth_limit: int >= 0: stop
    at this distance; None: no limit. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n: the parent has an edge to the vertex and is one level closer to the source; any one
    of several candidates. A source is its own parent; no entry at a vertex that is not reached.
    Raises DimensionMismatch (A not square), IndexOutOfBound (source out of range), InvalidValue (depth_limit below 0),
    TypeError (wrong types).
    """
    n = A.nrows
    source = check.sources(gb, "source", source, n)

    loop = loops.cached_loop(_parents, A, gb, _rounds(gb, depth_limit))
    # q = each source, its own parent
    return loop.evaluate("parents", gb, start="while_", source=source, values=source)


def _parents(A, gb, limit):
    p = gb.Vector(gb.dtypes.INT64, A.nrows)  # parents
    q = gb.Vector(gb.dtypes.INT64, A.nrows)  # frontier: the parent of each of its vertices

    def body(_):
        # p<q> = q
        p(q.S) << q
        # q<!p, replace> = q any.secondi A: the product over edge k -> j is k, the row number of the second operand
        q(~p.S, gb.replace) << q.vxm(A, gb.semiring.ss.any_secondi)

    return {"body": body, "while_": q, "limit": limit, "parents": p}

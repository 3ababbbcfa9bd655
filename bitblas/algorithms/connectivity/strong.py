"""Strongly connected components, sets of vertices that reach each other along directed edges, and their condensation.

Method: a symmetric matrix is answered by its connected components. Otherwise, vertices without in-edges or without
out-edges are removed repeatedly: each is a component. Then two searches from the vertex with the largest product of
in-degree and out-degree find its component, usually the giant one, as what it reaches forward and backward. The rest is
coloured: the smallest vertex number propagates along the edges, so that x[v] is the smallest vertex that reaches v. If
x[v] = v, v is a root, and the vertices of its colour that reach it are its component. Rounds of removing and coloring
follow until no vertex is left. On a GPU bitblas colours in one launch, forward and backward at the same time, by random
priorities (Alabandi et al.): vertices with equal colours are in one component, the others are split by both. Sparse
graphs, whose paths are long, it contracts first: cycles, and vertices whose in-edges (or out-edges) all come from one
vertex. On a CPU with few threads it runs one depth-first search instead, which takes linear time.

State: x holds the colours of the vertices without a component, INT64; no entry means "done". Colours never rise along
an edge, so the largest colour among the successors of a vertex tells whether one equals its own.

Input: any square A. A stored entry A[i, j] is the edge i -> j; dtype and values are ignored.

Check: SciPy's connected_components; NetworkX's condensation; no cycle is left.

Tarjan: Depth-first search and linear graph algorithms. SIAM Journal on Computing 1(2), 1972.
Fleischer, Hendrickson, Pinar: On identifying strongly connected components in parallel. IPDPS workshops 2000.
Alabandi, Sands, Biros, Burtscher: A high-performance algorithm for identifying strongly connected components. SC 2023.
Munro: Efficient determination of the transitive closure of a directed graph. Information Processing Letters 1(2), 1971.
Hecht, Ullman: Flow graph reducibility. SIAM Journal on Computing 1(2), 1972.
Slota, Rajamanickam, Madduri: BFS and coloring-based algorithms for strongly connected components. IPDPS 2014.
Orzan: On distributed verification and verified distribution. PhD thesis, Amsterdam 2004, chapter 6.
McLendon, Hendrickson, Plimpton, Rauchwerger: Finding strongly connected components in distributed graphs. JPDC 2005.
Harary, Norman, Cartwright: Structural models. Wiley 1965, chapter 3.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import (
    contracted_strong_labels,
    degrees,
    has_one_thread_labels,
    has_rounds,
    more_strong_labels,
    renumber,
    strong_labels,
)
from .components import connected_components


@algorithm(answer="representative per vertex")
def strongly_connected_components(A, *, gb=None):
    """The smallest vertex number in the strongly connected component of each vertex.

    A: Matrix, n x n, any dtype. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: two vertices reach each other if and only if their labels are equal.
    Raises DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    if A.nrows == 0:
        return gb.Vector(gb.dtypes.INT64, 0)
    if has_one_thread_labels(A, tuning.count("strong.threads")):
        return strong_labels(A, gb)
    if check.is_symmetric(gb, A):
        return connected_components(A, gb=gb)
    rounds = has_rounds(A)
    if rounds and A.nvals <= tuning.value("strong.sparse") * A.nrows:
        if loops.cached(_most_edges, A, gb) <= tuning.count("strong.hub"):
            return contracted_strong_labels(A, gb)
    loop = loops.cached_loop(_giant if rounds else _coloring, A, gb)
    left = loop.state["left"]
    left << True  # so that the first round begins
    loop.run()
    label = loop.result(loop.state["labels"])
    return more_strong_labels(A, label, left, gb) if rounds and left.nvals else label


def _most_edges(A, gb):
    """The number of edges from or to one vertex, at most."""
    return max(int(degrees(A, gb).max()), int(degrees(A.T, gb).max()))


def _giant(A, gb):
    """Label the vertices that are removed alone, and the component of a pivot; `left` are the others."""
    n, BOOL, INT64 = A.nrows, gb.dtypes.BOOL, gb.dtypes.INT64
    any_pair = gb.semiring.any_pair[BOOL]
    index = gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new()
    label, found = (gb.Vector(INT64, n) for _ in range(2))
    left, behind, ahead, gone, reached, search, both = (gb.Vector(BOOL, n) for _ in range(7))
    # pivot = the vertex of largest (A plus.pair 1) .* (A' plus.pair 1)
    pivot = gb.Vector.from_coo([int((degrees(A, gb) * degrees(A.T, gb)).argmax())], True, size=n)

    def body(_=0):
        # label[v] = v, final for vertices that are removed alone; left = all
        label << index
        left << True
        remove_ends()
        # reached = what the pivot reaches among those left, and all vertices that are gone
        reached << True
        reached(~left.S, gb.replace) << reached
        search(left.S, gb.replace) << pivot
        loops.repeat(forward, while_=search)
        both(reached.S, gb.replace) << left
        # reached = what reaches the pivot among these, and all other vertices
        reached << True
        reached(~both.S, gb.replace) << reached
        search(left.S, gb.replace) << pivot
        loops.repeat(backward, while_=search)
        # label<both> = the smallest vertex that is reached both ways
        both(reached.S, gb.replace) << both
        found(both.S, gb.replace) << index
        lowest = found.reduce(gb.monoid.min).new()
        label(both.S) << lowest
        left(~both.S, gb.replace) << left

    def forward(_):
        # reached<search> = true; search<!reached, replace> = search any.pair A
        reached(search.S) << True
        search(~reached.S, gb.replace) << search.vxm(A, any_pair)

    def backward(_):
        # reached<search> = true; search<!reached, replace> = A any.pair search
        reached(search.S) << True
        search(~reached.S, gb.replace) << A.mxv(search, any_pair)

    def remove_ends():
        # left = the remaining vertices with an in-edge and an out-edge among themselves
        gone << left
        loops.repeat(trim, while_=gone)

    def trim(_):
        # behind<left, replace> = left any.pair A; ahead<behind, replace> = A any.pair left
        behind(left.S, gb.replace) << left.vxm(A, any_pair)
        ahead(behind.S, gb.replace) << A.mxv(left, any_pair)
        # gone<!ahead, replace> = left; left = ahead
        gone(~ahead.S, gb.replace) << left
        left << ahead

    return {"body": body, "while_": left, "limit": 1, "labels": label, "left": left, "remove_ends": remove_ends}


def _coloring(A, gb):
    first = _giant(A, gb)
    n, INT64 = A.nrows, gb.dtypes.INT64
    label, left, remove_ends = (first[name] for name in ("labels", "left", "remove_ends"))
    index = gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new()
    x, near, found, last = (gb.Vector(INT64, n) for _ in range(4))

    def body(_):
        remove_ends()
        # x<left, replace> = the smallest vertex that reaches each
        x(left.S, gb.replace) << index
        near << x
        loops.repeat(spread, while_=near)
        # last<x == v, replace> = x, the roots; found = vertices that reach their root within their colour
        found.clear()
        last(gb.binary.eq(x & index).new().V, gb.replace) << x
        loops.repeat(gather, while_=last)
        # label<found> = found; left<!found, replace> = left
        label(found.S) << found
        left(~found.S, gb.replace) << left

    def spread(_):
        # t<x, replace> = near min.first A; near<t < x, replace> = t; x<near> = near
        t = near.vxm(A, gb.semiring.min_first[INT64]).new(mask=x.S)
        near(gb.binary.lt(t & x).new().V, gb.replace) << t
        x(near.S) << near

    def gather(_):
        # found<last> = last; t<!found, replace> = A max.second last; last<t == x, replace> = t
        found(last.S) << last
        t = A.mxv(last, gb.semiring.max_second[INT64]).new(mask=~found.S)
        last(gb.binary.eq(t & x).new().V, gb.replace) << t

    return {"begin": first["body"], "body": body, "while_": left, "labels": label, "left": left}


# ---- Condensation: the directed acyclic graph of the strongly connected components.
#
# Method: components are numbered from 0 in the order of their smallest vertices; each edge between two components
# becomes an edge between their numbers.
#
# State: S has an entry (v, c) for each vertex v and the number c of its component.
#
# Input: any square A. A stored entry A[i, j] is the edge i -> j; dtype and values are ignored.


@algorithm(answer=("graph of components", "value per vertex"), arrays=(24, 32))
def condensation(A, *, gb=None):
    """The graph of the strongly connected components, and the component number of each vertex.

    A: Matrix, n x n, any dtype. gb: the library, bitblas if None.
    Returns a Matrix, BOOL, k x k for k components, without loops and cycles, and a Vector, INT64, size n, full:
    component numbers from 0 to k - 1, in the order of the smallest vertices of the components.
    Raises DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    label, k = renumber(strongly_connected_components(A, gb=gb).to_dense(), gb)
    # C = S' any.pair A any.pair S, off the diagonal
    i, j, _ = A.to_coo(values=False)
    i, j = label[i], label[j]
    (across,) = (i != j).nonzero()
    return gb.Matrix.from_coo(i[across], j[across], True, nrows=k, ncols=k), gb.Vector.from_dense(label)

"""Connected components: sets of vertices joined by paths; weak components of a directed graph.

Method: Shiloach-Vishkin with Afforest's shortcut. In a round every tree hooks its root to the smallest label adjacent
to any of its vertices; then paths are shortened. The vertex of highest degree has label 0, the smallest: every tree
adjacent to its tree hooks to it, so the rows of that tree, which hold most edges, are never read again. If its degree
is far above the mean, two steps of a search from it reach most of the largest component, which starts with label 0.
Before the first round, one edge of each remaining vertex is used. On a CPU with few threads bitblas joins trees edge by
edge instead (union-find) if plain rows are soon read; this needs no rounds, and skips the rows of the largest tree
in the same way.

State: x[u] is the label of u's tree: 1 + the number of its root, or 0. p[c] is the label that root c hooks to, c itself
if none.

Input: A with a symmetric structure (each edge stored both ways); values and dtype are ignored. For weak components A is
joined with its transpose.

Check: SciPy's connected_components.

Shiloach, Vishkin: An O(log n) parallel connectivity algorithm. J. of Algorithms 3 (1982).
Tarjan: Efficiency of a good but not linear set union algorithm. Journal of the ACM 22 (1975).
Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
"""

from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import component_labels, gather_values, has_one_thread_labels, reads_plain_rows


@algorithm(graph="undirected", answer="representative per vertex", work="components")
def connected_components(A, *, gb=None):
    """The smallest vertex number in the component of each vertex.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: two vertices are connected if and only if their labels are equal.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    return _components(_labels, A, gb)


@algorithm(answer="representative per vertex", work="components")
def weakly_connected_components(A, *, gb=None):
    """The smallest vertex number in the weak component of each vertex of a directed graph, edges used both ways.

    A: Matrix, n x n, any dtype. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: two vertices are connected if and only if their labels are equal.
    Raises DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    return _components(_weak_labels, A, gb)


def _components(make, A, gb):
    if A.nrows == 0:
        return gb.Vector(gb.dtypes.INT64, 0)
    if has_one_thread_labels(A, tuning.count("components.threads")) and reads_plain_rows(A):
        return component_labels(A, gb)
    loop = loops.cached_loop(make, A, gb)
    return loop.evaluate("labels", gb)


def _weak_labels(A, gb):
    # the components of A or A'
    return _labels(gb.binary.pair[gb.dtypes.BOOL](A | A.T).new(), gb)


def _labels(A, gb):
    n, minimum = A.nrows, gb.binary.min
    # INT32 if it suffices: half the bytes. Typed, because labels would become floats next to a matrix of floats.
    kind = gb.dtypes.INT32 if n < 2**31 - 1 else gb.dtypes.INT64
    every = gb.Vector.from_scalar(0, n + 1, dtype=kind)
    slots = every.apply(gb.indexunary.index).new(kind)
    vertex = slots[:n].new()
    # start[u] = 1 + u, 0 at the vertex of highest degree
    start, degrees = slots[1:].new(), A.mxv(vertex, gb.semiring.plus_pair[kind]).new().to_dense(0)
    most = int(degrees.argmax())
    start[most] = 0
    spreads = int(degrees[most]) * n > tuning.value("components.skew") * A.nvals
    labels, moved = gb.Vector(gb.dtypes.INT64, n), gb.Vector(gb.dtypes.BOOL, n)

    def begin():
        x, p, done = gb.Vector(kind, n), gb.Vector(kind, n + 1), gb.Vector(kind, n)
        # p = c; x = start
        p << slots
        x << start
        mask = None
        if spreads:
            spread(x, done)
            mask = ~done.S
        # near<!done> = A any.second x: the label of an arbitrary neighbour
        advance(x, p, done, A.mxv(x, gb.semiring.any_second[kind]).new(mask=mask))
        moved << True
        return x, p, done

    def spread(x, done):
        # x = 0 within two steps of the vertex of highest degree
        q, seen = gb.Vector(gb.dtypes.BOOL, n), gb.Vector(gb.dtypes.BOOL, n)

        def step(_):
            # seen<q> = true; q<!seen, replace> = q any.pair A
            seen(q.S) << True
            q(~seen.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

        done << x.select(gb.select.valueeq, 0)
        q(done.S) << True
        loops.repeat(step, q, limit=2)
        x(seen.S) << 0
        x(q.S) << 0
        done << x.select(gb.select.valueeq, 0)

    def body(_, x, p, done):
        # near<!done> = A min.second x; few are done at first, so the others are not compacted into a list
        advance(x, p, done, A.mxv(x, gb.semiring.min_second[kind]).new(mask=~done.S))

    def advance(x, p, done, near):
        # near<near < x, replace> = near; p[x] min= near
        lower = gb.binary.lt(near & x).new()
        moved(lower.V, gb.replace) << True
        near(moved.S, gb.replace) << near
        vertices, labels = near.to_coo()
        p(minimum) << gb.Vector.from_coo(x.to_dense()[vertices], labels, size=n + 1, dup_op=minimum)
        # p = p[p] several times; x = p[x]; done = x == 0
        q = gather_values(p, gather_values(p, p))
        p << gather_values(q, gather_values(q, q))
        x << gather_values(p, x)
        done << x.select(gb.select.valueeq, 0)

    def end(x, *_):
        # labels = x - 1; labels<x == 0> = min(v where x[v] == 0)
        zero = x.select(gb.select.valueeq, 0).new()
        low = gb.binary.second(zero & vertex).new().reduce(gb.monoid.min).new()
        labels << x.apply(gb.binary.minus, right=1)
        labels(zero.S) << low

    return {"begin": begin, "body": body, "end": end, "while_": moved, "labels": labels}

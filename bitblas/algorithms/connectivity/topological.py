"""Topological levels and longest paths of a directed acyclic graph.

Method: peeling (Kahn). A round removes all vertices without an in-edge from remaining vertices; they are one level.
Vertices on a cycle or reachable from one are never removed. Longest paths are relaxed on the way, over
max.plus: when a vertex is removed, all paths that end at it are known.

State: d is the number of in-edges from remaining vertices, INT64; no entry means "removed". q is the current level, x
the greatest length of a path that ends at a vertex, at least 0.

Input: any square A. A stored entry A[i, j] is the edge i -> j; the levels ignore dtype and
values, which are the lengths of edges on longest paths, also negative.

Check: Kahn's algorithm, vertex by vertex; NetworkX's dag_longest_path_length.

Kahn: Topological sorting of large networks. Communications of the ACM 5 (1962).
"""

from .. import _loops as loops
from .._algorithm import algorithm
from ..paths.sssp import weights_of


@algorithm(graph="acyclic", answer="value per vertex")
def topological_levels(A, *, gb=None):
    """The number of edges on a longest path that ends at each vertex.

    A: Matrix, n x n, any dtype. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n: every edge goes to a higher level. No entry at a vertex on a cycle or reachable
    from one, so the result is full if and only if the graph is acyclic; a self loop is a cycle. As a method of a Graph
    it raises an error for a cyclic graph.
    Raises DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    loop = loops.cached_loop(_levels, A, gb)
    v, d, q = (loop.state[name] for name in ("levels", "degrees", "while_"))
    v.clear()
    # d = A' plus.pair 1; q = d<d == 0>
    d << 0
    d(gb.monoid.plus) << A.T.mxv(d, gb.semiring.plus_pair[gb.dtypes.INT64])
    q << d.select(gb.select.valueeq, 0)
    loop.run()
    return loop.result(v)


def _levels(A, gb):
    INT64 = gb.dtypes.INT64
    v, d, q = (gb.Vector(INT64, A.nrows) for _ in range(3))

    def body(level):
        # v<q> = level; d<!q, replace> = d
        v(q.S) << level
        d(~q.S, gb.replace) << d
        # d -= q plus.pair A; d has an entry at every head of an edge from q
        d(gb.binary.minus) << q.vxm(A, gb.semiring.plus_pair[INT64])
        # q = d<d == 0>
        q << d.select(gb.select.valueeq, 0)

    return {"body": body, "while_": q, "levels": v, "degrees": d}


@algorithm(graph="acyclic", answer=("vertices", "number"), weighted=True, arrays=(16, 24))
def dag_longest_path(A, *, gb=None):
    """A path of greatest total weight in a directed acyclic graph, and its length.

    A: Matrix, n x n; in a BOOL matrix every entry, also False, is an edge of weight 1. gb: the library, bitblas if
    None.
    Returns a list of Python ints, and a Python int or float: the vertices of a longest path in order, any one of
    several, and its length. The path is a single vertex if none has a length above 0, and empty if n is 0.
    Raises InvalidValue (A has a cycle; a weight is NaN or -infinity; integer weights for which a path may exceed 2^63),
    DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    n, dtypes = A.nrows, gb.dtypes
    if A.dtype == dtypes.BOOL:
        A = A.apply(gb.unary.one[dtypes.INT64]).new()
    else:
        weights_of(A, gb)
        A = A.dup(A.dtype if A.dtype in (dtypes.FP32, dtypes.FP64) else dtypes.INT64)
    loop = loops.cached_loop(_longest, A, gb)
    x, d, q = (loop.state[name] for name in ("lengths", "degrees", "while_"))
    # x = 0; d = A' plus.pair 1; q = d<d == 0>
    x << 0
    d << 0
    d(gb.monoid.plus) << A.T.mxv(d, gb.semiring.plus_pair[dtypes.INT64])
    q << d.select(gb.select.valueeq, 0)
    loop.run()
    if d.nvals:
        raise gb.exceptions.InvalidValue(
            f"argument A: expected an acyclic graph, got one with {d.nvals} of {n} vertices on or behind cycles. Hint: "
            "strongly_connected_components finds the cycles; condensation contracts them."
        )
    if not n:
        return [], 0
    length = x.to_dense()
    # before[j] = an i with length[i] + A[i, j] == length[j]
    i, j, w = A.to_coo()
    tight = (length[i] + w == length[j]) & (length[j] > 0)
    before = dict(zip(j[tight].tolist(), i[tight].tolist()))
    path = [int(length.argmax())]
    while path[-1] in before:
        path.append(before[path[-1]])
    return path[::-1], length[path[0]].item()


def _longest(A, gb):
    INT64 = gb.dtypes.INT64
    x, y = gb.Vector(A.dtype, A.nrows), gb.Vector(A.dtype, A.nrows)
    d, q = gb.Vector(INT64, A.nrows), gb.Vector(INT64, A.nrows)

    def body(_):
        # d<!q, replace> = d; y<q, replace> = x
        d(~q.S, gb.replace) << d
        y(q.S, gb.replace) << x
        # x max= y max.plus A; d -= q plus.pair A
        x(gb.binary.max) << y.vxm(A, gb.semiring.max_plus[A.dtype])
        d(gb.binary.minus) << q.vxm(A, gb.semiring.plus_pair[INT64])
        # q = d<d == 0>
        q << d.select(gb.select.valueeq, 0)

    return {"body": body, "while_": q, "lengths": x, "degrees": d}

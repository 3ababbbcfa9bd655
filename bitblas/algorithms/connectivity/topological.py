"""Topological levels: an order of a directed acyclic graph in which every edge goes to a higher level.

Method: peeling (Kahn). A round removes all vertices without an in-edge from remaining vertices; they are one level.
Vertices on a cycle or reachable from one are never removed.

State: d is the number of in-edges from remaining vertices, INT64; no entry means "removed". q is the current level.

Input: any square A. A stored entry A[i, j] is the edge i -> j; dtype and values are ignored.

Check: Kahn's algorithm, vertex by vertex.

Kahn: Topological sorting of large networks. Communications of the ACM 5 (1962).
"""

from .. import _loops as loops
from .._algorithm import algorithm


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

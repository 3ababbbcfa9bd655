"""Strongly connected components: which vertices can reach each other along directed edges.

Method: forward colors and backward searches. The smallest number of a vertex spreads along the edges, so that x[v] is
the smallest vertex that reaches v. Where it is v itself, v is a root: the vertices of its color that reach it are its
component. Before each such round, vertices without an edge in or without an edge out are taken off, again and again:
they are components of their own.

State: x holds the colors of the vertices that have no component yet, INT64; no entry stands for "done". Along an edge
colors never rise, so of the colors behind a vertex the largest one says whether one is its own.

Input: any square A; an edge is a stored entry, whatever its dtype and value. Directed: A[i, j] is the edge i -> j.

Check: SciPy's connected_components.

Orzan: On distributed verification and verified distribution. PhD thesis, Amsterdam 2004, chapter 6.
McLendon, Hendrickson, Plimpton, Rauchwerger: Finding strongly connected components in distributed graphs. JPDC 2005.
"""

from .. import _check as check


@check.on_its_device
def strongly_connected_components(A, *, gb=None):
    """The smallest vertex number of the strongly connected component of each vertex.

    A: Matrix, n x n, any dtype. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: two vertices can reach each other exactly if their labels are equal.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    index = gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new()
    trim, spread, back = (check.loop(make, A, gb) for make in (_trimming, _spreading, _gathering))
    # label[v] = v: what is never found with others stays alone
    label, left = index.dup(), gb.Vector.from_scalar(True, n)
    while left.nvals:
        # left = the vertices with edges in and edges out, from and to others that are left
        alive, q = trim.state["alive"], trim.state["while_"]
        alive << left
        q << left
        trim.run()
        left << alive
        # x = the smallest vertex that reaches each of them
        x, q = spread.state["colors"], spread.state["while_"]
        x.clear()
        x(left.S) << index
        q << x
        spread.run()
        # roots: x[v] = v; found = what reaches the root of its color inside of the color
        roots = gb.binary.eq(x & index).new()
        found, q, colors = (back.state[name] for name in ("found", "while_", "colors"))
        colors << x
        found.clear()
        q.clear()
        q(roots.V) << x
        back.run()
        # label<found> = x; left<!found, replace> = left
        label(found.S) << found
        left(~found.S, gb.replace) << left
    return label


def _trimming(A, gb):
    """alive without the vertices that have no edge in or no edge out, until nothing changes."""
    BOOL, any_pair = gb.dtypes.BOOL, gb.semiring.any_pair[gb.dtypes.BOOL]
    alive, q, t, u = (gb.Vector(BOOL, A.nrows) for _ in range(4))

    def body(_):
        # t<alive, replace> = alive any.pair A; u<t, replace> = A any.pair alive
        t(alive.S, gb.replace) << alive.vxm(A, any_pair)
        u(t.S, gb.replace) << A.mxv(alive, any_pair)
        # q<!u, replace> = alive: what goes; alive = u
        q(~u.S, gb.replace) << alive
        alive << u

    return {"body": body, "while_": q, "alive": alive}


def _spreading(A, gb):
    """colors: the smallest color of all that reach a vertex."""
    INT64 = gb.dtypes.INT64
    x, q, t = (gb.Vector(INT64, A.nrows) for _ in range(3))
    lower = gb.Vector(gb.dtypes.BOOL, A.nrows)

    def body(_):
        # t<x, replace> = q min.first A
        t(x.S, gb.replace) << q.vxm(A, gb.semiring.min_first[INT64])
        # q<t < x, replace> = t; x<q> = q
        lower << gb.binary.lt(t & x)
        q(lower.V, gb.replace) << t
        x(q.S) << q

    return {"body": body, "while_": q, "colors": x}


def _gathering(A, gb):
    """found: the vertices that reach, in their color, one of those that q starts with."""
    INT64 = gb.dtypes.INT64
    x, found, q, t = (gb.Vector(INT64, A.nrows) for _ in range(4))
    same = gb.Vector(gb.dtypes.BOOL, A.nrows)

    def body(_):
        # found<q> = q
        found(q.S) << q
        # t<!found, replace> = A max.second q
        t(~found.S, gb.replace) << A.mxv(q, gb.semiring.max_second[INT64])
        # q<t == x, replace> = t
        same << gb.binary.eq(t & x)
        q(same.V, gb.replace) << t

    return {"body": body, "while_": q, "found": found, "colors": x}

"""Biconnected components, articulation points and bridges of an undirected graph.

Method: Tarjan-Vishkin on a breadth-first forest. An Euler tour of the forest, ranked by pointer jumping, numbers the
vertices in preorder: a subtree is a range of numbers. The extreme numbers adjacent to each subtree by edges outside
the forest are range minima and maxima, by doubling. An auxiliary graph joins forest edges that lie on a common cycle;
each is named by its lower end. Its components are the biconnected components. The number of rounds grows with log n,
apart from the search.

State: all in preorder numbers: up[x] is the parent of x (itself at a root), size[x] the vertices of its subtree, N the
edges outside the forest, low[x] and high[x] the extremes over x and its neighbours in N.

Input: A with a symmetric structure (each edge stored both ways); values, dtype and self loops are ignored.

Check: NetworkX's biconnected_components, articulation_points and bridges.

Tarjan, Vishkin: An efficient parallel biconnectivity algorithm. SIAM J. on Computing 14 (1985).
Cong, Bader: An experimental study of parallel biconnected components algorithms on SMPs. IPDPS 2005.
"""

from .._algorithm import algorithm
from .._parts import index_range, undirected_graph
from ..paths.bfs import bfs_parents
from .components import connected_components


@algorithm(graph="undirected", answer="undirected graph", arrays=(120, 64))
def biconnected_components(A, *, gb=None):
    """The biconnected component of each edge: two edges are in one if a cycle without repeated vertices has both.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Matrix, INT64, n x n, with the structure of A without self loops: component numbers from 0, in the order
    of their first entries. A bridge is a component of one edge; an articulation point is in several components.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    i, j, label = _labels(A, gb)
    # first[c] = the first entry of component c; number = the count of first entries up to that, less 1
    entry = index_range(len(label), gb)
    first = gb.Vector.from_coo(label, entry, gb.dtypes.INT64, size=A.nrows, dup_op=gb.binary.min).to_dense(0)[label]
    number = (first == entry).cumsum() - 1
    return gb.Matrix.from_coo(i, j, number[first], gb.dtypes.INT64, nrows=A.nrows, ncols=A.nrows)


@algorithm(graph="undirected", answer="value per vertex", arrays=(120, 64))
def articulation_points(A, *, gb=None):
    """The vertices whose removal disconnects their component of an undirected graph (cut vertices).

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at these vertices, no entry elsewhere.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    B = biconnected_components(A, gb=gb)
    # cut = min over the rows of B != max over the rows of B
    cut = gb.binary.ne(B.reduce_rowwise(gb.monoid.min).new() & B.reduce_rowwise(gb.monoid.max).new()).new()
    return cut.dup(mask=cut.V)


@algorithm(graph="undirected", answer="undirected graph", arrays=(120, 64))
def bridges(A, *, gb=None):
    """The edges whose removal disconnects their component of an undirected graph (cut edges).

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Matrix, n x n, of A's dtype: these entries of A, both ways.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    n, (i, j, label) = A.nrows, _labels(A, gb)
    # S<entries whose label has two entries, an edge both ways> = A
    count = gb.Vector.from_coo(label, i * 0 + 1, gb.dtypes.INT64, size=n, dup_op=gb.binary.plus).to_dense(0)
    alone = count[label] == 2
    mask = gb.Matrix.from_coo(i[alone], j[alone], True, nrows=n, ncols=n)
    return A.dup(mask=mask.S)


def _labels(A, gb):
    """Rows and columns of the entries of A off the diagonal, and a vertex that names the component of each: arrays."""
    n, INT64, minimum, maximum = A.nrows, gb.dtypes.INT64, gb.binary.min, gb.binary.max
    i, j, _ = A.select(gb.select.offdiag).new().to_coo(values=False)
    i, j = i.astype("int64"), j.astype("int64")
    if not len(i):
        return i, j, i
    number, size, up = _preorder(A, gb)
    vertex, u, v = index_range(n, gb), number[i], number[j]
    outside = (up[u] != v) & (up[v] != u)
    N = gb.Matrix.from_coo(u[outside], v[outside], True, nrows=n, ncols=n)
    # low = v; low min= N min.second v; high = v; high max= N max.second v
    low, high = gb.Vector.from_dense(vertex), gb.Vector.from_dense(vertex)
    low(minimum) << N.mxv(gb.Vector.from_dense(vertex), gb.semiring.min_second[INT64])
    high(maximum) << N.mxv(gb.Vector.from_dense(vertex), gb.semiring.max_second[INT64])
    least, most = _over_ranges(low, minimum, size), _over_ranges(high, maximum, size)
    # join x to p = up[x], which has a parent itself, if an edge leads from the subtree of x out of that of p
    p = up
    joined = (p != vertex) & (up[p] != p) & ((least < p) | (most >= p + size[p]))
    J = undirected_graph(vertex[joined], p[joined], n, gb)
    # J = J or N; an edge is in the component of the forest edge above its end of higher number
    J << gb.binary.pair[gb.dtypes.BOOL](J | N)
    block = connected_components(J, gb=gb).to_dense()
    return i, j, block[u + (v - u) * (v > u)]


def _preorder(A, gb):
    """The preorder number of each vertex in a breadth-first forest; by these numbers, the sizes of subtrees, and the
    parents. The Euler tour passes vertex v downwards as v and upwards as n + v.
    """
    n, vertex, tour = A.nrows, index_range(A.nrows, gb), index_range(2 * A.nrows, gb)
    (roots,) = (connected_components(A, gb=gb).to_dense() == vertex).nonzero()
    parent = bfs_parents(A, roots, gb=gb).to_dense()
    # vertices sorted by their parents; roots are the children of n
    above = parent.copy()
    above[roots] = n
    order = above.argsort(kind="stable")
    above = above[order]
    first, end = above.searchsorted(vertex), above.searchsorted(vertex, side="right")
    # after v downwards: its first child downwards, or v upwards
    leaf = first == end
    tour[:n] = order[first.clip(0, n - 1)] * ~leaf + (n + vertex) * leaf
    # after v upwards: its next sibling downwards, or its parent upwards; the last root ends the tour
    sibling = above[1:] == above[:-1]
    tour[n + order[:-1]] = order[1:] * sibling + (n + above[:-1]) * ~sibling
    # ahead[x] = the vertices passed downwards from x to the end: ahead += ahead[tour], tour = tour[tour]
    ahead = (index_range(2 * n, gb) < n).astype("int64")
    for _ in range((2 * n).bit_length()):
        ahead, tour = ahead + ahead[tour], tour[tour]
    number = n - ahead[:n]
    size, up = vertex.copy(), vertex.copy()
    size[number], up[number] = ahead[:n] - ahead[n:], number[parent]
    return number, size, up


def _over_ranges(x, op, size):
    """op over x[k], .., x[k + size[k] - 1] for each k: an array. x is overwritten by results over longer ranges."""
    found, n = x.dup(), x.size
    for step in (1 << k for k in range(n.bit_length())):
        # found[k] = op(x[k], x[k + size[k] - step]), which overlap
        (at,) = ((size >= step) & (size < 2 * step)).nonzero()
        found[at] << op(x[at].new() & x[at + size[at] - step].new()).new()
        # x[k] = op(x[k], x[k + step])
        x[: n - step](op) << x[step:].new()
    return found.to_dense()

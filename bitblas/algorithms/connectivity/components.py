"""Connected components: which vertices can reach each other in an undirected graph.

Method: Shiloach and Vishkin's, with Afforest's shortcut. In a round every tree hooks its root to the smallest label
next to any of its vertices, and then all paths are shortened until they lead straight to their roots. The first round
looks at one edge of each vertex only; this joins most of the largest component. The label that is then the most
frequent one of a sample becomes 0, the smallest there is: whatever touches that tree will hook to it, so its own rows,
which have most of the edges, are never read again.

State: x[u] is the label of the tree of u: 1 + the number of its root, or 0. p[c] is the label that root c hooks to, c
itself where it does not.

Input: A with a symmetric structure (each edge stored both ways); values and dtype do not matter. On other matrices the
answer is not promised to be the weak components: for these A is joined with its transpose.

Check: SciPy's connected_components.

Shiloach, Vishkin: An O(log n) parallel connectivity algorithm. J. of Algorithms 3 (1982).
Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
"""

from .. import _check as check
from .. import _watch as watch
from .._roots import roots

SAMPLE = 1024  # labels that are looked at to find a large tree


@check.on_its_device
def connected_components(A, *, gb=None):
    """The smallest vertex number of the component of each vertex.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: two vertices are connected exactly if their labels are equal.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    INT64, minimum = gb.dtypes.INT64, gb.binary.min
    # Typed, or labels would become floats next to a matrix of floats.
    any_second, min_second = gb.semiring.any_second[INT64], gb.semiring.min_second[INT64]

    # x[u] = 1 + u
    x = gb.Vector.from_scalar(0, n).apply(gb.indexunary.index, 1).new()
    # near = A any.second x: the label of any neighbour
    x = _hooked(x, A.mxv(x, any_second).new(), gb)
    # x<x == the most frequent label of a sample> = 0
    sample = x[:: max(1, n // SAMPLE)].new().to_dense()
    sizes = gb.Vector.from_coo(sample, (sample > 0).astype("int64"), size=n + 1, dup_op=gb.binary.plus)
    x(x.select(gb.select.valueeq, int(sizes.to_dense(0).argmax())).new().S) << 0

    near = gb.Vector(INT64, n)
    lower = gb.Vector(gb.dtypes.BOOL, n)
    while True:
        # near<x, replace> = A min.second x
        near(x.V, gb.replace) << A.mxv(x, min_second)
        # near<near < x, replace> = near
        lower << gb.binary.lt(near & x)
        near(lower.V, gb.replace) << near
        watch.tell()
        if near.nvals == 0:
            break
        x = _hooked(x, near, gb)

    # smallest[c] = min u over the vertices with x[u] = c, then smallest[x]
    label, vertex = x.to_dense(), gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new().to_dense()
    smallest = gb.Vector.from_coo(label, vertex, size=n + 1, dup_op=minimum)
    return smallest[label].new()


@check.on_its_device
def weakly_connected_components(A, *, gb=None):
    """The smallest vertex number of the component of each vertex, of a directed graph whose edges count both ways.

    A: Matrix, n x n, any dtype. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: two vertices are connected exactly if their labels are equal.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    check.square(gb, A)
    # the components of A or A'
    return connected_components(gb.binary.pair[gb.dtypes.BOOL](A | A.T).new(), gb=gb)


def _hooked(x, near, gb):
    """The labels after each tree has hooked to the smallest of the labels `near` its vertices."""
    n, minimum, label = x.size, gb.binary.min, x.to_dense()
    # p[c] = c
    p = gb.Vector.from_scalar(0, n + 1).apply(gb.indexunary.index).new()
    # p[x] min= near
    vertex, lowest = near.to_coo()
    p(minimum) << gb.Vector.from_coo(label[vertex], lowest, size=n + 1, dup_op=minimum)
    # p = p[p] until nothing changes; x = p[x]
    return roots(p)[label].new()

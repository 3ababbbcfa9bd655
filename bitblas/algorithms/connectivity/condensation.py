"""Condensation: the directed acyclic graph of the strongly connected components.

Method: components are numbered from 0 in the order of their smallest vertices; each edge between two components becomes
an edge between their numbers.

State: S has an entry (v, c) for each vertex v and the number c of its component.

Input: any square A. A stored entry A[i, j] is the edge i -> j; dtype and values are ignored.

Check: NetworkX's condensation; no cycle is left.

Harary, Norman, Cartwright: Structural models. Wiley 1965, chapter 3.
"""

from .._algorithm import algorithm
from .._parts import renumber
from .strong import strongly_connected_components


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

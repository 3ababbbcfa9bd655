"""Community detection by label propagation (CDLP): each vertex takes its neighbours' most frequent label.

Method: all vertices update at once, for a fixed number of rounds, so the result is deterministic. Ties go to the
smallest label. In a directed graph labels propagate along each edge in both directions, so a pair of opposite edges
counts twice.

State: label[v] is the label of v, initially v. L is the map of the labels: the matrix with the entry (v, label[v]) for
each vertex, so that A plus.pair L counts the labels next to each vertex. Only the argmax of each row of this product is
read, so bitblas reduces each row while it counts, and stores neither L nor a product. B is A, or A + A' if directed.

Input: A with a symmetric structure, or any square A if directed. If undirected and not symmetric, labels are read along
out-edges only. Values and dtype are ignored.

Check: LDBC's definition, vertex by vertex.

Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures. Physical Review E 76 (2007).
Iosup et al: LDBC Graphalytics. PVLDB 9 (2016), for the definition: CDLP.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import index_range, map_matrix


@algorithm(answer="representative per vertex", arrays=(40, 0), work="sweeps")
def label_propagation(A, *, directed=False, max_iter=10, gb=None):
    """The community label of each vertex, a vertex number.

    A: Matrix, n x n, any dtype; symmetric structure (not checked) unless directed. directed: bool, whether edges are
    directed. max_iter: int >= 1, rounds; fewer if no label changes. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full; a vertex without neighbours keeps its own number.
    Raises InvalidValue (max_iter out of range), DimensionMismatch (A not square), TypeError (wrong types).
    """
    max_iter = check.count(gb, "max_iter", max_iter, "10 is the default")
    directed = check.flag("directed", directed)
    if A.nrows == 0:
        return gb.Vector(gb.dtypes.INT64, 0)
    loop = loops.cached_loop(_voting, A, gb, directed, max_iter)
    loop.run()
    return loop.result(loop.state["label"])


def _voting(A, gb, directed, max_iter):
    n, semiring, binary = A.nrows, gb.semiring, gb.binary
    vertex = gb.Vector.from_dense(index_range(n, gb))
    label, changed = gb.Vector(gb.dtypes.INT64, n), gb.Vector(gb.dtypes.BOOL, n)
    B, counts = A, semiring.plus_pair[gb.dtypes.INT64]
    if directed:
        # B = A + A', with the number of edges between two vertices: 1 or 2
        B = A.apply(gb.unary.one[gb.dtypes.INT8]).new()
        B << B.ewise_add(B.T, binary.plus)
        counts = semiring.plus_first[gb.dtypes.INT64]

    def begin():
        # label[v] = v
        label << vertex
        changed << True

    def body(_):
        # L[v, label[v]] = true
        L = map_matrix(label, n, gb)
        # best[v] = argmax of (B plus.pair L)[v, :]: the most frequent label, ties to the smallest
        C = B.mxm(L, counts).new()
        best = C.reduce_rowwise(gb.agg.ss.argmax).new()
        # changed<best != label> = true; label<changed> = best
        changed(binary.ne(best & label).new().V, gb.replace) << True
        label(changed.S) << best

    return {"begin": begin, "body": body, "while_": changed, "limit": max_iter, "label": label}

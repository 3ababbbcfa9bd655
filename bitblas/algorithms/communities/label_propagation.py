"""Community detection by label propagation (CDLP): each vertex takes its neighbours' most frequent label.

Method: all vertices update at once, for a fixed number of rounds, so the result is deterministic. Ties go to the
smallest label. In a directed graph labels propagate along each edge in both directions, so a pair of opposite edges
counts twice.

State: label[v] is the label of v, initially v. L has an entry (v, label[v]) for each vertex, so that A plus.pair L
counts the labels next to each vertex.

Input: A with a symmetric structure, or any square A if directed. If undirected and not symmetric, labels are read along
out-edges only. Values and dtype are ignored.

Check: LDBC's definition, vertex by vertex.

Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures. Physical Review E 76 (2007).
Iosup et al: LDBC Graphalytics. PVLDB 9 (2016), for the definition: CDLP.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import index_range


@algorithm(answer="representative per vertex", arrays=(32, 60), work="sweeps")
def label_propagation(A, *, directed=False, max_iter=10, gb=None):
    """The community label of each vertex, a vertex number.

    A: Matrix, n x n, any dtype; symmetric structure (not checked) unless directed. directed: bool, whether edges are
    directed. max_iter: int >= 1, rounds; fewer if no label changes. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full; a vertex without neighbours keeps its own number.
    Raises InvalidValue (max_iter out of range), DimensionMismatch (A not square), TypeError (wrong types).
    """
    n = A.nrows
    max_iter = check.count(gb, "max_iter", max_iter, "10 is the default")
    check.flag("directed", directed)
    INT64 = gb.dtypes.INT64
    # label[v] = v
    label = index_range(n, gb)
    vertex = label.copy()
    for _ in range(max_iter):
        # L[v, label[v]] = true; C = A plus.pair L: count of each label next to each vertex
        L = gb.Matrix.from_coo(vertex, label, True, nrows=n, ncols=n)
        C = A.mxm(L, gb.semiring.plus_pair[INT64]).new()
        if directed:
            # C += A' plus.pair L
            C(gb.binary.plus) << A.T.mxm(L, gb.semiring.plus_pair[INT64])
        # best[v] = max over c of (n C[v, c] - c): the most frequent label, ties to the smallest
        v, c, count = C.to_coo()
        best = gb.Vector.from_coo(v, n * count - c.astype("int64"), size=n, dup_op=gb.binary.max)
        # label<best> = -best mod n
        v, score = best.to_coo()
        before, label = label, label.copy()
        label[v] = -score % n
        loops.report()
        if not (label != before).any():
            break
    return gb.Vector.from_dense(label)

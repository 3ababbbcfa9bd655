"""Community detection by label propagation (CDLP): each vertex takes its neighbours' most frequent label.

Method: all vertices at once, for a fixed number of rounds, so that the answer is the same everywhere. Of several most
frequent labels the smallest one wins. Along an edge of a directed graph labels go both ways, and twice where the edge
is there both ways.

State: label[v] is the label of v, at first its own number. L has an entry (v, label[v]) for each vertex, so that
A plus.pair L counts the labels next to each vertex.

Input: A with a symmetric structure, or any square A if directed; otherwise labels of a matrix that is not symmetric are
read where edges lead to. Values and dtype do not matter.

Check: LDBC's definition, vertex by vertex.

Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures. Physical Review E 76 (2007).
Iosup et al: LDBC Graphalytics. PVLDB 9 (2016), for the definition: CDLP.
"""

from .. import _check as check
from .. import _watch as watch
from .._parts import numbers


@check.on_its_device
def label_propagation(A, *, directed=False, max_iter=10, gb=None):
    """The label of the community of each vertex.

    A: Matrix, n x n, any dtype; symmetric structure (not checked) unless directed. directed: bool, whether edges have a
    direction. max_iter: int >= 1, the rounds; fewer where nothing changes any more. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: labels are numbers of vertices; a vertex without neighbours keeps its own.
    Raises InvalidValue (max_iter out of range), DimensionMismatch (A not square), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    max_iter = check.count(gb, "max_iter", max_iter, "10 is the default")
    check.flag("directed", directed)
    INT64 = gb.dtypes.INT64
    # label[v] = v
    label = numbers(n, gb)
    vertex = label.copy()
    for _ in range(max_iter):
        # L[v, label[v]] = true; C = A plus.pair L: how often each label is next to each vertex
        L = gb.Matrix.from_coo(vertex, label, True, nrows=n, ncols=n)
        C = A.mxm(L, gb.semiring.plus_pair[INT64]).new()
        if directed:
            # C += A' plus.pair L
            C(gb.binary.plus) << A.T.mxm(L, gb.semiring.plus_pair[INT64])
        # best[v] = max over c of (n C[v, c] - c): the most frequent label, of those the smallest
        v, c, count = C.to_coo()
        best = gb.Vector.from_coo(v, n * count - c.astype("int64"), size=n, dup_op=gb.binary.max)
        # label<best> = -best mod n
        v, score = best.to_coo()
        before, label = label, label.copy()
        label[v] = -score % n
        watch.tell()
        if not (label != before).any():
            break
    return gb.Vector.from_dense(label)

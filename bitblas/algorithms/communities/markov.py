"""Markov clustering (MCL): communities that a random walk seldom leaves.

Method: M holds the probabilities of a step, by columns. M M is two steps; the power `inflation` of each value, scaled
to columns of sum 1 again, favours what is probable already; what is below `prune` is dropped. It ends when each column
has equal values only. What M then connects is a community.

State: M, FP64; M[i, j] is the probability to be at i after starting from j.

Input: A with symmetric structure and values; self loops are added where there are none, with the largest weight of the
column.

Check: communities that are plain; none spans two components.

van Dongen: Graph clustering by flow simulation. PhD thesis, Utrecht 2000.
"""

from .. import _check as check
from .. import _power as power
from .. import _watch as watch
from ..connectivity.components import connected_components
from .modularity import weights


@check.on_its_device
def markov_clustering(A, *, inflation=2.0, prune=1e-4, weighted=False, tol=1e-6, max_iter=100, gb=None):
    """The smallest vertex number of the community of each vertex.

    A: Matrix, n x n, any dtype, symmetric (not checked). inflation: float > 1; higher ones make smaller communities.
    prune: float, 0 <= prune < 1: smaller probabilities are dropped. weighted: bool, whether the values of A (0 or more)
    are weights. tol: float > 0, how unequal the values of a column may be at the end. max_iter: int >= 1; if tol is not
    met by then, the last iterate counts, and a ConvergenceWarning says so (or an `algorithms.Watch` around the call).
    gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full.
    Raises InvalidValue (an option or a weight out of range), DimensionMismatch (A not square), TypeError.
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    far = float("inf")
    inflation = check.number(gb, "inflation", inflation, lambda x: 1 < x < far, "a number above 1", "2 is usual")
    prune = check.number(gb, "prune", prune, lambda x: 0 <= x < 1, "a number in [0, 1)", "1e-4 is the default")
    tol, max_iter = power.limits(gb, tol, max_iter)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    FP64, binary = gb.dtypes.FP64, gb.binary

    # M = A, its diagonal at least the largest value of the column (1 where that is 0), scaled by columns
    M = weights(A, weighted, gb)
    highest = M.reduce_columnwise(gb.monoid.max).new().to_dense(0.0)
    M(binary.max) << gb.Vector.from_dense(highest + (highest == 0)).diag()
    M = _scaled(M, 1.0, 0.0, gb)
    for _ in range(max_iter):
        # M = the powers of (M plus.times M), scaled by columns
        M = _scaled(M.mxm(M, gb.semiring.plus_times[FP64]).new(), inflation, prune, gb)
        watch.tell()
        # go on while the maximum of a column is above the sum of its squares
        _, j, w = M.to_coo()
        highest = M.reduce_columnwise(gb.monoid.max).new().to_dense(0.0)
        if not ((highest - _sums(j, w * w, n, gb)) >= tol).any():
            break
    else:
        watch.stopped("markov_clustering", max_iter)
    return connected_components(binary.pair[gb.dtypes.BOOL](M | M.T).new(), gb=gb)


def _sums(j, values, n, gb):
    """The sums of values by columns j: an array."""
    return gb.Vector.from_coo(j, values, size=n, dup_op=gb.binary.plus).to_dense(0.0)


def _scaled(M, exponent, prune, gb):
    """The powers of the values of M, in columns of sum 1, without those below prune but for the largest of a column."""
    n = M.nrows
    i, j, w = M.to_coo()
    w = w**exponent
    w = w / _sums(j, w, n, gb)[j]
    highest = gb.Vector.from_coo(j, w, size=n, dup_op=gb.binary.max).to_dense(0.0)
    kept = (w >= prune) | (w == highest[j])
    i, j, w = i[kept], j[kept], w[kept]
    return gb.Matrix.from_coo(i, j, w / _sums(j, w, n, gb)[j], nrows=n, ncols=n)

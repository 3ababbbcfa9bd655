"""Markov clustering (MCL): communities that a random walk rarely leaves.

Method: M holds the transition probabilities, by rows. M M is two steps (expansion). Raising each value to the power
`inflation` and scaling rows to sum 1 favours probable transitions. Values below `prune` are dropped. The iteration ends
when the values within each row are equal; communities are the connected components of M. The thesis works by columns;
row sums need no sorting.

State: M, FP64; M[i, j] is the probability to be at j after starting from i.

Input: A with symmetric structure and values; missing self loops are added with the largest weight of the row.

Check: graphs with obvious communities; no community spans two components.

van Dongen: Graph clustering by flow simulation. PhD thesis, Utrecht 2000.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from ..connectivity.components import connected_components
from .modularity import weights


@algorithm(graph="undirected", answer="representative per vertex", arrays=(32, 80))
def markov_clustering(A, *, inflation=2.0, prune=1e-4, weighted=False, tol=1e-6, max_iter=100, gb=None):
    """The community of each vertex, named by its smallest vertex number.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). inflation: float > 1; larger values give smaller
    communities. prune: float, 0 <= prune < 1: smaller probabilities are dropped. weighted: bool, whether the values of
    A (0 or more) are weights. tol: float > 0, the final inequality allowed within a row. max_iter: int >= 1; if tol is
    not met by then, the last iterate is used with a ConvergenceWarning (see `algorithms.Watch`). gb: the library,
    bitblas if None.
    Returns a Vector, INT64, size n, full.
    Raises InvalidValue (A not symmetric, an option or a weight out of range), DimensionMismatch (A not square),
    TypeError.
    """
    far = float("inf")
    inflation = check.number(gb, "inflation", inflation, lambda x: 1 < x < far, "a number above 1", "2 is usual")
    prune = check.number(gb, "prune", prune, lambda x: 0 <= x < 1, "a number in [0, 1)", "1e-4 is the default")
    tol, max_iter = loops.check_limits(gb, tol, max_iter)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    FP64, binary = gb.dtypes.FP64, gb.binary

    # M = A; M[i, i] max= max(M[i, :]), or 1 if that is 0; rows scaled
    M = weights(A, weighted, gb)
    highest = M.reduce_rowwise(gb.monoid.max).new().to_dense(0.0)
    M(binary.max) << gb.Vector.from_dense(highest + (highest == 0)).diag()
    M = _scaled(M, gb)
    for _ in range(max_iter):
        # M = (M plus.times M) .^ inflation, pruned, rows scaled
        M << M.mxm(M, gb.semiring.plus_times[FP64])
        M << M.apply(binary.pow, right=inflation)
        M = _scaled(_pruned(M, prune, gb) if prune else M, gb)
        loops.report()
        # continue while max(M[i, :]) - sum(M[i, :]^2) >= tol for some row i
        highest = M.reduce_rowwise(gb.monoid.max).new().to_dense(0.0)
        squares = binary.times(M & M).new().reduce_rowwise(gb.monoid.plus).new().to_dense(0.0)
        if not (highest - squares >= tol).any():
            break
    else:
        loops.not_converged("markov_clustering", max_iter)
    return connected_components(binary.pair[gb.dtypes.BOOL](M | M.T).new(), gb=gb)


def _pruned(M, prune, gb):
    """M without values below prune times the row sum, except the largest of each row; rows are scaled by 1 / least."""
    sums, highest = (M.reduce_rowwise(x).new() for x in (gb.monoid.plus, gb.monoid.max))
    # least = min(prune * sums, highest); M = diag(least) plus.rdiv M; M = M<M >= 1>
    least = gb.binary.min(sums.apply(gb.binary.times, right=prune).new() & highest).new()
    M = least.diag().mxm(M, gb.semiring.plus_rdiv[gb.dtypes.FP64]).new()
    return M.select(gb.select.valuege, 1.0).new()


def _scaled(M, gb):
    """M with rows scaled to sum 1: D plus.rdiv M, D = diag(row sums of M)."""
    D = M.reduce_rowwise(gb.monoid.plus).new().diag()
    return D.mxm(M, gb.semiring.plus_rdiv[gb.dtypes.FP64]).new()

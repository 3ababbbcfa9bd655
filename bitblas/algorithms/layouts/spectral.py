"""Spectral layout: positions from eigenvectors of the random walk matrix, so that neighbours are close.

Method: power iteration of a lazy random walk, x = x + D^-1 A x scaled to length 1, D being the degrees. The first
eigenvector is constant. The next ones, kept orthogonal to the earlier ones (in the inner product weighted by degree),
are the axes: they minimise the sum of squared differences along edges.

State: x is the current axis, FP64, full; `before` holds the earlier ones.

Input: A with a symmetric structure; values are used only if weighted. Components are drawn on top of each other.

Check: SciPy's eigenvectors; sums of squared differences.

Koren: Drawing graphs by eigenvectors, theory and practice. Computers and Mathematics with Applications 49 (2005).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import index_range, random_hash

TINY = 1e-300  # divisor instead of a length of 0


@algorithm(graph="undirected", answer="positions")
def spectral_layout(A, *, dimensions=2, weighted=False, tol=1e-6, max_iter=1000, gb=None):
    """A position for each vertex of an undirected graph, from eigenvectors.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). dimensions: int >= 1, axes. weighted: bool,
    whether values (0 or more) are edge strengths; else all are equal. tol: float > 0: an axis has converged if sum(|x -
    x'|) < tol n between rounds. max_iter: int >= 1, rounds per axis; if tol is not met by then, a ConvergenceWarning is
    issued. gb: the library, bitblas if None.
    Returns a Matrix, FP64, n x dimensions, full: the axes, each of length 1, the smoothest first.
    Raises InvalidValue (A not symmetric, an option or a weight out of range), DimensionMismatch (A not square),
    TypeError (wrong types).
    """
    n = A.nrows
    dimensions = check.count(gb, "dimensions", dimensions, "2 is a plane")
    tol, max_iter = loops.check_limits(gb, tol, max_iter)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    if n == 0:
        return gb.Matrix(gb.dtypes.FP64, 0, dimensions)
    # d = A plus.second 1, 1 at vertices without edges
    d = gb.Vector.from_scalar(0.0, n)
    d << A.mxv(gb.Vector.from_scalar(1.0, n), _along(weighted, gb))
    sums = d.to_dense(0.0)
    sums = sums + (sums == 0)
    # axis 0 is constant: 1 / sqrt(sum(d)), so that its length weighted by degree is 1
    axes = [gb.Vector.from_dense(sums * 0 + float(sums.sum()) ** -0.5)]
    for axis in range(1, dimensions + 1):
        loop = loops.cached_loop(_iteration, A, gb, weighted, axis, n * tol, max_iter)
        x, before = loop.state["axis"], loop.state["before"]
        loop.state["degrees"] << gb.Vector.from_dense(sums)
        for u, found in zip(before, axes, strict=True):
            u << found
        x << gb.Vector.from_dense(random_hash(index_range(n, gb), axis) / 2.0**31 - 1)
        loops.run_until_converged(loop, "spectral_layout")
        axes.append(loop.result(x))
    # P[:, axis] = x / sqrt(sum(x .* x))
    index, cells = index_range(n, gb) * dimensions, index_range(n * dimensions, gb)
    P = cells * 0.0
    for axis, x in enumerate(axes[1:]):
        P[index + axis] = x.to_dense() / max(loops.two_norm(x, gb), TINY)
    return gb.Matrix.from_coo(cells // dimensions, cells % dimensions, P, nrows=n, ncols=dimensions)


def _along(weighted, gb):
    return (gb.semiring.plus_times if weighted else gb.semiring.plus_second)[gb.dtypes.FP64]


def _iteration(A, gb, weighted, axis, tol, max_iter):
    FP64, binary, plus = gb.dtypes.FP64, gb.binary, gb.monoid.plus
    x, t, d, part = (gb.Vector(FP64, A.nrows) for _ in range(4))
    before = [gb.Vector(FP64, A.nrows) for _ in range(axis)]
    s, change = gb.Scalar(FP64), loops.Change(gb, tol)

    def body(_):
        # t = (A plus.second x) / d + x
        t << A.mxv(x, _along(weighted, gb))
        t(binary.plus) << 0.0
        t << binary.truediv(t & d)
        t(binary.plus) << x
        for u in before:
            # t = t - (t' D u) u
            part << binary.times(t & d)
            part << binary.times(part & u)
            s << part.reduce(plus, allow_empty=False)
            part << u.apply(binary.times, right=s)
            t << binary.minus(t & part)
        # t = t / sqrt(t' D t)
        part << binary.times(t & t)
        part << binary.times(part & d)
        s << part.reduce(plus, allow_empty=False)
        s << s.apply(gb.unary.sqrt)
        s << s.apply(binary.max, right=TINY)
        t << t.apply(binary.truediv, right=s)
        change.step(x, t)

    return {"body": body, "while_": change.going, "limit": max_iter, "axis": x, "before": before, "degrees": d}

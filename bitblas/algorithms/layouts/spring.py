"""Force-directed layout: edges attract their ends like springs, and all vertices repel each other.

Method: Fruchterman-Reingold over all pairs of vertices in every round. At distance d two vertices repel each other with
k^2 / d, and an edge attracts its ends with d^2 / k. Each vertex moves along the sum of its forces by at most a step
that shrinks in every round. k is the neighbour distance of an even spread.

State: x and y are the positions, arrays; a round processes the pairs in blocks of vertices.

Input: A with a symmetric structure; values are used only if weighted.

Check: the same rounds with NumPy; adjacent vertices end up nearer than other pairs.

Fruchterman, Reingold: Graph drawing by force-directed placement. Software, Practice and Experience 21 (1991).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import index_range, random_hash

NEAR = 1e-4  # minimum squared distance


@algorithm(graph="undirected", answer="positions")
def spring_layout(A, *, weighted=False, rounds=50, seed=None, gb=None):
    """A position in the plane for each vertex of an undirected graph, from simulated forces.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). weighted: bool, whether values (0 or more) are
    edge strengths; else all are equal. rounds: int >= 1; each takes n^2 steps. seed: int, or None for 0: the initial
    positions. gb: the library, bitblas if None.
    Returns a Matrix, FP64, n x 2, full.
    Raises InvalidValue (A not symmetric, rounds or a weight out of range), DimensionMismatch (A not square), TypeError
    (wrong types).
    """
    n = A.nrows
    rounds = check.count(gb, "rounds", rounds, "50 is usual")
    seed = 0 if seed is None else check.integer("seed", seed)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    pairs = tuning.count("spring.pairs")
    check.memory(A, f"spring_layout: forces of {A.nvals} edges and {n} vertices", 80 * A.nvals + 24 * min(n * n, pairs))
    i, j, w = A.to_coo()
    w = w.astype("float64") if weighted else i * 0.0 + 1
    index = index_range(n, gb)
    x, y = (random_hash(index, seed, axis) / 2.0**32 for axis in (0, 1))
    k, step, size = max(1, n) ** -0.5, 0.1, max(1, pairs // max(1, n))
    for number in range(rounds):
        fx, fy = x * 0, y * 0
        for first in range(0, n, size):
            # f[i] += sum over j of (p[i] - p[j]) k^2 / |p[i] - p[j]|^2
            rows = slice(first, first + size)
            dx, dy = x[rows, None] - x, y[rows, None] - y
            push = k * k / (dx * dx + dy * dy).clip(NEAR)
            fx[rows], fy[rows] = (dx * push).sum(axis=1), (dy * push).sum(axis=1)
        # f[i] -= sum over the edges of A[i, j] (p[i] - p[j]) |p[i] - p[j]| / k
        dx, dy = x[i] - x[j], y[i] - y[j]
        pull = w * (dx * dx + dy * dy).clip(NEAR) ** 0.5 / k
        fx, fy = fx - _sums(i, dx * pull, n, gb), fy - _sums(i, dy * pull, n, gb)
        # p += step (1 - number / rounds) f / |f|
        far = step * (1 - number / rounds) / ((fx * fx + fy * fy) ** 0.5).clip(NEAR)
        x, y = x + fx * far, y + fy * far
        loops.report(total=rounds)
    P, index = index_range(2 * n, gb) * 0.0, index * 2
    P[index], P[index + 1] = x, y
    cells = index_range(2 * n, gb)
    return gb.Matrix.from_coo(cells // 2, cells % 2, P, gb.dtypes.FP64, nrows=n, ncols=2)


def _sums(at, values, n, gb):
    """The sum of the values per vertex."""
    return gb.Vector.from_coo(at, values, gb.dtypes.FP64, size=n, dup_op=gb.binary.plus).to_dense(0.0)

"""ForceAtlas2, a force-directed layout that shows communities: positions of the vertices for drawing.

Method: all pairs of vertices in every round. Two vertices of mass 1 + degree repel each other with scaling_ratio times
the product of their masses, divided by their distance; an edge attracts its ends with its weight times their distance
(linlog: log(1 + distance)); gravity pulls each vertex towards the centre. The speed of a round follows from
swing and traction, the differences and the means of positions and forces, as in NetworkX; vertices under large forces
are slowed down.

State: x and y are the positions, arrays; a round processes the pairs in blocks of vertices.

Input: A with a symmetric structure; values are used only if weighted. A self loop adds 1 to the degree.

Check: NetworkX's forceatlas2_layout from the same positions; communities end up together.

Jacomy, Venturini, Heymann, Bastian: ForceAtlas2, a continuous graph layout algorithm. PLoS ONE 9 (2014).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import degrees, index_range, random_hash

NEAR = 1e-8  # minimum squared distance
SLOWEST = 0.05  # minimum of the speed's efficiency


@algorithm(graph="undirected", answer="positions")
def forceatlas2_layout(
    A,
    *,
    weighted=False,
    rounds=100,
    scaling_ratio=2.0,
    gravity=1.0,
    jitter_tolerance=1.0,
    linlog=False,
    seed=None,
    gb=None,
):
    """A position in the plane for each vertex of an undirected graph, from forces that show communities (ForceAtlas2).

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). weighted: bool, whether values (0 or more) are
    edge strengths; else all are 1. rounds: int >= 1; each takes n^2 steps. scaling_ratio: float > 0, the strength of
    repulsion. gravity: float >= 0, the pull towards the centre. jitter_tolerance: float > 0: larger is faster and less
    precise. linlog: bool, attraction by the logarithm of distances, which separates communities. seed: int, or None for
    0: the initial positions. gb: the library, bitblas if None.
    Returns a Matrix, FP64, n x 2, full.
    Raises InvalidValue (A not symmetric, an option or a weight out of range), DimensionMismatch (A not square),
    TypeError (wrong types).
    """
    rounds, seed = check.count(gb, "rounds", rounds, "100 is usual"), 0 if seed is None else check.integer("seed", seed)
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    above = lambda name, value: check.number(
        gb, name, value, lambda x: 0 < x < float("inf"), "a number above 0", "1 is usual"
    )
    scaling_ratio, jitter_tolerance = above("scaling_ratio", scaling_ratio), above("jitter_tolerance", jitter_tolerance)
    finite = lambda x: 0 <= x < float("inf")
    gravity = check.number(gb, "gravity", gravity, finite, "a finite number, 0 or more", "1 is usual")
    forces = _Forces(A, weighted, scaling_ratio, gravity, check.flag("linlog", linlog), gb)
    index = index_range(A.nrows, gb)
    x, y = (random_hash(index, seed, axis) / 2.0**31 - 1 for axis in (0, 1))
    x, y = _moved(forces, x, y, rounds, jitter_tolerance)
    P, index = index_range(2 * A.nrows, gb) * 0.0, index * 2
    P[index], P[index + 1] = x, y
    cells = index_range(2 * A.nrows, gb)
    return gb.Matrix.from_coo(cells // 2, cells % 2, P, gb.dtypes.FP64, nrows=A.nrows, ncols=2)


class _Forces:
    """The forces on all vertices. mass: 1 + the sum of the weights of each vertex's edges, an array."""

    def __init__(self, A, weighted, scaling_ratio, gravity, linlog, gb):
        n, pairs = A.nrows, tuning.count("spring.pairs")
        nbytes = 80 * A.nvals + 40 * min(n * n, pairs)
        check.memory(A, f"forceatlas2_layout: forces of {A.nvals} edges and {n} vertices", nbytes)
        i, j, w = A.to_coo()
        w = w.astype("float64") if weighted else i * 0.0 + 1
        self.i, self.j, self.w, self.gb, self.size = i, j, w, gb, max(1, pairs // max(1, n))
        self.mass = 1.0 + degrees(A, gb)
        self.scaling_ratio, self.gravity, self.linlog = scaling_ratio, gravity, linlog

    def at(self, x, y):
        """The components of the forces at these positions."""
        i, j, mass, n = self.i, self.j, self.mass, len(x)
        # f[i] -= sum over the edges of A[i, j] (p[i] - p[j]), for linlog times log(1 + d) / d
        dx, dy, pull = x[i] - x[j], y[i] - y[j], self.w
        if self.linlog:
            d = (dx * dx + dy * dy).clip(NEAR) ** 0.5
            pull = pull * self.gb.Vector.from_dense(1 + d).apply(self.gb.unary.log).new().to_dense() / d
        fx, fy = -self._sums(dx * pull, n), -self._sums(dy * pull, n)
        for first in range(0, n, self.size):
            # f[i] += sum over j of (p[i] - p[j]) scaling_ratio mass[i] mass[j] / |p[i] - p[j]|^2
            rows = slice(first, first + self.size)
            dx, dy = x[rows, None] - x, y[rows, None] - y
            push = self.scaling_ratio * mass[rows, None] * mass / (dx * dx + dy * dy).clip(NEAR)
            fx[rows] += (dx * push).sum(axis=1)
            fy[rows] += (dy * push).sum(axis=1)
        # f[i] -= gravity mass[i] (p[i] - centre) / |p[i] - centre|
        dx, dy = x - x.sum() / n, y - y.sum() / n
        down = self.gravity * mass / (dx * dx + dy * dy).clip(NEAR) ** 0.5
        return fx - dx * down, fy - dy * down

    def _sums(self, values, n):
        """The sum of the values of the edges of each vertex."""
        plus = self.gb.binary.plus
        return self.gb.Vector.from_coo(self.i, values, self.gb.dtypes.FP64, size=n, dup_op=plus).to_dense(0.0)


def _moved(forces, x, y, rounds, tolerance):
    """The positions after some rounds."""
    n, mass = len(x), forces.mass
    speed = efficiency = swing = traction = 1.0
    for _ in range(rounds if n else 0):
        fx, fy = forces.at(x, y)
        # swing += sum of mass |p - f|; traction += sum of mass |p + f| / 2
        swing += float((mass * ((x - fx) ** 2 + (y - fy) ** 2) ** 0.5).sum())
        traction += float((0.5 * mass * ((x + fx) ** 2 + (y + fy) ** 2) ** 0.5).sum())
        speed, efficiency = _speed(n, swing, traction, speed, efficiency, tolerance)
        # p += f speed / (1 + sqrt(speed mass |f|))
        far = speed / (1 + (speed * mass * (fx * fx + fy * fy) ** 0.5) ** 0.5)
        x, y = x + fx * far, y + fy * far
        loops.report(total=rounds)
    return x, y


def _speed(n, swing, traction, speed, efficiency, tolerance):
    """The speed of a round and its efficiency, from those of the last."""
    least = (0.05 * n**0.5) ** 0.5
    jitter = tolerance * max(least, min(10, least * least * traction / n**2))
    if swing / traction > 2.0:
        efficiency, jitter = efficiency * (0.5 if efficiency > SLOWEST else 1.0), max(jitter, tolerance)
    target = jitter * efficiency * traction / swing
    if swing > jitter * traction:
        efficiency *= 0.7 if efficiency > SLOWEST else 1.0
    elif speed < 1000:
        efficiency *= 1.3
    return speed + min(target - speed, 0.5 * speed), efficiency

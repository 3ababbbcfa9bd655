"""Positions of vertices for pictures: by distances (stress) for roads and meshes, by forces for networks with hubs.

Components are laid out separately, each in an area that grows with its vertices, and packed in rows. Both methods start
from Pivot MDS. They run on the host, on NumPy arrays, and give the same positions for the same graph.

Brandes, Pich: Eigensolver methods for progressive multidimensional scaling of large data. GD 2006.
Ortmann, Klimenta, Brandes: A sparse stress model. Journal of Graph Algorithms and Applications 21 (2017).
Jacomy, Venturini, Heymann, Bastian: ForceAtlas2, a continuous graph layout algorithm. PLoS ONE 9 (2014).
Hockney, Eastwood: Computer simulation using particles. 1988 (forces from a grid, by convolution).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import tuning
from ..core import Matrix
from ..core.options import either
from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph
from ..graph.validation import described
from ..io import host_coo

PIVOTS = 24  # searches for the layout of a larger graph; twice as many up to FEWER vertices
FEWER = 50_000
METHODS = ("auto", "stress", "forces", "spring", "spectral")
STRESS_ROUNDS, FORCE_ROUNDS = 60, 120
GRID = 256  # cells along each side of the grid of forces
SHAPE = 1.3  # width of the picture by its height, if there are several components
NEAR = 1e-9  # smallest distance


def square_matrix(A: Matrix | Graph) -> tuple[Matrix, int, bool | None]:
    """The matrix of a graph, its size, and its direction if a Graph states it."""
    directed = A.directed if isinstance(A, Graph) else None
    A = A.matrix if isinstance(A, Graph) else A
    if not isinstance(A, Matrix):
        raise TypeError(f"A: expected a Graph or a Matrix, got {described(A)}")
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"A: expected a square matrix, got {A.nrows} x {A.ncols}")
    return A, int(A.nrows), directed


def positions(A: Matrix, *, pivots: int = PIVOTS, seed: int = 0) -> np.ndarray:
    """Pivot MDS layout: a position for each vertex of an undirected graph, n x 2, that preserves distances.

    Raises
    ------
    InvalidValue
        `pivots` is below 2.
    DimensionMismatch
        A not square.

    Notes
    -----
    It projects the distances to some vertices far from each other (pivots) onto their two principal
    directions: Brandes, Pich: Eigensolver methods for progressive multidimensional scaling of large
    data. GD 2006. Vertices that are not connected to the first pivot get NaN.
    """
    if pivots < 2:
        raise InvalidValue(f"pivots: expected 2 or more, got {pivots}")
    A, n, _ = square_matrix(A)
    if not n:
        return np.zeros((0, 2))
    found = _pivot_distances(A, int(np.argmax(np.bincount(host_coo(A)[0], minlength=n))), pivots)[0]
    there = ~np.isnan(found).any(axis=1)
    places = np.full((n, 2), np.nan)
    places[there] = _pivot_mds(found[there])
    return places


def layout(A: Matrix | Graph, method: str = "auto") -> np.ndarray:
    """A position for each vertex of a graph, n x 2; edges count in both directions, and values are ignored.

    method: "stress" (distances in the picture are distances in the graph: roads, meshes, small graphs), "forces"
    (ForceAtlas2, with repulsion from a grid: social networks, communities), "spring" and "spectral" (the algorithms
    `spring_layout` and `spectral_layout`), or "auto": forces for graphs of more than a few hundred vertices whose
    distances are short, otherwise stress. Raises InvalidValue (another method), TypeError, DimensionMismatch (A not
    square).
    """
    from ..algorithms import connected_components, spectral_layout, spring_layout

    if method not in METHODS:
        raise InvalidValue(f"method: expected {either(METHODS)}, got {method!r}")
    both = _both_ways(square_matrix(A)[0])
    n = both.nrows
    if not n:
        return np.zeros((0, 2))
    if method in ("spring", "spectral"):
        program = spring_layout if method == "spring" else spectral_layout
        return np.asarray(both.device.to_host(program(both).to_dense()))
    rows, cols = (part.astype(np.int64) for part in host_coo(both)[:2])
    _, part = np.unique(host_coo(connected_components(both))[1], return_inverse=True)
    return _packed(both, rows, cols, part, method)


def _both_ways(A: Matrix) -> Matrix:
    """The undirected pattern of a matrix, without loops."""
    import bitblas as gb

    pattern = A.apply(gb.binary.second, right=True).new(bool)
    return pattern.ewise_add(pattern.T, gb.binary.lor).new().select(gb.select.offdiag).new()


# ---- Components: one picture each, packed in rows.


def _packed(A: Matrix, rows: np.ndarray, cols: np.ndarray, part: np.ndarray, method: str) -> np.ndarray:
    """The positions of all components. part: the component of each vertex."""
    sizes = np.bincount(part)
    order = np.argsort(-sizes, kind="stable")
    own = order[: tuning.count("plots.components")]
    places = np.zeros((len(part), 2))
    members = np.split(np.argsort(part, kind="stable"), np.cumsum(sizes)[:-1])
    edges = np.split(np.argsort(part[rows], kind="stable"), np.cumsum(np.bincount(part[rows], minlength=len(sizes))))
    number = np.empty(len(part), np.int64)
    for k in own.tolist():
        inside, at = members[k], edges[k]
        number[inside] = np.arange(len(inside))
        whole = A if len(inside) == A.nrows else None
        places[inside] = _component(whole, number[rows[at]], number[cols[at]], len(inside), method)
    if len(sizes) == 1:
        return places
    # further components are circles; each component has a box with a side of sqrt(vertices)
    rest = np.ones(len(sizes), bool)
    rest[own] = False
    first = np.cumsum(sizes) - sizes
    turn = np.empty(len(part))
    turn[np.concatenate(members)] = np.arange(len(part)) - np.repeat(first, sizes)
    circled = rest[part]
    angle = 2 * np.pi * turn / sizes[part]
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1) * (sizes[part] > 1)[:, None]
    places[circled] = circle[circled]
    low, high = np.full((len(sizes), 2), np.inf), np.full((len(sizes), 2), -np.inf)
    np.minimum.at(low, part, places)
    np.maximum.at(high, part, places)
    span = np.maximum(high - low, NEAR)
    scale = np.sqrt(sizes / np.maximum(span.prod(axis=1), (span.max(axis=1) / 3) ** 2))
    scale[sizes == 1] = 0
    box = span * scale[:, None] + 1.0 + 0.06 * np.sqrt(sizes)[:, None]
    corner = _rows_of_boxes(box, order)
    return (places - (low + high)[part] / 2) * scale[part, None] + (corner + box / 2)[part]


def _rows_of_boxes(box: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The lower left corner of each box, in rows of about one width from the top."""
    width = max(float(np.sqrt(SHAPE * box.prod(axis=1).sum())), float(box[:, 0].max()))
    corner, x, top, high = np.empty_like(box), 0.0, 0.0, 0.0
    for k in order.tolist():
        if x and x + box[k, 0] > width * 1.001:
            x, top, high = 0.0, top - high, 0.0
        corner[k] = x, top - box[k, 1]
        x, high = x + box[k, 0], max(high, box[k, 1])
    return corner


def _component(A: Matrix | None, rows: np.ndarray, cols: np.ndarray, n: int, method: str) -> np.ndarray:
    """The layout of a connected graph, turned so that it is wider than high. A: its matrix, if there is one."""
    if n <= 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[:n]
    if A is None:
        A = Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, device="cpu")
    small = n <= tuning.count("plots.small_vertices")
    start = int(np.argmax(np.bincount(rows, minlength=n)))
    found, pivots = _pivot_distances(A, start, min(n, n if small else PIVOTS if n > FEWER else 2 * PIVOTS))
    places = _pivot_mds(found)
    if method == "auto":
        method = "stress" if small or np.median(found) > tuning.value("plots.far") * np.log2(n) else "forces"
    if method == "stress":
        places = _stress(rows, cols, _scaled(places, found), found, pivots)
    else:
        places = _forces(rows, cols, places)
    centered = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    axes = axes[:, ::-1]
    return np.asarray(centered @ (axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])))


# ---- Pivot MDS.


def _pivot_distances(A: Matrix, start: int, pivots: int) -> tuple[np.ndarray, np.ndarray]:
    """Hops from each vertex to each pivot, n x pivots, NaN for other components; and the pivots. Each pivot is the
    vertex farthest from the ones before it."""
    from ..algorithms import bfs_levels

    n, source = A.nrows, start
    found, chosen = np.full((n, pivots), np.nan), np.zeros(pivots, np.int64)
    nearest = np.full(n, np.inf)
    for k in range(pivots):
        chosen[k] = source
        at, levels = host_coo(bfs_levels(A, source))
        found[at, k] = levels
        nearest[at] = np.minimum(nearest[at], levels)
        source = int(np.argmax(np.where(np.isnan(found[:, 0]) | np.isinf(nearest), -1, nearest)))
    return found, chosen


def _pivot_mds(distance: np.ndarray) -> np.ndarray:
    """Positions from the distances to the pivots: the two principal directions of the doubly centered squares."""
    squares = distance**2
    centered = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    _, vectors = np.linalg.eigh(centered.T @ centered)
    vectors = vectors[:, -2:][:, ::-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])  # fix the sign
    return np.asarray(centered @ vectors)


def _scaled(places: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Positions in hops, spread a little, because vertices with equal distances share one."""
    n = len(places)
    spread = np.stack([np.modf(np.arange(1, n + 1) * c)[0] - 0.5 for c in (0.7548776662, 0.5698402909)], axis=1)
    length = np.sqrt((places**2).sum(axis=1)).mean()
    return np.asarray(places * (float(distance.mean()) / max(2 * length, NEAR)) + spread)


# ---- Stress: distances in the picture are distances in the graph.


def _stress(rows: np.ndarray, cols: np.ndarray, x: np.ndarray, distance: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    """Lower the sparse stress, the sum of w (|x[i] - x[p]| - d)^2 over edges and over pairs of a vertex i and a pivot
    p, by rounds that move each vertex to the weighted mean of where its terms want it. w = s / d^2: a pivot stands for
    the s vertices that are nearest to it and at most half as far from it as i."""
    n, many = distance.shape
    nearest = np.argmin(distance, axis=1)
    weight = np.zeros((many, n), np.float32)  # in FP32 a row stays in the cache
    for k in range(many):
        region = np.sort(distance[nearest == k, k])
        weight[k] = np.searchsorted(region, distance[:, k] / 2, side="right") if many < n else 1.0
        weight[k] /= np.maximum(distance[:, k], 1) ** 2
    weight[distance.T <= 1] = 0  # edges have terms of their own
    length = weight * distance.T.astype(np.float32)
    total = weight.sum(axis=0) + np.bincount(rows, minlength=n)
    x, y = x.T.astype(np.float32)
    for _ in range(STRESS_ROUNDS):
        # x[i] = sum of w (x[p] + d (x[i] - x[p]) / |x[i] - x[p]|) / sum of w
        dx, dy = x[rows] - x[cols], y[rows] - y[cols]
        far = np.maximum(np.hypot(dx, dy), NEAR)
        to_x = np.bincount(rows, x[cols] + dx / far, minlength=n).astype(np.float32) + weight.T @ x[pivots]
        to_y = np.bincount(rows, y[cols] + dy / far, minlength=n).astype(np.float32) + weight.T @ y[pivots]
        for k, p in enumerate(pivots.tolist()):
            dx, dy = x - x[p], y - y[p]
            far = length[k] / np.maximum(np.sqrt(dx * dx + dy * dy), NEAR)
            to_x += dx * far
            to_y += dy * far
        x, y = to_x / total, to_y / total
    return np.stack([x, y], axis=1).astype(np.float64)


# ---- Forces: ForceAtlas2.


class _Grid(NamedTuple):
    """The transformed kernels of repulsion on a grid of twice the side, so that it does not wrap around."""

    x: np.ndarray
    y: np.ndarray

    @classmethod
    def new(cls) -> _Grid:
        offset = np.fft.fftfreq(2 * GRID, 1 / (2 * GRID))
        dx, dy = np.meshgrid(offset, offset, indexing="ij")
        square = dx * dx + dy * dy + 0.5
        return cls(np.fft.rfft2(dx / square), np.fft.rfft2(dy / square))

    def repulsion(self, x: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """The sum over j of mass[j] (x[i] - x[j]) / |x[i] - x[j]|^2, from the masses on the grid."""
        low = x.min(axis=0)
        cell = max(float((x.max(axis=0) - low).max()), NEAR) / (GRID - 1.001)
        at = (x - low) / cell
        corner = at.astype(np.int64)
        part = at - corner
        masses = np.zeros(GRID * GRID)
        shares = []
        for i in (0, 1):
            for j in (0, 1):
                share = (part[:, 0] if i else 1 - part[:, 0]) * (part[:, 1] if j else 1 - part[:, 1])
                place = (corner[:, 0] + i) * GRID + corner[:, 1] + j
                masses += np.bincount(place, mass * share, minlength=GRID * GRID)
                shares.append((place, share))
        spectrum = np.fft.rfft2(masses.reshape(GRID, GRID), (2 * GRID, 2 * GRID))
        fields = [np.fft.irfft2(spectrum * kernel)[:GRID, :GRID].ravel() / cell for kernel in self]
        return np.stack([sum(field[place] * share for place, share in shares) for field in fields], axis=1)


def _forces(rows: np.ndarray, cols: np.ndarray, x: np.ndarray) -> np.ndarray:
    """ForceAtlas2 from positions x: masses 1 + degree repel each other by their product over their distance, edges
    attract by their length, gravity pulls to the center. Speeds follow from swing and traction, as in the paper."""
    n, grid = len(x), _Grid.new()
    degree = np.bincount(rows, minlength=n)
    mass = 1.0 + degree
    x = _scaled(x, np.ones((n, 1))) * np.sqrt(n)
    speed, last = 1.0, np.zeros_like(x)
    for _ in range(FORCE_ROUNDS):
        force = 2.0 * mass[:, None] * grid.repulsion(x, mass)
        for axis in (0, 1):
            force[:, axis] += np.bincount(rows, x[cols, axis] - x[rows, axis], minlength=n)
        center = x - x.mean(axis=0)
        force -= mass[:, None] * center / np.maximum(np.linalg.norm(center, axis=1, keepdims=True), NEAR)
        swing = np.linalg.norm(force - last, axis=1)
        traction = np.linalg.norm(force + last, axis=1) / 2
        most = float((mass * traction).sum()) / max(float((mass * swing).sum()), 1e-300)
        speed = min(most, 1.5 * speed)
        x = x + force * (0.1 * speed / (1 + speed * np.sqrt(swing)))[:, None] * 10 / (1 + np.sqrt(mass))[:, None]
        last = force
    return x

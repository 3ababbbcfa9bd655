"""Draw graphs: node-link diagrams, with vertices colored by a value."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import tuning
from ..core import Matrix, Vector
from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph, Values
from ..io.build import host_coo
from ..typing import ArrayLike
from .matrices import INK, LINE, PAPER, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Numbers: TypeAlias = Vector | Values | ArrayLike  # a number for each vertex

LISTED = 12  # most classes in a legend
ARROWS = 3000  # most edges for arrowheads in a small directed graph
DOT = 40  # the area of a vertex, in square points
PIVOTS = 24  # searches for the layout of a larger graph


def positions(A: Matrix, *, pivots: int = PIVOTS, seed: int = 0) -> np.ndarray:
    """Pivot MDS layout: a position for each vertex of an undirected graph, n x 2, that preserves distances.

    It projects the distances to some vertices far from each other (pivots) onto their two principal directions:
    Brandes, Pich: Eigensolver methods for progressive multidimensional scaling of large data. GD 2006. Vertices that
    are not connected to the first pivot get NaN. Raises InvalidValue (pivots below 2), DimensionMismatch (A not
    square).
    """
    from ..algorithms import bfs_levels

    if pivots < 2:
        raise InvalidValue(f"pivots: expected 2 or more, got {pivots}")
    n = _square(A)
    found = np.full((n, pivots), np.nan)
    if not n:
        return np.zeros((0, 2))
    source = int(np.argmax(np.bincount(host_coo(A)[0], minlength=n)))
    nearest = np.full(n, np.inf)
    for k in range(pivots):
        at, levels = host_coo(bfs_levels(A, source))
        found[at, k] = levels
        nearest[at] = np.minimum(nearest[at], levels)
        source = int(np.argmax(np.where(np.isnan(found[:, 0]) | np.isinf(nearest), -1, nearest)))
    there = ~np.isnan(found).any(axis=1)
    squares = found[there] ** 2
    centered = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    _, vectors = np.linalg.eigh(centered.T @ centered)
    vectors = vectors[:, -2:][:, ::-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])  # fix the sign
    places = np.full((n, 2), np.nan)
    places[there] = centered @ vectors
    return places


def graph(
    A: Matrix | Graph,
    values: Numbers | None = None,
    *,
    places: ArrayLike | None = None,
    title: str | None = None,
    label: str | None = None,
    classes: bool | None = None,
) -> Figure:
    """A matplotlib Figure of a graph, given as a Matrix or a Graph: its edges, colored by a value of each vertex.

    Vertices and edges share one color scale; an edge has the mean of its ends. Edges of a small directed graph have
    arrowheads (a Graph states its direction; a Matrix is directed unless its pattern is symmetric); a self loop is a
    ring above its vertex. Vertices without a value are gray.

    values: a Vector, Values, or an array of n numbers, such as distances or ranks; None: one color. places: n x 2;
    None: `positions`, or `spring_layout` for few vertices. label: the name of the values. classes: True: values are
    class labels, such as communities: each class has one of twenty colors, the largest classes have different ones,
    and edges between classes are gray; False: values are numbers on a scale; None: as `Values.classes` states,
    otherwise False. Raises DimensionMismatch (A not square, arrays of another length), ImportError without matplotlib.
    """
    kind = picture()
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize, to_rgba
    from matplotlib.ticker import MaxNLocator

    directed, names = (A.directed, A.labels) if isinstance(A, Graph) else (None, None)
    A = A.matrix if isinstance(A, Graph) else A
    if classes is None:
        classes = isinstance(values, Values) and values.classes
    named = names if isinstance(values, Values) and values.vertices else None
    n = _square(A)
    small = n <= tuning.count("plots.small_vertices")
    if places is None:
        places = _few(A) if small else positions(A)
    places = np.asarray(places, float)
    colors, whole = _numbers(values, n)
    if places.shape != (n, 2):
        raise DimensionMismatch(f"places: expected an array of shape ({n}, 2), got {places.shape}")
    rows, cols = (part.astype(np.int64) for part in host_coo(A)[:2])
    placed = ~np.isnan(places[rows, 0]) & ~np.isnan(places[cols, 0])
    rows, cols = rows[placed], cols[placed]
    loops = np.unique(rows[rows == cols])
    keys = np.unique((rows * max(n, 1) + cols)[rows != cols])
    rows, cols = keys // max(n, 1), keys % max(n, 1)
    low, high = np.minimum(rows, cols), np.maximum(rows, cols)
    pairs, which = np.unique(low * max(n, 1) + high, return_inverse=True)
    low, high = pairs // max(n, 1), pairs % max(n, 1)
    up, down = (np.bincount(which[side], minlength=len(pairs)) > 0 for side in (rows < cols, rows > cols))
    directed = bool((up != down).any()) if directed is None else directed

    figure = kind(figsize=(9, 8), dpi=130, facecolor=PAPER, layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_aspect("equal")
    width = float(np.clip(40 / np.sqrt(len(low) + 1), 0.25, 1.2))
    ends = list(np.stack([places[low], places[high]], axis=1))
    lines = LineCollection(ends, linewidths=width, rasterized=len(low) > tuning.count("plots.vector_lines"))
    ink = to_rgba(LINE if small else INK)
    points = np.tile(to_rgba(INK), (n, 1))
    between = np.tile(ink, (len(low), 1))
    rings = np.tile(ink, (len(loops), 1))
    if colors is None:
        lines.set_color([ink])
    elif classes:
        points, legend = _classes(colors, named)
        between = np.where((colors[low] == colors[high])[:, None], points[low], to_rgba(LINE))
        rings = points[loops]
        lines.set_color(between)
        figure.legend(handles=legend, title=label, loc="outside right upper", frameon=False)
    else:
        known = colors[np.isfinite(colors)]
        norm = Normalize(*((known.min(), known.max()) if len(known) else (0, 1)))
        scale = ScalarMappable(norm, colormaps["viridis"].with_extremes(bad=LINE))
        lines.set_array((colors[low] + colors[high]) / 2)
        lines.set(norm=norm, cmap=scale.cmap)
        points, between = scale.to_rgba(colors), scale.to_rgba((colors[low] + colors[high]) / 2)
        rings = points[loops]
        bar = figure.colorbar(scale, ax=axes, shrink=0.6, ticks=MaxNLocator(integer=True) if whole else None)
        bar.set_label(label or "")
    axes.add_collection(lines)
    if len(loops):
        _rings(figure, axes, places[loops], rings, DOT if small else 4)
    if small:
        if directed and len(low) <= ARROWS:
            _heads(axes, ends, between, up, down)
        axes.scatter(places[:, 0], places[:, 1], s=DOT, zorder=2, edgecolors=PAPER, c=points)
        if n <= 60:
            _names(axes, places, low, high, range(n) if names is None else names)
    axes.autoscale_view()
    axes.set_title(title or A.name, loc="left", fontsize=13, fontweight="bold")
    return figure


def _heads(axes: Axes, ends: list[np.ndarray], colors: np.ndarray, up: np.ndarray, down: np.ndarray) -> None:
    """Arrowheads on lines: at the second end (up), at the first (down), or at both."""
    from matplotlib.patches import FancyArrowPatch

    style = {(True, False): "-|>", (False, True): "<|-", (True, True): "<|-|>"}
    radius = float(np.sqrt(DOT) / 2)
    for (start, end), color, forth, back in zip(ends, colors, up.tolist(), down.tolist()):
        how: dict[str, Any] = {"arrowstyle": style[forth, back], "color": color, "linewidth": 0.5, "zorder": 1.5}
        axes.add_patch(FancyArrowPatch(start, end, mutation_scale=9, shrinkA=radius, shrinkB=radius, **how))


def _rings(figure: Figure, axes: Axes, places: np.ndarray, colors: np.ndarray, area: float) -> None:
    """Draw a ring that touches each position from above."""
    from matplotlib.transforms import offset_copy

    above = offset_copy(axes.transData, fig=figure, y=float(np.sqrt(area)), units="points")
    axes.scatter(
        places[:, 0], places[:, 1], s=3 * area, facecolors="none", edgecolors=colors, transform=above, zorder=1
    )


def _names(axes: Axes, places: np.ndarray, low: np.ndarray, high: np.ndarray, names: Sequence[Hashable]) -> None:
    """Draw a name next to each vertex, on the side away from its neighbours."""
    from matplotlib.patheffects import withStroke

    toward = np.zeros_like(places)
    apart = places[high] - places[low]
    apart = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-300)
    np.add.at(toward, low, apart)
    np.add.at(toward, high, -apart)
    length = np.linalg.norm(toward, axis=1, keepdims=True)
    away = np.where(length > 1e-9, -toward / np.maximum(length, 1e-300), [np.sqrt(0.5), np.sqrt(0.5)])
    for k in range(len(places)):
        if np.isnan(places[k]).any():
            continue
        x, y = away[k]
        axes.annotate(
            str(names[k]),
            places[k],
            xytext=(6 * x, 6 * y),
            textcoords="offset points",
            zorder=3,
            path_effects=[withStroke(linewidth=2.5, foreground=PAPER)],
            ha="left" if x > 0.3 else "right" if x < -0.3 else "center",
            va="bottom" if y > 0.3 else "top" if y < -0.3 else "center",
        )


def levels(
    A: Matrix | Graph, source: Hashable = 0, *, places: ArrayLike | None = None, title: str | None = None
) -> Figure:
    """A matplotlib Figure of a graph, colored by the number of hops from a vertex."""
    from ..algorithms import bfs_levels

    found = bfs_levels(A.matrix, A.vertex(source)) if isinstance(A, Graph) else bfs_levels(A, source)
    return graph(A, found, places=places, title=title, label=f"hops from vertex {source}")


def _classes(values: np.ndarray, names: Sequence[Hashable] | None) -> tuple[np.ndarray, list[Line2D]]:
    """A color for each vertex, by the size of its class, and a legend of the largest classes. names: vertex names, if
    the values are vertices."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D

    pairs = np.asarray(colormaps["tab20"](np.arange(20)))
    palette = np.concatenate([pairs[::2], pairs[1::2]])  # strong colors first
    kinds, which, sizes = np.unique(values[~np.isnan(values)], return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.argsort(order)
    found = np.tile(to_rgba(LINE), (len(values), 1))
    found[~np.isnan(values)] = palette[rank[which] % len(palette)]
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markeredgecolor": PAPER}
    legend = []
    for place, k in enumerate(order[:LISTED].tolist()):
        name = kinds[k] if names is None else names[int(kinds[k])]
        text = f"{name:g}" if isinstance(name, float) else str(name)
        legend.append(Line2D([], [], color=palette[place % len(palette)], label=f"{text}: {sizes[k]} vertices", **dot))
    if len(order) > LISTED:
        legend.append(Line2D([], [], linestyle="", label=f".. {len(order) - LISTED} more"))
    return found, legend


def _square(A: Matrix) -> int:
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"A: expected a square matrix, got {A.nrows} x {A.ncols}")
    return int(A.nrows)


def _few(A: Matrix) -> np.ndarray:
    """Positions for a small graph."""
    import bitblas as gb

    from ..algorithms import spring_layout

    both = A.ewise_add(A.T, gb.binary.any).new() if A.nvals else A
    return np.asarray(spring_layout(both).to_dense()) if A.nrows else np.zeros((0, 2))


def _numbers(values: Numbers | None, n: int) -> tuple[np.ndarray | None, bool]:
    """A number for each vertex, NaN if it has none, and whether the type is an integer type."""
    if values is None:
        return None, False
    values = values.vector if isinstance(values, Values) else values
    if isinstance(values, Vector):
        at, known = host_coo(values)
        numbers = np.full(values.size, np.nan)
        numbers[at] = known
    else:
        known = np.asarray(values)
        numbers = known.astype(float)
    if numbers.shape != (n,):
        raise DimensionMismatch(f"values: expected one for each of {n} vertices, got {numbers.shape}")
    return numbers, known.dtype.kind in "iu"

"""Plots with matplotlib: sparsity patterns, graphs, distances from a vertex, and kernel timelines.

matplotlib is imported by the functions that draw; no window is opened and no global state is used. Each function
returns a Figure, which a notebook shows and `save` writes.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Hashable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import extras, tuning
from .core import Matrix, Vector
from .core.options import either
from .device import Trace
from .exceptions import DimensionMismatch, InvalidValue
from .formats import TILES, format_of
from .formats.b2sr.cost import DEFAULT_TILE
from .graph import Graph, Values
from .io import host_coo
from .io.files import Output, open_output
from .typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator


# ---- Draw matrices: sparsity patterns and the fill of tiles.
#
# matplotlib is imported by the functions that draw; no window is opened and no global state is used. The colors are one
# hue from light to dark; positions without entries keep the color of the paper.

BINS = 512  # squares along the longer side of the plot; a quarter of that for the map of tiles
SUFFIXES = ("png", "svg", "pdf")
INK, PAPER, LINE = "#1b2733", "#ffffff", "#aab4bd"
Extent: TypeAlias = tuple[float, float, float, float]  # left, right, bottom, top
GRID = 160  # largest size for which tile borders are drawn


def spy(A: Matrix, *, title: str | None = None, tile: int | None = None, bins: int = BINS) -> Figure:
    """A matplotlib Figure of the sparsity pattern of a Matrix: entries per square, and how full its tiles are.

    tile: the edge of the tiles; None: that of the stored format, or 8. bins: squares along the longer side. Time and
    memory are those of sorting the entries. Raises InvalidValue for other tiles; ImportError without matplotlib.
    """
    kind = picture()
    if tile is None:
        tile = format_of(A.format).tile or DEFAULT_TILE
    if tile not in TILES:
        raise InvalidValue(f"tile: expected {either(TILES)}, got {tile!r}")
    rows, cols = (part.astype(np.int64, copy=False) for part in host_coo(A)[:2])
    tile_rows, tile_cols, fill = tiles_of(rows, cols, A.ncols, tile)

    figure = kind(figsize=(11.5, 7.4), dpi=150, facecolor=PAPER, layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=[2.1, 1], height_ratios=[1.15, 1])
    whole, tiled, bars = (figure.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1]))
    shape = (A.nrows, A.ncols)
    counts, extent = binned(rows, cols, np.ones(len(rows)), shape, bins)
    _map(figure, whole, counts, extent, "entries per square" if counts.max(initial=0) > 1 else None)
    whole.set_title(title or A.name, loc="left", fontsize=13, fontweight="bold")
    whole.set_xlabel(f"{A.nrows:,} x {A.ncols:,}, {A.nvals:,} entries, stored as {A.format}")

    if max(shape) <= GRID:
        for draw_line, size in ((whole.axvline, A.ncols), (whole.axhline, A.nrows)):
            for edge in range(tile, size, tile):
                draw_line(edge - 0.5, color=LINE, linewidth=0.6)

    grid_shape = (-(-A.nrows // tile), -(-A.ncols // tile))
    total, corners = binned(tile_rows, tile_cols, fill, grid_shape, max(1, bins // 4))
    number, _ = binned(tile_rows, tile_cols, np.ones(len(fill)), grid_shape, max(1, bins // 4))
    mean = np.divide(total, number, out=np.zeros_like(total), where=number > 0)
    left, right, bottom, top = ((corner + 0.5) * tile - 0.5 for corner in corners)
    _map(figure, tiled, mean, (left, right, bottom, top), "mean entries per tile")
    tiled.set(xlim=extent[:2], ylim=extent[2:])
    tiled.set_title(f"How full the {tile} x {tile} tiles are", loc="left", fontsize=11)
    _bars(bars, fill, tile)
    return figure


@functools.cache
def picture() -> type[Figure]:
    """A subclass of matplotlib's Figure that notebooks display. ImportError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"pictures need matplotlib ({error}); {extras.hint('plots')}") from None

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            return _encoded(self, "png")

    return Picture


def tiles_of(rows: np.ndarray, cols: np.ndarray, ncols: int, tile: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tile row, tile column and number of entries of each non-empty tile."""
    width = max(1, -(-ncols // tile))
    keys, fill = np.unique(rows // tile * width + cols // tile, return_counts=True)
    return keys // width, keys % width, fill


def binned(
    rows: np.ndarray, cols: np.ndarray, weights: np.ndarray, shape: tuple[int, int], bins: int
) -> tuple[np.ndarray, Extent]:
    """The sum of the weights in each square of a grid over the matrix, at most `bins` along the longer side, and the
    extent of the grid in rows and columns, for imshow."""
    longer = max(1, *shape)
    edge = max(1, -(-longer // bins))  # rows and columns of a square
    high, wide = (max(1, -(-size // edge)) for size in shape)
    sums = np.bincount(rows // edge * wide + cols // edge, weights, minlength=high * wide).astype(np.float64)
    return sums.reshape(high, wide), (-0.5, wide * edge - 0.5, high * edge - 0.5, -0.5)


def kind_of(path: str | os.PathLike[str]) -> str:
    """The format of a plot, from its file name. InvalidValue for an unknown suffix."""
    kind = os.path.splitext(os.fspath(path))[1][1:].lower()
    if kind not in SUFFIXES:
        raise InvalidValue(f"{os.fspath(path)}: expected a name that ends in {', '.join('.' + s for s in SUFFIXES)}")
    return kind


def save(figure: Figure, target: Output) -> None:
    """Write a Figure atomically to a .png, .svg or .pdf file (InvalidValue for another name), or as .png to a file open
    for binary writing."""
    kind = kind_of(target) if isinstance(target, str | os.PathLike) else "png"
    data = _encoded(figure, kind)
    with open_output(target) as stream:
        stream.write(data)


def _encoded(figure: Figure, kind: str) -> bytes:
    stream = BytesIO()
    figure.savefig(stream, format=kind)
    return stream.getvalue()


def _map(figure: Figure, axes: Axes, values: np.ndarray, extent: Extent, label: str | None) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    ink = LinearSegmentedColormap.from_list("ink", ["#9ecae1", "#2171b5", "#08214a"] if label else [INK, INK])
    top = max(2.0, float(values.max(initial=0)))
    shown = np.ma.masked_equal(values, 0)
    image = axes.imshow(shown, ink, LogNorm(1, top), extent=extent, interpolation="nearest", aspect="equal")
    if label:
        bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02, aspect=30)
        bar.set_label(label)
        _few_numbers(bar, top)
    axes.tick_params(length=3, labelsize=8, colors=INK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(_integers())
        axis.set_major_formatter(lambda x, _: _short(x))
    for side in axes.spines.values():
        side.set_color(LINE)


def _bars(axes: Axes, fill: np.ndarray, tile: int) -> None:
    """Histogram of tiles with 1, 2, 3-4, 5-8, ... entries."""
    steps = int(np.log2(tile * tile)) + 1
    classes = np.bincount(np.ceil(np.log2(np.maximum(fill, 1))).astype(int), minlength=steps)[:steps]
    axes.bar(range(steps), classes, color="#2171b5", width=0.8)
    names = ["1", "2", *(f"{2**k // 2 + 1}-{2**k}" for k in range(2, steps))]
    axes.set_xticks(range(steps), names[:steps], rotation=45 if steps > 5 else 0, fontsize=8)
    axes.set_xlabel("entries in a tile")
    axes.set_ylabel("tiles")
    axes.yaxis.set_major_formatter(lambda x, _: _short(x))
    axes.tick_params(labelsize=8, colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    mean = float(fill.mean()) if len(fill) else 0.0
    axes.set_title(f"{len(fill):,} tiles, {mean:.2f} entries each on average", loc="left", fontsize=11)


def _few_numbers(bar: Colorbar, top: float) -> None:
    from matplotlib.ticker import NullLocator

    marks = sorted({1.0, *(float(2**k) for k in range(1, int(np.log2(top)) + 1, max(1, int(np.log2(top)) // 4)))})
    bar.set_ticks(marks, labels=[_short(mark) for mark in marks])
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.ax.tick_params(labelsize=8)


def _integers() -> MaxNLocator:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5, integer=True)


def _short(x: float) -> str:
    """1500000 as 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= size:
            return f"{x / size:.4g}{letter}"
    return f"{x:.4g}"


# ---- Draw graphs: node-link diagrams, with vertices colored by a value.

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
    from .algorithms import bfs_levels

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
    from .algorithms import bfs_levels

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

    from .algorithms import spring_layout

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


# ---- Draw a trace as a timeline: when each kernel ran, and how long.

MOST_ROWS = 24  # most rows; kernels with the least time share the last row
SHARED = "all others"


def trace(t: Trace, *, title: str | None = None) -> Figure:
    """A matplotlib Figure of a trace (`with gb.trace() as t:`): a row for each kernel, sorted by descending total time,
    and a bar for each of its runs. Time between bars is spent outside of kernels: Python, NumPy, CuPy, waiting.

    Raises InvalidValue if no kernel with a time was traced, ImportError without matplotlib.
    """
    kind = picture()
    runs = [(_short_name(run.text), run.start, run.us) for run in t if run.us is not None and run.start is not None]
    if not runs:
        raise InvalidValue("trace: expected kernels that ran, got none")
    total: dict[str, float] = {}
    for name, _, us in runs:
        total[name] = total.get(name, 0.0) + us
    names = sorted(total, key=lambda name: -total[name])
    if len(names) > MOST_ROWS:
        names = [*names[: MOST_ROWS - 1], SHARED]
    bars: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for name, start, us in runs:
        bars[name if name in bars else SHARED].append((start, us))

    figure = kind(figsize=(9, 1.2 + 0.3 * len(names)), dpi=130, facecolor=PAPER, layout="constrained")
    axes = figure.add_subplot()
    for row, name in enumerate(names):
        axes.broken_barh(bars[name], (row - 0.4, 0.8), color="#2171b5", edgecolor=INK, linewidth=0.3)
    spent = [sum(us for _, us in bars[name]) for name in names]
    labels = [f"{name}  {us:.0f} us in {len(bars[name])}" for name, us in zip(names, spent)]
    axes.set_yticks(range(len(names)), labels, fontsize=7, color=INK)
    axes.invert_yaxis()
    axes.set_xlim(0, max(start + us for bar in bars.values() for start, us in bar))
    axes.set_xlabel("microseconds since the first kernel", fontsize=8)
    axes.tick_params(labelsize=7, colors=INK)
    axes.grid(axis="x", color=LINE, linewidth=0.4)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    inside = sum(spent)
    axes.set_title(title or f"{inside:.0f} us in {len(runs)} kernels, of {t.us:.0f} us", loc="left", fontsize=11)
    return figure


def _short_name(name: str) -> str:
    """The name of a variant without its types and constants."""
    return " ".join(word for word in name.split() if "=" not in word)


__all__ = ["binned", "graph", "kind_of", "levels", "positions", "save", "spy", "tiles_of", "trace"]

"""Draw matrices: sparsity patterns and the fill of tiles.

matplotlib is imported by the functions that draw; no window is opened and no global state is used. The colors are one
hue from light to dark; positions without entries keep the color of the paper.
"""

from __future__ import annotations

import functools
import os
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .. import extras
from ..core import Matrix
from ..core.options import either
from ..exceptions import InvalidValue
from ..formats import TILES, format_of
from ..formats.b2sr.cost import DEFAULT_TILE
from ..io import host_coo
from ..io.files import Output, created

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

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
    with created(target) as stream:
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

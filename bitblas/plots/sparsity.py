"""Plots of matrices: the sparsity pattern, and how full the tiles are."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..core import Matrix
from ..core.options import either
from ..exceptions import InvalidValue
from ..formats import TILES, format_of
from ..formats.b2sr.cost import DEFAULT_TILE
from ..io import host_coo
from .style import Theme, integers, new_figure, plain_axes, require_matplotlib, set_title, short, theme_of, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure

BINS = 512  # squares along the longer side of the plot; a quarter of that for the map of tiles
GRID = 160  # largest size for which tile borders are drawn
Extent: TypeAlias = tuple[float, float, float, float]  # left, right, bottom, top


def spy(
    A: Matrix, *, title: str | None = None, tile: int | None = None, bins: int = BINS, dark: bool = False
) -> Figure:
    """A matplotlib Figure of the sparsity pattern of a Matrix: entries per square, and how full its tiles are.

    Parameters
    ----------
    tile : optional
        The edge of the tiles; None: that of the stored format, or 8.
    bins : optional
        Squares along the longer side.
    dark : optional
        Whether for a dark page.

    Raises
    ------
    TypeError
        A is not a Matrix.
    InvalidValue
        For other tiles or bins.
    ImportError
        Without matplotlib.

    Notes
    -----
    Positions without entries keep the color of the paper. Time and memory are those of sorting the entries.
    """
    theme = theme_of(dark)
    require_matplotlib()
    _check_matrix(A)
    if tile is None:
        tile = format_of(A.format).tile or DEFAULT_TILE
    if tile not in TILES:
        raise InvalidValue(f"tile: expected {either(TILES)}, got {tile!r}")
    if not isinstance(bins, int) or bins < 1:
        raise InvalidValue(f"bins: expected an integer, 1 or more, got {bins!r}")
    rows, cols = (part.astype(np.int64, copy=False) for part in host_coo(A)[:2])
    tile_rows, tile_cols, fill = tiles_of(rows, cols, A.ncols, tile)

    figure = new_figure(theme, 11.5, 7.4)
    grid = figure.add_gridspec(2, 2, width_ratios=[2.1, 1], height_ratios=[1.15, 1])
    whole, tiled, bars = (figure.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1]))
    shape = (A.nrows, A.ncols)
    counts, extent = binned(rows, cols, np.ones(len(rows)), shape, bins)
    _map(figure, whole, counts, extent, theme, "entries per square" if counts.max(initial=0) > 1 else None)
    set_title(whole, title_of(A, title), theme)
    whole.set_xlabel(f"{A.nrows:,} x {A.ncols:,}, {A.nvals:,} entries, stored as {A.format}", color=theme.ink)

    if max(shape) <= GRID:
        for draw_line, size in ((whole.axvline, A.ncols), (whole.axhline, A.nrows)):
            for edge in range(tile, size, tile):
                draw_line(edge - 0.5, color=theme.line, linewidth=0.6)

    grid_shape = (-(-A.nrows // tile), -(-A.ncols // tile))
    total, corners = binned(tile_rows, tile_cols, fill, grid_shape, max(1, bins // 4))
    number, _ = binned(tile_rows, tile_cols, np.ones(len(fill)), grid_shape, max(1, bins // 4))
    mean = np.divide(total, number, out=np.zeros_like(total), where=number > 0)
    left, right, bottom, top = ((corner + 0.5) * tile - 0.5 for corner in corners)
    _map(figure, tiled, mean, (left, right, bottom, top), theme, "mean entries per tile")
    tiled.set(xlim=extent[:2], ylim=extent[2:])
    set_title(tiled, f"How full the {tile} x {tile} tiles are", theme, 11)
    _bars(bars, fill, tile, theme)
    return figure


def _check_matrix(A: object) -> None:
    if not isinstance(A, Matrix):
        hint = ". Hint: graph.matrix" if hasattr(A, "matrix") else ""
        raise TypeError(f"A: expected a Matrix, got {type(A).__name__}{hint}")


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


def _map(figure: Figure, axes: Axes, values: np.ndarray, extent: Extent, theme: Theme, label: str | None) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    blues = ["#9ecae1", "#2171b5", "#08214a"]
    if theme.paper != "#ffffff":
        blues = ["#2b4a6b", "#4292c6", "#deebf7"]
    ink = LinearSegmentedColormap.from_list("ink", blues if label else [theme.ink, theme.ink])
    top = max(2.0, float(values.max(initial=0)))
    shown = np.ma.masked_equal(values, 0)
    image = axes.imshow(shown, ink, LogNorm(1, top), extent=extent, interpolation="nearest", aspect="equal")
    axes.set_facecolor(theme.paper)
    if label:
        bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02, aspect=30)
        bar.set_label(label, color=theme.ink)
        bar.outline.set_visible(False)
        _few_numbers(bar, top, theme)
    axes.tick_params(length=3, labelsize=8, colors=theme.ink)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(integers())
        axis.set_major_formatter(lambda x, _: short(x))
    for side in axes.spines.values():
        side.set_color(theme.line)


def _bars(axes: Axes, fill: np.ndarray, tile: int, theme: Theme) -> None:
    """Histogram of tiles with 1, 2, 3-4, 5-8, ... entries."""
    steps = int(np.log2(tile * tile)) + 1
    classes = np.bincount(np.ceil(np.log2(np.maximum(fill, 1))).astype(int), minlength=steps)[:steps]
    axes.bar(range(steps), classes, color=theme.accent, width=0.8)
    names = ["1", "2", *(f"{2**k // 2 + 1}-{2**k}" for k in range(2, steps))]
    axes.set_xlabel("entries in a tile")
    axes.set_ylabel("tiles")
    axes.yaxis.set_major_formatter(lambda x, _: short(x))
    plain_axes(axes, theme)
    axes.grid(visible=False, axis="x")
    axes.set_xticks(range(steps), names[:steps], rotation=45 if steps > 5 else 0, fontsize=8)
    mean = float(fill.mean()) if len(fill) else 0.0
    set_title(axes, f"{len(fill):,} tiles, {mean:.2f} entries each on average", theme, 11)


def _few_numbers(bar: Colorbar, top: float, theme: Theme) -> None:
    from matplotlib.ticker import NullLocator

    marks = sorted({1.0, *(float(2**k) for k in range(1, int(np.log2(top)) + 1, max(1, int(np.log2(top)) // 4)))})
    bar.set_ticks(marks, labels=[short(mark) for mark in marks])
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.ax.tick_params(labelsize=8, colors=theme.ink)

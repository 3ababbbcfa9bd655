"""Values of vertices as colors and sizes: numbers on a scale, or classes with colors of their own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..core import Vector
from ..core.options import either
from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph, Values
from ..io import host_coo
from ..typing import ArrayLike
from .style import DIVERGING, SEQUENTIAL, Theme, integers, short, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# A number for each vertex, by position or by name.
Numbers: TypeAlias = Vector | Values | Mapping[Hashable, float] | ArrayLike
SCALES = ("auto", "linear", "log")
LISTED = 12  # most classes in a legend
FAR = 30  # positive values whose maximum is so many times the median have a logarithmic scale


class VertexNumbers(NamedTuple):
    """A number for each vertex, NaN if it has none, and whether all are integers."""

    numbers: np.ndarray
    whole: bool


def numbers_of(name: str, values: Numbers, graph: Graph | None, n: int) -> VertexNumbers:
    """The numbers of an argument. graph: whose names a mapping uses. Raises DimensionMismatch for another length,
    InvalidValue for unknown vertices or values that are not real numbers."""
    if isinstance(values, Values):
        values = values.vector
    if isinstance(values, Vector):
        if values.size != n:
            raise DimensionMismatch(
                f"{name}: expected one for each of {n} vertices, got a Vector of size {values.size}"
            )
        at, known = host_coo(values)
    elif isinstance(values, Mapping):
        known = np.array(list(values.values()) or np.zeros(0))
        at = np.array([_number(name, vertex, graph, n) for vertex in values], np.int64)
    else:
        known = np.asarray(values)
        if known.shape != (n,):
            raise DimensionMismatch(f"{name}: expected one for each of {n} vertices, got {known.shape}")
        at = np.arange(n)
    if known.dtype.kind not in "biuf":
        raise InvalidValue(f"{name}: expected real numbers, got values of type {known.dtype}")
    numbers = np.full(n, np.nan)
    numbers[at] = known
    return VertexNumbers(numbers, known.dtype.kind in "biu")


def _number(name: str, vertex: Hashable, graph: Graph | None, n: int) -> int:
    if graph is not None:
        try:
            return graph.vertex(vertex)
        except (InvalidValue, IndexError) as error:
            raise InvalidValue(f"{name}: {error}") from None
    if not isinstance(vertex, int | np.integer) or not 0 <= vertex < n:
        raise InvalidValue(f"{name}: expected vertices from 0 to {n - 1}, got {vertex!r}")
    return int(vertex)


class Scale(NamedTuple):
    """A color scale: its mapping from numbers to colors, and whether all numbers are integers."""

    mapping: ScalarMappable
    whole: bool

    def add_bar(self, figure: Figure, axes: Axes, label: str, theme: Theme) -> None:
        from matplotlib.colors import LogNorm

        logarithmic = isinstance(self.mapping.norm, LogNorm)
        ticks = integers() if self.whole and not logarithmic else None
        bar = figure.colorbar(self.mapping, ax=axes, shrink=0.6, ticks=ticks, pad=0.02, aspect=28)
        bar.outline.set_visible(False)
        bar.set_label(label, color=theme.ink)
        bar.ax.tick_params(labelsize=8, colors=theme.ink, which="both")
        if logarithmic and self.whole:
            bar.ax.yaxis.set_major_formatter(lambda x, _: short(x))


def scale_of(values: VertexNumbers, scale: str, theme: Theme) -> Scale:
    """The color scale of numbers. "auto": around 0 with two hues if there are numbers on both sides; logarithmic for
    positive numbers of very different size, such as ranks and degrees; otherwise linear."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    if scale not in SCALES:
        raise InvalidValue(f"scale: expected {either(SCALES)}, got {scale!r}")
    known = values.numbers[np.isfinite(values.numbers)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if scale == "log" and low <= 0:
        raise InvalidValue(f"scale: expected linear for values that are not positive, got log and the value {low:g}")
    norm: Normalize
    name = SEQUENTIAL
    if scale == "log" or (scale == "auto" and 0 < low and high >= FAR * float(np.median(known))):
        norm = LogNorm(low, high)
    elif scale == "auto" and low < 0 < high:
        norm, name = Normalize(-max(-low, high), max(-low, high)), DIVERGING
    else:
        norm = Normalize(low, high)
    return Scale(ScalarMappable(norm, visible(name, theme)), values.whole)


def class_colors(values: np.ndarray, names: Sequence[Hashable] | None, theme: Theme) -> tuple[np.ndarray, list[Line2D]]:
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
    found = np.tile(to_rgba(theme.line), (len(values), 1))
    found[~np.isnan(values)] = palette[rank[which] % len(palette)]
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markeredgecolor": theme.paper}
    legend = []
    for place, k in enumerate(order[:LISTED].tolist()):
        name = kinds[k] if names is None else names[int(kinds[k])]
        text = f"{name:g}" if isinstance(name, float) else str(name)
        legend.append(Line2D([], [], color=palette[place % len(palette)], label=f"{text}: {sizes[k]} vertices", **dot))
    if len(order) > LISTED:
        legend.append(Line2D([], [], linestyle="", label=f".. {len(order) - LISTED} more"))
    return found, legend


def areas_of(sizes: VertexNumbers, least: float, most: float) -> np.ndarray:
    """The area of each vertex in square points, in proportion to its value, but at least `least`. InvalidValue for
    values below 0 or infinite ones."""
    known = sizes.numbers[~np.isnan(sizes.numbers)]
    if len(known) and not (known.min() >= 0 and np.isfinite(known.max())):
        wrong = known[~((known >= 0) & np.isfinite(known))][0]
        raise InvalidValue(f"sizes: expected finite numbers, 0 or more, got {wrong:g}")
    top = max(float(known.max(initial=0)), 1e-300)
    return np.asarray(np.maximum(least, most * np.nan_to_num(sizes.numbers) / top))


def size_legend(sizes: VertexNumbers, most: float, theme: Theme) -> list[Line2D]:
    """Circles of three sizes with their values."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    top = float(np.nanmax(sizes.numbers, initial=0))
    marks = [float(x) for x in MaxNLocator(3, integer=sizes.whole).tick_values(0, top) if 0 < x <= top] or [top]
    circle: dict[str, Any] = {"marker": "o", "linestyle": "", "color": theme.line, "markeredgewidth": 0}
    return [
        Line2D([], [], markersize=float(np.sqrt(most * x / max(top, 1e-300))), label=short(x), **circle) for x in marks
    ]

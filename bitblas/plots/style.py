"""The style of all plots, light and dark: colors, figures, axes, number formats; and writing figures to files."""

from __future__ import annotations

import functools
import os
import re
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from .. import extras
from ..exceptions import InvalidValue
from ..io.files import Output, open_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    from ..core import Matrix

SUFFIXES = ("png", "svg", "pdf")
SEQUENTIAL, DIVERGING = "viridis", "coolwarm"


class Theme(NamedTuple):
    """Colors of a plot. accent: bars and curves; second: another curve; scale: the part of the sequential colormap
    that is visible on the paper."""

    paper: str
    ink: str
    line: str
    accent: str
    second: str
    scale: tuple[float, float]


LIGHT = Theme("#ffffff", "#1b2733", "#aab4bd", "#2171b5", "#d1762a", (0.0, 0.93))
DARK = Theme("#1e2129", "#e6edf3", "#5b6570", "#6baed6", "#f0a45d", (0.16, 1.0))


def theme_of(dark: bool) -> Theme:
    """The theme for light or dark paper. TypeError unless `dark` is a bool."""
    if not isinstance(dark, bool):
        raise TypeError(f"dark: expected True or False, got {dark!r}")
    return DARK if dark else LIGHT


@functools.cache
def _picture() -> type[Figure]:
    """A subclass of matplotlib's Figure that notebooks display. ImportError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"pictures need matplotlib ({error}); {extras.hint('plots')}") from None

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            return _encoded(self, "png")

    return Picture


def new_figure(theme: Theme, width: float, height: float) -> Figure:
    """An empty figure, its size in inches. ImportError without matplotlib."""
    return _picture()(figsize=(width, height), dpi=130, facecolor=theme.paper, layout="constrained")


def require_matplotlib() -> None:
    """ImportError without matplotlib, before the work begins."""
    _picture()


def title_of(A: Matrix, title: str | None) -> str:
    """The title of a picture of A: `title`, otherwise the name that A was given; a generated one (M_0) is left out."""
    return title or ("" if re.fullmatch(r"M_\d+", A.name) else A.name)


def set_title(axes: Axes, text: str, theme: Theme, size: float = 13) -> None:
    axes.set_title(text, loc="left", fontsize=size, fontweight="bold", color=theme.ink)


def plain_axes(axes: Axes, theme: Theme) -> None:
    """Numbers and labels in ink, a light grid below the data, and no frame."""
    axes.set_facecolor(theme.paper)
    axes.tick_params(labelsize=8, colors=theme.ink, length=3, which="both")
    axes.grid(color=theme.line, linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    for text in (axes.xaxis.label, axes.yaxis.label):
        text.set(color=theme.ink, fontsize=9)
    for name, side in axes.spines.items():
        side.set_visible(name in ("left", "bottom"))
        side.set_color(theme.line)


def visible(name: str, theme: Theme) -> Colormap:
    """The part of a sequential colormap that is visible on the paper, as a colormap; no value has the color of
    lines."""
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    colors = colormaps[name](np.linspace(*theme.scale, 256) if name == SEQUENTIAL else np.linspace(0, 1, 256))
    return ListedColormap(colors, name).with_extremes(bad=theme.line)


def integers() -> MaxNLocator:
    """At most six ticks, at integers."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5, integer=True)


def short(x: float) -> str:
    """1500000 as 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= size:
            return f"{x / size:.4g}{letter}"
    return f"{x:.4g}"


def kind_of(path: str | os.PathLike[str]) -> str:
    """The format of a plot, from its file name. InvalidValue for an unknown suffix."""
    kind = os.path.splitext(os.fspath(path))[1][1:].lower()
    if kind not in SUFFIXES:
        raise InvalidValue(f"{os.fspath(path)}: expected a name that ends in {', '.join('.' + s for s in SUFFIXES)}")
    return kind


def save(figure: Figure, target: Output) -> None:
    """Write a Figure atomically to a .png, .svg or .pdf file (InvalidValue for another name), or as .png to a file open
    for binary writing. The same figure gives the same bytes."""
    kind = kind_of(target) if isinstance(target, str | os.PathLike) else "png"
    data = _encoded(figure, kind)
    with open_output(target) as stream:
        stream.write(data)


def _encoded(figure: Figure, kind: str) -> bytes:
    from matplotlib import rc_context

    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    stream = BytesIO()
    with rc_context({"svg.hashsalt": "bitblas"}):
        figure.savefig(stream, format=kind, metadata=undated.get(kind))
    return stream.getvalue()

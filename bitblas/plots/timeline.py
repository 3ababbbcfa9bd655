"""Plots of a trace as a timeline: when each kernel ran, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..device import Trace
from ..exceptions import InvalidValue
from .style import new_figure, plain_axes, require_matplotlib, set_title, theme_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 24  # most rows; kernels with the least time share the last row
SHARED = "all others"


def trace(t: Trace, *, title: str | None = None, dark: bool = False) -> Figure:
    """A matplotlib Figure of a trace (`with gb.trace() as t:`): a row for each kernel, sorted by descending total time,
    and a bar for each of its runs. Time between bars is spent outside of kernels: Python, NumPy, CuPy, waiting.

    Parameters
    ----------
    dark : optional
        Whether for a dark page.

    Raises
    ------
    TypeError
        t is not a Trace.
    InvalidValue
        If no kernel with a time was traced.
    ImportError
        Without matplotlib.
    """
    theme = theme_of(dark)
    require_matplotlib()
    if not isinstance(t, Trace):
        raise TypeError(f"t: expected a Trace, got {type(t).__name__}. Hint: with gb.trace() as t: ...")
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

    figure = new_figure(theme, 9, 1.2 + 0.3 * len(names))
    axes = figure.add_subplot()
    for row, name in enumerate(names):
        axes.broken_barh(bars[name], (row - 0.4, 0.8), facecolors=theme.accent, edgecolor=theme.accent, linewidth=0.3)
    spent = [sum(us for _, us in bars[name]) for name in names]
    labels = [f"{name}  {us:.0f} us in {len(bars[name])}" for name, us in zip(names, spent)]
    plain_axes(axes, theme)
    axes.grid(visible=False, axis="y")
    axes.set_yticks(range(len(names)), labels, fontsize=7)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.invert_yaxis()
    axes.set_xlim(0, max(start + us for bar in bars.values() for start, us in bar))
    axes.set_xlabel("microseconds since the first kernel", fontsize=8)
    inside = sum(spent)
    set_title(axes, title or f"{inside:.0f} us in {len(runs)} kernels, of {t.us:.0f} us", theme, 11)
    return figure


def _short_name(name: str) -> str:
    """The name of a variant without its types and constants."""
    return " ".join(word for word in name.split() if "=" not in word)

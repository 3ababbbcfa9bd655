"""Draw a trace as a timeline: when each kernel ran, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..device import Trace
from ..exceptions import InvalidValue
from .matrices import INK, LINE, PAPER, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 24  # most rows; kernels with the least time share the last row
SHARED = "all others"


def trace(t: Trace, *, title: str | None = None) -> Figure:
    """A matplotlib Figure of a trace (`with gb.trace() as t:`): a row for each kernel, sorted by descending total time,
    and a bar for each of its runs. Time between bars is spent outside of kernels: Python, NumPy, CuPy, waiting.

    Raises InvalidValue if no kernel with a time was traced, ImportError without matplotlib.
    """
    kind = picture()
    runs = [(_short(run.text), run.start, run.us) for run in t if run.us is not None and run.start is not None]
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


def _short(name: str) -> str:
    """The name of a variant without its types and constants."""
    return " ".join(word for word in name.split() if "=" not in word)

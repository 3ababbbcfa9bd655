"""Pictures of the results page and of the first page, as SVG with text as text.

Charts of one algorithm are drawn in one color scheme that is legible on white and on dark paper. The pictures of the
first page have a light and a dark version, large letters, and a label at every bar: a phone shows them 370 pixels wide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

OURS = "bitblas"
HUES = {
    OURS: "#0d9488",
    "cuGraph": "#d97706",
    "SuiteSparse": "#7c8ba1",
    "NetworkX": "#db2777",
    "BLEST": "#8b5cf6",
    "ECL": "#2563eb",
    "ADDS": "#0891b2",
    "cuSPARSE": "#65a30d",
    "NetworKit": "#b45309",
    "igraph": "#be123c",
    "SciPy": "#0369a1",
}
INK = "#7b8794"  # on white and on dark paper
SCHEMES = {"light": "#1b2733", "dark": "#e6edf3"}
SPACE = "\u2002"  # SVG merges plain ones
MINOR = {"light": "#94a3b8", "dark": "#64748b"}


def library(who: str) -> str:
    """The name of a library without its number of threads."""
    return who.partition(",")[0]


def place(who: str) -> int:
    """The place of a library among the others, in tables and charts."""
    return list(HUES).index(library(who))


def duration(ms: float) -> str:
    """Milliseconds with a unit: 0.21 ms, 7.8 s."""
    value, unit = (ms, "ms") if ms < 1000 else (ms / 1000, "s")
    digits = f"{value:.2g}" if value < 100 else f"{value:.0f}"
    return f"{digits} {unit}"


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), facecolor="none", layout="constrained")


def _bare(axes: Any, ink: str) -> None:
    axes.set_facecolor("none")
    axes.tick_params(colors=ink, length=0, which="both")
    axes.spines[:].set_visible(False)


def dots(rows: Mapping[str, Mapping[str, float]]) -> Any:
    """One algorithm: a row for each graph, a dot for each library at its milliseconds, on a log scale."""
    sides = sorted({who for row in rows.values() for who in row}, key=place)
    height = 0.75 + 0.36 * len(rows)
    drawing = _figure(5.4, height)
    drawing.set_layout_engine("none")
    axes = drawing.add_axes((0.33, 0.3 / height, 0.62, 0.36 * len(rows) / height))
    for k, row in enumerate(rows.values()):
        axes.plot([min(row.values()), max(row.values())], [k, k], color=INK, linewidth=1, alpha=0.5, zorder=1)
        for who, ms in sorted(row.items(), key=lambda item: item[0] == OURS):
            axes.scatter(
                [ms], [k], s=95 if who == OURS else 55, color=HUES[library(who)], zorder=3 if who == OURS else 2
            )
        axes.annotate(
            duration(row[OURS]),
            (row[OURS], k),
            (0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color=HUES[OURS],
        )
    axes.set_xscale("log")
    axes.set_ylim(len(rows) - 0.6, -0.9)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=10, color=INK)
    low, high = axes.get_xlim()
    steps = (1,) if high > 30 * low else (1, 2, 5)
    ticks = [step * 10.0**k for k in range(-3, 7) for step in steps if low <= step * 10.0**k <= high]
    ticks = ticks if len(ticks) < 6 else ticks[::2]
    axes.set_xticks(ticks, [duration(x) for x in ticks], fontsize=10, color=INK)
    axes.minorticks_off()
    axes.grid(axis="x", color=INK, alpha=0.25)
    axes.set_axisbelow(True)
    legend = drawing.legend(
        handles=[axes.scatter([], [], s=60, color=HUES[library(who)], label=library(who)) for who in sides],
        loc="upper left",
        bbox_to_anchor=(0.0, 1 - 0.06 / height),
        ncols=len(sides),
        frameon=False,
        fontsize=10,
        handlelength=1.0,
        handletextpad=0.2,
        columnspacing=0.8,
        borderaxespad=0.0,
        borderpad=0.0,
    )
    for text, who in zip(legend.get_texts(), sides):
        text.set_color(HUES[library(who)])
    _bare(axes, INK)
    return drawing


def bars(rows: Mapping[str, Mapping[str, float]], sides: Sequence[str], scheme: str) -> Any:
    """The first page's times: a group of bars for each algorithm, on a log scale, each with its library and time."""
    ink = SCHEMES[scheme]
    drawing = _figure(7.2, 0.2 + 0.33 * len(rows) * (len(sides) + 1.35))
    axes = drawing.add_subplot()
    at = 0.0
    least = min(ms for row in rows.values() for ms in row.values()) / 3
    for name, row in rows.items():
        axes.text(least, at, name, fontsize=17, fontweight="bold", color=ink, va="center")
        for who in sides:
            if who not in row:
                continue
            at += 1
            ours = who == OURS
            axes.barh([at], [row[who] - least], left=least, height=0.78, color=HUES[OURS] if ours else MINOR[scheme])
            axes.text(
                row[who] * 1.15,
                at + 0.03,
                f"{duration(row[who])}{SPACE}{who}",
                fontsize=15,
                va="center",
                color=HUES[OURS] if ours and scheme == "light" else "#2dd4bf" if ours else ink,
                fontweight="bold" if ours else "normal",
            )
        at += 1.35
    axes.set_xscale("log")
    most = max(ms for row in rows.values() for ms in row.values())
    axes.set_xlim(least, most * 4e4)
    axes.set_ylim(at - 0.7, -0.6)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.minorticks_off()
    _bare(axes, ink)
    return drawing


def sizes(bytes_of: Mapping[str, float], scheme: str) -> Any:
    """The first page's bytes: a bar for each way to store the graph."""
    ink = SCHEMES[scheme]
    drawing = _figure(7.2, 0.2 + 0.4 * len(bytes_of))
    axes = drawing.add_subplot()
    for k, (name, size) in enumerate(bytes_of.items()):
        ours = name.startswith(OURS)
        axes.barh([k], [size], height=0.78, color=HUES[OURS] if ours else MINOR[scheme])
        axes.text(
            size + 0.12,
            k + 0.03,
            f"{size:.1f}{SPACE}{name}",
            fontsize=15,
            va="center",
            color=ink,
            fontweight="bold" if ours else "normal",
        )
    axes.set_xlim(0, 2.1 * max(bytes_of.values()))
    axes.set_ylim(len(bytes_of) - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    _bare(axes, ink)
    return drawing

"""Plots of the degrees of a graph: for each degree, how many vertices have at least that many edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core import Matrix
from ..graph import Graph
from ..io import host_coo
from .layouts import square_matrix
from .style import new_figure, plain_axes, require_matplotlib, set_title, short, theme_of, title_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def degrees(A: Matrix | Graph, *, title: str | None = None, dark: bool = False) -> Figure:
    """A matplotlib Figure of the degrees of a graph, given as a square Matrix or a Graph: for each degree, the number
    of vertices with at least as many edges, on logarithmic scales. A power law is a straight line.

    Parameters
    ----------
    dark : optional
        Whether for a dark page.

    Raises
    ------
    TypeError
        A is neither a Matrix nor a Graph.
    DimensionMismatch
        A is not square.
    ImportError
        Without matplotlib.

    Notes
    -----
    A directed graph (a Matrix is one unless its pattern is symmetric) has a curve for edges out and one
    for edges in. A self loop counts once in each. Vertices without edges are counted below the title.
    """
    theme = theme_of(dark)
    require_matplotlib()
    A, n, directed = square_matrix(A)
    rows, cols = (part.astype(np.int64, copy=False) for part in host_coo(A)[:2])
    out, into = np.bincount(rows, minlength=n), np.bincount(cols, minlength=n)
    if directed is None:
        back = np.lexsort((rows, cols))
        directed = not (np.array_equal(rows, cols[back]) and np.array_equal(cols, rows[back]))
    figure = new_figure(theme, 7.5, 5)
    axes = figure.add_subplot()
    curves = [("edges out", out, theme.accent), ("edges in", into, theme.second)] if directed else []
    for name, counts, color in curves or [("edges", out, theme.accent)]:
        degree, size = np.unique(counts[counts > 0], return_counts=True)
        above = np.cumsum(size[::-1])[::-1]
        axes.plot(degree, above, color=color, linewidth=1.4, marker="o", markersize=3.2, markeredgewidth=0, label=name)
    axes.set(xscale="log", yscale="log", xlabel="degree", ylabel="vertices with at least this degree")
    plain_axes(axes, theme)
    if not len(rows):
        axes.set(xlim=(0.9, 10), ylim=(0.9, max(10, n)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda x, _: short(x))
    if directed:
        axes.legend(frameon=False, labelcolor=theme.ink, fontsize=9)
    mean, none = len(rows) / max(n, 1), int(((out == 0) & (into == 0)).sum())
    most = int(max(out.max(initial=0), into.max(initial=0)))
    axes.set_xlabel(f"degree: {mean:.3g} on average, {most:,} at most; {none:,} of {n:,} vertices have none")
    set_title(axes, title_of(A, title), theme)
    return figure

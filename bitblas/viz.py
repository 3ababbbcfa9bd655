"""python-graphblas' `gb.viz`: small matrices as pictures of graphs and of patterns; `bitblas.plots` has large ones."""

from __future__ import annotations

from typing import Any

from . import extras
from .core import Matrix, TransposedMatrix
from .core.statement.delayed import Delayed
from .core.statement.operand import describe
from .io import to_networkx, to_scipy_sparse


def _matrix(m: Any, where: str) -> Any:
    m = m._resolve() if isinstance(m, Delayed) else m
    if not isinstance(m, (Matrix, TransposedMatrix)):
        raise TypeError(f"{where}: expected a Matrix, got {describe(m)}")
    return m


def _pyplot(where: str) -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError(f"{where} needs matplotlib ({error}); {extras.hint('plots')}") from None
    return pyplot


def draw(m: Any) -> None:
    """Draw a square Matrix as a graph, its values beside the edges, into the current axes of pyplot, and show it.

    Raises TypeError, DimensionMismatch; ImportError without NetworkX or matplotlib.
    """
    g = to_networkx(_matrix(m, "draw"))
    pyplot = _pyplot("draw")
    import networkx

    places = networkx.spring_layout(g)
    networkx.draw_networkx(g, places, node_color="red", node_size=500)
    networkx.draw_networkx_edge_labels(g, places, edge_labels=networkx.get_edge_attributes(g, "weight"))
    pyplot.show()


def spy(
    M: Any, *, centered: bool = False, show: bool = True, figure: Any = None, axes: Any = None, figsize: Any = None,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """A matplotlib Figure with a square where the Matrix has an entry.

    centered: ticks stand at the middle of rows and columns, else at their borders. show: also in a window. figure,
    axes: where to draw, a new Figure of `figsize` if not given. kwargs: of `matplotlib.axes.Axes.spy`; the squares
    touch one another if no `markersize` is given. Raises TypeError; ImportError without matplotlib.
    """
    entries = to_scipy_sparse(_matrix(M, "spy"), "coo")
    pyplot = _pyplot("spy")
    if axes is None:
        if figure is None:
            # One of pyplot's only where it is to be shown: it keeps them all.
            from matplotlib.figure import Figure

            figure = pyplot.figure(figsize=figsize) if show else Figure(figsize=figsize)
        axes = figure.subplots()
    figure = axes.figure
    if kwargs.get("markersize") is None:
        edge = min(axes.bbox.width / max(1, entries.shape[1]), axes.bbox.height / max(1, entries.shape[0]))
        kwargs["markersize"] = max(0.002, edge * 72 / figure.dpi)
    axes.spy(entries, **kwargs)
    if not centered:
        figure.draw_without_rendering()  # makes the labels of the ticks
        axes.set_xticks(axes.get_xticks()[1:-1] - 0.5, axes.get_xticklabels()[1:-1])
        axes.set_yticks(axes.get_yticks()[1:-1] - 0.5, axes.get_yticklabels()[1:-1])
    if show:
        pyplot.show()
    return figure


__all__ = ["draw", "spy"]

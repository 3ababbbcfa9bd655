"""python-graphblas' `gb.viz`: draw small matrices as graphs and as patterns; `bitblas.plots` draws large ones."""

from __future__ import annotations

import importlib
from typing import Any

from . import extras
from .core import Matrix, TransposedMatrix
from .core.statement.infix import Delayed, describe
from .io import to_networkx, to_scipy_sparse

MatrixLike = Matrix | TransposedMatrix | Delayed


def _matrix(m: object, where: str) -> Matrix | TransposedMatrix:
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


def draw(m: MatrixLike) -> None:
    """Draw a square Matrix as a graph, with edge labels for its values, into the current axes of pyplot, and show it.

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
    M: MatrixLike,
    *,
    centered: bool = False,
    show: bool = True,
    figure: Any = None,
    axes: Any = None,
    figsize: tuple[float, float] | None = None,
    **kwargs: Any,
) -> Any:
    """A matplotlib Figure with a square for each entry of a Matrix.

    centered: ticks are at the middle of rows and columns, otherwise at their borders. show: also open a window. figure,
    axes: where to draw; default: a new Figure of `figsize`. kwargs: of `matplotlib.axes.Axes.spy`; without `markersize`
    the squares touch each other. Raises TypeError; ImportError without matplotlib.
    """
    entries = to_scipy_sparse(_matrix(M, "spy"), "coo")
    pyplot = _pyplot("spy")
    if axes is None:
        if figure is None:
            # Use pyplot only to show the Figure, because it keeps all its figures alive.
            from matplotlib.figure import Figure

            figure = pyplot.figure(figsize=figsize) if show else Figure(figsize=figsize)
        axes = figure.subplots()
    figure = axes.figure
    if kwargs.get("markersize") is None:
        edge = min(axes.bbox.width / max(1, entries.shape[1]), axes.bbox.height / max(1, entries.shape[0]))
        kwargs["markersize"] = max(0.002, edge * 72 / figure.dpi)
    axes.spy(entries, **kwargs)
    if not centered:
        figure.draw_without_rendering()  # creates the tick labels
        axes.set_xticks(axes.get_xticks()[1:-1] - 0.5, axes.get_xticklabels()[1:-1])
        axes.set_yticks(axes.get_yticks()[1:-1] - 0.5, axes.get_yticklabels()[1:-1])
    if show:
        pyplot.show()
    return figure


def datashade(
    M: MatrixLike,
    agg: Any = "count",
    *,
    width: int | None = None,
    height: int | None = None,
    opts_kwargs: Any = None,
    **kwargs: Any,
) -> Any:
    """An interactive plot of a Matrix of any size: Datashader aggregates the entries of each pixel by `agg`, such as
    "count", "sum", "mean", "min", "max". A list of them, or a list of lists (rows of plots; None: empty), gives several
    plots with shared axes.

    Parameters
    ----------
    width, height : optional
        Size in pixels, 500 wide if neither is given; for several plots their total.
    opts_kwargs : optional
        Options of HoloViews' `opts`.
    kwargs : optional
        Options of `hvplot.scatter`.

    Raises
    ------
    TypeError
    ImportError
        Without hvplot and datashader.
    """
    entries = _listed(_matrix(M, "datashade"))
    width = 500 if width is None and height is None else width
    how = {"frame_height": height, **kwargs}
    if not isinstance(agg, list):
        return _shaded(M, entries, agg, width, opts_kwargs, how)
    rows = [x if isinstance(x, list) else [x] for x in agg] if any(isinstance(x, list) for x in agg) else [agg]
    across = max(map(len, rows))
    if not across:
        return None
    import holoviews

    each = None if width is None else width // across
    pictures = []
    for i, row in enumerate(rows):
        for j, one in enumerate((*row, *[None] * (across - len(row)))):
            outer = {name: None for name, at in (("yaxis", j), ("xaxis", i)) if at}  # axes only at the outer borders
            one = holoviews.Empty() if one is None else _shaded(M, entries, one, each, opts_kwargs, {**outer, **how})
            pictures.append(one)
    return holoviews.Layout(pictures).cols(across)


def _listed(A: Matrix | TransposedMatrix) -> Any:
    """Rows, columns and values as a pandas DataFrame with the accessor hvplot."""
    try:
        importlib.import_module("datashader")  # checked here because hvplot's own error is less clear
        importlib.import_module("hvplot.pandas")  # adds .hvplot to DataFrames
        import pandas
    except ImportError as error:
        raise ImportError(f"datashade needs hvplot and datashader ({error}); {extras.hint('datashade')}") from None
    rows, cols, values = (A.device.to_host(x) for x in A.to_coo())
    return pandas.DataFrame({"row": rows.astype("int64"), "col": cols.astype("int64"), "val": values})


def _shaded(M: MatrixLike, entries: Any, agg: str, width: int | None, opts: Any, how: dict[str, Any]) -> Any:
    from bokeh.models import HoverTool

    said: dict[str, Any] = {"x": "col", "y": "row", "c": "val", "aggregator": agg, "frame_width": width, "hover": True}
    said |= {"cmap": "fire", "cnorm": "eq_hist", "data_aspect": 1, "x_sampling": 1, "y_sampling": 1, "flip_yaxis": True}
    said |= {"xlim": (0, M.ncols), "ylim": (0, M.nrows), "xlabel": "", "ylabel": "", "xaxis": "top", "rot": 60}
    said |= {"rasterize": True, "xformatter": "%d", "yformatter": "%d"}
    tips = [("row", "$y{i}"), ("col", "$x{i}"), (agg, "@image")]  # integers
    hover = HoverTool(tooltips=tips, formatters={"@col": "printf", "@row": "printf"})
    return entries.hvplot.scatter(**(said | how)).opts(**({"bgcolor": "black", "tools": [hover]} | (opts or {})))


__all__ = ["datashade", "draw", "spy"]

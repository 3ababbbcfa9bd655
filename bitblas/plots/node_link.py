"""Plots of graphs: small ones with vertices, edges, arrows and names, large ones as pictures of density; colors and
sizes by values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import tuning
from ..core import Matrix
from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph, Values
from ..io import host_coo
from ..typing import ArrayLike
from . import density
from .layouts import layout as positions_of
from .layouts import square_matrix
from .names import RING, Ends, Vertices, add_names, away_from_neighbours, ring_size
from .style import Theme, new_figure, require_matplotlib, set_title, short, theme_of, title_of
from .vertex_values import (
    Numbers,
    Scale,
    VertexNumbers,
    areas_of,
    class_colors,
    numbers_of,
    scale_of,
    size_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

ARROWS = 1500  # most edges with arrowheads
DOTS = (6.0, 70.0)  # least and most area of a vertex without sizes, in square points
NAMED = 60  # graphs of up to so many vertices show all names, larger ones those of the most important vertices
IMPORTANT = 14  # names in a larger graph
WIDTH = 9.0  # inches
FAINT = 0.25  # density of edges between classes


def graph(
    A: Matrix | Graph,
    values: Numbers | None = None,
    *,
    places: ArrayLike | None = None,
    title: str | None = None,
    label: str | None = None,
    classes: bool | None = None,
    sizes: Numbers | None = None,
    size_label: str | None = None,
    names: int | None = None,
    layout: str = "auto",
    scale: str = "auto",
    dark: bool = False,
) -> Figure:
    """A matplotlib Figure of a graph, given as a Matrix or a Graph: its edges, colored by a value of each vertex.

    Parameters
    ----------
    values : optional
        A Vector, Values, an array of n numbers, or a mapping from vertices to numbers, such as distances or ranks;
        None: one color.
    places : optional
        n x 2, NaN for vertices that are not drawn; None: `layout`, as the argument says.
    title : optional
        None: the name that a Matrix was given.
    label : optional
        The name of the values.
    classes : optional
        True: values are class labels, such as communities: each class has one of twenty colors, the
        largest classes have different ones, and edges between classes are gray; False: values are
        numbers on a scale; None: as `Values.classes` states, otherwise False.
    sizes : optional
        Numbers of 0 or more, as `values`: the area of a vertex is in proportion. `size_label` names them.
    names : optional
        How many vertices have their name, the largest or those with most edges first; None: all of a
        graph with up to 60 vertices, 14 of a larger one whose vertices have names.
    layout : optional
        "stress", "forces", "spring", "spectral", or "auto": see docs/plots.md.
    scale : optional
        "linear", "log", or "auto": logarithmic for positive values of very different size; around 0 for
        values on both sides of it.
    dark : optional
        Whether for a dark page.

    Raises
    ------
    DimensionMismatch
        A not square, arrays of another length.
    InvalidValue
        Unknown vertices, values that are not real numbers, sizes below 0, a layout or scale that does
        not exist.
    TypeError
        A is neither a Matrix nor a Graph.
    ImportError
        Without matplotlib.

    Notes
    -----
    Up to 1500 vertices and 6000 edges, vertices are circles. Vertices and edges share one color scale; an edge has the
    mean of its ends. Edges of a directed graph have arrowheads, if there are not more than 1500 (a Graph states its
    direction; a Matrix is directed unless its pattern is symmetric); a self loop is a ring at its vertex. Vertices
    without a value are gray. Names do not overlap; the least important are left out where there is no room.

    A larger graph is a picture of density: the opacity of a pixel is the rank of the density of edges in it, its color
    the mean value. Long edges, and edges between classes, are fainter. Of more than 400,000 edges a sample is drawn,
    which the line below the picture states. The same graph gives the same picture.
    """
    theme = theme_of(dark)
    require_matplotlib()
    whole = A if isinstance(A, Graph) else None
    A, n, directed = square_matrix(A)
    if classes is None:
        classes = isinstance(values, Values) and values.classes
    named = whole.labels if whole is not None and isinstance(values, Values) and values.vertices else None
    shown = None if values is None else numbers_of("values", values, whole, n)
    sized = None if sizes is None else numbers_of("sizes", sizes, whole, n)
    if names is not None and (isinstance(names, bool) or not isinstance(names, int) or names < 0):
        raise InvalidValue(f"names: expected a number of 0 or more, got {names!r}")
    where = positions_of(A, layout) if places is None else np.asarray(places, float)
    if where.shape != (n, 2):
        raise DimensionMismatch(f"places: expected an array of shape ({n}, 2), got {where.shape}")
    edges = _edges(A, where, directed)
    drawing = _Drawing(where, edges, theme)

    figure = new_figure(theme, WIDTH, WIDTH * _height(where))
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    handles: list[Line2D] = []
    colors: Scale | np.ndarray | None = None
    if shown is not None and classes:
        colors, handles = class_colors(shown.numbers, named, theme)
    elif shown is not None:
        colors = scale_of(shown, scale, theme)
        colors.add_bar(figure, axes, label or "", theme)
    if handles:
        legend = figure.legend(handles=handles, title=label, loc="outside right upper", frameon=False)
        legend.get_title().set_color(theme.ink)
        for text in legend.get_texts():
            text.set(color=theme.ink, fontsize=8)
    counts = len(edges.low) + len(edges.loops)
    small = n <= tuning.count("plots.node_link_vertices") and counts <= tuning.count("plots.node_link_edges")
    areas = np.full(n, float(np.clip(2400 / max(n, 1), *DOTS)))
    if sized is not None:
        most = float(np.clip(14000 / max(n, 1), 60, 420))
        areas = areas_of(sized, 4.0 if small else 0.3, most)
        if small:
            _add_size_legend(figure, sized, most, size_label, theme)
    if small:
        drawing.small(figure, axes, shown, colors, areas)
    else:
        drawing.large(figure, axes, shown, colors, areas if sized is not None else None)
    if not small or len(edges.low) == 0:
        axes.autoscale_view()
    set_title(axes, title_of(A, title), theme)
    if n:
        order = _importance(sized or (None if classes else shown), edges, n)
        given = whole is not None and whole.labels is not None
        some = names if names is not None else n if n <= NAMED else IMPORTANT if given else 0
        labels: Sequence[Hashable] = range(n) if whole is None or whole.labels is None else whole.labels
        if some:
            marks = Vertices(where, areas, edges.loops, labels)
            add_names(figure, axes, marks, Ends(edges.low, edges.high), order[:some], theme)
    return figure


def levels(
    A: Matrix | Graph,
    source: Hashable = 0,
    *,
    places: ArrayLike | None = None,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """A matplotlib Figure of a graph, colored by the number of hops from a vertex. Errors are those of `graph`, and
    InvalidValue or IndexOutOfBound for an unknown vertex."""
    from ..algorithms import bfs_levels

    require_matplotlib()
    found = bfs_levels(A.matrix, A.vertex(source)) if isinstance(A, Graph) else bfs_levels(A, source)
    return graph(A, found, places=places, title=title, label=f"hops from vertex {source}", dark=dark)


class _Edges(NamedTuple):
    """Pairs of different vertices with an edge between them, the lower first, and in which direction: up, from the
    lower vertex, or down; vertices with a self loop; whether edges have a direction; all vertices with a position."""

    low: np.ndarray
    high: np.ndarray
    up: np.ndarray
    down: np.ndarray
    loops: np.ndarray
    directed: bool


def _edges(A: Matrix, places: np.ndarray, directed: bool | None) -> _Edges:
    """The edges between vertices that have positions."""
    n = max(A.nrows, 1)
    rows, cols = (part.astype(np.int64) for part in host_coo(A)[:2])
    placed = ~np.isnan(places[rows, 0]) & ~np.isnan(places[cols, 0])
    rows, cols = rows[placed], cols[placed]
    loops = np.unique(rows[rows == cols])
    rows, cols = rows[rows != cols], cols[rows != cols]
    pairs, which = np.unique(np.minimum(rows, cols) * n + np.maximum(rows, cols), return_inverse=True)
    up, down = (np.bincount(which[side], minlength=len(pairs)) > 0 for side in (rows < cols, rows > cols))
    stated = bool((up != down).any()) if directed is None else directed
    return _Edges(pairs // n, pairs % n, up, down, loops, stated)


def _height(places: np.ndarray) -> float:
    """The height of a figure, as a part of its width."""
    known = places[~np.isnan(places).any(axis=1)]
    if len(known) < 2:
        return 0.7
    wide, high = known.max(axis=0) - known.min(axis=0)
    return float(np.clip(0.86 * high / max(wide, 1e-300), 0.4, 0.95)) + 0.06


def _importance(values: VertexNumbers | None, edges: _Edges, n: int) -> np.ndarray:
    """Vertices by descending value, or number of neighbours."""
    degree = np.bincount(edges.low, minlength=n) + np.bincount(edges.high, minlength=n)
    key = degree if values is None else np.nan_to_num(values.numbers, nan=-np.inf)
    return np.argsort(-key, kind="stable")


def _add_size_legend(figure: Figure, sizes: VertexNumbers, most: float, label: str | None, theme: Theme) -> None:
    handles = size_legend(sizes, most, theme)
    legend = figure.legend(
        handles=handles, title=label, loc="outside right lower", frameon=False, labelspacing=1.4, handletextpad=1.4
    )
    legend.get_title().set_color(theme.ink)
    for text in legend.get_texts():
        text.set(color=theme.ink, fontsize=8)


class _Drawing(NamedTuple):
    """What is drawn: positions, edges, in a theme."""

    places: np.ndarray
    edges: _Edges
    theme: Theme

    def small(
        self,
        figure: Figure,
        axes: Axes,
        shown: VertexNumbers | None,
        colors: Scale | np.ndarray | None,
        areas: np.ndarray,
    ) -> None:
        """Vertices as circles, edges as lines, with arrowheads and rings. colors: a scale, or one for each vertex."""
        from matplotlib.collections import LineCollection
        from matplotlib.colors import to_rgba

        edges, places, theme = self.edges, self.places, self.theme
        ends = np.stack([places[edges.low], places[edges.high]], axis=1)
        width = float(np.clip(30 / np.sqrt(len(ends) + 1), 0.35, 1.2))
        many = len(ends) > tuning.count("plots.vector_lines")
        lines = LineCollection(list(ends), linewidths=width, rasterized=many, zorder=1)
        points, between = np.tile(to_rgba(theme.accent), (len(places), 1)), np.tile(to_rgba(theme.line), (len(ends), 1))
        rings = np.tile(to_rgba(theme.line), (len(edges.loops), 1))
        if isinstance(colors, Scale) and shown is not None:
            mean = (shown.numbers[edges.low] + shown.numbers[edges.high]) / 2
            lines.set_array(mean)
            lines.set(norm=colors.mapping.norm, cmap=colors.mapping.cmap)
            points, between = colors.mapping.to_rgba(shown.numbers), colors.mapping.to_rgba(mean)
            rings = points[edges.loops]
        else:
            if isinstance(colors, np.ndarray):
                same = (colors[edges.low] == colors[edges.high]).all(axis=1)
                points, between = colors, np.where(same[:, None], colors[edges.low], to_rgba(theme.line))
                rings = points[edges.loops]
            lines.set_color(between)
        axes.add_collection(lines)
        self._rings(figure, axes, rings, areas)
        if edges.directed and len(ends) <= ARROWS:
            self._heads(axes, ends, between, areas, width)
        axes.scatter(
            places[:, 0], places[:, 1], s=areas, zorder=2, edgecolors=theme.paper, linewidths=0.7, c=points[:, :4]
        )
        axes.margins(0.08)
        axes.autoscale_view()

    def _heads(self, axes: Axes, ends: np.ndarray, colors: np.ndarray, areas: np.ndarray, width: float) -> None:
        """Arrowheads on lines: at the second end (up), at the first (down), or at both."""
        from matplotlib.patches import FancyArrowPatch

        edges, radius = self.edges, np.sqrt(areas) / 2 + 0.5
        style = {(True, False): "-|>", (False, True): "<|-", (True, True): "<|-|>"}
        size = float(np.clip(160 / np.sqrt(len(ends) + 1), 4, 10))
        for k, (start, end) in enumerate(ends):
            how: dict[str, Any] = {"arrowstyle": style[bool(edges.up[k]), bool(edges.down[k])], "color": colors[k]}
            how |= {"linewidth": width / 2, "zorder": 1.5, "mutation_scale": size}
            shrink = {"shrinkA": radius[edges.low[k]], "shrinkB": radius[edges.high[k]]}
            axes.add_patch(FancyArrowPatch(tuple(start), tuple(end), **how, **shrink))

    def _rings(self, figure: Figure, axes: Axes, colors: np.ndarray, areas: np.ndarray) -> None:
        """Rings for self loops, which touch their vertices from the side away from the neighbours."""
        from matplotlib.collections import EllipseCollection
        from matplotlib.transforms import ScaledTranslation

        edges, places, loops = self.edges, self.places, self.edges.loops
        away = away_from_neighbours(places, Ends(edges.low, edges.high))
        for color, vertex in zip(colors, loops.tolist()):
            size = ring_size(float(areas[vertex]))
            x, y = away[vertex] * size * RING / 72
            shift = ScaledTranslation(x, y, figure.dpi_scale_trans)
            ring = EllipseCollection(
                [size], [size], [0.0], units="points", offsets=[places[vertex]], facecolors="none",
                edgecolors=[color], linewidths=1.0, zorder=1.2, offset_transform=axes.transData + shift,
            )  # fmt: skip
            axes.add_collection(ring)

    def large(
        self,
        figure: Figure,
        axes: Axes,
        shown: VertexNumbers | None,
        colors: Scale | np.ndarray | None,
        areas: np.ndarray | None,
    ) -> None:
        """The density of edges, and of vertices: as dots, if there are not too many."""
        from matplotlib.colors import to_rgb

        places, edges, theme = self.places, self.edges, self.theme
        n, placed = len(places), np.flatnonzero(~np.isnan(places).any(axis=1))
        some = density.sample(len(edges.low))
        low, high = edges.low[some], edges.high[some]
        faint = np.ones(len(low))
        if isinstance(colors, np.ndarray):
            points = colors[:, :3]
            same = (points[low] == points[high]).all(axis=1)
            between = np.where(same[:, None], points[low], to_rgb(theme.line))
            faint[~same] = FAINT
        else:
            points = np.zeros((n, 1)) if shown is None else shown.numbers[:, None]
            between = (points[low] + points[high]) / 2
        starts, ends = places[low], places[high]
        dots = len(placed) <= density.DOTS
        if not dots:  # vertices are edges to themselves
            starts, ends = np.concatenate([starts, places[placed]]), np.concatenate([ends, places[placed]])
            between, faint = np.concatenate([between, points[placed]]), np.concatenate([faint, np.ones(len(placed))])
        corner, far = places[placed].min(axis=0, initial=np.inf), places[placed].max(axis=0, initial=-np.inf)
        margin = 0.01 * max(float((far - corner).max()), 1e-9)
        raster = density.rasterize(density.Lines(starts, ends, between, faint), corner - margin, far + margin)
        image = raster.mean()
        if isinstance(colors, Scale):
            image = colors.mapping.to_rgba(image[..., 0])[..., :3]
        elif colors is None:
            image = np.broadcast_to(to_rgb(theme.ink if dots else theme.accent), (*raster.density.shape, 3))
        density.draw(axes, raster, np.where(np.isnan(image), to_rgb(theme.line), image))
        if dots:
            values = np.tile(to_rgb(theme.accent), (n, 1))
            if isinstance(colors, Scale) and shown is not None:
                values = colors.mapping.to_rgba(shown.numbers)[:, :3]
            elif isinstance(colors, np.ndarray):
                values = points
            area = areas if areas is not None else np.full(n, float(np.clip(12000 / n, 0.5, 6)))
            axes.scatter(
                places[placed, 0], places[placed, 1], s=area[placed], c=values[placed], linewidths=0, zorder=2,
                rasterized=True,
            )  # fmt: skip
        said = f"{n:,} vertices, {len(edges.low):,} edges"
        said += f", of which {len(some):,} are drawn" if len(some) < len(edges.low) else ""
        left = n - len(placed)
        said += f"; {short(left)} vertices without a position are left out" if left else ""
        figure.supxlabel(said, x=0.02, ha="left", fontsize=8, color=theme.ink)

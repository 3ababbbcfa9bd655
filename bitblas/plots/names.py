"""Names next to vertices that do not overlap: each at the best of several positions around its vertex; a name without
a free position is left out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .style import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANGLES = np.arange(12) * np.pi / 6
FONT, LONGEST = 9.0, 28  # points; characters of a name
EDGE = 6.0  # pixels that stay free along the edge of the figure
STEP = 6.0  # pixels between the points of an edge that a name should not cover
POINTS = 100_000  # most such points


RING = 0.55  # the distance of a ring's center from its vertex, in diameters of the ring


class Vertices(NamedTuple):
    """Positions, areas in square points, the vertices with a ring, and names."""

    places: np.ndarray
    areas: np.ndarray
    loops: np.ndarray
    names: Sequence[Hashable]


def ring_size(area: float) -> float:
    """The diameter in points of the ring of a self loop at a vertex."""
    return float(max(1.5 * np.sqrt(area), 7.0))


class Ends(NamedTuple):
    """The two vertices of each edge."""

    low: np.ndarray
    high: np.ndarray


def add_names(figure: Figure, axes: Axes, vertices: Vertices, ends: Ends, first: np.ndarray, theme: Theme) -> None:
    """Write the names of the vertices `first`, the most important first."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.font_manager import FontProperties
    from matplotlib.patheffects import withStroke

    canvas = FigureCanvasAgg(figure)
    figure.draw_without_rendering()  # decides where the axes are
    renderer, font = canvas.get_renderer(), FontProperties(size=FONT)
    point = figure.dpi / 72  # pixels of a point
    places, names, loops = vertices.places, vertices.names, vertices.loops
    at = axes.transData.transform(np.nan_to_num(places))
    radius = np.sqrt(vertices.areas) / 2 * point
    away = away_from_neighbours(at, ends)
    edges = _points_on(at, ends)
    rings = np.array([ring_size(area) for area in vertices.areas[loops].tolist()]) * point
    centers = at[loops] + away[loops] * rings[:, None] * RING
    boxes: list[np.ndarray] = []  # left, bottom, right, top
    frame = np.array([EDGE, EDGE, figure.bbox.width - EDGE, figure.bbox.height - EDGE])
    found: dict[int, tuple[str, np.ndarray]] = {}
    for k in first.tolist():
        if np.isnan(places[k]).any():
            continue
        text = str(names[k])
        text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
        width, height, _ = renderer.get_text_width_height_descent(text.replace("$", r"\$"), font, False)
        best: tuple[float, np.ndarray, np.ndarray] | None = None
        for turn in np.argsort(1 - np.cos(ANGLES), kind="stable"):
            angle = np.arctan2(away[k, 1], away[k, 0]) + ANGLES[turn]
            offset = np.array([np.cos(angle), np.sin(angle)]) * (radius[k] + 2.6 * point)
            box = _box(at[k] + offset, offset, width, height)
            if (box[:2] < frame[:2]).any() or (box[2:] > frame[2:]).any() or _overlaps(box, boxes):
                continue
            covered = _covered(box, at, radius) + _covered(box, centers, rings / 2)
            cost = 4.0 * covered + _covered(box, edges, 0.0) + 0.3 * float(turn)
            if best is None or cost < best[0]:
                best = cost, offset, box
        if best is not None:
            boxes.append(best[2])
            found[k] = text, best[1] / point
    for k in sorted(found):
        text, offset = found[k]
        x, y = offset / max(float(np.hypot(*offset)), 1e-300)
        axes.annotate(
            text.replace("$", r"\$"),
            places[k],
            xytext=tuple(offset),
            textcoords="offset points",
            zorder=5,
            color=theme.ink,
            fontsize=FONT,
            path_effects=[withStroke(linewidth=2.5, foreground=theme.paper)],
            ha="left" if x > 0.3 else "right" if x < -0.3 else "center",
            va="bottom" if y > 0.3 else "top" if y < -0.3 else "center",
        ).set_in_layout(False)


def away_from_neighbours(at: np.ndarray, ends: Ends) -> np.ndarray:
    """For each vertex the direction away from its neighbours."""
    toward = np.zeros_like(at)
    apart = at[ends.high] - at[ends.low]
    apart = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-300)
    np.add.at(toward, ends.low, apart)
    np.add.at(toward, ends.high, -apart)
    length = np.linalg.norm(toward, axis=1, keepdims=True)
    return np.where(length > 1e-9, -toward / np.maximum(length, 1e-300), [np.sqrt(0.5), np.sqrt(0.5)])


def _points_on(at: np.ndarray, ends: Ends) -> np.ndarray:
    """Points along the edges, in pixels."""
    start, step = at[ends.low], at[ends.high] - at[ends.low]
    count = np.maximum(1, (np.linalg.norm(step, axis=1) / STEP).astype(np.int64))
    count = np.maximum(1, count // max(1, int(count.sum()) // POINTS))
    edge = np.repeat(np.arange(len(count)), count)
    part = (np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[edge]
    return np.asarray(start[edge] + step[edge] * part[:, None])


def _box(at: np.ndarray, offset: np.ndarray, width: float, height: float) -> np.ndarray:
    """The box of a text whose edge or corner towards the vertex is at a point, with a margin of a pixel."""
    x, y = offset / max(float(np.hypot(*offset)), 1e-300)
    left = at[0] - (0 if x > 0.3 else width if x < -0.3 else width / 2)
    bottom = at[1] - (0 if y > 0.3 else height if y < -0.3 else height / 2)
    return np.array([left - 1, bottom - 1, left + width + 1, bottom + height + 1])


def _overlaps(box: np.ndarray, boxes: list[np.ndarray]) -> bool:
    if not boxes:
        return False
    others = np.stack(boxes)
    return bool(((others[:, :2] < box[2:]) & (others[:, 2:] > box[:2])).all(axis=1).any())


def _covered(box: np.ndarray, points: np.ndarray, radius: np.ndarray | float) -> int:
    """How many points, with this radius, are in the box."""
    near = np.maximum(0, np.maximum(box[:2] - points, points - box[2:]))
    return int(((near**2).sum(axis=1) <= np.square(radius)).sum())

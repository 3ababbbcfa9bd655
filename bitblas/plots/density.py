"""Pictures of large graphs by density: the edges in each pixel, with the mean color or value of what is there."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import tuning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIXELS = 1100  # along the longer side
CHUNK = 1 << 20  # points of edges that are added at once
FAINT = 24.0  # pixels: an edge of this length has half the density of a short one
DOTS = 20_000  # most vertices that have a dot of their own
LEAST = 0.10  # opacity of the least density


class Lines(NamedTuple):
    """Edges to draw: their ends, and what they show, edges x channels: a value, or red, green and blue. visible: a
    factor for the density of each edge."""

    start: np.ndarray
    end: np.ndarray
    shown: np.ndarray
    visible: np.ndarray


def sample(count: int) -> np.ndarray:
    """The edges that a picture of so many edges draws: all, or those with the smallest hashes, in order."""
    most = tuning.count("plots.sampled_edges")
    if count <= most:
        return np.arange(count)
    hashes = (np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    return np.sort(np.argpartition(hashes, most)[:most])


class Raster(NamedTuple):
    """The density of each pixel, that of edges with something to show, and its product with what they show. extent:
    left, right, bottom, top."""

    density: np.ndarray
    known: np.ndarray
    shown: np.ndarray
    extent: tuple[float, float, float, float]

    def mean(self) -> np.ndarray:
        """What is shown in each pixel, NaN if nothing is there."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.shown / self.known[..., None])

    def opacity(self) -> np.ndarray:
        """By rank: equal steps of opacity have equally many pixels, so that both sparse and dense parts are visible."""
        filled = self.density > 0
        levels, which = np.unique(np.round(np.log(self.density[filled]), 2), return_inverse=True)
        rank = np.cumsum(np.bincount(which, minlength=len(levels)))
        found = np.zeros_like(self.density)
        if len(levels):
            found[filled] = LEAST + (1 - LEAST) * rank[which] / rank[-1]
        return found


def rasterize(lines: Lines, low: np.ndarray, high: np.ndarray) -> Raster:
    """Add all edges to a grid of pixels from low to high (x, y): points along each, a pixel apart. Long edges are
    fainter than short ones: they are the ones that make a hairball."""
    cell = max(float((high - low).max()), 1e-300) / PIXELS
    wide, tall = (max(1, int(np.ceil(side / cell))) for side in (high - low))
    channels = lines.shown.shape[1]
    sums = np.zeros((channels + 2, wide * tall))
    start, step = (lines.start - low) / cell, (lines.end - lines.start) / cell
    length = np.linalg.norm(step, axis=1)
    count = np.maximum(1, np.ceil(length)).astype(np.int64)
    weight = lines.visible / (1 + length / FAINT)
    known = ~np.isnan(lines.shown).any(axis=1)
    bounds = np.searchsorted(np.cumsum(count), np.arange(0, int(count.sum()) + CHUNK, CHUNK), side="right")
    for a, b in pairwise(bounds.tolist()):
        edge = np.repeat(np.arange(a, b), count[a:b])
        part = (np.arange(len(edge)) - np.repeat(np.cumsum(count[a:b]) - count[a:b], count[a:b]) + 0.5) / count[edge]
        at = np.clip((start[edge] + step[edge] * part[:, None]).astype(np.int64), 0, (wide - 1, tall - 1))
        place = at[:, 1] * wide + at[:, 0]
        some = weight[edge] * known[edge]
        sums[0] += np.bincount(place, weight[edge], minlength=wide * tall)
        sums[1] += np.bincount(place, some, minlength=wide * tall)
        for k in range(channels):
            sums[k + 2] += np.bincount(place, some * np.nan_to_num(lines.shown[edge, k]), minlength=wide * tall)
    extent = (float(low[0]), float(low[0] + wide * cell), float(low[1]), float(low[1] + tall * cell))
    grids = sums.reshape(-1, tall, wide)
    return Raster(grids[0], grids[1], np.moveaxis(grids[2:], 0, -1), extent)


def draw(axes: Axes, raster: Raster, colors: np.ndarray) -> None:
    """Show a raster with these colors, tall x wide x 3."""
    image = np.clip(np.dstack([colors, raster.opacity()]), 0, 1)  # rounding
    axes.imshow(image, extent=raster.extent, origin="lower", interpolation="nearest", aspect="equal", zorder=1)

"""python docs/plot_pictures.py: draw the pictures of docs/plots.md, into docs/pictures/, for light and dark pages.

The roads are the shipped ones of New York, the communities a random graph, the small graph the order in which parts of
the library are called.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import bitblas as gb
from bitblas import compare, plots

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
WIDTH, COLORS = 760, 200  # of pictures with pixels
CALLS = [
    ("core", "plan", 3), ("core", "operations", 8), ("plan", "formats", 2), ("operations", "formats", 5),
    ("operations", "kernels", 9), ("formats", "kernels", 4), ("kernels", "device", 6), ("loop", "plan", 1),
    ("algorithms", "core", 9), ("algorithms", "loop", 4), ("loop", "kernels", 5), ("loop", "loop", 2),
    ("graph", "algorithms", 6), ("cli", "graph", 3), ("formats", "device", 2), ("plan", "plan", 1), ("core", "loop", 1),
]  # fmt: skip


def roads(dark: bool) -> Figure:
    """All roads of New York by the distance from a crossing."""
    A = gb.io.mmread(compare.demo_path())
    return plots.levels(A, 0, title="The roads of New York", dark=dark)


def communities(dark: bool) -> Figure:
    """A random graph of 24 groups of different sizes."""
    rng = np.random.default_rng(3)
    group = rng.choice(24, 6000, p=(share := 1 / np.arange(2.0, 26)) / share.sum())
    i = rng.integers(0, 6000, 60_000)
    members = np.argsort(group, kind="stable")
    first, size = np.searchsorted(group[members], np.arange(24)), np.bincount(group, minlength=24)
    near = members[first[group[i]] + (rng.random(60_000) * size[group[i]]).astype(int)]
    j = np.where(rng.random(60_000) < 0.96, near, rng.integers(0, 6000, 60_000))
    A = gb.Matrix.from_coo(i, j, True, nrows=6000, ncols=6000)
    graph = gb.Graph(A, directed=True).to_undirected()
    return plots.graph(graph, graph.louvain(), title="Communities", label="community", dark=dark)


def calls(dark: bool) -> Figure:
    """A small directed graph with loops."""
    graph = gb.Graph.from_edges(CALLS, directed=True)
    return plots.graph(
        graph, graph.pagerank(), sizes=graph.matrix.reduce_columnwise(gb.monoid.plus).new(), label="PageRank",
        size_label="calls", title="What calls what", dark=dark,
    )  # fmt: skip


def save_small(figure: Figure, path: Path) -> None:
    """Write a picture with pixels, scaled down, with a palette."""
    pixels = BytesIO()
    plots.save(figure, pixels)
    image = Image.open(pixels).convert("RGB")
    image = image.resize((WIDTH, image.height * WIDTH // image.width), Image.Resampling.LANCZOS)
    image.quantize(COLORS, Image.Quantize.FASTOCTREE).save(path, optimize=True)


def main() -> None:
    with gb.config.set(device="cpu"):
        for draw, kind in ((roads, "png"), (communities, "png"), (calls, "svg")):
            for dark in (False, True):
                figure, path = draw(dark), PICTURES / f"plot-{draw.__name__}-{'dark' if dark else 'light'}.{kind}"
                if kind == "png":
                    save_small(figure, path)
                else:
                    plots.save(figure, path)
                print(path.relative_to(PICTURES.parents[1]), path.stat().st_size)


if __name__ == "__main__":
    main()

"""Pictures: the counts for them, and that they are drawn."""

import io
import sys
import types
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bitblas as gb
from bitblas import algorithms, plots

pytest.importorskip("matplotlib")


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 30), st.integers(0, 60), st.integers(0, 9))
def test_every_entry_is_in_one_square(nrows, ncols, bins, entries, seed):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, nrows, entries), rng.integers(0, ncols, entries)
    sums, (left, right, bottom, top) = plots.binned(rows, cols, np.ones(entries), (nrows, ncols), bins)
    assert sums.sum() == entries and max(sums.shape) <= bins and (left, top) == (-0.5, -0.5)
    edge = (bottom - top) / sums.shape[0]
    assert edge == (right - left) / sums.shape[1]
    for i, j in zip(rows, cols):
        assert sums[int(i // edge), int(j // edge)] > 0


@pytest.mark.parametrize("tile", [4, 8, 64])
def test_tiles(tile):
    rng = np.random.default_rng(3)
    dense = rng.random((100, 70)) < 0.05
    rows, cols = dense.nonzero()
    tile_rows, tile_cols, fill = plots.tiles_of(rows, cols, 70, tile)
    assert fill.sum() == dense.sum()
    for i, j, count in zip(tile_rows, tile_cols, fill):
        assert dense[i * tile : (i + 1) * tile, j * tile : (j + 1) * tile].sum() == count
    A = gb.Matrix.from_coo(rows, cols, True, nrows=100, ncols=70, device="cpu", format="b2sr", tile=tile)
    assert A._store.structure.primary.tiles == len(fill)


def bar(figure, label):
    """The color bar."""
    return next(axes for axes in figure.axes if axes.get_ylabel() == label)


def texts(figure):
    return [text for axes in figure.axes for text in (axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel())]


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (3, 2000), (50, 50), (3000, 3000)])
def test_spy(shape):
    rng = np.random.default_rng(5)
    n = min(5 * shape[0], 5000)
    rows, cols = (rng.integers(0, max(1, size), n) for size in shape)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=shape[0], ncols=shape[1], device="cpu", name="mine")
    figure = plots.spy(A)
    shown = " ".join(texts(figure))
    assert "mine" in shown and f"{A.nvals:,} entries, stored as csr" in shown
    stream = io.BytesIO()
    figure.savefig(stream)
    assert stream.getvalue().startswith(b"\x89PNG")


def test_the_tiles_that_are_stored():
    ring = [*range(1, 6000), 0]
    i, j = [*range(6000), *ring], [*ring, *range(6000)]
    both = gb.Matrix.from_coo(i, j, True, nrows=6000, ncols=6000, device="cpu", format="b2sr")
    assert both.profile().stored == "b2sr8"
    assert "How full the 8 x 8 tiles are" in texts(plots.spy(both))
    assert "How full the 4 x 4 tiles are" in texts(plots.spy(both, tile=4, title="a ring"))
    with pytest.raises(gb.exceptions.InvalidValue, match="tile: expected 4, 8"):
        plots.spy(both, tile=5)


def test_places_are_near_for_what_is_near():
    grid = algorithms.grid_graph(12, 30)
    places = plots.positions(grid)
    rows, cols = (part.tolist() for part in grid.to_coo()[:2])
    steps = np.linalg.norm(places[rows] - places[cols], axis=1)
    assert steps.max() < np.linalg.norm(places[0] - places[-1]) / 10  # 40 edges away
    two = gb.Matrix.from_coo([0, 1, 2, 3], [1, 0, 3, 2], True, nrows=5, ncols=5, device="cpu")
    assert np.isnan(plots.positions(two)[2:]).all() and not np.isnan(plots.positions(two)[:2]).any()
    assert plots.positions(gb.Matrix(bool, 0, 0, device="cpu")).shape == (0, 2)


def test_pictures_of_graphs():
    roads = gb.Graph.from_edges([("Ulm", "Bern"), ("Bern", "Rom"), ("Oslo", "Kiel")], directed=False)
    figure = plots.levels(roads, "Ulm", title="roads")
    assert {"roads", "hops from vertex Ulm"} <= set(texts(figure))
    assert [text.get_text() for text in figure.axes[0].texts] == ["Ulm", "Bern", "Rom", "Oslo", "Kiel"]
    (lines, points) = figure.axes[0].collections
    assert len(lines.get_segments()) == 3 and len(points.get_offsets()) == 5
    assert sorted(x for x in lines.get_array() if x == x) == [0.5, 1.5]
    grid = algorithms.grid_graph(20, 20)
    figure = plots.graph(grid, np.arange(400.0), label="number")
    assert len(figure.axes[0].collections[0].get_segments()) == 760 and "number" in texts(figure)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="values: expected one for each of 400"):
        plots.graph(grid, np.arange(3))
    with pytest.raises(gb.exceptions.DimensionMismatch, match="square"):
        plots.graph(gb.Matrix(bool, 2, 3, device="cpu"))


def test_vertices_edges_and_the_color_bar_share_one_scale():
    """A distance of 16.5 has the color of 16.5 in the bar, also where an edge leads there from 7."""
    graph = gb.Graph.from_edges([("a", "b", 7.0), ("b", "c", 9.5)], directed=True)
    figure = plots.graph(graph, [0.0, 7.0, 16.5], label="distance")
    lines, points = figure.axes[0].collections
    assert bar(figure, "distance").get_ylim() == (0, 16.5) and (lines.norm.vmin, lines.norm.vmax) == (0, 16.5)
    scale = lambda x: lines.cmap(lines.norm(x))
    assert np.allclose(points.get_facecolors(), [scale(0.0), scale(7.0), scale(16.5)])
    assert lines.get_array().tolist() == [3.5, 11.75]


def test_the_color_bar_of_integers_has_integer_ticks():
    grid = algorithms.grid_graph(2, 2)
    for values, whole in ((np.array([0, 1, 1, 2]), True), (np.array([0, 1, 1, 2.0]), False)):
        figure = plots.graph(grid, values, label="edges")
        figure.canvas.draw()
        assert all(tick == int(tick) for tick in bar(figure, "edges").get_yticks()) == whole


def test_directed_graphs_have_arrowheads_and_loops_are_rings():
    edges = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")]
    axes = plots.graph(gb.Graph.from_edges(edges, directed=True)).axes[0]
    lines, rings, points = axes.collections
    arrows = sorted(type(patch.get_arrowstyle()).__name__ for patch in axes.patches)
    assert arrows == ["CurveFilledAB", "CurveFilledB"]
    assert (len(lines.get_segments()), len(rings.get_offsets()), len(points.get_offsets())) == (2, 1, 3)
    axes = plots.graph(gb.Graph.from_edges(edges, directed=False)).axes[0]
    assert not axes.patches and len(axes.collections) == 3
    one_way = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=3, ncols=3, device="cpu")
    assert len(plots.graph(one_way).axes[0].patches) == 2  # a matrix whose pattern is not symmetric


def test_names_are_next_to_their_vertices():
    graph = gb.Graph.from_edges([("a", "b"), ("b", "c")], directed=False)
    axes = plots.graph(graph, places=[[0, 0], [1, 0], [2, 0]]).axes[0]
    assert [(text.get_text(), text.xy) for text in axes.texts] == [("a", (0, 0)), ("b", (1, 0)), ("c", (2, 0))]
    assert [text.get_ha() for text in axes.texts] == ["right", "left", "left"]  # away from the edges
    assert all(np.hypot(*text.xyann) <= 8 for text in axes.texts)


def test_a_timeline_of_kernels(device):
    A, v = algorithms.grid_graph(20, 20), gb.Vector.from_dense([1.0] * 400)
    with gb.trace() as t:
        for _ in range(3):
            v << A.mxv(v, gb.semiring.plus_second)
    pulls = [run for run in t if "plus_second" in run.text]
    assert len(pulls) == 3 and t[0].start == 0.0
    assert all(one.start + one.us <= other.start for one, other in pairwise(t))
    figure = plots.trace(t)
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    label = next(text for text in labels if "plus_second" in text)
    assert label.endswith(f"{sum(run.us for run in pulls):.0f} us in 3") and "LANES" not in label
    shown = [len(bars.get_paths()) for bars in figure.axes[0].collections]
    assert sum(shown) == len(t) and 3 in shown and figure._repr_png_().startswith(b"\x89PNG")
    with gb.trace() as nothing:
        pass
    with pytest.raises(gb.exceptions.InvalidValue, match="expected kernels that ran, got none"):
        plots.trace(nothing)


def test_save(tmp_path):
    figure = gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2, device="cpu").spy(title="mine")
    assert "mine" in texts(figure)
    plots.save(figure, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(gb.exceptions.InvalidValue, match=r"a\.doc: expected a name that ends in \.png"):
        plots.save(figure, tmp_path / "a.doc")
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdf"]


def test_viz(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    networkx = pytest.importorskip("networkx")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 2], [5, 6, 7], nrows=4, ncols=4)
    figure = gb.viz.spy(A, show=False, figsize=(3, 3))
    (points,) = figure.axes[0].lines
    assert sorted(zip(*map(list, points.get_data()))) == [(1, 0), (2, 1), (2, 2)]  # columns, rows
    assert figure.get_size_inches().tolist() == [3, 3] and not pyplot.get_fignums()
    axes = gb.viz.spy(A.T, show=False, centered=True, markersize=3).axes[0]
    assert gb.viz.spy(A, show=False, axes=axes) is axes.figure and len(axes.lines) == 2
    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.get_fignums()))
    gb.viz.spy(A)
    drawn = {}
    monkeypatch.setattr(networkx, "draw_networkx_edge_labels", lambda g, at, edge_labels: drawn.update(edge_labels))
    gb.viz.draw(A)
    assert drawn == {(0, 1): 5, (1, 2): 6, (2, 2): 7} and len(shown) == 2
    pyplot.close("all")
    with pytest.raises(TypeError, match="draw: expected a Matrix"):
        gb.viz.draw(gb.Vector(int, 3))
    with pytest.raises(gb.exceptions.DimensionMismatch):
        gb.viz.draw(gb.Matrix(int, 2, 3))


class Shown:
    """A picture that hvplot would make, or several."""

    def __init__(self, *of, **how):
        self.said = [*of, how]

    def opts(self, **how):
        tools = [tool.said for tool in how.pop("tools")]
        self.said += [how, tools]
        return self

    def cols(self, number):
        self.said = [[one.said for one in self.said[0]], number]
        return self


class Scatter:
    def __init__(self, frame):
        self.frame = frame

    def scatter(self, **how):
        return Shown(self.frame.to_numpy().tolist(), **how)


def test_datashade_says_what_python_graphblas_says(monkeypatch):
    """With fakes of hvplot and related libraries; test_datashade_draws uses the libraries if they are installed."""
    oracle, pandas = pytest.importorskip("graphblas"), pytest.importorskip("pandas")
    fakes = {name: types.ModuleType(name) for name in ("datashader", "hvplot", "hvplot.pandas", "holoviews", "bokeh")}
    fakes["bokeh.models"] = fakes["bokeh"].models = types.ModuleType("bokeh.models")
    fakes["bokeh.models"].HoverTool = fakes["holoviews"].Layout = fakes["holoviews"].Empty = Shown
    fakes["hvplot"].pandas = fakes["hvplot.pandas"]
    for name, module in fakes.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(pandas.DataFrame, "hvplot", property(Scatter), raising=False)
    for name in ("bk", "hv", "hp", "ds"):
        monkeypatch.delattr(oracle.viz, name, raising=False)
    for agg, how in (
        ("count", {}), ("mean", {"height": 300, "cmap": "blues", "opts_kwargs": {"bgcolor": "white"}}),
        (["count", "sum"], {}), ([["count", "min"], "max", [None, "sum"]], {"width": 600, "rot": 0}), ([], {}),
    ):  # fmt: skip
        said = []
        for lib in (gb, oracle):
            A = lib.Matrix.from_coo([0, 1, 2], [1, 2, 2], [5, 6, 7], nrows=4, ncols=3)
            shown = lib.viz.datashade(A, agg, **how)
            said.append(shown if shown is None else shown.said)
        assert said[0] == said[1]
    with pytest.raises(TypeError, match="datashade: expected a Matrix"):
        gb.viz.datashade(gb.Vector(int, 3))
    monkeypatch.setitem(sys.modules, "hvplot.pandas", None)
    with pytest.raises(ImportError, match=r"datashade needs hvplot and datashader .*pip install datashader hvplot"):
        gb.viz.datashade(gb.Matrix(int, 2, 2))


@pytest.mark.slow
def test_datashade_draws():
    pytest.importorskip("datashader")
    holoviews = pytest.importorskip("holoviews")
    pytest.importorskip("hvplot.pandas")
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 2], [5, 6, 7], nrows=4, ncols=3)
    assert isinstance(gb.viz.datashade(A), holoviews.DynamicMap)
    assert isinstance(gb.viz.datashade(A, [["count", "sum"], ["max"]]), holoviews.Layout)


def test_classes_have_colors_of_their_own():
    """Of 25 components the first 20 differ; the largest are listed, by name; edges between two are gray."""
    ties = [(f"v{k}", f"v{k}x") for k in range(25)] + [("v0", "v0y")]
    graph = gb.Graph.from_edges(ties, directed=False)
    with gb.config.set(device="cpu"):
        found = graph.connected_components()
        figure = plots.graph(graph, found, places=np.random.default_rng(1).random((len(graph), 2)))
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[0] == "v0: 3 vertices" and len(legend) == 13 and legend[-1] == ".. 13 more"
    lines, points = figure.axes[0].collections
    assert len(np.unique(points.get_facecolors(), axis=0)) == 20
    assert len(lines.get_colors()) == 26 and len(figure.axes) == 1
    apart = plots.graph(graph, np.arange(len(graph)), classes=True, places=np.zeros((len(graph), 2)))
    assert len(np.unique(apart.axes[0].collections[0].get_colors(), axis=0)) == 1

"""Pictures of graphs: layouts, names, sizes and scales, densities of large graphs, and the command `draw`."""

import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import bitblas as gb
from bitblas import algorithms, plots
from bitblas.cli import main
from bitblas.exceptions import DimensionMismatch, InvalidValue

pytest.importorskip("matplotlib")

from bitblas.plots import density


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def cliques(count, size, seed=0):
    """Some cliques, joined in a ring, as a Graph."""
    rng = np.random.default_rng(seed)
    number = rng.permutation(count * size).reshape(count, size)
    pairs = [(a, b) for part in number.tolist() for a in part for b in part if a < b]
    pairs += [(int(number[k, 0]), int(number[(k + 1) % count, 1])) for k in range(count)]
    return gb.Graph.from_edges(pairs, directed=False), number


def lengths(places, graph):
    i, j = (np.asarray(part) for part in graph.matrix.to_coo()[:2])
    return np.linalg.norm(places[i] - places[j], axis=1)


# ---- layouts


@pytest.mark.parametrize("size", [(5, 6), (25, 30)])
def test_distances_in_the_picture_are_distances_in_the_graph(size):
    grid = gb.Graph(algorithms.grid_graph(*size), directed=False)
    places = plots.layout(grid)
    found = lengths(places, grid)
    assert found.max() < 2.5 * np.median(found)
    hops = algorithms.bfs_levels(grid.matrix, 0).to_dense()
    assert np.corrcoef(hops, np.linalg.norm(places - places[0], axis=1))[0, 1] > 0.9
    # it lowers the stress of where it starts
    d = np.stack([algorithms.bfs_levels(grid.matrix, k).to_dense() for k in range(0, len(hops), 7)])
    at = np.arange(0, len(hops), 7)

    def stress(x):
        far = np.linalg.norm(x[at, None] - x[None], axis=2)
        x = x * (d * far).sum() / (far * far).sum()
        far = np.linalg.norm(x[at, None] - x[None], axis=2)
        return ((far - d)[d > 0] ** 2 / d[d > 0] ** 2).sum()

    assert stress(places) < stress(plots.positions(grid.matrix))


def test_forces_separate_communities():
    graph, number = cliques(30, 14)
    places = plots.layout(graph, "forces")
    centers = places[number].mean(axis=1)
    inside = np.linalg.norm(places[number] - centers[:, None], axis=2).max(axis=1)
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2) + 1e9 * np.eye(30)
    assert np.median(inside) < 0.5 * np.median(apart.min(axis=1))


def test_the_same_graph_has_the_same_layout():
    graph, _ = cliques(25, 14)
    assert np.array_equal(plots.layout(graph), plots.layout(graph))


@pytest.mark.parametrize("method", ["auto", "stress", "forces", "spring", "spectral"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
@pytest.mark.filterwarnings("ignore::bitblas.exceptions.ConvergenceWarning")  # fewer vertices than axes
def test_small_layouts(method, n):
    A = gb.Matrix.from_coo(range(max(n - 1, 0)), range(1, n), 3, nrows=n, ncols=n) if n > 1 else gb.Matrix(int, n, n)
    places = plots.layout(A, method)
    assert places.shape == (n, 2) and np.isfinite(places).all()
    if method != "spectral":
        assert len(np.unique(places.round(6), axis=0)) == n


def test_components_have_areas_of_their_own(tune):
    """Also those beyond the ones with a layout of their own, and vertices without edges."""
    tune({"plots.components": 3})
    edges, first = [], 0
    for size in (12, 9, 5, 4, 3, 2, 2):
        edges += [(first + k, first + k + 1) for k in range(size - 1)]
        first += size
    i, j = np.array(edges).T
    A = gb.Matrix.from_coo(i, j, True, nrows=first + 6, ncols=first + 6)
    places = plots.layout(A)
    part = algorithms.connected_components(A.ewise_add(A.T, gb.binary.lor).new()).to_dense()
    boxes = [(places[part == k].min(axis=0), places[part == k].max(axis=0)) for k in np.unique(part)]
    assert len(boxes) == 13
    for k, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:k]:
            assert (low > other_high).any() or (high < other_low).any()


@pytest.mark.parametrize("method", ["kamada", None])
def test_unknown_layouts(method):
    with pytest.raises(InvalidValue, match="method: expected auto, stress, forces, spring or spectral, got"):
        plots.layout(gb.Matrix(bool, 2, 2), method)
    with pytest.raises(TypeError, match="A: expected a Graph or a Matrix, got"):
        plots.layout([[0, 1]])


# ---- names, sizes, scales


def boxes_of_names(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    return [text.get_window_extent(renderer) for text in figure.axes[0].texts]


def test_names_do_not_overlap():
    names = [f"a vertex with number {k}" for k in range(40)]
    rng = np.random.default_rng(2)
    edges = [(names[a], names[b]) for a, b in rng.integers(0, 40, (120, 2)).tolist()]
    figure = plots.graph(gb.Graph.from_edges(edges, directed=True), places=rng.random((40, 2)))
    boxes = boxes_of_names(figure)
    assert 15 < len(boxes) <= 40
    shrunk = [(box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y1 - 1) for box in boxes]
    for k, (x0, y0, x1, y1) in enumerate(shrunk):
        assert min(x0, y0) >= 0 and x1 <= figure.bbox.width and y1 <= figure.bbox.height
        assert not any(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in shrunk[:k])


def test_the_largest_vertices_have_names():
    graph, _ = cliques(10, 12)
    value = np.arange(120.0)
    shown = lambda **how: {text.get_text() for text in plots.graph(graph, value, **how).axes[0].texts}
    assert shown() == set()  # without names, numbers of a larger graph are not shown
    assert shown(names=3) == {"119", "118", "117"}
    assert shown(names=2, sizes=value[::-1]) == {"0", "1"}
    with pytest.raises(InvalidValue, match="names: expected a number of 0 or more, got -1"):
        shown(names=-1)


def test_dollars_are_text():
    figure = plots.graph(gb.Graph.from_edges([("$a$", "b_$1")], directed=False))
    plots.save(figure, open_sink())
    assert len(figure.axes[0].texts) == 2


def open_sink():
    import io

    return io.BytesIO()


def test_areas_are_in_proportion_to_values():
    graph = gb.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")], directed=False)
    figure = plots.graph(graph, sizes={"a": 100, "b": 50, "c": 25}, size_label="weight")
    areas = figure.axes[0].collections[-1].get_sizes()
    assert areas[0] == 2 * areas[1] == 4 * areas[2] and areas[3] == 4
    (legend,) = figure.legends
    marks = {float(text.get_text()): handle.get_markersize() for text, handle in
             zip(legend.get_texts(), legend.legend_handles)}  # fmt: skip
    assert legend.get_title().get_text() == "weight" and max(marks) == 80
    assert all(np.isclose(size**2, areas[0] * value / 100) for value, size in marks.items())
    for bad in (-1.0, float("inf")):
        with pytest.raises(InvalidValue, match=f"sizes: expected finite numbers, 0 or more, got {bad:g}"):
            plots.graph(graph, sizes=[1.0, 2.0, bad, 0.0])


def scale_norm(values, **how):
    grid = algorithms.grid_graph(2, len(values) // 2)
    return plots.graph(grid, values, **how).axes[0].collections[0].norm


def test_scales():
    from matplotlib.colors import LogNorm

    ranks = np.array([1.0, 1, 1, 2, 2, 300])
    assert isinstance(scale_norm(ranks), LogNorm)
    linear = scale_norm(ranks, scale="linear")
    assert not isinstance(linear, LogNorm) and (linear.vmin, linear.vmax) == (1, 300)
    around = scale_norm(np.array([-2.0, 0, 1, 4, 0, 0]))
    assert (around.vmin, around.vmax) == (-4, 4) and around(0.0) == 0.5
    assert not isinstance(scale_norm(np.array([0, 1, 1, 1, 1, 500.0])), LogNorm)
    with pytest.raises(
        InvalidValue, match=r"scale: expected linear for values that are not positive, got log and .* 0"
    ):
        scale_norm(np.arange(6.0), scale="log")
    with pytest.raises(InvalidValue, match="scale: expected auto, linear or log, got 'cubic'"):
        scale_norm(ranks, scale="cubic")


@pytest.mark.parametrize(
    ("values", "error", "match"),
    [
        ([1, 2], DimensionMismatch, r"values: expected one for each of 3 vertices, got \(2,\)"),
        (gb.Vector(int, 4), DimensionMismatch, "values: expected one for each of 3 vertices, got a Vector of size 4"),
        ({"a": 1, "z": 2}, InvalidValue, "values: .*'z'"),
        (["x", "y", "z"], InvalidValue, "values: expected real numbers, got values of type <U1"),
        ([1j, 2, 3], InvalidValue, "values: expected real numbers, got values of type complex128"),
    ],
)
def test_wrong_values(values, error, match):
    graph = gb.Graph.from_edges([("a", "b"), ("b", "c")], directed=False)
    with pytest.raises(error, match=match):
        plots.graph(graph, values)
    with pytest.raises(error, match=match.replace("values", "sizes", 1)):
        plots.graph(graph, sizes=values)


def test_mappings_of_a_matrix_use_numbers():
    ring = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3)
    lines = plots.graph(ring, {0: 1.0, 2: 3.0}).axes[0].collections[0]
    assert sorted(x for x in lines.get_array() if x == x) == [2.0]
    with pytest.raises(InvalidValue, match="values: expected vertices from 0 to 2, got 3"):
        plots.graph(ring, {3: 1.0})


# ---- pictures of density


def image_of(figure):
    (image,) = figure.axes[0].images
    return np.asarray(image.get_array())


def test_every_edge_and_vertex_is_in_the_picture():
    rng = np.random.default_rng(5)
    start, end = rng.random((2, 3000, 2))
    value = rng.random((3000, 1))
    raster = density.rasterize(density.Lines(start, end, value, np.ones(3000)), np.zeros(2), np.ones(2))
    length = np.linalg.norm((end - start) * density.PIXELS, axis=1)
    points = np.maximum(1, np.ceil(length))
    weight = 1 / (1 + length / density.FAINT)
    assert np.isclose(raster.density.sum(), (points * weight).sum())
    assert np.isclose(raster.shown.sum(), (points * weight * value[:, 0]).sum())
    tall, wide = raster.density.shape
    for corner in (start, end):  # the pixel of each end, or one next to it
        x, y = (np.minimum((corner[:, k] * density.PIXELS).astype(int), size - 1) for k, size in ((0, wide), (1, tall)))
        around = sum(
            raster.density[np.clip(y + i, 0, tall - 1), np.clip(x + j, 0, wide - 1)]
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
        )
        assert (around > 0).all()
    mean = raster.mean()[raster.density > 0]
    assert mean.min() >= value.min() and mean.max() <= value.max()


def test_opacity_is_a_rank():
    grid = np.array([[0.0, 1.0], [10.0, 1e6]])
    raster = density.Raster(grid, grid, grid[..., None], (0, 1, 0, 1))
    least = density.LEAST
    steps = [0, least + (1 - least) / 3, least + 2 * (1 - least) / 3, 1]
    assert np.allclose(raster.opacity().ravel(), steps)


def test_a_large_graph_is_a_picture_of_density(tune):
    tune({"plots.node_link_vertices": 100, "plots.sampled_edges": 900})
    graph, number = cliques(30, 14)
    figure = plots.graph(graph, np.arange(420.0), title="large", label="number")
    assert len(figure.axes[0].patches) == 0 and figure.axes[0].get_title(loc="left") == "large"
    assert figure.get_supxlabel() == "420 vertices, 2,760 edges, of which 900 are drawn"
    image = image_of(figure)
    assert 0.001 < (image[..., 3] > 0).mean() < 0.7
    kind = np.zeros(420)
    kind[number[:15].ravel()] = 1
    filled = image_of(plots.graph(graph, kind, classes=True))
    colors = np.unique(filled[filled[..., 3] > 0][:, :3].round(2), axis=0)
    assert len(colors) > 2 and plots.graph(graph, kind, classes=True).legends
    tune({"plots.node_link_vertices": 100, "plots.sampled_edges": 100_000})
    assert plots.graph(graph).get_supxlabel() == "420 vertices, 2,760 edges"


def test_samples_are_the_same_and_spread(tune):
    tune({"plots.sampled_edges": 1000})
    some = density.sample(100_000)
    assert len(np.unique(some)) == 1000 and np.array_equal(some, density.sample(100_000))
    assert (np.bincount(some // 10_000) > 60).all() and len(density.sample(1000)) == 1000


def test_vertices_without_a_position_are_left_out(tune):
    tune({"plots.node_link_vertices": 3})
    ring = gb.Matrix.from_coo(range(6), [1, 2, 3, 4, 5, 0], True, nrows=6, ncols=6)
    places = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [np.nan, np.nan], [0, 0.5]])
    figure = plots.graph(ring, np.arange(6), places=places)
    assert figure.get_supxlabel() == "6 vertices, 4 edges; 1 vertices without a position are left out"
    with pytest.raises(DimensionMismatch, match=r"places: expected an array of shape \(6, 2\), got \(6, 3\)"):
        plots.graph(ring, places=np.zeros((6, 3)))


@pytest.mark.parametrize("dark", [False, True])
def test_one_style_light_and_dark(dark):
    from matplotlib.colors import to_hex

    ring = gb.Matrix.from_coo(range(6), [1, 2, 3, 4, 5, 0], 2.0, nrows=6, ncols=6, name="ring")
    with gb.trace() as t:
        ring.mxv(gb.Vector.from_dense([1.0] * 6)).new()
    figures = [
        plots.graph(ring, np.arange(6), label="x", dark=dark),
        plots.levels(ring, 1, dark=dark),
        plots.degrees(ring, dark=dark),
        plots.spy(ring, dark=dark),
        plots.trace(t, dark=dark),
    ]
    theme = plots.style.theme_of(dark)
    for figure in figures:
        assert to_hex(figure.get_facecolor()) == theme.paper
        assert {to_hex(axes.title.get_color()) for axes in figure.axes if axes.get_title(loc="left")} <= {"#000000"}
        titles = [axes._left_title for axes in figure.axes if axes.get_title(loc="left")]
        assert titles and {text.get_color() for text in titles} == {theme.ink}
    with pytest.raises(TypeError, match="dark: expected True or False, got 'yes'"):
        plots.degrees(ring, dark="yes")
    unnamed = gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2)  # named M_ and a number
    assert [plots.degrees(A).axes[0].get_title(loc="left") for A in (ring, unnamed)] == ["ring", ""]


def test_degrees():
    A = gb.Matrix.from_coo([0, 0, 0, 1, 2], [1, 2, 3, 2, 2], True, nrows=6, ncols=6)
    out, into = plots.degrees(A, title="mine").axes[0].lines
    assert list(zip(*out.get_data())) == [(1, 3), (3, 1)] and list(zip(*into.get_data())) == [(1, 3), (3, 1)]
    label = plots.degrees(A).axes[0].get_xlabel()
    assert label == "degree: 0.833 on average, 3 at most; 2 of 6 vertices have none"
    both = A.ewise_add(A.T, gb.binary.lor).new()
    assert len(plots.degrees(both).axes[0].lines) == 1
    assert len(plots.degrees(gb.Graph(both, directed=True)).axes[0].lines) == 2
    plots.save(plots.degrees(gb.Matrix(bool, 0, 0)), open_sink())


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    for kind in ("svg", "png", "pdf"):
        for name in "ab":
            graph, _ = cliques(4, 5)
            plots.save(plots.graph(graph, title="same"), tmp_path / f"{name}.{kind}")
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_without_matplotlib(monkeypatch, tmp_path, capsys):
    import sys

    ring = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3)
    gb.io.mmwrite(tmp_path / "ring.mtx", ring)
    plots.style._picture.cache_clear()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    try:
        for call in (plots.graph, plots.degrees, plots.levels, plots.spy):
            with pytest.raises(ImportError, match=r"pictures need matplotlib .*pip install matplotlib"):
                call(ring)
        assert main(["draw", str(tmp_path / "ring.mtx"), "--out", str(tmp_path / "a.png")]) == 2
        assert "pip install matplotlib" in capsys.readouterr().err and not (tmp_path / "a.png").exists()
    finally:
        plots.style._picture.cache_clear()


# ---- the command


@pytest.fixture
def friends(tmp_path):
    path = tmp_path / "friends.csv"
    path.write_text("Anna,Ben\nBen,Cleo\nCleo,Anna\nCleo,Dora\nDora,Emil\nEmil,Fynn\nDora,Fynn\n")
    return str(path)


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_draw(capsys, friends, tmp_path, suffix):
    out = tmp_path / f"a.{suffix}"
    assert main(["draw", friends, "--undirected", "--out", str(out), "--json", "--vertex-size", "degree"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["color"] == "communities" and record["nrows"] == 6 and record["out"] == str(out)
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert out.read_bytes().startswith(start)
    if suffix == "svg":
        ElementTree.parse(out)


@pytest.mark.parametrize("color", ["components", "degree", "pagerank", "core", "levels", "none"])
def test_colors_of_the_command(capsys, friends, tmp_path, color):
    out = tmp_path / "a.png"
    source = ["--source", "Ben"] if color == "levels" else []
    assert main(["draw", friends, "--directed", "--out", str(out), "--color", color, "--dark", *source]) == 0
    assert out.stat().st_size > 5000 and "6 vertices, 7 entries" in capsys.readouterr().out


def test_values_of_an_algorithm(capsys, friends, tmp_path):
    values, out = tmp_path / "ranks.tsv", tmp_path / "a.png"
    assert main(["pagerank", friends, "--directed", "--out", str(values), "--output-header"]) == 0
    assert main(["draw", friends, "--directed", "--values", str(values), "--out", str(out)]) == 0 and out.exists()
    capsys.readouterr()
    values.write_text("Anna\t1\nZoe\t2\n")
    assert main(["draw", friends, "--directed", "--values", str(values), "--out", str(tmp_path / "b.png")]) == 2
    assert "--values: " in (said := capsys.readouterr().err) and "Zoe" in said
    values.write_text("Anna\tmuch\n")
    assert main(["draw", friends, "--directed", "--values", str(values), "--out", str(tmp_path / "b.png")]) == 2
    assert "expected a vertex and a number in each line" in capsys.readouterr().err
    assert not (tmp_path / "b.png").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--out", "a.doc"], "a.doc: expected a name that ends in .png, .svg, .pdf"),
        (["--out", "a.png", "--source", "Ben"], "--source: expected together with --color levels"),
        (["--out", "a.png", "--color", "levels", "--source", "Zoe"], "--source: .*Zoe"),
        (["--out", "a.png", "--layout", "round"], "expected one of auto, stress"),
        (["--out", "a.png", "--names", "-3"], "names: expected a number of 0 or more, got -3"),
        (["--out", "no/such/a.png"], "No such file or directory"),
        ([], "--out"),
    ],
)
def test_bad_calls_write_nothing(capsys, friends, tmp_path, monkeypatch, more, said):
    monkeypatch.chdir(tmp_path)
    assert main(["draw", friends, "--directed", *more]) == 2
    assert re.search(said, capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["friends.csv"]

"""One rule decides whether edges are directed, for every source: they are, unless directed=False or the source says
otherwise; and a graph that is written and read again is the same."""

import io
import warnings

import numpy as np
import pytest
import scipy.sparse
from cli_runs import refused, run

import bitblas as gb
from bitblas import Graph
from bitblas.exceptions import DimensionMismatch, InvalidValue

pytestmark = pytest.mark.usefixtures("on_the_cpu")

BOTH = r"every edge is present in both directions: pass directed=False if the graph is undirected"
EDGES = {"pairs": [("a", "b"), ("b", "a")], "weights": [("a", "b", 3), ("b", "a", 3)]}
SIF = "a pp b\nb pp a\n"


def by_table(make, frame=dict):
    def read(edges, **options):
        columns = dict(zip(("source", "target", "weight"), map(list, zip(*edges))))
        return make(frame(columns), weight="weight" if "weight" in columns else None, **options)

    return read


def from_file(kind, mark):
    def read(edges, **options):
        text = "".join(mark.join(map(str, edge)) + "\n" for edge in edges)
        return Graph.read(io.StringIO(text), kind, **options)

    return read


ENTRANCES = {
    "from_edges": Graph.from_edges, "from_table": by_table(Graph.from_table),
    "from_table of pandas": by_table(Graph.from_table, lambda x: pytest.importorskip("pandas").DataFrame(x)),
    "io.from_table": by_table(gb.io.from_table), "csv": from_file("csv", ","), "tsv": from_file("tsv", "\t"),
    "edges": from_file("edges", " "),
    "sif": lambda edges, **options: Graph.read(io.StringIO(SIF), "sif", **options),
    "coordinates": lambda edges, **options: Graph.from_edges([((0, a), (0, b), *w) for a, b, *w in edges], **options),
}  # fmt: skip


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES)
def test_lists_of_edges_are_directed_unless_directed_is_false(entrance, edges):
    read = ENTRANCES[entrance]
    with pytest.warns(UserWarning, match=BOTH) as said:
        found = read(edges)
    assert len(said) == 1 and found.directed and found.number_of_edges() == 2
    assert list(dict(found.degree()).values()) == [2, 2] and "Graph(directed, " in repr(found)
    weight = 3 if len(edges[0]) == 3 and entrance != "sif" else 1
    for directed, count in ((True, 2), (False, 1)):  # without a warning
        again = read(edges, directed=directed)
        assert again.directed == directed and again.number_of_edges() == count
        assert again.matrix.isequal(found.matrix, check_dtype=True)
        assert list(dict(again.degree(weighted=True)).values()) == [count * weight] * 2


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_directed_is_true_or_false(entrance):
    found = ENTRANCES[entrance]([("a", "b")] if entrance != "sif" else [], directed=np.bool_(False))
    assert not found.directed and found.matrix.nvals == 2
    with pytest.raises(TypeError, match="directed: expected True, False or None, got 'no'"):
        ENTRANCES[entrance]([("a", "b")], directed="no")


def test_no_warning_without_every_reverse():
    """One edge has none, or another weight; there are loops alone, or no edge."""
    for edges in (
        [("a", "b"), ("b", "a"), ("a", "c")], [("a", "b", 3), ("b", "a", 4)], [("a", "a")],
        [("a", "a", 2), ("b", "b", 2)], [("a", "b")],
    ):  # fmt: skip
        for entrance in ("from_edges", "from_table", "csv"):
            assert ENTRANCES[entrance](edges).directed, edges
    assert Graph.from_edges([]).directed
    with pytest.warns(UserWarning, match=BOTH):
        assert Graph.from_edges([("a", "a"), ("a", "b"), ("b", "a")]).directed


def test_chunks_follow_the_same_rule(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,3\nb,a,3\n")
    for chunked in (True, False):
        with pytest.warns(UserWarning, match=BOTH) as said:
            assert Graph.read(path, chunked=chunked).number_of_edges() == 2
        assert len(said) == 1
        assert Graph.read(path, chunked=chunked, directed=False).number_of_edges() == 1
        assert Graph.read(path, chunked=chunked, directed=True).number_of_edges() == 2


def test_attributes_are_read_with_one_warning():
    found = {"source": [1, 2], "target": [2, 1], "km": [3, 3], "lanes": [2, 2]}
    with pytest.warns(UserWarning) as said:
        graph = Graph.from_table(found, weight="km", attributes=["lanes"])
    assert [str(one.message).partition(": ")[2][:9] for one in said] == ["vertex 0 ", "every edg"]
    assert graph.directed and graph.by("lanes").matrix.to_dicts() == {1: {2: 2}, 2: {1: 2}}


def test_libraries_state_the_direction():
    networkx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    ways = networkx.DiGraph([("a", "b"), ("b", "a")])
    assert Graph.from_networkx(ways).directed and not Graph.from_networkx(ways.to_undirected()).directed
    for directed in (True, False):
        assert Graph.from_igraph(igraph.Graph([(0, 1), (1, 0)][: 1 + directed], directed=directed)).directed == directed


@pytest.mark.parametrize("chunked", [True, False])
def test_matrix_market_states_the_direction_as_its_symmetry(tmp_path, chunked):
    path = tmp_path / "a.mtx"

    def read(head, **options):
        path.write_text(f"%%MatrixMarket matrix coordinate integer {head}\n")
        return Graph.read(path, chunked=chunked, **options)

    symmetric, general = "symmetric\n3 3 2\n2 1 5\n3 3 6", "general\n3 3 2\n2 1 5\n1 2 5"
    found = read(symmetric)
    assert not found.directed and found.number_of_edges() == 2
    assert read(symmetric, directed=True).number_of_edges() == 3
    assert read(symmetric, directed=False, dup_op="plus").matrix.isequal(found.matrix)
    with pytest.warns(UserWarning, match=BOTH):
        assert read(general).directed
    assert read(general, directed=False).number_of_edges() == 1
    assert read("skew-symmetric\n3 3 1\n2 1 5").matrix.to_dicts() == {0: {1: -5}, 1: {0: 5}}


def test_files_of_matrices_are_read_both_ways_when_asked(tmp_path):
    """The lesser of two values with a warning, or what dup_op makes of them."""
    A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [5, 2, 4], nrows=3, ncols=3)
    for name in ("a.mtx", "a.npz", "a.bitblas"):
        gb.io.write(tmp_path / name, A)
        assert Graph.read(tmp_path / name).directed
        with pytest.warns(UserWarning, match="in both directions with different values; the smaller is kept"):
            found = Graph.read(tmp_path / name, directed=False)
        assert not found.directed and found.matrix.to_dicts() == {0: {1: 2}, 1: {0: 2, 2: 4}, 2: {1: 4}}
        found = Graph.read(tmp_path / name, directed=False, dup_op="plus")
        assert found.matrix.to_dicts() == {0: {1: 7}, 1: {0: 7, 2: 4}, 2: {1: 4}}
        gb.io.write(tmp_path / name, gb.Matrix.from_coo([0], [1], 1, nrows=2, ncols=3))
        assert Graph.read(tmp_path / name).matrix.shape == (2, 3)
        with pytest.raises(DimensionMismatch, match="directed=False: expected a square matrix, got 2 x 3"):
            Graph.read(tmp_path / name, directed=False)


GRAPHS = {
    "directed": ([(0, 1, 2), (1, 2, 3)], True),
    "directed, both ways": ([(0, 1, 2), (1, 0, 2), (1, 2, 3), (2, 1, 3)], True),
    "directed, without weights": ([(0, 1), (1, 0)], True), "undirected": ([(0, 1, 2), (1, 2, 3), (2, 2, 4)], False),
    "undirected, without weights": ([(0, 1), (1, 2)], False),
    "names": ([("x", "y", 1.5), ("y", "z", 2.5)], False), "names, directed": ([("x", "y", 1), ("y", "x", 1)], True),
}  # fmt: skip


def same(one, other, names):
    assert one.directed == other.directed and one.number_of_edges() == other.number_of_edges()
    assert one.matrix.isequal(other.matrix, check_dtype=True)
    assert not names or one.labels == other.labels


@pytest.mark.parametrize("edges, directed", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("kind", ["csv", "tsv", "edges", "csv.gz", "npz", "mtx", "mtx.gz", "bitblas", "parquet"])
def test_a_file_gives_the_same_graph_back(tmp_path, kind, edges, directed):
    """Files that can state whether a graph is directed do; lists of edges are read with directed=."""
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    graph, path = Graph.from_edges(edges, directed=directed), tmp_path / f"a.{kind}"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a file of format .* cannot store the names")
        graph.write(path)
    states = kind in ("npz", "mtx", "mtx.gz", "bitblas", "parquet")
    both = directed and len(edges) % 2 == 0 and edges[0][0] == edges[1][1]
    if kind.startswith("mtx") and both:
        states = False  # a general matrix, as those of any graph whose edges lead one way
    names = kind not in ("npz", "mtx", "mtx.gz")
    same(Graph.read(path, **({} if states else {"directed": directed})), graph, names)
    same(Graph.read(path, directed=directed), graph, names)
    if not states and not directed:
        with pytest.warns(UserWarning, match=BOTH):
            assert Graph.read(path).directed
    if kind in ("csv", "tsv", "edges"):
        assert path.read_text().count("\n") == (graph.number_of_edges() if directed else graph.matrix.nvals)
        if not directed:
            graph.write(path, directed=False)
            assert path.read_text().count("\n") == graph.number_of_edges()
            same(Graph.read(path, directed=False), graph, names)


def test_others_read_files_that_state_the_direction(tmp_path):
    graph = Graph.from_edges([(0, 1, 2), (1, 2, 3)], directed=False)
    for layout in ("csr", "csc", "coo"):
        for compressed in (True, False):
            graph.write(tmp_path / "a.npz", layout=layout, compressed=compressed)
            assert (scipy.sparse.load_npz(tmp_path / "a.npz").todense() == graph.matrix.to_dense(0)).all()
            assert not Graph.read(tmp_path / "a.npz").directed
    scipy.sparse.save_npz(tmp_path / "b.npz", scipy.sparse.csr_array(np.array([[0, 1], [1, 0]])))
    with pytest.warns(UserWarning, match=BOTH):
        assert Graph.read(tmp_path / "b.npz").directed
    np.savez(tmp_path / "c.npz", **np.load(tmp_path / "b.npz"), directed=np.arange(2))
    with pytest.raises(InvalidValue, match=r"directed as an array of \(2,\)"):
        Graph.read(tmp_path / "c.npz")


@pytest.mark.filterwarnings("always")
def test_commands_follow_the_same_rule(capsys, tmp_path):
    """Commands have flags, which the warning names; files of `convert` and `make` state the direction."""
    path = tmp_path / "a.csv"
    path.write_text("a,b,3\nb,a,3\n")
    said = "every edge is present in both directions: pass --undirected if the graph is undirected, --directed if not\n"
    for options, words, warned in (
        ([], "2 directed edges", said), (["--directed"], "2 directed edges", ""),
        (["--undirected"], "2 (both ways) edges", ""),
    ):  # fmt: skip
        status, out, err = run(capsys, "info", path, "--device", "cpu", *options)
        assert status == 0 and words in out and err.endswith(warned) and bool(err) == bool(warned), options
        for kind in ("npz", "mtx", "bitblas"):
            other = tmp_path / f"b.{kind}"
            assert run(capsys, "convert", path, "--out", other, *options)[0] == 0
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                if kind == "mtx" and options != ["--undirected"]:
                    warnings.filterwarnings("ignore", f".*{BOTH}")  # a general matrix does not state it
                assert Graph.read(other).directed == (options != ["--undirected"])
    assert "not allowed with" in refused(capsys, "info", path, "--directed", "--undirected")
    for made, directed in ((["grid", "3", "3"], False), (["erdos-renyi", "9", "0.5", "--directed"], True)):
        assert run(capsys, "make", *made, "--out", tmp_path / "c.npz", "--device", "cpu")[0] == 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Graph.read(tmp_path / "c.npz").directed == directed
    one_way = ("--out", tmp_path / "d.csv", "--output-undirected")
    assert run(capsys, "convert", path, "--directed", *one_way)[0] == 0
    assert (tmp_path / "d.csv").read_text() == "a,b,3\n"
    path.write_text("a,b,3\n")
    assert "--output-undirected: expected a symmetric matrix" in refused(capsys, "convert", path, *one_way)


def test_vertices_that_a_list_of_edges_does_not_hold(capsys, tmp_path):
    """Those without edges, if they have names or come last: a warning says so, and how they are read."""
    named = Graph.from_edges([("a", "b")]).with_vertices(["x", "a", "b", "y"])
    numbered = Graph.from_edges([(0, 2)], size=5)
    for kind in ("csv", "edges", "parquet"):
        if kind == "parquet":
            pytest.importorskip("pyarrow")
        with pytest.warns(UserWarning, match=rf"format {kind} cannot store vertices without edges \('x', 'y'\)"):
            named.write(tmp_path / f"a.{kind}")
        with pytest.warns(UserWarning, match=r"after the last one with edges \(size=5 reads them\)"):
            numbered.write(tmp_path / f"b.{kind}")
        assert Graph.read(tmp_path / f"b.{kind}", size=5).matrix.isequal(numbered.matrix)
    named.write(tmp_path / "a.bitblas")
    assert Graph.read(tmp_path / "a.bitblas").labels == named.labels
    numbered.write(tmp_path / "b.npz")
    out = run(capsys, "convert", tmp_path / "b.npz", "--out", tmp_path / "c.csv")[1]
    assert "after the last one with edges (--size 5 reads them) are left out" in out

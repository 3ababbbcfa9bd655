"""Where answers of the command line go: endings, standard output, and files that must not be lost."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_runs import EDGES, GRAPH, refused, result, run, said, written

import bitblas as gb
from bitblas import calibrate, cli
from bitblas.cli import algorithms, file_commands, input, output
from bitblas.plan.cost_model import Costs, shipped

LEVELS = {0: 0, 1: 1, 2: 1, 3: 2, 4: 3}


@pytest.fixture
def no_work(monkeypatch):
    """Wrong options are rejected before anything is read."""
    for module in (algorithms, file_commands):
        monkeypatch.setattr(module, "load", lambda *args, **how: pytest.fail("read before it was refused"))


# ---- endings ----


LINES = {"tsv": "\t", "txt": " ", "csv": ",", "edges": " ", "el": " "}


@pytest.mark.parametrize("ending", LINES)
@pytest.mark.parametrize("packed", ["", ".gz", ".bz2"])
def test_lines_by_ending(capsys, graph, tmp_path, ending, packed):
    out = tmp_path / f"levels.{ending}{packed}"
    said(capsys, "bfs", graph, "--out", out)
    text = {"": bytes, ".gz": gzip.decompress, ".bz2": bz2.decompress}[packed](out.read_bytes()).decode()
    assert text == "".join(f"{i}{LINES[ending]}{x}\n" for i, x in LEVELS.items())


@pytest.mark.parametrize("name", ["levels.mtx", "levels.mtx.gz", "levels.mtx.bz2", "levels.mm"])
def test_columns_of_matrix_market(capsys, graph, tmp_path, name):
    said(capsys, "bfs", graph, "--out", tmp_path / name)
    A = gb.io.read(tmp_path / name, "mtx").matrix
    assert A.shape == (6, 1) and A.to_dicts() == {i: {0: x} for i, x in LEVELS.items()}


TABLE = {"vertex": list(LEVELS), "value": list(LEVELS.values())}


def test_tables(capsys, graph, names, tmp_path):
    out = tmp_path / "out.json"
    said(capsys, "bfs", graph, "--out", tmp_path / "out.json.gz")
    assert json.loads(gzip.decompress((tmp_path / "out.json.gz").read_bytes())) == TABLE
    said(capsys, "components", names, "--out", out)
    found = json.loads(out.read_text())
    assert found == {"vertex": ["ann", "bob", "carl", "dora", "emil"], "value": ["ann"] * 3 + ["dora"] * 2}
    said(capsys, "forest", names, "--out", out)
    found = json.loads(out.read_text())
    assert sorted(found) == ["source", "target", "weight"] and sorted(found["weight"]) == [1, 2, 4]


def test_parquet(capsys, graph, tmp_path, monkeypatch):
    out = tmp_path / "a.parquet"
    monkeypatch.setattr(output.importlib.util, "find_spec", lambda name: None)
    assert "a.parquet: needs pyarrow: pip install" in refused(capsys, "bfs", graph, "--out", out, "--device", "cpu")
    monkeypatch.undo()
    parquet = pytest.importorskip("pyarrow.parquet")
    said(capsys, "bfs", graph, "--out", out)
    assert parquet.read_table(out).to_pydict() == TABLE


def test_packed_matrices_are_read_back(capsys, graph, tmp_path):
    for name in ("a.mtx.bz2", "a.csv.bz2", "a.csv.gz"):
        assert run(capsys, "convert", graph, "--out", tmp_path / name)[0] == 0
        more = [] if "mtx" in name else ["--size", "6"]
        assert run(capsys, "convert", tmp_path / name, *more, "--out", tmp_path / "b.mtx")[0] == 0
        assert gb.io.mmread(tmp_path / "b.mtx").isequal(gb.io.mmread(graph))


NO_ENDING = """bfs a.xyz, bfs a, sssp a.tvs, pagerank a.jsn, components a., mis a.zip, coloring a.gz, forest a.xyz,
convert a.xyz, spy a.doc"""
PACKED = "bfs a.npz.gz, betweenness a.parquet.gz, forest a.bitblas.gz, convert a.bitblas.gz"
REFUSED = {
    **dict.fromkeys(NO_ENDING.replace("\n", " ").split(", "), "expected a name that ends in"),
    **dict.fromkeys(PACKED.split(", "), "expected a name without .gz"),
    "bfs a.bitblas": "expected a file of vertices and values",
    "calibrate a.txt": "expected a name that ends in .json",
}


@pytest.mark.parametrize("call", REFUSED)
def test_unknown_endings_are_refused_before_the_work(capsys, graph, tmp_path, no_work, monkeypatch, call):
    monkeypatch.setattr(calibrate, "calibrate", lambda *args: pytest.fail("measured"))
    command, name = call.split()
    file = [] if command == "calibrate" else [graph]
    err = refused(capsys, command, *file, "--out", tmp_path / name)
    assert err.startswith(f"bitblas: error: {tmp_path / name}: {REFUSED[call]}")
    assert os.listdir(tmp_path) == ["graph.mtx"]


@pytest.mark.parametrize("command", ["bfs", "forest", "convert", "spy"])
def test_a_missing_folder_is_said_before_the_work(capsys, graph, tmp_path, no_work, command):
    ending = "png" if command == "spy" else "mtx"
    err = refused(capsys, command, graph, "--out", tmp_path / "none" / f"a.{ending}")
    assert "No such file or directory" in err


# ---- onto the input ----


@pytest.mark.parametrize("command", ["convert", "bfs", "forest"])
def test_the_input_is_not_replaced_unless_forced(capsys, graph, tmp_path, command):
    link = tmp_path / "link.mtx"
    link.symlink_to(graph)
    for out in (graph, link):
        err = refused(capsys, command, graph, "--out", out)
        assert "expected a different file than the input" in err and "--force" in err
        assert Path(graph).read_text() == GRAPH
    assert run(capsys, command, graph, "--out", link, "--force")[0] == 0
    assert Path(graph).read_text() != GRAPH and link.is_symlink()


def test_a_mapped_input_is_replaced(capsys, graph, tmp_path):
    saved = tmp_path / "a.bitblas"
    assert run(capsys, "convert", graph, "--out", saved)[0] == 0
    assert run(capsys, "convert", saved, "--out", saved, "--format", "b2sr", "--tile", "8", "--force")[0] == 0
    assert gb.load(saved, device="cpu").format == "b2sr8"


# ---- standard output ----


def both(capsysbinary, *argv):
    """The output of a call to stdout, as bytes, and to stderr."""
    assert cli.main(list(map(str, argv))) == 0
    out, err = capsysbinary.readouterr()
    return out, err.decode()


def test_vectors_to_stdout(capsysbinary, graph):
    out, words = both(capsysbinary, "bfs", graph, "--out", "-", "--device", "cpu")
    assert out == b"0\t0\n1\t1\n2\t1\n3\t2\n4\t3\n"
    assert words.startswith("source 0, reached 5, depth 3\n6 vertices, 11 entries")
    assert not os.path.exists("-")


def test_json_beside_it(capsysbinary, graph):
    out, words = both(capsysbinary, "forest", graph, "--out", "-", "--json", "--device", "cpu")
    assert sorted(out.split(b"\n")) == sorted(b"0\t2\t1\n1\t2\t2\n1\t3\t1\n3\t4\t0\n".split(b"\n"))
    assert json.loads(words)["result"]["edges"] == 4


@pytest.mark.parametrize("kind", ["mtx", "npz", "csv", "tsv", None])
def test_matrices_to_stdout(capsysbinary, graph, tmp_path, kind):
    out, words = both(capsysbinary, "convert", graph, "--out", "-", *(["--output-format", kind] if kind else []))
    path = tmp_path / f"a.{kind or 'mtx'}"
    path.write_bytes(out)
    more = {"size": 6} if kind in ("csv", "tsv") else {}
    assert gb.io.read(path, **more).matrix.isequal(gb.io.mmread(graph))
    assert words.startswith("-: 6 x 6, 11 entries, in ")


def test_mapped_files_do_not_go_to_stdout(capsys, graph, no_work):
    err = refused(capsys, "convert", graph, "--out", "-", "--output-format", "bitblas")
    assert "which is memory-mapped, got standard output" in err


def test_pictures_to_stdout(capsysbinary, graph):
    pytest.importorskip("matplotlib")
    out, words = both(capsysbinary, "spy", graph, "--out", "-", "--device", "cpu")
    assert out.startswith(b"\x89PNG") and words == "-: 6 x 6, 11 entries\n"


def test_costs_to_stdout(capsysbinary, monkeypatch):
    costs = shipped("cpu")
    monkeypatch.setattr(calibrate, "calibrate", lambda *args: SimpleNamespace(costs=costs, samples=()))
    out, words = both(capsysbinary, "calibrate", "--device", "cpu", "--out", "-")
    assert Costs.from_json(json.loads(out)) == costs and "\n-, in " in words


def test_a_pipe_of_commands(graph):
    convert, triangles = ([sys.executable, "-m", "bitblas", name] for name in ("convert", "triangles"))
    with subprocess.Popen([*convert, graph, "--out", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as one:
        said = subprocess.check_output([*triangles, "-", "--json", "--device", "cpu"], stdin=one.stdout)
    assert json.loads(said)["result"] == {"triangles": 2}


def test_names_with_the_mark_of_columns(capsys, tmp_path):
    """In quotes, as they are read; files separated by blanks have no quotes, and such names are rejected."""
    path = tmp_path / "names.tsv"
    path.write_text(EDGES.replace(" ", "\t").replace("ann", "ann, the first"))
    for end in ("csv", "tsv"):
        out = tmp_path / f"a.{end}"
        said(capsys, "bfs", path, "--source", "bob", "--out", out)
        assert out.read_text().startswith('"ann, the first",2\n' if end == "csv" else "ann, the first\t2\n")
    text = said(capsys, "sssp", path, "--undirected", "--source", "carl", "--to", "ann, the first")
    assert 'to "ann, the first", distance 5, way carl bob "ann, the first"' in text
    assert run(capsys, "convert", path, "--out", tmp_path / "c.csv")[0] == 0
    assert sorted(gb.Graph.read(tmp_path / "c.csv").labels) == sorted(gb.Graph.read(path).labels)
    err = refused(capsys, "convert", path, "--out", tmp_path / "c.edges")
    assert "expected names that can be written in a line separated by ' '" in err


@pytest.mark.filterwarnings("default:.*different vertex numbers")  # as a person's Python has it
def test_ids_in_a_table(capsys, tmp_path):
    """What the warning advises works on the command line too."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "ids.parquet"
    parquet.write_table(pytest.importorskip("pyarrow").table({"source": [50_012], "target": [5]}), path)
    status, out, err = run(capsys, "components", path, "--json", "--device", "cpu")
    assert (status, json.loads(out)["nrows"], "--labels" in err) == (0, 50_013, True)
    assert result(capsys, "components", path, "--labels")["nrows"] == 2


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.txt", "-"])
def test_layouts_are_written_as_lines(capsys, graph, tmp_path, name):
    """A line for each vertex: its name, x and y."""
    edges = written(tmp_path / "named.csv", EDGES.replace(" ", ","))
    out = "-" if name == "-" else tmp_path / name
    text = said(capsys, "layout", edges, "--by", "spring", "--out", out, "--output-header")
    mark = {"a.csv": ",", "a.txt": " "}.get(name, "\t")
    head, *lines = (text if name == "-" else out.read_text()).splitlines()
    assert head.split(mark) == ["vertex", "x", "y"]
    rows = [line.split(mark) for line in lines]
    assert [row[0] for row in rows] == ["ann", "bob", "carl", "dora", "emil"]
    assert {len(row) for row in rows} == {3} and all(abs(float(x)) < 10 for row in rows for x in row[1:])


def test_layouts_as_json_name_vertex_x_and_y(capsys, graph, tmp_path):
    said(capsys, "layout", graph, "--by", "spring", "--out", tmp_path / "a.json")
    found = json.loads((tmp_path / "a.json").read_text())
    assert found.keys() == {"vertex", "x", "y"} and found["vertex"] == list(range(6))
    assert all(isinstance(x, float) for axis in "xy" for x in found[axis])
    said(capsys, "layout", graph, "--by", "spring", "--out", tmp_path / "a.mtx")
    assert gb.io.mmread(tmp_path / "a.mtx").shape == (6, 2)


@pytest.mark.parametrize("command", ["pagerank", "closeness", "katz", "eigenvector", "matching"])
def test_weighted_needs_a_file_with_weights(capsys, tmp_path, command):
    edges = written(tmp_path / "plain.csv", "a,b\nb,c\n")
    err = refused(capsys, command, edges, "--weighted", "--device", "cpu")
    assert "--weighted: expected weights in the file" in err and "plain.csv" in err
    edges = written(tmp_path / "weights.csv", "a,b,2\nb,c,3\n")
    assert refused(capsys, command, edges, "--weighted", "--no-weights", "--device", "cpu")


def test_edges_in_both_directions_are_those_of_to_undirected(capsys, graph, tmp_path):
    """The same matrix as Graph.to_undirected makes, loops and one direction included, without values."""
    edges = written(tmp_path / "loops.csv", "0,1,5\n1,2,7\n2,1,3\n2,0,1\n3,3,2\n")
    args = cli.parser().parse_args(["triangles", str(edges), "--device", "cpu"])
    loaded = input.load(args)
    both = input.undirected(loaded.matrix, args)
    assert both.isequal(loaded.to_undirected().matrix.apply(gb.unary.one["BOOL"]).new(), check_dtype=True)
    assert input.undirected(both, args) is both  # already in both directions
    assert result(capsys, "triangles", edges)["result"] == {"triangles": 1}

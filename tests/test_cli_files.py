"""The command line and files: reading, converting, drawing; broken files and broken pipes."""

import gzip
import io
import json
import subprocess
import sys

import mm_files
import numpy as np
import pytest
import test_edgelist
import test_npz
from cli_runs import EXPECTED, GRAPH, refused, result, run, said, written

import bitblas as gb
from bitblas import Graph
from bitblas.cli.file_commands import _counted, degrees, graph_facts


def test_stdin(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GRAPH.encode())))
    assert result(capsys, "triangles", "-")["result"] == {"triangles": 2}


def test_out(capsys, graph, tmp_path):
    said(capsys, "bfs", graph, "--out", tmp_path / "levels.npz")
    with np.load(tmp_path / "levels.npz") as saved:
        assert saved["indices"].tolist() == [0, 1, 2, 3, 4] and saved["values"].tolist() == [0, 1, 1, 2, 3]
        assert saved["size"] == 6
    said(capsys, "bfs", graph, "--parents", "--out", tmp_path / "tree.mtx")
    assert gb.io.mmread(tmp_path / "tree.mtx").shape == (6, 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graph.mtx", "levels.npz", "tree.mtx"]


def test_bad_files(capsys, tmp_path):
    path = tmp_path / "bad.mtx"
    for before, after, words in (
        ("4 5 0", "4 9 0", "line 13"),
        ("6 6 11", "6 7 11", "expected a square matrix, got 6 x 7"),
        ("4 5 0", "4 3 0", "row 4, column 3 twice"),
    ):
        path.write_text(GRAPH.replace(before, after))
        assert words in refused(capsys, "sssp", path)
    assert result(capsys, "sssp", path, "--dup-op", "min")["result"]["reached"] == 4


def test_names(capsys, names, tmp_path):
    out = tmp_path / "out.tsv"
    made = result(capsys, "bfs", names, "--source", "bob", "--parents", "--out", out)
    assert made["result"] == {"source": "bob", "reached": 3}
    assert out.read_text() == "ann\tcarl\nbob\tbob\ncarl\tbob\n"
    assert result(capsys, "components", names, "--out", out)["result"] == {"components": 2, "largest": 3}
    assert out.read_text() == "ann\tann\nbob\tann\ncarl\tann\ndora\tdora\nemil\tdora\n"
    result(capsys, "sssp", names, "--source", "carl", "--out", out)
    assert out.read_text() == "ann\t7\nbob\t11\ncarl\t0\n"
    assert result(capsys, "pagerank", names)["result"]["first"][0] in ("ann", "bob", "carl", "emil")
    assert result(capsys, "msf", names, "--out", out)["result"] == {"trees": 2, "edges": 3, "weight": 7}
    assert out.read_text() == "ann\tbob\t4\nbob\tcarl\t1\ndora\temil\t2\n"
    result(capsys, "mis", names, "--out", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as saved:
        assert saved["labels"].tolist() == ["ann", "bob", "carl", "dora", "emil"]
    err = refused(capsys, "bfs", names, "--source", "eve", "--device", "cpu")
    assert err == "bitblas: error: --source: expected one of the 5 labels of the graph, got 'eve'\n"
    assert "vertices have names (ann, bob, carl, ...)" in said(capsys, "info", names)


@pytest.mark.parametrize("name", ["a.mtx", "a.npz", "a.bitblas", "a.tsv"])
def test_undirected(capsys, tmp_path, name):
    """0 -> 1 -> 2 -> 3 -> 0 with weights, also in the other direction if undirected; in every format."""
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], [5, 1, 1, 1], nrows=4, ncols=4, device="cpu")
    gb.io.write(tmp_path / name, A)
    assert result(capsys, "sssp", tmp_path / name)["result"]["farthest"] == 7
    made = result(capsys, "sssp", tmp_path / name, "--undirected", "--format", "b2sr", "--tile", "4")
    assert (made["result"]["farthest"], made["nvals"]) == (3, 8)
    run(capsys, "convert", tmp_path / name, "--undirected", "--out", tmp_path / "b.mtx")
    assert gb.io.mmread(tmp_path / "b.mtx").isequal(A.ewise_add(A.T).new())


@pytest.mark.filterwarnings("always")
def test_undirected_takes_the_lesser_value(capsys, tmp_path):
    (tmp_path / "a.mtx").write_text(GRAPH.replace("1 2 4", "1 2 1"))
    words = ("--undirected", "--source", "4", "--device", "cpu", "--json")
    status, out, err = run(capsys, "sssp", tmp_path / "a.mtx", *words)
    hint = "in both directions with different values; the smaller is kept. Hint: --dup-op combines them"
    assert status == 0 and hint in err
    made = json.loads(out)
    assert made["result"] == {"source": 4, "reached": 5, "farthest": 3} and made["nvals"] == 12
    (tmp_path / "b.mtx").write_text(GRAPH.replace("6 6 11", "6 7 11"))
    assert "expected a square matrix" in refused(capsys, "info", tmp_path / "b.mtx", "--undirected")


@pytest.mark.parametrize("name", ["b.mtx.gz", "b.npz", "b.bitblas", "b.tsv", "b.csv", "b.edges", "b.csv.gz"])
def test_convert(capsys, graph, tmp_path, name):
    path = str(tmp_path / name)
    made = json.loads(run(capsys, "convert", graph, "--out", path, "--json")[1])
    assert (made["nvals"], made["out"], made["labels_dropped"]) == (11, path, False)
    back = result(capsys, "sssp", path, *(["--size", "6"] if name.split(".")[1] in ("tsv", "csv", "edges") else []))
    assert back["result"] == EXPECTED["sssp"]
    more = ("--out", tmp_path / "c.mtx", "--field", "pattern", "--symmetry", "general")
    assert run(capsys, "convert", path, *more)[0] == 0 and gb.io.mmread(tmp_path / "c.mtx").nvals == 11
    again = tmp_path / "graph"
    (tmp_path / name).rename(again)
    kind = name.removesuffix(".gz").partition(".")[2]
    assert result(capsys, "triangles", again, "--input-format", kind)["result"] == EXPECTED["triangles"]


def test_convert_options(capsys, names, tmp_path):
    out = tmp_path / "a.csv"
    assert run(capsys, "convert", names, "--out", out, "--output-header")[0] == 0
    assert out.read_text().splitlines()[:2] == ["source,target,weight", "ann,bob,4"]
    more = ("--undirected", "--out", tmp_path / "a.mtx", "--comment", "from names")
    assert "names of the vertices are left out" in run(capsys, "convert", names, *more)[1]
    assert (tmp_path / "a.mtx").read_text().startswith("%%MatrixMarket matrix coordinate integer symmetric\n%")
    assert run(capsys, "convert", tmp_path / "a.mtx", "--out", out, "--output-undirected", "--output-base", "1")[0] == 0
    assert out.read_text() == "1,2,4\n1,3,7\n2,3,1\n4,5,2\n"
    assert result(capsys, "components", out, "--base", "1", "--no-weights")["dtype"] == "BOOL"
    for wrong in (["--layout", "csr"], ["--field", "real"], ["--precision", "3"]):
        assert f"format csv has no {wrong[0][2:]}" in refused(capsys, "convert", names, "--out", out, *wrong)
    assert out.read_text().startswith("1,2,4")
    saved = tmp_path / "a.bitblas"
    assert run(capsys, "convert", names, "--out", saved, "--format", "b2sr", "--tile", "4", "--no-weights")[0] == 0
    assert gb.load(saved, device="cpu").format == "b2sr4"
    err = refused(capsys, "convert", names, "--out", saved, "--tile", "4")
    assert "--tile: expected together with --format b2sr" in err
    saved.write_bytes(saved.read_bytes()[:-1])
    err = refused(capsys, "info", saved)
    assert "a.bitblas: expected" in err and "truncated" in err


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_spy(capsys, graph, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"graph.{suffix}"
    assert result(capsys, "spy", graph, "--out", path)["out"] == str(path)
    assert path.read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[suffix])


BROKEN = {
    **{f"a.mtx {name}": text.encode() for name, (text, _) in mm_files.BAD.items()},
    **{f"a.edges {name}": text.encode() for name, (text, options, _) in test_edgelist.BAD.items() if not options},
    **{f"a.npz {name}": data for name, data in test_npz.BAD_NPZ.items() if data is not None},
    "a.mtx.gz not gzip": b"hello",
    "a.mtx.gz cut short": gzip.compress(GRAPH.encode())[:-9],
    "a.csv.gz cut short": gzip.compress(b"0,1\n" * 99)[:-9],
    "a.edges binary": bytes(range(256)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_file_is_one_line(capsys, tmp_path, name):
    path = tmp_path / name.partition(" ")[0]
    path.write_bytes(BROKEN[name])
    err = refused(capsys, "convert", path, "--out", tmp_path / "out.mtx")
    assert err.startswith(f"bitblas: error: {path}") and [p.name for p in tmp_path.iterdir()] == [path.name]


def test_broken_pipe(graph):
    code = "import sys, bitblas.cli as c; sys.stdin.read(); sys.exit(c.main(sys.argv[1:]))"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "bfs", graph, "--device", "cpu"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with child:
        child.stdout.close()
        child.stdin.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


def test_weights_of_a_type(capsys, tmp_path):
    """--dtype is that of the readers: integers of more than 64 bits as floats, others only if they fit."""
    path = written(tmp_path / "wei.csv", "0,1,100000000000000000000\n1,2,-5\n")
    assert "expected a weight from -2^63 to 2^64 - 1, got '100000000000000000000'" in refused(capsys, "sssp", path)
    assert result(capsys, "info", path, "--dtype", "fp64")["graph"]["weights"] == [-5, 1e20]
    assert "--dtype: expected one of BOOL, INT8" in refused(capsys, "info", path, "--dtype", "float")
    small = written(tmp_path / "small.mtx", GRAPH)
    assert result(capsys, "info", small, "--dtype", "INT8")["dtype"] == "INT8"
    out = tmp_path / "small.bitblas"
    assert run(capsys, "convert", small, "--dtype", "UINT64", "--out", out)[0] == 0
    assert result(capsys, "info", out)["dtype"] == "UINT64"
    assert "--dtype: expected none for a file of format bitblas" in refused(capsys, "info", out, "--dtype", "INT8")


def test_precisions_are_checked_before_the_file_is_read(capsys, tmp_path):
    path, out = written(tmp_path / "a.csv", "0,1,0.3333333333333333\n"), tmp_path / "a.mtx"
    for wrong in ("0", "18", "22", "100", "-1", "2.5", "x"):
        err = refused(capsys, "convert", tmp_path / "none.csv", "--out", out, f"--precision={wrong}")
        assert f"--precision: expected an integer from 1 to 17, got '{wrong}'" in err and not out.exists()
    assert run(capsys, "convert", path, "--out", out, "--precision", "3")[0] == 0
    assert "1 2 3.33e-01" in out.read_text()


@pytest.mark.filterwarnings("always:.*different vertex numbers")
def test_far_vertices_take_little_memory(capsys, tmp_path):
    path = written(tmp_path / "far.csv", "1000000000000,1\n5,1000000000001\n")
    status, out, err = run(capsys, "bfs", path, "--source", "5", "--device", "cpu")
    assert status == 0 and "source 5, reached 2, depth 1\n5\t0\n1000000000001\t1\n" in out and "labels" in err
    for name in ("far.mtx", "far.bitblas", "again.csv"):
        assert run(capsys, "convert", path, "--out", tmp_path / name)[0] == 0
        assert gb.io.read(tmp_path / name, device="cpu").matrix.nvals == 2 if name != "again.csv" else True
    counts = np.array([3, 1, 1, 7])
    assert degrees(counts, 6) == degrees(np.append(counts, np.zeros(6, int)))
    assert degrees(counts[:0], 3)["empty"] == 3 and degrees(counts[:0]) == {}
    twice = [_counted(np.array([2, 5, 5]), size) for size in (6, 1 << 40)]
    assert [(x.tolist(), more) for x, more in twice] == [([0, 0, 1, 0, 0, 2], 0), ([1, 2], (1 << 40) - 2)]
    some = Graph(gb.Matrix.from_coo([9, 5, 9], [5, 9, 1 << 30], True, nrows=1 << 31, ncols=1 << 31, device="cpu"))
    found = graph_facts(some, *gb.io.build.host_coo(some.matrix))
    assert (found["components"], found["largest"]) == ((1 << 31) - 2, 3)
    assert found["most_edges"] == {"9": 2, "5": 1, str(1 << 30): 0}

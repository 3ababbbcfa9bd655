"""The command line: what it prints, what it writes, and how it fails."""

import dataclasses
import gzip
import io
import json
import subprocess
import sys

import numpy as np
import pytest
import test_edgelist
import test_io
import test_npz

import bitblas as gb
from bitblas import algorithms, cli
from bitblas.algorithms import Watch
from bitblas.cli import ticker
from bitblas.cli.ticker import Ticker
from bitblas.compare import comparison as compare
from bitblas.plan import costs, profile

# Two triangles that share the edge 1-2, a directed tail 3 -> 4, and a vertex alone.
GRAPH = """%%MatrixMarket matrix coordinate integer general
6 6 11
1 2 4
2 1 4
1 3 1
3 1 1
2 3 2
3 2 2
2 4 1
4 2 1
3 4 7
4 3 7
4 5 0
"""


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.mtx"
    path.write_text(GRAPH)
    return str(path)


def run(capsys, *argv):
    status = cli.main(list(map(str, argv)))
    out, err = capsys.readouterr()
    return status, out, err


def result(capsys, *argv):
    status, out, err = run(capsys, *argv, "--device", "cpu", "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


EXPECTED = {
    "mis": {"members": 3},
    "coloring": {"colors": 3, "largest": 3},
    "msf": {"trees": 2, "edges": 4, "weight": 4},
    "bfs": {"source": 0, "reached": 5, "depth": 3},
    "sssp": {"source": 0, "reached": 5, "farthest": 4},
    "components": {"components": 2, "largest": 5},
    "triangles": {"triangles": 2},
}


@pytest.mark.parametrize("format", [[], ["--format", "csr"], ["--format", "b2sr", "--tile", "8"]])
@pytest.mark.parametrize("command", EXPECTED)
def test_results(capsys, graph, command, format):
    made = result(capsys, command, graph, *format)
    assert made["result"] == EXPECTED[command]
    assert (made["nrows"], made["nvals"], made["dtype"], made["device"]) == (6, 11, "INT64", "cpu")
    assert made["bytes"] > 0


def test_pagerank(capsys, graph):
    made = result(capsys, "pagerank", graph, "--alpha", "0.5", "--max-iter", "50")["result"]
    assert len(made["first"]) == 5
    assert made["ranks"] == sorted(made["ranks"], reverse=True)


def test_what_did_not_converge_is_said(capsys, graph):
    made = result(capsys, "pagerank", graph)
    assert made["converged"] and 1 < made["rounds"] < 100
    short = result(capsys, "pagerank", graph, "--max-iter", "3")
    assert (short["converged"], short["rounds"]) == (False, 3)
    out = run(capsys, "pagerank", graph, "--device", "cpu", "--max-iter", "3")[1].splitlines()
    assert out[1] == "not converged after 3 rounds: give more by --max-iter, or a larger --tol"
    assert "converged" not in run(capsys, "pagerank", graph, "--device", "cpu")[1]
    last = result(capsys, "pagerank", graph, "--max-iter", str(made["rounds"]))
    assert (last["converged"], last["rounds"]) == (True, made["rounds"])


ROUNDS = {"bfs": 4, "betweenness": 6, "triangles": None}  # of the others at least one


@pytest.mark.parametrize("command", [*EXPECTED, "betweenness"])
def test_rounds(capsys, graph, command):
    made = result(capsys, command, graph)
    assert made["converged"]
    assert made["rounds"] == ROUNDS[command] if command in ROUNDS else made["rounds"] >= 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_for_terminals(monkeypatch, terminal):
    seen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(ticker, "WAIT", 0.001)
    monkeypatch.setattr(ticker, "PAUSE", 0.001)
    with Watch() as watch, Ticker("betweenness", watch):
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3, device="cpu")
        algorithms.betweenness_centrality(A)
        while terminal and "round 3 of 3, " not in seen.getvalue():
            pass
    last = seen.getvalue().rpartition("betweenness")[2]
    assert seen.getvalue() == "" if not terminal else last.endswith("\r") and not last.partition("\r")[2].strip()
    assert watch.rounds == 3


def test_watches_are_told_apart():
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3, device="cpu")
    with Watch() as outer:
        with Watch() as inner:
            algorithms.pagerank(A, max_iter=1, tol=1e-300)
        algorithms.bfs_levels(A, 0)
    algorithms.bfs_levels(A, 0)
    assert (inner.rounds, inner.converged, outer.rounds, outer.converged) == (1, True, 3, True)
    with Watch() as seen:
        algorithms.pagerank(gb.Matrix.from_coo([0], [1], nrows=2, ncols=2, device="cpu"), max_iter=1)
    assert (seen.rounds, seen.converged) == (1, False)


def test_text(capsys, graph):
    status, out, err = run(capsys, "bfs", graph, "--source", "1", "--device", "cpu")
    assert (status, err) == (0, "")
    first, second = out.splitlines()
    assert first == "source 1, reached 5, depth 2"
    assert second.startswith("6 vertices, 11 entries, on cpu: read in ")


def test_info(capsys, graph):
    text = run(capsys, "info", graph, "--device", "cpu")[1]
    for words in ("INT64, 0 on the diagonal", "entries per", "median", "b2sr8", "<- auto", "held now"):
        assert words in text
    made = result(capsys, "info", graph)
    assert (made["nvals"], made["loops"], made["chosen"], made["labels"]) == (11, 0, "csr", False)
    quantiles = {"min": 0, "25 %": 0, "median": 2, "75 %": 3, "90 %": 3, "99 %": 3, "max": 3}
    assert made["row_degrees"] == {**quantiles, "mean": 11 / 6, "empty": 2}
    assert made["column_degrees"]["max"] == 3
    A = gb.io.mmread(graph, device="cpu")
    assert made["forms"]["csr"]["bytes"] == A.profile().facts.bytes_of("csr")
    assert made["forms"]["b2sr8"]["entries_per_tile"] == 11
    made = result(capsys, "info", graph, "--orders", "--device", "cpu")
    assert list(made["orders"]) == ["as it is", "degree", "rcm", "community"] and made["best"] == ["as it is", "csr"]
    assert made["orders"]["rcm"]["permutation"] > 0 == made["orders"]["as it is"]["permutation"]
    assert set(made["orders"]["rcm"]["forms"]["csr"]) == {"bytes", "weights_us"} and "<- best" not in text
    assert "<- best" in run(capsys, "info", graph, "--orders", "--device", "cpu")[1]


def test_info_says_of_which_machine_times_are(capsys, graph, monkeypatch):
    here = gb.device.get("cpu").model
    for device, more in (("a big machine", f"; this is {here}: bitblas calibrate measures it"), (here, "")):
        known = dataclasses.replace(costs.shipped("cpu"), device=device, source="calibrated")
        monkeypatch.setattr(profile, "costs_of", lambda device, known=known: known)
        text = run(capsys, "info", graph, "--device", "cpu")[1]
        assert f"times: predicted for {device} (calibrated){more}\n" in text and "measured" not in text
        assert f"measured on {here}: csr takes" in run(capsys, "info", graph, "--measure", "--device", "cpu")[1]
        made = result(capsys, "info", graph)
        assert made["times"] == {"predicted_for": device, "source": "calibrated", "measured_on": None}
        assert result(capsys, "info", graph, "--measure")["times"]["measured_on"] == here


def test_info_of_the_machine(capsys):
    made = result(capsys, "info")
    assert "cpu" in made["devices"]
    assert run(capsys, "info")[0] == 0


def test_bare_call_prints_help(capsys, monkeypatch):
    status, out, err = run(capsys)
    assert (status, err) == (0, "") and out.startswith("usage: bitblas") and "betweenness" in out
    monkeypatch.setattr(sys, "argv", ["bitblas"])
    assert cli.main() == 0 and capsys.readouterr()[0] == out


def test_stdin(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GRAPH.encode())))
    assert result(capsys, "triangles", "-")["result"] == {"triangles": 2}


def test_out(capsys, graph, tmp_path):
    run(capsys, "bfs", graph, "--device", "cpu", "--out", tmp_path / "levels.tsv")
    assert (tmp_path / "levels.tsv").read_text() == "0\t0\n1\t1\n2\t1\n3\t2\n4\t3\n"
    run(capsys, "bfs", graph, "--device", "cpu", "--out", tmp_path / "levels.npz")
    with np.load(tmp_path / "levels.npz") as saved:
        assert saved["indices"].tolist() == [0, 1, 2, 3, 4]
        assert saved["values"].tolist() == [0, 1, 1, 2, 3]
        assert saved["size"] == 6
    run(capsys, "bfs", graph, "--parents", "--device", "cpu", "--out", tmp_path / "tree.mtx")
    assert gb.io.mmread(tmp_path / "tree.mtx").shape == (6, 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graph.mtx", "levels.npz", "levels.tsv", "tree.mtx"]


ERRORS = {
    "no command": (["--"], "COMMAND"),
    "unknown command": (["walk"], "expected one of info, calibrate, bfs, "),
    "nearly a command": (["pagrank"], "got 'pagrank'; did you mean 'pagerank'? (see 'bitblas --help')"),
    "nearly an option": (["bfs", "GRAPH", "--sorce=1"], "--sorce=1: no such option; did you mean '--source'?"),
    "an argument too many": (["bfs", "GRAPH", "1"], "1: expected options, got one more argument"),
    "nearly a format": (["bfs", "GRAPH", "--format", "b2rs"], "got 'b2rs'; did you mean 'b2sr'?"),
    "nearly a device": (["spy", "GRAPH", "--out", "a.png", "--device", "cdua"], "got 'cdua'; did you mean 'cuda'?"),
    "nearly an operator": (["bfs", "GRAPH", "--dup-op", "pluss"], "got 'pluss'; did you mean 'plus'?"),
    "no file": (["bfs"], "FILE"),
    "missing file": (["bfs", "none.mtx"], "none.mtx: No such file or directory"),
    "a folder": (["bfs", "."], "Is a directory"),
    "bad tile": (["bfs", "GRAPH", "--format", "b2sr", "--tile", "5"], "5"),
    "tile without its format": (["bfs", "GRAPH", "--tile", "8"], "--format b2sr"),
    "source outside": (["bfs", "GRAPH", "--source", "6"], "expected a vertex in 0..5, got 6"),
    "source not a number": (["bfs", "GRAPH", "--source", "x"], "--source"),
    "alpha outside": (["pagerank", "GRAPH", "--alpha", "2"], "alpha"),
    "unknown operator": (["bfs", "GRAPH", "--dup-op", "walk"], "walk"),
    "source below": (["bfs", "GRAPH", "--source", "-1"], "--source: expected a vertex in 0..5, got -1"),
    "sources": (["betweenness", "GRAPH", "--sources", "0,9"], "--sources: expected a vertex in 0..5, got 9"),
    "seed": (["mis", "GRAPH", "--seed", "x"], "--seed"),
    "unknown suffix": (["bfs", "/dev/null"], "/dev/null: expected a name that ends in .mtx"),
    "unknown format": (["bfs", "GRAPH", "--input-format", "xml"], "xml"),
    "another format": (["bfs", "GRAPH", "--input-format", "npz"], "saved by scipy.sparse.save_npz"),
    "an edge list's option": (
        ["bfs", "GRAPH", "--undirected", "--base", "1"],
        "options of edge lists (base)",
    ),
    "no output": (["convert", "GRAPH"], "--out"),
    "forest into a text": (["msf", "GRAPH", "--out", "tree.xyz"], "tree.xyz: expected a name"),
    "no folder for the output": (["bfs", "GRAPH", "--out", "none/x.tsv"], "none/x.tsv: No such file"),
}


def test_msf_answers_to_forest_too(capsys, graph):
    assert result(capsys, "forest", graph)["result"] == result(capsys, "msf", graph)["result"] == EXPECTED["msf"]


@pytest.mark.parametrize("argv, words", ERRORS.values(), ids=ERRORS)
def test_errors(capsys, graph, argv, words):
    argv = [graph if a == "GRAPH" else a for a in argv]
    device = ["--device", "cpu"] if graph in argv and "--device" not in argv else []
    status, out, err = run(capsys, *argv, *device)
    assert (status, out) == (2, "")
    assert err.startswith("bitblas: error: ")
    assert words in err
    assert err.count("\n") == 1


def test_bad_files(capsys, tmp_path):
    path = tmp_path / "bad.mtx"
    path.write_text(GRAPH.replace("4 5 0", "4 9 0"))
    assert "line 13" in run(capsys, "bfs", path)[2]
    path.write_text(GRAPH.replace("6 6 11", "6 7 11"))
    assert "expected a square matrix, got 6 x 7" in run(capsys, "bfs", path)[2]
    path.write_text(GRAPH.replace("4 5 0", "4 3 0"))
    status, _, err = run(capsys, "sssp", path)
    assert status == 2
    assert "row 4, column 3 twice" in err
    assert result(capsys, "sssp", path, "--dup-op", "min")["result"]["reached"] == 4


# --- names of vertices, and other formats ---

EDGES = "ann bob 4\nbob carl 1\ncarl ann 7\ndora emil 2\n"


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.edges"
    path.write_text(EDGES)
    return str(path)


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
    status, _, err = run(capsys, "bfs", names, "--source", "eve", "--device", "cpu")
    assert (status, err) == (2, "bitblas: error: --source: expected one of the 5 labels of the file, got 'eve'\n")
    assert "vertices have names (ann, bob, carl, ...)" in run(capsys, "info", names, "--device", "cpu")[1]


@pytest.mark.parametrize("name", ["a.mtx", "a.npz", "a.bitblas", "a.tsv"])
def test_undirected(capsys, tmp_path, name):
    """0 -> 1 -> 2 -> 3 -> 0 with weights, once more the other way where it says so; in every format."""
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], [5, 1, 1, 1], nrows=4, ncols=4, device="cpu")
    gb.io.write(tmp_path / name, A)
    assert result(capsys, "sssp", tmp_path / name)["result"]["farthest"] == 7
    made = result(capsys, "sssp", tmp_path / name, "--undirected", "--format", "b2sr", "--tile", "4")
    assert (made["result"]["farthest"], made["nvals"]) == (3, 8)
    run(capsys, "convert", tmp_path / name, "--undirected", "--out", tmp_path / "b.mtx")
    assert gb.io.mmread(tmp_path / "b.mtx").isequal(A.ewise_add(A.T).new())


def test_undirected_takes_the_lesser_value(capsys, tmp_path):
    (tmp_path / "a.mtx").write_text(GRAPH.replace("1 2 4", "1 2 1"))
    made = result(capsys, "sssp", tmp_path / "a.mtx", "--undirected", "--source", "4")
    assert made["result"] == {"source": 4, "reached": 5, "farthest": 3} and made["nvals"] == 12
    (tmp_path / "b.mtx").write_text(GRAPH.replace("6 6 11", "6 7 11"))
    assert "expected a square matrix" in run(capsys, "info", tmp_path / "b.mtx", "--undirected")[2]


def test_betweenness(capsys, names):
    made = result(capsys, "betweenness", names)["result"]
    assert (made["sources"], made["first"][:3], made["scores"][:4]) == (5, ["ann", "bob", "carl"], [1, 1, 1, 0])
    made = result(capsys, "betweenness", names, "--sources", "ann,dora")["result"]
    assert (made["sources"], made["first"][0], made["scores"][:2]) == (2, "bob", [1, 0])


def test_seed_and_weights(capsys, graph, tmp_path):
    run(capsys, "coloring", graph, "--seed", "3", "--device", "cpu", "--out", tmp_path / "colors.tsv")
    colors = dict(map(int, line.split()) for line in (tmp_path / "colors.tsv").read_text().splitlines())
    assert len(colors) == 6
    assert all(colors[i] != colors[j] for i, j in [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)])
    run(capsys, "msf", graph, "--device", "cpu", "--out", tmp_path / "tree.mtx")
    tree = gb.io.mmread(tmp_path / "tree.mtx")
    rows, cols, values = (part.tolist() for part in tree.to_coo())
    assert dict(zip(zip(rows, cols), values)) == {(0, 2): 1, (1, 2): 2, (1, 3): 1, (3, 4): 0}


@pytest.mark.parametrize("name", ["b.mtx.gz", "b.npz", "b.bitblas", "b.tsv", "b.csv", "b.edges", "b.csv.gz"])
def test_convert(capsys, graph, tmp_path, name):
    path = str(tmp_path / name)
    made = json.loads(run(capsys, "convert", graph, "--out", path, "--json")[1])
    assert (made["nvals"], made["out"], made["labels_dropped"]) == (11, path, False)
    back = result(capsys, "sssp", path, *(["--size", "6"] if name.split(".")[1] in ("tsv", "csv", "edges") else []))
    assert back["result"] == EXPECTED["sssp"]
    assert (
        run(capsys, "convert", path, "--out", tmp_path / "c.mtx", "--field", "pattern", "--symmetry", "general")[0] == 0
    )
    assert gb.io.mmread(tmp_path / "c.mtx").nvals == 11
    again = tmp_path / "graph"
    (tmp_path / name).rename(again)
    kind = name.removesuffix(".gz").partition(".")[2]
    assert result(capsys, "triangles", again, "--input-format", kind)["result"] == EXPECTED["triangles"]


def test_convert_options(capsys, names, tmp_path):
    out = tmp_path / "a.csv"
    assert run(capsys, "convert", names, "--out", out, "--output-header")[0] == 0
    assert out.read_text().splitlines()[:2] == ["source,target,weight", "ann,bob,4"]
    status, text, _ = run(
        capsys, "convert", names, "--undirected", "--out", tmp_path / "a.mtx", "--comment", "from names"
    )
    assert (status, "names of the vertices are left out" in text) == (0, True)
    assert (tmp_path / "a.mtx").read_text().startswith("%%MatrixMarket matrix coordinate integer symmetric\n%")
    assert run(capsys, "convert", tmp_path / "a.mtx", "--out", out, "--output-undirected", "--output-base", "1")[0] == 0
    assert out.read_text() == "1,2,4\n1,3,7\n2,3,1\n4,5,2\n"
    assert result(capsys, "components", out, "--base", "1", "--no-weights")["dtype"] == "BOOL"
    for wrong in (["--layout", "csr"], ["--field", "real"], ["--precision", "3"]):
        status, _, err = run(capsys, "convert", names, "--out", out, *wrong)
        assert (status, f"format csv has no {wrong[0][2:]}" in err) == (2, True)
    assert out.read_text().startswith("1,2,4")
    saved = tmp_path / "a.bitblas"
    assert run(capsys, "convert", names, "--out", saved, "--format", "b2sr", "--tile", "4", "--no-weights")[0] == 0
    assert gb.load(saved, device="cpu").format == "b2sr4"
    status, _, err = run(capsys, "convert", names, "--out", saved, "--tile", "4")
    assert (status, "--tile: expected together with --format b2sr" in err) == (2, True)
    saved.write_bytes(saved.read_bytes()[:-1])
    status, _, err = run(capsys, "info", saved)
    assert (status, "a.bitblas: expected" in err and "cut off" in err) == (2, True)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_spy(capsys, graph, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"graph.{suffix}"
    made = result(capsys, "spy", graph, "--out", path)
    assert made["out"] == str(path)
    assert path.read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[suffix])
    if suffix == "svg":
        return
    assert run(capsys, "spy", graph, "--out", tmp_path / "graph.doc", "--device", "cpu")[0] == 2
    assert run(capsys, "spy", graph, "--out", tmp_path / "none" / "graph.png", "--device", "cpu")[0] == 2


BROKEN = {
    **{f"a.mtx {name}": text.encode() for name, (text, _) in test_io.BAD.items()},
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
    status, out, err = run(capsys, "convert", path, "--out", tmp_path / "out.mtx")
    assert (status, out) == (2, "")
    assert err.startswith(f"bitblas: error: {path}")
    assert err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_interrupted(monkeypatch, graph):
    def interrupt(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.algorithms, "load", interrupt)
    assert cli.main(["bfs", graph]) == 130


def test_broken_pipe(graph):
    code = "import sys, bitblas.cli as c; sys.stdin.read(); sys.exit(c.main(sys.argv[1:]))"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "bfs", graph, "--device", "cpu"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with child:
        child.stdout.close()
        child.stdin.close()
        said = child.stderr.read()
    assert said == b""
    assert child.returncode == 141


def test_a_bug_is_not_hidden(monkeypatch, graph):
    def bug(args):
        raise ZeroDivisionError

    monkeypatch.setattr(cli.algorithms, "load", bug)
    with pytest.raises(ZeroDivisionError):
        cli.main(["bfs", graph])


# --- compare ---


def test_compare(capsys, graph):
    pytest.importorskip("graphblas")
    made = result(capsys, "compare", graph)
    assert made["equal"]
    names = [program.name for program in compare.programs()]
    assert names[:3] == ["bfs", "sssp", "pagerank"]
    assert [row["algorithm"] for row in made["rows"]] == names
    for row in made["rows"]:
        assert row["equal"]
        assert set(row["seconds"]) == set(row["nbytes"]) == {compare.SUITESPARSE, "cpu"}
        assert min(row["nbytes"].values()) > 0
    status, out, _ = run(capsys, "compare", graph, "--device", "cpu")
    assert (status, out.splitlines()[-1]) == (0, "All answers are equal.")


def test_compare_sees_a_difference(capsys, graph, monkeypatch):
    pytest.importorskip("graphblas")
    from bitblas import algorithms

    right = algorithms.triangle_count
    wrong = lambda A, *, gb=None: right(A, gb=gb) + (gb.__name__ == "bitblas")
    monkeypatch.setattr(algorithms, "triangle_count", wrong)
    status, out, _ = run(capsys, "compare", graph, "--device", "cpu")
    assert (status, out.splitlines()[-1]) == (1, "Answers DIFFER.")
    assert "triangles   2" in out


def test_difference():
    def vector(values, dtype=None, at=None):
        return gb.Vector.from_coo(range(len(values)) if at is None else at, values, dtype, size=5)

    assert compare.difference(3, 3) == 0
    assert compare.difference(3, 4) == np.inf
    assert compare.difference(vector([1.0, 2.0]), vector([1.0, 2.0])) == 0
    assert compare.difference(vector([1.0, np.inf]), vector([1.0, np.inf])) == 0
    assert compare.difference(vector([1.0, 2.0]), vector([1.0, 1.0])) == 0.5
    assert compare.difference(vector([1.0]), vector([np.nan])) is None
    assert compare.difference(vector([1.0]), vector([1.0], at=[2])) is None
    assert compare.difference(vector([1]), vector([1.0])) is None


def test_weights():
    rows, cols = np.array([0, 1, 2, 70000]), np.array([1, 0, 70000, 2])
    w = compare.hash_weights(rows, cols)
    assert w.dtype == np.int64
    assert w.min() >= 1
    assert w.max() <= 63
    assert (w[0], w[2]) == (w[1], w[3])
    values = np.array([-2.5, 0.0, np.nan, 1.0])
    assert compare.positive_weights(rows, cols, values).tolist() == [2.5, 1.0, 1.0, 1.0]
    assert compare.positive_weights(rows, cols, values != 0).tolist() == w.tolist()


def test_symmetrised():
    rows, cols = compare.symmetrised(np.array([0, 1, 2, 2]), np.array([1, 0, 2, 0], np.uint64), 3)
    assert (rows.tolist(), cols.tolist()) == ([0, 0, 1, 2], [1, 2, 0, 0])


def test_demo_is_compare(monkeypatch, capsys, tmp_path):
    pytest.importorskip("graphblas")
    path = tmp_path / "tiny.mtx"
    path.write_text(GRAPH)
    monkeypatch.setattr(compare, "demo_path", lambda: path)
    made = result(capsys, "demo")
    assert made["equal"]
    assert made["file"] == compare.DEMO_GRAPH


# --- devices ---


@pytest.mark.parametrize("command", [*EXPECTED, "pagerank", "compare"])
def test_device_is_not_the_default_one(capsys, graph, command, emulator):
    import emulator.device  # noqa: F401 - registers it

    with gb.config.set(device="emulator"):
        made = result(capsys, command, graph)  # --device cpu
    assert made["device"] == "cpu"
    assert made.get("result") == EXPECTED.get(command, made.get("result"))


class Remote:
    """An array that the host cannot read, as CuPy's."""

    def __init__(self, array):
        self._array = array

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __len__(self):
        return len(self._array)


class Elsewhere:
    """An object whose entries come as arrays of another device."""

    class device:
        name = "elsewhere"
        to_host = staticmethod(lambda array: array._array)

    def __init__(self, here):
        self._here = here

    def __getattr__(self, name):
        return getattr(self._here, name)

    def to_coo(self):
        return tuple(map(Remote, self._here.to_coo()))


def test_what_is_written_or_compared_is_brought_to_the_host(tmp_path):
    A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [1.5, -2.0, 0.0], nrows=3, ncols=3, device="cpu")
    v = gb.Vector.from_coo([0, 2], [7, 8], size=3, device="cpu")
    for here in (A, v):
        there = Elsewhere(here)
        gb.io.mmwrite(tmp_path / "a.mtx", there)
        gb.io.mmwrite(tmp_path / "b.mtx", here)
        assert (tmp_path / "a.mtx").read_bytes() == (tmp_path / "b.mtx").read_bytes()
        assert (gb.io.to_scipy_sparse(there) != gb.io.to_scipy_sparse(here)).nnz == 0
    there = Elsewhere(v)
    cli.output.write(str(tmp_path / "v.tsv"), there, gb.io.Graph(None), False)
    assert (tmp_path / "v.tsv").read_text() == "0\t7\n2\t8\n"
    assert compare.difference(there, v) == 0
    assert compare.Operands(Elsewhere(A)).undirected[0].tolist() == [0, 1, 1, 2]

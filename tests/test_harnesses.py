"""The harnesses of other benchmarks, GAP and LDBC Graphalytics, on graphs of a few vertices: their verifiers accept
right answers and reject wrong ones, graphs are as the rules say, and bad input is named. Times are not checked."""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

import bitblas as gb
from benchmarks import gap, graphs, ldbc, newest, sections, serial


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


@pytest.mark.parametrize("scale", [2, 3, 7, 12])
def test_numbers_of_vertices_are_a_permutation(scale):
    found = gap.renumbered(np, np.arange(1 << scale), scale)
    assert sorted(found.tolist()) == list(range(1 << scale))


@pytest.mark.parametrize("family", ["kron", "urand"])
def test_generated_graphs(family):
    d = gb.device.get("cpu")
    graph, again = gap.Loaded.drawn(gb, d, family, 9), gap.Loaded.drawn(gb, d, family, 9)
    assert graph.A.isequal(again.A) and graph.W.isequal(again.W)
    assert graph.A.isequal(graph.A.T.new()) and graph.W.isequal(graph.W.T.new())
    assert graph.A.select(gb.select.diag).new().nvals == 0
    assert 0.5 * 32 * 512 < graph.A.nvals <= 32 * 512
    weights = graph.W.to_coo()[2]
    assert weights.min() >= 1 and weights.max() <= 255 and len(np.unique(weights)) > 200
    degrees = np.diff(graph.A.to_csr()[0].astype(int))
    assert (degrees.max() > 100) == (family == "kron")


def test_gap_runs(tmp_path, capsys):
    out = tmp_path / "gap.json"
    assert gap.main(["--scale", "6", "--trials", "3", "--verify", "3", "--json", str(out)]) == 0
    made = json.loads(out.read_text())
    assert len(made["rows"]) == 12 and all(row["verified"] == row["trials"] == 3 for row in made["rows"])
    assert "kron6" in capsys.readouterr().out
    assert gap.TRIALS == {"bfs": 64, "sssp": 64, "pr": 16, "cc": 16, "bc": 16, "tc": 3}
    folder = tmp_path / "gap"
    folder.mkdir()
    (folder / "a.json").write_text(out.read_text())
    page = sections.gap(tmp_path)
    assert "| kron6 |" in page and "BFS" in page and sections.gap(tmp_path / "none") == ""


def test_gap_on_directed_files_with_their_sources(tmp_path):
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, 30, (2, 90))
    A = gb.Matrix.from_coo(i, j, rng.integers(1, 9, 90), nrows=30, ncols=30, dup_op=gb.binary.min)
    gb.io.mmwrite(tmp_path / "web.mtx", A)
    gb.io.mmwrite(tmp_path / "pattern.mtx", A.apply(gb.unary.one).new(bool))
    linked = np.flatnonzero(np.diff(A.to_csr()[0].astype(int)))
    picked = np.resize(linked, 64) + 1
    (tmp_path / "sources.mtx").write_text(
        "%%MatrixMarket matrix array integer general\n64 1\n" + "".join(f"{v}\n" for v in picked)
    )
    more = ["--trials", "2", "--verify", "2", "--json", str(tmp_path / "a.json")]
    for name in ("web.mtx", "pattern.mtx"):
        call = ["--graphs", str(tmp_path / name), "--sources", str(tmp_path / "sources.mtx"), *more]
        assert gap.main(call) == 0
        assert {row["right"] for row in json.loads((tmp_path / "a.json").read_text())["rows"]} == {True}
    host = gap.Host.of(A)
    assert gap.sources_of(host, 64, str(tmp_path / "sources.mtx")) == (picked - 1).tolist()
    with pytest.raises(ValueError, match=r"--sources: expected 65 vertices, got 64 in .*sources\.mtx"):
        gap.sources_of(host, 65, str(tmp_path / "sources.mtx"))


def dense_vector(x, dtype=None):
    keep = np.flatnonzero(np.asarray(x) >= 0)
    return gb.Vector.from_coo(keep, np.asarray(x)[keep], dtype, size=len(x))


@pytest.mark.parametrize("kernel", gap.KERNELS)
def test_verifiers_reject_wrong_answers(kernel):
    graph = gap.Loaded.drawn(gb, gb.device.get("cpu"), "urand", 6)
    hosts = {"A": gap.Host.of(graph.A)}
    sources = gap.sources_of(hosts["A"], 64, None)
    answer = gap.calls(kernel, graph, sources, 1)[0]()
    assert gap.is_right(kernel, graph, hosts, 0, sources, answer) is True
    if kernel == "tc":
        assert gap.is_right(kernel, graph, hosts, 0, sources, answer + 1) is False
        return
    right = answer.to_dense(-1)
    for k in range(0, 64, 7):
        wrong = right.copy()
        wrong[k] = {"bfs": (right[k] + 1) % 64, "sssp": right[k] + 1, "cc": 1 - right[k]}.get(kernel, right[k] + 0.01)
        if kernel == "bfs":  # another parent may be right too
            depth = serial.depths(hosts["A"].ptr, hosts["A"].col, sources[0])
            wrong[k] = next(v for v in range(64) if depth[v] >= depth[k] and v != right[k])
        assert gap.is_right(kernel, graph, hosts, 0, sources, dense_vector(wrong)) is False
    wrong = right.copy()
    wrong[5] = -1  # not reached
    assert gap.is_right(kernel, graph, hosts, 0, sources, dense_vector(wrong)) is False


def test_components_that_are_merged_or_split_are_wrong():
    ptr, col = np.array([0, 1, 2, 3, 4]), np.array([1, 0, 3, 2])  # two edges
    assert serial.are_components(ptr, col, np.array([0, 0, 2, 2]))
    for wrong in ([0, 0, 0, 0], [0, 1, 2, 2], [0, 0, 3, 2]):
        assert not serial.are_components(ptr, col, np.array(wrong))


def test_serial_programs_are_those_of_networkx():
    graph = graphs.make("rmat6")
    G = nx.from_scipy_sparse_array(graph.scipy())
    assert serial.triangles(graph.ptr, graph.col) == sum(nx.triangles(G).values()) // 3
    clustering = nx.clustering(G)
    found = serial.closed_shares(graph.ptr, graph.col, graph.ptr, graph.col)
    assert np.allclose(found, [clustering[v] for v in range(graph.n)])
    score = np.zeros(graph.n)
    for s in range(graph.n):
        serial.dependencies(graph.ptr, graph.col, s, score)
    between = nx.betweenness_centrality(G, normalized=False)
    assert np.allclose(score / 2, [between[v] for v in range(graph.n)])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--kernels", "bfs,dfs"], "--kernels: unknown dfs"),
        (["--graphs", "kron,no.mtx"], "--graphs: expected kron, urand or a file, got no.mtx"),
        (["--scale", "1"], "--scale: expected at least 2, got 1"),
        (["--trials", "0"], "--trials: expected at least 1, got 0"),
    ],
)
def test_bad_calls_of_gap(capsys, more, said):
    with pytest.raises(SystemExit):
        gap.main(more)
    assert said in capsys.readouterr().err


# ---- Graphalytics


def test_graphalytics_examples(tmp_path, capsys):
    out = tmp_path / "ldbc.json"
    assert (
        ldbc.main(["--samples", "1", "--graphs", "example-directed,example-undirected,rmat6", "--json", str(out)]) == 0
    )
    rows = json.loads(out.read_text())["rows"]
    assert len(rows) == 18 and all(row["right"] is True for row in rows)
    assert [row["edges"] for row in rows if row["algorithm"] == "BFS"][:2] == [17, 12]


def write_dataset(folder, kind="directed"):
    """An example in Graphalytics' files, with the answers."""
    data = ldbc.example(kind)
    name = folder / data.name
    lines = [f"graph.{data.name}.directed = {str(data.directed).lower()}", "# a comment"]
    lines += [f"graph.{data.name}.{key} = {value}" for key, value in data.parameters.items()]
    lines += [f"graph.{data.name}.{way}.source-vertex = {data.names[0]}" for way in ("bfs", "sssp")]
    folder.joinpath(f"{data.name}.properties").write_text("\n".join(lines) + "\n")
    folder.joinpath(f"{data.name}.v").write_text("".join(f"{v}\n" for v in data.names[::-1]))
    ends = zip(data.names[data.rows], data.names[data.cols], data.weights, strict=True)
    folder.joinpath(f"{data.name}.e").write_text("".join(f"{i} {j} {w}\n" for i, j, w in ends))
    for algorithm, answer in data.answers.items():
        said = ["infinity" if x == np.inf else x for x in answer.tolist()]
        text = "".join(f"{v} {x}\n" for v, x in zip(data.names, said, strict=True))
        folder.joinpath(f"{data.name}-{algorithm}").write_text(text)
    return name


@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_data_sets_of_graphalytics(tmp_path, kind):
    name = write_dataset(tmp_path, kind)
    read, given = ldbc.read(str(name)), ldbc.example(kind)
    assert read.directed == given.directed and np.array_equal(read.names, given.names)
    for algorithm in ldbc.ALGORITHMS:
        assert np.array_equal(read.answers[algorithm], given.answers[algorithm])
    assert ldbc.main(["--samples", "1", "--graphs", str(name)]) == 0
    answers = tmp_path / f"{name.name}-CDLP"
    answers.write_text(answers.read_text().replace(f"{given.names[0]} ", f"{given.names[0]} 9", 1))
    assert ldbc.main(["--samples", "1", "--graphs", str(name)]) == 1


def test_data_sets_that_are_damaged(tmp_path, capsys):
    name = write_dataset(tmp_path)
    edges = tmp_path / f"{name.name}.e"
    edges.write_text(edges.read_text() + "1 77 0.5\n")
    assert ldbc.main(["--graphs", str(name)]) == 2
    assert "expected vertices of" in (said := capsys.readouterr().err) and "77" in said
    edges.write_text("1 3 0.5\n1 5\n")
    assert ldbc.main(["--graphs", str(name)]) == 2 and "expected 3 numbers in each line" in capsys.readouterr().err
    assert ldbc.main(["--graphs", "unknown"]) == 2 and "expected a file" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        ldbc.main(["--algorithms", "BFS,DFS"])


@pytest.mark.parametrize("algorithm", ldbc.ALGORITHMS)
def test_rules_of_graphalytics(algorithm):
    data = ldbc.example("undirected")
    right = data.answers[algorithm].astype(float)
    at = lambda x: np.searchsorted(data.names, x) if algorithm == "CDLP" else x
    says = lambda x: ldbc.is_valid(algorithm, data, gb.Vector.from_dense(at(np.asarray(x))))
    assert says(right)
    near, far, other = right * 1.00005, right * 1.0002, right.copy()
    if algorithm in ("PR", "LCC", "SSSP"):
        assert says(near) and not says(far)
        return
    other[3] = data.names[-1] if right[3] != data.names[-1] else data.names[0]
    assert not says(other)
    assert (
        says(right + 1 if algorithm == "WCC" else right)
        and ldbc.is_valid("BFS", SimpleNamespace(answers={}), 0) is None
    )


# ---- SuiteSparse by its C functions


def test_newest(tmp_path, capsys):
    """The installed suitesparse-graphblas has the same C functions as version 10, which runs if NEWEST_PYTHON is the
    Python of its environment."""
    pytest.importorskip("suitesparse_graphblas")
    python, out = os.environ.get("NEWEST_PYTHON", sys.executable), tmp_path / "a.json"
    call = ["--python", python, "--graphs", "rmat6,delaunay_n6", "--samples", "1", "--threads", "1"]
    assert newest.main([*call, "--json", str(out)]) == 0
    rows = json.loads(out.read_text())["rows"]
    assert len(rows) == 10 and all(row["right"] for row in rows)
    assert "SuiteSparse:GraphBLAS" in capsys.readouterr().out


def test_newest_without_the_package(tmp_path, capfd):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho no such package >&2\nexit 1\n")
    program.chmod(0o755)
    assert newest.main(["--python", str(program), "--graphs", "rmat6"]) == 2
    assert "no such package" in (said := capfd.readouterr().err) and "the process of SuiteSparse ended" in said
    assert newest.main(["--python", str(tmp_path / "none")]) == 2
    with pytest.raises(SystemExit):
        newest.main(["--python", str(program), "--verbs", "mxv,dfs"])


def test_table_of_ranks(capsys):
    """A line for each case: the plan's choice against one rank and the other choices, and whether answers differ."""
    from benchmarks import many_ranks

    driver = many_ranks.Driver.__new__(many_ranks.Driver)
    search = {"graph": "kron25", "program": "search", "answer": 7, "sent": 0}
    planned = {"ranks": 2, "choice": "replicated", "planned": True, "ms": 2.05}
    driver.rows = [
        search | {"ranks": 1, "choice": "one", "planned": True, "ms": 2.0},
        search | planned,
        search | {"ranks": 2, "choice": "partitioned", "planned": False, "ms": 1.0},
        search | {"graph": "kron27"} | planned | {"sent": 3_000_000},
        {"graph": "kron29", "program": "failed", "ranks": 1, "error": "OutOfMemory: 68 GB"},
    ]
    assert driver.table() == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["kron25", "kron27", "kron29"]
    assert lines[1].endswith("partitioned 1.000  PLAN LOSES") and " 0.98 " in lines[1]
    assert lines[2].split()[-2:] == ["-", "3.0"] and lines[3].endswith("OutOfMemory: 68 GB")
    driver.rows[1]["answer"] = 8
    assert driver.table() == 1 and "DIFFERS" in capsys.readouterr().out

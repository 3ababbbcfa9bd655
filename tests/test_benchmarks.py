"""The benchmarks on graphs of a few vertices: answers are checked, and JSON is written. Times are not checked."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace

import numpy as np
import pytest

import bitblas
from benchmarks import builds, bytes, cpu, entrywise, gpu, graphs, small
from benchmarks.__main__ import main
from benchmarks.verbs import VERBS

SMALL = ("rmat6", "delaunay_n6", "delaunay_n6_random", "grid2d_9", "stencil27_4", "mycielskian5", "hub_n6", "even_n6")


@pytest.mark.parametrize("name", (*SMALL, "web_n6"))
def test_a_graph_is_the_same_each_time_and_clean(name):
    graph, again = graphs.make(name), graphs.make(name)
    assert np.array_equal(graph.ptr, again.ptr)
    assert np.array_equal(graph.col, again.col)
    dense = graph.scipy().toarray()
    assert dense.max() == 1  # no edge twice
    assert not dense.diagonal().any()
    if not name.startswith(("hub", "even", "web")):
        assert np.array_equal(dense, dense.T)
        weights = graph.scipy(graph.weights).toarray()
        assert np.array_equal(weights, weights.T)
    inner = graph.col[1:][np.diff(graph.rows) == 0] > graph.col[:-1][np.diff(graph.rows) == 0]
    assert inner.all()  # columns ascend within a row


def test_sizes_that_are_known():
    assert graphs.make("grid2d_9").nvals == 4 * 9 * 8
    assert graphs.make("stencil27_4").nvals == (3 * 4 - 2) ** 3 - 4**3
    assert graphs.make("mycielskian5").n == 23
    assert graphs.make("hub_n6").nvals == graphs.make("even_n6").nvals


def test_unknown_names_and_bad_files_are_refused(tmp_path, capsys):
    with pytest.raises(ValueError, match="rmat<size>"):
        graphs.make("rmat")
    (tmp_path / "wide.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n")
    with pytest.raises(ValueError, match="square"):
        graphs.make(str(tmp_path / "wide.mtx"))
    with pytest.raises(SystemExit):
        main(["--verbs", "sort"])
    assert "known: mxv" in capsys.readouterr().err


@pytest.mark.parametrize("name", SMALL[:6])
def test_the_references_agree_with_plain_programs(name):
    graph = graphs.make(name)
    A = graph.scipy().toarray() > 0
    level, frontier, depth = np.full(graph.n, -1), np.arange(graph.n) == graph.source, 0
    while frontier.any():
        level[frontier] = depth
        frontier, depth = A[frontier].any(axis=0) & (level < 0), depth + 1
    places, values = VERBS["bfs"].reference(graph)
    assert np.array_equal(places, np.flatnonzero(level >= 0))
    assert np.array_equal(values, level[places])
    count = np.trace(np.linalg.matrix_power(A.astype(np.int64), 3)) // 6
    assert VERBS["triangles"].reference(graph)[1].tolist() == [count]


def test_cpu_checks_every_answer_and_writes_json(tmp_path, capsys):
    pytest.importorskip("graphblas")
    (tmp_path / "path.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n")
    out = tmp_path / "deep" / "out.json"
    names = f"grid2d_9,{tmp_path / 'path.mtx'}"
    assert main(["--graphs", names, "--samples", "2", "--threads", "1", "--json", str(out)]) == 0
    data = json.loads(out.read_text())
    assert [g["name"] for g in data["graphs"]] == ["grid2d_9", "path"]
    assert {"python", "numpy", "numba", "suitesparse-graphblas"} <= set(data["versions"])
    for graph in data["graphs"]:
        assert [row["verb"] for row in graph["verbs"]] == list(VERBS)
        for row in graph["verbs"]:
            for side in (cpu.PEER, cpu.OURS):
                assert row[side]["equal"]
                assert 2 <= len(row[side]["seconds"]) <= 6
            assert row["plan"]
        for form in graph["forms"]:
            assert form["bytes"][cpu.OURS] > 0
    assert "all equal" in capsys.readouterr().out


def test_a_wrong_answer_is_seen(monkeypatch, capsys):
    pytest.importorskip("graphblas")

    right = VERBS["plus_second"]

    def wrong(graph):
        places, values = right.reference(graph)
        return places, values + (places == 5)

    monkeypatch.setitem(VERBS, "plus_second", replace(right, reference=wrong))
    assert main(["--graphs", "grid2d_9", "--verbs", "mxv,plus_second", "--samples", "1", "--threads", "1"]) == 1
    out = capsys.readouterr().out
    assert "NOT ALL EQUAL" in out
    assert " NO " in next(line for line in out.splitlines() if line.startswith("plus_second"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_small_statements_agree_on_both_sides(tmp_path, capsys):
    pytest.importorskip("graphblas")
    assert small.main(["--batches", "1", "--json", str(tmp_path / "small.json")]) == 0
    rows = json.loads((tmp_path / "small.json").read_text())["rows"]
    assert [row["statement"] for row in rows] == list(small.STATEMENTS) and all(row["equal"] for row in rows)
    assert "times faster" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        small.main(["--statements", "nothing"])


def test_entrywise_statements_agree_on_both_sides(tmp_path, capsys):
    pytest.importorskip("graphblas")
    path = tmp_path / "entrywise.json"
    assert entrywise.main(["--batches", "1", "--graphs", "grid2d_8", "--threads", "1", "--json", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [row["statement"] for row in rows] == list(entrywise.STATEMENTS) and all(row["equal"] for row in rows)
    assert "geometric mean" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        entrywise.main(["--statements", "nothing"])


def test_statements_that_differ_are_seen(monkeypatch, tmp_path):
    pytest.importorskip("graphblas")
    monkeypatch.setitem(small.STATEMENTS, "wrong", ("r = gb_name", "r"))
    monkeypatch.setattr(small, "scope", lambda gb: {"gb_name": gb.__name__})
    path = tmp_path / "small.json"
    assert small.main(["--statements", "wrong", "--batches", "1", "--json", str(path)]) == 1
    assert not json.loads(path.read_text())["equal"]


def test_a_worker_that_fails_says_why():
    side = cpu.Side(cpu.OURS, 1)
    try:
        with pytest.raises(cpu.WorkerError, match=r"bitblas\.load.*FileNotFoundError"):
            side.ask("load", "/nowhere.npz")
        assert side.ask("versions")["numba"]  # and works on
    finally:
        side.close()
    assert side.process.returncode == 0


class Once:
    """In the place of a Timer: runs once, and times nothing."""

    def warm(self, run):
        run()
        return 1.0

    flushed = warm


def test_the_gpu_benchmark_in_the_emulator(emulator):
    importlib.import_module("emulator.device")  # registers it
    said = []
    names, forms = ("grid2d_9", "hub_n6", "even_n6", "web_n6"), ("auto", "csr", "mplg", "b2sr8")
    result = gpu.measure(
        names, forms, 1, device="emulator", timer=Once(), peer=None, statements=2, say=said.append
    )  # fmt: skip
    assert result["equal"]
    json.dumps(result)
    for graph in result["graphs"]:
        assert list(graph["verbs"]) == list(gpu.PRODUCTS)
        n, nvals, bits = graph["n"], graph["nvals"], 8 * -(-graph["n"] // 64)
        rows = 4 * (n + 1 + nvals)
        moved = {
            "mxv": rows + 2 * bits,
            "plus_second": rows + 8 * n + bits,
            "min_plus": rows + 4 * nvals + 8 * n + bits,
        }
        for verb, kernels in graph["verbs"].items():
            assert list(kernels) == list(forms)
            assert kernels["b2sr8"]["form"] == "b2sr8" and kernels["mplg"]["form"] == "mplg"
            assert kernels["mplg"]["bytes"] < kernels["csr"]["bytes"]
            assert kernels["csr"]["bytes"] == moved[verb]
    assert result["hub_over_even"] == {f"{verb} {form}": 1.0 for verb in gpu.PRODUCTS for form in forms}
    assert result["statement_us"] > 0
    assert "hub / even" in said[-1]
    with pytest.raises(ValueError, match="b2sr4"):
        gpu.measure(names, ("coo",), device="emulator")
    with pytest.raises(ValueError, match="plus_second"):
        gpu.measure(names, verbs=("bfs",), device="emulator")


@pytest.mark.gpu
def test_the_gpu_benchmark_on_a_gpu(tmp_path):
    out = tmp_path / "out.json"
    assert (
        main(["--device", "cuda", "--graphs", "grid2d_64,hub_n10,even_n10", "--samples", "2", "--json", str(out)]) == 0
    )
    for kernels in json.loads(out.read_text())["graphs"][0]["verbs"].values():
        assert kernels["cuSPARSE"]["equal"]


def test_builds(device, capsys):
    said: list[str] = []
    assert builds.measure(["hub_n6", "rmat6"], bitblas.device.get(device), 1, said.append)
    assert said[-1] == "all results are right" and sum("CSR to B2SR-8" in line for line in said) == 4
    if device == "cpu":
        assert builds.main(["--graphs", "grid2d_9", "--samples", "1"]) == 0
        assert "from_coo, shuffled" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["rmat6+degree", "grid2d_9", "stencil27_4"])
def test_bytes_are_those_of_the_forms(name):
    graph = graphs.make(name)
    assert np.array_equal(np.sort(np.diff(graph.ptr))[::-1], np.diff(graph.ptr)) == name.endswith("degree")
    A = bitblas.Matrix.from_csr(graph.ptr, graph.col, True, ncols=graph.n, device="cpu", format="csr")
    structure = A._store.structure
    found = bytes.sizes(structure)
    assert tuple(found) == bytes.FORMS
    for key in ("csr", "b2sr4", "b2sr64", "split4", "split8", "split16"):
        assert found[key] == structure.layout(key).nbytes, key


def test_bytes_of_a_folder(tmp_path, capsys):
    (tmp_path / "wide.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n")
    assert bytes.main(["--graphs", "grid2d_9", "--folder", str(tmp_path), "--orders", "natural,degree"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    table = [(line[0], line[1]) for line in lines[2:] if len(line) == len(bytes.HEADS)]
    assert table == [("grid2d_9", "natural"), ("grid2d_9", "degree"), ("wide", "natural")], "wide is not square"
    assert [line[-1] for line in lines if line].count("(holds)") == 3
    assert bytes.main(["--graphs", "grid2d_9", "--folder", str(tmp_path), "--least", "3"]) == 0
    assert "wide" not in capsys.readouterr().out
    assert bytes.main(["--graphs", "nothing"]) == bytes.main(["--graphs", "grid2d_9", "--orders", "nothing"]) == 2


def test_bars_that_are_missed_are_said():
    row = ["g", "natural", 10, *[4.0] * (len(bytes.HEADS) - 7), 0.7, 1.5, "csr", "csr"]
    assert len(row) == len(bytes.HEADS)
    said = list(bytes.bars([row]))
    assert said[0].endswith("0.700 (MISSED)") and "1.5000, on g in natural order (MISSED)" in said[-1]

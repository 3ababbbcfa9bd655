"""The benchmarks of products, whole algorithms and the planner's choices on graphs of a few vertices: answers are
checked, and JSON is written. Times are not checked."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import bitblas
from benchmarks import (
    builds,
    bytes,
    choices,
    closeness,
    cpu,
    cr2,
    entrywise,
    estimates,
    gpu,
    graphs,
    judge,
    libraries,
    models,
    programs,
    results,
    small,
)
from benchmarks.__main__ import main
from benchmarks.verbs import VERBS
from bitblas.calibrate import Sample
from bitblas.plan import cost_model
from bitblas.plan.facts import Facts

SMALL = ("rmat6", "delaunay_n6", "delaunay_n6_random", "grid2d_9", "stencil27_4", "mycielskian5", "hub_n6", "even_n6")


def wide_file(folder):
    """A file of a matrix that is not square."""
    (folder / "wide.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n")
    return str(folder / "wide.mtx")


@pytest.mark.parametrize("name", (*SMALL, "web_n6", "web_n6+undirected"))
def test_a_graph_is_the_same_each_time_and_clean(name):
    graph, again = graphs.make(name), graphs.make(name)
    assert np.array_equal(graph.ptr, again.ptr) and np.array_equal(graph.col, again.col)
    dense = graph.scipy().toarray()
    assert dense.max() == 1 and not dense.diagonal().any()  # no edge twice
    if not name.startswith(("hub", "even", "web")) or name.endswith("+undirected"):
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
    for name, match in (("rmat", "rmat<size>"), (wide_file(tmp_path), "square")):
        with pytest.raises(ValueError, match=match):
            graphs.make(name)
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
    assert np.array_equal(places, np.flatnonzero(level >= 0)) and np.array_equal(values, level[places])
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
            assert row["plan"]
            for side in (cpu.PEER, cpu.OURS):
                assert row[side]["equal"] and 2 <= len(row[side]["seconds"]) <= 6
        assert all(form["bytes"][cpu.OURS] > 0 for form in graph["forms"])
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


STATEMENTS = [(small, [], "times faster"), (entrywise, ["--graphs", "grid2d_8", "--threads", "1"], "geometric mean")]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("module", "options", "words"), STATEMENTS, ids=["small", "entrywise"])
def test_statements_agree_on_both_sides(tmp_path, capsys, module, options, words):
    pytest.importorskip("graphblas")
    path = tmp_path / "out.json"
    assert module.main(["--batches", "1", *options, "--json", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [row["statement"] for row in rows] == list(module.STATEMENTS) and all(row["equal"] for row in rows)
    assert words in capsys.readouterr().out
    with pytest.raises(SystemExit):
        module.main(["--statements", "nothing"])


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


def test_the_gpu_benchmark_in_the_emulator(emulator):
    said = []
    names, forms = ("grid2d_9", "hub_n6", "even_n6", "web_n6"), ("auto", "csr", "mplg", "b2sr8")
    once = lambda run: (run(), 1.0)[1]
    timer = SimpleNamespace(warm=once, flushed=once)  # runs once, and times nothing
    result = gpu.measure(names, forms, 1, device="emulator", timer=timer, peer=None, statements=2, say=said.append)
    assert result["equal"]
    json.dumps(result)
    for graph in result["graphs"]:
        assert list(graph["verbs"]) == list(gpu.PRODUCTS)
        n, nvals, bits = graph["n"], graph["nvals"], 8 * -(-graph["n"] // 64)
        rows = 4 * (n + 1 + nvals)
        moved = {"mxv": bits, "plus_second": 8 * n, "min_plus": 4 * nvals + 8 * n}
        for verb, kernels in graph["verbs"].items():
            assert list(kernels) == list(forms)
            assert kernels["b2sr8"]["form"] == "b2sr8" and kernels["mplg"]["form"] == "mplg"
            assert kernels["mplg"]["bytes"] < kernels["csr"]["bytes"]
            assert kernels["csr"]["bytes"] == rows + bits + moved[verb]
    assert result["hub_over_even"] == {f"{verb} {form}": 1.0 for verb in gpu.PRODUCTS for form in forms}
    assert result["statement_us"] > 0 and "hub / even" in said[-1]
    for wrong, match in (({"formats": ("coo",)}, "b2sr4"), ({"verbs": ("bfs",)}, "plus_second")):
        with pytest.raises(ValueError, match=match):
            gpu.measure(names, device="emulator", **wrong)


@pytest.mark.gpu
def test_the_gpu_benchmark_on_a_gpu(tmp_path):
    out = tmp_path / "out.json"
    names = "grid2d_64,hub_n10,even_n10"
    assert main(["--device", "cuda", "--graphs", names, "--samples", "2", "--json", str(out)]) == 0
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
    wide_file(tmp_path)
    assert bytes.main(["--graphs", "grid2d_9", "--folder", str(tmp_path), "--orders", "natural,degree"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    table = [(line[0], line[1]) for line in lines[2:] if len(line) == len(bytes.HEADS)]
    assert table == [("grid2d_9", "natural"), ("grid2d_9", "degree"), ("wide", "natural")], "wide is not square"
    assert [line[-1] for line in lines if line].count("(holds)") == 3
    assert bytes.main(["--graphs", "grid2d_9", "--folder", str(tmp_path), "--least", "3"]) == 0
    assert "wide" not in capsys.readouterr().out
    assert bytes.main(["--graphs", "nothing"]) == bytes.main(["--graphs", "grid2d_9", "--orders", "nothing"]) == 2


def test_errors_of_estimates(tmp_path, capsys):
    """All entries and all rows are sampled of a small graph: nothing is off but the lower bound of rows."""
    path = tmp_path / "estimates.json"
    assert estimates.main(["--graphs", "grid2d_9,mycielskian5", "--rows", "100", "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    for row in found["rows"]:
        for tile in (4, 8, 16, 32):
            assert row[f"entries {tile}"] == pytest.approx(1, abs=1e-2) and row[f"rate {tile}"] == 1
            assert row[f"rows {tile}"] <= 1 and (tile > 4 or row[f"rows {tile}"] < 0.8)
    entries, rows, rate = found["factors"]["all"]
    assert entries == pytest.approx(1, abs=1e-2) and rows > 1.2 and rate == 1
    assert "class" in capsys.readouterr().out
    assert estimates.main(["--graphs", "nothing"]) == 2


def test_what_a_search_reads():
    """Edge by edge, where it pulls from the second round on; and where it never does."""
    graph = graphs.make("mycielskian5")
    ptr, col = graph.ptr.tolist(), graph.col.tolist()
    seen, frontier, read, pulled = {0}, [0], 0, 0
    while frontier:
        entries = sum(ptr[v + 1] - ptr[v] for v in frontier)
        if entries > graph.nvals / 16 or len(frontier) > graph.n / 16:
            found = set()
            for v in set(range(graph.n)) - seen:
                for e in range(ptr[v], ptr[v + 1]):
                    pulled += 1
                    if col[e] in frontier:
                        found.add(v)
                        break
        else:
            read += entries
            found = {col[e] for v in frontier for e in range(ptr[v], ptr[v + 1])} - seen
        seen |= found
        frontier = sorted(found)
    made = models.search_reads(graph, 0)
    assert (made.pushed, made.pulled, made.reached) == (read, pulled, graph.nvals) and pulled
    road = graphs.make("road_ny")
    assert models.search_reads(road, road.source)[:3] == (road.nvals, 0, 0)


def test_steps_of_warps(capsys):
    """64 rows of 8 columns far apart keep all lanes busy; one longer row leaves the other lanes of its warp idle."""
    n = 64
    lengths = np.full(n, 8)
    for longest, steps, busy in ((8, 4, 1.0), (24, 8, (63 * 8 + 24) / (8 * 128))):
        lengths[5] = longest
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        col = np.concatenate([np.arange(k) * 2 for k in lengths.tolist()])
        found = models.residual_steps(graphs.Graph("rows", ptr, col.astype(np.int32)))
        assert (found.steps, found.busy, found.stolen) == (steps, pytest.approx(busy), 4 + (longest > 8))
    assert models.main(["--graphs", "grid2d_9"]) == 0 and "stolen" in capsys.readouterr().out
    assert models.main(["--graphs", "nothing"]) == 2


def test_pieces_of_rows_are_compared(tmp_path, capsys):
    """CR2 with its clusters and groups on and off; bytes by the formulas of the slides."""
    assert cr2.main(["--graphs", "rmat6,grid2d_9", "--samples", "1", "--json", str(tmp_path / "a.json")]) == 0
    found = json.loads((tmp_path / "a.json").read_text())["graphs"]
    assert [one["graph"] for one in found] == ["rmat6", "grid2d_9"] and all(one["equal"] for one in found)
    graph = graphs.make("grid2d_9")  # no row has more than ten entries: E + 2 V, a pointer and a row for each
    assert found[1]["bytes"]["tigr"] * graph.nvals == 4 * (graph.nvals + 2 * graph.n)
    assert found[0]["bytes"]["cr2"] < found[0]["bytes"]["no groups"] and "inside" in capsys.readouterr().out


def test_bars_that_are_missed_are_said():
    row = ["g", "natural", 10, *[4.0] * (len(bytes.HEADS) - 7), 0.7, 1.5, "csr", "csr"]
    assert len(row) == len(bytes.HEADS)
    said = list(bytes.bars([row]))
    assert said[0].endswith("0.700 (MISSED)") and "1.5000, on g in natural order (MISSED)" in said[-1]


# --- whole algorithms ---


def test_whole_algorithms_are_checked(tmp_path, capsys):
    options = ["--device", "cpu", "--graphs", "grid2d_8", "--samples", "1", "--json", str(tmp_path / "programs.json")]
    assert programs.main(options) == 0
    rows = json.loads((tmp_path / "programs.json").read_text())["rows"]
    assert [row["algorithm"] for row in rows] == list(programs.ALGORITHMS)
    assert all(row["right"] for row in rows)
    # the time is up after the first of several sources
    assert programs.main([*options, "--seconds", "0", "--algorithms", "bfs,parents"]) == 0
    form = [*options, "--format", "split", "--tile", "8", "--algorithms", "bfs"]
    assert programs.main(form) == 0 and capsys.readouterr().out.splitlines()[-1].split()[-1] == "split8"


WRONG = {
    "bfs_levels": lambda level: level.apply(bitblas.binary.times, right=2),
    "sssp": lambda d: d.apply(bitblas.binary.plus, right=1),
    "pagerank": lambda r: r.apply(bitblas.binary.times, right=2.0),
    "connected_components": lambda label: label.apply(bitblas.binary.plus, right=1),
    "triangle_count": lambda count: count + 1,
    "maximal_independent_set": lambda member: member.apply(bitblas.unary.lnot),
    "coloring": lambda color: color.apply(bitblas.binary.times, right=0),
    "minimum_spanning_forest": lambda forest: forest.apply(bitblas.binary.plus, right=1.0),
    "levels_from_each": lambda level: level.apply(bitblas.binary.times, right=2),
    "betweenness_centrality": lambda share: share.apply(bitblas.binary.times, right=2.0),
    "bfs_parents": lambda parent: parent.apply(bitblas.binary.times, right=0),
    "label_propagation": lambda label: label.apply(bitblas.binary.plus, right=1),
    "louvain": lambda label: label.apply(bitblas.binary.times, right=0),
    "leiden": lambda label: label.apply(bitblas.binary.plus, right=1),
    "k_truss": lambda truss: truss.apply(bitblas.binary.plus, right=1),
    "truss_numbers": lambda number: number.apply(bitblas.binary.minus, right=9),
    "core_numbers": lambda core: core.apply(bitblas.binary.plus, right=1),
    "strongly_connected_components": lambda label: label.apply(bitblas.binary.plus, right=1),
}


def test_answers_that_are_wrong_are_seen(capsys, monkeypatch):
    """Of each algorithm, by its own check alone."""
    for name, wrong in WRONG.items():
        right = getattr(bitblas.algorithms, name)

        def spoilt(*args, right=right, wrong=wrong, **options):
            found = wrong(right(*args, **options))
            return found if isinstance(found, int) else found.new()

        monkeypatch.setattr(bitblas.algorithms, name, spoilt)
    assert programs.main(["--device", "cpu", "--graphs", "stencil27_3", "--samples", "1"]) == 1
    told = [line.split()[1:3] for line in capsys.readouterr().out.splitlines()[2:]]
    assert told == [[name, "NO"] for name in programs.ALGORITHMS]


def test_a_folder_has_files_of_graphs_and_a_table_its_algorithms(tmp_path, capsys):
    assert graphs.main(["grid2d_5", "rmat6", "--folder", str(tmp_path)]) == 0
    for name in ("grid2d_5", "rmat6"):
        stored, made = graphs.make(name, tmp_path), graphs.make(name)
        assert stored.name == name and np.array_equal(stored.ptr, made.ptr) and np.array_equal(stored.col, made.col)
    assert len(graphs.make("rmat6", tmp_path).directed.col) * 2 == made.nvals
    (tmp_path / "rmat6.npz").rename(tmp_path / "mine.npz")
    options = ["--device", "cpu", "--samples", "1", "--folder", str(tmp_path), "--graphs", "mine"]
    assert programs.main([*options, "--algorithms", "searches-table,triangles"]) == 0
    told = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[2:]]
    assert sorted(told) == sorted(["mine", name] for name in (*programs.TABLES["searches-table"], "triangles"))


def test_libraries_run_next_to_programs(tmp_path):
    """SciPy: its figures are a library of their own on the page of results."""
    out = tmp_path / "programs.json"
    options = ["--device", "cpu", "--graphs", "grid2d_8", "--samples", "1", "--json", str(out), "--libraries", "SciPy"]
    assert programs.main([*options, "--algorithms", "bfs,parents,components"]) == 0
    found = [figure for figure in results.read(tmp_path) if figure.run.who == "SciPy, 1 CPU thread"]
    assert [figure.algorithm for figure in found] == ["bfs", "parents", "components"]


def test_closeness_is_checked_whole_and_in_parts(tmp_path, monkeypatch):
    out = tmp_path / "closeness.json"
    options = ["--device", "cpu", "--graphs", "grid2d_30", "--json", str(out), "--seconds"]
    assert closeness.main([*options, "100"]) == 0 and closeness.main([*options, "0"]) == 0
    row = json.loads(out.read_text())["rows"][0]
    assert row["searches"] < row["n"] and not row["whole"]
    right = closeness.searched
    monkeypatch.setattr(closeness, "searched", lambda *args: (*right(*args)[:1], right(*args)[1] + 1, 1.0))
    assert closeness.main([*options, "0"]) == 1


# --- choices of the planner ---


def test_choices_are_measured_checked_and_fitted(tmp_path, capsys, monkeypatch):
    """A graph and a rectangular file in two forms; then the constants are fitted to the measurements."""
    monkeypatch.setattr(Facts, "forms", property(lambda self: ("csr", "b2sr8")))
    monkeypatch.setattr(choices, "SAMPLE_US", 1.0)
    wide_file(tmp_path)
    out, made = tmp_path / "out.json", tmp_path / "costs.json"
    options = ["--jobs", "0", "--samples", "1", "--folder", str(tmp_path), "--least", "1"]
    assert choices.main([*options, "--graphs", "grid2d_9", "--json", str(out)]) == 0
    text, data = capsys.readouterr().out, json.loads(out.read_text())
    grid, wide = data["samples"]
    assert grid["levels"] == 15 and wide["levels"] is None and grid["wrong"] == wide["wrong"] == []
    assert {name.split()[1] for name in wide["us"]} == {"bits", "numbers", "weights"}
    assert {name.split()[1] for name in grid["us"]} == {"bits", "numbers", "weights", "bfs"}
    assert "15 levels (estimated" in text and "the best single form: 100%" in text
    assert choices.main(["--refit", str(out), "--costs", str(made)]) == 0
    assert "fitted without it" in capsys.readouterr().out
    fitted = cost_model.Costs.from_json(json.loads(made.read_text())["cpu"])
    assert set(fitted.us) == {f"{key} {verb}" for key in ("csr", "b2sr8") for verb in cost_model.VERBS}
    assert choices.main([*options, "--graphs", "grid2d_9", "--limit", "0"]) == 0
    assert "no time for" in capsys.readouterr().out
    monkeypatch.setattr(choices, "difference", lambda got, expected: 1.0)
    assert choices.main(["--jobs", "0", "--graphs", "grid2d_9"]) == 1 and "WRONG ANSWERS" in capsys.readouterr().out
    assert choices.main(["--refit", str(made)]) == choices.main(["--graphs", "nothing", "--jobs", "0"]) == 2


def test_a_choice_is_judged():
    tiles = tuple((t, 1e4) for t in (4, 8, 16, 32, 64))
    seen = Facts(1 << 14, 1 << 14, 1 << 16, tiles, (), 9.0)
    us = {"csr": (20.0, 40.0, 500.0, 30.0), "b2sr8": (10.0, 50.0, 510.0, 20.0), "b2sr64": (1.0, 1.0, 1.0, 1.0)}
    sample = Sample("x", seen, {f"{k} {v}": t for k, times in us.items() for v, t in zip(cost_model.VERBS[:2], times)})
    sample.us.update({f"{k} bfs": times[2] for k, times in us.items()} | {"csr weights": 30.0, "b2sr8 weights": 20.0})
    alike = {f"{k} {v}": (1.0, *[0.0] * (cost_model.COUNTS[v] - 1)) for k in seen.forms for v in cost_model.VERBS}
    found = {pair.verb: pair for pair in judge.pairs(sample, cost_model.Costs("a test", "x", alike), kind="gpu")}
    assert {pair.chosen for pair in found.values()} == {"csr"}, "all promise the same"
    assert found["bits"].ratio == 2 and found["bits"].best == "b2sr8" and found["bits"].single == 1
    assert found["bits"].of_all == 4, "b2sr64 takes 1 us, which counts as 5, but has more bytes than CSR"
    assert found["numbers"].ratio == 1 and found["numbers"].single == 1.25
    assert found["bfs"].single == pytest.approx(1.02) and found["weights"].ratio == 1, "values stay by rows"
    assert judge.share(list(found.values())) == 0.75 == judge.share(list(found.values()), "single")
    assert "75%" in judge.summary(list(found.values()))


@pytest.mark.parametrize(
    "algorithms", [("components", "sssp", "bfs", "mis"), ("labels", "louvain", "cores")], ids=" ".join
)
def test_libraries(algorithms):
    result = libraries.measure(["delaunay_n6"], algorithms, ["bitblas", "SciPy"], 1, 1.0, 2, say=lambda text: None)
    assert result["equal"] and [row["algorithm"] for row in result["libraries"]] == list(algorithms)
    for row in result["libraries"]:
        assert ("SciPy" in row["sides"]) == (row["algorithm"] in ("components", "sssp", "bfs"))
        assert all(side["ms"] > 0 and side["right"] for side in row["sides"].values())
        assert row["algorithm"] in libraries.line(row, ["bitblas", "SciPy"])


def test_wrong_answers_of_libraries():
    graph = graphs.make("grid2d_9")
    for algorithm in libraries.ALGORITHMS:
        checks, wrong = libraries.Checks(graph), np.arange(graph.n)
        if algorithm in ("cores", "clustering"):  # libraries are compared with each other
            assert checks.is_right(algorithm, "igraph", wrong)
        if algorithm == "mis":
            wrong = wrong < 2
        if algorithm not in ("louvain", "leiden"):
            assert not checks.is_right(algorithm, "bitblas", wrong + 1 if wrong.dtype != bool else wrong)
        assert not checks.is_right(algorithm, "bitblas", wrong[1:])
    with pytest.raises(SystemExit):
        libraries.main(["--libraries", "pencil"])

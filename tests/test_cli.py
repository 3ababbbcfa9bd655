"""The command line: its output and its errors."""

import dataclasses
import inspect
import io
import sys
import time
from unittest.mock import Mock

import pytest
from cli_runs import BEST, EXPECTED, OTHERS, refused, result, run, said

import bitblas as gb
from bitblas import algorithms, cli
from bitblas.algorithms import Watch
from bitblas.cli import commands
from bitblas.cli.output import Ticker
from bitblas.cli.parser import parser
from bitblas.plan import cost_model, profile
from bitblas.plan.facts import Facts

ROUNDS = {"bfs": 4, "triangles": None}  # of the others at least one, except components by plain rows


@pytest.mark.parametrize("format", [[], ["--format", "csr"], ["--format", "b2sr", "--tile", "8"]])
@pytest.mark.parametrize("command", EXPECTED)
def test_results(capsys, graph, command, format):
    made = result(capsys, command, graph, *format)
    assert made["result"] == EXPECTED[command]
    assert (made["nrows"], made["nvals"], made["dtype"], made["device"]) == (6, 11, "INT64", "cpu")
    assert made["bytes"] > 0 and made["converged"]
    if command == "components":
        assert made["rounds"] is None
    else:
        assert made["rounds"] == ROUNDS[command] if command in ROUNDS else made["rounds"] >= 1


def some(commands, quick):
    """Each command, those that are not quick to compile only in slow runs."""
    return [pytest.param(c, marks=() if c in quick else (pytest.mark.slow,), id=c) for c in commands]


@pytest.mark.parametrize(
    "command", some(OTHERS, ("bfs --parents --depth-limit 1", "diameter", "ego --center 3 --radius 1"))
)
def test_results_of_others(capsys, graph, command):
    name, *options = command.split()
    right = {word: pytest.approx(value) for word, value in OTHERS[command].items()}
    assert result(capsys, name, graph, *options)["result"] == right


@pytest.mark.parametrize("command", some(BEST, ("katz", BEST[0])))
def test_best_vertices(capsys, graph, command):
    name, *options = command.split()
    made = result(capsys, name, graph, *options)["result"]
    scores = made["ranks" if name == "pagerank" else "scores"]
    assert len(made["first"]) == len(scores) == 5 and scores == sorted(scores, reverse=True) and scores[0] > 0


def test_the_largest_alone(capsys, graph, tmp_path):
    made = result(capsys, "cores", graph, "--top", "2", "--out", tmp_path / "cores.tsv")["result"]
    assert made == {"first": [0, 1], "cores": [2, 2]} and (tmp_path / "cores.tsv").read_text() == "0\t2\n1\t2\n"
    assert "error: argument --top: expected a number of 1" in refused(capsys, "cores", graph, "--top", "0")


def needed(command):
    return [word for flag, how in command.options.items() if how.get("required") for word in (flag, "1")]


def test_every_command_has_its_programs():
    """Arguments of a program other than the graph are options."""
    for command in (command for group in commands.COMMANDS.values() for command in group):
        args = parser().parse_args([command.name, "FILE", *needed(command)])
        known = inspect.signature(getattr(algorithms, command.program(args))).parameters
        options = {cli.algorithms.PARAMETER_NAMES.get(flag[2:], flag[2:]) for flag in command.options}
        assert not [p for p in [*known.values()][1:] if p.default is p.empty and p.name not in options], command.name


def test_what_did_not_converge_is_said(capsys, graph):
    made = result(capsys, "pagerank", graph)
    assert made["converged"] and 1 < made["rounds"] < 100
    short = result(capsys, "pagerank", graph, "--max-iter", "3")
    assert (short["converged"], short["rounds"]) == (False, 3)
    lines = said(capsys, "pagerank", graph, "--max-iter", "3").splitlines()
    assert lines[1] == "not converged after 3 rounds: raise --max-iter or --tol"
    assert "converged" not in said(capsys, "pagerank", graph)
    last = result(capsys, "pagerank", graph, "--max-iter", str(made["rounds"]))
    assert (last["converged"], last["rounds"]) == (True, made["rounds"])


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_for_terminals(monkeypatch, tune, terminal):
    seen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(seen, "isatty", lambda: terminal)
    tune({"progress.delay": 0.001, "progress.command_interval": 0.001})
    with Watch() as watch, Ticker("betweenness", watch):
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], nrows=3, ncols=3, device="cpu")
        algorithms.betweenness_centrality(A)
        until = time.monotonic() + 60
        while terminal and "round 3 of 3, " not in seen.getvalue() and time.monotonic() < until:
            time.sleep(0.001)
    last = seen.getvalue().rpartition("betweenness")[2]
    assert seen.getvalue() == "" if not terminal else last.endswith("\r") and not last.partition("\r")[2].strip()
    assert (watch.rounds, watch.total) == (3, 3)


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
    first, *each, last = out.splitlines()
    assert first == "source 1, reached 5, depth 2"
    assert each == [f"{v}\t{level}" for v, level in enumerate((1, 0, 1, 1, 2))]
    assert last.startswith("6 vertices, 11 entries, on cpu: read in ")


def test_info(capsys, graph):
    text = said(capsys, "info", graph)
    for words in ("INT64, 0 on the diagonal", "entries per", "median", "stored as csr", "smallest as ", "--forms"):
        assert words in text
    every = said(capsys, "info", graph, "--forms")
    assert len(text.splitlines()) < 12 and all(words in every for words in ("b2sr8", "<- auto", "memory in use"))
    made = result(capsys, "info", graph)
    assert (made["nvals"], made["loops"], made["chosen"], made["labels"]) == (11, 0, "csr", False)
    quantiles = {"min": 0, "25 %": 0, "median": 2, "75 %": 3, "90 %": 3, "99 %": 3, "max": 3}
    assert made["row_degrees"] == {**quantiles, "mean": 11 / 6, "empty": 2}
    assert made["column_degrees"]["max"] == 3
    A = gb.io.mmread(graph, device="cpu")
    assert made["forms"]["csr"]["bytes"] == A.profile().facts.bytes_of("csr")
    assert made["forms"]["b2sr8"]["entries_per_tile"] == 11
    pattern = A.profile().pattern
    assert made["pattern"] == list(pattern.classes) and made["pattern_shares"] == pattern.shares
    assert f"pattern: {pattern}" in every
    made = result(capsys, "info", graph, "--orders", "--device", "cpu")
    assert list(made["orders"]) == ["as it is", "degree", "bfs", "rcm", "community", "llp", "gorder"]
    assert made["best"] == ["as it is", "csr"]
    assert made["orders"]["rcm"]["permutation"] > 0 == made["orders"]["as it is"]["permutation"]
    assert set(made["orders"]["rcm"]["forms"]["csr"]) == {"bytes", "weights_us"} and "<- best" not in text
    assert "<- best" in said(capsys, "info", graph, "--orders")


def test_info_says_of_which_machine_times_are(capsys, graph, monkeypatch):
    here = gb.device.get("cpu").model
    monkeypatch.setattr(Facts, "forms", property(lambda self: ("csr", "b2sr8")))  # to be measured
    for device, more in (("a big machine", f"; run `bitblas calibrate` for this {here}"), (here, "")):
        known = dataclasses.replace(cost_model.shipped("cpu"), device=device, source="calibrated")
        monkeypatch.setattr(profile, "costs_of", lambda device, known=known: known)
        text = said(capsys, "info", graph, "--forms")
        assert f"times: predicted for {device} (calibrated){more}\n" in text and "measured" not in text
        assert f"measured on {here}: csr takes" in said(capsys, "info", graph, "--measure")
        made = result(capsys, "info", graph)
        assert made["times"] == {"predicted_for": device, "source": "calibrated", "measured_on": None}
        assert result(capsys, "info", graph, "--measure")["times"]["measured_on"] == here


def test_info_of_the_machine(capsys):
    assert "cpu" in result(capsys, "info")["devices"] and run(capsys, "info")[0] == 0


def test_help_has_every_command_in_its_group(capsys):
    text = parser().format_help_all()
    assert all(
        f" {command.name}" in parser().format_help() for group in commands.COMMANDS.values() for command in group
    )
    before = -1
    for folder, group in commands.COMMANDS.items():
        start = text.index(f"\n{folder}: ")
        assert start > before
        before = start
        for command in group:
            assert text.index(f"\n  {command.name}", start) > start
            args = parser().parse_args([command.name, "FILE", *needed(command)])
            assert folder in getattr(algorithms, command.program(args)).__module__
    assert max(map(len, text.splitlines())) <= 100


def test_bare_call_prints_help(capsys, monkeypatch):
    status, out, err = run(capsys)
    assert (status, err) == (0, "") and out.startswith("usage: bitblas") and "betweenness" in out
    monkeypatch.setattr(sys, "argv", ["bitblas"])
    assert cli.main() == 0 and capsys.readouterr()[0] == out


ERRORS = {
    "no command": (["--"], "COMMAND"),
    "unknown command": (["walk"], "walk: no such command (see 'bitblas --help')"),
    "nearly a command": (["pagrank"], "pagrank: no such command (see 'bitblas --help'); did you mean 'pagerank'?"),
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
    "an edge list's option": (["bfs", "GRAPH", "--undirected", "--base", "1"], "options of edge lists (--base)"),
    "no output": (["convert", "GRAPH"], "--out"),
    "forest into a text": (["msf", "GRAPH", "--out", "tree.xyz"], "tree.xyz: expected a name"),
    "no folder for the output": (["bfs", "GRAPH", "--out", "none/x.tsv"], "none/x.tsv: No such file"),
    "katz that diverges": (
        ["katz", "GRAPH", "--alpha", "5"],
        "alpha: expected less than 1 over the largest eigenvalue",
    ),
}
SEVERAL = {  # arguments of `several`, which reads no graph before it has understood all of them
    "no algorithm": (["info"], "expected the names of algorithms, got 'info'"),
    "an option of the file": (["bfs --undirected"], "outside the quotes of 'bfs --undirected', got --undirected"),
    "no such option": (["bfs --sauce 1"], "did you mean '--source'"),
    "an option of an algorithm": (["bfs", "--top", "3"], "--top: put an option of an algorithm inside the"),
    "where it is to go": (["bfs", "--out", "a.csv"], "--out: put an option of an algorithm inside the quotes"),
    "nothing like it": (["bfs", "--zzz"], "--zzz: no such option (see"),
    "no such file": (["bfs --out /no/such/folder/a.tsv"], "folder/a.tsv: No such file"),
}
ERRORS |= {f"several: {name}": (["several", "no.mtx", *argv], words) for name, (argv, words) in SEVERAL.items()}


def test_msf_answers_to_forest_too(capsys, graph):
    assert result(capsys, "forest", graph)["result"] == result(capsys, "msf", graph)["result"] == EXPECTED["msf"]


@pytest.mark.parametrize("argv, words", ERRORS.values(), ids=ERRORS)
def test_errors(capsys, graph, argv, words):
    argv = [graph if a == "GRAPH" else a for a in argv]
    device = ["--device", "cpu"] if graph in argv and "--device" not in argv else []
    assert words in refused(capsys, *argv, *device)


def test_betweenness(capsys, names):
    whole = result(capsys, "betweenness", names)
    made = whole["result"]
    assert (made["sources"], made["first"][:3], made["scores"][:4]) == (5, ["ann", "bob", "carl"], [1, 1, 1, 0])
    assert (whole["rounds"], whole["converged"]) == (5, True)
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


def test_an_interrupt_has_a_code_and_a_bug_is_not_hidden(monkeypatch, graph):
    monkeypatch.setattr(cli.algorithms, "load", Mock(side_effect=[KeyboardInterrupt, ZeroDivisionError]))
    assert cli.main(["bfs", graph]) == 130
    with pytest.raises(ZeroDivisionError):
        cli.main(["bfs", graph])

"""Progress on standard error: one line for all that report, and how long kernels were compiled."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import warnings

import pytest

import bitblas as gb
from bitblas import cli, status
from bitblas.cli import ticker
from bitblas.cli.timing import Timer
from bitblas.device import jit, objects
from bitblas.io import progress


class Terminal(io.StringIO):
    """What a terminal shows: `screen` is its last lines, of which \\r begins the last one again."""

    def isatty(self):
        return True

    @property
    def screen(self):
        lines = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for part in line.split("\r"):
                shown = part + shown[len(part) :]
            lines.append(shown.rstrip())
        return lines


@pytest.fixture
def terminal(monkeypatch):
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("COLUMNS", "100")
    yield made
    assert made.screen[-1] == "" and not status._texts


def test_reading_running_and_compiling_share_a_line(terminal, monkeypatch):
    """None overwrites another, in whatever order they come and go; what is printed stays above."""
    monkeypatch.setattr(progress, "WAIT", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    reading = progress.Progress("folder/graph.csv", 1000, None)
    reading.at(500)
    assert terminal.screen == ["graph.csv: [##########          ]  50 % of 0 MB"]
    monkeypatch.setattr(objects, "compiled", 6)
    with objects._said():
        both = "graph.csv: [##########          ]  50 % of 0 MB; bitblas: compiling kernel 7, once for this machine"
        assert terminal.screen == [both[:99]]  # as much as fits in the line
        reading.at(1000)
        assert terminal.screen[0].startswith("graph.csv: [####################] 100 % of 0 MB; bitblas: compiling")
        with warnings.catch_warnings():
            warnings.showwarning = cli._warn
            warnings.warn("a word", stacklevel=1)
        assert terminal.screen[0] == "bitblas: warning: a word" and terminal.screen[1].startswith("graph.csv: [##")
        reading.close()
        assert terminal.screen[1] == "bitblas: compiling kernel 7, once for this machine"
        status.show("run", "pagerank: 3 s")
    assert terminal.screen[1] == "pagerank: 3 s"
    status.clear("run")
    status.clear("run")
    assert terminal.screen == ["bitblas: warning: a word", ""]


def test_a_ticker_and_a_compiler_take_turns(terminal, monkeypatch):
    monkeypatch.setattr(ticker, "WAIT", 0.001)
    monkeypatch.setattr(ticker, "PAUSE", 0.001)
    with ticker.Ticker("pagerank"), objects._said():
        while "pagerank: " not in terminal.getvalue():
            pass
        assert all("compiling kernel" in shown for shown in terminal.screen if "pagerank" in shown)
    assert terminal.screen == [""]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_a_line_of_its_own(terminal):
    status.show("run", "pagerank: 3 s")
    with status._lock:
        child = os.fork()
        if not child:
            try:
                os._exit(7 * bool(status._texts) or 3 * (not status._lock.acquire(timeout=10)))
            finally:
                os._exit(9)
    assert os.waitpid(child, 0)[1] == 0
    status.clear("run")


def test_time_in_compilers_is_counted_once(monkeypatch):
    times = iter([10.0, 11.0, 11.5, 14.0])
    monkeypatch.setattr(jit.time, "perf_counter", lambda: next(times))
    monkeypatch.setattr(jit, "compile_seconds", 1.0)
    with jit.timed(), jit.timed():
        pass
    assert jit.compile_seconds == 5.0


def test_times_say_what_compiling_took(monkeypatch):
    with Timer() as taken:
        monkeypatch.setattr(jit, "compile_seconds", jit.compile_seconds + 0.25)
    assert taken.compiling == 0.25 and str(taken).endswith(" s, of which 0.250 s compiling kernels")
    with Timer() as taken:
        pass
    assert taken.compiling == 0 and "compiling" not in str(taken)


def test_commands_say_what_compiling_took(tmp_path):
    """With an empty cache reading and running compile; a second time, and in a process that has the kernels, not."""
    path = tmp_path / "graph.csv"
    path.write_text("".join(f"{k},{(k * 7) % 500},{k % 9 + 1}\n" for k in range(500)))
    env = {**os.environ, "BITBLAS_CACHE": str(tmp_path / "cache"), "NUMBA_OPT": "0"}
    code = (
        "import sys; from bitblas.device import shipped; shipped.find = lambda key: None; from bitblas.cli import main"
    )
    code += "; sys.exit(main(sys.argv[1:]))"

    def run(*more):
        command = [sys.executable, "-c", code, "sssp", str(path), "--device", "cpu", *more]
        return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300, check=True).stdout

    last = run().splitlines()[-1]
    assert "ran in " in last and " s, of which " in last and last.endswith(" s compiling kernels")
    made = json.loads(run("--json"))
    assert made["compile_seconds"] == made["read_compile_seconds"] == 0 < made["seconds"]
    assert "compiling" not in run().splitlines()[-1]


def test_without_a_terminal_nothing_is_shown(capsys):
    with objects._said(), ticker.Ticker("pagerank"):
        reading = progress.Progress("graph.csv", 1000, None)
        assert not reading.shown
    assert capsys.readouterr().err == "" and not status._texts
    assert gb.config is not None

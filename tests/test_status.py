"""Progress on standard error: one line for all that report, and how long kernels were compiled."""

import io
import json
import os
import re
import sys
import time
import types

import pytest

from bitblas import cli, display
from bitblas.cli import algorithms
from bitblas.cli import output as ticker
from bitblas.cli.output import Timer
from bitblas.device import cubins, jit, object_files
from bitblas.io import files
from bitblas.kernels.variant import Variant


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


def on_a_terminal(monkeypatch):
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("COLUMNS", "100")
    return made


def test_reading_running_and_compiling_share_a_line(monkeypatch, tune):
    """None overwrites another, in any order of beginning and end; printed lines stay above."""
    terminal = on_a_terminal(monkeypatch)
    tune({"progress.delay": 0.0, "progress.file_interval": 0.0})
    reading = files.Progress("folder/graph.csv", 1000, None)
    reading.at(500)
    assert terminal.screen == ["graph.csv: [##########          ]  50 % of 0 MB"]
    monkeypatch.setattr(object_files, "compiled", 6)
    with object_files._notice():
        both = "graph.csv: [##########          ]  50 % of 0 MB; bitblas: compiling kernel 7, once for this machine"
        assert terminal.screen == [both[:99]]  # as much as fits in the line
        reading.at(1000)
        assert terminal.screen[0].startswith("graph.csv: [####################] 100 % of 0 MB; bitblas: compiling")
        cli._warn("a word")
        assert terminal.screen[0] == "bitblas: warning: a word" and terminal.screen[1].startswith("graph.csv: [##")
        reading.close()
        assert terminal.screen[1] == "bitblas: compiling kernel 7, once for this machine"
        display.show_status("run", "pagerank: 3 s")
    assert terminal.screen[1] == "pagerank: 3 s"
    display.clear_status("run")
    display.clear_status("run")
    assert terminal.screen == ["bitblas: warning: a word", ""] and not display._texts


def test_a_ticker_and_a_compiler_take_turns(monkeypatch, tune):
    terminal = on_a_terminal(monkeypatch)
    tune({"progress.delay": 0.001, "progress.command_interval": 0.001})
    with ticker.Ticker("pagerank"), object_files._notice():
        until = time.monotonic() + 60
        while "pagerank: " not in terminal.getvalue() and time.monotonic() < until:
            time.sleep(0.001)
        assert all("compiling kernel" in shown for shown in terminal.screen if "pagerank" in shown)
    assert terminal.screen == [""]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_a_line_of_its_own(monkeypatch):
    on_a_terminal(monkeypatch)
    display.show_status("run", "pagerank: 3 s")
    with display._lock:
        child = os.fork()
        if not child:
            try:
                os._exit(7 * bool(display._texts) or 3 * (not display._lock.acquire(timeout=10)))
            finally:
                os._exit(9)
    assert os.waitpid(child, 0)[1] == 0
    display.clear_status("run")


def test_time_in_compilers_is_counted_once(monkeypatch):
    times = iter([10.0, 11.0, 14.0])  # two begin, one of them in the other
    monkeypatch.setattr(jit, "time", types.SimpleNamespace(perf_counter=lambda: next(times)))
    monkeypatch.setattr(jit, "compile_seconds", 1.0)
    with jit.timed(), jit.timed():
        pass
    assert jit.compile_seconds == 5.0


def test_times_say_what_compiling_took(monkeypatch):
    with Timer() as taken:
        monkeypatch.setattr(jit, "compile_seconds", jit.compile_seconds + 0.25)
    assert taken.compiling == 0.25 and str(taken) == "0.000 s, after 0.250 s of compiling kernels, once per machine"
    with Timer() as taken:
        pass
    assert taken.compiling == 0 and "compiling" not in str(taken)


def test_commands_say_what_compiling_took(tmp_path, monkeypatch, capsys):
    """Reading and running each say it, and only if something was compiled."""
    path = tmp_path / "graph.csv"
    path.write_text("0,1\n1,2\n2,0\n")
    real = algorithms.Command.call

    def call(*arguments):
        jit.compile_seconds += 1.5
        return real(*arguments)

    def run(*more):
        assert cli.main(["bfs", str(path), "--device", "cpu", *more]) == 0
        return capsys.readouterr().out.splitlines()[-1]

    run()  # whatever is compiled is
    assert "compiling" not in run()
    monkeypatch.setattr(algorithms.Command, "call", call)
    assert re.search(
        r"read in \d+\.\d+ s, ran in \d+\.\d+ s, after 1\.500 s of compiling kernels, once per machine$", run()
    )
    made = json.loads(run("--json"))
    assert made["compile_seconds"] == 1.5 and made["read_compile_seconds"] == 0


def test_what_compilers_take_is_counted(monkeypatch):
    """For the CPU and for GPUs."""
    monkeypatch.setattr(jit, "_write", lambda *arguments: None)
    monkeypatch.setattr(object_files, "cached_object", lambda symbol: None)
    before = jit.compile_seconds
    object_files._load_or_build("plus", "key", lambda symbol: time.sleep(0.01) or [(b"", ())])
    assert jit.compile_seconds >= before + 0.01
    before = jit.compile_seconds
    monkeypatch.setattr(cubins, "compile_text", lambda *arguments: time.sleep(0.01) or (b"", ""))
    monkeypatch.setattr(cubins, "nvrtc_version", lambda: "0")
    monkeypatch.setattr(jit, "cuda_source", lambda variant: "text")
    cubins.cubin(Variant("kernels/words"), "sm_90", log=lambda said: None)
    assert jit.compile_seconds >= before + 0.01


def test_without_a_terminal_nothing_is_shown(capsys):
    with object_files._notice(), ticker.Ticker("pagerank"):
        reading = files.Progress("graph.csv", 1000, None)
        assert not reading.shown
    assert capsys.readouterr().err == "" and not display._texts

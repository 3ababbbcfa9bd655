"""Output of the commands: result files, summaries (colored tables on a terminal), progress lines, run times."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import json
import os
import sys
import threading
import time
from collections.abc import Hashable, Mapping
from types import TracebackType
from typing import IO, Any

import numpy as np

from .. import display, tuning
from ..algorithms import Watch
from ..core import Matrix, Vector
from ..device import jit
from ..exceptions import InvalidValue
from ..extras import hint
from ..io import Graph, host_coo, mmwrite
from ..io import write as write_matrix
from ..io.edgelist import quote
from ..io.file_formats import DELIMITERS, output_format_of
from ..io.files import Output, open_output
from ..io.tables import Columns, table_of
from .input import Fault

# ---- Write results: to files by suffix or to stdout; the summary then goes to stderr.

STDOUT = "-"
TABLES = {".json": "json", ".parquet": "parquet"}  # of results: named columns


def add_out(p: argparse.ArgumentParser, help: str, *, required: bool = False) -> None:
    """The options of a command that writes a file; `check` and `target` read them."""
    p.add_argument("--out", metavar="OUT", required=required, help=f"{help}; - is standard output")
    p.add_argument("--force", action="store_true", help="allow OUT to replace FILE")


def check(args: argparse.Namespace) -> None:
    """Before the work, refuse an output path that cannot be written or that would replace the input."""
    if args.out in (None, STDOUT):
        return
    if not os.path.isdir(os.path.dirname(os.path.realpath(args.out))):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), args.out)
    given = getattr(args, "file", None)
    if not args.force and given and os.path.exists(given) and os.path.exists(args.out):
        if os.path.samefile(given, args.out):
            raise Fault(f"--out: expected a different file than the input, got {args.out}. Hint: --force replaces it")


def kind_of(out: str, *, matrix: bool) -> str:
    """The format of a result, from the name of its file. InvalidValue for an unknown suffix, or for a vector in a
    format that stores only matrices."""
    if out == STDOUT:
        return "tsv"
    kind = output_format_of(out, more=TABLES)
    if kind == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise ImportError(f"{out}: needs pyarrow: {hint('arrow')}")
    if kind == "bitblas" and not matrix:
        raise InvalidValue(f"{out}: expected a file of vertices and values (.tsv, .csv, .npz, .mtx ..), got .bitblas")
    return kind


def target(out: str) -> Output:
    """The target of a writer: the path, or standard output."""
    return sys.stdout.buffer if out == STDOUT else out


def print_summary(args: argparse.Namespace, record: Mapping[str, object], text: str) -> None:
    """Print a summary, or one JSON object: on stdout, or on stderr if the result itself goes to stdout."""
    words = json.dumps({"command": args.command, **record}) if args.json else text
    print(words, file=sys.stderr if getattr(args, "out", None) == STDOUT else sys.stdout)


def word(value: object) -> str:
    """A value in a one-line summary: lists are separated by blanks; names with blanks or commas are quoted."""
    if isinstance(value, list):
        return " ".join(map(word, value))
    if isinstance(value, str) and (not value or any(c in ' ,"' or c.isspace() for c in value)):
        return json.dumps(value, ensure_ascii=False)
    return plain(value)


def plain(value: object) -> str:
    """A value of a summary as text."""
    if isinstance(value, list):
        return " ".join(map(plain, value))
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def largest(answer: Vector, count: int) -> np.ndarray:
    """Positions of the `count` largest values of a Vector, in descending order; ties by index."""
    values = host_coo(answer)[1]
    descending = -values if values.dtype.kind == "f" else ~values  # exact for unsigned integers and BOOL too
    order: np.ndarray = np.argsort(descending, kind="stable")[:count]
    return order


def as_table(answer: Matrix | Vector, graph: Graph, vertices: bool, top: int | None = None) -> Columns:
    """The result as a table; vertices by their names, if they have names."""
    columns = table_of(answer, graph.labels)
    if top is not None and isinstance(answer, Vector):
        best = largest(answer, top).tolist()
        lists = {name: _values(column) for name, column in columns.items()}
        columns = {name: [values[k] for k in best] for name, values in lists.items()}
    if vertices and graph.labels is not None:
        columns["value"] = [graph.labels[x] for x in _values(columns["value"])]
    return columns


def _values(column: np.ndarray | list[Hashable]) -> list[Any]:
    """A column as Python objects."""
    return column.tolist() if isinstance(column, np.ndarray) else column


def _write_table(out: str, kind: str, columns: Columns, header: bool = False) -> None:
    """Write columns as .json, .parquet, or lines. header: lines start with the column names."""
    with open_output(target(out)) as stream:
        if kind == "parquet":
            from pyarrow import parquet, table

            parquet.write_table(table(columns), stream)
        elif kind == "json":
            stream.write(json.dumps({name: _values(column) for name, column in columns.items()}).encode() + b"\n")
        else:
            mark = DELIMITERS[kind]
            texts = (
                map(str, column.tolist()) if isinstance(column, np.ndarray) else [quote(str(x), mark) for x in column]
                for column in columns.values()
            )
            for row in (*[columns] * header, *zip(*texts)):
                stream.write(f"{mark.join(row)}\n".encode())


def write_lines(out: str, answer: Matrix, graph: Graph) -> bool:
    """Write the rows of a Matrix whose values are vertices as lines (or JSON lists) of names. False if the format of
    the file has no such lines."""
    kind = kind_of(out, matrix=True)
    if kind not in (*DELIMITERS, "json"):
        return False
    rows, _, values = host_coo(answer)
    parts = np.split(values, np.searchsorted(rows, np.arange(1, answer.nrows)))
    names = [[graph.label(v) for v in part.tolist()] for part in parts]
    with open_output(target(out)) as stream:
        if kind == "json":
            stream.write(json.dumps({"walks": names}).encode() + b"\n")
        else:
            mark = DELIMITERS[kind]
            for line in names:
                stream.write(f"{mark.join(quote(str(x), mark) for x in line)}\n".encode())
    return True


def write_points(out: str, answer: Matrix, graph: Graph, axes: tuple[str, ...], header: bool = False) -> None:
    """Write a Matrix with a row of numbers per vertex: as a table of vertex and one column per axis (lines, .json,
    .parquet), or as the n x k matrix itself (.npz, .mtx, .bitblas). header: lines start with the column names."""
    kind = kind_of(out, matrix=True)
    if kind not in (*DELIMITERS, *TABLES.values()):
        write_matrix(target(out), answer, kind)
        return
    points = answer.device.to_host(answer.to_dense(0))
    columns = {axis: points[:, k] for k, axis in enumerate(axes)}
    _write_table(out, kind, {"vertex": list(graph.vertices), **columns}, header)


def write(
    out: str, answer: Matrix | Vector, graph: Graph, vertices: bool, top: int | None = None, header: bool = False
) -> None:
    """Write a result to a file: a table as .json or .parquet; a Matrix as a matrix file; a Vector as lines, .npz or one
    column of Matrix Market.

    vertices: the values are vertices and are written as names too. top: write only this many of the largest values of
    a Vector, in descending order if the format keeps an order. header: lines start with the column names.
    """
    kind = kind_of(out, matrix=isinstance(answer, Matrix))
    if isinstance(answer, Matrix) and kind not in TABLES.values():
        options: dict[str, Any] = {"labels": graph.labels, "header": header} if kind in DELIMITERS else {}
        write_matrix(target(out), answer, kind, **options)
        return
    if kind in (*TABLES.values(), *DELIMITERS):
        _write_table(out, kind, as_table(answer, graph, vertices, top), header)
        return
    index, values = host_coo(answer)
    if top is not None and isinstance(answer, Vector):
        best = largest(answer, top)
        index, values = index[best], values[best]
        answer = Vector.from_coo(index, values, size=answer.size)
    if kind == "mtx":
        mmwrite(target(out), answer)
        return
    arrays: dict[str, Any] = {"indices": index, "values": values, "size": answer.shape[0]}
    arrays |= {} if graph.labels is None else {"labels": np.array(graph.labels)}
    with open_output(target(out)) as stream:
        np.savez(stream, **arrays)


# ---- Format a summary as a colored table on a terminal (no colors if NO_COLOR is set); pipes get plain words.

BOLD, DIM, CYAN, END = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"


def is_terminal(stream: IO[str] | None = None) -> bool:
    """Whether the output goes to a terminal."""
    return bool((stream or sys.stdout).isatty())


def paint(text: str, code: str) -> str:
    """The text in color on a terminal, unless colors are turned off: https://no-color.org."""
    colors = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"{code}{text}{END}" if colors else text


def table(summary: Mapping[str, object]) -> str:
    """One line per item of a summary; lists of equal length become the columns of a table."""
    lists = {key: list(map(plain, value)) for key, value in summary.items() if isinstance(value, list)}
    lines = [f"{paint(f'{key:>12}', CYAN)}  {plain(value)}" for key, value in summary.items() if key not in lists]
    if lists:
        widths = {key: max(len(key), *map(len, cells), 0) for key, cells in lists.items()}
        lines.append("  ".join(paint(f"{key:>{widths[key]}}", BOLD) for key in lists))
        lines += ["  ".join(f"{cell:>{widths[key]}}" for key, cell in zip(lists, row)) for row in zip(*lists.values())]
    return "\n".join(lines)


# ---- Measure the run time of a command and how much of it compiled kernels.


class Timer:
    """`with Timer() as timer:` sets `timer.seconds` and `timer.compiling` at the end of the block."""

    def __init__(self) -> None:
        self.seconds = self.compiling = 0.0

    def __enter__(self) -> Timer:
        self._begin, self._compiled = time.perf_counter(), jit.compile_seconds
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.seconds = time.perf_counter() - self._begin
        self.compiling = jit.compile_seconds - self._compiled

    def __str__(self) -> str:
        if self.compiling < 0.0005:
            return f"{self.seconds:.3f} s"
        rest = max(0.0, self.seconds - self.compiling)
        return f"{rest:.3f} s, after {self.compiling:.3f} s of compiling kernels, once per machine"


# ---- A progress line on the terminal while a command runs: rounds and seconds.


class Ticker:
    """`with Ticker(name, watch):` shows the progress that `watch` records on stderr, if that is a terminal."""

    def __init__(self, name: str, watch: Watch | None = None) -> None:
        self.name, self.watch = name, watch
        self.begin = time.monotonic()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True) if sys.stderr.isatty() else None

    def __enter__(self) -> None:
        if self.thread is not None:
            self.thread.start()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.done.set()
        if self.thread is not None:
            self.thread.join()
            display.clear_status(self)

    def _run(self) -> None:
        pause = tuning.value("progress.delay")
        while not self.done.wait(pause):
            pause = tuning.value("progress.command_interval")
            display.show_status(self, self.line())

    def line(self) -> str:
        seconds = f"{time.monotonic() - self.begin:.0f} s"
        if self.watch is None or self.watch.rounds is None:
            return f"{self.name}: {seconds}"
        total = "" if self.watch.total is None else f" of {self.watch.total}"
        return f"{self.name}: round {self.watch.rounds}{total}, {seconds}"

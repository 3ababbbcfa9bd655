"""Compile the CPU kernels ahead of use: run programs in several processes that share the kernel cache.

The programs are the algorithms on two small graphs and on the shipped road network, and user programs: Python files,
and Markdown pages that contain Python. Their output is dropped.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import bitblas as gb

from .. import compare
from .. import device as devices
from ..compare import every as every_program
from ..compare import programs
from ..config import config
from ..device import object_files, threads
from ..io import mmread
from ..loop import at_once
from . import statements


class Done(NamedTuple):
    """A finished program: the number of kernels compiled for it, its error or "", and the kernels it used
    (`objects.used`)."""

    program: str
    kernels: int
    error: str
    used: dict[str, set[str]]


GRAPHS = ("first", "town", "road")


@functools.cache
def graph(name: str) -> compare.Operands:
    """The graph of the matrix program in the README, a town of 40 x 40 crossings, or the roads of New York."""
    if name == "road":
        return compare.Operands(mmread(compare.demo_path(), device="cpu"))
    n, edges = 6, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5)]
    if name == "town":
        n = 1600
        streets = [(i, i + 1) for i in range(n) if (i + 1) % 40] + [(i, i + 40) for i in range(n - 40)]
        edges = streets + [(j, i) for i, j in streets]
    rows, cols = zip(*edges)
    return compare.Operands(gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, device="cpu"))


def tasks(files: Iterable[str], plain: bool = False, every: bool = False) -> list[str]:
    """The names of the tasks: an algorithm and a graph, or a file. plain: also the statements of each type. every: also
    the algorithms that `compare` does not run, on the small graphs."""
    statement_tasks = [f"{part} {name}" for part in statements.PARTS for name in statements.TYPES] if plain else []
    compared = [program.name for program in programs()]
    more = [program.name for program in every_program() if every and program.name not in compared]
    names = {"road": compared, "town": compared + more, "first": compared + more}
    return [*statement_tasks, *files, *(f"{name} {graph}" for graph in GRAPHS[::-1] for name in names[graph])]


def run(task: str) -> Done:
    """Run one program; with several thread counts if it compiles for other processors too: plans depend on them."""
    before, counts = object_files.compiled, (1, 2, 16) if object_files.also else (threads.count(),)
    try:
        if task not in tasks((), plain=True, every=True) and not Path(task).is_file():
            raise FileNotFoundError(f"expected a program, got {task}")
        for count in counts:
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                with config.set(device="cpu", threads=count):
                    (_run_file if Path(task).is_file() else _run_algorithm)(task)
    except (Exception, SystemExit) as error:
        if not isinstance(error, SystemExit) or error.code:
            return Done(task, object_files.compiled - before, f"{type(error).__name__}: {error}", object_files.used)
    return Done(task, object_files.compiled - before, "", object_files.used)


def _run_algorithm(task: str) -> None:
    name, _, which = task.rpartition(" ")
    if name in statements.PARTS:
        for operands in map(graph, ("first", "town")):
            statements.run(name, which, operands.rows, operands.cols, operands.n)
        return
    program = next(p for p in every_program() if p.name == name)
    matrix = compare.Side("cpu", gb, graph(which), device="cpu").matrix(program.form)
    for stored in _stored(matrix):
        program.call(stored, 0, gb)
        with at_once():
            program.call(stored, 0, gb)


def _stored(matrix: gb.Matrix) -> Iterator[gb.Matrix]:
    """The matrix as built, in the form that the planner chooses after many reads, and in the tiles that it chooses for
    larger meshes, each form once."""
    yield matrix
    made = matrix.format
    matrix._read(now=True)
    if matrix.format != made:
        yield matrix
    tiles = type(matrix)(matrix.dtype, *matrix.shape, device="cpu", format="b2sr", tile=8)
    if tiles.format != matrix.format:
        tiles << matrix
        yield tiles


def _run_file(task: str) -> None:
    path, here, arguments = Path(task).resolve(), Path.cwd(), sys.argv
    try:
        if path.suffix == ".md":
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                names: dict[str, object] = {"__name__": "__main__"}
                for block in re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL):
                    exec(compile(block, str(path), "exec"), names)
        else:
            sys.argv = [str(path)]
            runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = arguments
        os.chdir(here)


def _compile_also(targets: Sequence[str]) -> None:
    object_files.also = tuple(targets)


def warm(tasks: Sequence[str], processes: int | None = None, also: Sequence[str] = ()) -> Iterator[Done]:
    """Run all tasks and yield them as they finish. processes: default: one per available processor. also: further
    processors of `targets.SHIPPED` to compile for."""
    devices.get("cpu")
    count = threads.processors() if processes is None else processes
    context = multiprocessing.get_context("spawn")  # processes share compiled kernels only through the cache
    with ProcessPoolExecutor(count, context, _compile_also, (also,)) as pool:
        for future in as_completed([pool.submit(run, task) for task in tasks]):
            yield future.result()

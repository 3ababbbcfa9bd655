"""Compile kernels ahead of use: run programs, on the CPU or a GPU, in several processes that share the kernel cache.

The programs are the algorithms on two small graphs and on the shipped road network, and user programs: Python files,
and Markdown pages that contain Python. Their output is dropped. For packages, the usual statements over the usual
types are added.

`python -m bitblas.registry.warm FOLDER PROGRAM..` builds the object files that a package ships
(device/object_files.py), as the build of a wheel does: it runs the programs with an empty cache, and compiles every
kernel that they use on the CPU for every processor of `native.SHIPPED`; with `--host`, only those of the user programs,
and only for this processor, which takes a small fraction of the time.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import multiprocessing
import os
import re
import runpy
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import numpy as np

import bitblas as gb
from semirings import DataType

from .. import compare
from .. import device as devices
from ..compare import every as every_program
from ..compare import programs
from ..config import config
from ..device import cpu, cubins, dictionaries, jit, native, object_files, threads
from ..io import mmread
from ..loop import at_once


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
    statement_tasks = [f"{part} {name}" for part in PARTS for name in TYPES] if plain else []
    compared = [program.name for program in programs()]
    more = [program.name for program in every_program() if every and program.name not in compared]
    names = {"road": compared, "town": compared + more, "first": compared + more}
    return [*statement_tasks, *files, *(f"{name} {graph}" for graph in GRAPHS[::-1] for name in names[graph])]


def compiled() -> int:
    """The kernels that this process has compiled, or begun to compile, for the CPU and for GPUs."""
    return object_files.compiled + cubins.requested


def run(task: str, device: str = "cpu") -> Done:
    """Run one program; with several thread counts if it compiles for other processors too: plans depend on them."""
    before, counts = compiled(), (1, 2, 16) if object_files.also else (threads.count(),)
    try:
        if task not in tasks((), plain=True, every=True) and not Path(task).is_file():
            raise FileNotFoundError(f"expected a program, got {task}")
        for count in counts:
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                with config.set(device=device, threads=count):
                    run_file(task) if Path(task).is_file() else _run_algorithm(task, device)
    except (Exception, SystemExit) as error:
        if not isinstance(error, SystemExit) or error.code:
            return Done(task, compiled() - before, f"{type(error).__name__}: {error}", object_files.used)
    return Done(task, compiled() - before, "", object_files.used)


def _run_algorithm(task: str, device: str) -> None:
    name, _, which = task.rpartition(" ")
    if name in PARTS:
        for operands in map(graph, ("first", "town")):
            run_statements(name, which, operands.rows, operands.cols, operands.n)
        return
    program = next(p for p in every_program() if p.name == name)
    matrix = compare.Side(device, gb, graph(which), device=device).matrix(program.form)
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
    tiles = type(matrix)(matrix.dtype, *matrix.shape, device=matrix.device.name, format="b2sr", tile=8)
    if tiles.format != matrix.format:
        tiles << matrix
        yield tiles


def run_file(task: str) -> None:
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


def _compile_also(also: Sequence[str]) -> None:
    object_files.also = tuple(also)


def warm(
    tasks: Sequence[str], processes: int | None = None, also: Sequence[str] = (), device: str = "cpu"
) -> Iterator[Done]:
    """Run all tasks on a device and yield them as they finish. processes: default: one per available processor. also:
    further processors of `native.SHIPPED` to compile for."""
    devices.get(device)
    count = threads.processors() if processes is None else processes
    context = multiprocessing.get_context("spawn")  # processes share compiled kernels only through the cache
    with ProcessPoolExecutor(count, context, _compile_also, (also,)) as pool:
        for future in as_completed([pool.submit(run, task, device) for task in tasks]):
            yield future.result()


def warm_program(program: Callable[[gb.Matrix], object], *, device: str | None = None) -> int:
    """Compile the kernels of a program before its first real call, by calling it with small graphs.

    Parameters
    ----------
    program : callable
        A function of one square Matrix, for example an algorithm, or `lambda A: bfs_levels(A, 0)`. It is called with
        graphs of 6 and of 1600 vertices, with BOOL and with INT64 values.
    device : str, optional
        "cpu", "cuda" or "cuda:1"; the default is `gb.config.device`.

    Returns
    -------
    int
        The number of kernels that were compiled; 0 if all were shipped or cached.

    Raises
    ------
    TypeError
        `program` is not callable.
    DeviceError
        The device does not work. Errors of the program itself are raised unchanged.
    """
    if not callable(program):
        raise TypeError(f"program: expected a function of a Matrix, got {type(program).__name__}")
    before = compiled()
    with config.set(device=device or config.device):
        for operands in map(graph, GRAPHS[:2]):
            rows, cols, n = operands.rows, operands.cols, operands.n
            for values in (True, 1):
                program(gb.Matrix.from_coo(rows, cols, values, nrows=n, ncols=n))
    return compiled() - before


# ---- The usual statements over the usual types.

TYPES = {  # semirings; operators of element-wise statements; monoids of reductions, the first also as accumulator
    "INT64": (
        ("plus_pair", "plus_first", "plus_second", "min_plus", "min_first", "min_second"),
        ("plus", "minus", "times", "min", "max", "eq", "ne"),
        ("plus", "min", "max"),
    ),
    "FP64": (
        ("plus_times", "plus_first", "plus_second", "min_plus"),
        ("plus", "minus", "times", "truediv", "min", "max"),
        ("plus", "min", "max"),
    ),
    "BOOL": (("any_pair", "lor_land"), ("lor", "land", "lxor", "eq", "ne"), ("lor", "land")),
}
UNARY = {"BOOL": ("lnot",), "INT64": ("abs", "ainv", "one"), "FP64": ("abs", "ainv", "minv", "sqrt")}


def run_statements(part: str, name: str, rows: np.ndarray, cols: np.ndarray, n: int) -> None:
    """Run one part (of PARTS) for one type and one graph."""
    kind = getattr(gb.dtypes, name)
    at = np.arange(n)
    numbers = (np.arange(len(rows)) % 3 + 1).astype(kind.np_type)
    made = Operands(
        name,
        kind,
        pattern=gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n),
        A=gb.Matrix.from_coo(rows, cols, numbers, dtype=kind, nrows=n, ncols=n),
        full=gb.Vector.from_dense((at % 3 + 1).astype(kind.np_type)),
        few=gb.Vector.from_coo([0], [1], dtype=kind, size=n),
        some=gb.Vector.from_coo(at[::2], (at[::2] % 3).astype(kind.np_type), dtype=kind, size=n),
    )
    PARTS[part](made)


class Operands(NamedTuple):
    """Operands of one type; `pattern` is a graph without weights."""

    name: str
    kind: DataType
    pattern: gb.Matrix
    A: gb.Matrix
    full: gb.Vector
    few: gb.Vector
    some: gb.Vector


def _products(x: Operands) -> None:
    _products_of(x, (x.pattern, x.A), (x.few, x.full, x.some), transposed=False)


def _products_of(x: Operands, matrices: Sequence[gb.Matrix], vectors: Sequence[gb.Vector], transposed: bool) -> None:
    """Each matrix, or its transpose, times each vector; each vector times the matrix. The first vector is a mask."""
    semirings, _, monoids = TYPES[x.name]
    accumulator = getattr(gb.binary, monoids[0])
    for ring in (getattr(gb.semiring, name)[x.kind] for name in semirings):
        for matrix, v in itertools.product(matrices, vectors):
            for product in ((matrix.T if transposed else matrix).mxv(v, ring), v.vxm(matrix, ring)):
                w = product.new(dtype=x.kind)
                w(~vectors[0].S, gb.replace) << product
                w(accumulator) << product


def _products_of_matrices(x: Operands) -> None:
    for ring in (getattr(gb.semiring, name)[x.kind] for name in TYPES[x.name][0]):
        for matrix in (x.pattern, x.A):
            C = matrix.mxm(matrix, ring).new()
            C(x.pattern.S) << matrix.mxm(matrix.T, ring)


def _entrywise(o: Operands) -> None:
    operators = [getattr(gb.binary, name)[o.kind] for name in TYPES[o.name][1]]
    unaries = [getattr(gb.unary, name)[o.kind] for name in UNARY[o.name]]
    for x, y in ((o.full, o.some), (o.some, o.few), (o.A, o.A.T.new())):
        for op in operators:
            x.ewise_mult(y, op).new()
            x.ewise_add(y, op).new()
            x.apply(op, 1).new()
        for unary in unaries:
            x.apply(unary).new()


def _others(o: Operands) -> None:
    """Select, assign, reduce, extract."""
    monoids = TYPES[o.name][2]
    accumulator = getattr(gb.binary, monoids[0])
    for x, y, z in ((o.full, o.some, o.few.dup()), (o.some, o.few, o.full.dup()), (o.A, o.A.T.new(), o.A.dup())):
        for condition in ("valueeq", "valuene", *(("valuegt", "valuelt") if o.name != "BOOL" else ())):
            x.select(condition, 1).new(), x.select(condition, o.kind.np_type.type(1)).new()
        z(x.S) << y
        z(y.S, gb.replace) << x
        z(accumulator) << y
        z(x.V)[...] << 1
        x.dup(dtype=gb.dtypes.FP64)
    for monoid in (getattr(gb.monoid, name)[o.kind] for name in monoids):
        _ = o.full.reduce(monoid).value, o.some.reduce(monoid).value, o.A.reduce_scalar(monoid).value
        o.A.reduce_rowwise(monoid).new()
        o.A.reduce_columnwise(monoid).new()
    for region in ("tril", "triu", "offdiag"):
        o.A.select(region).new()
        o.pattern.select(region).new()
    n = o.full.size
    o.full[: n // 2].new(), o.A[: n // 2, :].new(), o.full.diag(), o.A.diag()
    o.full.dup()[[0, n - 1]] = 1


HUGE = 1 << 40  # size of a vector stored as a list, and of a hypersparse matrix
NARROW = {
    "INT64": ("plus_first", "plus_second"),
    "FP64": ("plus_times", "plus_first", "plus_second"),
    "BOOL": ("any_pair",),
}
CODED = {"INT64": ("plus_pair", "min_second"), "FP64": ("plus_times", "plus_second"), "BOOL": ("lor_land",)}


def _lists(o: Operands) -> None:
    """SpMSpV with vectors stored as lists, from both sides; other operations share the kernels of short vectors."""
    graphs = [gb.Matrix.from_coo(*matrix.to_coo(), nrows=HUGE, ncols=HUGE) for matrix in (o.pattern, o.A)]
    few = gb.Vector.from_coo([0], [1], dtype=o.kind, size=HUGE)
    some = gb.Vector.from_coo([0, 2, 3], np.array([1, 2, 3], o.kind.np_type), size=HUGE)
    _products_of(o, graphs, (few, some), transposed=True)
    accumulator = getattr(gb.binary, TYPES[o.name][2][0])
    for v in (few, some):
        v.ewise_add(some, accumulator).new(), v.ewise_mult(some, accumulator).new()


def _narrow(o: Operands) -> None:
    """Multivector products with bitmaps of each row width, and their reductions."""
    n = o.full.size
    at = np.arange(n)
    for width in (4, 12, 24, 48):
        values = (at % 3 + 1).astype(o.kind.np_type)
        X = gb.Matrix.from_coo(at, at % width, values, nrows=n, ncols=width, format="bitmap")
        for ring in (getattr(gb.semiring, name)[o.kind] for name in NARROW[o.name]):
            for matrix in (o.pattern, o.A):
                Y = gb.Matrix(o.kind, n, width, format="bitmap")
                Y << matrix.mxm(X, ring)
                Y(~X.S, gb.replace) << matrix.T.mxm(X, ring)
        monoid = getattr(gb.monoid, TYPES[o.name][2][0])[o.kind]
        X.reduce_rowwise(monoid).new(), X.reduce_columnwise(monoid).new()


def _coded(o: Operands) -> None:
    """Products with the compressed formats nib and cgr."""
    rows, cols, _ = o.pattern.to_coo()
    for layout in ("nib", "cgr"):
        A = gb.Matrix.from_coo(rows, cols, True, nrows=o.full.size, ncols=o.full.size, format=layout)
        for ring in (getattr(gb.semiring, name)[o.kind] for name in CODED[o.name]):
            w = A.mxv(o.full, ring).new(dtype=o.kind)
            w(~o.few.S, gb.replace) << A.mxv(o.some, ring)


def _builds(o: Operands) -> None:
    """Building matrices from many entries, sorted and unsorted."""
    at = np.arange(1 << 15)
    values = (at % 3).astype(o.kind.np_type)
    for row, col in itertools.product((np.int32, np.int64), repeat=2):
        i, j = (at // 2).astype(row), (at % 2).astype(col)
        gb.Matrix.from_coo(i, j, True)
        gb.Matrix.from_coo(i[::-1], j[::-1], True)
        gb.Matrix.from_coo(i[::-1], j[::-1], values)


PARTS = {
    "products": _products,
    "entrywise": _entrywise,
    "others": _others,
    "mxm": _products_of_matrices,
    "lists": _lists,
    "narrow": _narrow,
    "coded": _coded,
    "builds": _builds,
}


# ---- Build the object files that a package ships.


def build(
    folder: Path, files: Sequence[str], processes: int | None = None, *, host_only: bool = False
) -> Iterator[str]:
    """Write the object files, and yield lines about the progress. RuntimeError if a program fails. host_only: for the
    processor of this machine only, and the kernels of `files` only; none if no shipped target fits it."""
    begin, kernels, used = time.monotonic(), 0, dict[str, set[str]]()
    level = native.best(native.host())
    if host_only and level is None:
        yield "no kernels: this processor has none that are compiled ahead of use"
        return
    if level is not None:  # programs then run the code that is shipped for processors like this one
        os.environ.update(NUMBA_CPU_NAME=native.SHIPPED[level].cpu, NUMBA_CPU_FEATURES="")
    targets = [name for name in native.SHIPPED if not host_only or name == level]
    also = tuple(name for name in targets if name != level)
    names = list(files) if host_only else tasks(files, plain=True)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["BITBLAS_CACHE"] = cache
        jit.cache_dir.cache_clear()
        for ended, done in enumerate(warm(names, processes, also), 1):
            if done.error:
                raise RuntimeError(f"{done.program}: {done.error}")
            for symbol, keys in done.used.items():
                used.setdefault(symbol, set()).update(keys)
            kernels += done.kernels
            yield f"compiling: {kernels} kernels, {ended} of {len(names)} programs, {time.monotonic() - begin:.0f} s"
        folder.mkdir(parents=True, exist_ok=True)
        for name in targets:
            data = _packed(name, "cpu" if name == level else name, used)
            (folder / f"{name}.objects").write_bytes(data)
            yield f"{name}: {len(used)} kernels, {len(data)} bytes"


def _packed(name: str, folder: str, used: dict[str, set[str]]) -> bytes:
    """The packed objects for one of native.SHIPPED: from a folder of the cache, and from LLVM texts."""
    target = native.SHIPPED[name]
    found = []
    texts = {"native": native.text(target), "table": cpu.table_text(), "dictionaries": dictionaries.TEXT}
    for symbol, text in texts.items():
        data, symbols = native.assembled(text, target)
        found.append((object_files.Object(data, symbol, tuple(symbols)), {object_files.key_of_text(text, ())}))
    for symbol, keys in sorted(used.items()):
        made = object_files.cached_object(symbol, folder)
        assert made is not None, f"{symbol} was not compiled for {name}"
        found.append((made, keys))
    return object_files.pack_archive(found)


def main() -> None:
    options = [word for word in sys.argv[1:] if word == "--host"]
    folder, *files = [word for word in sys.argv[1:] if word not in options]
    last_line = 0.0
    for line in build(Path(folder), files, host_only=bool(options)):
        compiling = line.startswith("compiling")
        if sys.stderr.isatty():
            print(f"\r{line}", end="" if compiling else "\n", file=sys.stderr, flush=True)
        elif not compiling or time.monotonic() > last_line + 5:
            last_line = time.monotonic()
            print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

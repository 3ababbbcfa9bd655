"""python -m benchmarks.start: from the start of Python to the first answer, in fresh processes.

Each program runs with empty caches of kernels and with the caches that these runs filled. The figures are the least
wall time and the least processor time of some runs, because other processes only add time. NumPy's import, a part of
that of bitblas, is measured too; SuiteSparse runs the same search if python-graphblas is installed. `--device cuda`
runs the programs of a GPU, next to CuPy's import with a context, which is the least that any of them takes; some of
them count a first call alone. The exit code is 1 if an answer was wrong.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import table

# The friendships of a karate club (Zachary: J. Anthropological Research 33, 1977), vertices from 0.
KARATE = """
0-1 0-2 0-3 0-4 0-5 0-6 0-7 0-8 0-10 0-11 0-12 0-13 0-17 0-19 0-21 0-31 1-2 1-3 1-7 1-13 1-17 1-19 1-21 1-30 2-3 2-7
2-8 2-9 2-13 2-27 2-28 2-32 3-7 3-12 3-13 4-6 4-10 5-6 5-10 5-16 6-16 8-30 8-32 8-33 9-33 13-33 14-32 14-33 15-32 15-33
18-32 18-33 19-33 20-32 20-33 22-32 22-33 23-25 23-27 23-29 23-32 23-33 24-25 24-27 24-31 25-31 26-29 26-33 27-33 28-31
28-33 29-32 29-33 30-32 30-33 31-32 31-33 32-33"""
EDGES = [tuple(map(int, pair.split("-"))) for pair in KARATE.split()]
DEPTHS = [1, 16, 9, 8]  # vertices of the club at each distance from vertex 0

BFS = f"""
import {{library}} as gb
from bitblas.algorithms import bfs_levels
edges = {EDGES}
rows, cols = zip(*edges, *[(j, i) for i, j in edges])
A = gb.Matrix.from_coo(rows, cols, True, nrows=34, ncols=34)
levels = bfs_levels(A, 0, gb=gb).to_coo()[1].tolist()
print([levels.count(k) for k in range(max(levels) + 1)])
"""
NINE = """
import bitblas
from bitblas.compare import programs
from bitblas.registry import warm
graph = warm.compare.Side("cpu", bitblas, warm.graph("town"), device="cpu")
for program in programs():
    program.call(graph.matrix(program.form), 0, bitblas)
"""
# Algorithms as a user writes them, after LAGraph's texts: 64-bit labels, whose kernels no wheel contains. Every third
# edge of the club is present in both directions.
OWN = f"""
import numpy as np
import bitblas as gb
U, n = gb.dtypes.UINT64, 34
edges = {EDGES}
pairs = edges + [(j, i) for i, j in edges{{both}}]
A = gb.Matrix.from_coo(*zip(*pairs), True, nrows=n, ncols=n)
every = gb.Vector.from_coo(np.arange(n), np.arange(n), dtype=U, size=n)
def groups(labels):
    print(np.unique(labels.to_coo()[1], return_counts=True)[1].tolist())
"""
LABELS = """
def propagated(A, labels, rounds=2):
    for _ in range(rounds):
        rows, _, near = A.mxm(labels.diag(), gb.semiring.min_second[U]).new().to_coo()
        order = np.lexsort((near, rows))
        rows, near = rows[order], near[order]
        first = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]) | (near[1:] != near[:-1])])
        often = np.diff(np.r_[first, len(rows)])
        order = np.lexsort((near[first], -often, rows[first]))
        at, best = np.unique(rows[first][order], return_index=True)
        labels << gb.Vector.from_coo(at, near[first][order][best], dtype=U, size=n)
    return labels
groups(propagated(A, every.dup()))
"""
COMPONENTS = """
def spread(M, left):
    x = left.dup()
    while True:
        y = x.dup()
        y(left.S, gb.binary.min) << x.vxm(M, gb.semiring.min_first[U])
        if y.isequal(x):
            return x
        x = y
def components(A):
    label, left = gb.Vector(U, n), every.dup()
    while left.nvals:
        f, b = spread(A, left), spread(A.T, left)
        same = f.ewise_mult(b, gb.binary.eq).new().select(gb.select.valueeq, True).new()
        label(same.S) << f
        left(~same.S, gb.replace) << left
    return label
groups(components(A))
"""
SIX = """
import bitblas as gb
from bitblas.algorithms import bfs_levels
A = gb.Matrix.from_coo([0, 0, 1, 2, 3, 3], [1, 2, 3, 3, 4, 5], True, nrows=6, ncols=6)
print(bfs_levels(A, 0).to_dict())
"""
CUPY = "import cupy\ncupy.cuda.runtime.free(0)"
KARATE_NINE = f"""
import bitblas as gb
from bitblas.compare import programs
rows, cols = zip(*{EDGES})
A = gb.Matrix.from_coo(rows + cols, cols + rows, 1, nrows=34, ncols=34)
for program in programs():
    print(program.name, program.summary(program.call(A, 0, gb)))
"""
# The first call of an algorithm on R-MAT, scale 14: import, context, and building the graph are not counted.
FIRST_CALL = """
import time
import bitblas as gb
from bitblas import algorithms
A = algorithms.rmat_graph(14, seed=1)
begin = time.perf_counter()
algorithms.{call}
print("seconds", time.perf_counter() - begin)
"""
# A loop with an operator of its own: the most likely path of at most n links, each with a probability.
OWN_LOOP = """
import bitblas as gb
from semirings import BinaryOp, Semiring
chance = Semiring(gb.monoid.max, BinaryOp("chance", "x * y"))
n = 100
A = gb.Matrix.from_coo(range(n - 1), range(1, n), 0.5, nrows=n, ncols=n)
v = gb.Vector.from_coo([0], [1.0], size=n)
q = v.dup()
def body(k):
    q(~v.S, gb.replace) << q.vxm(A, chance)
    v(gb.binary.max) << q
print(gb.loop.repeat(body, while_=q), v.nvals)
"""
LABELLED = "[19, 2, 8, 1, 2, 2]\n"  # how many vertices have each label in the end
CONNECTED = "[31, 1, 1, 1]\n"


class Program(NamedTuple):
    """Arguments of Python, the expected output (None: anything; if it ends in "seconds", that is what counts), and the
    limits in seconds with warm and empty caches."""

    name: str
    arguments: tuple[str, ...]
    said: str | None
    bar: float | None
    empty_bar: float | None = None


def gpu_programs(folder: Path) -> list[Program]:
    """The programs of a GPU, and the file that one of them reads."""
    write_karate(folder)
    search = "-m", "bitblas", "bfs", str(folder / "karate.mtx"), "--device", "cuda"
    calls = "louvain(A, seed=1)", "leiden(A, seed=1)", "label_propagation(A)", "k_truss(A, 4)"
    return [
        Program("import cupy, context", ("-c", CUPY), "", None),
        Program("search on six vertices", ("-c", SIX), "{0: 0, 1: 1, 2: 1, 3: 2, 4: 3, 5: 3}\n", 1.2, 1.4),
        Program("nine algorithms on karate", ("-c", KARATE_NINE), None, 1.6, 2.5),
        *(Program(f"{c.partition('(')[0]}, first call", ("-c", FIRST_CALL.format(call=c)), None, 1, 1) for c in calls),
        Program("a loop with an operator", ("-c", OWN_LOOP), "100 100\n", 1.5, None),
        Program("bitblas bfs karate.mtx", search, None, 1.3, 1.5),
    ]


def write_karate(folder: Path) -> None:
    lines = [f"{max(pair) + 1} {min(pair) + 1}" for pair in EDGES]
    head = f"%%MatrixMarket matrix coordinate pattern symmetric\n34 34 {len(lines)}\n"
    (folder / "karate.mtx").write_text(head + "\n".join(lines) + "\n")


def programs(folder: Path) -> list[Program]:
    """The programs of the CPU, and the file that one of them reads."""
    write_karate(folder)
    search = "-m", "bitblas", "bfs", str(folder / "karate.mtx"), "--device", "cpu"
    found = [
        Program("import numpy", ("-c", "import numpy"), "", None),
        Program("import bitblas", ("-c", "import bitblas"), "", 0.15),
        Program("import, BFS on karate", ("-c", BFS.format(library="bitblas")), f"{DEPTHS}\n", 0.5),
        Program("bitblas bfs karate.mtx", search, None, 0.6),
        Program("nine algorithms, a town", ("-c", NINE), "", 2.0),
        Program("own label propagation", ("-c", OWN.format(both="") + LABELS), LABELLED, 3.0),
        Program("own strong components", ("-c", OWN.format(both="[::3]") + COMPONENTS), CONNECTED, 3.0),
    ]
    if importlib.util.find_spec("graphblas"):
        found.append(Program("SuiteSparse: import, BFS", ("-c", BFS.format(library="graphblas")), f"{DEPTHS}\n", None))
    return found


def run(program: Program, cache: Path, device: str) -> tuple[float, float, str]:
    """Wall and processor seconds of a process, and its error."""
    env = {**os.environ, "BITBLAS_CACHE": str(cache), "BITBLAS_DEVICE": device, "CUPY_CACHE_DIR": str(cache / "cupy")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    made = subprocess.run([sys.executable, *program.arguments], capture_output=True, text=True, env=env, check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    wrong = made.stderr if made.returncode else ""
    if not wrong and program.said is not None and made.stdout != program.said:
        wrong = f"expected {program.said!r}, got {made.stdout!r}"
    if not wrong and (counted := made.stdout.rpartition("seconds ")[1:])[0]:
        wall = float(counted[1])
    return wall, used, wrong


def measured(samples: int, only: str = "", device: str = "cpu") -> list[dict[str, Any]]:
    """A row for each program: seconds with an empty and a warm cache, the limit, and the error."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number, program in enumerate((programs if device == "cpu" else gpu_programs)(Path(folder))):
            if only not in program.name:
                continue
            caches = [Path(folder) / f"{number}-{sample}" for sample in range(samples)]
            empty = [run(program, cache, device) for cache in caches]
            warm = [run(program, cache, device) for cache in caches]
            rows.append(
                {
                    "program": program.name, "bar": program.bar, "empty_bar": program.empty_bar,
                    "empty": min(w for w, _, _ in empty), "empty_processor": min(p for _, p, _ in empty),
                    "warm": min(w for w, _, _ in warm), "processor": min(p for _, p, _ in warm),
                    "wrong": next((wrong for *_, wrong in (*empty, *warm) if wrong), ""),
                }
            )  # fmt: skip
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=5, help="runs with empty and with warm caches (default 5)")
    parser.add_argument("--only", default="", help="only programs whose name contains this text")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="where the programs run (default cpu)")
    parser.add_argument("--json", metavar="FILE", help="also write the figures here")
    options = parser.parse_args(arguments)
    print(f"{'seconds':<26}{'empty cache':>12}{'processor':>11}{'warm cache':>12}{'processor':>11}{'bar':>6}")
    rows = measured(options.samples, options.only, options.device)
    for row in rows:
        bar = "" if row["bar"] is None else f"{row['bar']:.2f}"
        cells = f"{row['empty']:>12.2f}{row['empty_processor']:>11.2f}{row['warm']:>12.2f}{row['processor']:>11.2f}"
        print(f"{row['program']:<26}{cells}{bar:>6}")
        if row["wrong"]:
            print(f"  WRONG: {row['wrong']}")
    if options.json:
        table.write(options.json, table.surroundings(samples=options.samples, rows=rows))
    return 1 if any(row["wrong"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

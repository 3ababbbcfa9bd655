"""python -m benchmarks.algorithms: every algorithm, the same text on bitblas and on python-graphblas.

A run is one call from the stored graph to the answer. What grows with the square or the cube of the number of vertices
runs on a smaller graph of the same family (`--square`, `--cube`). The answers of both sides are compared. A side that
has taken longer than the budget for an algorithm is not asked for it on the graphs after that: name small ones first.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from bitblas.compare import comparison
from bitblas.compare.every import CUBE, LINEAR, SQUARE, every

from . import graphs, table

GRAPHS = ("rmat18", "rmat20", "delaunay_n20")
SQUARES, CUBES = 14, 10  # log2 of vertices


def smaller(name: str, scale: int) -> str:
    """The graph of the same family with at most 2**scale vertices; of a file nothing."""
    found = re.fullmatch(r"(rmat|delaunay_n)(\d+)(.*)", name)
    if found:
        return f"{found[1]}{min(scale, int(found[2]))}{found[3]}"
    found = re.fullmatch(r"(grid2d_)(\d+)(.*)", name)
    return f"{found[1]}{min(int(2 ** (scale / 2)), int(found[2]))}{found[3]}" if found else name


class Sides:
    """Both libraries on one graph: what is stored of it is made at first use."""

    def __init__(self, name: str, device: str, peer: bool) -> None:
        import bitblas as gb

        graph = graphs.make(name)
        with gb.config.set(device="cpu"):
            A = gb.Matrix.from_csr(graph.ptr, graph.col, True, nrows=graph.n, ncols=graph.n)
            operands = comparison.Operands(A)
        self.n, self.source = graph.n, graph.source
        self.ours = comparison.Side(device, gb, operands, device=device)
        self.theirs = None
        if peer:
            import graphblas

            self.theirs = comparison.Side(comparison.SUITESPARSE, graphblas, operands)


def timed(
    side: comparison.Side, program: Any, source: int, samples: int, budget: float
) -> tuple[Any, list[float], float]:
    """The answer, milliseconds of the runs after two that compile and capture, and seconds of the second; of that one
    alone where it took longer than the budget."""
    A = side.matrix(program.form)

    def call() -> tuple[Any, float]:
        begin = time.perf_counter()
        answer = program.call(A, source, side.gb)
        side.finish(answer)
        return answer, time.perf_counter() - begin

    call()
    answer, second = call()
    times = [1e3 * call()[1] for _ in range(samples if second < budget else 0)]
    return answer, times or [1e3 * second], second


def measure(
    names: Sequence[str], algorithms: Sequence[str], samples: int, budget: float, device: str = "cpu",
    peer: bool = True, scales: tuple[int, int] = (SQUARES, CUBES), threads: int | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Milliseconds of each algorithm on each graph, of both sides; a row each goes to `say`, all into the result."""
    import bitblas as gb

    if peer:
        import graphblas

        if threads:
            graphblas.ss.config["nthreads"] = threads
    result = table.surroundings(device=device, samples=samples, threads=threads, rows=[])
    programs = [program for program in every() if not algorithms or program.name in algorithms]
    late: set[tuple[str, str]] = set()  # (side, algorithm)
    for name in names:
        made: dict[str, Sides] = {}
        for program in programs:
            which = {LINEAR: name, SQUARE: smaller(name, scales[0]), CUBE: smaller(name, scales[1])}[program.effort]
            if which not in made:
                made[which] = Sides(which, device, peer)
            both = made[which]
            if program.effort != LINEAR and log2(max(2, both.n)) > scales[program.effort - SQUARE] + 1:
                continue  # a file that is too large
            row: dict[str, Any] = {"graph": which, "algorithm": program.name, "equal": None, "answer": ""}
            found: dict[str, Any] = {}
            for word, side in (("bitblas", both.ours), ("peer", both.theirs)):
                if side is None or (word, program.name) in late:
                    continue
                try:
                    with gb.config.set(device=device):
                        found[word], times, second = timed(side, program, both.source, samples, budget)
                except Exception as error:
                    row[f"{word}_error"] = f"{type(error).__name__}: {error}"
                    continue
                row |= {f"{word}_ms": float(np.median(times)), f"{word}_times_ms": times, f"{word}_second_s": second}
                if second > budget:
                    late.add((word, program.name))
            if "bitblas" in found:
                row["answer"] = program.summary(found["bitblas"])
            if len(found) == 2:
                apart = comparison.difference(found["peer"], found["bitblas"])
                row["equal"] = comparison.is_equal(program, found["peer"], apart)
                row["times"] = row["peer_ms"] / row["bitblas_ms"]
            result["rows"].append(row)
            say(line(row))
    ratios = [row["times"] for row in result["rows"] if "times" in row]
    result["geometric_mean"] = float(np.exp(np.log(ratios).mean())) if ratios else None
    if ratios:
        say(f"\ngeometric mean of {len(ratios)}: {result['geometric_mean']:.2f} times")
    result["equal"] = all(row["equal"] is not False and "bitblas_error" not in row for row in result["rows"])
    return result


def line(row: dict[str, Any]) -> str:
    """A row as text; what went wrong in its place."""
    said = {True: "yes", False: "NO", None: "-"}[row["equal"]]
    graph = Path(row["graph"]).name.partition(".")[0]
    cells = [f"{graph:<15} {row['algorithm']:<30}{said:<6}{row['answer']:<40}"]
    for word in ("bitblas", "peer"):
        cells.append(row.get(f"{word}_error", f"{row[f'{word}_ms']:12.3f}" if f"{word}_ms" in row else f"{'-':>12}"))
    return "".join([*cells, f"{row['times']:10.2f}x" if "times" in row else ""])


def main(argv: Sequence[str] | None = None) -> int:
    """0 if every answer was equal, 1 if not, 2 for what cannot run."""
    known = [program.name for program in every()]
    p = argparse.ArgumentParser(prog="python -m benchmarks.algorithms", description=__doc__.splitlines()[0])
    p.add_argument("--device", default="cpu")
    p.add_argument("--graphs", default=",".join(GRAPHS), help="names (see graphs.py) or .mtx files, with commas")
    p.add_argument("--algorithms", default="", help=f"with commas, of {', '.join(known)}")
    p.add_argument("--samples", type=int, default=3)
    p.add_argument("--budget", type=float, default=10.0, help="seconds of one run after which a side is late")
    p.add_argument("--square", type=int, default=SQUARES, help="log2 of the vertices for what grows with the square")
    p.add_argument("--cube", type=int, default=CUBES, help="the same for the cube")
    p.add_argument("--threads", type=int, help="of SuiteSparse")
    p.add_argument("--no-peer", action="store_true", help="bitblas alone")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    names = [name for name in args.algorithms.split(",") if name]
    if unknown := set(names) - set(known):
        p.error(f"--algorithms: unknown {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    for path in args.graphs.split(","):
        if ".mtx" in path and not Path(path).exists():
            p.error(f"--graphs: no file {path}")
    return table.ended(
        "benchmarks.algorithms",
        lambda: measure(
            args.graphs.split(","), names, args.samples, args.budget, args.device, not args.no_peer,
            (args.square, args.cube), args.threads, lambda text: print(text, flush=True),
        ),
        args.json,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

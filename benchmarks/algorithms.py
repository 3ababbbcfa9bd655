"""python -m benchmarks.algorithms: every algorithm, the same text on bitblas and on python-graphblas.

A run is one call from the stored graph to the answer. The first one, which compiles and captures, has a column of its
own; the median is of the following ones. Algorithms that grow with the square or the cube of the number of vertices run
on a smaller graph of the same family (`--square`, `--cube`). The answers of both sides are compared. A call is stopped
at the limit (`--limit`, `--peer-limit`, between two statements), and that side skips the algorithm on later graphs, so
name small graphs first. If the other library was stopped, the ratio is a lower bound.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from bitblas import compare
from bitblas.compare import CUBE, LINEAR, SQUARE, every

from . import graphs, table

GRAPHS = ("rmat18", "rmat20", "delaunay_n20")
SQUARES, CUBES = 14, 10  # log2 of vertices


def smaller(name: str, scale: int) -> str:
    """The graph of the same family with at most 2**scale vertices; a file is returned as it is."""
    found = re.fullmatch(r"(rmat|delaunay_n)(\d+)(.*)", name)
    if found:
        return f"{found[1]}{min(scale, int(found[2]))}{found[3]}"
    found = re.fullmatch(r"(grid2d_)(\d+)(.*)", name)
    return f"{found[1]}{min(int(2 ** (scale / 2)), int(found[2]))}{found[3]}" if found else name


class Sides:
    """Both libraries on one graph, whose matrices are built at first use."""

    def __init__(self, name: str, device: str, peer: bool) -> None:
        import bitblas as gb

        graph = graphs.make(name)
        with gb.config.set(device="cpu"):
            A = gb.Matrix.from_csr(graph.ptr, graph.col, True, nrows=graph.n, ncols=graph.n)
            operands = compare.Operands(A)
        half = graph.scipy(dtype=np.bool_)
        if not (half != half.T).nnz:
            operands.undirected = operands.pattern
        self.n, self.source = graph.n, graph.source
        self.ours = compare.Side(device, gb, operands, device=device)
        self.theirs = None
        if peer:
            import graphblas

            self.theirs = compare.Side(compare.SUITESPARSE, graphblas, operands)


class Late(Exception):
    """A call reached its limit."""


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise Late in the block after so many seconds, once Python runs again; and again each second, because an
    exception is lost if it is raised while Python frees an object."""

    def stop(*_: Any) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def timed(side: compare.Side, program: Any, source: int, samples: int, limit: float) -> tuple[Any, list[float]]:
    """The answer, and the milliseconds of all calls including the first. No call starts after those that follow the
    first have taken half of the limit together. Raises Late."""
    A, times = side.matrix(program.form), list[float]()
    while len(times) <= samples and sum(times[1:]) < 500 * limit:
        begin = time.perf_counter()
        with stopped_after(limit):
            answer = program.call(A, source, side.gb)
            side.finish(answer)
        times.append(1e3 * (time.perf_counter() - begin))
    return answer, times


def measure(
    names: Sequence[str], algorithms: Sequence[str], samples: int, limits: tuple[float, float], device: str = "cpu",
    peer: bool = True, scales: tuple[int, int] = (SQUARES, CUBES), threads: int | None = None,
    say: Callable[[str], None] = print, seconds: float = float("inf"),
) -> dict[str, Any]:  # fmt: skip
    """Milliseconds of each algorithm on each graph, of both sides; rows are passed to `say` and are in the result.
    limits: seconds of a call of either side. seconds: time after which no row begins."""
    import bitblas as gb

    if peer:
        import graphblas

        if threads:
            graphblas.ss.config["nthreads"] = threads
    result = table.surroundings(device=device, samples=samples, threads=threads, rows=[])
    programs = [program for program in every() if not algorithms or program.name in algorithms]
    late: set[tuple[str, str]] = set()  # (side, algorithm)
    end = time.perf_counter() + seconds
    for name in names:
        made: dict[str, Sides] = {}
        for program in programs:
            if time.perf_counter() > end:
                say(f"{name}: {program.name} and what follows was not begun")
                break
            which = {LINEAR: name, SQUARE: smaller(name, scales[0]), CUBE: smaller(name, scales[1])}[program.effort]
            if which not in made:
                made[which] = Sides(which, device, peer)
            both = made[which]
            if program.effort != LINEAR and log2(max(2, both.n)) > scales[program.effort - SQUARE] + 1:
                continue  # a file that is too large
            row: dict[str, Any] = {"graph": which, "algorithm": program.name, "equal": None, "answer": ""}
            found: dict[str, Any] = {}
            for (word, side), limit in zip((("bitblas", both.ours), ("peer", both.theirs)), limits):
                if side is None or (word, program.name) in late:
                    continue
                try:
                    with gb.config.set(device=device):
                        found[word], times = timed(side, program, both.source, samples, limit)
                except Late:
                    row |= {f"{word}_ms": 1e3 * limit, f"{word}_late": True}
                    late.add((word, program.name))
                except Exception as error:
                    row[f"{word}_error"] = f"{type(error).__name__}: {error}"
                else:
                    row |= {f"{word}_ms": float(np.median(times[1:] or times)), f"{word}_times_ms": times}
            if "bitblas" in found:
                row["answer"] = program.summary(found["bitblas"])
                if "peer_ms" in row:
                    row["times"] = row["peer_ms"] / row["bitblas_ms"]
            if len(found) == 2:
                apart = compare.difference(found["peer"], found["bitblas"])
                row["equal"] = compare.is_equal(program, found["peer"], apart)
            result["rows"].append(row)
            say(line(row))
    ratios = [row["times"] for row in result["rows"] if "times" in row]
    result["geometric_mean"] = float(np.exp(np.log(ratios).mean())) if ratios else None
    if ratios:
        stopped = sum("peer_late" in row for row in result["rows"] if "times" in row)
        bounds = f", of which {stopped} lower bounds" if stopped else ""
        say(f"\ngeometric mean of {len(ratios)}{bounds}: {result['geometric_mean']:.2f} times")
    result["equal"] = all(row["equal"] is not False and "bitblas_error" not in row for row in result["rows"])
    return result


def line(row: dict[str, Any]) -> str:
    """A row as text, with errors in place of times."""
    said = {True: "yes", False: "NO", None: "-"}[row["equal"]]
    graph = Path(row["graph"]).name.partition(".")[0]
    cells = [f"{graph:<15} {row['algorithm']:<30}{said:<6}{row['answer']:<40}"]
    first = f"{row['bitblas_times_ms'][0]:10.1f}" if "bitblas_times_ms" in row else f"{'-':>10}"
    cells.append(first)
    for word in ("bitblas", "peer"):
        more = ">" if f"{word}_late" in row else ""
        took = f"{more}{row[f'{word}_ms']:.3f}" if f"{word}_ms" in row else "-"
        cells.append(row.get(f"{word}_error", f"{took:>12}"))
    return "".join([*cells, f"{row['times']:10.2f}x" if "times" in row else ""])


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if all answers were equal, 1 if not, 2 if the benchmark cannot run."""
    known = [program.name for program in every()]
    p = argparse.ArgumentParser(prog="python -m benchmarks.algorithms", description=__doc__.splitlines()[0])
    p.add_argument("--device", default="cpu")
    p.add_argument("--graphs", default=",".join(GRAPHS), help="names (see graphs.py) or .mtx files, with commas")
    p.add_argument("--algorithms", default="", help=f"with commas, of {', '.join(known)}")
    p.add_argument("--samples", type=int, default=3)
    p.add_argument("--limit", type=float, default=30.0, help="seconds after which a call of bitblas is stopped")
    p.add_argument("--peer-limit", type=float, default=10.0, help="the same of the other library")
    p.add_argument("--seconds", type=float, default=float("inf"), help="after so many no further row begins")
    p.add_argument("--square", type=int, default=SQUARES, help="log2 of the vertices for what grows with the square")
    p.add_argument("--cube", type=int, default=CUBES, help="the same for the cube")
    p.add_argument("--threads", type=int, help="of SuiteSparse")
    p.add_argument("--no-peer", action="store_true", help="bitblas alone")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    names = table.names(args.algorithms)
    if unknown := set(names) - set(known):
        p.error(f"--algorithms: unknown {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    for path in args.graphs.split(","):
        if ".mtx" in path and not Path(path).exists():
            p.error(f"--graphs: no file {path}")
    return table.ended(
        "benchmarks.algorithms",
        lambda: measure(
            args.graphs.split(","), names, args.samples, (args.limit, args.peer_limit), args.device,
            not args.no_peer, (args.square, args.cube), args.threads, table.say,
            args.seconds,
        ),
        args.json,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

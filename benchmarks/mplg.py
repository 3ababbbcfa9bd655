"""python -m benchmarks.mplg: graph programs on packed columns and on plain ones: time, bytes, equal results.

The tables of the MPLG paper (Azami and Burtscher, Compressed In-memory Graphs for Accelerating GPU-based Analytics,
section V): its six programs, here those of `bitblas.algorithms`, each on the same graph as CSR and as MPLG. A run is
one call, state and result included, until the device is done; the first one compiles, captures and makes what is kept
beside the matrix, and is not timed. `bfs` and `sssp` start where the degree is highest; `sssp` and `mst` read weights
(FP32).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import graphs, table

GRAPHS = {
    "cuda": ("rmat20", "rmat20+degree", "rmat22", "delaunay_n20", "grid2d_2048", "stencil27_100", "road_ny"),
    "cpu": ("rmat14", "rmat14+degree", "delaunay_n14", "grid2d_128", "stencil27_20"),
}
WEIGHTED = ("sssp", "mst")
FORMS = ("csr", "mplg")
HEADS = ("graph", "program", "equal", "CSR ms", "MPLG ms", "MPLG / CSR", "CSR MB", "MPLG MB", "bytes", "samples", "")


def _programs(source: int) -> dict[str, Callable[[Any], Any]]:
    from bitblas import algorithms as a

    return {
        "bfs": lambda A: a.bfs_levels(A, source),
        "components": a.connected_components,
        "coloring": a.coloring,
        "mis": a.maximal_independent_set,
        "mst": a.minimum_spanning_forest,
        "sssp": lambda A: a.sssp(A, source),
    }


PROGRAMS = tuple(_programs(0))


def _timed(d: Any, run: Callable[[], Any], samples: int, budget: float) -> tuple[Any, list[float]]:
    """The answer of the last run and milliseconds of each: `samples` of them, fewer once they took `budget` seconds."""
    answer, times = run(), []
    d.synchronize()
    while len(times) < samples and (not times or sum(times) < 1e3 * budget):
        begin = time.perf_counter()
        answer = run()
        d.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
    return answer, times


def measure(
    names: Sequence[str], programs: Sequence[str] = PROGRAMS, samples: int = 5, device: str = "cuda",
    budget: float = 1.0, say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Milliseconds and bytes of each program on each graph in both forms; a table goes to `say`, everything into the
    result. Raises ValueError for an unknown graph or program."""
    import bitblas as gb

    if unknown := set(programs) - set(PROGRAMS):
        raise ValueError(f"programs: unknown {', '.join(sorted(unknown))}; known: {', '.join(PROGRAMS)}")
    d, rows = gb.device.get(device), []
    result = table.surroundings(device=device, samples=samples, budget=budget, rows=[])
    for name in names:
        graph = graphs.make(name)
        how: dict[str, Any] = {"nrows": graph.n, "ncols": graph.n, "device": device}
        made = {
            (form, weighted): gb.Matrix.from_csr(
                graph.ptr, graph.col, graph.weights if weighted else True, format=form, **how
            )
            for form in FORMS
            for weighted in {program in WEIGHTED for program in programs}
        }
        for program in (p for p in PROGRAMS if p in programs):
            run, answers, times, held = _programs(graph.source)[program], [], [], []
            for form in FORMS:
                A = made[form, program in WEIGHTED]
                answer, taken = _timed(d, lambda A=A, run=run: run(A), samples, budget)
                answers.append(answer)
                times.append(taken)
                held.append(A.memory().structure + A.memory().values)
            ms = [float(np.median(taken)) for taken in times]
            equal = answers[0].isequal(answers[1], check_dtype=True)
            row = {"graph": name, "program": program, "equal": equal, "ms": ms, "times_ms": times, "bytes": held}
            result["rows"].append(row)
            counts = "/".join(str(len(taken)) for taken in times)
            ratio, smaller, size = ms[1] / ms[0], held[1] / held[0], [x / 1e6 for x in held]
            rows.append((name, program, "yes" if equal else "NO", *ms, ratio, *size, smaller, counts, ""))
    say(table.table(HEADS, rows))
    result["equal"] = all(row["equal"] for row in result["rows"])
    result["ratio"] = float(np.exp(np.mean([np.log(row["ms"][1] / row["ms"][0]) for row in result["rows"]])))
    say(f"MPLG / CSR, geometric mean: {result['ratio']:.2f}; " + ("all equal" if result["equal"] else "NOT ALL EQUAL"))
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all results were equal, 1 if not, 2 for what cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.mplg", description=__doc__.splitlines()[0])
    p.add_argument("--device", default="cuda")
    p.add_argument("--graphs", help="names (see graphs.py), with commas; else some for the device")
    p.add_argument("--programs", default=",".join(PROGRAMS), help="with commas")
    p.add_argument("--samples", type=int, default=5)
    p.add_argument("--budget", type=float, default=1.0, help="seconds, after which no more samples are taken (1)")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    names = args.graphs.split(",") if args.graphs else GRAPHS["cuda" if args.device.startswith("cuda") else "cpu"]
    programs = args.programs.split(",")
    return table.ended(
        "benchmarks.mplg", lambda: measure(names, programs, args.samples, args.device, args.budget), args.json
    )


if __name__ == "__main__":
    sys.exit(main())

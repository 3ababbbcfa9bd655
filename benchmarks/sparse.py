"""python -m benchmarks.sparse: products with vectors of few entries and of many, and algorithms as users write them.

The same text runs on bitblas and on python-graphblas, in one process and with as many threads, in turn; the figure is
the least mean of several batches, because other processes only ever add time. Every result is compared.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import graphs, table
from .statements import settle
from .written import ALGORITHMS, program

GRAPHS = ("delaunay_n14", "stencil27_20", "rmat16", "road_ny")
DENSITIES = (0.0, 0.001, 0.01, 0.1, 0.3, 1.0)  # 0: one entry
# semiring -> type, whether the matrix has weights. plus_first and plus_second sum what the vector has, by the verb.
SEMIRINGS = {
    "lor_land": ("BOOL", False), "any_pair": ("BOOL", False), "plus_pair": ("INT64", False),
    "plus_second": ("FP64", False), "plus_first": ("FP64", False), "plus_times": ("FP64", True),
    "min_plus": ("FP64", True),
}  # fmt: skip
VERBS = {"mxv": "w << A.mxv(u, ring)", "vxm": "w << u.vxm(A, ring)"}
BATCH, SECONDS = 0.003, 0.3  # of one batch, about, and of both sides of a statement
# Vectors that a statement takes in turn, and positions of all together: a processor that sees the same vector again and
# again learns by heart which entries it has, and who branches on each looks up to four times as fast as it is.
VECTORS, POSITIONS = 64, 1 << 20
OURS, PEER = "bitblas", "python-graphblas"
Run = Callable[[], Any]


def vector(library: Any, graph: graphs.Graph, dtype: str, density: float, seed: int = 0) -> Any:
    """Entries drawn at random, the same for the same density and seed: small whole numbers, so that sums are exact."""
    rng = np.random.default_rng(seed)
    at = np.flatnonzero(rng.random(graph.n) < density) if density else np.array([graph.n // 2])
    values = True if dtype == "BOOL" else (at % 7 + 1).astype(np.float64)
    return library.Vector.from_coo(at, values, getattr(library.dtypes, dtype), size=graph.n)


def statement(library: Any, A: Any, vectors: Sequence[Any], verb: str, semiring: str, dtype: str) -> tuple[Run, Any]:
    """The statement, to be called, which takes the vectors in turn, and its output."""
    kind, turn = getattr(library.dtypes, dtype), itertools.cycle(vectors)
    names = {"A": A, "w": library.Vector(kind, A.nrows), "ring": getattr(library.semiring, semiring)[kind]}
    names["turn"] = turn.__next__
    exec(f"def run():\n    u = turn()\n    {VERBS[verb]}", names)
    return names["run"], names["w"]


def least(runs: Sequence[Run], seconds: float) -> list[float]:
    """Microseconds of each: the least mean of batches that take turns."""
    counts, once, best = [], [], [math.inf] * len(runs)
    for run in runs:
        run()  # compiles
        run()
        begin = time.perf_counter()
        run()
        once.append(max(1e-7, time.perf_counter() - begin))
        counts.append(max(1, int(BATCH / once[-1])))
    stop = time.perf_counter() + seconds
    while True:
        for k, run in enumerate(runs):
            settle(lambda count, run=run: [run() for _ in range(count)], once[k])
            begin = time.perf_counter()
            for _ in range(counts[k]):
                run()
            best[k] = min(best[k], 1e6 * (time.perf_counter() - begin) / counts[k])
            counts[k] = max(counts[k], int(BATCH / max(1e-7, 1e-6 * best[k])))  # the first runs may have made a form
        if time.perf_counter() > stop:
            return best


def equal(a: Any, b: Any) -> bool:
    """Whether both libraries have the same entries, floats to 1e-9."""
    if not hasattr(a, "to_coo"):
        return bool(np.isclose(float(a), float(b), rtol=1e-9))
    (i, x), (j, y) = a.to_coo(), b.to_coo()
    return np.array_equal(i, j) and np.allclose(x, y, rtol=1e-9)


def row(what: dict[str, Any], us: Sequence[float], right: bool, plan: str = "") -> dict[str, Any]:
    return {**what, OURS: us[0], PEER: us[1], "times": us[1] / us[0], "equal": right, "plan": plan}


def products(
    libraries: Sequence[Any], graph: graphs.Graph, verbs: Sequence[str], semirings: Sequence[str],
    densities: Sequence[float], seconds: float,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """libraries: ours first."""
    n, made, few = graph.n, {}, max(1, min(VECTORS, POSITIONS // graph.n))
    for weighted in (False, True):
        values = graph.weights.astype(np.float64) if weighted else True
        at = graph.rows, graph.col.astype(np.int64)
        made[weighted] = [x.Matrix.from_coo(*at, values, nrows=n, ncols=n) for x in libraries]
    for verb in verbs:
        for semiring in semirings:
            dtype, weighted = SEMIRINGS[semiring]
            for density in densities:
                runs, checks = [], []
                for library, A in zip(libraries, made[weighted]):
                    some = [vector(library, graph, dtype, density, k) for k in range(few)]
                    runs.append(statement(library, A, some, verb, semiring, dtype)[0])
                    checks.append(statement(library, A, some[:1], verb, semiring, dtype))
                us = least(runs, seconds)
                for run, _ in checks:
                    run()
                u, ring = vector(libraries[0], graph, dtype, density), getattr(libraries[0].semiring, semiring)[dtype]
                A = made[weighted][0]
                plan = libraries[0].explain(A.mxv(u, ring) if verb == "mxv" else u.vxm(A, ring))
                how = f"{plan.direction} on {plan.key}{' of the transpose' * plan.transposed}"
                what = {"graph": graph.name, "verb": verb, "semiring": semiring, "density": density}
                yield row(what, us, equal(*(out for _, out in checks)), how)


def algorithms(
    libraries: Sequence[Any], graph: graphs.Graph, names: Sequence[str], seconds: float
) -> Iterator[dict[str, Any]]:
    n = graph.n
    for name in names:
        runs, results = [], {}
        for k, library in enumerate(libraries):
            A = library.Matrix.from_coo(graph.rows, graph.col.astype(np.int64), True, nrows=n, ncols=n)
            runs.append(functools.partial(_keep, results, k, program(library, name), A))
        us = least(runs, seconds)
        yield row({"graph": graph.name, "algorithm": name}, us, equal(results[0], results[1]))


def _keep(results: dict[int, Any], k: int, run: Callable[[Any], Any], A: Any) -> None:
    results[k] = run(A)


def _list(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def main(argv: Sequence[str] | None = None) -> int:
    """0 if every result was right, 1 if one was wrong, 2 for what cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.sparse", description=__doc__)
    p.add_argument(
        "--graphs", type=_list, default=list(GRAPHS), help="names (see graphs.py) or .mtx files, with commas"
    )
    p.add_argument("--verbs", type=_list, default=list(VERBS), help=f"of {','.join(VERBS)}; -: none")
    p.add_argument("--semirings", type=_list, default=list(SEMIRINGS), help=f"of {','.join(SEMIRINGS)}")
    p.add_argument("--densities", type=_list, default=[str(d) for d in DENSITIES], help="0: one entry")
    p.add_argument("--algorithms", type=_list, default=list(ALGORITHMS), help=f"of {','.join(ALGORITHMS)}; -: none")
    p.add_argument("--threads", type=int, default=2, help="of each side (2)")
    p.add_argument("--seconds", type=float, default=SECONDS, help=f"for both sides of a statement ({SECONDS})")
    p.add_argument("--json", help="where all figures go")
    args = p.parse_args(argv)
    chosen = {name: [x for x in getattr(args, name) if x != "-"] for name in ("verbs", "semirings", "algorithms")}
    for name, known in (("verbs", VERBS), ("semirings", SEMIRINGS), ("algorithms", ALGORITHMS)):
        if unknown := set(chosen[name]) - set(known):
            p.error(f"--{name}: unknown {', '.join(sorted(unknown))}; known: {', '.join(known)}")

    def measure() -> dict[str, Any]:
        import graphblas

        import bitblas

        graphblas.ss.config["nthreads"] = args.threads
        rows = []
        with bitblas.config.set(device="cpu"):
            for name in args.graphs:
                graph = graphs.make(name)
                print(f"\n{graph.name}: {graph.n} vertices, {graph.nvals} entries")
                of = [float(d) for d in args.densities]
                sides = bitblas, graphblas
                for found in (
                    list(products(sides, graph, chosen["verbs"], chosen["semirings"], of, args.seconds)),
                    list(algorithms(sides, graph, chosen["algorithms"], args.seconds)),
                ):
                    rows += found
                    if found:
                        print(shown(found), flush=True)
        ratios = [r["times"] for r in rows]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if rows else math.nan
        below = sum(x < 1 for x in ratios)
        print(f"\n{len(rows)} rows, {below} below 1, geometric mean {mean:.2f}")
        return table.surroundings(rows=rows, equal=all(r["equal"] for r in rows))

    return table.ended("benchmarks.sparse", measure, args.json)


def shown(rows: Sequence[dict[str, Any]]) -> str:
    names = [name for name in rows[0] if name not in ("graph", "equal", "plan", OURS, PEER, "times")]
    heads = *names, f"{OURS} us", f"{PEER} us", "times faster", "results", "plan"
    lines = [
        (*(str(r[name]) for name in names), r[OURS], r[PEER], r["times"], "equal" if r["equal"] else "DIFFERENT",
         r["plan"])
        for r in rows
    ]  # fmt: skip
    return table.table(heads, lines, left=len(names))


if __name__ == "__main__":
    sys.exit(main())

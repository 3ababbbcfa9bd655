"""bitblas against SuiteSparse:GraphBLAS on the CPU, each in its own process, in turn."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from . import graphs, table
from .verbs import VERBS
from .worker import OURS, PEER

GRAPHS = (
    "delaunay_n18", "grid2d_1024", "stencil27_58", "mycielskian13", "rmat16", "rmat18", "delaunay_n18_random",
    "road_ny",
)  # fmt: skip
PAUSE = 0.01  # seconds between the sides, in which the threads of the measured side fall asleep
BUDGET = 30.0  # seconds for one verb on one graph; no further round starts after that
BUILDS = 3
QUEUED = 0.05  # of a run's time that its threads may have waited for a core
PATIENCE = 0.1  # seconds that a round waits for other processes to leave the cores


class WorkerError(RuntimeError):
    """An error in a worker."""


class Side:
    """The parent's end of a worker process: `module` run by `python`."""

    def __init__(
        self, name: str, threads: int, module: str = "benchmarks.worker", python: str = sys.executable
    ) -> None:
        counts = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
        path = os.pathsep.join(filter(None, (str(table.ROOT), os.environ.get("PYTHONPATH"))))
        self.name = name
        self.process = subprocess.Popen(
            [python, "-m", module, name, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **counts, "PYTHONPATH": path},
        )  # fmt: skip
        try:
            assert self.process.stdout is not None
            pickle.load(self.process.stdout)
        except EOFError:
            raise WorkerError(f"{name}: the worker did not start; what it said stands above") from None

    def ask(self, name: str, *args: Any) -> Any:
        pipe, back = self.process.stdin, self.process.stdout
        assert pipe is not None and back is not None
        try:
            pickle.dump((name, args), pipe)
            pipe.flush()
            good, reply = pickle.load(back)
        except (EOFError, BrokenPipeError):
            raise WorkerError(
                f"{self.name}.{name}{args}: the worker has died (return code {self.process.poll()})"
            ) from None
        if not good:
            raise WorkerError(reply)
        return reply

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def idle_cpu(sides: Sequence[Side], seconds: float = 0.1) -> dict[str, float]:
    """The share of a core that each idle side uses, from PAUSE after a run on."""
    time.sleep(PAUSE)
    before = [side.ask("cpu") for side in sides]
    time.sleep(seconds)
    return {side.name: (side.ask("cpu") - b) / seconds for side, b in zip(sides, before)}


def _quiet() -> None:
    """Wait a while until nothing else runs on this machine."""
    stop = time.perf_counter() + PATIENCE
    while table.running() > 1 and time.perf_counter() < stop:
        time.sleep(PAUSE)


def _expected(graph: graphs.Graph, verbs: Sequence[str], path: Path) -> None:
    arrays = {"ptr": graph.ptr, "col": graph.col}
    for verb in verbs:
        arrays[f"{verb}_places"], arrays[f"{verb}_values"] = VERBS[verb].reference(graph)
    np.savez(path, allow_pickle=False, **arrays)


def _builds(sides: Sequence[Side], forms: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for form in forms:
        times: dict[str, list[float]] = {side.name: [] for side in sides}
        for _ in range(BUILDS + 1):
            for side in sides:
                times[side.name].append(side.ask("build", form))
        seconds = {name: t[1:] for name, t in times.items()}  # the first one compiles
        nbytes = {side.name: side.ask("nbytes", form) for side in sides}
        rows.append({"form": form, "build_seconds": seconds, "bytes": nbytes})
    return rows


def _verb(sides: Sequence[Side], verb: str, samples: int, budget: float) -> dict[str, Any]:
    """Samples of both sides in turn, each checked; the order changes every round."""
    runs: dict[str, list[tuple[float, float, float]]] = {side.name: [] for side in sides}
    first, worst = {}, dict.fromkeys(runs, 0.0)
    begin, before = time.perf_counter(), table.load()

    def one(side: Side) -> tuple[float, float, float]:
        time.sleep(PAUSE)
        seconds, cpu, waited, apart = side.ask("run", verb)
        worst[side.name] = max(worst[side.name], apart)
        return seconds, cpu, waited

    for side in sides:  # compiles, and fills the caches of the matrix
        first[side.name] = one(side)[0]
    if max(first.values()) < budget / 4:
        for side in sides:
            one(side)
    for k in range(3 * samples):  # more than `samples` only until most are clean
        settled = k >= samples and all(2 * sum(w <= QUEUED for _, _, w in r) > samples for r in runs.values())
        if settled or (k and time.perf_counter() - begin > budget):
            break
        _quiet()
        for side in sides if k % 2 else reversed(sides):
            runs[side.name].append(one(side))
    row: dict[str, Any] = {"verb": verb, "load_before": before, "load_after": table.load()}
    for side in sides:
        seconds = [s for s, _, _ in runs[side.name]]
        clean = [s for s, _, w in runs[side.name] if w <= QUEUED]
        row[side.name] = {
            "median_seconds": median(clean or seconds),
            "seconds": seconds,
            "cpu_seconds": [c for _, c, _ in runs[side.name]],
            "queued": [w for _, _, w in runs[side.name]],
            "clean": len(clean),
            "difference": worst[side.name],
            "equal": worst[side.name] <= VERBS[verb].tolerance,
        }
    row["cpu_ratio"] = median(row[PEER]["cpu_seconds"]) / median(row[OURS]["cpu_seconds"])
    row["ratio"] = row[PEER]["median_seconds"] / row[OURS]["median_seconds"]
    row["plan"] = next(side for side in sides if side.name == OURS).ask("plan", verb)
    return row


def measure(
    names: Sequence[str] = GRAPHS, verbs: Sequence[str] = tuple(VERBS), samples: int = 11, threads: int | None = None,
    budget: float = BUDGET, say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Run the verbs on the graphs; tables are passed to `say`, everything is in the result.

    "equal" of the result: whether every answer of every run was the reference's.
    """
    threads = threads or len(os.sched_getaffinity(0))
    result = table.surroundings(device="cpu", threads=threads, samples=samples, pause_seconds=PAUSE, graphs=[])
    sides: list[Side] = []
    try:
        for name in (PEER, OURS):
            sides.append(Side(name, threads))
            result["versions"].update(sides[-1].ask("versions"))
        for name in names:
            result["graphs"].append(_graph(sides, name, verbs, samples, budget, say))
        result["idle_cpu"] = idle_cpu(sides)
    finally:
        for side in sides:
            side.close()
    result["machine"]["load_after"] = table.load()
    result["equal"] = all(row[name]["equal"] for g in result["graphs"] for row in g["verbs"] for name in (PEER, OURS))
    say(footer(result))
    return result


def _graph(
    sides: Sequence[Side], name: str, verbs: Sequence[str], samples: int, budget: float, say: Callable[[str], None]
) -> dict[str, Any]:
    graph = graphs.make(name)
    with tempfile.TemporaryDirectory(prefix="bitblas-bench-") as folder:
        path = Path(folder) / "graph.npz"
        _expected(graph, verbs, path)
        for side in sides:
            side.ask("load", str(path))
    forms = list(dict.fromkeys(VERBS[verb].form for verb in verbs))
    found: dict[str, Any] = {"name": graph.name, "n": graph.n, "nvals": graph.nvals, "forms": _builds(sides, forms)}
    found["verbs"] = [_verb(sides, verb, samples, budget) for verb in verbs]
    say(text(found))
    return found


def text(found: dict[str, Any]) -> str:
    """The table of one graph."""
    parts = [f"\n{found['name']}: {found['n']} vertices, {found['nvals']} entries"]
    for form in found["forms"]:
        cells = [
            f"{side} {1e3 * median(form['build_seconds'][side]):.1f} ms, "
            f"{form['bytes'][side] / max(1, found['nvals']):.2f} bytes per entry"
            for side in (PEER, OURS)
        ]
        parts.append(f"  build, {form['form']}: {'; '.join(cells)}")
    rows = []
    for row in found["verbs"]:
        count = len(row[OURS]["seconds"])
        clean = min(row[PEER]["clean"], row[OURS]["clean"])
        apart = max(row[PEER]["difference"], row[OURS]["difference"])
        verdict = ("yes" if apart == 0 else f"to {apart:.0e}") if row[PEER]["equal"] and row[OURS]["equal"] else "NO"
        mark = "" if clean else "~"
        rows.append(
            (row["verb"], verdict, 1e3 * row[PEER]["median_seconds"], 1e3 * row[OURS]["median_seconds"],
             f"{mark}{row['ratio']:.2f}x", f"{row['cpu_ratio']:.2f}x", f"{count}/{clean}", row["plan"])
        )  # fmt: skip
    heads = ("verb", "equal", f"{PEER} ms", f"{OURS} ms", "ratio", "CPU ratio", "runs/clean", "plan")
    return "\n".join([*parts, table.table(heads, rows)])


def footer(result: dict[str, Any]) -> str:
    """A summary, and how the numbers were measured."""
    rows = [row for g in result["graphs"] for row in g["verbs"]]
    ratios = [row["ratio"] for row in rows if row[PEER]["clean"] and row[OURS]["clean"]]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")
    idle = ", ".join(f"{name} {100 * share:.0f} %" for name, share in result["idle_cpu"].items())
    machine = result["machine"]
    return (
        f"\nratio = {PEER} / {OURS}, medians; geometric mean of those without ~ {mean:.2f}x. Every answer was checked: "
        f"{'all equal' if result['equal'] else 'NOT ALL EQUAL'}.\n"
        f"{machine['processor']}, {result['threads']} threads a side, load {machine['load_before']} before and "
        f"{machine['load_after']} after. An idle side uses of a core: {idle}.\n"
        f"clean: runs in which threads waited for a core for less than {100 * QUEUED:.0f} % of the time; medians are "
        "over these, or over all (~) where there is none.\n"
        "CPU ratio: of CPU seconds, spinning included; with --threads 1 it holds on a loaded machine too."
    )

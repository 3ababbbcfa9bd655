"""python -m benchmarks.newest: bitblas against SuiteSparse:GraphBLAS 10, through its C functions.

python-graphblas 2025.2 needs a version below 10, which is why `python -m benchmarks` compares with 9.4. Here the newest
one runs in a process and an environment of its own, made once:

    python -m venv newest && newest/bin/pip install suitesparse-graphblas numpy
    python -m benchmarks.newest --python newest/bin/python --graphs rmat16,road_ny

Verbs: the three products of `python -m benchmarks`, a search and triangles; in C as newest_peer.py has them. Both sides
run in turn, a run at a time, and every answer is compared with SciPy's. Times are medians; the first run of each side,
which compiles, does not count.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from . import graphs, table
from .cpu import PAUSE
from .verbs import VERBS, answer_of, difference
from .worker import WARM

KNOWN = ("mxv", "plus_second", "min_plus", "bfs", "triangles")
PROGRAM = Path(__file__).with_name("newest_peer.py")


class Peer:
    """The process of SuiteSparse. RuntimeError if it does not start or a call fails."""

    def __init__(self, python: str, threads: int) -> None:
        given = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        given.pop("PYTHONPATH", None)
        command = [python, str(PROGRAM), str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given)
        self.version = str(self.ask("version"))

    def ask(self, name: str, *args: Any) -> Any:
        pipe, back = self.process.stdin, self.process.stdout
        assert pipe is not None and back is not None
        try:
            pickle.dump((name, args), pipe)
            pipe.flush()
            right, result = pickle.load(back)
        except (EOFError, BrokenPipeError):
            self.close()
            raise RuntimeError("the process of SuiteSparse ended; what it said stands above") from None
        if not right:
            raise RuntimeError(f"SuiteSparse: {result}")
        return result

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what it did not read is flushed
                    pipe.close()
        self.process.wait(timeout=20)


def measure(
    python: str, names: Sequence[str], verbs: Sequence[str], samples: int, threads: int,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Median milliseconds of both sides for each verb and graph; rows are passed to `say`."""
    import bitblas as gb

    peer = Peer(python, threads)
    result = table.surroundings(device="cpu", threads=threads, samples=samples, rows=[])
    result["versions"]["suitesparse-graphblas"] = peer.version
    say(f"SuiteSparse:GraphBLAS {peer.version}, {threads} threads\n")
    say(f"{'graph':<18}{'verb':<14}{'bitblas ms':>12}{'SuiteSparse ms':>16}{'times':>8}   equal")
    try:
        with gb.config.set(device="cpu"), tempfile.TemporaryDirectory() as folder:
            for name in names:
                graph, path = graphs.make(name), str(Path(folder) / "graph.npz")
                vectors = {"present": graphs.present(graph.n), "numbers": graphs.numbers(graph.n)}
                np.savez(
                    path, ptr=graph.ptr, col=graph.col, weights=graph.weights, source=graph.source, **vectors
                )  # fmt: skip
                peer.ask("load", path)
                for verb in verbs:
                    values = True if VERBS[verb].form == "pattern" else graph.weights
                    A = gb.Matrix.from_csr(graph.ptr, graph.col, values, nrows=graph.n, ncols=graph.n)
                    result["rows"].append(_row(gb, peer, graph, A, verb, samples))
                    found = result["rows"][-1]
                    say(
                        f"{graph.name:<18}{verb:<14}{found['bitblas_ms']:>12.3f}{found['suitesparse_ms']:>16.3f}"
                        f"{found['times']:>8.2f}   {'yes' if found['right'] else 'NO'}"
                    )
    finally:
        peer.close()
    result["equal"] = all(row["right"] for row in result["rows"])
    return result


def _row(gb: Any, peer: Peer, graph: graphs.Graph, A: Any, verb: str, samples: int) -> dict[str, Any]:
    call, expected = VERBS[verb].prepare(gb, A, graph), VERBS[verb].reference(graph)
    times: dict[str, list[float]] = {"bitblas": [], "suitesparse": []}
    right = True
    for _ in range(samples + 1):
        time.sleep(PAUSE)
        stop = time.perf_counter() + WARM
        while time.perf_counter() < stop:  # wakes the threads, as in a loop of runs
            answer = call()
        begin = time.perf_counter()
        answer = call()
        times["bitblas"].append(1e3 * (time.perf_counter() - begin))
        right &= difference(answer_of(answer), expected) == 0
        time.sleep(PAUSE)
        peer.ask("warm", verb, WARM)
        seconds, theirs = peer.ask("run", verb)
        times["suitesparse"].append(1e3 * seconds)
        right &= difference(theirs, expected) == 0
    ours, other = (median(times[side][1:]) for side in ("bitblas", "suitesparse"))
    return {
        "graph": graph.name, "verb": verb, "bitblas_ms": ours, "suitesparse_ms": other, "times": other / ours,
        "right": bool(right), "times_ms": times,
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if all answers were right, 1 if not, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.newest", description=(__doc__ or "").splitlines()[0])
    p.add_argument("--python", required=True, help="the Python of an environment with suitesparse-graphblas 10")
    p.add_argument("--graphs", type=table.names, default=["rmat14", "delaunay_n14"], help="names (see graphs.py)")
    p.add_argument("--verbs", type=table.names, default=list(KNOWN), help=f"of {','.join(KNOWN)}")
    p.add_argument("--samples", type=int, default=5)
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each side (all cores)")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    if unknown := set(args.verbs) - set(KNOWN):
        p.error(f"--verbs: unknown {', '.join(sorted(unknown))}; known: {', '.join(KNOWN)}")
    if args.samples < 1 or args.threads < 1:
        p.error("--samples, --threads: expected at least 1")
    run = lambda: measure(args.python, args.graphs, args.verbs, args.samples, args.threads, table.say)
    return table.ended("benchmarks.newest", run, args.json)


if __name__ == "__main__":
    sys.exit(main())

"""Record the kernel variants that GPUs run for the programs of `bitblas warm`, without a GPU: in the emulator.

    python tests/record_variants.py FILE PROGRAM..

The variants depend on the thread block clusters that a GPU has, so everything runs once for each size in CLUSTERS. FILE
receives a dictionary: cluster size -> variants. `python -m bitblas.registry.cubins` compiles them for a package.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from emulator.device import Emulator

import bitblas as gb
from bitblas import compare, device
from bitblas.kernels.variant import Variant
from bitblas.registry import warm

CLUSTERS = {0: "sm_80", 8: "sm_90", 16: "sm_90"}  # size (0: the GPU has none), and an architecture with it
SIDE = 12  # of the town for algorithms above linear time


def edges(name: str) -> compare.Operands:
    """A graph: `first` and `town` of `bitblas warm`, a small town, or one with hubs as in social networks."""
    if name == "small town":
        i = np.arange(SIDE * SIDE)
        streets = np.r_[i[(i + 1) % SIDE > 0], i[:-SIDE]], np.r_[i[(i + 1) % SIDE > 0] + 1, i[:-SIDE] + SIDE]
        both = np.r_[streets[0], streets[1]], np.r_[streets[1], streets[0]]
        return compare.Operands(gb.Matrix.from_coo(*both, True, nrows=len(i), ncols=len(i), device="cpu"))
    if name == "hubs":
        rng = np.random.default_rng(1)
        n, m = 1 << 11, 1 << 14
        i, j = np.zeros(m, np.int64), np.zeros(m, np.int64)
        for _ in range(11):  # R-MAT: each bit of both ends
            corner = rng.choice(4, m, p=(0.57, 0.19, 0.19, 0.05))
            i, j = 2 * i + corner // 2, 2 * j + corner % 2
        i, j = np.r_[i, j], np.r_[j, i]
        return compare.Operands(gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, device="cpu"))
    return warm.graph(name)


def tasks(programs: list[str]) -> list[str]:
    named = [(p.name, p.effort) for p in compare.every()]
    graphs = lambda effort: ("first", "town", "hubs") if effort == 1 else ("first", "small town")
    runs = [f"{name} {graph}" for name, effort in named for graph in graphs(effort)]
    return [*(f"{part} {name}" for part in warm.PARTS for name in warm.TYPES), *programs, *runs]


def record(task: str, cluster: int) -> tuple[list[Variant], str]:
    """The variants that a program loads, and its error."""
    seen: dict[Variant, None] = {}

    class Recorded(Emulator):
        arch = CLUSTERS[cluster]

        def load(self, variant: Variant) -> Callable[..., None]:
            seen[variant] = None
            return super().load(variant)

    Recorded.cluster = device.Cluster(cluster) if cluster else None
    device.register("emulator", Recorded)
    device._devices.pop("emulator", None)
    gb.config.device = "emulator"
    try:
        run(task)
    except Exception as error:
        return list(seen), f"{type(error).__name__}: {error}"
    return list(seen), ""


def run(task: str) -> None:
    part, _, which = task.partition(" ")
    if Path(task).is_file():
        return warm.run_file(task)
    if part in warm.PARTS:
        for graph in map(warm.graph, ("first", "town")):
            warm.run_statements(part, which, graph.rows, graph.cols, graph.n)
        return None
    program = next(p for p in compare.every() if p.name == part)
    matrix: Any = compare.Side("emulator", gb, edges(which), device="emulator").matrix(program.form)
    program.summary(program.call(matrix, 0, gb))
    return None


def main() -> int:
    target, *programs = sys.argv[1:]
    work = [(task, cluster) for task in tasks(programs) for cluster in CLUSTERS]
    found: dict[int, dict[Variant, None]] = {cluster: {} for cluster in CLUSTERS}
    begin, failed = time.monotonic(), 0
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for (task, cluster), (variants, error) in zip(work, pool.map(record, *zip(*work))):
            found[cluster] |= dict.fromkeys(variants)
            failed += bool(error)
            counts = ", ".join(str(len(v)) for v in found.values())
            print(f"{time.monotonic() - begin:5.0f} s  {counts}  {task}, {cluster}  {error}", flush=True)
    Path(target).write_bytes(pickle.dumps({cluster: list(variants) for cluster, variants in found.items()}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

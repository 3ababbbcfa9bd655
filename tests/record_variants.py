"""Record the kernel variants that GPUs run for the programs of `bitblas warm`, without a GPU: in the emulator.

    python tests/record_variants.py FILE PROGRAM..

Everything runs twice, because kernels differ on GPUs with and without thread block clusters. FILE receives a
dictionary: cluster size (0: none) -> variants. `python -m bitblas.registry.cubins` compiles them for a package.
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
from every_kernel import on_gpus

import bitblas as gb
from bitblas import compare, device
from bitblas.kernels.variant import Variant
from bitblas.registry import warm

ARCHITECTURES = {"sm_80": (0,), "sm_90": (8, 16)}  # and the cluster sizes of GPUs like it
SIDE, SCALE = 20, 9  # of the small town and of the graph with hubs: the emulator is slow


def operands(name: str) -> compare.Operands:
    """A graph: `first` and `town` of `bitblas warm`, a smaller town, or one with hubs as social networks have them."""
    if name == "small town":
        i = np.arange(SIDE * SIDE)
        east, south = i[(i + 1) % SIDE > 0], i[:-SIDE]
        rows, cols = np.r_[east, south], np.r_[east + 1, south + SIDE]
    elif name == "hubs":  # R-MAT
        rng, rows, cols = np.random.default_rng(1), np.zeros(8 << SCALE, np.int64), np.zeros(8 << SCALE, np.int64)
        for _ in range(SCALE):
            corner = rng.choice(4, len(rows), p=(0.57, 0.19, 0.19, 0.05))
            rows, cols = 2 * rows + corner // 2, 2 * cols + corner % 2
    else:
        return warm.graph(name)
    n = SIDE * SIDE if name == "small town" else 1 << SCALE
    both = np.r_[rows, cols], np.r_[cols, rows]
    return compare.Operands(gb.Matrix.from_coo(*both, True, nrows=n, ncols=n, device="cpu"))


def tasks(programs: list[str]) -> list[str]:
    compared = {p.name for p in compare.programs()}
    graphs = lambda name: ("first", "small town", "hubs", *(("town",) if name in compared else ()))
    runs = [f"{program.name} {graph}" for program in compare.every() for graph in graphs(program.name)]
    return [*(f"{part} {name}" for part in warm.PARTS for name in warm.TYPES), *programs, *runs]


def record(task: str, arch: str) -> tuple[list[Variant], str]:
    """The variants that a program loads, and its error."""
    seen: dict[Variant, None] = {}

    class Recorded(Emulator):
        cluster = None if arch == "sm_80" else Emulator.cluster  # small: on_gpus replaces it

        def load(self, variant: Variant) -> Callable[..., None]:
            seen[variant] = None
            return super().load(variant)

    Recorded.arch = arch
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
        for graph in map(operands, ("first", "town")):
            warm.run_statements(part, which, graph.rows, graph.cols, graph.n)
        return None
    program = next(p for p in compare.every() if p.name == part)
    matrix: Any = compare.Side("emulator", gb, operands(which), device="emulator").matrix(program.form)
    program.summary(program.call(matrix, 0, gb))
    return None


def main() -> int:
    target, *programs = sys.argv[1:]
    work = [(task, arch) for task in tasks(programs) for arch in ARCHITECTURES]
    found: dict[int, dict[Variant, None]] = {size: {} for sizes in ARCHITECTURES.values() for size in sizes}
    begin, failed = time.monotonic(), 0
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for (task, arch), (variants, error) in zip(work, pool.map(record, *zip(*work))):
            for size in ARCHITECTURES[arch]:
                used = Emulator.cluster if size else None
                found[size] |= dict.fromkeys(on_gpus(v, used, device.Cluster(size)) for v in variants)
            failed += bool(error)
            counts = ", ".join(str(len(v)) for v in found.values())
            print(f"{time.monotonic() - begin:5.0f} s  {counts}  {task}, {arch}: {len(variants)}  {error}", flush=True)
    Path(target).write_bytes(pickle.dumps({size: list(variants) for size, variants in found.items()}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Record the kernel variants that GPUs run for the programs of `bitblas warm`, without a GPU: in the emulator.

    python tests/record_variants.py FILE PROGRAM..
    python tests/record_variants.py --list FILE [ALGORITHM..]

A program with kernels for thread block clusters runs twice, because GPUs without them run others instead. FILE
receives the variants by cluster size (0: none), which `python -m bitblas.registry.cubins` compiles for a package, and
by program. --list prints how many each program has, and of the programs that are named, the variants themselves.

Answers are not checked, so the emulator compiles without its checks and does not guard arrays (EMU_MODE=record): two
thirds of the time.
"""

from __future__ import annotations

import os
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
from bitblas.registry.cubins import Recorded

ARCHITECTURES = {"sm_80": (0,), "sm_90": (8, 16)}  # and the cluster sizes of GPUs like it
SIDE, SCALE = 20, 9  # of the small town and of the graph with hubs: the emulator is slow
PATIENCE = 2000  # launches without a new variant, after which a program ends: flows repeat the same ones for long


class Enough(BaseException):
    """Ends a program."""


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
    launches = 0

    class Recorder(Emulator):
        cluster = None if arch == "sm_80" else Emulator.cluster  # small: on_gpus replaces it

        def load(self, variant: Variant) -> Callable[..., None]:
            nonlocal launches
            launches = launches if variant in seen else 0
            seen[variant] = None
            launch = super().load(variant)

            def counted(*args: Any, **options: Any) -> None:
                nonlocal launches
                launches += 1
                if launches > PATIENCE:
                    raise Enough
                launch(*args, **options)

            return counted

    Recorder.arch = arch
    device.register("emulator", Recorder)
    device._devices.pop("emulator", None)
    gb.config.device = "emulator"
    try:
        run(task)
    except Enough:
        pass
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


def record_both(task: str) -> tuple[dict[str, list[Variant]], str]:
    """The variants by architecture, and the first error."""
    with_clusters, error = record(task, "sm_90")
    if not any(variant.constant("CLUSTER") for variant in with_clusters):
        return {"sm_80": with_clusters, "sm_90": with_clusters}, error
    without, other = record(task, "sm_80")
    return {"sm_80": without, "sm_90": with_clusters}, error or other


def main() -> int:
    target, *programs = sys.argv[1:]
    if target == "--list":
        return listed(Recorded.read(Path(programs[0])), programs[1:])
    work, begin, failed = tasks(programs), time.monotonic(), 0
    found = Recorded({size: [] for sizes in ARCHITECTURES.values() for size in sizes}, {})
    sets: dict[int, dict[Variant, None]] = {size: {} for size in found.sizes}
    os.environ["EMU_MODE"] = "record"
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for task, (variants, error) in zip(work, pool.map(record_both, work)):
            for arch, sizes in ARCHITECTURES.items():
                for size in sizes:
                    used = Emulator.cluster if size else None
                    sets[size] |= dict.fromkeys(on_gpus(v, used, device.Cluster(size)) for v in variants[arch])
            name = task if Path(task).is_file() else task.rpartition(" ")[0]
            known = dict.fromkeys((*found.programs.get(name, ()), *variants["sm_90"]))
            found.programs[name] = list(known)
            failed += bool(error)
            counts = ", ".join(str(len(v)) for v in sets.values())
            print(f"{time.monotonic() - begin:5.0f} s  {counts}  {task}: {len(variants['sm_90'])}  {error}", flush=True)
    found._replace(sizes={size: list(v) for size, v in sets.items()}).write(Path(target))
    return 1 if failed else 0


def listed(found: Recorded, names: list[str]) -> int:
    """Print the number of variants of each program, or the variants of those named, one a line."""
    for name, variants in sorted(found.programs.items()):
        if not names or name in names:
            print(f"{len(variants):4}  {name}")
            print("".join(f"      {variant}\n" for variant in variants if names), end="")
    print(f"{len(found.sizes[8]):4}  all together, for a GPU with clusters of 8 blocks")
    return 0


if __name__ == "__main__":
    sys.exit(main())

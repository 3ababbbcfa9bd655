"""Compile the recorded kernel variants, without a GPU too: python -m bitblas.registry.check FILE.

FILE has the variants that `make every-kernel` ran (tests/every_kernel.py). The report lists registers, shared memory,
stack and spilled bytes, and compile time, for each variant and architecture. A compiler warning or a spilled register
is a failure, as an error is.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..device import cubins, jit
from ..kernels.variant import Variant

ARCHITECTURES = ("sm_80", "sm_90")


@dataclass(frozen=True)
class Report:
    """The compiler report of one variant. `problem` is empty if there is none."""

    variant: str
    arch: str
    registers: int = 0
    shared: int = 0
    stack: int = 0
    spilled: int = 0
    ms: float = 0.0
    problem: str = ""

    def __str__(self) -> str:
        numbers = f"{self.registers:5d} {self.shared:7d} {self.stack:6d} {self.spilled:6d} {self.ms:7.0f}"
        return f"{self.arch:6s} {numbers}  {self.variant}" + (f"\n{self.problem}" if self.problem else "")


HEADER = f"{'arch':6s} {'regs':>5s} {'shared':>7s} {'stack':>6s} {'spills':>6s} {'ms':>7s}  variant"


def check(variant: Variant, arch: str) -> Report:
    """Compile one variant for one architecture; compile errors are reported, not raised."""
    logs: list[str] = []
    start = time.perf_counter()
    try:
        cubins.cubin(variant, arch, logs.append)
    except jit.CompileError as error:
        return Report(str(variant), arch, problem=str(error))
    ms, log = 1e3 * (time.perf_counter() - start), "".join(logs)

    def number(pattern: str) -> int:
        return sum(int(n) for n in re.findall(pattern, log))

    spilled = number(r"(\d+) bytes spill (?:stores|loads)")
    problem = log.strip() if re.search(r"\bwarning\b", log) else f"spills {spilled} bytes" if spilled else ""
    return Report(
        variant=str(variant),
        arch=arch,
        registers=number(r"Used (\d+) registers"),
        shared=number(r"(\d+) bytes smem"),
        stack=number(r"(\d+) bytes stack frame"),
        spilled=spilled,
        ms=ms,
        problem=problem,
    )


def in_turn(variants: Iterable[Variant], archs: Sequence[str]) -> list[tuple[Variant, str]]:
    """The first variant of each kernel with every architecture, and the others with one, in turn."""
    work: list[tuple[Variant, str]] = []
    count: Counter[str] = Counter()
    for v in variants:
        k = count[v.kernel]
        work += [(v, a) for a in (archs if k == 0 else [archs[k % len(archs)]])]
        count[v.kernel] += 1
    return work


def check_all(work: Sequence[tuple[Variant, str]], processes: int = 2) -> Iterable[Report]:
    """The reports of variants and architectures, in order. NVRTC holds a lock, so threads would not help."""
    if processes < 2:
        yield from (check(*w) for w in work)
        return
    context = multiprocessing.get_context("spawn")  # do not share compiler state
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield from pool.map(check, *zip(*work), chunksize=4)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bitblas.registry.check", description=__doc__.split("\n")[0])
    parser.add_argument("record", type=Path, help="the file with the variants")
    parser.add_argument("--arch", nargs="+", default=list(ARCHITECTURES), help="architectures, such as sm_80 sm_90")
    parser.add_argument("--only", default="", help="only the variants whose description contains this text")
    parser.add_argument("-j", "--processes", type=int, default=2)
    parser.add_argument("--in-turn", action="store_true", help="one architecture for all but the first of a kernel")
    parser.add_argument("--list", action="store_true", help="only list the variants, and their number per kernel")
    options = parser.parse_args(arguments)

    recorded: list[Variant] = pickle.loads(options.record.read_bytes())
    chosen = [v for v in recorded if options.only in str(v)]
    if options.list:
        print(listed(chosen))
        return 0
    print(HEADER)
    failed, times, start = 0, [], time.perf_counter()
    every = [(v, a) for v in chosen for a in options.arch]
    for report in check_all(in_turn(chosen, options.arch) if options.in_turn else every, options.processes):
        print(report, flush=True)
        times.append(report.ms)
        failed += bool(report.problem)
    if times:
        ms = sorted(times)
        marks = ", ".join(f"{name} {ms[int(part * (len(ms) - 1))]:.0f}" for name, part in MARKS.items())
        print(f"ms per compilation: {marks}; the first in each process also loads the compiler")
    print(f"{len(times)} compiled in {time.perf_counter() - start:.0f} s, {failed} failed")
    return 1 if failed or not times else 0


MARKS = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "most": 1.0}


def listed(variants: Sequence[Variant]) -> str:
    """One line per variant, then their number per kernel; each is compiled once per architecture."""
    counts = Counter(v.kernel for v in variants)
    lines = [*map(str, variants), ""] + [f"{n:5d}  {kernel}" for kernel, n in sorted(counts.items())]
    return "\n".join([*lines, f"{len(variants):5d}  variants"])


if __name__ == "__main__":
    sys.exit(main())

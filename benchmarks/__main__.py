"""python -m benchmarks: compare bitblas with SuiteSparse (CPU) or cuSPARSE (GPU)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from . import cpu, gpu, table
from .verbs import VERBS


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    p.add_argument("--graphs", type=table.names, help="names (see graphs.py) or .mtx files, with commas")
    p.add_argument("--verbs", type=table.names, help=f"of {','.join(VERBS)}; cuda: of {','.join(gpu.PRODUCTS)}")
    p.add_argument("--samples", type=int, default=11, help="timed runs of each side (11)")
    p.add_argument("--threads", type=int, help="threads of each side: all cores (cpu)")
    p.add_argument("--budget", type=float, default=cpu.BUDGET, help="seconds for a verb on a graph (cpu)")
    formats = "auto, csr, mplg, b2sr4 .. b2sr64, split, split4 .. (cuda)"
    p.add_argument("--formats", type=table.names, default=["auto"], help=formats)
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    if unknown := set(args.verbs or ()) - set(VERBS):
        p.error(f"--verbs: unknown {', '.join(sorted(unknown))}; known: {', '.join(VERBS)}")
    if args.samples < 1:
        p.error(f"--samples: expected at least 1, got {args.samples}")

    def measure() -> dict[str, Any]:
        if args.device == "cpu":
            verbs = args.verbs or list(VERBS)
            return cpu.measure(args.graphs or cpu.GRAPHS, verbs, args.samples, args.threads, args.budget, table.say)
        verbs = args.verbs or gpu.PRODUCTS
        return gpu.measure(args.graphs or gpu.GRAPHS, args.formats, args.samples, verbs, say=table.say)

    return table.ended("benchmarks", measure, args.json)


if __name__ == "__main__":
    sys.exit(main())

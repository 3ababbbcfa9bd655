"""`bitblas warm`: compile CPU kernels ahead of their first use."""

from __future__ import annotations

import argparse
import json
import sys
import time


def warm(args: argparse.Namespace) -> int:
    """Compile the kernels and show progress on the terminal; 1 if a program failed."""
    from ..registry import warm as registry

    begin, ended, kernels, failed = time.monotonic(), 0, 0, []
    tasks, terminal = registry.tasks(args.files, every=args.all), sys.stderr.isatty()
    total = len(tasks)
    for done in registry.warm(tasks, args.processes):
        ended, kernels = ended + 1, kernels + done.kernels
        failed += [done] if done.error else []
        if terminal:
            line = f"compiling: {kernels} kernels, {ended} of {total} programs, {time.monotonic() - begin:.0f} s"
            print(f"\r{line}", end="" if ended < total else "\n", file=sys.stderr, flush=True)
    for done in failed:
        print(f"bitblas: error: {done.program}: {' '.join(done.error.split())}", file=sys.stderr)
    seconds = round(time.monotonic() - begin, 1)
    if args.json:
        errors = {done.program: done.error for done in failed}
        print(json.dumps({"command": "warm", "kernels": kernels, "seconds": seconds, "errors": errors}))
    else:
        print(f"{kernels} kernels compiled in {seconds:.0f} s; {total - len(failed)} of {total} programs ran")
    return 1 if failed else 0

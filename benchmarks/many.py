"""Kronecker graphs on 1, 2, 4 and 8 devices of a host, as a table; the largest that fits; a rank that is killed.

    python benchmarks/many.py 26 27 28 29 --json benchmarks/stored/scale/NAME.json
    python benchmarks/many.py 26 --ranks 1 2 --largest 27 28 29    # then these, until one does not fit
    python benchmarks/many.py 30 --ranks 8 --format nib
    python benchmarks/many.py 12 --device cpu --ranks 1 2          # ranks on CPUs

Each number of ranks is one run of benchmarks/ranks.py, which builds each graph by from_chunks on each rank. A line a
question: milliseconds and G edges/s on each number of ranks, how many times as fast as on one, bytes that a rank sends
(of a search a level), the share of the time in calls, and memory of a rank. Answers are compared.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).with_name("ranks.py")
MANY = (1, 2, 4, 8)


def run(ranks, arguments, device, seconds):
    """The lines of one run of ranks.py, the end of what it said besides, and its exit code."""
    where = [] if device is None else ["--device", device]
    command = [sys.executable, "-m", "bitblas", "run", "-n", str(ranks), *where, str(PROGRAM), *map(str, arguments)]
    if ranks == 1:  # bitblas without ranks
        command = [sys.executable, str(PROGRAM), *map(str, arguments), "--whole", *where]
    root = str(PROGRAM.parents[1])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        found = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, env=dict(os.environ, PYTHONPATH=paths)
        )
        said, code = found.stdout + found.stderr, found.returncode
    except subprocess.TimeoutExpired as error:
        said, code = "".join(x.decode() if isinstance(x, bytes) else x or "" for x in (error.stdout, error.stderr)), 124
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return lines, [line for line in said.splitlines() if not line.startswith("{")][-3:], code


def machine(device):
    """What it ran on: GPUs and driver, NCCL, the commit."""
    facts = {"machine": platform.processor() or platform.machine(), "date": time.strftime("%Y-%m-%d")}
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    where = {"commit": ["git", "-C", str(PROGRAM.parent), "rev-parse", "--short", "HEAD"]}
    where |= {} if device == "cpu" else {"gpus": asked}
    for name, command in where.items():
        try:
            facts[name] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            facts[name] = "unknown"
    if device != "cpu":
        from cupy.cuda import nccl

        facts["nccl"] = nccl.get_version()
    return facts


def same(x, y):
    return math.isclose(x, y, rel_tol=1e-4) if isinstance(x, float) else x == y


def table(rows, many):
    """Lines of Markdown: a question on each number of ranks."""
    head = ["graph", "question", *(f"{n}: ms, G edges/s" for n in many), "times as fast", "bytes sent", "in calls"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for scale, what in dict.fromkeys((r["scale"], r["what"]) for r in rows):
        found = {r["ranks"]: r for r in rows if (r["scale"], r["what"]) == (scale, what)}
        first = next(iter(found.values()))
        every = [found.get(n) for n in many]
        if what == "memory":
            cells = [*(r["answer"] if r else "-" for r in every), "", "", ""]
        else:
            wrong = "" if all(same(r["answer"], first["answer"]) for r in found.values()) else ", ANSWERS DIFFER"
            what += wrong
            cells = [f"{r['ms']:.2f}, {r['gedges']}" if r else "-" for r in every]
            cells.append(", ".join(f"{first['ms'] / r['ms']:.2f}" if r else "-" for r in every))
            cells.append(", ".join(str(r["sent"] // r.get("levels", 1)) if r else "-" for r in every))
            cells.append(", ".join(f"{r['calls']:.0%}" if r else "-" for r in every))
        lines.append(f"| kron{scale} | {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scales", type=int, nargs="+")
    parser.add_argument("--ranks", type=int, nargs="+", default=MANY)
    parser.add_argument("--largest", type=int, nargs="*", default=[], help="scales, until one does not fit")
    parser.add_argument("--device")
    parser.add_argument("--format")
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=240, help="that one run may take")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-kill", action="store_true")
    args = parser.parse_args()
    how = ["--sources", args.sources, "--more", *(["--format", args.format] if args.format else [])]
    rows, told = [], machine(args.device)
    print(json.dumps(told), flush=True)
    for ranks in args.ranks:
        for scale in args.scales:
            found, said, code = run(ranks, [scale, *how], args.device, args.seconds)
            rows += found
            if code:
                print(f"kron{scale} on {ranks}: exit {code}; {said}", flush=True)
        print(table([r for r in rows if r["ranks"] == ranks], [ranks]), flush=True)
    fits = {}
    for ranks in args.ranks if args.largest else ():
        for scale in sorted(args.largest):
            found, said, code = run(ranks, [scale, "--sources", 2], args.device, args.seconds)
            if code:
                print(f"kron{scale} does not fit on {ranks}: {said}", flush=True)
                break
            fits[ranks] = scale
            rows += found
        print(f"the largest of {args.largest} on {ranks}: {fits.get(ranks)}", flush=True)
    killed = []
    for ranks in () if args.no_kill else [n for n in args.ranks if n > 1][-1:]:
        killed, said, code = run(ranks, [min(args.scales), "--kill"], args.device, args.seconds)
        killed = [x for x in killed if "killed" in x]
        print(f"a rank of {ranks} was killed, exit {code}:", *map(json.dumps, killed), sep="\n", flush=True)
        if len(killed) != ranks - 1:
            print(f"NOT ALL OTHERS HEARD OF IT: {said}", flush=True)
    print(table(rows, args.ranks))
    if args.json:
        args.json.write_text(json.dumps({**told, "rows": rows, "largest": fits, "killed": killed}, indent=1) + "\n")


if __name__ == "__main__":
    main()

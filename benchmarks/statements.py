"""Time statements on bitblas and python-graphblas in turn; shared by `benchmarks.small` and `benchmarks.entrywise`.

The same text runs on both, in one process and with equally many threads. The figure is the least mean of several
batches, because other processes only add time. Every result is compared.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from . import table

BATCH = 0.004  # seconds, about
# Seconds between the sides, because OpenMP's threads spin for some 5 ms after a region and would take a core from the
# other side; then seconds of untimed runs, which wake this side's threads.
PAUSE, AWAKE, LONG = 0.01, 0.002, 0.05
Statements = dict[str, tuple[str, str]]  # name -> (text, the name of its result)
Names = Callable[[Any], dict[str, Any]]  # names of the texts, for a library


def plain(x: Any) -> Any:
    """A result in a form that can be compared."""
    if hasattr(x, "to_coo"):
        return [a.tolist() for a in x.to_coo()] if x.ndim == 1 else sorted(zip(*(a.tolist() for a in x.to_coo())))
    if isinstance(x, tuple):
        return sorted(zip(*(a.tolist() for a in x)))
    return getattr(x, "value", x)


def compiled(text: str, names: dict[str, Any]) -> tuple[Callable[[int], float], dict[str, Any]]:
    """A function that runs the text k times with these names and returns the seconds; and the names."""
    body = "".join(f"        {line.strip()}\n" for line in text.split(";"))
    results = ", ".join(
        sorted(
            {line.split(" = ")[0].strip() for line in text.split(";") if line.split(" = ")[0].strip().isidentifier()}
        )
    )
    head = f"    global {results}\n" if results else ""
    source = f"def run(k):\n{head}    start = clock()\n    for _ in range(k):\n{body}    return clock() - start\n"
    names["clock"] = time.perf_counter
    exec(source, names)
    return names["run"], names


def settle(run: Callable[[int], object], seconds: float) -> None:
    """Pause and warm up before a timed batch, unless a run is long. seconds: of one run, about."""
    time.sleep(PAUSE)
    if seconds < LONG:
        run(max(1, int(AWAKE / seconds)))


def measure(
    libraries: dict[str, Any], only: Sequence[str], batches: int, statements: Statements, named: Names, alone: bool
) -> list[dict[str, Any]]:
    """For each statement the microseconds of each library, and whether the results agree. alone: in one thread."""
    rows = []
    for name in only:
        text, result = statements[name]
        sides = {side: compiled(text, named(gb)) for side, gb in libraries.items()}
        counts, best = {}, dict.fromkeys(sides, float("inf"))
        for side, (run, _) in sides.items():
            run(3)  # compiles
            counts[side] = max(1, int(BATCH / max(1e-7, run(5) / 5)))
        for _ in range(batches):
            for side, (run, _) in sides.items():
                if not alone:
                    settle(run, BATCH / counts[side])
                best[side] = min(best[side], run(counts[side]) / counts[side])
                counts[side] = max(counts[side], int(BATCH / max(1e-7, best[side])))  # the first built a format
        answers = [plain(names[result]) for _, names in sides.values()]
        micros = {side: seconds * 1e6 for side, seconds in best.items()}
        rows.append({"statement": name, "text": text, "us": micros, "equal": all(a == answers[0] for a in answers)})
    return rows


def as_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows of `measure` as a table, with the geometric mean of the ratios."""
    lines, faster = [], []
    for row in rows:
        ours, theirs = row["us"]["bitblas"], row["us"]["python-graphblas"]
        faster.append(theirs / ours)
        lines.append((row["statement"], ours, theirs, theirs / ours, "equal" if row["equal"] else "DIFFERENT"))
    heads = ("statement", "bitblas us", "python-graphblas us", "times faster", "results")
    mean, behind = np.exp(np.mean(np.log(faster))), sum(x < 1 for x in faster)
    return f"{table.table(heads, lines, left=1)}\ngeometric mean {mean:.2f}, {behind} of {len(faster)} below 1"


def arguments(name: str, about: str | None, statements: Statements, batches: int) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    p.add_argument("--statements", help=f"names, with semicolons, of {'; '.join(statements)}")
    p.add_argument("--batches", type=int, default=batches, help="timed batches of each side (%(default)s)")
    p.add_argument("--threads", type=int, help="of each side")
    p.add_argument("--device", default="cpu", help="where bitblas runs (%(default)s)")
    p.add_argument("--json", help="where all figures go")
    return p


def compare(
    p: argparse.ArgumentParser, args: argparse.Namespace, statements: Statements, on: Iterable[tuple[str, str, Names]]
) -> int:
    """Exit code: 0 if every result was right, 1 if one was wrong. on: name, heading and names of the texts for each set
    of operands."""
    only = [s.strip() for s in args.statements.split(";")] if args.statements else list(statements)
    if unknown := set(only) - set(statements):
        p.error(f"--statements: unknown {', '.join(sorted(unknown))}")
    import graphblas

    import bitblas

    every = []
    with bitblas.config.set(device=args.device, **({"threads": args.threads} if args.threads else {})):
        threads = bitblas.device.get(args.device).threads
        graphblas.ss.config["nthreads"] = threads
        sides = {"bitblas": bitblas, "python-graphblas": graphblas}
        for name, heading, named in on:
            rows = measure(sides, only, args.batches, statements, named, threads == 1)
            print(f"{heading}\n{as_table(rows)}\n" if heading else as_table(rows), flush=True)
            every += [{"on": name, **row} for row in rows]
    right = all(row["equal"] for row in every)
    if args.json:
        table.write(args.json, {"rows": every, "equal": right})
    return 0 if right else 1

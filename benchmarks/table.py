"""Shared by the benchmarks: tables, JSON with the circumstances of a run, timing, exit codes."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 2) -> str:
    """A text table; the first `left` columns and the last are aligned left."""
    cells = [[str(h) for h in heads], *([_text(x) for x in row] for row in rows)]
    wide = [max(len(row[k]) for row in cells) for k in range(len(heads))]
    last = len(heads) - 1
    lines = [
        "  ".join(
            c.ljust(w) if k < left or k == last else c.rjust(w) for k, (c, w) in enumerate(zip(row, wide))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _text(x: Any) -> str:
    if x is None:
        return "-"
    if not isinstance(x, float):
        return str(x)
    return f"{x:.0f}" if abs(x) >= 1000 else f"{x:.1f}" if abs(x) >= 100 else f"{x:.2f}" if abs(x) >= 1 else f"{x:.3f}"


def running() -> int:
    """Number of running threads, this one included; 1 if unknown."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, IndexError, ValueError):
        return 1


def load() -> float | None:
    """Load average of the last minute; None if unknown."""
    try:
        return float(Path("/proc/loadavg").read_text().split()[0])
    except OSError:
        return None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _git(*args: str) -> str | None:
    try:
        done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def surroundings(**more: Any) -> dict[str, Any]:
    """Time, machine, versions, and the commit if there is a git repository."""
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)),
            "system": platform.platform(),
            "load_before": load(),
        },
        "versions": {
            "python": platform.python_version(),
            **{n: version(n) for n in ("numpy", "scipy", "bit-graphblas")},
        },
        "commit": _git("rev-parse", "HEAD"),
        "changed_since_commit": None if changed is None else bool(changed),
        **more,
    }


def say(text: str) -> None:
    """Print immediately."""
    print(text, flush=True)


def timed(device: Any, run: Callable[[], Any], samples: int) -> tuple[Any, list[float]]:
    """The last result, and the milliseconds of `samples` synchronized calls after a first one, which compiles."""
    found, times = run(), list[float]()
    for _ in range(samples):
        device.synchronize()
        begin = time.perf_counter()
        found = run()
        device.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return found, times


def names(text: str) -> list[str]:
    """The names of a list with commas."""
    return [part for part in text.split(",") if part]


def ended(name: str, measure: Callable[[], dict[str, Any]], path: str | None = None) -> int:
    """The exit code of a command: 0 if all answers were equal, 1 if not, 2 if it cannot run. path: of the JSON."""
    try:
        result = measure()
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    if path:
        write(path, result)
    return 0 if result["equal"] else 1


def write(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(data, indent=1) + "\n")

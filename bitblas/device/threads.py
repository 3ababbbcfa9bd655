"""The thread pool of CPU kernels: its threads wait in machine code (`native.ll`) and never enter Python.

They start when a kernel first has ranges to distribute. The child of a fork has none of them, and starts its own.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import forks

MOST = 1024
_starting = threading.Lock()
_started = 0  # worker threads, without the threads that call kernels
_chosen: int | None = None
settled = False  # whether the chosen number of threads is running


def count() -> int:
    """Number of threads that share a kernel's ranges, including the calling one: the chosen number, else
    $NUMBA_NUM_THREADS, else $OMP_NUM_THREADS, else the processors available to this process."""
    global _chosen
    if _chosen is None:
        named = (os.environ.get(name, "").partition(",")[0] for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"))
        _chosen = min(MOST, next((int(text) for text in named if text.isdecimal() and int(text)), processors()))
    return _chosen


class _Limit(threading.local):
    """Per calling thread: the maximum number of threads that share its kernels' ranges; 0: the number of `count`."""

    number = 0


_limit = _Limit()


def limit(number: int) -> None:
    """Set that limit for the calling thread."""
    _limit.number = number


def limited(bounds: Any) -> Any:
    """Merge ranges so that there are at most as many as the calling thread's limit."""
    parts, most = len(bounds) - 1, _limit.number
    if not most or parts <= most:
        return bounds
    return bounds[[k * parts // most for k in range(most + 1)]]


def most_ranges() -> int:
    """The maximum number of ranges per call of the calling thread: the limit on its threads, if it is set."""
    return _limit.number or 1 << 30


def choose(number: int | None) -> None:
    """Set the number of threads; None restores the default."""
    global _chosen, settled
    _chosen, settled = number, False


def checked(number: object) -> int | None:
    """Validate `number` as a count of threads. ValueError unless it is 1 to 1024 or None."""
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MOST):
        raise ValueError(f"threads: expected 1 to {MOST}, or None, got {number!r}")
    return number


def processors() -> int:
    """Number of processors available to this process, by its affinity and the quota of its control groups."""
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(free, _quota(Path("/"))))


def _quota(root: Path) -> int:
    """Processors, rounded up, that Linux control groups (v2, v1) allow this process; MOST if there is no quota."""
    found = [MOST]
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, kinds, group = line.split(":", 2)
        base = root / "sys/fs/cgroup" / ("" if kinds == "" else "cpu")
        if kinds and "cpu" not in kinds.split(","):
            continue
        for folder in (base / group.strip("/"), *(base / group.strip("/")).parents):
            if not folder.is_relative_to(base):
                break
            quota, period = "", ""
            if words := _read(folder / "cpu.max").split():
                quota, period = words
            else:
                quota, period = (_read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
            if quota.isdecimal() and period.isdecimal() and int(period):
                found.append(-(-int(quota) // int(period)))
    return max(1, min(found))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def settle(address: Callable[[str], int]) -> None:
    """Start the missing threads, and set how many may work. address: from symbols of native.ll to addresses."""
    global _started, settled
    with _starting:
        wanted = count() - 1
        while _started < wanted and _start(address("worker")):
            _started += 1
        ctypes.c_int64.from_address(address("allowed")).value = min(wanted, _started)
        settled = True


def _start(function: int) -> bool:
    """Start a thread that runs a function of machine code. False if the system refuses it; the existing threads then do
    the work."""
    if os.name == "nt":
        windows: Any = ctypes
        library = windows.WinDLL("kernel32")
        library.CreateThread.restype = ctypes.c_void_p
        handle = library.CreateThread(None, ctypes.c_size_t(0), ctypes.c_void_p(function), None, 0, None)
        return bool(handle and library.CloseHandle(ctypes.c_void_p(handle)))
    made = ctypes.c_void_p()
    if ctypes.pythonapi.pthread_create(ctypes.byref(made), None, ctypes.c_void_p(function), None):
        return False
    ctypes.pythonapi.pthread_detach(made)
    return True


def _forget() -> None:
    """Reset, in the child of a fork."""
    global _started, settled, _starting
    _starting = threading.Lock()
    _started, settled = 0, False


forks.children.append(_forget)

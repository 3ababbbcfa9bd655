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
_started = 0  # threads beside those that call kernels
_chosen: int | None = None
settled = False  # whether as many threads wait as were chosen


def count() -> int:
    """Threads that share a kernel's ranges, the calling one among them: what was chosen, else $NUMBA_NUM_THREADS, else
    $OMP_NUM_THREADS, else the processors that this process may use."""
    global _chosen
    if _chosen is None:
        named = (os.environ.get(name, "").partition(",")[0] for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"))
        _chosen = min(MOST, next((int(text) for text in named if text.isdecimal() and int(text)), processors()))
    return _chosen


class _Limit(threading.local):
    """Of the calling thread: how many may share a kernel's ranges at most; 0: as many as `count` says."""

    number = 0


_limit = _Limit()


def limit(number: int) -> None:
    """Set that for the calling thread."""
    _limit.number = number


def limited(bounds: Any) -> Any:
    """The limits of ranges, joined to as many as the calling thread may have others share."""
    parts, most = len(bounds) - 1, _limit.number
    if not most or parts <= most:
        return bounds
    return bounds[[k * parts // most for k in range(most + 1)]]


def most_ranges() -> int:
    """Ranges that one call may have the calling thread share: as many as threads, if their number is limited."""
    return _limit.number or 1 << 30


def choose(number: int | None) -> None:
    """Set what `count` says; None: as at the start."""
    global _chosen, settled
    _chosen, settled = number, False


def checked(number: object) -> int | None:
    """`number` as a count of threads. ValueError for any other value than 1 to 1024 and None."""
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MOST):
        raise ValueError(f"threads: expected 1 to {MOST}, or None, got {number!r}")
    return number


def processors() -> int:
    """Those that this process may use: by its affinity, and by the quota of its control groups."""
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(free, _quota(Path("/"))))


def _quota(root: Path) -> int:
    """Whole processors that Linux' control groups (v2, v1) leave to this process; many where they say nothing."""
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
    """Start the threads that are missing, and tell how many may work. address: of what native.ll defines."""
    global _started, settled
    with _starting:
        wanted = count() - 1
        while _started < wanted and _start(address("worker")):
            _started += 1
        ctypes.c_int64.from_address(address("allowed")).value = min(wanted, _started)
        settled = True


def _start(function: int) -> bool:
    """Whether a thread of its own runs a function of machine code now; where no more are to be had, those that are
    there do the work."""
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
    """In the child of a fork."""
    global _started, settled, _starting
    _starting = threading.Lock()
    _started, settled = 0, False


forks.children.append(_forget)

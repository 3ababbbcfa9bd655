"""CPU threads: the thread pool, the ranges of units that kernels give to threads, and fork safety.

The threads wait in machine code (`native.ll`) and never enter Python. They start when a kernel first has ranges to
distribute. The child of a fork has none of them, and starts its own. A fork blocks while a thread holds a lock of
bitblas or imports one of its modules, so that the child finds locks free and modules complete. `after_fork_in_child`
lists further steps that run in the child.
"""

from __future__ import annotations

import bisect
import ctypes
import functools
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..typing import Array

# ---- Fork safety: a fork blocks while a thread holds a lock of bitblas or imports one of its modules, so that the
# child finds locks free and modules complete. `after_fork_in_child` lists further steps that run in the child.

Lock = Any  # threading.RLock is a function
OURS = (__name__.partition(".")[0], "semirings")
IMPORT_SECONDS = 10.0  # seconds that a fork waits for imports

after_fork_in_child: list[Callable[[], object]] = []  # clean-up functions that run in the child of a fork


def _loading_elsewhere() -> dict[str, Any]:
    """Our modules that other threads have begun to import, with their import locks, for which Python has no public
    name."""
    known = list(getattr(sys.modules.get("importlib._bootstrap"), "_module_locks", {}).items())
    locks = {name: lock() for name, lock in known if name.partition(".")[0] in OURS}
    me = threading.get_ident()
    return {name: lock for name, lock in locks.items() if lock is not None and lock.owner != me}


class _Modules:
    """A pseudo-lock that is free when no thread imports one of our modules. Otherwise a child could block on the import
    lock of a thread that it does not have."""

    def acquire(self) -> None:
        end = time.monotonic() + IMPORT_SECONDS
        while any(lock.owner for lock in _loading_elsewhere().values()) and time.monotonic() < end:
            time.sleep(0.0005)

    def release(self) -> None:
        """Imports may begin at once: a child discards those that began after all, and imports the modules again."""


def _forget_modules() -> None:
    for name in _loading_elsewhere():
        sys.modules["importlib._bootstrap"]._module_locks.pop(name)
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]


_locks: list[Lock] = [_Modules()]
_acquired: list[Lock] = []  # the locks that the current fork holds
_adding = threading.Lock()  # importing a module may register a lock


def fork_safe(lock: Lock, *, inner: bool = False) -> Lock:
    """Register a lock that every fork acquires first, so that in the child the data that it guards is consistent and
    the lock is free. Locks are acquired in reverse order of registration, because the holder of one may acquire earlier
    ones. inner: register it before all others, for a lock that other code acquires without this wrapper."""
    with _adding:
        _locks.insert(0 if inner else len(_locks), lock)
    if inner:
        _watch_forks()
    return _ForkSafeLock(lock)


class _ForkSafeLock:
    __slots__ = ("_lock",)

    def __init__(self, lock: Lock) -> None:
        self._lock = lock

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        _watch_forks()
        return bool(self._lock.acquire(blocking, timeout))

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


@functools.cache
def _watch_forks() -> None:
    """Register the fork handlers when the first of these locks is acquired. Handlers that are registered last run first
    before a fork. `logging` registers its own lock, so it is imported before: our locks are then acquired before its
    lock, by a fork as elsewhere, because modules imported under our locks create loggers. (Not imported with this
    module: 3 ms.)"""
    importlib.import_module("logging")

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_release, after_in_child=_after_fork_in_child)


def _before_fork() -> None:
    global _acquired
    while True:
        _acquired = _locks[::-1]
        for lock in _acquired:
            lock.acquire()
        _adding.acquire()
        if len(_locks) == len(_acquired):  # otherwise a lock was added meanwhile, and another thread may hold it
            return
        _release()


def _release() -> None:
    _adding.release()
    for lock in _acquired:
        lock.release()


def _after_fork_in_child() -> None:
    _release()
    _forget_modules()
    for forget in after_fork_in_child:
        forget()


# ---- Split a kernel's units (rows, tile rows, words) into consecutive ranges for CPU threads.

Bounds = np.ndarray | None  # None: one range


class Chunks(np.ndarray):
    """The limits of ranges of long work. Ctrl-C may end a launch between two of them; its outputs must be new arrays,
    which are then discarded."""


class InTurn(Chunks):
    """The same for a kernel whose ranges write to the same positions: one range at a time, in order."""


def as_chunks(limits: np.ndarray, kind: type[Chunks] = Chunks) -> Chunks:
    """The limits of ranges, marked as long work."""
    return limits.view(kind)


@functools.lru_cache(1 << 8)  # statements on vectors of one size use the same ranges each time
def even_ranges(n: int, parts: int) -> np.ndarray:
    """`parts` even ranges of n units, read-only."""
    limits: np.ndarray = np.minimum(np.arange(parts + 1, dtype=np.int64) * -(-n // parts), n)
    limits.setflags(write=False)
    return limits


def balanced_ranges(pointers: Array, parts: int, align: int = 1) -> np.ndarray:
    """`parts` ranges of rows with about equal numbers of entries; their limits, except the last, are multiples of
    `align`: no two ranges share a group of `align` rows, not even an empty one."""
    rows = len(pointers) - 1
    work = np.linspace(0, float(pointers[-1]) + rows, parts + 1).tolist()
    before = lambda i: pointers.item(i) + i  # evaluated for few rows: summing all takes longer than sharing saves
    firsts = np.array([bisect.bisect_left(range(rows + 1), some, key=before) for some in work])
    last = rows if align == 1 else (rows - 1) // align * align
    limits = np.minimum(-(-firsts // align) * align, last).astype(np.int64)
    limits[0], limits[-1] = 0, rows
    return np.maximum.accumulate(limits)


def ranges_by_work(done: Array, parts: int) -> np.ndarray:
    """`parts` ranges of units with equal work. `done`: inclusive prefix sums of the work per unit."""
    cuts = np.linspace(0, done[-1], parts + 1)[1:-1]
    return np.concatenate(([0], np.searchsorted(done, cuts), [len(done)])).astype(np.int64)


# ---- The thread pool of CPU kernels: its threads wait in machine code (`native.ll`) and never enter Python.

MAX_THREADS = 1024
_starting = threading.Lock()
_started = 0  # worker threads, without the threads that call kernels
_chosen: int | None = None
all_started = False  # whether the chosen number of threads is running


def count() -> int:
    """Number of threads that share a kernel's ranges, including the calling one: the chosen number, else
    $NUMBA_NUM_THREADS, else $OMP_NUM_THREADS, else the processors available to this process."""
    global _chosen
    if _chosen is None:
        named = (os.environ.get(name, "").partition(",")[0] for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"))
        _chosen = min(MAX_THREADS, next((int(text) for text in named if text.isdecimal() and int(text)), processors()))
    return _chosen


class _Limit(threading.local):
    """Per calling thread: the maximum number of threads that share its kernels' ranges; 0: the number of `count`."""

    number = 0


_limit = _Limit()


def set_limit(number: int) -> None:
    """Set that limit for the calling thread."""
    _limit.number = number


def limit_ranges(bounds: np.ndarray) -> np.ndarray:
    """Merge ranges so that there are at most as many as the calling thread's limit."""
    parts, most = len(bounds) - 1, _limit.number
    if not most or parts <= most:
        return bounds
    return bounds[[k * parts // most for k in range(most + 1)]]


def most_ranges() -> int:
    """The maximum number of ranges per call of the calling thread: the limit on its threads, if it is set."""
    return _limit.number or 1 << 30


def set_count(number: int | None) -> None:
    """Set the number of threads; None restores the default."""
    global _chosen, all_started
    _chosen, all_started = number, False


def validate_count(number: object) -> int | None:
    """Validate `number` as a count of threads. ValueError unless it is 1 to 1024 or None."""
    if number is not None and (
        not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_THREADS
    ):
        raise ValueError(f"threads: expected 1 to {MAX_THREADS}, or None, got {number!r}")
    return number


def processors() -> int:
    """Number of processors available to this process, by its affinity and the quota of its control groups."""
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(free, _quota(Path("/"))))


def _quota(root: Path) -> int:
    """Processors, rounded up, that Linux control groups (v2, v1) allow this process; MOST if there is no quota."""
    limits = [MAX_THREADS]
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
                limits.append(-(-int(quota) // int(period)))
    return max(1, min(limits))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def start_missing(address: Callable[[str], int]) -> None:
    """Start the missing threads, and set how many may work. address: from symbols of native.ll to addresses."""
    global _started, all_started
    with _starting:
        number = count() - 1
        while _started < number and _start(address("worker")):
            _started += 1
        ctypes.c_int64.from_address(address("allowed")).value = min(number, _started)
        all_started = True


def _start(function: int) -> bool:
    """Start a thread that runs a function of machine code. False if the system refuses it; the existing threads then do
    the work."""
    if os.name == "nt":
        windows: Any = ctypes
        library = windows.WinDLL("kernel32")
        library.CreateThread.restype = ctypes.c_void_p
        handle = library.CreateThread(None, ctypes.c_size_t(0), ctypes.c_void_p(function), None, 0, None)
        return bool(handle and library.CloseHandle(ctypes.c_void_p(handle)))
    thread = ctypes.c_void_p()
    if ctypes.pythonapi.pthread_create(ctypes.byref(thread), None, ctypes.c_void_p(function), None):
        return False
    ctypes.pythonapi.pthread_detach(thread)
    return True


def _reset() -> None:
    """Reset, in the child of a fork."""
    global _started, all_started, _starting
    _starting = threading.Lock()
    _started, all_started = 0, False


after_fork_in_child.append(_reset)

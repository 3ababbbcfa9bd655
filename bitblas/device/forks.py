"""Fork safety: a fork blocks while a thread holds a lock of bitblas or imports one of its modules, so that the child
finds locks free and modules complete. `children` lists further steps that run in the child."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

Lock = Any  # threading.RLock is a function
OURS = (__name__.partition(".")[0], "semirings")
PATIENCE = 10.0  # seconds that a fork waits for imports

children: list[Callable[[], object]] = []  # clean-up functions that run in the child of a fork


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
        end = time.monotonic() + PATIENCE
        while any(lock.owner for lock in _loading_elsewhere().values()) and time.monotonic() < end:
            time.sleep(0.0005)

    def release(self) -> None:
        """Imports may begin at once: a child discards those that began after all, and imports the modules again."""


def _forget_modules() -> None:
    for name in _loading_elsewhere():
        sys.modules["importlib._bootstrap"]._module_locks.pop(name)
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]


_held: list[Lock] = [_Modules()]
_taken: list[Lock] = []  # the locks that the current fork holds
_adding = threading.Lock()  # importing a module may register a lock


def held_over_forks(lock: Lock, *, inner: bool = False) -> Lock:
    """Register a lock that every fork acquires first, so that in the child the data that it guards is consistent and
    the lock is free. Locks are acquired in reverse order of registration, because the holder of one may acquire earlier
    ones. inner: register it before all others, for a lock that other code acquires without this wrapper."""
    with _adding:
        _held.insert(0 if inner else len(_held), lock)
    if inner:
        _watch_forks()
    return _Held(lock)


class _Held:
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
    global _taken
    while True:
        _taken = _held[::-1]
        for lock in _taken:
            lock.acquire()
        _adding.acquire()
        if len(_held) == len(_taken):  # otherwise a lock was added meanwhile, and another thread may hold it
            return
        _release()


def _release() -> None:
    _adding.release()
    for lock in _taken:
        lock.release()


def _after_fork_in_child() -> None:
    _release()
    _forget_modules()
    for forget in children:
        forget()

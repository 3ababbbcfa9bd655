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
PATIENCE = 10.0  # seconds that a fork waits for modules

children: list[Callable[[], object]] = []  # what a child does with what its parent's threads left


def _loading_elsewhere() -> dict[str, Any]:
    """Modules of ours that other threads have begun to load, and Python's lock of each, for which it has no public
    name."""
    known = list(getattr(sys.modules.get("importlib._bootstrap"), "_module_locks", {}).items())
    locks = {name: lock() for name, lock in known if name.partition(".")[0] in OURS}
    me = threading.get_ident()
    return {name: lock for name, lock in locks.items() if lock is not None and lock.owner != me}


class _Modules:
    """What is loaded when it is first named may be so by a thread that a child does not have, whose lock it would wait
    for. As a lock that is taken when nobody loads one."""

    def acquire(self) -> None:
        end = time.monotonic() + PATIENCE
        while any(lock.owner for lock in _loading_elsewhere().values()) and time.monotonic() < end:
            time.sleep(0.0005)

    def release(self) -> None:
        """Others may go on at once: a child forgets what was begun after all, and loads it again."""


def _forget_modules() -> None:
    for name in _loading_elsewhere():
        sys.modules["importlib._bootstrap"]._module_locks.pop(name)
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]


_held: list[Lock] = [_Modules()]
_taken: list[Lock] = []  # those of them that this fork holds
_adding = threading.Lock()  # a module that is loaded may bring a lock


def held_over_forks(lock: Lock, *, inner: bool = False) -> Lock:
    """A lock that whoever forks takes before, so that a child finds what it guards whole, and nobody holding it. Those
    that were given last are taken first: who holds one of them may ask for the earlier ones. inner: for an earlier one
    than all that are there, which others take unseen."""
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
    """Before the first of these locks is taken. What was registered last runs first before a fork, and `logging`, which
    takes a lock of its own there, is registered before ours: so ours are taken before it, by the fork as by everybody:
    what is imported under ours asks for loggers. (Not with this module: 3 ms.)"""
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
        if len(_held) == len(_taken):  # else one came while this thread waited, and others may hold it
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

"""Forked processes: a child starts threads of its own, whatever its parent had, and nothing hangs or dies."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import semirings

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def assert_done(*command):
    """The program prints "done" and nothing else."""
    environ = {**os.environ, "NUMBA_NUM_THREADS": "2", "BITBLAS_DEVICE": "cpu"}
    command = [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        *command,
    ]  # Python 3.12 warns that threads are forked
    ran = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environ, check=False)
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "done\n")


PROGRAM = """
import multiprocessing, os, sys, threading
import numpy as np
import bitblas as gb
from bitblas.device import threads

n = 1 << 16
A = v = None

def make():
    global A, v
    at = np.arange(n)
    A = gb.Matrix.from_coo(np.tile(at, 4), np.concatenate([(at + k) % n for k in range(4)]), True, nrows=n, ncols=n)
    v = gb.Vector.from_dense(np.ones(n))

def product(_):
    before = threads._started
    if A is None:
        make()
    found = A.mxv(v, gb.semiring.plus_second).new().reduce("plus").value
    return found, before, threads._started

def busy(stop):
    while not stop.is_set():
        product(0)

context = multiprocessing.get_context("fork")
if sys.argv[1] != "before":
    product(0)
    assert threads._started == 1
stop = threading.Event()
if sys.argv[1] == "during":  # other threads of the parent are inside of kernels
    others = [threading.Thread(target=busy, args=(stop,)) for _ in range(3)]
    for other in others:
        other.start()
for _ in range(3):
    if sys.argv[1] != "during":  # a pool has locks and threads of its own, which such forks do not keep whole
        with context.Pool(2) as pool:
            for found, before, after in pool.map(product, range(4), chunksize=1):
                assert (found, after) == (4 * n, 1), (found, after)
    child = os.fork()  # and a child of a child
    if child == 0:
        assert product(0) == (4 * n, 0, 1)
        if os.fork() == 0:
            assert product(0) == (4 * n, 0, 1)
            os._exit(7)
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
stop.set()
assert product(0)[0] == 4 * n  # the parent goes on
print("done")
"""


@needs_fork
@pytest.mark.parametrize("when", ["before", pytest.param("after", marks=pytest.mark.slow), "during"])
def test_a_child_has_threads_of_its_own(when):
    assert_done("-c", PROGRAM, when)


WAITING = """
import os, sys, threading
from bitblas.device import native
import logging

inside = threading.Event()
lock = native.loading if sys.argv[1] == "compiles" else native.binding().ffi.lib._lock._lock

def compiles():
    with lock:
        inside.set()
        threading.Event().wait(0.3)
        logging.getLogger("one that is new")  # as modules do that are imported under the lock

def free():
    if not lock.acquire(timeout=5):  # an identity of a thread may be used again: this thread's is another
        return False
    lock.release()
    found = []
    other = threading.Thread(target=lambda: found.append(lock.acquire(timeout=5)))
    other.start()
    other.join()
    return found == [True]

thread = threading.Thread(target=compiles)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    os._exit(7 if free() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 and free()
print("done")
"""


@needs_fork
@pytest.mark.parametrize("who", ["compiles", "frees"])
def test_a_fork_waits_for_who_compiles(who):
    """Otherwise the child would wait for a lock without a holder: ours, or llvmlite's, which frees LLVM's objects under
    it whenever a thread collects garbage. Compiling threads continue: forks wait for logging later."""
    assert_done("-c", WAITING, who)


SLOW = """
import os, signal, threading
from semirings.cached import cached_property

inside = threading.Event()

class Slow:
    def __init__(self, seconds):
        self.seconds = seconds

    @cached_property
    def value(self):
        inside.set()
        return threading.Event().wait(self.seconds)

thread = threading.Thread(target=lambda: Slow(0.5).value)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(10)
    os._exit(7 if Slow(0).value is False else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print("done")
"""


@needs_fork
def test_what_another_thread_computes_is_free_in_the_child():
    """functools.cached_property has a lock before Python 3.12, and so is used nowhere."""
    assert_done("-c", SLOW)
    root = Path(semirings.__file__).parents[1]
    texts = {path: path.read_text() for folder in ("bitblas", "semirings") for path in (root / folder).rglob("*.py")}
    locked = re.compile(r"functools(\.| import .*)cached_property")
    assert [path.name for path, text in texts.items() if locked.search(text)] == ["cached.py"]


LOADS = """
import os, signal, sys, threading, time
import numpy as np
import bitblas as gb
from bitblas import operations
from bitblas.device import threads

gb.Vector.from_dense(np.ones(9)).reduce().value  # from the first kernel on, forks wait
operations.__path__.append(sys.argv[1])
if sys.argv[2] == "forgets":
    threads.IMPORT_SECONDS = 0.0
thread = threading.Thread(target=lambda: operations.slow)
thread.start()
while not os.path.exists(os.path.join(sys.argv[1], "begun")):
    time.sleep(0.001)
child = os.fork()
if child == 0:
    signal.alarm(30)
    loaded = hasattr(sys.modules.get("bitblas.operations.slow"), "value")
    found = loaded, operations.slow.value, operations.slow.lock.acquire(timeout=10)
    os._exit(7 if found == (sys.argv[2] == "waits", 5, True) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
thread.join()
assert operations.slow.value == 5
print("done")
"""


SLOWLY = """
import pathlib, threading, time
from bitblas.device.threads import fork_safe

(pathlib.Path(__file__).parent / "begun").touch()
time.sleep(0.5)
value = 5
lock = fork_safe(threading.Lock())
lock.acquire()
threading.Timer(0.3, lock.release).start()
"""


@needs_fork
@pytest.mark.parametrize("what", ["waits", "forgets"])
def test_what_another_thread_loads_is_loaded_in_the_child(tmp_path, what):
    """Else it would wait for Python's lock of that module for ever: modules are loaded when they are first named. A
    lock that the module brings is free there as well, though others held it when the module was whole."""
    (tmp_path / "slow.py").write_text(SLOWLY)
    assert_done("-c", LOADS, str(tmp_path), what)


SPAWNED = """
import multiprocessing, threading
import numpy as np
import bitblas as gb

def product(n):
    A = gb.Matrix.from_coo(np.arange(n), (np.arange(n) + 1) % n, True, nrows=n, ncols=n)
    v = gb.Vector.from_dense(np.ones(n))
    return A.mxv(v, gb.semiring.plus_second).new().reduce("plus").value

def busy(stop):
    while not stop.is_set():
        product(1 << 16)

if __name__ == "__main__":
    stop = threading.Event()
    others = [threading.Thread(target=busy, args=(stop,)) for _ in range(2)]
    for other in others:
        other.start()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(product, [1 << 16, 5, 1 << 15], chunksize=1) == [1 << 16, 5, 1 << 15]
    stop.set()
    print("done")
"""


def test_processes_that_are_spawned_beside_threads(tmp_path):
    (tmp_path / "program.py").write_text(SPAWNED)
    assert_done(tmp_path / "program.py")

"""What a fork leaves of the CPU's threads. GNU OpenMP, which Numba runs parallel kernels on, has none in a child of a
process that had some, and ends the child when it is asked for them: who waits for its answer hangs."""

from __future__ import annotations

import os
import sys

from ..exceptions import DeviceError

_lost = False  # whether this process was forked from one whose threads it has not


def _after_fork() -> None:
    global _lost
    numba = sys.modules.get("numba")
    try:
        layer = numba.threading_layer() if numba is not None else ""
    except (AttributeError, ValueError):  # not yet imported whole; no threads yet
        return
    if layer == "omp" and sys.modules["numba.np.ufunc.omppool"].openmp_vendor == "GNU":
        _lost = True


os.register_at_fork(after_in_child=_after_fork)


def check_threads() -> None:
    """DeviceError where a parallel kernel would end the process."""
    if _lost:
        raise DeviceError(
            "device 'cpu': expected a process with threads of its own, got one forked from a process that had started "
            "Numba's (GNU OpenMP has none in such a child); start workers with "
            "multiprocessing.get_context('forkserver') or 'spawn', or before anything else is done with bitblas"
        )

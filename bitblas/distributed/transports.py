"""Communication between CPU ranks by MPI (mpi4py), and between GPU ranks by NCCL.

MPI's calls are non-blocking, so that a missing rank is detected. NCCL is called through CuPy's binding, which finds the
library of NVIDIA's own package.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import device as devices
from .. import extras
from ..device import Device
from ..exceptions import DistributedError
from ..typing import Array
from .group import TIMEOUT, Event, Group, GroupOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


# ---- MPI.


def load_mpi() -> Any:
    """Import and initialize mpi4py.MPI. DistributedError names what is missing."""
    try:
        import mpi4py

        mpi4py.rc.finalize = False  # the end of a rank with a broken group must not wait for the others
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise DistributedError(f"MPI cannot be loaded ({error}); {extras.hint('mpi')}") from error
    return MPI


class MpiGroup(Group):
    def __init__(self, device: Device, **how: Unpack[GroupOptions]) -> None:
        self.mpi = load_mpi()
        self.comm = self.mpi.COMM_WORLD.Dup()
        super().__init__(self.comm.rank, self.comm.size, device, **how)

    def _allgather(self, x: Array, out: Array, counts: list[int]) -> None:
        self._run(self.comm.Iallgatherv([x.view(np.uint8), self.mpi.BYTE], self._parts(out, counts)))

    def _alltoall(self, x: Array, out: Array, sent: list[int], received: list[int]) -> None:
        self._run(self.comm.Ialltoallv(self._parts(x, sent), self._parts(out, received)))

    def _parts(self, x: Array, counts: list[int]) -> list[Any]:
        """An array as MPI takes it: its bytes, and those of each rank's part."""
        ends = np.cumsum([0, *counts]) * x.itemsize
        return [x.view(np.uint8), np.diff(ends).tolist(), ends[:-1].tolist(), self.mpi.BYTE]

    def _run(self, request: Any) -> None:
        try:
            self.wait(request.Test)
        except self.mpi.Exception as error:
            self.fail({}, f" (MPI: {error})")

    def close(self) -> None:
        if not self.mpi.Is_finalized():
            self.mpi.Finalize()


# ---- NCCL.

BYTES = 1  # ncclUint8: everything is sent as bytes
DEVICE_TO_DEVICE = 3  # cudaMemcpyKind
ABORT = 5.0  # seconds that NCCL gets to abort
ABORT_IN_GRAPH = 0.2  # the same if a graph contains calls, for whose end NCCL waits in vain
MEETING_OFFSET = 1  # ranks connect at the port after the master's, because torchrun listens at the master's port itself


def load_nccl(device: Device) -> ModuleType:
    """Import CuPy's NCCL module. DistributedError names what is missing."""
    try:
        nccl = importlib.import_module(f"{device.xp.__name__}.cuda.nccl")
        nccl.get_version()
    except (ImportError, AttributeError, RuntimeError) as error:
        hint = extras.hint("nccl13", " (nccl12 for CUDA 12)")
        raise DistributedError(f"several GPUs: NCCL cannot be loaded by CuPy ({error}); {hint}") from error
    return nccl


def meeting_point() -> str:
    """The address where rank 0 waits for the others, from the environment. NCCL's bootstrap listens there itself."""
    host, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    if not host or not port or not port.isdecimal():
        raise DistributedError(
            f"MASTER_ADDR, MASTER_PORT: expected host and port of rank 0, got {host!r} and {port!r}; "
            "torchrun and `bitblas run` set them; under srun, export them"
        )
    return f"{host}:{int(port) + MEETING_OFFSET}"


class NcclGroup(Group):
    def __init__(self, rank: int, size: int, device: Device, **how: Unpack[GroupOptions]) -> None:
        super().__init__(rank, size, device, **how)
        self.nccl = load_nccl(device)
        point = os.environ.setdefault("NCCL_COMM_ID", meeting_point())
        # Collectives inside the while node of a graph: NCCL must not search for others that run next to the graph.
        os.environ.setdefault("NCCL_GRAPH_MIXING_SUPPORT", "0")
        results: list[Any] = []

        def connect() -> None:
            devices.activate(device)
            try:
                results.append(self.nccl.NcclCommunicator(size, self.nccl.get_unique_id(), rank))
            except Exception as error:  # reported by the waiting thread
                results.append(error)

        thread = threading.Thread(target=connect, daemon=True)  # NCCL has no timeout here
        thread.start()
        thread.join(how.get("timeout", TIMEOUT))
        if not results or isinstance(results[0], BaseException):
            why = results[0] if results else f"no answer for {self.timeout:g} s"
            raise DistributedError(f"rank {rank} of {size}: cannot connect at {point} ({why}); is rank 0 running?")
        self.comm = results[0]
        # Never freed: CuPy would destroy the communicator with its last reference, and NCCL then waits for all graphs
        # that contain its calls. It ends with the process.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.comm))
        self.event = device.xp.cuda.Event(disable_timing=True)

    def _allgather(self, x: Array, out: Array, counts: list[int]) -> None:
        stream = self.device.xp.cuda.get_current_stream()
        if len(set(counts)) == 1:
            self.comm.allGather(_address(x), _address(out), x.nbytes, BYTES, stream.ptr)
        else:  # with sends, because broadcasts from several roots would run one after the other
            others = [0 if rank == self.rank else len(x) for rank in range(self.size)]
            self._exchange(x.itemsize, lambda rank: _address(x), others, out, counts, stream)
            self._copy(_address(out) + sum(counts[: self.rank]) * x.itemsize, _address(x), x.nbytes, stream)
        self._record_event(stream)

    def _alltoall(self, x: Array, out: Array, sent: list[int], received: list[int]) -> None:
        stream, size = self.device.xp.cuda.get_current_stream(), x.itemsize
        from_ = _address(x)
        self._exchange(size, lambda rank: from_ + sum(sent[:rank]) * size, sent, out, received, stream)
        self._record_event(stream)

    def _exchange(
        self, size: int, source: Callable[[int], int], sent: list[int], out: Array, received: list[int], stream: Any
    ) -> None:
        """Send elements to each rank from an address, and receive elements from each; zero counts are skipped. A rank's
        own elements are copied: NCCL would copy them concurrently with the others, but with fewer blocks."""
        to = _address(out)
        self.nccl.groupStart()
        for rank in range(self.size):
            if rank == self.rank:
                self._copy(to, source(rank), sent[rank] * size, stream)
            else:
                if sent[rank]:
                    self.comm.send(source(rank), sent[rank] * size, BYTES, rank, stream.ptr)
                if received[rank]:
                    self.comm.recv(to, received[rank] * size, BYTES, rank, stream.ptr)
            to += received[rank] * size
        self.nccl.groupEnd()

    def _copy(self, to: int, source: int, nbytes: int, stream: Any) -> None:
        if nbytes:
            self.device.xp.cuda.runtime.memcpyAsync(to, source, nbytes, DEVICE_TO_DEVICE, stream.ptr)

    @contextmanager
    def together(self) -> Iterator[None]:
        self.nccl.groupStart()
        try:
            yield
        finally:
            self.nccl.groupEnd()

    def _record_event(self, stream: Any) -> None:
        """Leave completion to the stream; `settle` waits for it. Captured calls belong to a graph."""
        if not stream.is_capturing():
            self.event.record(stream)
            self.pending = True

    def settle(self) -> None:
        if not self.pending:
            return
        self.pending = False
        begin = time.perf_counter()
        self.await_event(self.event)
        if self.board is not None:
            self.board.leave()
        self.seconds += time.perf_counter() - begin

    def await_event(self, event: Event) -> None:
        try:
            self.wait(lambda: self._done(event))
        except self.nccl.NcclError as error:
            self.fail({}, f" (NCCL: {error})")

    def _done(self, event: Event) -> bool:
        self.comm.check_async_error()
        return event.done

    def _abandon(self) -> None:
        self.aborting = threading.Thread(target=self.comm.abort, daemon=True)  # it may never return
        self.aborting.start()
        self.aborting.join(ABORT_IN_GRAPH if self._inside else ABORT)

    def leave(self) -> None:
        """CUDA waits for kernels whose peers are gone, and NCCL for graphs, for ever: exit the process instead."""
        event = self.device.xp.cuda.Event(disable_timing=True)
        event.record()
        end = time.monotonic() + ABORT
        while not event.done and time.monotonic() < end:
            time.sleep(0.01)
        if self.aborting.is_alive() or not event.done:
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(1)


def _address(x: Any) -> int:
    """The address of CuPy's array."""
    return x.data.ptr

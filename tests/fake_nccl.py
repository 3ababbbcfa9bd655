"""A fake GPU, and its NCCL over MPI: the functions that `distributed/transports.py` calls, with addresses as in
NCCL."""

from __future__ import annotations

import ctypes
import sys
import types
from typing import Any

import numpy as np
from mpi4py import MPI


class Array(np.ndarray):
    """An array that reports its address as CuPy's do."""

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.__array_interface__["data"][0])


def at(address, count):
    """The bytes there."""
    return np.frombuffer((ctypes.c_byte * count).from_address(address), np.uint8) if count else np.zeros(0, np.uint8)


class NcclError(RuntimeError):
    pass


class NcclCommunicator:
    open_calls: list | None = None  # of a group, until it ends

    def __init__(self, size, unique_id, rank):
        self.comm = MPI.COMM_WORLD.Dup()
        assert (size, rank, unique_id) == (self.comm.size, self.comm.rank, b"id")
        self.error = self.aborted = False

    def allGather(self, send, receive, count, kind, stream):
        assert kind == 1
        self.comm.Allgather(at(send, count), at(receive, count * self.comm.size))

    def broadcast(self, send, receive, count, kind, root, stream):
        assert self.open_calls is not None
        if self.comm.rank == root:
            at(receive, count)[:] = at(send, count)
        self.comm.Bcast(at(receive, count), root)

    def send(self, address, count, kind, peer, stream):
        self.open_calls.append(self.comm.Isend(at(address, count).copy(), peer))

    def recv(self, address, count, kind, peer, stream):
        self.open_calls.append(self.comm.Irecv(at(address, count), peer))

    def check_async_error(self):
        if self.error:
            raise NcclError("NCCL_ERROR_REMOTE_ERROR")

    def abort(self):
        self.aborted = True


def group_start():
    NcclCommunicator.open_calls = []


def group_end():
    MPI.Request.Waitall(NcclCommunicator.open_calls)
    NcclCommunicator.open_calls = None


class Event:
    def __init__(self, disable_timing):
        self.looks = 0

    def record(self, stream):
        self.looks = 0

    @property
    def done(self):
        self.looks += 1
        return self.looks > 2


class Device:
    """The part of a device that a group uses."""

    name, host_memory = "cuda:0", False

    def __init__(self):
        nccl: Any = types.SimpleNamespace(
            get_version=lambda: 0, NcclError=NcclError, NcclCommunicator=NcclCommunicator, get_unique_id=lambda: b"id",
            groupStart=group_start, groupEnd=group_end,
        )  # fmt: skip
        stream = types.SimpleNamespace(ptr=0, is_capturing=lambda: False)
        for name, module in (("fake_gpu", types), ("fake_gpu.cuda", types), ("fake_gpu.cuda.nccl", nccl)):
            sys.modules[name] = module
        runtime = types.SimpleNamespace(
            memcpyAsync=lambda to, source, n, kind, stream: at(to, n).put(range(n), at(source, n))
        )
        cuda = types.SimpleNamespace(Event=Event, get_current_stream=lambda: stream, runtime=runtime)
        self.xp = types.SimpleNamespace(
            __name__="fake_gpu", cuda=cuda, empty=lambda *how: np.empty(*how).view(Array), bincount=np.bincount,
            ascontiguousarray=lambda x: np.ascontiguousarray(x).view(Array),
        )  # fmt: skip

    def asarray(self, x):
        return np.array(x).view(Array)

    def to_host(self, x):
        return np.asarray(x)

    def synchronize(self):
        pass

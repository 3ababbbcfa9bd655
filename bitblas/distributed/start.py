"""Start-up of a rank: find its number from the environment and connect to the other ranks."""

from __future__ import annotations

import atexit
import os
import platform
import socket
import sys
import uuid
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from .. import device as devices
from ..config import config
from ..device import Device
from ..exceptions import DistributedError, InvalidValue
from .group import TIMEOUT, Group, GroupOptions, SingleRank
from .liveness_board import ORDERED, LivenessBoard
from .mpi import MpiGroup
from .nccl import NcclGroup

# Environment variables with the rank, the number of ranks, and the rank on this host: torchrun and `bitblas run`, srun.
LAUNCHERS = (("RANK", "WORLD_SIZE", "LOCAL_RANK"), ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"))
UNDER_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")  # set by mpirun
LAUNCHER = "BITBLAS_LAUNCHER"  # the environment variable with the rank and the socket of `bitblas run`
JOINING, JOINED = "joining", "joined"  # messages to it: this rank waits for the others in `init`, all ranks are there
_group: Group | None = None


class Place(NamedTuple):
    """A rank, the number of ranks, and the rank's number on this host."""

    rank: int
    ranks: int
    local: int


def launched() -> Place | None:
    """Rank, number of ranks, and rank on this host, from the environment; None if it does not define them."""
    for names in LAUNCHERS:
        if names[0] in os.environ and names[1] in os.environ:
            texts = [os.environ.get(name, "0") for name in names]
            if not all(text.isdecimal() for text in texts) or not int(texts[0]) < int(texts[1]):
                got = ", ".join(f"{name}={text!r}" for name, text in zip(names, texts))
                raise DistributedError(f"environment: expected a rank below the number of ranks, got {got}")
            return Place(*map(int, texts))
    return None


def init(device: str | Device | None = None, *, timeout: float | None = None, debug: bool | None = None) -> Group:
    """Join the ranks that run this program; return the Group that all objects created from now on belong to.

    RANK, WORLD_SIZE, LOCAL_RANK (or Slurm's), MASTER_ADDR and MASTER_PORT identify the ranks, or MPI does; without them
    there is one rank. device: for this rank's shares; None: $BITBLAS_DEVICE, else the GPU with its number on this host,
    else "cpu". Ranks communicate by NCCL on GPUs, by MPI on CPUs. timeout: maximum seconds to wait in a collective
    ($BITBLAS_TIMEOUT, else 600). debug: compare what ranks run at each collective ($BITBLAS_DEBUG).
    Further calls return the same Group. Raises DistributedError (ranks cannot connect, NCCL or MPI missing, fewer GPUs
    than ranks, inconsistent environment), InvalidValue (timeout).
    """
    global _group
    if _group is not None:
        return _group
    seconds = float(os.environ.get("BITBLAS_TIMEOUT", TIMEOUT) if timeout is None else timeout)
    if not seconds > 0:
        raise InvalidValue(f"timeout: expected seconds above 0, got {timeout!r}")
    checks = os.environ.get("BITBLAS_DEBUG", "") not in ("", "0") if debug is None else bool(debug)
    place = launched()
    local_device = _device(device, place)
    how: GroupOptions = {"timeout": seconds, "debug": checks}
    _notify_launcher(JOINING)
    if place is None and not any(name in os.environ for name in UNDER_MPI):
        group: Group = SingleRank(local_device, **how)
    elif local_device.host_memory:
        group = MpiGroup(local_device, **how)
        if place is not None and place.ranks != group.size:
            raise DistributedError(
                f"environment: expected {place.ranks} ranks, MPI has {group.size}; on CPUs start with mpirun or "
                "`bitblas run --device cpu`"
            )
    elif place is None:
        raise DistributedError("environment: expected RANK and WORLD_SIZE for ranks on GPUs, got neither")
    elif place.ranks == 1:
        group = SingleRank(local_device, **how)
    else:
        group = NcclGroup(place.rank, place.ranks, local_device, **how)
    config.device = local_device.name
    if group.size > 1:
        _open_board(group)
        _notify_launcher(JOINED)
        atexit.register(_end, group)
    _group = group
    return group


def _notify_launcher(word: str) -> None:
    """Notify `bitblas run`, which ends ranks that wait for a rank that ended before it called `init`."""
    number, _, address = os.environ.get(LAUNCHER, "").partition(" ")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as launcher:
            launcher.connect(address)
            launcher.sendall(f"{word} {number}\n".encode())


def _device(device: str | Device | None, place: Place | None) -> Device:
    """The device of this rank."""
    name = (os.environ.get("BITBLAS_DEVICE") or devices.default()) if device is None else device
    if isinstance(name, str) and name.partition(":")[0] == "cuda" and ":" not in name and place is not None:
        count = devices.get("cuda").xp.cuda.runtime.getDeviceCount()
        if place.local >= count:
            raise DistributedError(f"rank {place.rank}: expected one GPU per rank of this host, got {count}")
        name = f"cuda:{place.local}"
    elif isinstance(name, str) and name.startswith("cuda:") and device is None and place is not None:
        return _device("cuda", place)  # the default names one GPU of several, but ranks need different ones
    return devices.get(name)


def _open_board(group: Group) -> None:
    debug, group.debug = group.debug, False  # turned on for all ranks if one of them enables it
    token = np.frombuffer(uuid.uuid4().bytes, np.uint64)
    text = f"{int(group.gather_host(token)[0, 0]):x}"
    board = LivenessBoard(text, group.rank, group.size)
    group.barrier()
    board.map_others()
    group.captures = bool(group.allreduce(np.array([board.all_on_this_host]), np.logical_and)[0])
    board.carries_messages = group.captures and platform.machine() in ORDERED
    board.unlink_file()
    group.board = board
    group.debug = bool(group.allreduce(np.array([debug]), np.logical_or)[0])


def _end(group: Group) -> None:
    """Finish or abandon pending work: a process must not end before its GPU does."""
    if not group.broken:
        group.settle()
        if group.board is not None:
            error = getattr(sys, "last_value", None)  # the exception that ended the program
            group.board.end("" if error is None else f"{type(error).__name__}: {error}")
        group.close()
    else:
        group.leave()


def current() -> Group:
    """The Group of this process; calls `init` if it has not been called."""
    return init() if _group is None else _group


def rank_device(device: str | Device | None = None) -> Device:
    """The device of this rank, where its part of every object is stored. device: named by the program, which
    must be the same. InvalidValue for another device; TypeError, ValueError as in `device.get`."""
    local_device = current().device
    name = device.name if isinstance(device, Device) else device
    if name is None or name in (local_device.name, local_device.name.partition(":")[0]):
        return local_device
    if not isinstance(name, str) or name.partition(":")[0] != "cuda":
        devices.get(name)  # raises for unknown devices
    raise InvalidValue(
        f"device: expected {local_device.name}, the device of rank {current().rank}, got "
        f"{name!r}. Hint: init(device=) or `bitblas run --device` sets it for all distributed objects"
    )

"""Communication between CPU ranks by MPI (mpi4py). Calls are non-blocking, so that a missing rank is detected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import extras
from ..device import Device
from ..exceptions import DistributedError
from ..typing import Array
from .group import Group, GroupOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


def load() -> Any:
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
        self.mpi = load()
        self.comm = self.mpi.COMM_WORLD.Dup()
        super().__init__(self.comm.rank, self.comm.size, device, **how)

    def _allgather(self, x: Array, out: Array, counts: list[int]) -> None:
        bytes_of = [count * x.itemsize for count in counts]
        begins = np.cumsum([0, *bytes_of[:-1]]).tolist()
        byte = self.mpi.BYTE
        self._run(self.comm.Iallgatherv([_raw(x), byte], [_raw(out), bytes_of, begins, byte]))

    def _alltoall(self, x: Array, out: Array, sent: list[int], received: list[int]) -> None:
        sides = []
        for array, counts in ((x, sent), (out, received)):
            bytes_of = [count * array.itemsize for count in counts]
            sides.append([_raw(array), bytes_of, np.cumsum([0, *bytes_of[:-1]]).tolist(), self.mpi.BYTE])
        self._run(self.comm.Ialltoallv(*sides))

    def _run(self, request: Any) -> None:
        try:
            self.wait(request.Test)
        except self.mpi.Exception as error:
            self.fail({}, f" (MPI: {error})")

    def close(self) -> None:
        if not self.mpi.Is_finalized():
            self.mpi.Finalize()


def _raw(x: np.ndarray) -> np.ndarray:
    return x.view(np.uint8)

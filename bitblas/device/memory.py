"""Memory usage: find the arrays that objects store by walking them, so that no count can go stale; and memory limits.

An array counts once, with all the memory that it keeps alive: a view counts as its base. The walk follows containers,
objects of bitblas and closures of functions, but not devices or objects of other libraries.
"""

from __future__ import annotations

import functools
import gc
import re
import threading
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..typing import Array
    from .base import Device

Kind = TypeVar("Kind", bound=type)

limit: int | None = None  # bytes on each device; `config.memory_limit` sets it
tracked_types: set[type] = set()  # classes of the objects that store arrays; each has a `device`
_CONTAINERS = (list, tuple, set, frozenset)


_UNITS = {"": 1, "b": 1} | {f"{c}b": 1000**k for k, c in enumerate("kmgt", 1)}
_UNITS |= {f"{c}ib": 1024**k for k, c in enumerate("kmgt", 1)}


def parse_bytes(value: object) -> int | None:
    """Parse a memory limit: bytes, text such as "4GiB" or "500 MB", or None. ValueError for anything else."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]*)", value.strip().lower()) if isinstance(value, str) else None
    if match is not None and match[2] in _UNITS:
        value = int(float(match[1]) * _UNITS[match[2]])
    if type(value) is not int or value < 0:
        raise ValueError(f"memory_limit: expected bytes, text such as '4GiB', or None, got {value!r}")
    return value


def track_memory(kind: Kind) -> Kind:
    """Class decorator: objects of the class count towards the limit."""
    tracked_types.add(kind)
    return kind


def arrays_in(thing: object, device: Device, visited: set[int]) -> Iterator[Array]:
    """The arrays of the device reachable from an object, each once and with all the memory that it keeps alive.
    visited: the ids of objects, which must outlive it; it grows."""
    kind, stack = device.xp.ndarray, [thing]
    while stack:
        x = stack.pop()
        if isinstance(x, kind):
            while isinstance(x.base, kind):
                x = x.base
        if id(x) in visited:
            continue
        visited.add(id(x))
        if isinstance(x, kind):
            yield x
        else:
            stack += _referenced(x)


def _referenced(x: object) -> Iterator[object]:
    """The objects that an object refers to, if they may lead to arrays."""
    if isinstance(x, dict):
        yield from list(x.values())
    elif isinstance(x, _CONTAINERS):
        yield from x
    elif isinstance(x, types.FunctionType):
        yield from _closed_over(x)
    elif isinstance(x, types.MethodType):
        yield x.__self__
    elif isinstance(x, functools.partial):
        yield from (*x.args, *x.keywords.values())
    elif type(x).__module__.startswith("bitblas.") and not hasattr(type(x), "xp"):  # not a device
        yield from list(getattr(x, "__dict__", {}).values())
        for base in type(x).__mro__:
            names = base.__dict__.get("__slots__", ())
            yield from (getattr(x, name) for name in names if name != "__weakref__" and hasattr(x, name))


def _closed_over(f: types.FunctionType) -> Iterator[object]:
    for cell in f.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty cell
            continue


def bytes_in(thing: object, device: Device, visited: set[int]) -> int:
    """The total bytes of `arrays_in`."""
    return sum(int(array.nbytes) for array in arrays_in(thing, device, visited))


def bytes_on(device: Device) -> int:
    """Bytes of the arrays that live objects of this process store on a device. Collects garbage, then scans all objects
    of the process: milliseconds, spent only if a limit is set."""
    gc.collect()
    visited: set[int] = set()
    owners = [x for x in gc.get_objects() if type(x) in tracked_types and getattr(x, "device", None) is device]
    visited.add(id(owners))
    return sum(bytes_in(x, device, visited) for x in owners)


# ---- Read small results back to the host: GPU kernels write them to pinned host memory, so that one synchronization
# makes them readable, without a copy and without clearing device memory first.

READBACK_BYTES = 1 << 15  # bytes; larger results are copied


class _Pinned(threading.local):
    """Page-locked memory per device, for this thread: it can be reused after the thread has synchronized."""

    def __init__(self) -> None:
        self.of: dict[Device, tuple[np.ndarray, int]] = {}

    def get(self, device: Device) -> tuple[np.ndarray, int]:
        if device not in self.of:
            memory = device.xp.cuda.alloc_pinned_memory(READBACK_BYTES)
            self.of[device] = np.frombuffer(memory, np.uint8, READBACK_BYTES), memory.ptr
        return self.of[device]


_pinned = _Pinned()


class Readback:
    """`nbytes` zeroed bytes that kernels write: pass `part(..)`, launch, then `read(..)`. Use one at a time in a
    thread, and read each."""

    __slots__ = ("address", "device", "host")

    def __init__(self, device: Device, nbytes: int) -> None:
        self.device, self.address = device, 0
        if device.pins:
            memory, self.address = _pinned.get(device)
            self.host = memory[:nbytes]
            self.host.fill(0)
        else:  # kernels write to host memory anyway
            self.host = np.zeros(nbytes, np.uint8)

    def part(self, dtype: DTypeLike, start: int = 0, count: int = 1) -> Array | np.generic:
        """A kernel argument: `count` values from byte `start` on."""
        if self.address:
            return np.uint64(self.address + start)
        return self.host[start : start + count * np.dtype(dtype).itemsize].view(dtype)

    def read(self, dtype: DTypeLike, start: int = 0, count: int = 1) -> np.ndarray:
        """The same values on the host, after the device has written them."""
        self.device.synchronize()
        return self.host[start : start + count * np.dtype(dtype).itemsize].view(dtype)

"""Settings of the process, read when they are needed and changed by `config.set`."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from . import device as _device
from .device import memory as _held
from .device import threads as _threads


class Config:
    """The settings.

    device       default device of new objects: $BITBLAS_DEVICE, else "cuda" if a GPU works (the current one of several,
                 "cuda:1" is the second), else "cpu"
    autocompute  whether reading the values of a delayed expression (`expr.nvals`) computes it; else TypeError
    mapnumpy     accepted for python-graphblas' programs; NumPy's functions always mean the operators here
    memory_limit the bytes that the objects of this process and the build of one more may take on each device: a
                 number, text such as "4GiB", or None; the default is $BITBLAS_MEMORY_LIMIT. Anything larger uses a
                 smaller format or algorithm if the library may choose, else it raises OutOfMemory and changes nothing
    prefer       what the planner optimises: "time" (never more bytes than plain 32-bit CSR) or "memory", which also
                 bit-packs integer values of a small range
    threads      number of threads that share a kernel on the CPU, including the calling thread: 1 to 1024; the default
                 is $NUMBA_NUM_THREADS, else $OMP_NUM_THREADS, else the processors that this process may use, by its
                 affinity and its control group's quota; None: the default

    `config.set(device="cpu")` takes effect at once; as a context manager it restores the settings at the end.
    """

    __slots__ = ("_device", "autocompute", "mapnumpy", "prefer")
    _choices = {"autocompute": (True, False), "mapnumpy": (True, False), "prefer": ("time", "memory")}

    def __init__(self) -> None:
        self._device: str | None = None
        self.autocompute = True
        self.mapnumpy = True
        self.prefer = "time"
        self.memory_limit = os.environ.get("BITBLAS_MEMORY_LIMIT") or None

    @property
    def memory_limit(self) -> int | None:
        return _held.limit

    @memory_limit.setter
    def memory_limit(self, value: int | str | None) -> None:
        _held.limit = _held.parse_bytes(value)

    @property
    def threads(self) -> int:
        return _threads.count()

    @threads.setter
    def threads(self, value: int | None) -> None:
        _threads.set_count(_threads.validate_count(value))

    @property
    def device(self) -> str:
        # Determined at first use, because looking for a GPU imports CuPy.
        if self._device is None:
            self._device = _device.default()
        return self._device

    @device.setter
    def device(self, name: str) -> None:
        self._device = _device.get(name).name

    def set(self, **settings: Any) -> _Restore:
        """Change settings; all names and values are checked before any is changed.

        Raises ValueError for an unknown setting or value, DeviceError for a device that does not work.
        """
        for name, value in settings.items():
            if name == "device":
                _device.get(value)
            elif name == "memory_limit":
                _held.parse_bytes(value)
            elif name == "threads":
                _threads.validate_count(value)
            elif name not in self._choices:
                known = ", ".join(("device", "memory_limit", "threads", *self._choices))
                raise ValueError(f"config.set: expected one of {known}, got {name!r}")
            elif not any(value is c or value == c for c in self._choices[name]):
                raise ValueError(f"{name}: expected one of {self._choices[name]}, got {value!r}")
        before = {name: getattr(self, "_device" if name == "device" else name) for name in settings}
        for name, value in settings.items():
            setattr(self, name, value)
        return _Restore(self, before)

    def get(self, name: str, default: object = None) -> Any:
        """The setting of that name, `default` for an unknown one."""
        return getattr(self, name, default)

    def __getitem__(self, name: str) -> Any:
        """The setting of that name. KeyError for an unknown one."""
        if name not in (*self._choices, "device", "memory_limit", "threads"):
            raise KeyError(name)
        return getattr(self, name)

    def __repr__(self) -> str:
        device = self._device or "not yet chosen"
        more = f"memory_limit={self.memory_limit} prefer={self.prefer}"
        return f"<config device={device} autocompute={self.autocompute} {more}>"


class _Restore:
    def __init__(self, config: Config, before: dict[str, object]) -> None:
        self._config, self._before = config, before

    def __enter__(self) -> Config:
        return self._config

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for name, value in self._before.items():
            setattr(self._config, "_device" if name == "device" else name, value)


config = Config()

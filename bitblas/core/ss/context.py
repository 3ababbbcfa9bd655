"""`gb.ss.Context`: settings of one thread of a program; `gb.ss.burble`: print each kernel as it runs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ...config import config
from ...device import threads, tracing
from .settings import Values


class Context(Values):
    """Context(engage=True, stack=True, nthreads=None, chunk=None, gpu_id=None): settings of the thread that engages it,
    until it disengages it or engages another; as a context manager until the end of the block.

    nthreads: the maximum number of threads that share a kernel on the CPU; 0: `config.threads`. chunk and gpu_id are
    stored and change nothing. stack: settings that are not given are inherited from the surrounding context; else the
    default. None as a value: the default. Raises KeyError for an unknown name, TypeError and ValueError for an invalid
    value, TypeError for `del`.
    """

    _title = "Context"
    _defaults: dict[str, Any] = {"nthreads": 0, "chunk": 0.0, "gpu_id": -1}

    def __init__(
        self,
        engage: bool = True,
        *,
        stack: bool = True,
        nthreads: int | None = None,
        chunk: float | None = None,
        gpu_id: int | None = None,
    ) -> None:
        around: Mapping[str, Any] = _local.context if stack else self._defaults
        self._values = dict(self._defaults)
        self._before: Context | None = None
        for name, value in (("nthreads", nthreads), ("chunk", chunk), ("gpu_id", gpu_id)):
            self[name] = around[name] if value is None else value
        if engage:
            self.engage()

    def dup(
        self, engage: bool = True, *, nthreads: int | None = None, chunk: float | None = None, gpu_id: int | None = None
    ) -> Context:
        """A copy with these settings, and those of this one that are not given."""
        settings = {"nthreads": nthreads, "chunk": chunk, "gpu_id": gpu_id}
        named: dict[str, Any] = {name: self[name] if value is None else value for name, value in settings.items()}
        return Context(engage, stack=False, **named)

    def __setitem__(self, name: str, value: Any) -> None:
        kind = type(self._defaults[name])
        value = self._defaults[name] if value is None else kind(value)
        if name == "nthreads" and not 0 <= value <= threads.MAX_THREADS:
            raise ValueError(f"nthreads: expected 0 to {threads.MAX_THREADS}, got {value}")
        self._values[name] = value
        if _local.context is self:
            self._apply()

    def __repr__(self) -> str:
        return f"Context({self._values})"

    def _apply(self) -> None:
        threads.set_limit(self["nthreads"])

    def engage(self) -> None:
        """Use these settings in this thread from now on."""
        if _local.context is not self:
            self._before, _local.context = _local.context, self
        self._apply()

    def disengage(self) -> None:
        """Restore the previous settings. No effect if another context is active."""
        if _local.context is self:
            _local.context = self._before or global_context
            _local.context._apply()
        self._before = None

    def __enter__(self) -> Context:
        self.engage()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.disengage()


class _Global(Context):
    """The settings of threads without a context of their own: its nthreads is `config.threads`."""

    def __init__(self) -> None:
        self._values, self._before = dict(self._defaults), None

    def __getitem__(self, name: str) -> Any:
        return config.threads if name == "nthreads" else self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "nthreads":
            config.threads = int(value) or None if value is not None else None
        else:
            super().__setitem__(name, value)

    def _apply(self) -> None:
        threads.set_limit(0)


class _Local(threading.local):
    context: Context


global_context = _Global()
_Local.context = global_context  # the default of every thread
_local = _Local()


class Burble(tracing.Trace):
    """`gb.ss.burble.enable()`, `.disable()`, `.is_enabled`, `with gb.ss.burble():`, which nest: each kernel is printed
    after it has run, with its variant, the units of its work, and its microseconds. Waits for each kernel, so programs
    run slower. ValueError inside of `gb.trace()`, which cannot begin inside of it either."""

    def __init__(self) -> None:
        super().__init__()
        self._states: list[bool] = []

    @property
    def is_enabled(self) -> bool:
        return tracing.active is self

    def enable(self) -> None:
        """Start printing."""
        if not self.is_enabled:
            super().__enter__()

    def disable(self) -> None:
        """Stop printing."""
        if self.is_enabled:
            tracing.active = None

    def __call__(self) -> Burble:
        return self

    def __enter__(self) -> Burble:
        self._states.append(self.is_enabled)
        self.enable()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._states.pop():
            self.disable()

    def _run(self, *args: Any) -> None:
        super()._run(*args)
        (run,), ((device, begin, end),) = self.runs, self._marks
        self.runs.clear()
        self._marks.clear()
        us = "captured" if begin is None else f"{device.elapsed(begin, end):.1f} us"
        sys.stdout.write(f" [ {run.text}: {run.units} units, {us} ]\n")


burble = Burble()

__all__ = ["Context", "burble", "global_context"]

"""`gb.ss.config`, `A.ss.config`: settings of SuiteSparse that programs set.

Three determine the format that `export` uses. The others are hints for SuiteSparse's threads and printing; they are
stored and change nothing, as options of statements do.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...config import config as process
from ...device import threads, tracing

if TYPE_CHECKING:
    from ..matrix.matrix import Matrix
    from ..vector import Vector


# Shares of the positions from which on SuiteSparse uses a bitmap, for matrices whose smaller side is at most 1, 2, 4,
# .., 64, or wider; the share of the rows with entries below which it lists those rows. Its defaults.
BITMAP = (0.04, 0.05, 0.06, 0.08, 0.10, 0.20, 0.30, 0.40)
HYPER = 0.0625
FORMATS = ("by_row", "by_col")
FORMS = ("sparse", "bitmap", "full")  # and hypersparse matrices


class Values(MutableMapping[str, Any]):
    """Settings that have defaults and cannot be deleted."""

    _title: str
    _values: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"{self._title}: a setting cannot be deleted; set it to None for the default")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Settings(Values):
    """Name -> value. None as a value: the default. Raises KeyError for an unknown name or format, TypeError and
    ValueError for an invalid value, TypeError for `del`."""

    _defaults: dict[str, Any] = {
        "format": "by_row",
        "hyper_switch": HYPER,
        "bitmap_switch": list(BITMAP),
        "nthreads": 0,
        "chunk": 0.0,
        "burble": False,
    }

    _title = "gb.ss.config"

    def __init__(self) -> None:
        self._values = dict(self._defaults)

    def __setitem__(self, name: str, value: Any) -> None:
        default = self._defaults[name]
        if value is None:
            value = default
        elif name == "format":
            if value not in FORMATS:
                raise KeyError(f"format: expected one of {', '.join(FORMATS)}, got {value!r}")
        elif name == "bitmap_switch":
            value = [float(x) for x in np.broadcast_to(value, len(BITMAP))]
        else:
            value = type(default)(value)
        self._values[name] = value

    def __repr__(self) -> str:
        return "".join(f"{name} = {value!r}\n" for name, value in self._values.items())

    def bitmap_switch(self, shape: tuple[int, ...]) -> float:
        """The share of its positions from which on an object is stored as a bitmap."""
        side = min(shape) if len(shape) == 2 else 1
        return float(self["bitmap_switch"][min(max(0, side - 1).bit_length(), len(BITMAP) - 1)])


config = Settings()


class ObjectSettings(Values):
    """`A.ss.config`, `v.ss.config`: the same for one object; settings that are not set here are those of
    `gb.ss.config`.

    format (of a Matrix): by_row or by_col; hyper_switch (of a Matrix), bitmap_switch: numbers; sparsity_control: the
    formats that `export` may use if none is requested, a name or a set of hypersparse (of a Matrix), sparse, bitmap,
    full, or auto; sparsity_status: the one that it would use, which is read-only. None as a value: the default. A copy
    of the object has none of them. Raises KeyError for an unknown name or format, TypeError and ValueError for an
    invalid value, TypeError for `del`.
    """

    _title = "config"

    def __init__(self, parent: Matrix | Vector, overrides: dict[str, Any], status: Callable[[], str]) -> None:
        self._parent, self._overrides, self._status = parent, overrides, status

    @property
    def _matrix(self) -> bool:
        return len(self._parent.shape) == 2

    @property
    def _forms(self) -> tuple[str, ...]:
        return ("hypersparse", *FORMS) if self._matrix else FORMS

    def __iter__(self) -> Iterator[str]:
        more = ("format", "hyper_switch") if self._matrix else ()
        return iter(sorted(("bitmap_switch", *more, "sparsity_control", "sparsity_status")))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, name: str) -> Any:
        if name not in list(self):
            raise KeyError(name)
        if name == "sparsity_status":
            return self._status()
        if name in self._overrides:
            return self._overrides[name]
        if name == "sparsity_control":
            return {"auto"}
        return config.bitmap_switch(self._parent.shape) if name == "bitmap_switch" else config[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in list(self):
            raise KeyError(name)
        if name == "sparsity_status":
            raise ValueError("sparsity_status: is read-only; set sparsity_control to restrict it")
        if value is None:
            self._overrides.pop(name, None)
            return
        if name == "format" and value not in FORMATS:
            raise KeyError(f"format: expected one of {', '.join(FORMATS)}, got {value!r}")
        if name == "sparsity_control":
            value = {value} if isinstance(value, str) else set(value)
            if not value or not value <= {"auto", *self._forms}:
                raise KeyError(f"sparsity_control: expected some of auto, {', '.join(self._forms)}, got {value}")
        elif name != "format":
            value = float(value)
        self._overrides[name] = value

    def __repr__(self) -> str:
        return "".join(f"{name} = {value!r}\n" for name, value in self.items())

    # ---- effects ----

    @property
    def letter(self) -> str:
        """The last letter of the format names: by rows or by columns."""
        return "r" if self["format"] == "by_row" else "c"

    def chosen(self, fits: str) -> str:
        """The allowed format for entries that fit `fits`: else the next one that can store them."""
        allowed = self["sparsity_control"]
        order = {"full": ("full", "bitmap", "sparse", "hypersparse"), "bitmap": ("bitmap", "sparse", "hypersparse")}
        order |= {"sparse": ("sparse", "hypersparse", "bitmap"), "hypersparse": ("hypersparse", "sparse", "bitmap")}
        return fits if "auto" in allowed else next((form for form in order[fits] if form in allowed), "bitmap")

    def is_dense(self, nvals: int) -> bool:
        """Whether a bitmap is the format for this number of entries."""
        return nvals > self["bitmap_switch"] * int(np.prod(self._parent.shape, dtype=object))

    def is_hyper(self, filled: int, rows: int) -> bool:
        """Whether the rows that have entries are listed."""
        return filled < self["hyper_switch"] * rows


# ---- `gb.ss.Context`: settings of one thread of a program; `gb.ss.burble`: print each kernel as it runs.


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
        return process.threads if name == "nthreads" else self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "nthreads":
            process.threads = int(value) or None if value is not None else None
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

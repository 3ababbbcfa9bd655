"""`gb.ss.config`, `A.ss.config`: settings of SuiteSparse that programs set.

Three determine the format that `export` uses. The others are hints for SuiteSparse's threads and printing; they are
stored and change nothing, as options of statements do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..matrix.matrix import Matrix
    from ..vector.vector import Vector

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


__all__ = ["ObjectSettings", "Settings", "config"]

"""`gb.ss.config`: the settings of SuiteSparse that programs set. Three say which form `export` takes; the others are
hints for its threads and its printing, which are kept and change nothing, as options of statements do."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

# Shares of the positions from which on SuiteSparse holds a bitmap, for matrices whose smaller side is at most 1, 2, 4,
# .., 64, or wider; the share of the rows with entries below which it lists those rows. Its defaults.
BITMAP = (0.04, 0.05, 0.06, 0.08, 0.10, 0.20, 0.30, 0.40)
HYPER = 0.0625
FORMATS = ("by_row", "by_col")


class Settings(MutableMapping[str, Any]):
    """Name -> value. None as a value: the default. Raises KeyError for an unknown name or format, TypeError and
    ValueError for a value that is none, TypeError for `del`."""

    _defaults: dict[str, Any] = {
        "format": "by_row", "hyper_switch": HYPER, "bitmap_switch": list(BITMAP), "nthreads": 0, "chunk": 0.0,
        "burble": False,
    }  # fmt: skip

    def __init__(self) -> None:
        self._values = dict(self._defaults)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

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

    def __delitem__(self, name: str) -> None:
        raise TypeError("gb.ss.config: expected a setting to be changed, not deleted; None is its default")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return "".join(f"{name} = {value!r}\n" for name, value in self._values.items())

    # ---- what they say ----

    @property
    def letter(self) -> str:
        """The last one of the names of forms: by rows or by columns."""
        return "r" if self["format"] == "by_row" else "c"

    def is_dense(self, nvals: int, shape: tuple[int, ...]) -> bool:
        """Whether a bitmap is the form for so many entries."""
        side = min(shape) if len(shape) == 2 else 1
        at = min(max(0, side - 1).bit_length(), len(BITMAP) - 1)
        return nvals > self["bitmap_switch"][at] * int(np.prod(shape, dtype=object))

    def is_hyper(self, filled: int, rows: int) -> bool:
        """Whether the rows that have entries are listed."""
        return filled < self["hyper_switch"] * rows


config = Settings()

__all__ = ["Settings", "config"]

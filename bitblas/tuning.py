"""Tuning table: every threshold of the library, with its unit, its reason and the measurement behind it.

A threshold is a number that decides which of several ways runs, how work is divided, or how much is cached: changing it
changes time or memory, never an answer. Read one with ``value("push_cost.gpu")``, or ``count("..")`` if it is a whole
number. Tests change rows with ``override``; nothing else does. ``python -m bitblas.tuning`` prints the table. This
module imports nothing of bitblas, so that kernels and devices can read it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Threshold:
    """A tuned number: what it means, why it has this value, and where it was measured."""

    value: float
    unit: str
    reason: str
    measured: str = "not measured"  # device, graphs, commit


# Names are <area>.<noun>, with a last part .cpu or .gpu if the value depends on the device. 2**n for sizes in powers of 2.
TABLE: dict[str, Threshold] = {
    # ------------------------------------------------------------------------------------------------------ direction
    # Push or pull: plan/direction.py.
    # -- end of direction
    # ----------------------------------------------------------------------------------------------------------- plan
    # Formats, plans of products, auxiliary formats: plan/.
    # -- end of plan
    # --------------------------------------------------------------------------------------------------------- device
    # Launches, memory, threads: device/, store.py.
    # -- end of device
    # -------------------------------------------------------------------------------------------------------- formats
    # Stored formats and their kernels: formats/, kernels/.
    # -- end of formats
    # ----------------------------------------------------------------------------------------------------- operations
    # GraphBLAS operations: operations/.
    # -- end of operations
    # ----------------------------------------------------------------------------------------------------------- core
    # Statements and objects: core/.
    "index.short_list": Threshold(64, "indices", "Python finds the minimum of a short list faster than NumPy."),
    "build.single_writes": Threshold(
        512,
        "entries",
        "A bitmap takes a few entries as single writes instead of a merge: the largest width of a bitmap.",
    ),
    "iso.first_block": Threshold(
        64,
        "values",
        "Arrays are compared with their first value in growing blocks: most arrays differ early.",
    ),
    "operators.cache": Threshold(
        1 << 12,
        "typed operators",
        "Operators that are created on the fly would grow the cache without limit.",
    ),
    # -- end of core
    # ----------------------------------------------------------------------------------------------------------- loop
    # Captured loops: loop/.
    # -- end of loop
    # ----------------------------------------------------------------------------------------------------- algorithms
    # Algorithms, graphs and the NetworkX backend: algorithms/, graph/, nx/.
    # -- end of algorithms
    # ------------------------------------------------------------------------------------------------------------- io
    # Reading and writing files, vertex orders, plots, calibration: io/, reorder/, plots/, calibrate/, cli/.
    # -- end of io
    # ---------------------------------------------------------------------------------------------------- distributed
    # Several ranks: distributed/.
    # -- end of distributed
}

_versions = itertools.count(1)
_version = 0
_clear: list[Callable[[], None]] = []


def value(name: str) -> float:
    """The current value of a threshold. KeyError if there is none of that name."""
    return TABLE[name].value


def count(name: str) -> int:
    """The current value of a threshold that is a whole number."""
    return int(TABLE[name].value)


def version() -> int:
    """Identifies the current values. Decisions that are cached on objects have it in their key."""
    return _version


def on_change(clear: Callable[[], None]) -> None:
    """Call `clear` whenever rows change: for caches of functions whose results depend on thresholds."""
    _clear.append(clear)


@contextmanager
def override(changes: Mapping[str, float]) -> Iterator[None]:
    """Change rows inside a ``with`` block: ``with override({"push_cost.gpu": 1.0}): ..``. Decisions cached before are not
    used inside, and those cached inside are not used after. KeyError, without a change, if there is no such row."""
    global _version
    before, version_before = {name: TABLE[name] for name in changes}, _version
    try:
        TABLE.update({name: replace(before[name], value=number) for name, number in changes.items()})
        _version = next(_versions)
        _clear_caches()
        yield
    finally:
        TABLE.update(before)
        _version = version_before
        _clear_caches()


def _clear_caches() -> None:
    for clear in _clear:
        clear()


def table() -> str:
    """The table as text: name, value and unit, then reason and measurement."""
    rows = []
    for name, row in TABLE.items():
        rows.append(f"{name} = {row.value:,} {row.unit}\n    {row.reason}\n    measured: {row.measured}")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())

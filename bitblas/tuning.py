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
    "exchange.least": Threshold(
        1 << 20,
        "bytes",
        "A vector with fewer bytes is sent whole: a call costs more than the bytes that a list saves.",
    ),
    "exchange.gain": Threshold(
        1.25,
        "bytes of the dense vector per byte of the lists",
        "Lists must be shorter than the dense vector by this factor, because they must also be built and scattered.",
    ),
    "exchange.copies": Threshold(
        4,
        "vectors",
        "Each rank stores the gathered copies of this many recent vectors and updates them with the changed values.",
    ),
    "replicated.entries": Threshold(
        1 << 25,
        "entries",
        "Splitting a matrix does not pay if a GPU reads all of its entries in 0.5 ms.",
        "H200",
    ),
    "replicated.longest_row": Threshold(
        64,
        "entries",
        "Graphs whose rows are all short, such as meshes and roads, have many levels. A level costs 60 microseconds "
        "more on two ranks than on one, where one cluster runs rounds with few entries.",
        "2 H200",
    ),
    "replicated.memory": Threshold(
        3,
        "free bytes of a rank per byte of the matrix",
        "The matrix is replicated by rows and by columns if a rank has this much free memory.",
    ),
    "shares.large": Threshold(
        1 << 16,
        "positions",
        "From this size on, objects are partitioned in blocks of shares.block positions; smaller ones in words of 64.",
    ),
    "shares.block": Threshold(
        512,
        "positions",
        "Positions of a block, a multiple of 64. Longer blocks need less memory to count their entries.",
    ),
    "shares.blocks": Threshold(
        1 << 24,
        "blocks",
        "The maximum number of blocks: objects with more have longer blocks, because each block's entries are counted.",
    ),
    "shares.imbalance": Threshold(
        1.03,
        "entries per entry of an average rank",
        "The partition stays even if no rank has more entries: calls with the same number of positions from each rank "
        "are faster.",
    ),
    "shares.row_cost": Threshold(
        8,
        "entries per row",
        "What a row costs in addition to its entries, because vectors are traversed several times per round.",
    ),
    "symmetry.chunk": Threshold(
        1 << 26,
        "entries",
        "The test for symmetry hashes this many entries at once, which bounds its memory.",
    ),
    "group.polling": Threshold(
        0.001,
        "seconds",
        "A rank that waits polls without a pause for this long, and sleeps between polls from then on.",
    ),
    "group.sleep": Threshold(
        2e-5,
        "seconds",
        "The sleep between two polls of a rank that waits.",
    ),
    "group.signatures": Threshold(
        1000,
        "signatures",
        "The cache of signatures of calls is cleared when it has more.",
    ),
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

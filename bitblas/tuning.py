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
    "file.chunk": Threshold(2**18, "bytes", "A chunk of text fits the cache of a core, for several passes over it."),
    "file.block": Threshold(
        2**24, "bytes", "A file that fits in memory is parsed in blocks of whole lines of about this size."
    ),
    "file.chunked_block": Threshold(2**22, "bytes", "4 MiB of text take about 100 MB while its numbers are parsed."),
    "file.packed_ratio": Threshold(
        4,
        "bytes of text per byte of a compressed file",
        "The assumed compression ratio, for the estimate of the memory to read a file at once.",
    ),
    "file.early_entries": Threshold(
        2**18, "entries", "Duplicates among the first entries are refused before the Matrix is built."
    ),
    "progress.delay": Threshold(
        1.0, "seconds", "A progress line appears only if reading a file or running a command takes longer."
    ),
    "progress.file_interval": Threshold(0.1, "seconds", "The time between two updates of the progress line of a file."),
    "progress.command_interval": Threshold(
        0.2, "seconds", "The time between two updates of the progress line of a command."
    ),
    "edgelist.memory": Threshold(
        6,
        "bytes of memory per byte of text",
        "An edge list that is read at once takes so much memory: 24 bytes for the shortest line.",
    ),
    "edgelist.early_lines": Threshold(
        2**11,
        "lines",
        "The first lines are searched for duplicates before numbers are parsed and kernels for names are compiled.",
    ),
    "edgelist.line_bytes": Threshold(80, "bytes", "The assumed length of a line, to find the text of the first lines."),
    "edgelist.written_lines": Threshold(2**16, "lines", "So many lines are formatted as text and written at once."),
    "labels.kernel_bytes": Threshold(
        2**17,
        "bytes of text",
        "Below this, loading the kernels that number names costs more than they save; a dictionary numbers the names.",
    ),
    "labels.launch_words": Threshold(
        2**17,
        "words",
        "So many words are numbered per kernel launch, so that the hash table grows with the number of names.",
    ),
    "labels.parallel_lines": Threshold(
        2**14, "lines", "From so many lines on, threads share the work of finding the words."
    ),
    "labels.slots": Threshold(
        2, "slots per name", "The hash table of names is at most half full, even if all words of a launch are new."
    ),
    "labels.prefetch": Threshold(16, "words", "The slot of a word is prefetched so many words ahead."),
    "mm.python_entries": Threshold(
        2**13, "entries", "A smaller file is parsed without SciPy: parsing takes about 5 ms, importing scipy.io 0.2 s."
    ),
    "webgraph.block": Threshold(
        2**22, "bytes", "The compressed rows are read in blocks of this size; a longer row takes a larger one."
    ),
    "webgraph.chunk_rows": Threshold(2**16, "rows", "The largest number of rows that are decoded at once."),
    "webgraph.chunk_entries": Threshold(
        2**20, "entries", "The largest number of entries that are decoded at once; a single longer row may have more."
    ),
    "community.levels": Threshold(
        8,
        "rounds of pairing",
        "Patches of up to 256 vertices, which reverse Cuthill-McKee orders.",
        "entries per 8 x 8 tile on shuffled graphs for 4, 6, 8 rounds: Delaunay mesh 5.0, 5.4, 5.4; road network "
        "3.4, 3.9, 3.9",
    ),
    "community.hub_degree": Threshold(
        8,
        "times the mean degree",
        "A vertex of a higher degree is a hub and belongs to no community. Meshes and roads have no hubs. This "
        "also skips the longest rows.",
        "entries per 8 x 8 tile for 4, 8, no hubs: e-mail network 2.4, 2.4, 2.3; friendship network 9.5, 10.4, 10.0",
    ),
    "community.matchings": Threshold(
        4, "rounds of matching", "Vertices that are unmatched after these rounds stay single, or are leaves of a star."
    ),
    "community.stop_share": Threshold(
        20, "vertices", "Pairing ends after a round that matches fewer than one in so many vertices."
    ),
    "llp.rounds": Threshold(
        20, "rounds", "The most rounds of label propagation per layer, in each of which half of the vertices choose."
    ),
    "llp.stop_share": Threshold(
        100, "vertices", "A layer ends if fewer than one in so many vertices changed its label in two rounds."
    ),
    "gorder.window": Threshold(
        5, "vertices", "Gorder maximizes the scores with so many vertices before the next one, as in the paper."
    ),
    "plots.small_vertices": Threshold(
        300,
        "vertices",
        "Up to this size a graph is drawn with its vertices, in the spring layout; a larger one in the Pivot MDS "
        "layout.",
    ),
    "plots.vector_lines": Threshold(
        5000, "edges", "Pictures with more lines contain them as pixels, also in .svg and .pdf."
    ),
    "calibrate.scale.cpu": Threshold(16, "log2 of vertices", "The size of the sample matrices."),
    "calibrate.scale.gpu": Threshold(20, "log2 of vertices", "The size of the sample matrices."),
    "calibrate.format_bytes": Threshold(
        3, "times the bytes of CSR", "The planner never chooses a larger format, so it is not measured."
    ),
    "calibrate.large_weight": Threshold(
        0.3,
        "weight of an error",
        "The weight of the errors of a format with more bytes than CSR, which is not chosen for its time.",
    ),
    "calibrate.copied_bytes.cpu": Threshold(
        2**26, "bytes", "The array that is copied to measure the bandwidth is larger than the caches."
    ),
    "calibrate.copied_bytes.gpu": Threshold(
        2**29, "bytes", "The array that is copied to measure the bandwidth is larger than the caches."
    ),
    "calibrate.fit_rounds": Threshold(
        20, "rounds", "The mean of two times that differ by a factor of 100 has then converged to a thousandth."
    ),
    "calibrate.warm_searches": Threshold(
        8,
        "searches",
        "The first searches of a matrix run round by round; later ones use compiled kernel tables, and are timed.",
    ),
    "calibrate.shared_error": Threshold(
        1.5, "factor", "The largest error of the prediction for CSR that the fit of all other formats shares."
    ),
    "calibrate.vector_density": Threshold(
        0.3, "share of the positions", "The multiplied Boolean vector has entries at this share of its positions."
    ),
    "calibrate.samples.search": Threshold(2, "samples", "The number of timed searches."),
    "calibrate.samples.product": Threshold(3, "samples", "The number of timed products."),
    "compare.runs": Threshold(3, "runs", "The reported time is the median of so many runs after a warm-up."),
    "compare.seconds": Threshold(10.0, "seconds", "No further run of a program starts after this time in total."),
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

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
    "parallel.words": Threshold(
        1 << 10, "words", "Below this a parallel launch of a vector kernel on the CPU costs more than it saves."
    ),
    "parallel.ranges_per_thread": Threshold(
        4, "ranges", "More ranges than threads: a thread that finishes early takes another range."
    ),
    "parallel.clock_ranges_per_thread": Threshold(
        4, "ranges", "In loops on the CPU: ranges of long work per thread between two checks of the clock."
    ),
    "parallel.spins": Threshold(
        50_000,
        "polls",
        "A worker thread polls for its next job some 0.5 ms before it sleeps; a program returns from Python in that. "
        "Read when the first kernel is loaded.",
    ),
    "interrupt.long_work": Threshold(
        1 << 25,
        "entries or products",
        "From here on a CPU launch runs some of its ranges at a time, so that Python can handle signals in between; "
        "less work finishes in about 0.2 s.",
    ),
    "interrupt.chunk_work": Threshold(
        1 << 21, "entries or products", "Work of one range of long work: it takes 2 to 20 ms."
    ),
    "interrupt.group_seconds": Threshold(
        0.1, "seconds", "Duration of a group of ranges of a long kernel, after which signals are handled."
    ),
    "interrupt.loop_nanoseconds": Threshold(
        20_000_000,
        "nanoseconds",
        "A loop on the CPU returns to Python after this time, which handles signals. Read when the first loop runs.",
    ),
    "memory.checked_bytes": Threshold(
        1 << 26,
        "bytes",
        "From here on a memory need is compared with the free memory; querying that takes some microseconds.",
    ),
    "memory.checked_entries": Threshold(
        1 << 16, "entries", "Results of fewer entries are allocated without a check, unless there is a memory limit."
    ),
    "measure.sample_us": Threshold(2000.0, "microseconds", "Minimum duration of one sample of a time measurement."),
    "bits.unpacked_words": Threshold(
        8,
        "words per nonzero word",
        "With fewer, all of a bitset on the host is unpacked; else its zero words and bytes are skipped.",
    ),
    "vector.copied_entries": Threshold(
        32,
        "positions per entry",
        "From here on a copy of a vector on the host copies the values of its entries only.",
    ),
    "list.positions.cpu": Threshold(
        1 << 24,
        "positions",
        "Below this a vector is stored as a bitset however few bits are set: a list costs 3 ms per round of a search, "
        "whatever its size; a bitset costs about as much at 2^24 positions, where bits take 2 MB and values 128 MB.",
        "CPU, grid with 2^20 vertices: 0.15 ms per round with a bitset",
    ),
    "list.positions.gpu": Threshold(
        1 << 26, "positions", "As list.positions.cpu; on a GPU a list takes many small launches.", "estimated"
    ),
    "list.bits_per_entry": Threshold(
        128, "bits", "A list stores an index and a value of 8 bytes each per entry; a bitset takes a bit per position."
    ),
    # -- end of device
    # -------------------------------------------------------------------------------------------------------- formats
    # Stored formats and their kernels: formats/, kernels/.
    # -- end of formats
    # ----------------------------------------------------------------------------------------------------- operations
    # GraphBLAS operations: operations/.
    "parallel.entries": Threshold(
        1 << 14, "entries", "Below this a parallel launch of a kernel over rows on the CPU costs more than it saves."
    ),
    "parallel.keys": Threshold(
        1 << 15, "keys", "Below this a parallel search for keys on the CPU costs more than it saves.", "estimated"
    ),
    "parallel.lines": Threshold(
        1 << 12, "lines", "Below this threads of the CPU do not share the row reductions of a multivector."
    ),
    "pull.early_entries": Threshold(
        8,
        "entries",
        "Approximate entries read of a row that stops at its first hit, when rows are divided among threads.",
    ),
    "pull.lengths_per_entry": Threshold(
        4, "rows", "A kernel that reads only row lengths counts this many rows in the time of reading one entry."
    ),
    "dot.ranges_per_thread": Threshold(
        32,
        "ranges",
        "Rows that dot products read differ in length, and summing their lengths takes half of the time of the "
        "products of a mesh.",
        "CPU, triangles of delaunay_n18: 18 ms instead of 29 ms",
    ),
    "cached.full_positions": Threshold(
        1 << 16,
        "positions",
        "Up to this size the bitsets of full vectors are cached, 8 KB each: building one costs more than a kernel.",
    ),
    "cached.empty_rows": Threshold(
        1 << 12, "rows", "Up to this size structures without entries are shared; each takes 16 KB."
    ),
    "cached.key_entries": Threshold(
        1 << 12,
        "entries",
        "Up to this size a structure caches its sorted keys, at most 32 KB: statements take less host time.",
    ),
    "cached.mxm_entries": Threshold(
        1 << 12,
        "entries",
        "Up to this number of entries of both operands the last prepared product is cached: planning takes as long as "
        "running.",
    ),
    "cached.products": Threshold(
        64,
        "products",
        "Prepared products that a matrix caches; vectors with new iso values would add more without limit.",
    ),
    "ewise.resized_entries": Threshold(
        1 << 16,
        "entries",
        "Room of this size is shrunk in place to the entries of the result; a view of less room takes half of the host "
        "time.",
    ),
    "put.single_entries": Threshold(
        16,
        "entries",
        "Fewer entries are written one by one; for more, writing their words together takes less host time.",
        "measured; device not recorded",
    ),
    "extract.searched_columns": Threshold(
        256, "columns per entry", "From here on the columns of entries are searched in the index list."
    ),
    "spmspv.sorted_products": Threshold(1 << 13, "products", "Up to this number products are always sorted."),
    "spmspv.product_cost": Threshold(
        16,
        "entries per product",
        "Sorting a product costs as much as this many entries that a pull reads: 3 to 10 passes over keys and sums "
        "against one.",
    ),
    "push.shared_entries": Threshold(
        1 << 14, "entries", "From here on several CPU threads share a push; each thread goes through all rows."
    ),
    "push.shared_row_length": Threshold(
        8,
        "entries per row (tiles per tile row)",
        "Mean from which on CPU threads share a push, because each thread goes through all rows.",
    ),
    "push.words_per_thread": Threshold(
        64, "words", "Least part of the output of a push, or of the tile columns of lookup tables, per CPU thread."
    ),
    "tables.tiles_per_column": Threshold(
        2, "tiles per tile column", "From here on the lookup tables of the CPU's pull by whole tiles are amortized."
    ),
    "tables.bytes": Threshold(
        8 << 20,
        "bytes",
        "Larger lookup tables of the CPU's pull by whole tiles are read from memory.",
        "one EPYC core, plus_second, us without and with tables, FP32 and FP64: delaunay_n14 63, 35; 120, 54; n18 "
        "1153, 696; 1925, 961; stencil27_58 1326, 654; 2280, 1220; road_ny 1237, 637; 1891, 1079; but grid2d_1024, "
        "with 13 and 25 MB of tables, 2168, 2514; 3903, 4804",
    ),
    "fill.row_length": Threshold(
        2.0,
        "entries per row",
        "From here on a pull on the CPU amortizes a copy of the vector with sentinels for missing entries.",
        "one EPYC thread, plus_times, ms without and with NaN: rmat16 with 0.8 of all entries 7.1, 3.6, with 0.3 4.4, "
        "4.2; a road network (2.8 entries a row) with 0.99 3.9, 3.2; min_plus of INT64 with 0.5 4.0, 5.4",
    ),
    "fill.masked_row_length": Threshold(
        4.0, "entries per row", "As fill.row_length under a mask, which leaves about half of the rows."
    ),
    "fill.long_row_length": Threshold(
        6.0, "entries per row", "From here on fill.long_share applies instead of fill.share."
    ),
    "fill.share": Threshold(
        0.75, "share of all entries", "A vector with fewer entries is not copied with sentinels.", "see fill.row_length"
    ),
    "fill.long_share": Threshold(
        0.25,
        "share of all entries",
        "As fill.share for long rows, which amortize the copy earlier.",
        "see fill.row_length",
    ),
    "fill.matrix_entries": Threshold(
        1 << 12, "entries", "Smaller matrices use no sentinels: the calls that make the copy take some microseconds."
    ),
    "multivector.few_lines": Threshold(
        1 << 18,
        "lines",
        "With fewer lines a block of a product has two threads per word that it reads instead of one, so that there "
        "are more blocks.",
        "GPU, ms with one and with two threads: delaunay_n20, 64 sources, 121, 139; mycielskian14 7.5, 5.1",
    ),
    "multivector.long_row": Threshold(
        1 << 10, "entries", "From here on a GPU splits a row in a pull of a product with a multivector."
    ),
    "multivector.segment": Threshold(1 << 8, "entries", "A segment of a row that a GPU splits in such a product."),
    "multivector.run_lines": Threshold(
        1 << 8, "lines", "A thread sums this many lines one after the other in a column reduction of a multivector."
    ),
    "multivector.entries_per_lane": Threshold(
        4, "entries", "Mean entries of a row per GPU lane in a pull that computes only presence."
    ),
    "spgemm.uncounted_positions": Threshold(
        1 << 13, "positions", "Products of a result with fewer positions are not counted first."
    ),
    "spgemm.room": Threshold(
        1 << 22,
        "products or positions",
        "Up to this number room is allocated at once, and one pass suffices: 50 MB, most of which is not written.",
    ),
    "spgemm.alike_products": Threshold(
        1 << 20,
        "products",
        "About a millisecond of work: for less, no separate kernel is compiled that searches for equal rows.",
    ),
    "spgemm.alike_share": Threshold(
        0.5,
        "share of all positions",
        "Fuller operands have rows with equal columns: in all-pairs distances most are full.",
    ),
    "spgemm.columns_per_product": Threshold(
        4, "columns", "Each range of rows of the CPU clears a bit per column; this many take the time of one product."
    ),
    "spgemm.products_per_entry": Threshold(
        16,
        "products",
        "Each range of rows of the CPU compares the rows of B, which takes this many products per entry.",
    ),
    "spgemm.table_load": Threshold(
        0.75, "share of slots", "Rows with more products, or entries, than this share of a hash table use a larger one."
    ),
    "sorted_product.products": Threshold(
        1 << 22, "products", "Products that are expanded at a time, 40 bytes each, unless a row has more."
    ),
    "chunks.least_entries": Threshold(
        1 << 12, "entries", "A build from chunks sorts at least this many entries at once."
    ),
    "chunks.most_entries.cpu": Threshold(1 << 20, "entries", "A build from chunks sorts at most this many at once."),
    "chunks.most_entries.gpu": Threshold(1 << 24, "entries", "A build from chunks sorts at most this many at once."),
    "chunks.steps": Threshold(
        8,
        "steps",
        "Number of steps that sort the entries of a band: the scratch memory of a step is small next to the result.",
    ),
    "chunks.slices": Threshold(
        4,
        "chunks per step",
        "Entries in memory that cannot be sorted at once are read in chunks of a fraction of a step.",
    ),
    "chunks.bands": Threshold(
        8, "bands", "Number of bands of rows in which formats smaller than CSR are built; each reads all chunks again."
    ),
    "chunks.most_bands": Threshold(
        64,
        "bands",
        "Number of bands if rows ascend from chunk to chunk, which takes a single pass, or if memory is short.",
    ),
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

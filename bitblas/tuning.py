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
    "formats.parallel_entries": Threshold(
        1 << 16, "entries", "With fewer, a parallel launch on the CPU does not pay off.", "about 0.1 ms per launch"
    ),
    "formats.trim_part": Threshold(
        16,
        "bytes kept per byte wasted",
        "A built array is copied to its size only if this frees more than a sixteenth.",
    ),
    "formats.handicap": Threshold(
        1.1,
        "times the fastest",
        "Error of predictions of mplg and split; code that cannot read packed columns or a Split converts them to rows "
        "for each operation.",
    ),
    "rows.iterations": Threshold(
        16,
        "iterations of a group of lanes",
        "Each iteration over a row has a memory latency; longer rows are hubs and are cut (estimated).",
    ),
    "rows.segment_steps": Threshold(8, "steps", "Steps that the lanes of a segment of a long row take to sum it."),
    "rows.hot_share": Threshold(
        0.4,
        "share of entries",
        "With less in the first columns, too few entries would use the values that a block keeps in shared memory.",
        "RMAT 20: by degree 0.69, else 0.25",
    ),
    "rows.hub_column_skew": Threshold(
        4,
        "longest row per mean row",
        "With less, hub columns are no better guesses than the first column of a row.",
    ),
    "rows.bin_blocks": Threshold(
        4,
        "blocks of 256 threads per multiprocessor",
        "Resident blocks of a degree-binned pull, if none keeps vector values in shared memory.",
    ),
    "rows.dot_least_lanes": Threshold(4, "lanes", "Least GPU lanes per position of the mask of a dot product."),
    "csr.iterations_early": Threshold(
        128,
        "iterations of a group of lanes",
        "Instead of rows.iterations if rows stop at their first hit, because they are seldom read to the end.",
        "RMAT 20: 26.6, 21.9, 21.7 us with 8, 32, 128",
    ),
    "csr.min_blocks": Threshold(
        8,
        "blocks of 256 threads per multiprocessor",
        "Least number for full vectors and 32-bit sums, which limits registers.",
        "min_plus, grid: 58 us; with 4, 64 us",
    ),
    "csr.min_blocks_wide": Threshold(
        4,
        "blocks of 256 threads per multiprocessor",
        "The same for other vectors and types, which need more registers.",
    ),
    "csr.stage": Threshold(
        1024, "entries", "Entries that a block reads at once when it reads its rows as one run.", "measured"
    ),
    "csr.pull_entries_per_lane": Threshold(
        7,
        "entries",
        "As many lanes share a row of sums as have two or three loads in flight each.",
        "H200: fastest with 1 lane on a Delaunay mesh (6 entries per row), 2 on a stencil (25), 4 on RMAT (30)",
    ),
    "csr.push_entries_per_lane": Threshold(2, "entries", "Entries of a row per lane of a push."),
    "csr.uneven": Threshold(
        32,
        "longest row per mean row",
        "From here on rows are uneven: blocks read them as one run, and binned pulls pay off.",
        "RMAT 20: 2000; meshes: 1 to 4",
    ),
    "csr.binned_from": Threshold(
        1 << 22,
        "entries",
        "With fewer, a block of a degree-binned pull would spend as long on hot columns as on its rows (estimated).",
    ),
    "csr.bin_log_longest": Threshold(
        11, "log2 of entries", "Longest piece of a degree-binned pull, 2048 entries: longer rows are cut."
    ),
    "csr.bin_log_shortest": Threshold(2, "log2 of entries", "Shortest bin of a degree-binned pull: up to 4 entries."),
    "csr.bin_log_run": Threshold(
        10, "log2 of entries", "Entries of a run, which a warp takes at a time unless one row has more."
    ),
    "csr.hot_samples": Threshold(1 << 15, "entries", "Sampled to estimate the share of entries in the first columns."),
    "csr.hub_column_least_lanes": Threshold(4, "lanes", "Least GPU lanes per row that search for its hub column."),
    "csr.dot_slots": Threshold(
        4096,
        "slots, a power of two",
        "Hash table for a row of A in masked dot products on a GPU; a row may fill half of them.",
        "H200, triangles of RMAT 20: 10.8 ms, 20.2 without tables; 2048 to 8192 slots differ by 4 %",
    ),
    "csr.dot_table_from": Threshold(
        16,
        "entries",
        "Rows of A with at least as many are put into the hash table of a masked dot product.",
        "H200, triangles of RMAT 20: rows from 8 to 32 entries on differ by 4 %",
    ),
    "csr.dot_table_for": Threshold(4, "entries of the mask", "The hash table of a row must serve at least as many."),
    "csr.dot_long": Threshold(
        1024,
        "entries",
        "If even the shorter row of a dot product is as long, a whole block searches for its entries (estimated).",
    ),
    "csr.clip_lanes": Threshold(8, "lanes", "GPU lanes that copy a part of a row, if rows are long enough."),
    "csr.clip_lanes_from": Threshold(
        4, "kept entries per row", "If a region keeps more, several lanes copy a part of a row."
    ),
    "csr.piece": Threshold(
        1 << 22, "entries", "Packed columns that are unpacked at a time: 16 to 32 MB, and few launches."
    ),
    "csr.mirror_samples": Threshold(
        32, "entries", "Sampled entries whose mirror images are searched for before all entries are hashed."
    ),
    "csr.mirror_samples_from": Threshold(
        1 << 17, "entries", "With fewer, all entries are hashed at once: hashing takes 1 ns per entry."
    ),
    "csr.counting_sort_from": Threshold(
        1 << 14, "entries", "With fewer, the CPU sorts with NumPy instead of loading a kernel."
    ),
    "csr.counting_sort_span": Threshold(
        8, "rows or columns per entry", "With more, counting sort is not used, because it also loops over empty ones."
    ),
    "symmetry.chunk.csr": Threshold(
        1 << 12, "entries", "Entries hashed per warp, which writes one sum, by the symmetry test of rows."
    ),
    "symmetry.chunk.b2sr": Threshold(
        1 << 9, "tiles", "Tiles hashed per warp, which writes one sum, by the symmetry test of tiles."
    ),
    "coded.evenness": Threshold(
        3,
        "bits",
        "Bits by which the numbers of a block are shorter than the count of its units, to predict bytes.",
        "2 to 5 on average over graphs",
    ),
    "coded.early_factor": Threshold(
        8, "times the words", "One lane reads so much more if rows may stop at their first hit as it reads for sums."
    ),
    "coded.binned_from": Threshold(
        1 << 20, "entries", "With fewer, a degree-binned pull does not pay off: a launch takes as long (estimated)."
    ),
    "coded.entries_per_step": Threshold(4, "entries per word", "Entries per word that an advance walks."),
    "nib.pull_words_per_lane": Threshold(2, "words", "Words of a row per GPU lane of a pull of sums."),
    "nib.push_words_per_lane": Threshold(1, "words", "Words of a row per GPU lane of a push."),
    "nib.code_words_per_lane": Threshold(
        2, "words or entries", "Words or entries of a row per GPU lane that encodes or decodes it."
    ),
    "nib.bin_log_chunk": Threshold(6, "log2 of entries", "Entries per lane of a degree-binned pull: at most 64."),
    "nib.hot_part": Threshold(
        2,
        "entries per entry of a shared row",
        "If rows that lanes share have fewer of all entries, hot columns are not looked for: the estimate reads these "
        "rows only.",
    ),
    "nib.dot_slots": Threshold(
        4096, "slots, a power of two", "Hash table of the row of A in a dot product: half of it is filled at a time."
    ),
    "nib.reserve": Threshold(
        1.03, "times the expected words", "Room beyond the expectation of a builder, so that reallocation is rare."
    ),
    "nib.reserve_early": Threshold(
        1.1, "times the expected words", "The same if the expectation is based on the first rows."
    ),
    "nib.slice": Threshold(1 << 16, "rows", "Rows whose sizes a builder estimates at a time."),
    "cgr.longest": Threshold(
        32, "words", "Words that one lane reads, four segments; longer rows have a segment per lane of a warp."
    ),
    "cgr.part_lanes": Threshold(
        8,
        "lanes",
        "Lanes that share a segment of a long row: rows a little too long for one lane have no more segments.",
    ),
    "cgr.encode_longest": Threshold(256, "entries", "Longest row that one GPU lane encodes as a whole."),
    "tiles.pull_loads_per_lane": Threshold(
        3,
        "loads",
        "Loads of a tile row per lane of a pull, so that each has two or three in flight.",
        "H200, tiles of 8: fastest with 2 lanes on a Delaunay mesh (8.7 tiles per tile row), 1 on a grid (5), 4 on a "
        "27-point stencil (13); not measured for split",
    ),
    "tiles.push_items_per_lane": Threshold(2, "tiles or single entries", "Items of a tile row per lane of a push."),
    "tiles.push_least_lanes": Threshold(2, "lanes", "Least GPU lanes per tile row of a push."),
    "tiles.pull_steps": Threshold(3, "times rows.iterations", "Longer tile rows are cut, in a pull of presence."),
    "tiles.pull_steps_values": Threshold(8, "times rows.iterations", "The same for a pull of values."),
    "b2sr.handicap": Threshold(1.05, "times the fastest", "Error of predictions."),
    "b2sr.handicap_unfused": Threshold(
        1.2,
        "times the fastest",
        "Error of predictions of tile sizes that programs do not use: a pull's epilogue is an additional kernel.",
    ),
    "b2sr.pull_bits_per_lane": Threshold(
        128, "positions of tiles", "Positions of the tiles of a tile row per lane of a pull of values."
    ),
    "b2sr.dot_tiles_per_lane": Threshold(
        2, "tiles", "Tiles of a tile row per lane of a dot product.", "delaunay_n20: 0.21 ms with 4 lanes, 0.30 with 8"
    ),
    "b2sr.cut_entries": Threshold(
        32,
        "entries per row",
        "Tile rows with a larger mean are cut when tiles are built on a GPU: one row may hold half of a graph.",
        "H200, RMAT 20, and 17 million entries of which one row holds half: 16 to 64 within 10 %, 128 is 20 % slower",
    ),
    "b2sr.cut_tiles": Threshold(
        64,
        "tiles",
        "Longer tile rows are cut when tiles are converted to rows on a GPU: one may hold half of a graph.",
        "H200, RMAT 20, and 17 million entries of which one row holds half: 256 is up to 30 % slower, 1024 100 %",
    ),
    "split.least_dense": Threshold(
        0.1,
        "share of entries in dense tiles",
        "With less, a Split is not considered when choosing for time.",
        "62 graphs in three orders: those for which it is chosen have 0.15 to 0.46",
    ),
    "split.most_dense": Threshold(
        0.6,
        "share of entries in dense tiles",
        "With more, all entries might as well be in tiles.",
        "as split.least_dense",
    ),
    "bitmap.small": Threshold(
        1 << 12,
        "positions",
        "With more, a bitmap is not chosen for memory, because rows built for other kernels are kept.",
    ),
    "hyper.floor": Threshold(
        1 << 22,
        "rows or columns",
        "With fewer, the hypersparse format is only built on request: 16 MB of row pointers, and vectors store a bit "
        "per position anyway.",
    ),
    "hyper.share": Threshold(
        16,
        "rows or columns per entry",
        "With fewer, a matrix is not hypersparse: an entry's cost in the lists, in row pointers.",
        "SuiteSparse's hyper_switch",
    ),
    "mplg.fixed_from": Threshold(
        1 << 20,
        "entries",
        "From here on a staged pull is specialized for the width of its packed columns, which takes half a second to "
        "compile per width; unpacking then costs 4 instructions per entry instead of 10.",
        "instructions counted in its SASS; time not measured",
    ),
    "virtual.merged_lists": Threshold(
        64, "lists of a row", "With more, the columns of a row are sorted instead of merging lists one by one."
    ),
    "virtual.hashes": Threshold(8, "hashes", "Hashes per signature of a row, by which rows are clustered."),
    "virtual.passes": Threshold(
        4, "passes", "Each has other hashes.", "web graph of 15 M links: ten leave 3.83 M entries, four 3.84 M"
    ),
    "virtual.gain": Threshold(200, "entries", "A pass that removes fewer than one in as many entries is the last."),
    "virtual.parallel_rows": Threshold(1 << 12, "rows", "With fewer, one thread computes the signatures."),
    "virtual.parallel_entries": Threshold(1 << 14, "entries", "With fewer, one thread extracts the bicliques."),
    "sample.dense": Threshold(
        1 << 13, "entries of 64 rows", "With more, a CPU searches in each row for a sample instead of scanning all."
    ),
    "sample.parallel_rows": Threshold(1 << 13, "rows", "With fewer, one thread of the CPU samples a matrix."),
    "packing.parallel_numbers": Threshold(
        1 << 16, "numbers", "With fewer, a parallel launch on the CPU does not pay off (estimated)."
    ),
    "values.chunk": Threshold(
        1 << 22, "floats", "Tested at a time for being whole numbers, to bound the temporary memory."
    ),
    "container.workers": Threshold(
        4, "threads", "At most as many compute checksums, in addition to the one that writes or copies."
    ),
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

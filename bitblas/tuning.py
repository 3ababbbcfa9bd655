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
    "loop.tier_up_seconds": Threshold(
        5e-3,
        "seconds",
        "Rounds by statements after which a table of kernels is built on the CPU, which takes about as long.",
    ),
    "loop.compile_seconds": Threshold(
        0.3, "seconds per kernel", "Added to the time before a table is tried, for each kernel that must be compiled."
    ),
    "loop.parallel_entries": Threshold(
        1 << 13, "entries", "Frontiers from which on threads of the CPU share kernels over listed words."
    ),
    "loop.kernel_names": Threshold(
        120,
        "vectors and scalars",
        "A CUDA kernel has 4096 bytes of arguments; a vector needs up to 24 of them, a scalar 16.",
    ),
    "loop.kernel_sums": Threshold(
        8, "sums", "A block has 48 KB of shared memory, of which a sum of an element-wise kernel needs up to 4.3."
    ),
    "loop.kernel_statements": Threshold(
        200, "statements", "The text of an element-wise kernel compiles in about a second."
    ),
    "loop.sparse_candidates": Threshold(
        8, "vectors", "The search for the sparse vectors of a kernel tries all subsets of so many."
    ),
    "loop.relaxation_scalars": Threshold(
        2, "scalars", "All orders of the scalars of a body are tried to recognize a relaxation."
    ),
    "loop.csr_peak_bytes": Threshold(
        64,
        "bytes per entry",
        "Peak of building CSR from a graph with virtual nodes, including the result; loops use CSR if that fits.",
        "H200, a search of 15 M links: 0.39 ms on CSR, 3.8 ms on the virtual-node graph",
    ),
    "loop.rounds": Threshold(
        12,
        "rounds",
        "Rounds per run of a body whose kernels can be skipped: a skipped kernel costs less than another run. A "
        "multiple of the three buffers of a frontier.",
        "H200: a skipped kernel 2.1 us with 528 blocks, 1.2 us with 132; another run of the body 4.5 us, two kernels",
    ),
    "loop.rounds_skewed": Threshold(
        9,
        "rounds",
        "The same for matrices with hubs, where a search ends after some seven rounds.",
        "H200, ms with 6, 9, 12 rounds, in one run: RMAT 20 0.188, 0.177, 0.179; Mycielski graph 14 0.112, 0.117, "
        "0.118",
    ),
    "loop.rounds_dense": Threshold(
        3,
        "rounds",
        "The same for a search in which two edges reach nearly all vertices.",
        "H200, Mycielski graph 14: 0.115 ms, 0.121 ms with 9 rounds",
    ),
    "loop.rounds_nested": Threshold(
        3, "rounds", "The same for a nested loop of element-wise kernels only: it is entered often, and ends soon."
    ),
    "loop.rounds_pulled": Threshold(
        4,
        "rounds",
        "The same for products by rows, which cannot be skipped, but take little longer than another run of the body.",
        "H200, us with 2, 4, 10 rounds, in one run: 20 rounds of PageRank on Mycielski graph 14 735, 687, 682, until a "
        "tolerance 716, 674, 665",
    ),
    "loop.pulled_entries": Threshold(
        1 << 22, "entries", "Up to so many entries a product by rows takes little longer than another run of the body."
    ),
    "loop.blocks": Threshold(
        4,
        "blocks per multiprocessor",
        "Maximum of a launch: blocks iterate over more work, and an element-wise kernel has a partial sum per block.",
    ),
    "loop.blocks_without_sums": Threshold(
        2,
        "times loop.blocks",
        "Reads of an element-wise kernel depend on each other: as many threads as fit hide their latency. Sums have a "
        "partial sum per block.",
    ),
    "loop.segment_entries": Threshold(
        512, "entries", "Longer rows are cut into segments of this length, each traversed by a group of lanes."
    ),
    "loop.lanes_skewed": Threshold(8, "lanes", "Lanes for a row or tile row of an advance if some rows are long."),
    "loop.lane_entries": Threshold(
        3,
        "entries or tiles",
        "An advance has lanes for an average row at so many each: if rows are similar, most should end after one trip "
        "to memory, because a round on a mesh lasts as long as its longest chain of loads.",
        "H200, us per level with 4, 8, 16, 32 lanes: Delaunay mesh, 8.7 tiles per tile row 8.8, 7.3, 6.6, 6.5; grid, "
        "5 tiles -, 5.4, 5.3, 5.1; RMAT 20, ms in total with 8 and 32: 0.25, 0.28",
    ),
    "loop.words_size": Threshold(
        1 << 22,
        "positions",
        "From here on an element-wise kernel that computes also goes by words: it writes a value to memory for the "
        "next statement to read. For smaller sizes the number of dependent loads determines the latency.",
    ),
    "loop.wide_size": Threshold(
        1 << 23,
        "positions",
        "From here on every warp of a GPU has several half words. If sparse vectors show whether there is any work, a "
        "lane first checks some of theirs, and values pass from statement to statement in registers.",
        "H100, us of the element-wise kernels per round of betweenness from 64 sources, forward and back: grid of "
        "2048 x 2048 105 and 370 without, 79 and 256 with; mesh with 27 neighbours, where many half words have work, "
        "298 and 341, 316 and 288",
    ),
    "loop.wide_half_words": Threshold(4, "half words", "That a lane checks first, from loop.wide_size on."),
    "loop.wide_positions": Threshold(
        8,
        "positions",
        "Up to so many of a half word are processed by their own lane, from loop.wide_size on. More spill registers.",
    ),
    "loop.load_registers": Threshold(
        8, "registers", "For the positions that a thread of an element-wise kernel loads at once; it has 64."
    ),
    "loop.load_statements": Threshold(
        48, "statements", "Times positions that a thread loads at once: a longer text is not unrolled."
    ),
    "loop.result_bytes": Threshold(
        1 << 24, "bytes", "Results up to this size get memory for the next run while the device computes."
    ),
    "loop.polls": Threshold(100, "reads", "Of the word that the device writes, before the event is checked: some us."),
    "loop.spin_seconds": Threshold(2e-3, "seconds", "A graph that takes longer is waited for with sleeps."),
    "loop.sleep_seconds": Threshold(5e-5, "seconds", "Between two checks of a graph that takes long."),
    "cluster.units": Threshold(
        1 << 13,
        "rows or tile rows",
        "A frontier with more leaves the cluster, and returns with half of that: from there on a round on the grid is "
        "as fast.",
    ),
    "cluster.entries": Threshold(
        24576,
        "entries",
        "The same for the matrix entries in these rows.",
        "H200, ms per search of 400 levels on a triangle mesh: 3.45 without a cluster, 3.30, 3.52, 3.46 with 16384, "
        "32768, 65536; a grid of 3300 levels needs 20 000: 13.6, and 17.2 without",
    ),
    "cluster.value_entries": Threshold(
        1 << 12, "entries", "The same for tiles with values, whose entries one lane combines one by one."
    ),
    "cluster.positions": Threshold(
        1 << 14,
        "positions",
        "The same for the worklist of a body with element-wise kernels.",
        "H200, ms of shortest paths with 16384, 24576, 32768: triangle mesh of 400 levels 11.8, 12.2, 12.5; grid of "
        "3300 levels 68.4, 67.9, 68.0",
    ),
    "cluster.listed_entries": Threshold(
        1 << 16, "entries", "The same for the matrix entries of the positions on such a worklist."
    ),
    "cluster.statements": Threshold(
        12,
        "statements",
        "Up to so many, 64 registers suffice and a cluster has twice the threads, which load all positions at once. "
        "Shortest paths have 8; larger kernels were not measured.",
        "H200, ms of shortest paths with and without twice the threads: grid of 3300 levels 68.4, 74.0; mesh 11.8, "
        "12.2; a road network with small frontiers 8.15, 7.88",
    ),
    "cluster.lanes_short": Threshold(
        4, "lanes", "For a row of a cluster if the average row has at most so many items."
    ),
    "cluster.lanes": Threshold(
        8,
        "lanes",
        "For longer rows: a cluster has fewer threads than the grid. With WORDS it then has twice the threads, with 64 "
        "registers.",
        "H200, a triangle mesh by tiles, us per round: 8.1 with twice the threads, 10 without",
    ),
    "patch.bytes": Threshold(
        1 << 12,
        "bytes",
        "Of the values of a patch's vertices. Delaying patches that are far behind takes longer.",
        "H200, shortest paths on a grid of 2048 x 2048: 11.0 ms with 4 KB and 256 threads, 13.5 with 128, 16.0 with 8 "
        "KB; 65 by rounds",
    ),
    "patch.lane_entries": Threshold(
        8, "entries", "A row of a patch has the fewest of 1, 2, 4, 8 lanes that leave each at most so many on average."
    ),
    "patch.threads": Threshold(256, "threads per block", "One block relaxes one patch (see patch.bytes)."),
    "patch.blocks": Threshold(4, "blocks per multiprocessor", "Patches that a multiprocessor relaxes at a time."),
    "patch.rounds": Threshold(12, "rounds", "Per run of the loop by patches: a multiple of the three rotating lists."),
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

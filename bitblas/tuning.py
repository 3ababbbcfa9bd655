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
    "algorithms.kept_loops": Threshold(
        8,
        "loops per algorithm and matrix",
        "On a GPU, capturing a loop takes milliseconds. A kept loop holds the memory of its vectors.",
    ),
    "all_pairs.block": Threshold(
        128, "vertices", "A product of two panels of this many vertices outweighs its launch overhead."
    ),
    "betweenness.steps": Threshold(
        64, "steps of a search", "Path counts are tested for overflow once per so many steps: a test is a reduction."
    ),
    "coloring.skew": Threshold(
        8,
        "most earlier neighbours per mean number",
        "If a vertex has more, the first vertices are colored in parts, which lowers the reads per edge: from 32.7 to "
        "7.5 for rmat20, from 20.1 to 5.1 for rmat16.",
        "H200, rmat20: 13.0 ms without parts, 7.6 with",
    ),
    "coloring.share_1": Threshold(
        1 / 64,
        "share of the edges to earlier neighbours",
        "The vertices that this share leads to are the first part of a skewed graph.",
        "H200, rmat20: 7.6 ms with three shares, 7.8 with two fewer",
    ),
    "coloring.share_2": Threshold(
        1 / 16, "share of the edges to earlier neighbours", "The end of the second part of a skewed graph."
    ),
    "coloring.share_3": Threshold(
        1 / 4, "share of the edges to earlier neighbours", "The end of the third part of a skewed graph."
    ),
    "components.skew": Threshold(
        64,
        "highest degree per mean degree",
        "With more, two search steps from the vertex of highest degree pay: most vertices are then labelled.",
        "H200: RMAT 20 (ratio 2000) 0.33 ms, 0.59 without the steps; Mycielski's graph 14 (ratio 20) 0.20 ms, 0.15 "
        "without",
    ),
    "flow.push_rounds": Threshold(
        16, "rounds", "Push rounds between two decisions whether to search again: a decision is a loop condition."
    ),
    "flow.search_levels": Threshold(
        2,
        "levels per push round",
        "One push round per so many levels of the last search: a level takes a tenth to a half of a push round.",
    ),
    "flow.siblings": Threshold(
        16,
        "arcs or groups per group",
        "Prefix sums over w siblings read (w - 1) / 2 entries per node; fewer siblings make the tree deeper.",
    ),
    "graph.compared_entries": Threshold(
        1 << 18, "entries", "NumPy compares a matrix with its transpose up to here: kernels may have to be compiled."
    ),
    "graph.compared_names": Threshold(
        20_000, "names", "An unknown vertex name is compared with all names, for a suggestion, up to here."
    ),
    "mis.skew": Threshold(
        8,
        "highest degree per mean degree",
        "With more, testing one neighbour of each vertex rules out most vertices.",
    ),
    "msf.light_edges": Threshold(
        2,
        "edges per vertex",
        "The lightest edges are contracted first, so that the others are read once. Graphs with fewer than twice as "
        "many edges have no light edges.",
    ),
    "node2vec.steps": Threshold(
        1 << 11,
        "draws",
        "If few walks are pending, several steps of each are drawn at once: any round costs about fifty calls.",
    ),
    "nx.hash_slots": Threshold(
        8, "slots per node", "Hash table of node labels: about one label in twenty collides and is searched for."
    ),
    "nx.nodes_per_request": Threshold(
        16,
        "nodes per requested node",
        "With more, NetworkX is faster than a conversion; from the square of this on, than a converted graph too.",
    ),
    "nx.searches": Threshold(
        3, "searches of one graph", "From here on the conversion of a graph and searches here are faster than NetworkX."
    ),
    "nx.sorted_entries": Threshold(
        1 << 13, "entries", "NumPy sorts keys below this: importing SciPy for a counting sort takes about 0.13 s."
    ),
    "registry.compilations": Threshold(
        8, "compilations", "Fewer run in one process, because starting processes takes longer."
    ),
    "spring.pairs": Threshold(
        1 << 22, "pairs of vertices", "The forces between so many pairs are computed at once, which bounds the memory."
    ),
    "sssp.delta": Threshold(
        32,
        "mean weights per mean degree",
        "Width of the distance window: delta = this * mean weight / mean degree. A wider window has fewer rounds and "
        "more repeated work.",
        "H200, ms with 64, 32, 16: stencil27_100 7.9, 5.9, 5.7; rmat20 1.48, 1.52, 1.61; mycielskian14 .39, .41, .52; "
        "delaunay_n20 and grid2d_2048 the same within 2 %. CPU, ms with 64, 32: stencil27_20 6.9, 5.9; delaunay_n14 "
        "13.7, 11.5; rmat14 3.2, 3.4; grid2d_256 74, 76",
    ),
    "triangles.skew": Threshold(
        16,
        "highest degree per mean degree",
        "With more, the edges lead from lower to higher degree. Meshes, grids and roads have 2 to 4, where that order "
        "doubles the time; RMAT 14 and 16 have 140 to 350, where it saves 10 to 25 %.",
        "both libraries: grids, roads, RMAT 14 and 16",
    ),
    "truss.neighbours": Threshold(
        16, "lower-numbered neighbours per edge", "Triangles are listed if edges have at most so many on average."
    ),
    "truss.rounds": Threshold(
        8, "rounds", "So many rounds over all edges take as long as listing the triangles, which then replaces them."
    ),
    "walks.decoding": Threshold(
        4, "entries copied per entry decoded", "Copying costs so many times as much if rows must be decoded."
    ),
    "walks.edges": Threshold(
        1 << 17,
        "edges per step",
        "On a CPU, copying all edges takes longer than extracting rows in each step if there are more.",
    ),
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

"""Format a comparison: a table with units, speed and size ratios in words, and a conclusion."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .. import tuning
from ..core import Matrix, Vector
from ..io import host_coo
from .comparison import PAGERANK_ROUNDS, SUITESPARSE, Row, Side, cpu_threads

BAR = 44  # characters of the longest bar


def introduction(file: str, A: Matrix, source: int) -> list[str]:
    """Lines of text that describe what the table compares and how."""
    import graphblas

    runs = tuning.count("compare.runs")
    threads = f"{SUITESPARSE} {graphblas.ss.config['nthreads']}, cpu {cpu_threads()}"
    hashed = str(A.dtype) == "BOOL"
    weights = "1 to 63, a hash of the edge, because the file has none" if hashed else "absolute values of the file"
    return [
        f"{file}: {A.nrows} vertices, {A.nvals} entries; source {source}; weights: {weights}",
        f"The same programs on both, median of {runs} runs after a warm-up (fewer if slow). Threads: {threads}",
        f"PageRank runs {PAGERANK_ROUNDS} rounds, betweenness counts paths from the source only.",
        "Sizes include what the matrix caches for the next call: other formats, transposes, programs.",
    ]


def time(seconds: float) -> str:
    short = f"{1e3 * seconds:.1f} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.0f} us"
    return f"{seconds:.2f} s" if seconds >= 1 else short


def size(nbytes: float) -> str:
    small = f"{nbytes / 1e6:.1f} MB" if nbytes >= 1e5 else f"{nbytes / 1e3:.1f} kB"
    return f"{nbytes / 1e9:.2f} GB" if nbytes >= 1e9 else small


def times(ratio: float, more: str, less: str) -> str:
    """A ratio in words: 2.5 times faster, or below 1: 1.2 times slower."""
    if round(max(ratio, 1 / ratio), 1) == 1.0:
        return "the same"
    factor, word = (ratio, more) if ratio > 1 else (1 / ratio, less)
    return f"{factor:.1f} times {word}" if factor < 100 else f"{factor:.0f} times {word}"


def heading(sides: Sequence[Side]) -> str:
    first, *ours = (side.name for side in sides)
    times = f"{first:>12}" + "".join(f"{name:>10}{'':19}" for name in ours)
    sizes = f"{first:>12}" + "".join(f"{name:>10}" for name in ours)
    return f"{'algorithm':<12}{'answer':<38}{'equal':<16}{times}{sizes}".rstrip()


def line(row: Row) -> str:
    verdict = "yes" if row.difference == 0 else "no"
    if row.difference is not None and row.difference > 0:
        verdict = f"{'yes' if row.equal else 'no'}, to {row.difference:.1e}"
    theirs, *ours = row.seconds.values()
    cells = [f"{time(theirs):>12}"]
    cells += [f"{time(one):>10}{times(theirs / one, 'faster', 'slower'):>19}" for one in ours]
    theirs_bytes, *our_bytes = row.nbytes.values()
    cells += [f"{size(theirs_bytes):>12}"]
    cells += [f"{size(one):>10}{times(theirs_bytes / one, 'smaller', 'larger'):>19}" for one in our_bytes]
    return f"{row.algorithm:<11} {row.answer:<38}{verdict:<16}" + "".join(cells)


def _mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0


def closing(rows: Sequence[Row], sides: Sequence[Side]) -> list[str]:
    """The conclusion: whether results are equal, the mean, best and worst ratio of times, and the ratio of sizes when
    built and with everything cached."""
    wrong = [row.algorithm for row in rows if not row.equal]
    text = ["All results are equal." if not wrong else "Results DIFFER."]
    if wrong:
        text[0:0] = [f"Not equal: {', '.join(wrong)}."]
        return text
    for name in [name for name in rows[0].seconds if name != SUITESPARSE] if rows else []:
        faster = {row.algorithm: row.seconds[SUITESPARSE] / row.seconds[name] for row in rows}
        one, other = (next(side for side in sides if side.name == which) for which in (name, SUITESPARSE))
        built = _mean([other.built[form] / size for form, size in one.built.items()])
        kept = _mean([row.nbytes[SUITESPARSE] / row.nbytes[name] for row in rows])
        worst, best = min(faster, key=faster.__getitem__), max(faster, key=faster.__getitem__)
        mean = _mean(list(faster.values()))
        low, high = (f"{times(faster[which], 'faster', 'slower')} ({which})" for which in (worst, best))
        text[:0] = [
            f"bitblas on {name} is {times(mean, 'faster', 'slower')} than SuiteSparse in the geometric mean, from "
            f"{low} to {high}.",
            f"Its matrices are {times(built, 'smaller', 'larger')} when built"
            + (", and " if (built > 1) == (kept > 1) else "; ")
            + f"{times(kept, 'smaller', 'larger')} with what the algorithms cache for their next call: "
            "prepared programs, their vectors, other formats. A.memory() lists it.",
        ]
    return text


def distances(levels: Vector, bars: int = 12) -> list[str]:
    """A text histogram of vertices by distance."""
    found = host_coo(levels)[1]
    edges = np.linspace(0, int(found.max(initial=0)) + 1, bars + 1).astype(int)
    edges = np.unique(edges)
    counts = [int(((found >= low) & (found < high)).sum()) for low, high in pairwise(edges)]
    most = max(counts, default=1) or 1
    return [
        f"{low:>6} to {high - 1:<6} {'█' * round(BAR * count / most):<{BAR}} {count:>8}"
        for low, high, count in zip(edges.tolist(), edges[1:].tolist(), counts)
    ]

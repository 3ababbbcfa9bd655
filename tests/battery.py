"""Matrices and vectors at the edges of kernels, and covering arrays: few cases that contain every pair of choices.

A new format, operation or kernel is tested on all of these once it is listed; a new matrix is one line of MATRICES.
"""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from fuzz.user_types import PAIR

from bitblas import formats
from bitblas.formats.virtual import layout as virtual_format

FORMS: dict[str, dict[str, Any]] = {
    key: {"format": format.name} | ({} if format.tile is None else {"tile": format.tile})
    for key, format in formats.FORMATS.items()
}
virtual_format.LEAST = (0,)  # of matrices as small as these most virtual nodes take more than they save: all are kept
# Tests of statements, which compile a kernel for each algebra and end: some with one Split for all, some without.
is_split = lambda form: formats.format_of(form).name == "split"
SOME_FORMS = tuple(f for f in FORMS if not is_split(f) or formats.format_of(f).kernels["mxv.pull"].fused)
PLAIN_FORMS = tuple(form for form in FORMS if not formats.class_of(form).compact)
DTYPES = ("BOOL", "INT8", "UINT8", "INT64", "UINT64", "FP32", "FP64")
EDGES = (3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130)  # around every tile and word


def several(text: str) -> list[tuple[str, ...]]:
    """Rows of words, separated by commas."""
    return [tuple(one.split()) for one in text.split(",")]


class Pattern(NamedTuple):
    """Where the entries are: each place once, in no order."""

    nrows: int
    ncols: int
    rows: np.ndarray
    cols: np.ndarray


def pattern(nrows: int, ncols: int, flags: Any) -> Pattern:
    """The places where `flags` (bools, nrows x ncols) is true, shuffled."""
    rows, cols = np.nonzero(np.broadcast_to(flags, (nrows, ncols)))
    order = np.random.default_rng(len(rows)).permutation(len(rows))
    return Pattern(nrows, ncols, rows[order].astype(np.int64), cols[order].astype(np.int64))


def _random(nrows: int, ncols: int, density: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((nrows, ncols)) < density


def _with(flags: np.ndarray, *places: Any) -> np.ndarray:
    for place in places:
        flags[place] = True
    return flags


def _gaps() -> np.ndarray:
    """Whole tile rows and tile columns are empty, the first and the last ones too."""
    flags = _random(140, 140, 0.2)
    for a, b in ((0, 9), (20, 21), (30, 70), (129, 140)):
        flags[a:b] = False
        flags[:, a + 3 : b + 3] = False
    return flags


def _hub(nrows: int, ncols: int, row: int, entries: int, others: int) -> np.ndarray:
    rng = np.random.default_rng(entries)
    flags = np.zeros((nrows, ncols), bool)
    flags[row, rng.permutation(ncols)[:entries]] = True
    flags[rng.integers(0, nrows, others), rng.integers(0, ncols, others)] = True
    return flags


def _square(n: int) -> Pattern:
    """n x n with its four corners, the places where padding begins."""
    return pattern(n, n, _with(_random(n, n, min(0.5, 4 / n), n), (0, 0), (0, -1), (-1, 0), (-1, -1)))


MATRICES: dict[str, Callable[[], Pattern]] = {
    "0x0": lambda: pattern(0, 0, False),
    "0x5": lambda: pattern(0, 5, False),
    "5x0": lambda: pattern(5, 0, False),
    "no entries": lambda: pattern(70, 70, False),
    "1x1": lambda: pattern(1, 1, True),
    "1x1 without": lambda: pattern(1, 1, False),
    "1x130": lambda: pattern(1, 130, _random(1, 130, 0.4)),
    "130x1": lambda: pattern(130, 1, _random(130, 1, 0.4)),
    "gaps": lambda: pattern(140, 140, _gaps()),
    "dense row": lambda: pattern(70, 70, _with(_random(70, 70, 0.02), 65)),
    "dense column": lambda: pattern(70, 70, _with(_random(70, 70, 0.02), (slice(None), 66))),
    "self loops": lambda: pattern(67, 67, np.eye(67, dtype=bool)),
    "last only": lambda: pattern(66, 129, _with(_random(66, 129, 0), (65, 128))),
    "symmetric": lambda: pattern(50, 50, _random(50, 50, 0.1) | _random(50, 50, 0.1).T),
    "all ones": lambda: pattern(37, 41, True),
    "all ones 64": lambda: pattern(64, 64, True),
    "wide": lambda: pattern(33, 200, _random(33, 200, 0.05)),
    "tall": lambda: pattern(200, 33, _random(200, 33, 0.05)),
    "hub": lambda: pattern(130, 130, _hub(130, 130, 77, 120, 120)),
    "long hub": lambda: pattern(100, 3100, _hub(100, 3100, 66, 3000, 100)),
    **{f"{n}x{n}": partial(_square, n) for n in EDGES},
}

# Vectors: how many positions have an entry, and whether all entries have one value.
VECTORS = ("empty", "full iso", "full", "sparse iso", "sparse", "half")


def places(kind: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of the entries of a vector, in no order."""
    share = {"empty": 0.0, "full": 1.0, "sparse": 0.06, "half": 0.5}[kind.split()[0]]
    return rng.permutation(size)[: -(-int(size * share * 100) // 100) if share < 1 else size]


def values(rng: np.random.Generator, dtype: str, k: int) -> np.ndarray:
    """Random values: BOOL with False ones, 8-bit ones of the whole range, FP32 ones whose sums are exact."""
    if dtype == "BOOL":
        return rng.random(k) < 0.6
    if dtype == "FP64":
        return rng.uniform(-2, 2, k)
    if dtype == "Pair":
        return np.fromiter(zip(rng.integers(-9, 10, k), rng.integers(-8, 9, k) / 4), PAIR, k)
    if dtype.startswith("FC"):
        part = f"FP{dtype[2:]}"
        return values(rng, part, k) + values(rng, part, k) * np.complex64(1j)
    if dtype == "FP32":
        return (rng.integers(-8, 9, k) / 4).astype(np.float32)
    if dtype in ("INT8", "UINT8"):
        info = np.iinfo(dtype.lower())
        return rng.integers(info.min, info.max + 1, k).astype(dtype.lower())
    return rng.integers(0 if dtype == "UINT64" else -9, 10, k).astype(dtype.lower())


def generator(*names: Any) -> np.random.Generator:
    """Random numbers that depend on the names alone."""
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


# ---- covering arrays ------------------------------------------------------------------------------------------------

Case = dict[str, Any]


def in_turn(rows: Sequence[Case], devices: Sequence[str]) -> list[Case]:
    """Each row on one device, so that its kernels are compiled once; each level on all devices."""
    found: list[Case] = []
    met: Counter[Any] = Counter()
    for row in rows:
        device = min(devices, key=lambda d: sum(met[d, level] for level in row.items()))
        found.append(row | {"device": device})
        met.update((device, level) for level in row.items())
    return found


def covering(
    factors: Mapping[str, Sequence[Any]], base: Sequence[Case] = ({},), tries: int = 12,
    compiled: Callable[[Case], Any] = lambda case: None, met: Sequence[Case] = (),
) -> list[Case]:  # fmt: skip
    """Cases in which every pair of levels of two factors meets: greedy, and the same ones each time.

    base: rows of some further factors that go together; each case extends one of them, every one is used, and each of
    their levels meets each level of the other factors. compiled: the kernels of a case, of which there should be
    few: a case with new ones must add eight pairs. met: cases whose pairs need no other one.
    """
    rng = random.Random(1)
    names = [*base[0], *factors]
    levels: dict[str, Sequence[Any]] = {n: list(dict.fromkeys(row[n] for row in base)) for n in base[0]} | dict(factors)
    among = [(a, b) for a, b in combinations(names, 2) if not (a in base[0] and b in base[0])]
    of = {name: [pair for pair in among if name in pair] for name in factors}
    done = {(a, x, b, y) for case in met for a, b in among for x, y in [(case[a], case[b])]}
    every = ((a, x, b, y) for a, b in among for x in levels[a] for y in levels[b])
    todo = {pair: None for pair in every if pair not in done}
    unused = list(base) if base[0] else []
    cases: list[Case] = []
    seen: set[Any] = set()

    def gain(case: Case, pairs: Sequence[tuple[str, str]]) -> int:
        return sum((a, case[a], b, case[b]) in todo for a, b in pairs) - 8 * (compiled(case) not in seen)

    while todo or unused:
        fixed = unused.pop() if unused else {}
        if not fixed:
            a, x, b, y = next(iter(todo))
            fixed = {a: x, b: y}
        rows = [row for row in base if all(row.get(k, v) == v for k, v in fixed.items())]
        tried = []
        for _ in range(tries):
            case = {**rng.choice(rows), **{n: rng.choice(v) for n, v in factors.items()}, **fixed}
            for name in rng.sample(list(factors), len(factors)):  # each free factor takes its best level
                if name not in fixed:
                    case[name] = max(factors[name], key=lambda x, n=name, c=case: gain({**c, n: x}, of[n]))
            tried.append((gain(case, among), case))
        found = max(tried, key=lambda x: x[0])[1]
        cases.append(found)
        seen.add(compiled(found))
        for a, b in among:
            todo.pop((a, found[a], b, found[b]), None)
    return cases


def pairs(cases: Sequence[Case]) -> set[tuple[str, Any, str, Any]]:
    """Pairs of levels of two factors that meet in a case."""
    return {(a, case[a], b, case[b]) for case in cases for a, b in combinations(case, 2)}


def sample(factors: Mapping[str, Sequence[Any]], count: int, base: Sequence[Case] = ({},)) -> Iterator[Case]:
    """Random cases of the full product, the same ones each time."""
    rng = random.Random(2)
    for _ in range(count):
        yield {**rng.choice(base), **{name: rng.choice(levels) for name, levels in factors.items()}}


def label(case: Case) -> str:
    shown = (x for name, x in case.items() if name != "device")
    return " ".join(str(x if not callable(x) else x.__name__) for x in shown).replace("::", ":")

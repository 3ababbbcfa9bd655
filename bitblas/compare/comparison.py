"""Run the same programs on bitblas and SuiteSparse:GraphBLAS, and compare results, times and bytes.

Both run the program text of `bitblas.algorithms`, SuiteSparse through python-graphblas. Programs tuned for SuiteSparse
(LAGraph's, in C) are not measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from semirings.cached import cached_property

from .. import extras, tuning
from ..core import Matrix
from ..exceptions import InvalidValue
from ..io import host_coo
from .programs import PAGERANK_ROUNDS as PAGERANK_ROUNDS
from .programs import Answer, AnyMatrix, Program, arrays, every, programs

DEMO_GRAPH = "USA-road-d.NY.mtx.gz"
SUITESPARSE = "SuiteSparse"
TOLERANCE = {4: 1e-5, 8: 1e-9}  # relative, by the width of a float: the order of sums may differ

Coo: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray | bool]
T = TypeVar("T")


def hash_weights(rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Integer weights 1..63 (INT64), the same for (i, j) and (j, i), for graphs that have none."""
    low, high = np.minimum(rows, cols).astype(np.uint64), np.maximum(rows, cols).astype(np.uint64)
    word = np.uint64(0xFFFFFFFF)
    h = (low * np.uint64(2654435761) + high * np.uint64(40503)) & word
    h = ((h ^ (h >> np.uint64(13))) * np.uint64(1274126177)) & word
    return (1 + (h >> np.uint64(16)) % np.uint64(63)).astype(np.int64)


def positive_weights(rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The absolute values, with 1 for 0 and NaN; `hash_weights` if the values are BOOL."""
    if values.dtype == np.bool_:
        return hash_weights(rows, cols)
    values = np.abs(values)
    return np.where(values > 0, values, values.dtype.type(1))


def symmetrised(rows: np.ndarray, cols: np.ndarray, n: int, *, loops: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The edges in both directions, each once, sorted; self loops only if loops=True."""
    rows, cols = rows.astype(np.int64, copy=False), cols.astype(np.int64, copy=False)
    if not loops:
        apart = rows != cols
        rows, cols = rows[apart], cols[apart]
    keys = np.unique(np.concatenate([rows * n + cols, cols * n + rows]))
    return keys // max(n, 1), keys % max(n, 1)


class Operands:
    """The variants of one matrix that the algorithms read, as host arrays."""

    def __init__(self, A: Matrix) -> None:
        self.n = A.nrows
        self.rows, self.cols, self.values = host_coo(A)

    @cached_property
    def pattern(self) -> Coo:
        return self.rows, self.cols, True

    @cached_property
    def weighted(self) -> Coo:
        return self.rows, self.cols, positive_weights(self.rows, self.cols, self.values)

    @cached_property
    def undirected(self) -> Coo:
        return *symmetrised(self.rows, self.cols, self.n), True

    @cached_property
    def undirected_weighted(self) -> Coo:
        rows, cols, _ = self.undirected
        return rows, cols, hash_weights(rows, cols)


class Side:
    """One library on one device, and its matrices."""

    def __init__(self, name: str, gb: ModuleType, graph: Operands, **options: Any) -> None:
        self.name, self.gb, self.graph, self.options = name, gb, graph, options
        self.matrices: dict[str, AnyMatrix] = {}
        self.built: dict[str, int] = {}  # bytes of each, before algorithms cache anything with it

    def matrix(self, form: str) -> AnyMatrix:
        if form not in self.matrices:
            rows, cols, values = getattr(self.graph, form)
            self.matrices[form] = self.gb.Matrix.from_coo(
                rows, cols, values, nrows=self.graph.n, ncols=self.graph.n, **self.options
            )
            self.built[form] = self.nbytes(form)
        return self.matrices[form]

    def nbytes(self, form: str) -> int:
        A = self.matrices[form]
        return int(A.ss.nbytes if self.name == SUITESPARSE else A.memory().total)

    def finish(self, result: Answer) -> None:
        """Block until the result is computed."""
        if self.name != SUITESPARSE:
            from .. import device

            device.get(self.name).synchronize()
        elif hasattr(result, "wait"):
            result.wait()


@dataclass
class Row:
    """One line of the table. `difference`: the largest relative one; None if the results are not comparable."""

    algorithm: str
    answer: str
    equal: bool
    difference: float | None
    seconds: dict[str, float] = field(default_factory=dict)
    nbytes: dict[str, int] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)


def difference(one: Answer, other: Answer) -> float | None:
    """The largest relative difference of two results; None if their positions differ, or for NaN."""
    (index, values), (index2, values2) = arrays(one), arrays(other)
    if not np.array_equal(index, index2) or values.dtype != values2.dtype:
        return None
    if values.dtype.kind != "f":
        wrong = np.count_nonzero(values != values2)
        return 0.0 if not wrong else float("inf")
    apart = values != values2
    if not apart.any():
        return 0.0
    with np.errstate(all="ignore"):
        most = float((np.abs(values - values2) / np.maximum(np.abs(values), np.abs(values2)))[apart].max())
    return None if np.isnan(most) else most


def _timed(call: Callable[[], T], finish: Callable[[T], None]) -> tuple[T, float, int]:
    """The result, the median of a few runs after a warm-up, and their number."""
    times: list[float] = []
    runs, seconds = tuning.count("compare.runs"), tuning.value("compare.seconds")
    begin = time.perf_counter()
    finish(result := call())
    while len(times) < runs and (not times or time.perf_counter() - begin < seconds):
        start = time.perf_counter()
        finish(result := call())
        times.append(time.perf_counter() - start)
    return result, median(times), len(times)


def sides(A: Matrix, devices: list[str] | None = None, **options: Any) -> list[Side]:
    """SuiteSparse, and bitblas on each of `devices` (default: all available). ImportError without python-graphblas."""
    import bitblas

    from .. import device

    try:
        import graphblas
    except ImportError as error:
        raise ImportError(f"compare needs python-graphblas ({error}); {extras.hint('compare')}") from None
    graph = Operands(A)
    ours = [Side(name, bitblas, graph, device=name, **options) for name in devices or device.available()]
    return [Side(SUITESPARSE, graphblas, graph), *ours]


def chosen(names: str | None) -> list[Program]:
    """The programs of these comma-separated names; `all`; None: those of the command line. InvalidValue for an unknown
    one."""
    if names is None:
        return programs()
    known = {program.name: program for program in every()}
    if names == "all":
        return list(known.values())
    if unknown := [name for name in names.split(",") if name not in known]:
        raise InvalidValue(f"algorithms: expected all or some of {', '.join(known)}, got {unknown[0]!r}")
    return [known[name] for name in names.split(",")]


def is_equal(program: Program, answer: Answer, apart: float | None) -> bool:
    """Whether a relative difference counts as equal for this result."""
    kind = arrays(answer)[1].dtype
    near = 0.0 if kind.kind != "f" else TOLERANCE[kind.itemsize] if program.near is None else program.near
    return apart is not None and apart <= near


def rows(all_sides: list[Side], source: int = 0, names: str | None = None) -> Iterator[Row]:
    """Run each program on each side and compare with the first side. names: as for `chosen`."""
    for program in chosen(names):
        reference: Answer = None
        row = Row(program.name, "", True, 0.0)
        for side in all_sides:
            A = side.matrix(program.form)
            answer, row.seconds[side.name], row.runs[side.name] = _timed(
                partial(program.call, A, source, side.gb), side.finish
            )
            row.nbytes[side.name] = side.nbytes(program.form)
            if reference is None:
                reference, row.answer = answer, program.summary(answer)
                continue
            apart = difference(reference, answer)
            if row.difference is not None:
                row.difference = None if apart is None else max(apart, row.difference)
            row.equal &= is_equal(program, reference, apart)
        yield row


def as_dict(row: Row) -> dict[str, object]:
    """A row as a dictionary for JSON."""
    finite = row.difference is not None and np.isfinite(row.difference)
    return asdict(row) | {"difference": row.difference if finite else None}


def cpu_threads() -> int:
    """The worker threads of the CPU backend."""
    from .. import device

    return int(getattr(device.get("cpu"), "threads", 1))


def demo_path() -> Path:
    """The shipped road network."""
    return Path(__file__).parents[1] / "data" / DEMO_GRAPH

"""Compare bitblas with SuiteSparse:GraphBLAS: the programs, the results and times of both, and the report."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from semirings.cached import cached_property

from . import extras, tuning
from .core import Matrix, Vector
from .core.convert import exact_sum
from .exceptions import InvalidValue
from .io import host_coo

# ---- The compared programs: for each algorithm the graph that it reads, its call, and a summary of its result.
#
# `programs` has those of the command line; `every` adds all other algorithms, with arguments that suit a graph of a
# million edges. If several results are correct, these return what all of them have in common: a count or a quality.

PAGERANK_ROUNDS = 20
AnyMatrix: TypeAlias = Any  # of bitblas or of python-graphblas
Answer: TypeAlias = Any  # of a program: a Vector, Matrix or Scalar of either library, several of them, or a number
Call: TypeAlias = Callable[[AnyMatrix, int, ModuleType], Answer]
COMPARED = {  # the algorithms of `programs`, whose names are those of commands
    "bfs": "bfs_levels",
    "sssp": "sssp",
    "pagerank": "pagerank",
    "components": "connected_components",
    "triangles": "triangle_count",
    "betweenness": "betweenness_centrality",
    "mis": "maximal_independent_set",
    "coloring": "coloring",
    "msf": "minimum_spanning_forest",
}


@dataclass(frozen=True)
class Program:
    """An algorithm: the variant of the graph that it reads, its call, and a summary of its result. effort: the exponent
    of its running time in the number of vertices. near: the relative difference up to which two results are equal;
    None: by their type."""

    name: str
    form: str
    call: Call
    summary: Callable[[Answer], str]
    effort: int = 1
    near: float | None = None


def arrays(answer: Answer) -> tuple[np.ndarray, np.ndarray]:
    """Positions and values of a result on the host (of its first part, if there are several); a number has position 0,
    an entry (i, j) position i * ncols + j."""
    if isinstance(answer, tuple):
        answer = answer[0]
    if isinstance(answer, (int, float)):
        return np.zeros(1, np.int64), np.array([answer])
    *index, values = host_coo(answer)
    return (index[0] if len(index) == 1 else index[0] * answer.ncols + index[1]), values


def _far(word: str) -> Callable[[Answer], str]:
    def summary(answer: Answer) -> str:
        index, values = arrays(answer)
        return f"reached {len(index)}, {word} {values.max() if len(values) else 0:.10g}"

    return summary


def _ranks(answer: Answer) -> str:
    index, values = arrays(answer)
    best = int(values.argmax())
    return f"first {index[best]}, rank {values[best]:.4g}"


def _labels(answer: Answer) -> str:
    sizes = np.unique(arrays(answer)[1], return_counts=True)[1]
    return f"{len(sizes)}, largest {sizes.max()}"


def _members(answer: Answer) -> str:
    return f"{len(arrays(answer)[0])} members"


def _colors(answer: Answer) -> str:
    return f"{len(np.unique(arrays(answer)[1]))} colors"


def _msf(answer: Answer) -> str:
    values = arrays(answer)[1]
    return f"{len(values) // 2} edges, weight {exact_sum(values) // 2}"


def fixed(program: Callable[..., Answer], A: AnyMatrix, rounds: int, tol: float = 1e-300, **options: Any) -> Answer:
    """Run an algorithm for a fixed number of rounds, without a warning about convergence."""
    from .algorithms import Watch

    with Watch():
        return program(A, tol=tol, max_iter=rounds, **options)


def programs() -> list[Program]:
    """The programs that the command line compares."""
    from . import algorithms as a

    return [
        Program("bfs", "pattern", lambda A, source, gb: a.bfs_levels(A, source, gb=gb), _far("depth")),
        Program("sssp", "weighted", lambda A, source, gb: a.sssp(A, source, gb=gb), _far("farthest")),
        Program("pagerank", "pattern", lambda A, source, gb: fixed(a.pagerank, A, PAGERANK_ROUNDS, gb=gb), _ranks),
        Program("components", "undirected", lambda A, source, gb: a.connected_components(A, gb=gb), _labels),
        Program("triangles", "undirected", lambda A, source, gb: a.triangle_count(A, gb=gb), str),
        Program("betweenness", "pattern", lambda A, source, gb: a.betweenness_centrality(A, [source], gb=gb), _ranks),
        Program("mis", "undirected", lambda A, source, gb: a.maximal_independent_set(A, gb=gb), _members),
        Program("coloring", "undirected", lambda A, source, gb: a.coloring(A, gb=gb), _colors),
        Program("msf", "undirected_weighted", lambda A, source, gb: a.minimum_spanning_forest(A, gb=gb), _msf),
    ]


# ---- The remaining algorithms as programs to compare, with arguments that suit a graph of a million edges.
#
# Programs that `programs.py` lists under their command-line names are not repeated. If several results are correct, the
# programs return what all of them have in common: a count or a quality.

FEW, WALKS, STEPS = 4, 64, 16  # sources of consecutive searches; number of random walks, and their steps
LINEAR, SQUARE, CUBE = 1, 2, 3  # exponents of the running time in the number of vertices


def _summary(answer: Answer) -> str:
    if isinstance(answer, (int, float)):
        return f"{answer:.6g}"
    return f"{len(arrays(answer)[0])} entries"


def two_sides(A: AnyMatrix, gb: ModuleType) -> AnyMatrix:
    """A bipartite graph of twice as many vertices: rows on the one side, columns on the other."""
    n, (i, j, _) = A.nrows, A.to_coo()
    half = gb.Matrix.from_coo(i, j.astype("int64") + n, True, nrows=2 * n, ncols=2 * n)
    return half.ewise_add(half.T, gb.binary.pair).new(gb.dtypes.BOOL)


def _upper(A: AnyMatrix, gb: ModuleType) -> AnyMatrix:
    return A.select(gb.select.triu, 1).new()


def _quality(find: Callable[..., Answer]) -> Call:
    from . import algorithms

    return lambda A, source, gb: algorithms.modularity(A, find(A, gb=gb), gb=gb)


def _next(A: Any, vertex: int) -> int:
    return int(vertex + 1) % int(A.nrows)


def _cheapest(A: Any, source: int, gb: ModuleType) -> int:
    """The cost of a flow in which the cost of an edge is its capacity."""
    from . import algorithms

    return int(algorithms.minimum_cost_flow(A, A, source, _next(A, source), gb=gb)[1])


def _few_pairs(A: Any, gb: ModuleType) -> AnyMatrix:
    starts = _spread(A, FEW)
    return gb.Matrix.from_coo(starts, [_next(A, v) for v in starts], True, nrows=A.nrows, ncols=A.nrows)


def _spread(A: Any, count: int) -> list[int]:
    return [k * A.nrows // count for k in range(count)]


# Arguments by the names of parameters: those that are required, and those of SOME.
ARGUMENTS: dict[str, Callable[[Any, int], Any]] = {
    "center": lambda A, source: source,
    "counts": lambda A, source: [8, 4],
    "k": lambda A, source: 3,
    "length": lambda A, source: STEPS,
    "pairs": lambda A, source: A,
    "sink": _next,
    "source": lambda A, source: source,
    "target": _next,
    "sources": lambda A, source: _spread(A, FEW),
    "starts": lambda A, source: _spread(A, WALKS),
    "vertices": lambda A, source: _spread(A, WALKS),
}
SOME = ("pairs", "sources")
PREPARED = {"bipartite": two_sides, "acyclic": _upper}  # graphs made of the given one


def _program(
    name: str, form: str = "", effort: int = LINEAR, near: float | None = None, call: Call | None = None, **options: Any
) -> Program:
    """An algorithm as a program to compare. form: default: by its facts. call: default: with `ARGUMENTS` and `options`,
    on a graph that it accepts."""
    from . import algorithms

    facts, parameters = getattr(algorithms, name).facts, inspect.signature(getattr(algorithms, name)).parameters
    if not form:
        undirected = facts.graph == "undirected" or "directed" in parameters
        form = "_".join(["undirected"] * undirected + ["weighted"] * facts.weighted) or "pattern"
    names = [p.name for p in parameters.values() if p.name in SOME or p.default is p.empty][1:]

    def call_algorithm(A: Any, source: int, gb: ModuleType) -> Any:
        given = {key: ARGUMENTS[key](A, source) for key in names if key not in options}
        accepted = PREPARED[facts.graph](A, gb) if facts.graph in PREPARED else A
        answer = getattr(algorithms, name)(accepted, **given, **options, gb=gb)
        if facts.answer == ("vertices",):
            return len(answer)
        if facts.answer == ("parent per vertex",):  # any of several parents is correct
            return answer.nvals
        if isinstance(answer, tuple):  # the second hop, or the first part
            return answer[facts.answer == ("edges per hop",)]
        return answer

    return Program(name, form, call or call_algorithm, _summary, effort, near)


def every() -> list[Program]:
    """`programs()`, then all other algorithms: those that need other arguments or limits, then the rest."""
    from . import algorithms as a

    listed = [
        _program("all_pairs_distances", effort=CUBE),
        _program("eccentricity", effort=SQUARE),
        Program("diameter", "undirected", lambda A, s, gb: a.diameter_bounds(A, searches=FEW, gb=gb)[0], _summary),
        _program("ego_graph", radius=2),
        _program("distances_of_pairs", call=lambda A, s, gb: a.distances_of_pairs(A, _few_pairs(A, gb), gb=gb)),
        _program("k_shortest_paths", call=lambda A, s, gb: a.k_shortest_paths(A, s, _next(A, s), FEW, gb=gb)[1]),
        _program("all_shortest_paths", call=lambda A, s, gb: a.all_shortest_paths(A, s, _next(A, s), gb=gb).nrows),
        Program("weighted_pagerank", "weighted", lambda A, s, gb: a.pagerank(A, weighted=True, gb=gb), _summary),
        _program("katz_centrality", alpha=1e-4),
        _program("eigenvector_centrality", "undirected"),
        _program("hits", near=1e-6),
        _program("closeness_centrality", effort=SQUARE),
        _program("harmonic_centrality", effort=SQUARE),
        _program("condensation", call=lambda A, s, gb: a.condensation(_upper(A, gb), gb=gb)[1]),
        _program("dag_longest_path", call=lambda A, s, gb: a.dag_longest_path(_upper(A, gb), gb=gb)[1]),
        _program("square_clustering", effort=SQUARE),
        _program("k_truss", k=4),
        Program("minimum_cost_flow", "weighted", _cheapest, _summary),
        _program("louvain", near=1e-2, call=_quality(a.louvain)),
        _program("leiden", near=1e-2, call=_quality(a.leiden)),
        _program("markov_clustering", effort=SQUARE),
        # a vertex pushes or not by a sum whose last bits depend on the order
        _program("approximate_pagerank", near=1e-2),
        _program("local_community", near=1e-2, call=lambda A, s, gb: a.local_community(A, s, gb=gb)[1]),
        _program("maximum_matching", call=lambda A, s, gb: a.maximum_matching(two_sides(A, gb), gb=gb).nvals),
        _program("bipartite_sides", "pattern", call=lambda A, s, gb: a.bipartite_sides(two_sides(A, gb), gb=gb)),
        *(_program(name, "undirected") for name in ("jaccard", "overlap", "cosine")),
        _program("node2vec_walks", p=0.5, q=2),
        _program("spectral_layout", near=1e-6, call=lambda A, s, gb: fixed(a.spectral_layout, A, 50, 1e-6, gb=gb)),
        _program("spring_layout", effort=SQUARE, near=1e-6, rounds=2),
        _program("forceatlas2_layout", effort=SQUARE, near=1e-6, rounds=2),
    ]
    first = [*programs(), *listed]
    compared = {*COMPARED.values(), *(program.name for program in first), "diameter_bounds", "modularity"}
    generated = ("generated graph",)
    rest = [name for name in a.__all__ if name not in compared and getattr(a, name).facts.answer != generated]
    return [*first, *map(_program, rest)]


# ---- Run the same programs on bitblas and SuiteSparse:GraphBLAS, and compare results, times and bytes.
#
# Both run the program text of `bitblas.algorithms`, SuiteSparse through python-graphblas. Programs tuned for
# SuiteSparse (LAGraph's, in C) are not measured.

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
            from . import device

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

    from . import device

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
    from . import device

    return int(getattr(device.get("cpu"), "threads", 1))


def demo_path() -> Path:
    """The shipped road network."""
    return Path(__file__).parent / "data" / DEMO_GRAPH


# ---- Format a comparison: a table with units, speed and size ratios in words, and a conclusion.

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


def format_time(seconds: float) -> str:
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
    cells = [f"{format_time(theirs):>12}"]
    cells += [f"{format_time(one):>10}{times(theirs / one, 'faster', 'slower'):>19}" for one in ours]
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

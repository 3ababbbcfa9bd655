"""The compared programs: for each algorithm the graph that it reads, its call, and a summary of its result.

`programs` has those of the command line; `every` adds all other algorithms, with arguments that suit a graph of a
million edges. If several results are correct, these return what all of them have in common: a count or a quality.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from ..core.convert import exact_sum
from ..io import host_coo

# ---- The compared programs: the graph that each algorithm reads, its call, and a summary of its result.

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
    from ..algorithms import Watch

    with Watch():
        return program(A, tol=tol, max_iter=rounds, **options)


def programs() -> list[Program]:
    """The programs that the command line compares."""
    from .. import algorithms as a

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
    from .. import algorithms

    return lambda A, source, gb: algorithms.modularity(A, find(A, gb=gb), gb=gb)


def _spread(A: Any, count: int) -> list[int]:
    return [k * A.nrows // count for k in range(count)]


# Arguments by the names of parameters: those that are required, and those of SOME.
ARGUMENTS: dict[str, Callable[[Any, int], Any]] = {
    "center": lambda A, source: source,
    "counts": lambda A, source: [8, 4],
    "k": lambda A, source: 3,
    "length": lambda A, source: STEPS,
    "pairs": lambda A, source: A,
    "sink": lambda A, source: (source + 1) % A.nrows,
    "source": lambda A, source: source,
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
    from .. import algorithms

    facts, parameters = getattr(algorithms, name).facts, inspect.signature(getattr(algorithms, name)).parameters
    if not form:
        undirected = facts.graph == "undirected" or "directed" in parameters
        form = "_".join(["undirected"] * undirected + ["weighted"] * facts.weighted) or "pattern"
    names = [p.name for p in parameters.values() if p.name in SOME or p.default is p.empty][1:]

    def run(A: Any, source: int, gb: ModuleType) -> Any:
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

    return Program(name, form, call or run, _summary, effort, near)


def every() -> list[Program]:
    """`programs()`, then all other algorithms: those that need other arguments or limits, then the rest."""
    from .. import algorithms as a

    listed = [
        _program("all_pairs_distances", effort=CUBE),
        _program("eccentricity", effort=SQUARE),
        Program("diameter", "undirected", lambda A, s, gb: a.diameter_bounds(A, searches=FEW, gb=gb)[0], _summary),
        _program("ego_graph", radius=2),
        Program("weighted_pagerank", "weighted", lambda A, s, gb: a.pagerank(A, weighted=True, gb=gb), _summary),
        _program("katz_centrality", alpha=1e-4),
        _program("eigenvector_centrality", "undirected"),
        _program("hits", near=1e-6),
        _program("closeness_centrality", effort=SQUARE),
        _program("harmonic_centrality", effort=SQUARE),
        _program("condensation", call=lambda A, s, gb: a.condensation(_upper(A, gb), gb=gb)[1]),
        _program("square_clustering", effort=SQUARE),
        _program("k_truss", k=4),
        _program("louvain", near=1e-2, call=_quality(a.louvain)),
        _program("leiden", near=1e-2, call=_quality(a.leiden)),
        _program("markov_clustering", effort=SQUARE),
        _program("maximum_matching", call=lambda A, s, gb: a.maximum_matching(two_sides(A, gb), gb=gb).nvals),
        _program("bipartite_sides", "pattern", call=lambda A, s, gb: a.bipartite_sides(two_sides(A, gb), gb=gb)),
        *(_program(name, "undirected") for name in ("jaccard", "overlap", "cosine")),
        _program("node2vec_walks", p=0.5, q=2),
        _program("spectral_layout", near=1e-6, call=lambda A, s, gb: fixed(a.spectral_layout, A, 50, 1e-6, gb=gb)),
        _program("spring_layout", effort=SQUARE, near=1e-6, rounds=2),
    ]
    first = [*programs(), *listed]
    compared = {*COMPARED.values(), *(program.name for program in first), "diameter_bounds", "modularity"}
    generated = ("generated graph",)
    rest = [name for name in a.__all__ if name not in compared and getattr(a, name).facts.answer != generated]
    return [*first, *map(_program, rest)]

"""The compared programs: for each algorithm the graph that it reads, its call, and a summary of its result.

`programs` has those of the command line; `every` adds all other algorithms, with arguments that suit a graph of a
million edges. If several results are correct, these return what all of them have in common: a count or a quality.
"""

from __future__ import annotations

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


def _plain(name: str) -> Call:
    """The algorithm of that name, called with only the graph."""
    from .. import algorithms

    return lambda A, source, gb: getattr(algorithms, name)(A, gb=gb)


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


def every() -> list[Program]:
    """`programs()`, then all other algorithms."""
    from .. import algorithms as a

    starts = lambda A: [k * A.nrows // WALKS for k in range(WALKS)]
    sources = lambda A: [k * A.nrows // FEW for k in range(FEW)]

    listed: list[tuple[str, str, Call, int, float | None]] = [
        ("bfs_parents", "pattern", lambda A, s, gb: a.bfs_parents(A, s, gb=gb).nvals, LINEAR, None),
        ("sssp_tree", "weighted", lambda A, s, gb: a.sssp_tree(A, s, gb=gb)[0], LINEAR, None),
        ("distances_from_each", "weighted", lambda A, s, gb: a.distances_from_each(A, sources(A), gb=gb), LINEAR, None),
        ("levels_from_each", "pattern", lambda A, s, gb: a.levels_from_each(A, sources(A), gb=gb), LINEAR, None),
        ("all_pairs_distances", "weighted", _plain("all_pairs_distances"), CUBE, None),
        ("negative_cycle", "weighted", lambda A, s, gb: len(a.negative_cycle(A, gb=gb)), LINEAR, None),
        ("eccentricity", "pattern", _plain("eccentricity"), SQUARE, None),
        ("diameter", "undirected", lambda A, s, gb: a.diameter_bounds(A, searches=FEW, gb=gb)[0], LINEAR, None),
        ("ego_graph", "pattern", lambda A, s, gb: a.ego_graph(A, s, 2, gb=gb), LINEAR, None),
        *((name, "pattern", lambda A, s, gb, name=name: getattr(a, name)(A, s, gb=gb), LINEAR, None)
          for name in ("descendants", "ancestors")),
        ("maximum_flow", "weighted", lambda A, s, gb: a.maximum_flow(A, s, (s + 1) % A.nrows, gb=gb)[0], LINEAR, None),
        ("minimum_cut", "weighted", lambda A, s, gb: a.minimum_cut(A, s, (s + 1) % A.nrows, gb=gb)[0], LINEAR, None),
        ("weighted_pagerank", "weighted", lambda A, s, gb: a.pagerank(A, weighted=True, gb=gb), LINEAR, 1e-9),
        ("katz_centrality", "pattern", lambda A, s, gb: a.katz_centrality(A, alpha=1e-4, gb=gb), LINEAR, 1e-9),
        ("eigenvector_centrality", "undirected", _plain("eigenvector_centrality"), LINEAR, 1e-9),
        ("hits", "pattern", _plain("hits"), LINEAR, 1e-6),
        ("edge_betweenness_centrality", "pattern",
         lambda A, s, gb: a.edge_betweenness_centrality(A, sources(A), gb=gb), LINEAR, 1e-9),
        ("closeness_centrality", "pattern", _plain("closeness_centrality"), SQUARE, 1e-9),
        ("harmonic_centrality", "pattern", _plain("harmonic_centrality"), SQUARE, 1e-9),
        ("weakly_connected_components", "pattern", _plain("weakly_connected_components"), LINEAR, None),
        ("strongly_connected_components", "pattern", _plain("strongly_connected_components"), LINEAR, None),
        ("condensation", "pattern", lambda A, s, gb: a.condensation(_upper(A, gb), gb=gb)[1], LINEAR, None),
        ("topological_levels", "pattern", lambda A, s, gb: a.topological_levels(_upper(A, gb), gb=gb), LINEAR, None),
        ("triangles_per_vertex", "undirected", _plain("triangles_per_vertex"), LINEAR, None),
        ("triangles_per_edge", "undirected", _plain("triangles_per_edge"), LINEAR, None),
        ("local_clustering", "undirected", _plain("local_clustering"), LINEAR, 1e-9),
        ("average_clustering", "undirected", _plain("average_clustering"), LINEAR, 1e-9),
        ("transitivity", "undirected", _plain("transitivity"), LINEAR, 1e-9),
        ("square_clustering", "undirected", _plain("square_clustering"), SQUARE, 1e-9),
        ("core_numbers", "undirected", _plain("core_numbers"), LINEAR, None),
        ("k_core", "undirected", lambda A, s, gb: a.k_core(A, 3, gb=gb), LINEAR, None),
        ("k_truss", "undirected", lambda A, s, gb: a.k_truss(A, 4, gb=gb), LINEAR, None),
        ("label_propagation", "undirected", _plain("label_propagation"), LINEAR, None),
        ("louvain", "undirected", _quality(a.louvain), LINEAR, 1e-2),
        ("leiden", "undirected", _quality(a.leiden), LINEAR, 1e-2),
        ("markov_clustering", "undirected", _plain("markov_clustering"), SQUARE, None),
        ("color_classes", "undirected", lambda A, s, gb: a.color_classes(A, gb=gb), LINEAR, None),
        ("maximal_matching", "undirected", _plain("maximal_matching"), LINEAR, None),
        ("maximum_matching", "pattern", lambda A, s, gb: a.maximum_matching(two_sides(A, gb), gb=gb).nvals, LINEAR,
         None),
        ("bipartite_sides", "pattern", lambda A, s, gb: a.bipartite_sides(two_sides(A, gb), gb=gb), LINEAR, None),
        *((name, "undirected", lambda A, s, gb, name=name: getattr(a, name)(A, pairs=A, gb=gb), LINEAR, 1e-9)
          for name in ("jaccard", "overlap", "cosine", "adamic_adar", "resource_allocation")),
        ("random_walks", "pattern", lambda A, s, gb: a.random_walks(A, starts(A), STEPS, gb=gb), LINEAR, None),
        ("node2vec_walks", "pattern",
         lambda A, s, gb: a.node2vec_walks(A, starts(A), STEPS, p=0.5, q=2, gb=gb), LINEAR, None),
        ("sample_neighbors", "pattern", lambda A, s, gb: a.sample_neighbors(A, starts(A), [8, 4], gb=gb)[1], LINEAR,
         None),
        ("bipartite_projection", "pattern",
         lambda A, s, gb: a.bipartite_projection(two_sides(A, gb), starts(A), gb=gb), LINEAR, None),
        ("spectral_layout", "undirected", lambda A, s, gb: fixed(a.spectral_layout, A, 50, 1e-6, gb=gb), LINEAR, 1e-6),
        ("spring_layout", "undirected", lambda A, s, gb: a.spring_layout(A, rounds=2, gb=gb), SQUARE, 1e-6),
    ]  # fmt: skip
    return [
        *programs(),
        *(Program(name, form, call, _summary, effort, near) for name, form, call, effort, near in listed),
    ]

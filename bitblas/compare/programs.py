"""The compared programs: the graph that each algorithm reads, its call, and a summary of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from ..core.exact import exact_sum
from ..io import host_coo

PAGERANK_ROUNDS = 20


@dataclass(frozen=True)
class Program:
    """An algorithm: the variant of the graph that it reads, its call, and a summary of its result. effort: the exponent
    of its running time in the number of vertices. near: the relative difference up to which two results are equal;
    None: by their type."""

    name: str
    form: str
    call: Callable[[Any, int, ModuleType], Any]
    summary: Callable[[Any], str]
    effort: int = 1
    near: float | None = None


def arrays(answer: Any) -> tuple[np.ndarray, np.ndarray]:
    """Positions and values of a result on the host (of its first part, if there are several); a number has position 0,
    an entry (i, j) position i * ncols + j."""
    if isinstance(answer, tuple):
        answer = answer[0]
    if isinstance(answer, (int, float)):
        return np.zeros(1, np.int64), np.array([answer])
    *index, values = host_coo(answer)
    return (index[0] if len(index) == 1 else index[0] * answer.ncols + index[1]), values


def _far(word: str) -> Callable[[Any], str]:
    def summary(answer: Any) -> str:
        index, values = arrays(answer)
        return f"reached {len(index)}, {word} {values.max() if len(values) else 0:.10g}"

    return summary


def _ranks(answer: Any) -> str:
    index, values = arrays(answer)
    best = int(values.argmax())
    return f"first {index[best]}, rank {values[best]:.4g}"


def _labels(answer: Any) -> str:
    sizes = np.unique(arrays(answer)[1], return_counts=True)[1]
    return f"{len(sizes)}, largest {sizes.max()}"


def _members(answer: Any) -> str:
    return f"{len(arrays(answer)[0])} members"


def _colors(answer: Any) -> str:
    return f"{len(np.unique(arrays(answer)[1]))} colors"


def _msf(answer: Any) -> str:
    values = arrays(answer)[1]
    return f"{len(values) // 2} edges, weight {exact_sum(values) // 2}"


def fixed(program: Callable[..., Any], A: Any, rounds: int, tol: float = 1e-300, **options: Any) -> Any:
    """Run an algorithm for a fixed number of rounds, without a warning about convergence."""
    from ..algorithms import Watch

    with Watch():
        return program(A, tol=tol, max_iter=rounds, **options)


def programs() -> list[Program]:
    """The programs that the command line compares."""
    from .. import algorithms as a

    def ranks(A: Any, source: int, gb: ModuleType) -> Any:
        return fixed(a.pagerank, A, PAGERANK_ROUNDS, gb=gb)

    return [
        Program("bfs", "pattern", lambda A, source, gb: a.bfs_levels(A, source, gb=gb), _far("depth")),
        Program("sssp", "weighted", lambda A, source, gb: a.sssp(A, source, gb=gb), _far("farthest")),
        Program("pagerank", "pattern", ranks, _ranks),
        Program("components", "undirected", lambda A, source, gb: a.connected_components(A, gb=gb), _labels),
        Program("triangles", "undirected", lambda A, source, gb: a.triangle_count(A, gb=gb), str),
        Program("betweenness", "pattern", lambda A, source, gb: a.betweenness_centrality(A, [source], gb=gb), _ranks),
        Program("mis", "undirected", lambda A, source, gb: a.maximal_independent_set(A, gb=gb), _members),
        Program("coloring", "undirected", lambda A, source, gb: a.coloring(A, gb=gb), _colors),
        Program("msf", "undirected_weighted", lambda A, source, gb: a.minimum_spanning_forest(A, gb=gb), _msf),
    ]

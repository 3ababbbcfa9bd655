"""The commands that run an algorithm: what each reads, calls and says of its answer."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algorithms import Watch
from ..device import Trace
from ..io import Graph, host_coo
from . import output
from .source import both_ways, facts, load, undirected, vertex
from .ticker import Ticker

Summary = dict[str, Any]


@dataclass(frozen=True)
class Command:
    """`call` takes graph and arguments and gives the answer and its summary. vertices: its values are vertices;
    matrix: it is a Matrix."""

    name: str
    help: str
    call: Callable[[Graph, argparse.Namespace], tuple[Any, Summary]]
    writes: str = "a line for each vertex, vertex<TAB>value; .csv, .edges, .npz, .mtx by suffix"
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    vertices: Callable[[argparse.Namespace], bool] = lambda args: False
    matrix: bool = False
    aliases: tuple[str, ...] = ()  # other names that it answers to


def _bfs(graph: Graph, args: argparse.Namespace) -> tuple[Any, Summary]:
    from ..algorithms import bfs_levels, bfs_parents

    start = vertex(graph, args.source, "--source")
    v = (bfs_parents if args.parents else bfs_levels)(graph.matrix, start)
    summary = {"source": graph.label(start), "reached": v.nvals}
    return v, summary if args.parents else {**summary, "depth": int(host_coo(v)[1].max())}


def _sssp(graph: Graph, args: argparse.Namespace) -> tuple[Any, Summary]:
    from ..algorithms import sssp

    start = vertex(graph, args.source, "--source")
    v = sssp(graph.matrix, start)
    return v, {"source": graph.label(start), "reached": v.nvals, "farthest": host_coo(v)[1].max().item()}


def _best(graph: Graph, v: Any, word: str) -> Summary:
    """The five vertices with the largest values."""
    index, values = host_coo(v)
    best = np.argsort(-values, kind="stable")[:5]
    return {"first": [graph.label(int(i)) for i in index[best]], word: [float(x) for x in values[best]]}


def _pagerank(graph: Graph, args: argparse.Namespace) -> tuple[Any, Summary]:
    from ..algorithms import pagerank

    v = pagerank(graph.matrix, alpha=args.alpha, tol=args.tol, max_iter=args.max_iter)
    return v, _best(graph, v, "ranks")


def _betweenness(graph: Graph, args: argparse.Namespace) -> tuple[Any, Summary]:
    from ..algorithms import betweenness_centrality

    names = None if args.sources is None else args.sources.split(",")
    sources = None if names is None else [vertex(graph, name, "--sources") for name in names]
    v = betweenness_centrality(graph.matrix, sources)
    return v, {"sources": graph.matrix.nrows if sources is None else len(sources), **_best(graph, v, "scores")}


def _components(graph: Graph, args: argparse.Namespace) -> tuple[Any, Summary]:
    from ..algorithms import connected_components

    v = connected_components(undirected(graph.matrix, args))
    sizes = np.unique(host_coo(v)[1], return_counts=True)[1]
    return v, {"components": len(sizes), "largest": int(sizes.max(initial=0))}


def _triangles(graph: Graph, args: argparse.Namespace) -> tuple[None, Summary]:
    from ..algorithms import triangle_count

    return None, {"triangles": triangle_count(undirected(graph.matrix, args))}


def _mis(graph: Graph, args: argparse.Namespace) -> tuple[Any, Summary]:
    from ..algorithms import maximal_independent_set

    v = maximal_independent_set(undirected(graph.matrix, args), seed=args.seed)
    return v, {"members": v.nvals}


def _coloring(graph: Graph, args: argparse.Namespace) -> tuple[Any, Summary]:
    from ..algorithms import coloring

    v = coloring(undirected(graph.matrix, args), seed=args.seed)
    sizes = np.unique(host_coo(v)[1], return_counts=True)[1]
    return v, {"colors": len(sizes), "largest": int(sizes.max(initial=0))}


def _msf(graph: Graph, args: argparse.Namespace) -> tuple[Any, Summary]:
    import bitblas as gb

    from ..algorithms import minimum_spanning_forest

    F = minimum_spanning_forest(both_ways(graph.matrix))
    tree = F.select(gb.select.triu, 1).new()  # it comes both ways
    trees = F.nrows - tree.nvals
    weight = host_coo(tree)[2].sum().item()
    return tree, {"trees": trees, "edges": tree.nvals, "weight": weight}


_SOURCE = {"--source": {"default": "0", "metavar": "VERTEX", "help": "where to start (default 0)"}}
_SEED = {"--seed": {"type": int, "metavar": "N", "help": "another one may give another answer (default 0)"}}
COMMANDS = (
    Command(
        "bfs", "levels of a breadth-first search along the directed edges", _bfs,
        options={**_SOURCE, "--parents": {"action": "store_true", "help": "a tree instead of levels"}},
        vertices=lambda args: bool(args.parents),
    ),
    Command("sssp", "distances from a vertex; a pattern has weights 1", _sssp, options=_SOURCE),
    Command(
        "pagerank", "ranks; the values of the file do not matter", _pagerank,
        options={
            "--alpha": {"type": float, "default": 0.85, "help": "probability to follow an edge (default 0.85)"},
            "--tol": {"type": float, "default": 1e-6, "help": "stop below this sum of changes (default 1e-6)"},
            "--max-iter": {"type": int, "default": 100, "help": "stop after so many rounds (default 100)"},
        },
    ),
    Command(
        "betweenness", "betweenness centrality along the directed edges, not normalised", _betweenness,
        options={"--sources": {"metavar": "V,V,...", "help": "count paths from these alone (default: from all)"}},
    ),
    Command(
        "components", "connected components; edges count in both directions", _components, vertices=lambda args: True
    ),
    Command("triangles", "number of triangles; edges count in both directions", _triangles, writes=""),
    Command(
        "mis", "a maximal independent set; edges count in both directions", _mis, options=_SEED,
        writes="a line for each member, vertex<TAB>True; .csv, .edges, .npz, .mtx by suffix",
    ),
    Command("coloring", "colors from 0, different for neighbours; edges count in both directions", _coloring,
            options=_SEED),
    Command(
        "msf", "a minimum spanning forest; edges count in both directions, the lesser weight where they differ",
        _msf, writes="its edges, each once: an edge list, .mtx or .npz by suffix", matrix=True,
        aliases=("forest",),
    ),
)  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Read, run, write, and say what came out."""
    writes = bool(args.algorithm.writes)
    if writes:
        output.check(args)
        if args.out:
            output.kind_of(args.out, matrix=args.algorithm.matrix)
    start = time.perf_counter()
    graph = load(args)
    read = time.perf_counter() - start
    trace = Trace()
    start = time.perf_counter()
    with trace if args.trace else nullcontext(), Watch() as seen, Ticker(args.command, seen):
        answer, summary = args.algorithm.call(graph, args)
    seconds = time.perf_counter() - start
    if args.trace:
        print(trace, file=sys.stderr)
    if writes and args.out:
        output.write(args.out, answer, graph, args.algorithm.vertices(args))
    A = graph.matrix
    made = {"file": args.file, **facts(A), "result": summary, "rounds": seen.rounds, "converged": seen.converged}
    made |= {"read_seconds": read, "seconds": seconds}
    found = ", ".join(f"{key} {output.plain(value)}" for key, value in summary.items())
    if not seen.converged:
        found += f"\nnot converged after {seen.rounds} rounds: give more by --max-iter, or a larger --tol"
    times = f"read in {read:.3f} s, ran in {seconds:.3f} s"
    output.tell(args, made, f"{found}\n{A.nrows} vertices, {A.nvals} entries, on {A.device.name}: {times}")

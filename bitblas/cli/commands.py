"""The commands that run algorithms, in one table, by the folders of `bitblas.algorithms` that these stand in."""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..io import Graph, host_coo
from .algorithms import BOTH, WEIGHTED, Command, Summary

Say = Callable[[Graph, Any, argparse.Namespace], Summary]


def _found(graph: Graph, v: Any, args: argparse.Namespace) -> Summary:
    summary = {"source": graph.label(graph.vertex(args.source)), "reached": v.nvals}
    return summary if args.parents else {**summary, "depth": int(host_coo(v)[1].max())}


def _far(graph: Graph, answer: Any, args: argparse.Namespace) -> Summary:
    d = answer[0] if args.parents else answer
    source = graph.label(graph.vertex(args.source))
    return {"source": source, "reached": d.nvals, "farthest": host_coo(d)[1].max().item()}


def _best(word: str, *, sources: bool = False) -> Say:
    """The five vertices with the largest values."""

    def say(graph: Graph, v: Any, args: argparse.Namespace) -> Summary:
        index, values = host_coo(_side(v, args) if isinstance(v, tuple) else v)
        best = np.argsort(-values, kind="stable")[:5]
        top = {"first": [graph.label(int(i)) for i in index[best]], word: [x.item() for x in values[best]]}
        if not sources:
            return top
        return {"sources": graph.matrix.nrows if args.sources is None else args.sources.count(",") + 1, **top}

    return say


def _side(answer: Any, args: argparse.Namespace) -> Any:
    return answer[1 if args.authorities else 0]


def _classes(word: str) -> Say:
    """How many classes, and how many vertices the largest one has."""

    def say(graph: Graph, v: Any, args: argparse.Namespace) -> Summary:
        sizes = np.unique(host_coo(v)[1], return_counts=True)[1]
        return {word: len(sizes), "largest": int(sizes.max(initial=0))}

    return say


def _entries(word: str) -> Say:
    return lambda graph, answer, args: {word: answer.nvals}


def _number(word: str) -> Say:
    return lambda graph, answer, args: {word: answer}


def _mean(graph: Graph, v: Any, args: argparse.Namespace) -> Summary:
    values = host_coo(v)[1]
    return {"mean": float(values.mean()) if len(values) else 0.0}


def _levels(graph: Graph, v: Any, args: argparse.Namespace) -> Summary:
    levels = host_coo(v)[1]
    return {"levels": int(levels.max(initial=-1)) + 1, "on or behind cycles": v.size - v.nvals}


def _upper(answer: Any, args: argparse.Namespace) -> Any:
    """Each edge once; it comes both ways."""
    import bitblas as gb

    return answer.select(gb.select.triu, 1).new()


def _forest(graph: Graph, F: Any, args: argparse.Namespace) -> Summary:
    tree = _upper(F, args)
    return {"trees": F.nrows - tree.nvals, "edges": tree.nvals, "weight": host_coo(tree)[2].sum().item()}


def _matched(graph: Graph, v: Any, args: argparse.Namespace) -> Summary:
    return {"edges": v.nvals // 2, "vertices": v.nvals}


def _diameter(graph: Graph, answer: Any, args: argparse.Namespace) -> Summary:
    low, high = answer if isinstance(answer, tuple) else (answer, answer)
    return {"at least": low, "at most": high}


def named(name: str) -> Callable[[argparse.Namespace], str]:
    """The program is always this one."""
    return lambda args: name


def always(args: argparse.Namespace) -> bool:
    return True


def flag(help: str) -> dict[str, Any]:
    return {"action": "store_true", "help": help}


SIMILAR = ("jaccard", "overlap", "cosine", "adamic_adar", "resource_allocation")
EDGES = "an edge list, .mtx or .npz by suffix"
BOTH_WAYS = "; edges count in both directions"
SOURCE = {"--source": {"default": "0", "metavar": "VERTEX", "help": "where to start (default 0)"}}
PARENTS = {"--parents": flag("a tree, as the vertex before each, instead of how far")}
SEED = {"--seed": {"type": int, "metavar": "N", "help": "another one may give another answer (default 0)"}}
WEIGHTS = {"--weighted": flag("the values of the file are weights")}
ROUNDS = {
    "--tol": {"type": float, "default": 1e-6, "help": "stop below this change (default 1e-6)"},
    "--max-iter": {"type": int, "default": 100, "help": "stop after so many rounds (default 100)"},
}
RESOLUTION = {"--resolution": {"type": float, "default": 1.0, "help": "above 1: smaller communities (default 1)"}}
PATHS = (
    Command(
        "bfs", "levels of a breadth-first search along the directed edges",
        lambda args: "bfs_parents" if args.parents else "bfs_levels", _found, vertices=lambda args: bool(args.parents),
        options={**SOURCE, **PARENTS, "--depth-limit": {"type": int, "metavar": "N", "help": "not farther than this"}},
    ),
    Command(
        "sssp", "distances from a vertex; a pattern has weights 1",
        lambda args: "sssp_tree" if args.parents else "sssp", _far, options={**SOURCE, **PARENTS},
        part=lambda answer, args: answer[1] if args.parents else answer, vertices=lambda args: bool(args.parents),
    ),
    Command("eccentricity", "edges to the farthest vertex that each reaches", named("eccentricity"), _best("edges")),
    Command(
        "diameter", "the longest of the shortest paths, in edges" + BOTH_WAYS,
        lambda args: "diameter" if args.searches is None else "diameter_bounds", _diameter, edges=BOTH, writes="",
        options={"--searches": {"type": int, "metavar": "N", "help": "bounds from so many searches, not the answer"}},
    ),
    Command(
        "ego", "what is near to a vertex, and the edges between", named("ego_graph"), _entries("edges"), matrix=True,
        writes=f"its edges: {EDGES}",
        options={
            "--center": {"default": "0", "metavar": "VERTEX", "help": "the vertex (default 0)"},
            "--radius": {"type": int, "default": 1, "metavar": "N", "help": "how many edges away (default 1)"},
        },
    ),
)  # fmt: skip
CENTRALITY = (
    Command(
        "pagerank", "ranks; the values of the file do not matter unless weighted", named("pagerank"), _best("ranks"),
        options={
            "--alpha": {"type": float, "default": 0.85, "help": "probability to follow an edge (default 0.85)"},
            **ROUNDS, **WEIGHTS,
        },
    ),
    Command(
        "betweenness", "betweenness centrality along the directed edges, not normalised",
        named("betweenness_centrality"), _best("scores", sources=True),
        options={"--sources": {"metavar": "V,V,...", "help": "count paths from these alone (default: from all)"}},
    ),
    Command("closeness", "one over the mean distance", named("closeness_centrality"), _best("scores")),
    Command("harmonic", "sums of one over the distances", named("harmonic_centrality"), _best("scores")),
    Command(
        "katz", "Katz centrality: walks that end at a vertex", named("katz_centrality"), _best("scores"),
        options={
            "--alpha": {"type": float, "default": 0.1, "help": "what one more edge of a walk costs (default 0.1)"},
            **ROUNDS, **WEIGHTS,
        },
    ),
    Command(
        "eigenvector", "eigenvector centrality", named("eigenvector_centrality"), _best("scores"),
        options={**ROUNDS, **WEIGHTS},
    ),
    Command(
        "hits", "hubs, or authorities", named("hits"), _best("scores"), part=_side,
        options={"--authorities": flag("authorities instead of hubs"), **ROUNDS, **WEIGHTS},
    ),
)  # fmt: skip
CONNECTIVITY = (
    Command(
        "components", "connected components" + BOTH_WAYS, named("connected_components"), _classes("components"),
        edges=BOTH, vertices=always,
    ),
    Command(
        "strong", "strongly connected components", named("strongly_connected_components"), _classes("components"),
        vertices=always, aliases=("scc",),
    ),
    Command("topological", "levels such that every edge leads to a higher one", named("topological_levels"), _levels),
    Command(
        "msf", "a minimum spanning forest; edges count in both directions, the lesser weight where they differ",
        named("minimum_spanning_forest"), _forest, edges=WEIGHTED, part=_upper, matrix=True, aliases=("forest",),
        writes=f"its edges, each once: {EDGES}",
    ),
)  # fmt: skip
COHESION = (
    Command("triangles", "number of triangles" + BOTH_WAYS, named("triangle_count"), _number("triangles"), edges=BOTH,
            writes=""),
    Command("clustering", "local clustering coefficients" + BOTH_WAYS, named("local_clustering"), _mean, edges=BOTH),
    Command("squares", "square clustering coefficients" + BOTH_WAYS, named("square_clustering"), _mean, edges=BOTH),
    Command("cores", "core numbers" + BOTH_WAYS, named("core_numbers"), _best("cores"), edges=BOTH),
    Command(
        "truss", "the edges of the k-truss" + BOTH_WAYS, named("k_truss"),
        lambda graph, answer, args: {"edges": answer.nvals // 2}, edges=BOTH, part=_upper, matrix=True,
        writes=f"its edges, each once, with the triangles of each: {EDGES}",
        options={"--k": {"type": int, "default": 3, "metavar": "K", "help": "each in k - 2 triangles (default 3)"}},
    ),
)  # fmt: skip
COMMUNITIES = (
    Command(
        "cdlp", "communities by label propagation" + BOTH_WAYS, named("label_propagation"), _classes("communities"),
        edges=BOTH, vertices=always,
        options={"--max-iter": {"type": int, "default": 10, "help": "so many rounds (default 10)"}},
    ),
    Command("louvain", "communities of high modularity" + BOTH_WAYS, named("louvain"), _classes("communities"),
            edges=BOTH, options={**RESOLUTION, **SEED, **WEIGHTS}),
    Command("leiden", "communities of high modularity, connected" + BOTH_WAYS, named("leiden"), _classes("communities"),
            edges=BOTH, options={**RESOLUTION, **SEED, **WEIGHTS}),
    Command(
        "markov", "Markov clustering" + BOTH_WAYS, named("markov_clustering"), _classes("communities"), edges=BOTH,
        vertices=always,
        options={"--inflation": {"type": float, "default": 2.0, "help": "more: smaller ones (default 2)"}, **WEIGHTS},
    ),
)  # fmt: skip
SETS = (
    Command(
        "mis", "a maximal independent set" + BOTH_WAYS, named("maximal_independent_set"), _entries("members"),
        edges=BOTH, options=SEED, writes="a line for each member, vertex<TAB>True; .csv, .edges, .npz, .mtx by suffix",
    ),
    Command("coloring", "colors from 0, different for neighbours" + BOTH_WAYS, named("coloring"), _classes("colors"),
            edges=BOTH, options=SEED),
    Command("matching", "a maximal matching" + BOTH_WAYS, named("maximal_matching"), _matched, edges=BOTH,
            vertices=always, options={**SEED, "--weighted": flag("heavy edges first")}),
)  # fmt: skip
SIMILARITY = (
    Command(
        "similarity", "how alike vertices are, by the neighbours that they share", lambda args: str(args.by),
        _entries("pairs"), matrix=True, writes=f"the pairs: {EDGES}",
        options={
            "--by": {"choices": SIMILAR, "default": "jaccard", "help": "default: jaccard"},
            "--top": {"type": int, "default": 10, "metavar": "N", "help": "the best of each vertex (default 10)"},
        },
    ),
)  # fmt: skip
COMMANDS = {
    "paths": PATHS,
    "centrality": CENTRALITY,
    "connectivity": CONNECTIVITY,
    "cohesion": COHESION,
    "communities": COMMUNITIES,
    "sets": SETS,
    "similarity": SIMILARITY,
}


def title(folder: str) -> str:
    """What the commands of a folder answer, as its docstring says."""
    return f"{folder}: {inspect.getdoc(importlib.import_module(f'bitblas.algorithms.{folder}'))}"

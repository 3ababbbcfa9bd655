"""The table of algorithm commands, grouped by the folders of `bitblas.algorithms`."""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Callable

from ..io import host_coo
from . import summaries as say
from .algorithms import BOTH, WEIGHTED, Command
from .options import (
    BOTH_WAYS,
    DRAWN,
    EDGES,
    FIRST,
    FROM,
    LENGTHS,
    LIMIT,
    MEMBERS,
    PARENTS,
    RESOLUTION,
    ROUNDS,
    SEED,
    SIMILAR,
    SINK,
    SOURCE,
    SOURCES,
    STARTS,
    TO,
    TOP,
    WEIGHTS,
    count,
    counts,
    flag,
)  # fmt: skip


def named(name: str) -> Callable[[argparse.Namespace], str]:
    """The program is always this one."""
    return lambda args: name


def always(args: argparse.Namespace) -> bool:
    return True


PATHS = (
    Command(
        "bfs", "levels of a breadth-first search along the directed edges",
        lambda args: "bfs_parents" if args.parents else "bfs_levels", say.found,
        vertices=lambda args: bool(args.parents),
        options={**SOURCE, **PARENTS, **FIRST, **LIMIT},
    ),
    Command(
        "sssp", "distances from a vertex; a pattern has weights 1",
        lambda args: "sssp_tree" if args.parents or args.to is not None else "sssp", say.far,
        options={**SOURCE, **TO, **PARENTS, **FIRST}, vertices=lambda args: bool(args.parents),
        part=lambda answer, args: answer[bool(args.parents)] if isinstance(answer, tuple) else answer,
    ),
    Command(
        "distances", "how far it is from each vertex to each other one, or from some; a pattern has weights 1",
        lambda args: "all_pairs_distances" if args.sources is None else "distances_from_each", say.pairs,
        options=FROM, matrix=True, rows=True, writes=f"every two vertices with a way, and its length: {EDGES}",
    ),
    Command(
        "levels", "how many edges it is from some vertices to each other one", named("levels_from_each"), say.pairs,
        options={"--sources": {**FROM["--sources"], "required": True, "help": "where to start"}, **LIMIT}, matrix=True,
        rows=True, writes=f"every two vertices with a way, and its edges: {EDGES}",
    ),
    Command(
        "reach", "the vertices that a vertex leads to, or that lead to it",
        lambda args: "ancestors" if args.against else "descendants", say.entries("vertices"),
        options={**SOURCE, "--against": flag("those that lead to it"), **LIMIT}, writes=MEMBERS,
    ),
    Command(
        "negative-cycle", "a way around on which the weights sum to less than 0", named("negative_cycle"),
        lambda graph, answer, args: {"cycle": [graph.label(v) for v in answer] or None}, writes="",
    ),
    Command("eccentricity", "edges to the farthest vertex that each reaches", named("eccentricity"), say.best("edges"),
            options=TOP),
    Command(
        "diameter", "the longest of the shortest paths, in edges" + BOTH_WAYS,
        lambda args: "diameter" if args.searches is None else "diameter_bounds", say.diameter, edges=BOTH, writes="",
        options={"--searches": {"type": int, "metavar": "N", "help": "bounds from so many searches, not the answer"}},
    ),
    Command(
        "ego", "what is near to a vertex, and the edges between", named("ego_graph"), say.entries("edges"), matrix=True,
        writes=f"its edges: {EDGES}",
        options={
            "--center": {"metavar": "VERTEX", "help": "the vertex (default 0, if vertices have no names)"},
            "--radius": {"type": int, "default": 1, "metavar": "N", "help": "how many edges away (default 1)"},
        },
    ),
)  # fmt: skip
FLOWS = (
    Command(
        "flow", "the largest flow between two vertices; values are capacities", named("maximum_flow"),
        lambda graph, answer, args: {"value": answer[0], "edges": answer[1].nvals}, matrix=True,
        part=lambda answer, args: answer[1], options={**SOURCE, **SINK}, writes=f"how much each edge carries: {EDGES}",
    ),
    Command(
        "cut", "the least cut between two vertices; values are capacities", named("minimum_cut"),
        lambda graph, answer, args: {"value": answer[0], "on the source's side": int(host_coo(answer[1])[1].sum())},
        part=lambda answer, args: answer[1], options={**SOURCE, **SINK},
    ),
)  # fmt: skip
LAYOUTS = (
    Command(
        "layout", "positions of the vertices, for a picture" + BOTH_WAYS, lambda args: f"{args.by}_layout",
        lambda graph, answer, args: {"vertices": answer.nrows}, edges=BOTH, matrix=True, axes=("x", "y"),
        writes="a line for each vertex, vertex<TAB>x<TAB>y; .csv, .edges, .json, .parquet, .npz, .mtx by suffix",
        options={
            "--by": {"choices": ("spectral", "spring"), "default": "spectral", "help": "default: spectral"}, **WEIGHTS,
        },
    ),
)  # fmt: skip
CENTRALITY = (
    Command(
        "pagerank", "ranks; the values of the file do not matter unless weighted", named("pagerank"), say.best("ranks"),
        options={
            "--alpha": {"type": float, "default": 0.85, "help": "probability to follow an edge (default 0.85)"},
            **ROUNDS, **WEIGHTS, **TOP,
        },
    ),
    Command(
        "betweenness", "betweenness centrality along the directed edges, not normalised",
        named("betweenness_centrality"), say.best("scores", sources=True),
        options={**SOURCES, **DRAWN, **SEED, **TOP},
    ),
    Command(
        "edge-betweenness", "betweenness centrality of edges, not normalised", named("edge_betweenness_centrality"),
        say.entries("edges"), matrix=True, writes=f"every edge with its score: {EDGES}",
        options={**SOURCES, **DRAWN, **SEED},
    ),
    Command("closeness", "one over the mean distance", named("closeness_centrality"), say.best("scores"),
            options={**LENGTHS, **TOP}),
    Command("harmonic", "sums of one over the distances", named("harmonic_centrality"), say.best("scores"),
            options={**LENGTHS, **TOP}),
    Command(
        "katz", "Katz centrality: walks that end at a vertex", named("katz_centrality"), say.best("scores"),
        options={
            "--alpha": {"type": float, "default": 0.1, "help": "what one more edge of a walk costs (default 0.1)"},
            **ROUNDS, **WEIGHTS, **TOP,
        },
    ),
    Command(
        "eigenvector", "eigenvector centrality", named("eigenvector_centrality"), say.best("scores"),
        options={**ROUNDS, **WEIGHTS, **TOP},
    ),
    Command(
        "hits", "hubs, or authorities", named("hits"), say.best("scores"), part=say.side,
        options={"--authorities": flag("authorities instead of hubs"), **ROUNDS, **WEIGHTS, **TOP},
    ),
)  # fmt: skip
CONNECTIVITY = (
    Command(
        "components", "connected components" + BOTH_WAYS, named("connected_components"), say.classes("components"),
        edges=BOTH, vertices=always, aliases=("weak",),
    ),
    Command(
        "strong", "strongly connected components", named("strongly_connected_components"), say.classes("components"),
        vertices=always, aliases=("scc",),
    ),
    Command(
        "condensation", "the graph of the strongly connected components", named("condensation"),
        lambda graph, answer, args: {"components": answer[0].nrows, "edges": answer[0].nvals},
        part=lambda answer, args: answer[1], writes="the component of each vertex, by suffix as for others",
    ),
    Command("topological", "levels such that every edge leads to a higher one", named("topological_levels"),
            say.levels, options=FIRST),
    Command(
        "msf", "a minimum spanning forest; edges count in both directions, the lesser weight where they differ",
        named("minimum_spanning_forest"), say.forest, edges=WEIGHTED, part=say.upper, matrix=True, aliases=("forest",),
        writes=f"its edges, each once: {EDGES}",
    ),
)  # fmt: skip
COHESION = (
    Command("triangles", "number of triangles" + BOTH_WAYS, named("triangle_count"), say.number("triangles"),
            edges=BOTH, writes=""),
    Command("vertex-triangles", "triangles at each vertex" + BOTH_WAYS, named("triangles_per_vertex"),
            say.best("triangles"), edges=BOTH, options=TOP),
    Command("edge-triangles", "triangles at each edge" + BOTH_WAYS, named("triangles_per_edge"), say.edges, edges=BOTH,
            part=say.upper, matrix=True, writes=f"every edge, once, with its triangles: {EDGES}"),
    Command("transitivity", "the share of pairs of edges that are closed to a triangle" + BOTH_WAYS,
            named("transitivity"), say.number("transitivity"), edges=BOTH, writes=""),
    Command("clustering", "local clustering coefficients" + BOTH_WAYS, named("local_clustering"), say.mean, edges=BOTH,
            options=FIRST),
    Command("squares", "square clustering coefficients" + BOTH_WAYS, named("square_clustering"), say.mean, edges=BOTH,
            options=FIRST),
    Command("cores", "core numbers" + BOTH_WAYS, named("core_numbers"), say.best("cores"), edges=BOTH,
            options=TOP),
    Command("k-core", "the edges of the k-core" + BOTH_WAYS, named("k_core"), say.edges, edges=BOTH, part=say.upper,
            matrix=True, writes=f"its edges, each once: {EDGES}",
            options={"--k": {"type": int, "default": 2, "metavar": "K", "help": "neighbours of each (default 2)"}}),
    Command(
        "truss", "the edges of the k-truss" + BOTH_WAYS, named("k_truss"), say.edges, edges=BOTH, part=say.upper,
        matrix=True,
        writes=f"its edges, each once, with the triangles of each: {EDGES}",
        options={"--k": {"type": int, "default": 3, "metavar": "K", "help": "each in k - 2 triangles (default 3)"}},
    ),
)  # fmt: skip
COMMUNITIES = (
    Command(
        "cdlp", "communities by label propagation" + BOTH_WAYS, named("label_propagation"), say.classes("communities"),
        edges=BOTH, vertices=always,
        options={"--max-iter": {"type": int, "default": 10, "help": "so many rounds (default 10)"}},
    ),
    Command("louvain", "communities of high modularity" + BOTH_WAYS, named("louvain"), say.classes("communities"),
            edges=BOTH, options={**RESOLUTION, **SEED, **WEIGHTS}),
    Command("leiden", "communities of high modularity, connected" + BOTH_WAYS, named("leiden"),
            say.classes("communities"), edges=BOTH, options={**RESOLUTION, **SEED, **WEIGHTS}),
    Command(
        "markov", "Markov clustering" + BOTH_WAYS, named("markov_clustering"), say.classes("communities"), edges=BOTH,
        vertices=always,
        options={"--inflation": {"type": float, "default": 2.0, "help": "more: smaller ones (default 2)"}, **WEIGHTS},
    ),
    Command(
        "modularity", "how good a division into communities is" + BOTH_WAYS, named("modularity"),
        say.number("modularity"), edges=BOTH, writes="",
        options={
            "--communities": {"required": True, "metavar": "FILE", "help": "of vertices and communities, by --out"},
            **RESOLUTION, **WEIGHTS,
        },
    ),
)  # fmt: skip
SETS = (
    Command(
        "mis", "a maximal independent set" + BOTH_WAYS, named("maximal_independent_set"), say.entries("members"),
        edges=BOTH, options=SEED, writes=MEMBERS,
    ),
    Command("coloring", "colors from 0, different for neighbours" + BOTH_WAYS, named("coloring"), say.classes("colors"),
            edges=BOTH, options=SEED),
    Command("matching", "a maximal matching" + BOTH_WAYS,
            lambda args: "maximum_matching" if args.maximum else "maximal_matching", say.matched, edges=BOTH,
            vertices=always,
            options={**SEED, "--weighted": flag("heavy edges first"),
                     "--maximum": flag("as many edges as possible, of a bipartite graph")}),
    Command("bipartite", "the two sides of a bipartite graph" + BOTH_WAYS, named("bipartite_sides"), say.sides,
            edges=BOTH, part=say.two),
    Command(
        "projection", "who shares neighbours on the other side, and how many" + BOTH_WAYS,
        named("bipartite_projection"), say.edges, edges=BOTH, part=say.upper, matrix=True,
        writes=f"every two, once, with the neighbours that they share: {EDGES}",
        options={"--vertices": {"metavar": "V,V,...", "help": "one side (default: those that edges of FILE leave)"}},
    ),
)  # fmt: skip
SIMILARITY = (
    Command(
        "similarity", "how alike vertices are, by the neighbours that they share", lambda args: str(args.by),
        say.entries("pairs"), matrix=True, writes=f"the pairs: {EDGES}",
        options={
            "--by": {"choices": SIMILAR, "default": "jaccard", "help": "default: jaccard"},
            "--top": {"type": int, "default": 10, "metavar": "N", "help": "the best of each vertex (default 10)"},
        },
    ),
)  # fmt: skip
SAMPLING = (
    Command(
        "walks", "random walks along the edges, biased (node2vec) where --p or --q is given",
        lambda args: "random_walks" if args.p == args.q == 1 else "node2vec_walks", say.walks, matrix=True, lines=True,
        writes="a line for each walk, its vertices; .csv, .edges, .json by suffix, numbers as .npz, .mtx, .parquet",
        options={
            **STARTS, "--length": {"type": count, "default": 10, "metavar": "N", "help": "steps (default 10)"},
            "--p": {"type": float, "default": 1.0, "help": "above 1: seldom back (default 1)"},
            "--q": {"type": float, "default": 1.0, "help": "above 1: seldom far away (default 1)"}, **SEED, **WEIGHTS,
        },
    ),
    Command(
        "sample", "a few edges of some vertices, of those that they lead to again a few, ..", named("sample_neighbors"),
        lambda graph, answer, args: {"edges of each hop": [hop.nvals for hop in answer]}, matrix=True, part=say.hops,
        writes=f"the edges: {EDGES}",
        options={
            **STARTS, **SEED, **WEIGHTS,
            "--counts": {"type": counts, "default": [8], "metavar": "N,N", "help": "of each, by hop (default 8)"},
        },
    ),
)  # fmt: skip
COMMANDS = {
    "paths": PATHS,
    "flows": FLOWS,
    "centrality": CENTRALITY,
    "connectivity": CONNECTIVITY,
    "cohesion": COHESION,
    "communities": COMMUNITIES,
    "sets": SETS,
    "similarity": SIMILARITY,
    "sampling": SAMPLING,
    "layouts": LAYOUTS,
}


FLAGS = {"--out", *(flag for group in COMMANDS.values() for command in group for flag in command.options)}


def title(folder: str) -> str:
    """What the commands of a folder answer, as its docstring says."""
    return f"{folder}: {inspect.getdoc(importlib.import_module(f'bitblas.algorithms.{folder}'))}"

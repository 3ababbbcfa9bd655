"""The table of algorithm commands, grouped by the folders of `bitblas.algorithms`, and the options that they share."""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Callable

from ..io import host_coo
from . import summaries as say
from .algorithms import BOTH, TOP_OPTION, WEIGHTED, Command, Keywords

# ---- Options that several algorithm commands share, and parsers of their values.


def flag(help: str) -> Keywords:
    return {"action": "store_true", "help": help}


def counts(text: str) -> list[int]:
    return [count(part) for part in text.split(",")]


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, got {text}")
    return number


SIMILAR = ("jaccard", "overlap", "cosine", "adamic_adar", "resource_allocation")
MEMBERS = "a line for each member, vertex<TAB>True; .csv, .edges, .npz, .mtx by suffix"
EDGES = "an edge list, .json, .parquet, .mtx or .npz by suffix"
BOTH_WAYS = "; edge directions are ignored"
TOP = {"--top": {"type": count, "dest": "best", "metavar": "N", "help": "show and write only the N largest"}}
FIRST = {"--top": {"type": count, **TOP_OPTION}}
SOURCE = {"--source": {"metavar": "VERTEX", "help": "start vertex (default 0, if vertices have no names)"}}
LIMIT = {"--depth-limit": {"type": int, "metavar": "N", "help": "maximum number of hops"}}
TO = {"--to": {"metavar": "VERTEX", "help": "also print the distance of this vertex and the path to it"}}
PARENTS = {"--parents": flag("the parent of each vertex in the search tree instead of its distance")}
SEED = {"--seed": {"type": int, "metavar": "N", "help": "random seed (default 0)"}}
WEIGHTS = {"--weighted": flag("use the values of the file as weights")}
LENGTHS = {"--weighted": flag("use the values of the file as lengths")}
SOURCES = {"--sources": {"metavar": "V,V,...", "help": "count paths from these vertices only (default: all)"}}
FROM = {"--sources": {"metavar": "V,V,...", "help": "start from these vertices only (default: all)"}}
STARTS = {"--starts": {"metavar": "V,V,...", "help": "start vertices (default: all)"}}
DRAWN = {"--k": {"type": count, "metavar": "N", "help": "count paths from N random vertices (see --seed)"}}
SINK = {"--sink": {"required": True, "metavar": "VERTEX", "help": "the end vertex"}}
ROUNDS = {
    "--tol": {"type": float, "default": 1e-6, "help": "stop when the change is below this (default 1e-6)"},
    "--max-iter": {"type": int, "default": 100, "help": "stop after this many rounds (default 100)"},
}
RESOLUTION = {"--resolution": {"type": float, "default": 1.0, "help": "above 1: smaller communities (default 1)"}}


# ---- The table of algorithm commands, grouped by the folders of `bitblas.algorithms`.


def named(name: str) -> Callable[[argparse.Namespace], str]:
    """The same program for all options."""
    return lambda args: name


def always(args: argparse.Namespace) -> bool:
    return True


PATHS = (
    Command(
        "bfs", "breadth-first search levels along directed edges",
        lambda args: "bfs_parents" if args.parents else "bfs_levels", say.found,
        vertices=lambda args: bool(args.parents),
        options={**SOURCE, **PARENTS, **FIRST, **LIMIT},
    ),
    Command(
        "sssp", "shortest-path distances from a vertex; edges without weights count 1",
        lambda args: "sssp_tree" if args.parents or args.to is not None else "sssp", say.far,
        options={**SOURCE, **TO, **PARENTS, **FIRST}, vertices=lambda args: bool(args.parents),
        part=lambda answer, args: answer[bool(args.parents)] if isinstance(answer, tuple) else answer,
    ),
    Command(
        "distances", "all-pairs shortest paths, or from some vertices; edges without weights count 1",
        lambda args: "all_pairs_distances" if args.sources is None else "distances_from_each", say.pairs,
        options=FROM, matrix=True, rows=True, writes=f"pairs of connected vertices with their distance: {EDGES}",
    ),
    Command(
        "levels", "breadth-first search levels from several vertices", named("levels_from_each"), say.pairs,
        options={"--sources": {**FROM["--sources"], "required": True, "help": "start vertices"}, **LIMIT}, matrix=True,
        rows=True, writes=f"pairs of connected vertices with their number of hops: {EDGES}",
    ),
    Command(
        "reach", "descendants of a vertex, or its ancestors",
        lambda args: "ancestors" if args.against else "descendants", say.entries("vertices"),
        options={**SOURCE, "--against": flag("ancestors instead of descendants"), **LIMIT}, writes=MEMBERS,
    ),
    Command(
        "negative-cycle", "a cycle of negative total weight", named("negative_cycle"),
        lambda graph, answer, args: {"cycle": [graph.label(v) for v in answer] or None}, writes="",
    ),
    Command("eccentricity", "hops to the farthest reachable vertex", named("eccentricity"),
            say.best("edges"),
            options=TOP),
    Command(
        "diameter", "the longest shortest path, in hops" + BOTH_WAYS,
        lambda args: "diameter" if args.searches is None else "diameter_bounds", say.diameter, edges=BOTH, writes="",
        options={
            "--searches": {"type": int, "metavar": "N", "help": "bounds from N searches instead of the exact value"},
        },
    ),
    Command(
        "ego", "the edges among all vertices near a vertex", named("ego_graph"), say.entries("edges"),
        matrix=True,
        writes=f"its edges: {EDGES}",
        options={
            "--center": {"metavar": "VERTEX", "help": "the vertex (default 0, if vertices have no names)"},
            "--radius": {"type": int, "default": 1, "metavar": "N", "help": "maximum number of hops (default 1)"},
        },
    ),
)  # fmt: skip
FLOWS = (
    Command(
        "flow", "maximum flow between two vertices; values are capacities", named("maximum_flow"),
        lambda graph, answer, args: {"value": answer[0], "edges": answer[1].nvals}, matrix=True,
        part=lambda answer, args: answer[1], options={**SOURCE, **SINK}, writes=f"the flow on each edge: {EDGES}",
    ),
    Command(
        "cut", "minimum cut between two vertices; values are capacities", named("minimum_cut"),
        lambda graph, answer, args: {"value": answer[0], "on the source's side": int(host_coo(answer[1])[1].sum())},
        part=lambda answer, args: answer[1], options={**SOURCE, **SINK},
    ),
)  # fmt: skip
LAYOUTS = (
    Command(
        "layout", "vertex coordinates for drawing" + BOTH_WAYS, lambda args: f"{args.by}_layout",
        lambda graph, answer, args: {"vertices": answer.nrows}, edges=BOTH, matrix=True, axes=("x", "y"),
        writes="a line for each vertex, vertex<TAB>x<TAB>y; .csv, .edges, .json, .parquet, .npz, .mtx by suffix",
        options={
            "--by": {"choices": ("spectral", "spring"), "default": "spectral", "help": "default: spectral"}, **WEIGHTS,
        },
    ),
)  # fmt: skip
CENTRALITY = (
    Command(
        "pagerank", "PageRank; weights are ignored unless --weighted", named("pagerank"), say.best("ranks"),
        options={
            "--alpha": {"type": float, "default": 0.85, "help": "damping factor (default 0.85)"},
            **ROUNDS, **WEIGHTS, **TOP,
        },
    ),
    Command(
        "betweenness", "betweenness centrality along directed edges, not normalized",
        named("betweenness_centrality"), say.best("scores", sources=True),
        options={**SOURCES, **DRAWN, **SEED, **TOP},
    ),
    Command(
        "edge-betweenness", "betweenness centrality of edges, not normalized", named("edge_betweenness_centrality"),
        say.entries("edges"), matrix=True, writes=f"every edge with its score: {EDGES}",
        options={**SOURCES, **DRAWN, **SEED},
    ),
    Command("closeness", "closeness centrality: the inverse of the mean distance", named("closeness_centrality"),
            say.best("scores"),
            options={**LENGTHS, **TOP}),
    Command("harmonic", "harmonic centrality: the sum of inverse distances", named("harmonic_centrality"),
            say.best("scores"),
            options={**LENGTHS, **TOP}),
    Command(
        "katz", "Katz centrality: attenuated number of walks that end at a vertex", named("katz_centrality"),
        say.best("scores"),
        options={
            "--alpha": {"type": float, "default": 0.1, "help": "attenuation per edge of a walk (default 0.1)"},
            **ROUNDS, **WEIGHTS, **TOP,
        },
    ),
    Command(
        "eigenvector", "eigenvector centrality", named("eigenvector_centrality"), say.best("scores"),
        options={**ROUNDS, **WEIGHTS, **TOP},
    ),
    Command(
        "hits", "HITS: hub scores, or authority scores", named("hits"), say.best("scores"), part=say.side,
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
        part=lambda answer, args: answer[1],
        writes="the component of each vertex; format by suffix, as for other commands",
    ),
    Command("topological", "topological levels: every edge leads to a higher level", named("topological_levels"),
            say.levels, options=FIRST),
    Command(
        "msf", "minimum spanning forest; edge directions are ignored, the smaller weight counts",
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
            part=say.upper, matrix=True, writes=f"each edge once, with its number of triangles: {EDGES}"),
    Command("transitivity", "the share of connected triples that are closed" + BOTH_WAYS,
            named("transitivity"), say.number("transitivity"), edges=BOTH, writes=""),
    Command("clustering", "local clustering coefficients" + BOTH_WAYS, named("local_clustering"), say.mean, edges=BOTH,
            options=FIRST),
    Command("squares", "square clustering coefficients" + BOTH_WAYS, named("square_clustering"), say.mean, edges=BOTH,
            options=FIRST),
    Command("cores", "core numbers" + BOTH_WAYS, named("core_numbers"), say.best("cores"), edges=BOTH,
            options=TOP),
    Command("k-core", "the edges of the k-core" + BOTH_WAYS, named("k_core"), say.edges, edges=BOTH, part=say.upper,
            matrix=True, writes=f"its edges, each once: {EDGES}",
            options={"--k": {"type": int, "default": 2, "metavar": "K", "help": "minimum degree (default 2)"}}),
    Command(
        "truss", "the edges of the k-truss" + BOTH_WAYS, named("k_truss"), say.edges, edges=BOTH, part=say.upper,
        matrix=True,
        writes=f"its edges, each once, with their number of triangles: {EDGES}",
        options={
            "--k": {"type": int, "default": 3, "metavar": "K", "help": "edges in k - 2 triangles or more (default 3)"},
        },
    ),
)  # fmt: skip
COMMUNITIES = (
    Command(
        "cdlp", "communities by label propagation" + BOTH_WAYS, named("label_propagation"), say.classes("communities"),
        edges=BOTH, vertices=always,
        options={"--max-iter": {"type": int, "default": 10, "help": "number of rounds (default 10)"}},
    ),
    Command("louvain", "communities of high modularity, by the Louvain method" + BOTH_WAYS, named("louvain"),
            say.classes("communities"),
            edges=BOTH, options={**RESOLUTION, **SEED, **WEIGHTS}),
    Command("leiden", "connected communities of high modularity, by the Leiden method" + BOTH_WAYS, named("leiden"),
            say.classes("communities"), edges=BOTH, options={**RESOLUTION, **SEED, **WEIGHTS}),
    Command(
        "markov", "Markov clustering" + BOTH_WAYS, named("markov_clustering"), say.classes("communities"), edges=BOTH,
        vertices=always,
        options={
            "--inflation": {"type": float, "default": 2.0, "help": "larger: smaller communities (default 2)"},
            **WEIGHTS,
        },
    ),
    Command(
        "modularity", "modularity of a partition into communities" + BOTH_WAYS, named("modularity"),
        say.number("modularity"), edges=BOTH, writes="",
        options={
            "--communities": {
                "required": True, "metavar": "FILE", "help": "vertex and community per line, as --out writes them",
            },
            **RESOLUTION, **WEIGHTS,
        },
    ),
)  # fmt: skip
SETS = (
    Command(
        "mis", "a maximal independent set" + BOTH_WAYS, named("maximal_independent_set"), say.entries("members"),
        edges=BOTH, options=SEED, writes=MEMBERS,
    ),
    Command("coloring", "greedy coloring: colors from 0, different for neighbours" + BOTH_WAYS, named("coloring"),
            say.classes("colors"),
            edges=BOTH, options=SEED),
    Command("matching", "a maximal matching" + BOTH_WAYS,
            lambda args: "maximum_matching" if args.maximum else "maximal_matching", say.matched, edges=BOTH,
            vertices=always,
            options={**SEED, "--weighted": flag("heavy edges first"),
                     "--maximum": flag("maximum instead of maximal; needs a bipartite graph")}),
    Command("bipartite", "the two sides of a bipartite graph" + BOTH_WAYS, named("bipartite_sides"), say.sides,
            edges=BOTH, part=say.two),
    Command(
        "projection", "pairs of one side of a bipartite graph that share neighbours" + BOTH_WAYS,
        named("bipartite_projection"), say.edges, edges=BOTH, part=say.upper, matrix=True,
        writes=f"each pair once, with the number of shared neighbours: {EDGES}",
        options={"--vertices": {"metavar": "V,V,...", "help": "one side (default: sources of the edges in FILE)"}},
    ),
)  # fmt: skip
SIMILARITY = (
    Command(
        "similarity", "similarity of vertices by shared neighbours", lambda args: str(args.by),
        say.entries("pairs"), matrix=True, writes=f"the pairs: {EDGES}",
        options={
            "--by": {"choices": SIMILAR, "default": "jaccard", "help": "default: jaccard"},
            "--top": {"type": int, "default": 10, "metavar": "N", "help": "the N most similar per vertex (default 10)"},
        },
    ),
)  # fmt: skip
SAMPLING = (
    Command(
        "walks", "random walks along the edges, biased (node2vec) if --p or --q is given",
        lambda args: "random_walks" if args.p == args.q == 1 else "node2vec_walks", say.walks, matrix=True, lines=True,
        writes="a line for each walk, its vertices; .csv, .edges, .json by suffix, numbers as .npz, .mtx, .parquet",
        options={
            **STARTS, "--length": {"type": count, "default": 10, "metavar": "N", "help": "steps (default 10)"},
            "--p": {"type": float, "default": 1.0, "help": "return parameter; above 1: fewer steps back (default 1)"},
            "--q": {"type": float, "default": 1.0, "help": "in-out parameter; above 1: walks stay near (default 1)"},
            **SEED, **WEIGHTS,
        },
    ),
    Command(
        "sample", "sample neighbours hop by hop", named("sample_neighbors"),
        lambda graph, answer, args: {"edges of each hop": [hop.nvals for hop in answer]}, matrix=True, part=say.hops,
        writes=f"the edges: {EDGES}",
        options={
            **STARTS, **SEED, **WEIGHTS,
            "--counts": {"type": counts, "default": [8], "metavar": "N,N", "help": "sample size by hop (default 8)"},
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
    """The heading of a group of commands: the docstring of the folder."""
    return f"{folder}: {inspect.getdoc(importlib.import_module(f'bitblas.algorithms.{folder}'))}"

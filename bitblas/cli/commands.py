"""The table of algorithm commands, grouped by the folders of `bitblas.algorithms`, their options, and error messages in
terms of options.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import re
import shlex
from typing import Any

from .. import algorithms
from ..algorithms._algorithm import ANSWERS
from ..io import host_coo
from . import algorithms as say
from .algorithms import EDGES, PARAMETER_NAMES, TOP_OPTION, Command, Keywords
from .input import Fault, number

# ---- The table of algorithm commands, grouped by the folders of `bitblas.algorithms`, and the options that they
# share.

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
LAYOUTS = ("spectral", "spring", "forceatlas2")
MEMBERS = "a line for each member, vertex<TAB>True; .csv, .edges, .npz, .mtx by suffix"
TOP = {"--top": {"type": count, "dest": "best", "metavar": "N", "help": "show and write only the N largest"}}
FIRST = {"--top": {"type": count, **TOP_OPTION}}
GROUPS = {
    "--top": {
        "type": count,
        "dest": "groups",
        "metavar": "N",
        "help": "also show the N largest, each with its size and its first vertex",
    }
}
SOURCE = {"--source": {"metavar": "VERTEX", "help": "start vertex (default 0, if vertices have no names)"}}
FROM_ANY = {"--source": {**SOURCE["--source"], "help": f"{SOURCE['--source']['help']}, or several: V,V,..."}}
TARGETS = {"--targets": {"metavar": "V,V,...", "help": "distances of these vertices only; stop when they are found"}}
FARTHEST = {"--limit": {"type": number, "metavar": "D", "help": "omit vertices beyond this distance"}}
LIMIT = {"--depth-limit": {"type": int, "metavar": "N", "help": "maximum number of hops"}}
TO = {"--to": {"metavar": "VERTEX", "help": "also print the distance of this vertex and the path to it"}}
PARENTS = {"--parents": flag("the parent of each vertex in the search tree instead of its distance")}
SEED = {"--seed": {"type": int, "metavar": "N", "help": "random seed (default 0)"}}
WEIGHTS = {"--weighted": flag("use the values of the file as weights")}
LENGTHS = {"--weighted": flag("use the values of the file as lengths")}
PAIRS = {"--normalized": flag("divide by the number of pairs of vertices")}
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


def _distances(args: argparse.Namespace) -> int:
    """All pairs, from some vertices, or some pairs."""
    if args.pairs is not None and (args.sources is not None or args.targets is not None):
        raise Fault("--pairs: expected neither --sources nor --targets with it, got one. Hint: put the pairs in FILE")
    some = (args.sources, args.targets, args.limit)
    return 2 if args.pairs is not None else int(any(option is not None for option in some))


# ---- The table of algorithm commands, grouped by the folders of `bitblas.algorithms`.

LISTED = (
    Command(
        "bfs", "breadth-first search levels along directed edges",
        "bfs_levels bfs_parents", say.found,
        choose=lambda args: args.parents,
        options={**FROM_ANY, **PARENTS, **FIRST, **LIMIT},
    ),
    Command(
        "sssp", "shortest-path distances from a vertex; edges without weights count 1",
        "sssp sssp_tree", say.far,
        options={**FROM_ANY, **TO, **PARENTS, **FIRST, **TARGETS, **FARTHEST},
        choose=lambda args: args.parents or args.to is not None,
        part=lambda args: args.parents,
    ),
    Command(
        "distances", "all-pairs shortest paths, or from some vertices; edges without weights count 1",
        "all_pairs_distances distances_from_each distances_of_pairs", say.pairs, choose=_distances,
        options={
            **FROM, **TARGETS, **FARTHEST,
            "--pairs": {"metavar": "FILE", "help": "distances of these pairs only: two vertices per line"},
        },
        writes=f"pairs of connected vertices with their distance: {EDGES}",
    ),
    Command(
        "levels", "breadth-first search levels from several vertices", "levels_from_each", say.pairs,
        options={"--sources": {**FROM["--sources"], "required": True, "help": "start vertices"}, **LIMIT},
        writes=f"pairs of connected vertices with their number of hops: {EDGES}",
    ),
    Command(
        "paths", "all shortest paths between two vertices, or the N shortest; edges without weights count 1",
        "all_shortest_paths k_shortest_paths", say.ways, choose=lambda args: args.k is not None,
        writes="a line for each path, its vertices; .csv, .edges, .json by suffix, numbers as .npz, .mtx, .parquet",
        options={
            **SOURCE, "--target": {"required": True, "metavar": "VERTEX", "help": "the end vertex"},
            "--k": {"type": count, "metavar": "N", "help": "the N shortest paths, also longer ones"},
        },
    ),
    Command(
        "reach", "descendants of a vertex, or its ancestors",
        "descendants ancestors", say.entries("vertices"), choose=lambda args: args.against,
        options={**FROM_ANY, "--against": flag("ancestors instead of descendants"), **LIMIT}, writes=MEMBERS,
    ),
    Command(
        "negative-cycle", "a cycle of negative total weight", "negative_cycle",
        lambda graph, answer, args: {"cycle": [graph.label(v) for v in answer] or None},
    ),
    Command("eccentricity", "hops to the farthest reachable vertex", "eccentricity",
            say.best("edges"), options=TOP),
    Command(
        "diameter", "the longest shortest path, in hops",
        "diameter diameter_bounds", say.diameter, choose=lambda args: args.searches is not None,
        options={
            "--searches": {"type": int, "metavar": "N", "help": "bounds from N searches instead of the exact value"},
        },
    ),
    Command(
        "ego", "the edges among all vertices near a vertex", "ego_graph", say.entries("edges"),
        options={
            "--center": {"metavar": "VERTEX", "help": "the vertex (default 0, if vertices have no names)"},
            "--radius": {"type": int, "default": 1, "metavar": "N", "help": "maximum number of hops (default 1)"},
        },
    ),
    Command(
        "flow", "maximum flow between two vertices; values are capacities", "maximum_flow",
        lambda graph, answer, args: {"value": answer[0], "edges": answer[1].nvals},
        part=lambda args: 1, options={**SOURCE, **SINK}, writes=f"the flow on each edge: {EDGES}",
    ),
    Command(
        "cheapest-flow", "the cheapest maximum flow between two vertices; values are capacities", "minimum_cost_flow",
        lambda graph, answer, args: {"value": answer[0], "cost": answer[1], "edges": answer[2].nvals},
        part=lambda args: 2, writes=f"the flow on each edge: {EDGES}",
        options={
            **SOURCE, **SINK,
            "--costs": {"required": True, "metavar": "FILE", "help": "two vertices and a cost per line"},
        },
    ),
    Command(
        "cut", "minimum cut between two vertices; values are capacities", "minimum_cut",
        lambda graph, answer, args: {"value": answer[0], "on the source's side": int(host_coo(answer[1])[1].sum())},
        part=lambda args: 1, options={**SOURCE, **SINK},
    ),
    Command(
        "pagerank", "PageRank; weights are ignored unless --weighted", "pagerank", say.best("ranks"),
        options={
            "--alpha": {"type": float, "default": 0.85, "help": "damping factor (default 0.85)"},
            **ROUNDS, **WEIGHTS, **TOP,
        },
    ),
    Command(
        "betweenness", "betweenness centrality along directed edges",
        "betweenness_centrality", say.best("scores", sources=True),
        options={
            **SOURCES, **DRAWN, **SEED, **LENGTHS, **PAIRS,
            "--endpoints": flag("paths pass through their ends too"), **TOP,
        },
    ),
    Command(
        "edge-betweenness", "betweenness centrality of edges", "edge_betweenness_centrality",
        say.entries("edges"), writes=f"every edge with its score: {EDGES}",
        options={**SOURCES, **DRAWN, **SEED, **LENGTHS, **PAIRS},
    ),
    Command("closeness", "closeness centrality: the inverse of the mean distance", "closeness_centrality",
            say.best("scores"), options={**LENGTHS, **TOP}),
    Command("harmonic", "harmonic centrality: the sum of inverse distances", "harmonic_centrality",
            say.best("scores"), options={**LENGTHS, **TOP}),
    Command(
        "katz", "Katz centrality: attenuated number of walks that end at a vertex", "katz_centrality",
        say.best("scores"),
        options={
            "--alpha": {"type": float, "default": 0.1, "help": "attenuation per edge of a walk (default 0.1)"},
            **ROUNDS, **WEIGHTS, **TOP,
        },
    ),
    Command(
        "eigenvector", "eigenvector centrality", "eigenvector_centrality", say.best("scores"),
        options={**ROUNDS, **WEIGHTS, **TOP},
    ),
    Command(
        "hits", "HITS: hub scores, or authority scores", "hits", say.best("scores"), part=lambda args: args.authorities,
        options={"--authorities": flag("authorities instead of hubs"), **ROUNDS, **WEIGHTS, **TOP},
    ),
    Command(
        "components", "connected components", "connected_components weakly_connected_components",
        say.classes("components"), aliases=("weak",), options=GROUPS,
    ),
    Command(
        "strong", "strongly connected components", "strongly_connected_components", say.classes("components"),
        aliases=("scc",), options=GROUPS,
    ),
    Command(
        "condensation", "the graph of the strongly connected components", "condensation",
        lambda graph, answer, args: {"components": answer[0].nrows, "edges": answer[0].nvals},
        part=lambda args: 1,
        writes="the component of each vertex; format by suffix, as for other commands",
    ),
    Command("topological", "topological levels: every edge leads to a higher level", "topological_levels",
            say.levels, options=FIRST),
    Command("longest-path", "a longest path of a graph without cycles; edges without weights count 1",
            "dag_longest_path", say.longest),
    Command(
        "msf", "minimum spanning forest",
        "minimum_spanning_forest", say.forest, aliases=("forest",),
        writes=f"its edges, each once: {EDGES}",
    ),
    Command("bridges", "edges whose removal disconnects a component", "bridges", say.edges,
            writes=f"each bridge once: {EDGES}"),
    Command("articulation", "vertices whose removal disconnects a component", "articulation_points",
            say.entries("vertices"), writes=MEMBERS),
    Command("biconnected", "biconnected components", "biconnected_components", say.blocks,
            writes=f"each edge once, with the number of its component: {EDGES}"),
    Command("triangles", "number of triangles", "triangle_count", say.number("triangles")),
    Command("vertex-triangles", "triangles at each vertex", "triangles_per_vertex",
            say.best("triangles"), options=TOP),
    Command("edge-triangles", "triangles at each edge", "triangles_per_edge", say.edges,
            writes=f"each edge once, with its number of triangles: {EDGES}"),
    Command("transitivity", "the share of connected triples that are closed",
            "transitivity", say.number("transitivity")),
    Command("clustering", "local clustering coefficients",
            "local_clustering average_clustering", say.mean, options=FIRST),
    Command("squares", "square clustering coefficients", "square_clustering", say.mean, options=FIRST),
    Command("cores", "core numbers", "core_numbers", say.best("cores"), options=TOP),
    Command("k-core", "the edges of the k-core", "k_core", say.edges,
            writes=f"its edges, each once: {EDGES}",
            options={"--k": {"type": int, "default": 2, "metavar": "K", "help": "minimum degree (default 2)"}}),
    Command(
        "truss", "the edges of the k-truss", "k_truss", say.edges,
        writes=f"its edges, each once, with their number of triangles: {EDGES}",
        options={
            "--k": {"type": int, "default": 3, "metavar": "K", "help": "edges in k - 2 triangles or more (default 3)"},
        },
    ),
    Command("truss-numbers", "the truss number of each edge", "truss_numbers", say.edges,
            writes=f"each edge once, with the largest k of a k-truss that has it: {EDGES}"),
    Command(
        "cdlp", "communities by label propagation", "label_propagation", say.classes("communities"),
        options={"--max-iter": {"type": int, "default": 10, "help": "number of rounds (default 10)"}},
    ),
    Command("louvain", "communities of high modularity, by the Louvain method", "louvain",
            say.classes("communities"), options={**RESOLUTION, **SEED, **WEIGHTS}),
    Command("leiden", "connected communities of high modularity, by the Leiden method", "leiden",
            say.classes("communities"), options={**RESOLUTION, **SEED, **WEIGHTS}),
    Command(
        "markov", "Markov clustering", "markov_clustering", say.classes("communities"),
        options={
            "--inflation": {"type": float, "default": 2.0, "help": "larger: smaller communities (default 2)"},
            **WEIGHTS,
        },
    ),
    Command(
        "local-community", "the community around a vertex, and the share of its edges that leave it", "local_community",
        lambda graph, answer, args: {"community": [graph.label(v) for v in answer[0]], "conductance": answer[1]},
        part=lambda args: 1,
        options={
            **SOURCE, **WEIGHTS,
            "--alpha": {"type": float, "default": 0.15, "help": "smaller: reaches farther (default 0.15)"},
            "--eps": {"type": float, "default": 1e-4, "help": "smaller: exacter, and reaches farther (default 1e-4)"},
        },
    ),
    Command(
        "modularity", "modularity of a partition into communities", "modularity",
        say.number("modularity"),
        options={
            "--communities": {
                "required": True, "metavar": "FILE", "help": "vertex and community per line, as --out writes them",
            },
            **RESOLUTION, **WEIGHTS,
        },
    ),
    Command(
        "mis", "a maximal independent set", "maximal_independent_set", say.entries("members"),
        options=SEED, writes=MEMBERS,
    ),
    Command("dominating", "a small dominating set: each vertex is a member, or has an edge from one", "dominating_set",
            say.entries("members"), options=SEED, writes=MEMBERS),
    Command("coloring", "greedy coloring: colors from 0, different for neighbours",
            "coloring color_classes", say.classes("colors"), options=SEED),
    Command("matching", "a maximal matching",
            "maximal_matching maximum_matching", say.matched, choose=lambda args: args.maximum,
            options={**SEED, "--weighted": flag("heavy edges first"),
                     "--maximum": flag("maximum instead of maximal; needs a bipartite graph")}),
    Command("bipartite", "the two sides of a bipartite graph", "bipartite_sides", say.sides),
    Command(
        "projection", "pairs of one side of a bipartite graph that share neighbours",
        "bipartite_projection", say.edges,
        writes=f"each pair once, with the number of shared neighbours: {EDGES}",
        options={"--vertices": {"metavar": "V,V,...", "help": "one side (default: sources of the edges in FILE)"}},
    ),
    Command(
        "similarity", "similarity of vertices by shared neighbours", " ".join(SIMILAR),
        say.entries("pairs"), choose=lambda args: SIMILAR.index(args.by), writes=f"the pairs: {EDGES}",
        options={
            "--by": {"choices": SIMILAR, "default": "jaccard", "help": "default: jaccard"},
            "--top": {"type": int, "default": 10, "metavar": "N", "help": "the N most similar per vertex (default 10)"},
        },
    ),
    Command(
        "walks", "random walks along the edges, biased (node2vec) if --p or --q is given",
        "random_walks node2vec_walks", say.walks, choose=lambda args: not args.p == args.q == 1,
        writes="a line for each walk, its vertices; .csv, .edges, .json by suffix, numbers as .npz, .mtx, .parquet",
        options={
            **STARTS, "--length": {"type": count, "default": 10, "metavar": "N", "help": "steps (default 10)"},
            "--p": {"type": float, "default": 1.0, "help": "return parameter; above 1: fewer steps back (default 1)"},
            "--q": {"type": float, "default": 1.0, "help": "in-out parameter; above 1: walks stay near (default 1)"},
            **SEED, **WEIGHTS,
        },
    ),
    Command(
        "sample", "sample neighbours hop by hop", "sample_neighbors", say.hops,
        writes=f"the edges: {EDGES}",
        options={
            **STARTS, **SEED, **WEIGHTS,
            "--counts": {"type": counts, "default": [8], "metavar": "N,N", "help": "sample size by hop (default 8)"},
        },
    ),
    Command(
        "layout", "vertex coordinates for drawing", " ".join(f"{name}_layout" for name in LAYOUTS),
        lambda graph, answer, args: {"vertices": answer.nrows}, choose=lambda args: LAYOUTS.index(args.by),
        writes="a line for each vertex, vertex<TAB>x<TAB>y; .csv, .edges, .json, .parquet, .npz, .mtx by suffix",
        options={
            "--by": {"choices": LAYOUTS, "default": "spectral", "help": "default: spectral"}, **WEIGHTS,
        },
    ),
)  # fmt: skip


# ---- Commands of all other algorithms, from their signatures.

SHARED: tuple[dict[str, dict[str, Any]], ...] = (SOURCE, SINK, FROM, STARTS, LIMIT, SEED, WEIGHTS, ROUNDS, RESOLUTION)
OPTIONS: dict[str, dict[str, Any]] = {  # by the names of parameters
    **{option[2:].replace("-", "_"): how for shared in SHARED for option, how in shared.items()},
    "k": {"type": count, "metavar": "N"},
    "labels": {"metavar": "FILE", "type": str},
    "center": {"metavar": "VERTEX", "type": str},
    "vertices": {"metavar": "V,V,...", "type": str},
}
OPTION_NAMES = {parameter: option for option, parameter in PARAMETER_NAMES.items()}
SUMMARIES: dict[str, say.Say] = {  # by the kind of the answer
    **dict.fromkeys(ANSWERS, say.entries("entries")),
    "vertices": lambda graph, answer, args: {"vertices": [graph.label(v) for v in answer]},
    "value per vertex": say.best("values"),
    **dict.fromkeys(("distance per vertex", "parent per vertex", "vertex per vertex"), say.entries("vertices")),
    **dict.fromkeys(("class per vertex", "representative per vertex"), say.classes("classes")),
    "undirected graph": say.edges,
    "edges per hop": say.hops,
    "walks": say.walks,
}


def generate_command(name: str) -> Command:
    """The command of an algorithm that no other command runs. Each parameter that takes a number, a text, a flag or
    vertices is an option. Of several parts of the answer, the first is summarized, and the last is written."""
    program = getattr(algorithms, name)
    kind, *others = program.facts.answer
    options: dict[str, dict[str, Any]] = {}
    for p in list(inspect.signature(program).parameters.values())[1:]:
        if p.name in ("gb", "directed"):  # commands ignore directions then
            continue
        option = OPTIONS.get(p.name)
        if p.default is False:
            option = option or flag("see the documentation of the algorithm")
        elif p.default is p.empty:
            option = option if p.name in ("source", "starts") else {**(option or {"type": number}), "required": True}
        elif isinstance(p.default, int | float | str):
            option = {"type": type(p.default), "default": p.default, "help": f"default: {p.default}"}
        if option:
            options[f"--{OPTION_NAMES.get(p.name, p.name).replace('_', '-')}"] = option
    if kind == "value per vertex":
        options |= TOP
    summary = say.number(name) if kind in ("count", "number") else SUMMARIES[kind]
    of_first: say.Say = lambda graph, answer, args: summary(graph, answer[0] if others else answer, args)
    text = (inspect.getdoc(program) or "").partition("\n")[0].rstrip(".")
    text = text[:1].lower() + text[1:]
    return Command(name.replace("_", "-"), text, name, of_first, options=options, part=lambda args: len(others))


def commands_by_folder() -> dict[str, list[Command]]:
    """The commands by the folders of their algorithms."""
    groups: dict[str, list[Command]] = {}
    run = {name for command in LISTED for name in command.programs.split()}
    rest = [name for name in algorithms.__all__ if name not in run and not is_generator(name)]
    for command in (*LISTED, *map(generate_command, rest)):
        module = getattr(algorithms, command.programs.split()[0]).__module__
        groups.setdefault(module.split(".")[-2], []).append(command)
    return groups


def is_generator(name: str) -> bool:
    """Whether an algorithm generates a graph: `bitblas make` runs it."""
    return bool(getattr(algorithms, name).facts.answer == ("generated graph",))


COMMANDS = commands_by_folder()
FLAGS = {"--out", *(flag for group in COMMANDS.values() for command in group for flag in command.options)}


def title(folder: str) -> str:
    """The heading of a group of commands: the docstring of the folder."""
    return f"{folder}: {inspect.getdoc(importlib.import_module(f'bitblas.algorithms.{folder}'))}"


# ---- Translate library messages for the command line: Python arguments become options.
#
# The library names its arguments (`labels=True`); every message that the command line prints passes through
# `as_options`.

# Arguments whose values have options of their own.
WHOLE = {
    ("directed", "False"): "--undirected", ("directed", "True"): "--directed", ("labels", "True"): "--labels",
    ("header", "False"): "--no-header", ("header", "True"): "--header",
    ("weight", "None"): "--no-weights", ("weights", "False"): "--no-weights",
}  # fmt: skip
# Arguments whose value follows the option.
VALUED = {name: f"--{name.replace('_', '-')}" for name in "base columns decimal delimiter dtype dup_op".split()}
VALUED |= {"file_format": "--input-format", "max_iter": "--max-iter", "size": "--size", "tol": "--tol"}
# Arguments that begin a message.
NAMED = VALUED | {name: f"--{name}" for name in ("field", "layout", "precision", "symmetry")}
MARKS = {"\t": "tab", " ": "space"}
# Hints that apply only to Python, and their replacements.
CLI_HINTS = {
    "if the encoding differs, pass open(path, encoding='cp1252')": "iconv -f cp1252 -t utf-8 converts it to UTF-8",
}
_VALUE = r"""\[[^\]]*\]|'[^']*'|"[^"]*"|True|False|None|\d+(?:\.\d+)?"""
_ARGUMENT = re.compile(rf"(?<![\w./\\-])({'|'.join({name for name, _ in WHOLE} | set(VALUED))})=({_VALUE})?(?![\w/\\])")
_FIRST = re.compile(rf"(?:(?<=^)|(?<=: ))({'|'.join(NAMED)})(?=: expected)")
_OF_ALGORITHM = re.compile(r"\bargument (\w+)(?=: expected)")
_DUP_OP = re.compile(r"(?<![\w./\\-])dup_op(?![\w/\\=])")


def as_options(text: str) -> str:
    """Replace Python arguments in a message by command-line options."""
    text = _OF_ALGORITHM.sub(_named, text)
    for words, instead in CLI_HINTS.items():
        text = text.replace(words, instead)
    text = _FIRST.sub(lambda found: NAMED[found[1]], text)
    return _DUP_OP.sub("--dup-op", _ARGUMENT.sub(_option, text))


def _named(found: re.Match[str]) -> str:
    """The beginning of a message about an argument of an algorithm."""
    flag = f"--{found[1].replace('_', '-')}"
    return "the graph" if found[1] == "A" else flag if flag in FLAGS else found[0]


def _option(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    if (name, value) in WHOLE:
        return WHOLE[name, value]
    if name not in VALUED:
        return found[0]
    return VALUED[name] if value is None else f"{VALUED[name]} {_value(value)}"


def _value(text: str) -> str:
    """A Python literal quoted for the shell."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    if isinstance(value, list):
        return shlex.quote(",".join(map(str, value)))
    return MARKS.get(value, shlex.quote(str(value)))

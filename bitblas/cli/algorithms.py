"""Run algorithms as commands: read the graph, call the algorithm, write and summarize the result.

`bitblas several graph.mtx "bfs --source 3" pagerank` runs several on one file, which is read once.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from semirings import dtypes

from .. import algorithms
from ..algorithms._algorithm import ANSWERS, VERTEX_VALUED
from ..core import Matrix, Vector
from ..core.convert import exact_sum
from ..device import Trace
from ..graph import Values
from ..graph.edges import both_ways
from ..io import Graph, host_coo
from . import output
from .input import Fault, communities, facts, load, sources, undirected, vertex
from .input import costs as costs_of_file
from .input import pairs as pairs_of_file
from .output import Ticker, Timer, largest

# ---- Run one algorithm as a command: read the graph, call the algorithm, write and summarize the result.

Summary: TypeAlias = dict[str, Any]  # what is printed of a result
Result: TypeAlias = Any  # of an algorithm: a Vector, a Matrix, several of them, a number, or None
Keywords: TypeAlias = dict[str, Any]  # of `ArgumentParser.add_argument`
TOP_OPTION = {"dest": "best", "metavar": "N", "help": "also show the N largest, and write only these"}
EDGES = "an edge list, .json, .parquet, .mtx or .npz by suffix"
PARAMETER_NAMES = {"communities": "labels"}  # options whose parameter has another name
WRITES = {  # by the type of the answer; numbers and lists are not written
    "Vector": "a line for each vertex, vertex<TAB>value; .csv, .edges, .json, .parquet, .npz, .mtx by suffix",
    "Matrix": f"its edges: {EDGES}",
}
SHOWN = 20  # vertices: print the result of each up to this many


def first(args: argparse.Namespace) -> int:
    return 0


@dataclass(frozen=True)
class Command:
    """An algorithm of `bitblas.algorithms` as a command.

    programs: the names of the functions that it runs; choose: the index of that of these options. An option with the
    name of one of its parameters is passed to it. summary: what is printed of the result. part: the index of the part
    of the result that is written. writes: what is written, by default from the kind of the answer.
    """

    name: str
    text: str
    programs: str
    summary: Callable[[Graph, Result, argparse.Namespace], Summary]
    writes: str = ""
    options: dict[str, Keywords] = field(default_factory=dict)
    choose: Callable[[argparse.Namespace], int] = first
    part: Callable[[argparse.Namespace], int] = first
    aliases: tuple[str, ...] = ()  # alternative names

    def __post_init__(self) -> None:
        kind = getattr(algorithms, self.programs.split()[0]).facts.answer[-1]
        object.__setattr__(self, "writes", self.writes or WRITES.get(ANSWERS[kind], ""))

    @property
    def help(self) -> str:
        """What it computes, and whether it ignores the directions of edges."""
        name = self.programs.split()[0]
        if not _ignores_directions(name):
            return self.text
        smaller = ", the smaller weight counts" if getattr(algorithms, name).facts.weighted else ""
        return f"{self.text}; edge directions are ignored{smaller}"

    def program(self, args: argparse.Namespace) -> str:
        """The name of the algorithm for these options."""
        return self.programs.split()[self.choose(args)]

    def kind(self, args: argparse.Namespace) -> str:
        """The kind of the answer that is written."""
        kinds: tuple[str, ...] = getattr(algorithms, self.program(args)).facts.answer
        return kinds[self.part(args) if len(kinds) > 1 else 0]

    def vertices(self, args: argparse.Namespace) -> bool:
        """Whether the values that are written are vertices."""
        return self.kind(args) in VERTEX_VALUED

    def matrix(self, args: argparse.Namespace) -> bool:
        """Whether a Matrix is written."""
        return "Matrix" in ANSWERS[self.kind(args)]

    def each(self, args: argparse.Namespace) -> bool:
        """Whether the result has a value per vertex that the summary does not list."""
        top = self.options.get("--top", TOP_OPTION)
        return ANSWERS[self.kind(args)] == "Vector" and TOP_OPTION.items() <= top.items()

    def read(self, graph: Graph, args: argparse.Namespace) -> Matrix:
        """The input Matrix: that of the graph, or its edges in both directions as in `Graph.to_undirected`."""
        weighted, name = getattr(args, "weighted", False), self.program(args)
        if weighted and graph.matrix.dtype == dtypes.BOOL:
            raise Fault(f"--weighted: expected weights in the file, got {args.file} without. Hint: omit --weighted")
        if not _ignores_directions(name):
            return graph.matrix
        if not weighted and not getattr(algorithms, name).facts.weighted:
            return undirected(graph.matrix, args)
        return both_ways(graph.matrix) if graph.directed else graph.matrix

    def call(self, graph: Graph, A: Matrix, args: argparse.Namespace) -> tuple[Result, Summary]:
        """Run on the input Matrix: the result to write, and its summary."""
        program = getattr(algorithms, self.program(args))
        known = inspect.signature(program).parameters
        names = [flag.lstrip("-").replace("-", "_") for flag in self.options]
        options = {PARAMETER_NAMES.get(name, name): name for name in names}
        keywords = {of: _value(graph, name, getattr(args, name)) for of, name in options.items() if of in known}
        answer = program(A, **keywords)
        summary, part = self.summary(graph, answer, args), answer
        if len(program.facts.answer) > 1:
            part = answer[self.part(args)]
        part = _output_of(self.kind(args), part, keywords, args)
        if self.each(args) and getattr(args, "best", None) is not None:
            first = output.as_table(part, graph, self.vertices(args), args.best)
            summary |= {"first": first["vertex"], "values": first["value"]}
        return part, summary


def _ignores_directions(name: str) -> bool:
    """Whether commands ignore the directions of edges for this algorithm: by its facts, or by default."""
    program = getattr(algorithms, name)
    return program.facts.undirected or "directed" in inspect.signature(program).parameters


def upper(A: Any) -> Any:
    """Each undirected edge once: the upper triangle."""
    import bitblas as gb

    return A.select(gb.select.triu, 1).new()


def _output_of(kind: str, part: Any, given: dict[str, Any], args: argparse.Namespace) -> Any:
    """A part of an answer as it is written."""
    import bitblas as gb

    if part is None:  # the sides of a graph that is not bipartite
        if args.out:
            raise Fault("expected a bipartite graph, got one with an odd cycle")
        return gb.Vector(gb.dtypes.INT64, 0)
    if kind == "distances per source":
        rows, cols, values = host_coo(part)  # row k becomes that of sources[k], in a Matrix of all vertices
        rows, n = rows if given["sources"] is None else np.array(given["sources"])[rows], part.ncols
        return type(part).from_coo(rows, cols, values, part.dtype, nrows=n, ncols=n, dup_op="first")
    if kind == "undirected graph":
        return upper(part)
    if kind == "edges per hop":
        return functools.reduce(lambda found, hop: found.ewise_add(hop, gb.binary.first).new(), part)
    return part


def _value(graph: Graph, name: str, given: Any) -> Any:
    """The argument for an option; names of vertices become numbers."""
    if name == "source":
        return sources(graph, given, "--source")
    if name in ("sink", "center", "to", "target"):
        return vertex(graph, given, f"--{name}")
    if name == "costs":
        return costs_of_file(graph, given)
    if name == "pairs":
        return pairs_of_file(graph, given)
    if name in ("sources", "starts", "vertices", "targets") and given is not None:
        return [vertex(graph, label, f"--{name}") for label in given.split(",")]
    if name == "starts":
        return range(graph.matrix.nrows)
    if name == "vertices":
        return np.unique(host_coo(graph.matrix)[0])
    return communities(graph, given) if name == "communities" else given


def check(args: argparse.Namespace) -> None:
    """Before the work, refuse options whose result could not be written."""
    if getattr(args, "best", None) is not None and args.algorithm.vertices(args):
        raise Fault("--top: expected values that can be compared, got vertices. Hint: omit --parents")
    if args.algorithm.writes:
        output.check(args)
        if args.out:
            output.kind_of(args.out, matrix=args.algorithm.matrix(args))


def run(args: argparse.Namespace) -> None:
    """Read the graph, run the algorithm, write and summarize the result."""
    check(args)
    with Timer() as read:
        graph = load(args)
    answer(args, graph, read)


def answer(args: argparse.Namespace, graph: Graph, read: Timer) -> None:
    """Run the algorithm, write and summarize the result. read: the time of reading."""
    trace = Trace()
    watch, traced = algorithms.Watch(), trace if args.trace else nullcontext()
    with Timer() as ran, traced, watch, Ticker(args.command, watch):
        operand = args.algorithm.read(graph, args)
        answer, summary = args.algorithm.call(graph, operand, args)
    if args.trace:
        print(trace, file=sys.stderr)
    if args.algorithm.writes and args.out:
        best, header = getattr(args, "best", None), args.output_header
        kind = args.algorithm.kind(args)
        if kind == "positions":
            output.write_points(args.out, answer, graph, ("x", "y"), header)
        elif kind != "walks" or not output.write_lines(args.out, answer, graph):
            output.write(args.out, answer, graph, args.algorithm.vertices(args), best, header)
    A = graph.matrix
    record = {"file": args.file, **facts(A), "result": summary, "rounds": watch.rounds, "converged": watch.converged}
    record |= {"both_ways": operand is not A, "read_seconds": read.seconds, "read_compile_seconds": read.compiling}
    record |= {"seconds": ran.seconds, "compile_seconds": ran.compiling}
    terminal = output.is_terminal(sys.stderr if args.algorithm.writes and args.out == output.STDOUT else None)
    found = output.table(summary) if terminal else words(summary)
    if args.algorithm.each(args) and not args.out and not args.json and getattr(args, "best", None) is None:
        found += _each(args, graph, answer, terminal)
    if not watch.converged:
        found += f"\nnot converged after {watch.rounds} rounds: raise --max-iter or --tol"
    both = "" if operand is A else ", edge directions ignored"
    times = f"{A.nrows} vertices, {A.nvals} entries{both}, on {A.device.name}: read in {read}, ran in {ran}"
    output.print_summary(args, record, f"{found}\n{output.paint(times, output.DIM) if terminal else times}")


def _each(args: argparse.Namespace, graph: Graph, answer: Vector, terminal: bool) -> str:
    """The value of each vertex if they are few; otherwise, on a terminal, how to get them."""
    if answer.nvals > SHOWN:
        more = f"for the result of each vertex: --out FILE, or --out {output.STDOUT}"
        return f"\n{output.paint(more, output.DIM)}" if terminal else ""
    index, values = map(list, output.as_table(answer, graph, args.algorithm.vertices(args)).values())
    if terminal:
        return f"\n{output.table({'vertex': index, 'value': values})}"
    return "".join(f"\n{i}\t{output.plain(x)}" for i, x in zip(index, values))


def words(summary: Summary) -> str:
    """A summary in one line."""
    return ", ".join(f"{key} {output.word(value)}" for key, value in summary.items())


# ---- `bitblas several graph.mtx "bfs --source 3" pagerank`: run several algorithms on one file, read once.

EXAMPLE = 'For example: bitblas several graph.mtx "bfs --source 3 --out levels.tsv" "pagerank --top 5" triangles'
# Options given once for all commands; the quoted commands have only their own options.
FILE_OPTIONS = (
    "input_format dup_op undirected base header labels no_weights size device format tile json delimiter columns "
    "decimal dtype"
).split()


def several(args: argparse.Namespace) -> None:
    """Parse all commands before the file is read, then run them; with --json print one line each."""
    parsed = []
    for text in args.commands:
        words = shlex.split(text)
        one = args.whole.parse_args([*words[:1], args.file, *words[1:]])
        if not hasattr(one, "algorithm"):
            raise Fault(f"several: expected the names of algorithms, got {words[0]!r}")
        for name in FILE_OPTIONS:
            if getattr(one, name) != one.parser.get_default(name):
                flag = "directed" if (name, getattr(one, name)) == ("undirected", False) else name.replace("_", "-")
                raise Fault(f"several: expected options of the file outside the quotes of {text!r}, got --{flag}")
            setattr(one, name, getattr(args, name))
        check(one)
        parsed.append(one)
    with Timer() as read:
        graph = load(args)
    for one, text in zip(parsed, args.commands):
        if not args.json:
            print(f"\n{text}", flush=True)
        answer(one, graph, read)


# ---- One-line summaries of results: a few numbers for each command.

Say = Callable[[Graph, Result, argparse.Namespace], Summary]


def found(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
    summary = {"source": _labels(graph, args.source), "reached": v.nvals}
    return summary if args.parents else {**summary, "depth": int(host_coo(v)[1].max())}


def _labels(graph: Graph, text: str | None) -> Any:
    """The label of --source, or a list of several."""
    found = sources(graph, text, "--source")
    return [graph.label(v) for v in found] if isinstance(found, list) else graph.label(found)


def far(graph: Graph, answer: Vector | tuple[Vector, Vector], args: argparse.Namespace) -> Summary:
    d, parents = answer if isinstance(answer, tuple) else (answer, None)
    farthest = host_coo(d)[1].max().item() if d.nvals else None
    summary = {"source": _labels(graph, args.source), "reached": d.nvals, "farthest": farthest}
    if args.to is None:
        return summary
    target = graph.label(vertex(graph, args.to, "--to"))
    distances = Values(graph, d)
    if parents is None or target not in distances:
        return {**summary, "to": target, "distance": None, "way": None}
    way = Values(graph, parents, vertices=True).way(target)
    return {**summary, "to": target, "distance": distances[target], "way": way}


def best(word: str, *, sources: bool = False) -> Say:
    """The vertices with the largest values: five, or --top."""

    def say(graph: Graph, v: Vector | tuple[Vector, Vector], args: argparse.Namespace) -> Summary:
        v = v[1 if args.authorities else 0] if isinstance(v, tuple) else v
        index, values = host_coo(v)
        first = largest(v, 5 if args.best is None else args.best)
        top = {"first": [graph.label(int(i)) for i in index[first]], word: [x.item() for x in values[first]]}
        if not sources:
            return top
        drawn = graph.matrix.nrows if args.k is None else args.k
        return {"sources": drawn if args.sources is None else args.sources.count(",") + 1, **top}

    return say


def classes(word: str) -> Say:
    """The number of classes and the size of the largest."""

    def say(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
        index, values = host_coo(v)
        _, first, sizes = np.unique(values, return_index=True, return_counts=True)
        found = {word: len(sizes), "largest": int(sizes.max(initial=0))}
        if (count := getattr(args, "groups", None)) is None:
            return found
        order = np.argsort(-sizes, kind="stable")[:count]
        names = [graph.label(int(index[k])) for k in first[order]]
        return {**found, "first": names, "vertices": sizes[order].tolist()}

    return say


def blocks(graph: Graph, answer: Matrix, args: argparse.Namespace) -> Summary:
    sizes = np.unique(host_coo(answer)[2], return_counts=True)[1]
    return {"components": len(sizes), "edges of the largest": int(sizes.max(initial=0)) // 2}


def entries(word: str) -> Say:
    return lambda graph, answer, args: {word: answer.nvals}


def edges(graph: Graph, answer: Matrix, args: argparse.Namespace) -> Summary:
    return {"edges": answer.nvals // 2}


def pairs(graph: Graph, answer: Matrix, args: argparse.Namespace) -> Summary:
    return {"pairs": answer.nvals, "farthest": host_coo(answer)[2].max(initial=0).item()}


def walks(graph: Graph, answer: Matrix, args: argparse.Namespace) -> Summary:
    return {"walks": answer.nrows, "steps": answer.nvals - answer.nrows}


def ways(graph: Graph, answer: Matrix | tuple[Matrix, Vector], args: argparse.Namespace) -> Summary:
    walks, lengths = answer if isinstance(answer, tuple) else (answer, None)
    rows, _, vertices = host_coo(walks)
    summary = {"paths": walks.nrows, "first": [graph.label(v) for v in vertices[rows == 0].tolist()]}
    return summary if lengths is None else {**summary, "lengths": host_coo(lengths)[1].tolist()}


def sides(graph: Graph, answer: Vector | None, args: argparse.Namespace) -> Summary:
    sizes = None if answer is None else np.bincount(host_coo(answer)[1], minlength=2).tolist()
    return {"bipartite": "no" if sizes is None else "yes", "sides": sizes}


def hops(graph: Graph, answer: Sequence[Matrix], args: argparse.Namespace) -> Summary:
    return {"edges of each hop": [hop.nvals for hop in answer]}


def number(word: str) -> Say:
    return lambda graph, answer, args: {word: answer}


def mean(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
    values = host_coo(v)[1]
    if values.dtype.kind in "iu" and len(values):
        return {"mean": exact_sum(values) / len(values)}
    return {"mean": float(values.mean()) if len(values) else 0.0}


def levels(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
    found = host_coo(v)[1]
    return {"levels": int(found.max(initial=-1)) + 1, "on or behind cycles": v.size - v.nvals}


def longest(graph: Graph, answer: tuple[list[int], float], args: argparse.Namespace) -> Summary:
    return {"length": answer[1], "path": [graph.label(v) for v in answer[0]]}


def forest(graph: Graph, F: Matrix, args: argparse.Namespace) -> Summary:
    tree = upper(F)
    return {"trees": F.nrows - tree.nvals, "edges": tree.nvals, "weight": exact_sum(host_coo(tree)[2])}


def matched(graph: Graph, v: Vector, args: argparse.Namespace) -> Summary:
    return {"edges": v.nvals // 2, "vertices": v.nvals}


def diameter(graph: Graph, answer: int | tuple[int, int], args: argparse.Namespace) -> Summary:
    low, high = answer if isinstance(answer, tuple) else (answer, answer)
    return {"at least": low, "at most": high}

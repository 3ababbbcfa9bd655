"""Run algorithms as commands: read the graph, call the algorithm, write and summarize the result.

`bitblas several graph.mtx "bfs --source 3" pagerank` runs several on one file, which is read once.
"""

from __future__ import annotations

import argparse
import inspect
import shlex
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from semirings import dtypes

from .. import algorithms
from ..core import Matrix, Vector
from ..device import Trace
from ..graph.edges import both_ways
from ..io import Graph, host_coo
from . import output
from .input import Fault, communities, facts, load, undirected, vertex
from .progress import Ticker, Timer

# ---- Run one algorithm as a command: read the graph, call the algorithm, write and summarize the result.

Summary: TypeAlias = dict[str, Any]  # what is printed of a result
Result: TypeAlias = Any  # of an algorithm: a Vector, a Matrix, several of them, a number, or None
Keywords: TypeAlias = dict[str, Any]  # of `ArgumentParser.add_argument`
DIRECTED, BOTH, WEIGHTED = "directed", "both", "weighted"
TOP_OPTION = {"dest": "best", "metavar": "N", "help": "also show the N largest, and write only these"}
PARAMETER_NAMES = {"communities": "labels"}  # options whose parameter has another name
SHOWN = 20  # vertices: print the result of each up to this many


def at_first(answer: Result, args: argparse.Namespace) -> Result:
    return answer


@dataclass(frozen=True)
class Command:
    """An algorithm of `bitblas.algorithms` as a command.

    program: the name of the function, which may depend on the options; an option with the name of one of its parameters
    is passed to it. summary: what is printed of the result. edges: how the graph is read: as it is (DIRECTED), or in
    both directions, without values (BOTH; with values if --weighted is given) or with values (WEIGHTED). part: the part
    of the result that is written. vertices: its values are vertices. matrix: it is a Matrix. rows: it has one row per
    vertex of --sources, if given. lines: its rows are walks, whose values are vertices. axes: the names of its columns,
    if it has a row of numbers for each vertex.
    """

    name: str
    help: str
    program: Callable[[argparse.Namespace], str]
    summary: Callable[[Graph, Result, argparse.Namespace], Summary]
    edges: str = DIRECTED
    writes: str = "a line for each vertex, vertex<TAB>value; .csv, .edges, .json, .parquet, .npz, .mtx by suffix"
    options: dict[str, Keywords] = field(default_factory=dict)
    part: Callable[[Result, argparse.Namespace], Result] = at_first
    vertices: Callable[[argparse.Namespace], bool] = lambda args: False
    matrix: bool = False
    rows: bool = False
    lines: bool = False
    axes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()  # alternative names

    @property
    def each(self) -> bool:
        """Whether the result has a value per vertex that the summary does not list."""
        top = self.options.get("--top", TOP_OPTION)
        return bool(self.writes) and not self.matrix and TOP_OPTION.items() <= top.items()

    def read(self, graph: Graph, args: argparse.Namespace) -> Matrix:
        """The input Matrix: that of the graph, or its edges in both directions as in `Graph.to_undirected`."""
        if getattr(args, "weighted", False) and graph.matrix.dtype == dtypes.BOOL:
            raise Fault(f"--weighted: expected weights in the file, got {args.file} without. Hint: omit --weighted")
        if self.edges == DIRECTED:
            return graph.matrix
        if self.edges == BOTH and not getattr(args, "weighted", False):
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
        part, summary = self.part(answer, args), self.summary(graph, answer, args)
        if self.rows and keywords.get("sources") is not None:
            part = _at_rows(part, keywords["sources"])
        if self.each and getattr(args, "best", None) is not None:
            first = output.as_table(part, graph, self.vertices(args), args.best)
            summary |= {"first": first["vertex"], "values": first["value"]}
        return part, summary


def _value(graph: Graph, name: str, given: Any) -> Any:
    """The argument for an option; names of vertices become numbers."""
    if name in ("source", "sink", "center", "to"):
        return vertex(graph, given, f"--{name}")
    if name in ("sources", "starts", "vertices") and given is not None:
        return [vertex(graph, label, f"--{name}") for label in given.split(",")]
    if name == "starts":
        return range(graph.matrix.nrows)
    if name == "vertices":
        return np.unique(host_coo(graph.matrix)[0])
    return communities(graph, given) if name == "communities" else given


def _at_rows(D: Matrix, sources: list[int]) -> Matrix:
    """The Matrix of all vertices whose row sources[k] is row k of D."""
    rows, cols, values = host_coo(D)
    at = np.array(sources)[rows]
    return type(D).from_coo(at, cols, values, D.dtype, nrows=D.ncols, ncols=D.ncols, dup_op="first")


def check(args: argparse.Namespace) -> None:
    """Before the work, refuse options whose result could not be written."""
    if getattr(args, "best", None) is not None and args.algorithm.vertices(args):
        raise Fault("--top: expected values that can be compared, got vertices. Hint: omit --parents")
    if args.algorithm.writes:
        output.check(args)
        if args.out:
            output.kind_of(args.out, matrix=args.algorithm.matrix)


def run(args: argparse.Namespace) -> None:
    """Read the graph, run the algorithm, write and summarize the result."""
    check(args)
    with Timer() as read:
        graph = load(args)
    answer(args, graph, read)


def answer(args: argparse.Namespace, graph: Graph, read: Timer) -> None:
    """Run the algorithm, write and summarize the result. read: the time of reading."""
    trace = Trace()
    with (
        Timer() as ran,
        trace if args.trace else nullcontext(),
        algorithms.Watch() as watch,
        Ticker(args.command, watch),
    ):
        operand = args.algorithm.read(graph, args)
        answer, summary = args.algorithm.call(graph, operand, args)
    if args.trace:
        print(trace, file=sys.stderr)
    if args.algorithm.writes and args.out:
        best, header = getattr(args, "best", None), args.output_header
        if args.algorithm.axes:
            output.write_points(args.out, answer, graph, args.algorithm.axes, header)
        elif not args.algorithm.lines or not output.write_lines(args.out, answer, graph):
            output.write(args.out, answer, graph, args.algorithm.vertices(args), best, header)
    A = graph.matrix
    record = {"file": args.file, **facts(A), "result": summary, "rounds": watch.rounds, "converged": watch.converged}
    record |= {"both_ways": operand is not A, "read_seconds": read.seconds, "read_compile_seconds": read.compiling}
    record |= {"seconds": ran.seconds, "compile_seconds": ran.compiling}
    terminal = output.is_terminal(sys.stderr if args.algorithm.writes and args.out == output.STDOUT else None)
    found = output.table(summary) if terminal else words(summary)
    if args.algorithm.each and not args.out and not args.json and getattr(args, "best", None) is None:
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

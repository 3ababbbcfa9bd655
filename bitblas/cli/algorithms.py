"""Run one algorithm as a command: read the graph, call the algorithm, write and summarize the result."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semirings import dtypes

from .. import algorithms
from ..device import Trace
from ..graph.edges import both_ways
from ..io import Graph, host_coo
from . import output, tables
from .source import Fault, communities, facts, load, undirected, vertex
from .ticker import Ticker
from .timing import Timer

Summary = dict[str, Any]
DIRECTED, BOTH, WEIGHTED = "directed", "both", "weighted"
FARTHEST = {"dest": "best", "metavar": "N", "help": "say too, and write, the N largest alone"}
CALLED = {"communities": "labels"}  # options that programs call otherwise
SHOWN = 20  # vertices: so many lines can be read at once


def at_first(answer: Any, args: argparse.Namespace) -> Any:
    return answer


@dataclass(frozen=True)
class Command:
    """An algorithm of `bitblas.algorithms` as a command.

    program: its name, by the options. summary: what is said of its answer. edges: which it reads: as they are
    (DIRECTED), or in both directions, without values (BOTH; with them if --weighted is given) or with (WEIGHTED). An
    option that has the name of one of the program's is passed to it. part: what of the answer is written. vertices: its
    values are vertices; matrix: it is a Matrix; rows: it has a row for each of
    --sources, where these are given; lines: its rows are walks, whose values are vertices; axes: the names of its
    columns, where it has a row of numbers for each vertex.
    """

    name: str
    help: str
    program: Callable[[argparse.Namespace], str]
    summary: Callable[[Graph, Any, argparse.Namespace], Summary]
    edges: str = DIRECTED
    writes: str = "a line for each vertex, vertex<TAB>value; .csv, .edges, .json, .parquet, .npz, .mtx by suffix"
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    part: Callable[[Any, argparse.Namespace], Any] = at_first
    vertices: Callable[[argparse.Namespace], bool] = lambda args: False
    matrix: bool = False
    rows: bool = False
    lines: bool = False
    axes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()  # other names that it answers to

    @property
    def each(self) -> bool:
        """Whether it has an answer for each vertex, of which the summary lists none."""
        top = self.options.get("--top", FARTHEST)
        return bool(self.writes) and not self.matrix and FARTHEST.items() <= top.items()

    def read(self, graph: Graph, args: argparse.Namespace) -> Any:
        """The Matrix that it takes: that of the graph, or each edge both ways, as `Graph.to_undirected` has it."""
        if getattr(args, "weighted", False) and graph.matrix.dtype == dtypes.BOOL:
            raise Fault(f"--weighted: expected a file with weights, got {args.file} without: leave --weighted out")
        if self.edges == DIRECTED:
            return graph.matrix
        if self.edges == BOTH and not getattr(args, "weighted", False):
            return undirected(graph.matrix, args)
        return both_ways(graph.matrix) if graph.directed else graph.matrix

    def call(self, graph: Graph, A: Any, args: argparse.Namespace) -> tuple[Any, Summary]:
        """The answer of the Matrix that it takes, as it is written, and what is said of it."""
        program = getattr(algorithms, self.program(args))
        known = inspect.signature(program).parameters
        names = [flag.lstrip("-").replace("-", "_") for flag in self.options]
        taken = {CALLED.get(name, name): name for name in names}
        given = {of: _value(graph, name, getattr(args, name)) for of, name in taken.items() if of in known}
        answer = program(A, **given)
        part, summary = self.part(answer, args), self.summary(graph, answer, args)
        if self.rows and given.get("sources") is not None:
            part = _at_rows(part, given["sources"])
        if self.each and getattr(args, "best", None) is not None:
            first = output.as_table(part, graph, self.vertices(args), args.best)
            summary |= {"first": first["vertex"], "values": first["value"]}
        return part, summary


def _value(graph: Graph, name: str, given: Any) -> Any:
    """What an option is to the program: of those that name vertices, their numbers."""
    if name in ("source", "sink", "center", "to"):
        return vertex(graph, given, f"--{name}")
    if name in ("sources", "starts", "vertices") and given is not None:
        return [vertex(graph, label, f"--{name}") for label in given.split(",")]
    if name == "starts":
        return range(graph.matrix.nrows)
    if name == "vertices":
        return np.unique(host_coo(graph.matrix)[0])
    return communities(graph, given) if name == "communities" else given


def _at_rows(D: Any, sources: list[int]) -> Any:
    """The Matrix of all vertices whose row sources[k] is row k of D."""
    rows, cols, values = host_coo(D)
    at = np.array(sources)[rows]
    return type(D).from_coo(at, cols, values, D.dtype, nrows=D.ncols, ncols=D.ncols, dup_op="first")


def check(args: argparse.Namespace) -> None:
    """Refuse, before the work, an answer that could not be written."""
    if getattr(args, "best", None) is not None and args.algorithm.vertices(args):
        raise Fault("--top: expected values that can be compared, got vertices: leave --parents out")
    if args.algorithm.writes:
        output.check(args)
        if args.out:
            output.kind_of(args.out, matrix=args.algorithm.matrix)


def run(args: argparse.Namespace) -> None:
    """Read, run, write, and say what came out."""
    check(args)
    with Timer() as read:
        graph = load(args)
    answer(args, graph, read)


def answer(args: argparse.Namespace, graph: Graph, read: Timer) -> None:
    """Run, write, and say what came out. read: how long reading took."""
    trace = Trace()
    with (
        Timer() as ran,
        trace if args.trace else nullcontext(),
        algorithms.Watch() as seen,
        Ticker(args.command, seen),
    ):
        taken = args.algorithm.read(graph, args)
        answer, summary = args.algorithm.call(graph, taken, args)
    if args.trace:
        print(trace, file=sys.stderr)
    if args.algorithm.writes and args.out:
        best, header = getattr(args, "best", None), args.output_header
        if args.algorithm.axes:
            output.write_points(args.out, answer, graph, args.algorithm.axes, header)
        elif not args.algorithm.lines or not output.write_lines(args.out, answer, graph):
            output.write(args.out, answer, graph, args.algorithm.vertices(args), best, header)
    A = graph.matrix
    made = {"file": args.file, **facts(A), "result": summary, "rounds": seen.rounds, "converged": seen.converged}
    made |= {"both_ways": taken is not A, "read_seconds": read.seconds, "read_compile_seconds": read.compiling}
    made |= {"seconds": ran.seconds, "compile_seconds": ran.compiling}
    terminal = tables.on_terminal(sys.stderr if args.algorithm.writes and args.out == output.STDOUT else None)
    found = tables.table(summary) if terminal else words(summary)
    if args.algorithm.each and not args.out and not args.json and getattr(args, "best", None) is None:
        found += _each(args, graph, answer, terminal)
    if not seen.converged:
        found += f"\nnot converged after {seen.rounds} rounds: give more by --max-iter, or a larger --tol"
    both = "" if taken is A else ", each edge both ways"
    times = f"{A.nrows} vertices, {A.nvals} entries{both}, on {A.device.name}: read in {read}, ran in {ran}"
    output.tell(args, made, f"{found}\n{tables.paint(times, tables.DIM) if terminal else times}")


def _each(args: argparse.Namespace, graph: Graph, answer: Any, terminal: bool) -> str:
    """What is said of each vertex, where they are few; else, to a person, how to have it."""
    if answer.nvals > SHOWN:
        more = f"the answer of each vertex: --out FILE, or --out {output.STDOUT}"
        return f"\n{tables.paint(more, tables.DIM)}" if terminal else ""
    index, values = map(list, output.as_table(answer, graph, args.algorithm.vertices(args)).values())
    if terminal:
        return f"\n{tables.table({'vertex': index, 'value': values})}"
    return "".join(f"\n{i}\t{output.plain(x)}" for i, x in zip(index, values))


def words(summary: Summary) -> str:
    """A summary in one line."""
    return ", ".join(f"{key} {output.word(value)}" for key, value in summary.items())

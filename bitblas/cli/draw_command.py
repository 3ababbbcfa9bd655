"""The command `draw`: a picture of a graph, colored by communities or values."""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np

from ..io import Graph, host_coo
from . import output
from .input import Fault, facts, load, vertex, vertex_numbers
from .output import Ticker, Timer

COLORS = ("communities", "components", "degree", "pagerank", "core", "levels", "none")
METHODS = ("auto", "stress", "forces", "spring", "spectral")  # of plots.layout
SIZES = ("degree", "pagerank", "none")


def add_options(p: argparse.ArgumentParser) -> None:
    """The options of `bitblas draw`."""
    output.add_out(p, "the picture: .png, .svg or .pdf", required=True)
    ways = p.add_mutually_exclusive_group()
    ways.add_argument("--color", choices=COLORS, help="color the vertices by this (default: communities)")
    ways.add_argument(
        "--values", metavar="VALUES", help="color by the numbers of a .tsv or .csv file: a vertex and its value a line"
    )
    p.add_argument("--vertex-size", choices=SIZES, default="none", help="size the vertices by this (default: none)")
    p.add_argument("--source", metavar="VERTEX", help="start vertex of --color levels")
    p.add_argument("--layout", choices=METHODS, default="auto", help="default: by the distances in the graph")
    p.add_argument("--scale", choices=("auto", "linear", "log"), default="auto", help="of the colors of numbers")
    p.add_argument("--names", type=int, metavar="N", help="how many vertices have their name (default: by size)")
    p.add_argument("--title", metavar="TEXT", help="default: the name of the file")
    p.add_argument("--dark", action="store_true", help="for a dark page")


def draw(args: argparse.Namespace) -> None:
    """Draw a graph."""
    from .. import plots
    from ..plots.style import require_matplotlib

    output.check(args)
    if args.out != output.STDOUT:
        plots.kind_of(args.out)
    require_matplotlib()
    color = args.color or ("none" if args.values else "communities")
    if args.source is not None and color != "levels":
        raise Fault("--source: expected together with --color levels")
    graph = load(args)
    start = vertex(graph, args.source, "--source") if color == "levels" else 0
    given = vertex_numbers(graph, args.values) if args.values else None
    with Timer() as timer, Ticker("draw"):
        both = graph.to_undirected() if color in ("communities", "components", "core") else graph
        values, label = _measure(both, color, start) if given is None else (given, None)
        sizes, size_label = _measure(graph, args.vertex_size, 0)
        figure = plots.graph(
            graph, values, label=label, sizes=sizes, size_label=size_label, names=args.names, layout=args.layout,
            scale=args.scale, title=args.title or os.path.basename(args.file), dark=args.dark,
        )  # fmt: skip
        plots.save(figure, output.target(args.out))
    record = {"file": args.file, **facts(graph.matrix), "out": args.out, "color": args.values or color}
    output.print_summary(
        args,
        {**record, "vertex_size": args.vertex_size, "seconds": timer.seconds, "compile_seconds": timer.compiling},
        f"{args.out}: {graph.matrix.nrows} vertices, {graph.matrix.nvals} entries, in {timer}",
    )


def _measure(graph: Graph, name: str, source: int) -> tuple[Any, str | None]:
    """Values of the vertices, and what they are."""
    if name == "none":
        return None, None
    if name == "communities":
        return graph.louvain(), "community"
    if name == "components":
        return graph.connected_components(), "component"
    if name == "core":
        return graph.core_numbers(), "core number"
    if name == "pagerank":
        return graph.pagerank(), "PageRank"
    if name == "levels":
        return graph.bfs_levels(graph._name(source)), f"hops from {graph._name(source)}"
    rows = host_coo(graph.matrix)[0]
    return np.bincount(rows, minlength=graph.matrix.nrows), "edges" if graph.directed is False else "edges out"

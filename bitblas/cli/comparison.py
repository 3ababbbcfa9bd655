"""`bitblas compare` and `bitblas demo`: run the same programs on bitblas and on SuiteSparse:GraphBLAS."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from importlib.util import find_spec

from ..io import Graph, mmread
from .source import facts, load, storage, vertex
from .ticker import Ticker


def compare(args: argparse.Namespace) -> int:
    """Run and print the table; 1 if a result differs."""
    # SuiteSparse and Numba each load an OpenMP runtime. Spinning idle threads of one take the cores from the other:
    # milliseconds per call on two cores. The runtimes read this variable when they are loaded, so set it first.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from .. import plots
    from ..algorithms import bfs_levels
    from ..compare import comparison as compare
    from ..compare import telling

    if args.picture:
        plots.kind_of(args.picture)
    elif args.command == "demo" and not args.json and find_spec("matplotlib"):
        args.picture = os.path.join(tempfile.gettempdir(), "bitblas-demo.png")
    where = storage(args)
    if args.command == "demo":
        args.file = compare.DEMO_GRAPH
        graph = Graph(mmread(compare.demo_path(), device="cpu"))
    else:
        graph = load(args)
    compare.chosen(args.algorithms)  # raises for an unknown name before the work begins
    A = graph.matrix
    source = vertex(graph, args.source, "--source")
    devices = [where.pop("device")] if args.device else None
    sides = compare.sides(A, devices, format=where["format"], tile=where["tile"])
    if not args.json:
        print("\n".join(telling.introduction(args.file, A, source)), "\n")
        print(telling.heading(sides), flush=True)
    rows: list[compare.Row] = []
    names = [program.name for program in compare.chosen(args.algorithms)]
    for number, name in enumerate(names, 1):
        with Ticker(f"{name}, {number} of {len(names)}"):
            rows += compare.rows(sides, source, name)
        if not args.json:
            print(telling.line(rows[-1]), flush=True)
    equal = all(row.equal for row in rows)
    if args.picture:
        with Ticker("picture"):
            plots.save(plots.levels(A, source, title=f"{args.file}: distance from vertex {source}"), args.picture)
    if args.json:
        made = {"command": args.command, "file": args.file, **facts(A), "source": source, "equal": equal}
        print(json.dumps({**made, "rows": [compare.as_dict(row) for row in rows]}))
        return 0 if equal else 1
    if args.command == "demo":
        print(f"\nNumber of crossings by distance from crossing {source}:")
        print("\n".join(telling.distances(bfs_levels(A, source))))
    if args.picture:
        print(f"\nPicture: {args.picture}")
    print("", *telling.closing(rows, sides), sep="\n")
    return 0 if equal else 1

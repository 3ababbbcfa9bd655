"""`bitblas compare` and `bitblas demo`: the same programs on bitblas and on SuiteSparse:GraphBLAS."""

from __future__ import annotations

import argparse
import json
import os

from ..io import Graph, mmread
from .source import facts, load, storage, vertex


def compare(args: argparse.Namespace) -> int:
    """Run and print the table; 1 if an answer differs."""
    # SuiteSparse and Numba bring an OpenMP runtime each, and the idle threads of one, spinning, take the cores from the
    # other: milliseconds per call on two cores. Read when the runtimes are loaded, so before anything else.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from ..compare import comparison as compare

    where = storage(args)
    if args.command == "demo":
        args.file = compare.DEMO_GRAPH
        graph = Graph(mmread(compare.demo_path(), device="cpu"))
    else:
        graph = load(args)
    compare.chosen(args.algorithms)  # refused before the work, if a name is unknown
    A = graph.matrix
    source = vertex(graph, args.source, "--source")
    devices = [where.pop("device")] if args.device else None
    sides = compare.sides(A, devices, format=where["format"], tile=where["tile"])
    if not args.json:
        print("\n".join(compare.introduction(args.file, A, source)), "\n")
        print(compare.heading(sides), flush=True)
    rows = []
    for row in compare.rows(sides, source, args.algorithms):
        rows.append(row)
        if not args.json:
            print(compare.line(row), flush=True)
    equal = all(row.equal for row in rows)
    if args.json:
        made = {"command": args.command, "file": args.file, **facts(A), "source": source, "equal": equal}
        print(json.dumps({**made, "rows": [compare.as_dict(row) for row in rows]}))
    else:
        print("\nAll answers are equal." if equal else "\nAnswers DIFFER.")
    return 0 if equal else 1

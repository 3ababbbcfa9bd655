"""`bitblas several graph.mtx "bfs --source 3" pagerank`: run several algorithms on one file, read once."""

from __future__ import annotations

import argparse
import shlex

from . import algorithms
from .source import Fault, load
from .timing import Timer

EXAMPLE = 'For example: bitblas several graph.mtx "bfs --source 3 --out levels.tsv" "pagerank --top 5" triangles'
# Options given once for all commands; the quoted commands have only their own options.
SHARED = (
    "input_format", "dup_op", "undirected", "base", "header", "labels", "no_weights", "size", "device", "format",
    "tile", "json", "delimiter", "columns", "decimal", "dtype",
)  # fmt: skip


def several(args: argparse.Namespace) -> None:
    """Parse all commands before the file is read, then run them; with --json print one line each."""
    asked = []
    for text in args.commands:
        words = shlex.split(text)
        one = args.whole.parse_args([*words[:1], args.file, *words[1:]])
        if not hasattr(one, "algorithm"):
            raise Fault(f"several: expected the names of algorithms, got {words[0]!r}")
        for name in SHARED:
            if getattr(one, name) != one.parser.get_default(name):
                flag = "directed" if (name, getattr(one, name)) == ("undirected", False) else name.replace("_", "-")
                raise Fault(f"several: expected options of the file outside the quotes of {text!r}, got --{flag}")
            setattr(one, name, getattr(args, name))
        algorithms.check(one)
        asked.append(one)
    with Timer() as read:
        graph = load(args)
    for one, text in zip(asked, args.commands):
        if not args.json:
            print(f"\n{text}", flush=True)
        algorithms.answer(one, graph, read)

"""Options that several algorithm commands share, and parsers of their values."""

from __future__ import annotations

import argparse
from typing import Any

from .algorithms import FARTHEST


def flag(help: str) -> dict[str, Any]:
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
BOTH_WAYS = "; edges count in both directions"
TOP = {"--top": {"type": count, "dest": "best", "metavar": "N", "help": "say, and write, the N largest alone"}}
FIRST = {"--top": {"type": count, **FARTHEST}}
SOURCE = {"--source": {"metavar": "VERTEX", "help": "where to start (default 0, if vertices have no names)"}}
LIMIT = {"--depth-limit": {"type": int, "metavar": "N", "help": "not farther than this"}}
TO = {"--to": {"metavar": "VERTEX", "help": "also say how far this one is, and the way to it"}}
PARENTS = {"--parents": flag("a tree, as the vertex before each, instead of how far")}
SEED = {"--seed": {"type": int, "metavar": "N", "help": "another one may give another answer (default 0)"}}
WEIGHTS = {"--weighted": flag("the values of the file are weights")}
LENGTHS = {"--weighted": flag("the values of the file are lengths")}
SOURCES = {"--sources": {"metavar": "V,V,...", "help": "count paths from these alone (default: from all)"}}
FROM = {"--sources": {"metavar": "V,V,...", "help": "from these alone (default: from all)"}}
STARTS = {"--starts": {"metavar": "V,V,...", "help": "where to start (default: everywhere)"}}
DRAWN = {"--k": {"type": count, "metavar": "N", "help": "count paths from N vertices that are drawn (see --seed)"}}
SINK = {"--sink": {"required": True, "metavar": "VERTEX", "help": "where it ends"}}
ROUNDS = {
    "--tol": {"type": float, "default": 1e-6, "help": "stop below this change (default 1e-6)"},
    "--max-iter": {"type": int, "default": 100, "help": "stop after so many rounds (default 100)"},
}
RESOLUTION = {"--resolution": {"type": float, "default": 1.0, "help": "above 1: smaller communities (default 1)"}}

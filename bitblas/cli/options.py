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
BOTH_WAYS = "; edge directions are ignored"
TOP = {"--top": {"type": count, "dest": "best", "metavar": "N", "help": "show and write only the N largest"}}
FIRST = {"--top": {"type": count, **FARTHEST}}
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

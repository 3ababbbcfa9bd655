"""Input of the commands: input options, and loading of a file of any format."""

from __future__ import annotations

import argparse
import csv
import difflib
import errno
import os
import stat
import sys
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from semirings import BinaryOp, binary, dtypes, unary

from .. import device as devices
from ..core import Matrix, Vector
from ..core.options import either
from ..exceptions import InvalidValue
from ..formats import tiled
from ..graph.edges import both_ways
from ..io import Graph, file_format_of, read
from ..io.build import Storage
from ..io.file_formats import DELIMITERS

TEXTS = ("tsv", "csv", "edges")
OF_TABLES = {"labels", "size", "decimal", "base", "columns", "weights"}  # options that also apply to Parquet files
FLAGS = {"weights": "--no-weights"}  # options whose name differs from the argument
MARKS = {"tab": "\t", r"\t": "\t", "space": " ", "blanks": " "}  # names of delimiters that are hard to type


class Fault(Exception):
    """A one-line error for the user."""


def check_tile(format: str | None, tile: int | None) -> None:
    """Raise Fault for a tile that the format does not support."""
    if tile is None:
        return
    if format not in tiled():
        raise Fault(f"--tile: expected together with --format {either(tiled())}")
    if tile not in tiled()[format]:
        raise Fault(f"--tile: expected {either(tiled()[format])} with --format {format}, got {tile}")


# Names of options in other programs.
ELSEWHERE = {"source": "center", "names": "labels", "input": "input-format", "output": "out", "o": "out"}
ELSEWHERE |= dict.fromkeys(("limit", "head", "n", "sort"), "top") | dict.fromkeys(("sep", "separator"), "delimiter")


def suggestion(word: str, known: Iterable[str]) -> str:
    """A suggestion after an unknown word: the known word that looks like it, ignoring dashes."""
    bare = {name.lstrip("-"): name for name in known}
    plain = word.lstrip("-")
    found = [name for name in (plain, ELSEWHERE.get(plain)) if name in bare]
    found = found or difflib.get_close_matches(plain, list(bare), 1)
    return f"; did you mean {bare[found[0]]!r}?" if found else ""


def storage(args: argparse.Namespace) -> Storage:
    """Device and stored format, as the options state them."""
    format = None if args.format == "auto" else args.format
    check_tile(format, args.tile)
    if args.device is not None:
        try:
            devices.get(args.device)
        except ValueError as error:
            raise Fault(f"--{error}{suggestion(args.device, ('cpu', 'cuda'))}") from None
    return {"device": args.device, "format": format, "tile": args.tile}


def load(args: argparse.Namespace, square: bool = True, where: Storage | None = None) -> Graph:
    """Read the graph of the file. where: storage options that replace those of the command line."""
    source = sys.stdin.buffer if args.file == "-" else args.file
    if args.file != "-" and stat.S_ISDIR(os.stat(args.file).st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), args.file)
    kind = args.input_format
    if kind is None:
        kind = "mtx" if args.file == "-" else file_format_of(args.file)
    options: dict[str, Any] = {"dup_op": _dup_op(args.dup_op), **(where or storage(args))}
    if args.dtype is not None:
        if kind == "bitblas":
            raise Fault(f"--dtype: expected none for a file of format {kind}, whose values have a type")
        options["dtype"] = _dtype(args.dtype)
    choices = {name: getattr(args, name) for name in ("base", "size", "header", "decimal")} | {
        "labels": args.labels or None,
        "weights": False if args.no_weights else None,
        "columns": _columns(args.columns),
        "delimiter": MARKS.get(args.delimiter, args.delimiter),
    }
    given = {name: value for name, value in choices.items() if value is not None}
    if kind in TEXTS or (kind == "parquet" and given.keys() <= OF_TABLES):
        options |= given
    elif given:
        flags = ", ".join(FLAGS.get(name, f"--{name}") for name in given)
        hint = (
            ". Hint: --input-format csv if it is an edge list" if args.file == "-" and args.input_format is None else ""
        )
        raise Fault(f"{args.file}: options of edge lists ({flags}) do not apply to a file of format {kind}{hint}")
    if args.undirected is not None:
        options["directed"] = not args.undirected
    try:
        graph = read(source, kind, **options)
    except InvalidValue as error:
        if args.file != "-" or args.input_format is not None:
            raise
        raise Fault(f"{error}. Hint: --input-format csv (tsv, edges, npz) if it is not a Matrix Market file") from None
    A = graph.matrix
    if square and A.nrows != A.ncols:
        raise Fault(f"{args.file}: expected a square matrix, got {A.nrows} x {A.ncols}")
    return graph


def _columns(text: str | None) -> list[str | int] | None:
    """The columns that an option names; digits become column numbers."""
    return None if text is None else [int(name) if name.isdecimal() else name for name in text.split(",")]


def _dup_op(name: str | None) -> BinaryOp | None:
    if name is None:
        return None
    found: BinaryOp | None = getattr(binary, name, None)
    if found is None or name.startswith("_"):
        hint = suggestion(name, dir(binary))
        raise Fault(f"--dup-op: expected the name of a binary operator, such as plus, got {name!r}{hint}")
    return found


def _dtype(name: str) -> str:
    known = [str(kind) for kind in vars(dtypes).values() if isinstance(kind, dtypes.DataType)]
    if name.upper() not in known:
        raise Fault(
            f"--dtype: expected one of {', '.join(dict.fromkeys(known))}, got {name!r}{suggestion(name, known)}"
        )
    return name.upper()


def vertex(graph: Graph, label: str | None, option: str) -> int:
    """The vertex that an option names; None: vertex 0, if vertices have no names."""
    if label is None:
        label = "0"
        if graph.labels is not None and label not in graph:
            some = ", ".join(map(repr, graph.labels[:3]))
            raise Fault(f"{option}: expected a vertex, got none. Hint: vertices have names: {some}, ..")
    try:
        return graph.vertex(label)
    except ValueError as error:
        raise Fault(f"{option}: {error}") from None


def sources(graph: Graph, text: str | None, option: str) -> int | list[int]:
    """The vertex that an option names, or several, separated by commas."""
    if text is None or text in graph or "," not in text:
        return vertex(graph, text, option)
    return [vertex(graph, label, option) for label in text.split(",")]


def communities(graph: Graph, path: str) -> Vector:
    """The community number of each vertex, from a file with one line per vertex: the vertex and any word. Raises Fault
    if vertices are missing."""
    lines = _lines_of(2, path, "--communities", "a vertex and its community")
    found = {vertex(graph, name, "--communities"): word for name, word in lines}
    if missing := graph.matrix.nrows - len(found):
        raise Fault(f"--communities: expected a community for each vertex, got none for {missing} vertices")
    _, numbers = np.unique([found[v] for v in range(len(found))], return_inverse=True)
    return Vector.from_dense(numbers.astype(np.int64), device=graph.matrix.device.name)


def pairs(graph: Graph, path: str) -> Matrix:
    """A Matrix with an entry for each pair of vertices in a file with one pair per line."""
    lines = _lines_of(2, path, "--pairs", "two vertices")
    i, j = ([vertex(graph, line[end], "--pairs") for line in lines] for end in (0, 1))
    n = graph.matrix.nrows
    return Matrix.from_coo(i, j, True, nrows=n, ncols=n, device=graph.matrix.device.name)


def costs(graph: Graph, path: str) -> Matrix:
    """A Matrix of integers, from a file with two vertices and a number per line."""
    lines = _lines_of(3, path, "--costs", "two vertices and an integer")
    i, j = ([vertex(graph, line[end], "--costs") for line in lines] for end in (0, 1))
    try:
        values = [int(line[2]) for line in lines]
    except ValueError as error:
        raise Fault(f"--costs: expected two vertices and an integer in each line of {path}, got {error}") from None
    n = graph.matrix.nrows
    return Matrix.from_coo(i, j, values, dtypes.INT64, nrows=n, ncols=n, device=graph.matrix.device.name)


def vertex_numbers(graph: Graph, path: str) -> dict[Hashable, float]:
    """A number for each vertex in a file with a vertex and a number per line, which may have the header of --out."""
    lines = _lines_of(2, path, "--values", "a vertex and a number")
    lines = lines[1:] if lines[:1] == [["vertex", "value"]] else lines
    try:
        return {graph._name(vertex(graph, name, "--values")): float(word) for name, word in lines}
    except ValueError as error:
        raise Fault(f"--values: expected a vertex and a number in each line of {path}, got {error}") from None


def _lines_of(count: int, path: str, option: str, what: str) -> list[list[str]]:
    """The lines of a file, which have `count` words each. Raises Fault for others."""
    kind = file_format_of(path)
    if kind not in DELIMITERS:
        raise Fault(f"{option}: expected lines of {what} (.tsv, .csv, .edges), got {path}")
    with open(path, newline="", encoding="utf-8") as stream:
        lines = [line for line in csv.reader(stream, delimiter=DELIMITERS[kind]) if line]
    if bad := next((line for line in lines if len(line) != count), None):
        raise Fault(f"{option}: expected {what} in each line of {path}, got {bad!r}")
    return lines


def undirected(A: Matrix, args: argparse.Namespace) -> Matrix:
    """Every edge in both directions, without values; the Matrix itself if it is symmetric."""
    if A._store.structure.symmetric:
        return A
    return both_ways(A.apply(unary.one[dtypes.BOOL]).new(), **storage(args))


def facts(A: Matrix) -> dict[str, int | str]:
    """The facts about the matrix that every JSON result contains."""
    return {
        "nrows": A.nrows,
        "ncols": A.ncols,
        "nvals": A.nvals,
        "dtype": str(A.dtype),
        "device": A.device.name,
        "bytes": int(A.memory().total),
    }


def number(text: str) -> int | float:
    """An integer or a float. ValueError otherwise."""
    try:
        return int(text)
    except ValueError:
        return float(text)

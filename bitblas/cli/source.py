"""What the commands read: a file of any kind, as the options say."""

from __future__ import annotations

import argparse
import errno
import os
import stat
import sys
from typing import Any

from ..io import Graph, file_format_of, host_coo, read

TEXTS = ("tsv", "csv", "edges")


class Fault(Exception):
    """What the user must hear, in one line."""


def storage(args: argparse.Namespace) -> dict[str, Any]:
    """Where and how the matrix is to be stored."""
    format = None if args.format == "auto" else args.format
    if args.tile is not None and format not in ("b2sr", "split"):
        raise Fault("--tile: expected together with --format b2sr or split")
    if format == "split" and args.tile not in (None, 4, 8, 16):
        raise Fault(f"--tile: expected 4, 8 or 16 with --format split, got {args.tile}")
    return {"device": args.device, "format": format, "tile": args.tile}


def load(args: argparse.Namespace, square: bool = True, **where: Any) -> Graph:
    """The graph in the file. where: the storage, if not what the options say."""
    source: Any = sys.stdin.buffer if args.file == "-" else args.file
    if args.file != "-" and stat.S_ISDIR(os.stat(args.file).st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), args.file)
    kind = args.input_format
    if kind is None:
        kind = "mtx" if args.file == "-" else file_format_of(args.file)
    options: dict[str, Any] = {"dup_op": _dup_op(args.dup_op), **(where or storage(args))}
    given = {
        name: value
        for name, value in (
            ("base", args.base), ("directed", False if args.undirected else None), ("size", args.size),
            ("header", args.header or None), ("labels", args.labels or None),
            ("weights", False if args.no_weights else None),
        )
        if value is not None
    }  # fmt: skip
    if kind in TEXTS:
        options |= given
    elif given:
        raise Fault(f"{args.file}: options of edge lists ({', '.join(given)}) do not fit a file of format {kind}")
    graph = read(source, kind, **options)
    A = graph.matrix
    if square and A.nrows != A.ncols:
        raise Fault(f"{args.file}: expected a square matrix, got {A.nrows} x {A.ncols}")
    return graph


def _dup_op(name: str | None) -> Any:
    import bitblas as gb

    if name is None:
        return None
    found = getattr(gb.binary, name, None)
    if found is None or name.startswith("_"):
        raise Fault(f"--dup-op: expected the name of a binary operator, such as plus, got {name!r}")
    return found


def vertex(graph: Graph, label: str, option: str) -> int:
    """The vertex that an option names."""
    try:
        return graph.vertex(label)
    except ValueError as error:
        raise Fault(f"{option}: {error}") from None


def undirected(A: Any, args: argparse.Namespace) -> Any:
    """Every edge in both directions, without values and loops."""
    import bitblas as gb

    from ..compare.comparison import symmetrised

    rows, cols, _ = host_coo(A)
    both = symmetrised(rows, cols, A.nrows)
    if len(both[0]) == len(rows) and all((a == b).all() for a, b in zip(both, (rows, cols))):
        return A
    return gb.Matrix.from_coo(*both, True, nrows=A.nrows, ncols=A.nrows, **storage(args))


def undirected_weights(A: Any) -> Any:
    """Every edge in both directions with its value, the lesser one where the two differ."""
    import bitblas as gb

    least = gb.binary.land if str(A.dtype) == "BOOL" else gb.binary.min
    return A.ewise_add(A.T, least).new()


def facts(A: Any) -> dict[str, Any]:
    """What every result in JSON says of its matrix."""
    return {
        "nrows": A.nrows, "ncols": A.ncols, "nvals": A.nvals, "dtype": str(A.dtype), "device": A.device.name,
        "bytes": int(A.memory().total),
    }  # fmt: skip

"""Read and write graphs in any supported file format, chosen by the file suffix."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ..core import Matrix
from ..exceptions import InvalidValue
from ..graph import Graph, validation
from . import bitblas_format, matrixmarket, npz
from .build import MatrixOptions
from .edgelist import read_edgelist, read_sif, write_edgelist
from .files import Input, Output, name_of
from .graphs import graph_of_matrix
from .matrixmarket import mmread, mmwrite
from .npz import read_npz, write_npz
from .tables import from_table, read_parquet, write_parquet

FILE_FORMATS = {
    "mtx": "Matrix Market",
    "npz": "scipy.sparse.save_npz",
    "bitblas": "Matrix.save: stored formats, and vertex labels",
    "tsv": "edge list separated by tabs",
    "csv": "edge list separated by commas",
    "edges": "edge list separated by blanks",
    "parquet": "table of edges; needs the extra [arrow]",
    "sif": "Cytoscape's interactions, read only",
}
DELIMITERS = {"tsv": "\t", "csv": ",", "edges": " "}
_SUFFIXES = {f".{name}": name for name in FILE_FORMATS} | {".mm": "mtx", ".el": "edges", ".txt": "edges"}
_READERS: dict[str, Callable[..., Graph | Matrix]] = {
    "mtx": mmread,
    "npz": read_npz,
    "parquet": read_parquet,
    "sif": read_sif,
    "bitblas": bitblas_format.load,
}
# Formats that other libraries read, and the call that makes a Graph of such a file.
_FOREIGN_FORMATS = {
    ".graphml": "bitblas.Graph.from_networkx(networkx.read_graphml(path))",
    ".gml": "bitblas.Graph.from_networkx(networkx.read_gml(path))",
    ".gexf": "bitblas.Graph.from_networkx(networkx.read_gexf(path))",
    ".dot": "bitblas.Graph.from_networkx(networkx.nx_pydot.read_dot(path)), with pydot installed",
    ".gv": "bitblas.Graph.from_networkx(networkx.nx_pydot.read_dot(path)), with pydot installed",
}
# Options of a reader in addition to its signature.
_EXTRA_OPTIONS = {
    "parquet": [p.name for p in inspect.signature(from_table).parameters.values() if p.kind is p.KEYWORD_ONLY],
    "sif": ["name", "dup_op", "dtype", "device", "format", "tile", "packed"],
}
# Names of edge-list options in other libraries, and what to use here.
_FOREIGN_OPTIONS = {
    "sep": "use delimiter=';' for the column separator",
    "skiprows": "header=True skips the first line",
    "usecols": "columns=['payer', 'payee', 'sum'] selects columns by name",
    "dec": "decimal=',' reads weights such as 3,14",
    "thousands": "remove the separators, or use pandas.read_csv",
    "names": "labels=True reads vertices as names",
    "comments": "lines that start with # or % are skipped",
}


def file_format_of(source: object, given: str | None = None, more: Mapping[str, str] = {}) -> str:
    """The format of a file: as given, otherwise by its suffix, ignoring .gz and .bz2. more: additional suffixes.
    InvalidValue for an unknown one."""
    if given is not None:
        if given not in FILE_FORMATS:
            raise InvalidValue(f"file_format: expected one of {', '.join(FILE_FORMATS)}, got {given!r}")
        return given
    name = name_of(source)
    for packed in (".gz", ".bz2"):
        name = name.removesuffix(packed)
    suffix = os.path.splitext(name)[1].lower()
    known = _SUFFIXES | dict(more)
    if suffix in _FOREIGN_FORMATS:
        raise InvalidValue(
            f"{name_of(source)}: expected one of {', '.join(FILE_FORMATS)}, got {suffix}. Hint: NetworkX reads it: "
            f"{_FOREIGN_FORMATS[suffix]}."
        )
    if suffix not in known:
        raise InvalidValue(
            f"{name_of(source)}: expected a name that ends in {', '.join(known)}, or the format of the file: "
            "file_format='edges', 'csv', .."
        )
    return known[suffix]


def _check_reader_options(reader: Callable[..., object], kind: str, options: Mapping[str, object]) -> None:
    """Raise TypeError for options that a reader does not have."""
    if kind in DELIMITERS:
        _check_foreign_options(reader, options)
    parameters = list(inspect.signature(reader).parameters.values())[1:]
    known = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    known += [name for name in ("directed", *_EXTRA_OPTIONS.get(kind, ())) if name not in known]
    validation.check_options(f"read of a file of format {kind}", options, known)


def _check_foreign_options(function: Callable[..., object], options: Mapping[str, object]) -> None:
    """Raise TypeError for options of other libraries, with the option to use here."""
    for name in options:
        if name in _FOREIGN_OPTIONS and name not in inspect.signature(function).parameters:
            raise TypeError(f"{function.__name__}: no option {name!r}; {_FOREIGN_OPTIONS[name]}")


def output_format_of(target: object, file_format: str | None = None, more: Mapping[str, str] = {}) -> str:
    """The format of a file to write, as in `file_format_of`. InvalidValue also for .sif, and for .npz, .bitblas and
    .parquet followed by .gz or .bz2, because these are not compressed again."""
    kind = file_format_of(target, file_format, more)
    if kind == "sif":
        raise InvalidValue(
            f"{name_of(target)}: expected a format that can be written, got sif. Hint: .tsv writes an edge list."
        )
    if kind in ("npz", "bitblas", "parquet") and (name := name_of(target)).endswith((".gz", ".bz2")):
        raise InvalidValue(f"{name}: expected a name without .gz or .bz2 for a file of format {kind}, got one")
    return kind


def read(source: Input, /, file_format: str | None = None, **options: Any) -> Graph:
    """Read a file of any format: a Graph of the matrix and the vertex labels, if there are any.

    file_format: mtx, npz, bitblas, tsv, csv, edges, parquet or sif; None: by the suffix. options: those of `mmread`,
    `read_npz`, `read_edgelist`, `read_parquet`, `read_sif`, or of `Matrix.load`, whose documentation lists what is
    raised; a file of bitblas is verified. directed: for every format; False: each edge counts in both directions, with
    the smaller weight, or both combined by dup_op. None: as the file states (a symmetric Matrix Market file, or a file
    that `Graph.write` wrote as npz, parquet or bitblas), otherwise True, with a warning if every edge is present in
    both directions with the same weight. TypeError for an option that the format does not have.
    """
    if isinstance(source, list | tuple):
        raise TypeError(
            f"source: expected a path or an open file, got {len(source)} of them. Hint: concatenate the tables first: "
            "Graph.from_table(pandas.concat(map(pandas.read_csv, paths)), 'from', 'to', 'weight')"
        )
    kind = file_format_of(source, file_format)
    reader = _READERS.get(kind, read_edgelist)
    _check_reader_options(reader, kind, options)
    if kind in ("mtx", "npz"):
        directed, engine, progress, chunked = (
            options.pop(name, default)
            for name, default in (("directed", None), ("engine", "auto"), ("progress", None), ("chunked", None))
        )
        how = MatrixOptions(**options)
        stated: bool | None
        if kind == "mtx":
            A, symmetry = matrixmarket.read_with_symmetry(source, engine, how, progress, chunked)
            stated = False if symmetry == "symmetric" else None
        else:
            A, stated = npz.read_with_direction(source, how)
        return graph_of_matrix(name_of(source), A, None, directed, how, stated=stated)
    if kind == "bitblas":
        return bitblas_format.load(_path(source), **options)
    if kind == "parquet":
        return read_parquet(source, **options)
    if kind == "sif":
        return read_sif(source, **options)
    return read_edgelist(source, **({"delimiter": DELIMITERS[kind]} | options))


def _path(file: Input | Output) -> str | os.PathLike[str]:
    if not isinstance(file, (str, os.PathLike)):
        raise InvalidValue(f"{name_of(file)}: expected a path because such a file is memory-mapped, got an open file")
    return file


def write(
    target: Output,
    matrix: Matrix,
    file_format: str | None = None,
    *,
    labels: Sequence[Hashable] | None = None,
    **options: Any,
) -> None:
    """Write a Matrix to a file of any format, chosen as in `read`. labels: vertex names for an edge list, a table or a
    file in bitblas' own format.

    options: those of `mmwrite`, `write_npz`, `Matrix.save` (and `directed`), `write_parquet` or `write_edgelist`, whose
    documentation lists what is raised. `Graph.write` also stores whether the graph is directed.
    """
    kind = output_format_of(target, file_format)
    if kind in DELIMITERS:
        _check_foreign_options(write_edgelist, options)
    if kind == "mtx":
        mmwrite(target, matrix, **options)
    elif kind == "npz":
        write_npz(target, matrix, **options)
    elif kind == "bitblas":
        bitblas_format.save(_path(target), matrix, labels=labels, **options)
    elif kind == "parquet":
        write_parquet(target, matrix, labels=labels, **options)
    else:
        write_edgelist(target, matrix, labels=labels, **({"delimiter": DELIMITERS[kind]} | options))

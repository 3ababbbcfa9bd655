"""Read and write graphs in any supported file format, chosen by the file suffix; save and load bitblas' own format."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .. import device as devices
from ..core import Matrix, Vector
from ..core.options import check_storage_options
from ..device import Device
from ..exceptions import InvalidValue
from ..graph import Graph, validation
from ..typing import Array
from . import matrixmarket, npz
from .binsparse import read_binsparse, write_binsparse
from .build import DupOp, MatrixOptions
from .edgelist import read_edgelist, read_sif, write_edgelist
from .files import Input, Output, name_of, refuse_packed
from .graphs import graph_of_matrix
from .matrixmarket import mmread, mmwrite
from .npz import read_npz, write_npz
from .partitioning import read_dimacs, read_metis, write_metis
from .tables import from_table, read_parquet, write_parquet

# ---- Save and load graphs in bitblas' own file format: a Matrix, vertex labels, and edge direction.
#
# The Matrix is stored as `Matrix.save` stores it. A section "graph" adds what only a Graph has. Its facts: "directed"
# (true, false, or null: as the matrix is) and "labels" ("text", "integers", or null: none). Its arrays: for text
# labels "text", the concatenated UTF-8, and "ends", the end of each label; for integer labels "numbers". The section
# is marked optional: a reader that does not support it returns the Matrix.

NAME = "graph"
_CODE = ("utf-8", "surrogatepass")  # a name may contain lone surrogates


def save_graph(
    path: str | os.PathLike[str],
    matrix: Matrix,
    *,
    labels: Sequence[Hashable] | None = None,
    directed: bool | None = None,
    forms: bool = False,
) -> None:
    """Write a Matrix as `Matrix.save` does, with vertex labels and edge direction.

    Raises InvalidValue for names that are neither all strings nor all integers; OSError.
    """
    from ..formats.container import Section

    directed, kind = validation.flag("directed", directed), None
    arrays: dict[str, np.ndarray] = {}
    if labels is not None:
        labels = validation.different_names("labels", labels)
        kind = validation.kind_of_names(labels)
        if kind is None:
            raise InvalidValue(
                "labels: expected all strings or all integers for a file of format bitblas, got other names"
            )
        arrays = _arrays(labels) if kind == "text" else {"numbers": np.array(labels, np.int64)}
    if directed is None and kind is None:
        matrix.save(path, **({"forms": True} if forms else {}))
        return
    sections = {name: matrix.device.asarray(array) for name, array in arrays.items()}
    section = Section(NAME, {"directed": directed, "labels": kind}, sections, required=False)
    matrix._save_with(path, forms, [section])


def _arrays(labels: Sequence[str]) -> dict[str, np.ndarray]:
    texts = [name.encode(*_CODE) for name in labels]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return {"text": np.frombuffer(b"".join(texts), np.uint8), "ends": np.cumsum(lengths)}


def load_graph(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    device: str | Device | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
    dup_op: DupOp | None = None,
    directed: bool | None = None,
) -> Graph:
    """Load and verify a Graph written by `save` or `Matrix.save`. directed: None: as the file states, otherwise True.
    dup_op: only for directed=False, as in `bitblas.io.read`, because such a file contains no duplicates."""
    from ..formats.container import Container

    file = Container(path)
    A = Matrix._of_file(file, True, name, device, check_storage_options(format, tile, packed))
    options = MatrixOptions(dup_op, format=format, tile=tile, packed=packed)
    section = next((s for s in file.sections if s.name == NAME), None)
    if section is None:
        return graph_of_matrix(str(path), A, None, directed, options)
    stated, kind = section.facts.get("directed"), section.facts.get("labels")
    if stated not in (True, False, None) or kind not in ("text", "integers", None):
        raise file.fault(f"expected the facts of a graph, got {section.facts!r}")
    try:
        arrays = file.load(section, devices.get("cpu"), verify=True)
        labels = None if kind is None else _names(arrays) if kind == "text" else _integers(arrays["numbers"])
        if labels is not None and len(labels) < A.nrows:
            raise ValueError(f"{len(labels)} of {A.nrows}")
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise file.fault(f"expected vertex labels, got damaged ones: {error}") from None
    try:
        if labels is not None:
            labels = validation.different_names("labels", labels)
        return graph_of_matrix(str(path), A, labels, directed, options, stated=stated)
    except InvalidValue as error:
        raise file.fault(str(error)) from None


def _integers(numbers: Array) -> tuple[int, ...]:
    if numbers.dtype != np.int64:
        raise ValueError(f"numbers of {numbers.dtype}")
    return tuple(numbers.tolist())


def _names(arrays: Mapping[str, Array]) -> tuple[str, ...]:
    """Decode the labels. ValueError, KeyError for invalid arrays."""
    raw, ends = arrays["text"].tobytes(), arrays["ends"]
    if arrays["text"].dtype != np.uint8:
        raise ValueError(f"text of {arrays['text'].dtype}")
    if ends.dtype != np.int64 or (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != len(raw):
        raise ValueError("ends that do not fit the text")
    places = pairwise([0, *ends.tolist()])
    if raw.isascii():
        text = raw.decode()
        return tuple(text[a:b] for a, b in places)
    return tuple(raw[a:b].decode(*_CODE) for a, b in places)


# ---- Files of any format, chosen by the file suffix.

FILE_FORMATS = {
    "mtx": "Matrix Market",
    "npz": "scipy.sparse.save_npz",
    "bitblas": "Matrix.save: stored formats, and vertex labels",
    "tsv": "edge list separated by tabs",
    "csv": "edge list separated by commas",
    "edges": "edge list separated by blanks",
    "parquet": "table of edges; needs the extra [arrow]",
    "sif": "Cytoscape's interactions, read only",
    "binsparse": "Binsparse in HDF5; needs h5py",
    "metis": "METIS, undirected graphs",
    "dimacs": "shortest paths of the 9th DIMACS challenge, read only",
}
DELIMITERS = {"tsv": "\t", "csv": ",", "edges": " "}
_SUFFIXES = {f".{name}": name for name in FILE_FORMATS} | {
    ".mm": "mtx", ".el": "edges", ".txt": "edges", ".h5": "binsparse", ".hdf5": "binsparse", ".graph": "metis",
    ".gr": "dimacs",
}  # fmt: skip
_READERS: dict[str, Callable[..., Graph | Matrix | Vector]] = {
    "mtx": mmread,
    "npz": read_npz,
    "parquet": read_parquet,
    "sif": read_sif,
    "bitblas": load_graph,
    "binsparse": read_binsparse,
    "metis": read_metis,
    "dimacs": read_dimacs,
}
# Formats that other libraries read, and the call that makes a Graph of such a file.
_FOREIGN_FORMATS = {
    ".graphml": "bitblas.Graph.from_networkx(networkx.read_graphml(path))",
    ".gml": "bitblas.Graph.from_networkx(networkx.read_gml(path))",
    ".gexf": "bitblas.Graph.from_networkx(networkx.read_gexf(path))",
    ".dot": "bitblas.Graph.from_networkx(networkx.nx_pydot.read_dot(path)), with pydot installed",
    ".gv": "bitblas.Graph.from_networkx(networkx.nx_pydot.read_dot(path)), with pydot installed",
    ".net": "bitblas.Graph.from_networkx(networkx.read_pajek(path), dup_op='plus')",
    ".paj": "bitblas.Graph.from_networkx(networkx.read_pajek(path), dup_op='plus')",
}
# Options of a reader in addition to its signature.
_EXTRA_OPTIONS = {
    "parquet": [p.name for p in inspect.signature(from_table).parameters.values() if p.kind is p.KEYWORD_ONLY],
    "sif": ["name", "dup_op", "dtype", "device", "format", "tile", "packed"],
    "dimacs": ["name", "dup_op", "dtype", "device", "format", "tile", "packed"],
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
    """The format of a file to read: as given, otherwise by its suffix, ignoring .gz, .bz2 and .xz.

    Parameters
    ----------
    more : optional
        Additional suffixes. InvalidValue for an unknown one.
    """
    if given is None:
        refuse_packed(name_of(source))
    return _format_of(source, given, more)


def _format_of(source: object, given: str | None, more: Mapping[str, str]) -> str:
    if given is not None:
        if given not in FILE_FORMATS:
            raise InvalidValue(f"file_format: expected one of {', '.join(FILE_FORMATS)}, got {given!r}")
        return given
    name = name_of(source)
    for packed in (".gz", ".bz2", ".xz"):
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
    """The format of a file to write, as in `file_format_of`. InvalidValue also for .sif and .gr, and for .npz, .h5,
    .bitblas and .parquet followed by .gz, .bz2 or .xz, because these are not compressed again."""
    kind = _format_of(target, file_format, more)
    if kind in ("sif", "dimacs"):
        raise InvalidValue(
            f"{name_of(target)}: expected a format that can be written, got {kind}. Hint: .tsv writes an edge list."
        )
    if kind in ("npz", "bitblas", "parquet", "binsparse") and (name := name_of(target)).endswith(
        (".gz", ".bz2", ".xz")
    ):
        raise InvalidValue(f"{name}: expected a name without .gz, .bz2 or .xz for a file of format {kind}, got one")
    return kind


def read(source: Input, /, file_format: str | None = None, **options: Any) -> Graph:
    """Read a file of any format: a Graph of the matrix and the vertex labels, if there are any.

    Parameters
    ----------
    file_format : optional
        One of `FILE_FORMATS`; None: by the suffix.
    options
        Those of `mmread`, `read_npz`, `read_edgelist`, `read_parquet`, `read_sif`, `read_binsparse`,
        `read_metis`, `read_dimacs`, or of `Matrix.load`, whose documentation lists what is raised; a
        file of bitblas is verified. directed: for every format; False: each edge counts in both
        directions, with the smaller weight, or both combined by dup_op. None: as the file states (a
        symmetric Matrix Market file, METIS, or a file that `Graph.write` wrote as npz, parquet or
        bitblas), otherwise True, with a warning if every edge is present in both directions with the
        same weight. TypeError for an option that the format does not have.
    """
    if isinstance(source, list | tuple):
        raise TypeError(
            f"source: expected a path or an open file, got {len(source)} of them. Hint: concatenate the tables first: "
            "Graph.from_table(pandas.concat(map(pandas.read_csv, paths)), 'from', 'to', 'weight')"
        )
    kind = file_format_of(source, file_format)
    reader = _READERS.get(kind, read_edgelist)
    _check_reader_options(reader, kind, options)
    if kind in ("metis", "dimacs"):
        return _read_text(reader, source, options)
    if kind in ("mtx", "npz", "binsparse"):
        directed, engine, progress, chunked = (
            options.pop(name, default)
            for name, default in (("directed", None), ("engine", "auto"), ("progress", None), ("chunked", None))
        )
        group = options.pop("group", "/")
        how = MatrixOptions(**options)
        stated: bool | None
        if kind == "mtx":
            A, symmetry = matrixmarket.read_with_symmetry(source, engine, how, progress, chunked)
            stated = False if symmetry == "symmetric" else None
        elif kind == "binsparse":
            A, stated = _matrix_of(name_of(source), read_binsparse(source, group=group, **how._asdict())), None
        else:
            A, stated = npz.read_with_direction(source, how)
        return graph_of_matrix(name_of(source), A, None, directed, how, stated=stated)
    if kind == "bitblas":
        return load_graph(_path(source), **options)
    if kind == "parquet":
        return read_parquet(source, **options)
    if kind == "sif":
        return read_sif(source, **options)
    return read_edgelist(source, **({"delimiter": DELIMITERS[kind]} | options))


def _matrix_of(place: str, found: Matrix | Vector) -> Matrix:
    if isinstance(found, Vector):
        raise InvalidValue(f"{place}: expected a matrix, got a vector. Hint: bitblas.io.read_binsparse reads it")
    return found


def _read_text(reader: Callable[..., object], source: Input, options: dict[str, Any]) -> Graph:
    """A file of METIS, which is undirected, or of DIMACS."""
    if reader is read_metis and options.pop("directed", None) is True:
        raise InvalidValue(f"{name_of(source)}: directed: expected None or False, because METIS files are undirected")
    graph = reader(source, **options)
    assert isinstance(graph, Graph)
    return graph


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
    """Write a Matrix to a file of any format, chosen as in `read`.

    Parameters
    ----------
    labels : optional
        Vertex names for an edge list, a table or a file in bitblas' own format.
    options
        Those of `mmwrite`, `write_npz`, `Matrix.save` (and `directed`), `write_parquet`,
        `write_binsparse`, `write_metis` or `write_edgelist`, whose documentation lists what is raised.
        `Graph.write` also stores whether the graph is directed.
    """
    kind = output_format_of(target, file_format)
    if kind in DELIMITERS:
        _check_foreign_options(write_edgelist, options)
    if kind == "mtx":
        mmwrite(target, matrix, **options)
    elif kind == "npz":
        write_npz(target, matrix, **options)
    elif kind == "bitblas":
        save_graph(_path(target), matrix, labels=labels, **options)
    elif kind == "parquet":
        write_parquet(target, matrix, labels=labels, **options)
    elif kind == "binsparse":
        write_binsparse(target, matrix, **options)
    elif kind == "metis":
        write_metis(target, matrix, **options)
    else:
        write_edgelist(target, matrix, labels=labels, **({"delimiter": DELIMITERS[kind]} | options))

"""Save and load graphs in bitblas' own file format: a Matrix, vertex labels, and edge direction.

The Matrix is stored as `Matrix.save` stores it. A section "graph" adds what only a Graph has. Its facts: "directed"
(true, false, or null: as the matrix is) and "labels" ("text", "integers", or null: none). Its arrays: for text labels
"text", the concatenated UTF-8, and "ends", the end of each label; for integer labels "numbers". The section is marked
optional: a reader that does not support it returns the Matrix.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from .. import device as devices
from ..core import Matrix
from ..core.options import check_storage_options
from ..device import Device
from ..exceptions import InvalidValue
from ..graph import Graph, validation
from ..typing import Array
from .build import DupOp, MatrixOptions
from .graphs import graph_of_matrix

NAME = "graph"
_CODE = ("utf-8", "surrogatepass")  # a name may contain lone surrogates


def save(
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


def load(
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

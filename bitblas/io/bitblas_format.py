"""Save and load graphs in bitblas' own file format: a Matrix, vertex labels, and edge direction.

The Matrix is stored as `Matrix.save` stores it. A section "graph" adds what only a Graph has. Its facts: "directed"
(true, false, or null: as the matrix is) and "labels" ("text", "integers", or null: none). Its arrays: for text labels
"text", the concatenated UTF-8, and "ends", the end of each label; for integer labels "numbers". The section is marked
optional: a reader that does not support it returns the Matrix.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .. import device as devices
from ..core.options import check_storage_options
from ..exceptions import InvalidValue
from ..graph import Graph, validation
from .graphs import graph_of_matrix

NAME = "graph"
_CODE = ("utf-8", "surrogatepass")  # a name may contain lone surrogates


def save(
    path: str | os.PathLike[str],
    matrix: Any,
    *,
    labels: Sequence[Hashable] | None = None,
    directed: bool | None = None,
    forms: bool = False,
) -> None:
    """Write a Matrix as `Matrix.save` does, with vertex labels and edge direction.

    Raises InvalidValue for names that are neither all strings nor all integers; OSError.
    """
    from ..formats.container import Section

    facts: dict[str, Any] = {"directed": validation.flag("directed", directed), "labels": None}
    arrays: dict[str, Any] = {}
    if labels is not None:
        labels = validation.different_names("labels", labels)
        facts["labels"] = validation.kind_of_names(labels)
        if facts["labels"] is None:
            raise InvalidValue(
                "labels: expected all strings or all integers for a file of format bitblas, got other names"
            )
        arrays = _arrays(labels) if facts["labels"] == "text" else {"numbers": np.array(labels, np.int64)}
    if facts == {"directed": None, "labels": None}:
        matrix.save(path, **({"forms": True} if forms else {}))
        return
    arrays = {name: matrix.device.asarray(array) for name, array in arrays.items()}
    matrix._save_with(path, forms, [Section(NAME, facts, arrays, required=False)])


def _arrays(labels: Sequence[Any]) -> dict[str, Any]:
    texts = [name.encode(*_CODE) for name in labels]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return {"text": np.frombuffer(b"".join(texts), np.uint8), "ends": np.cumsum(lengths)}


def load(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    device: Any = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
    dup_op: Any = None,
    directed: bool | None = None,
) -> Graph:
    """Load and verify a Graph written by `save` or `Matrix.save`. directed: None: as the file states, otherwise True.
    dup_op: only for directed=False, as in `bitblas.io.read`, because such a file contains no duplicates."""
    import bitblas as gb

    from ..formats.container import Container

    file = Container(path)
    A = gb.Matrix._of_file(file, True, name, device, check_storage_options(format, tile, packed))
    storage: dict[str, Any] = {"format": format, "tile": tile, "packed": packed}
    section = next((s for s in file.sections if s.name == NAME), None)
    if section is None:
        return graph_of_matrix(str(path), A, None, directed, dup_op=dup_op, **storage)
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
        return graph_of_matrix(str(path), A, labels, directed, stated=stated, dup_op=dup_op, **storage)
    except InvalidValue as error:
        raise file.fault(str(error)) from None


def _integers(numbers: Any) -> tuple[int, ...]:
    if numbers.dtype != np.int64:
        raise ValueError(f"numbers of {numbers.dtype}")
    return tuple(numbers.tolist())


def _names(arrays: dict[str, Any]) -> tuple[str, ...]:
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

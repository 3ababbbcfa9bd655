"""Read Cytoscape's simple interaction format (.sif): a vertex, a relation, and its target vertices per line."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ..exceptions import InvalidValue
from ..graph import Graph, validation
from .build import MatrixOptions
from .files import Input, opened
from .graphs import graph_of_edges


def read_sif(
    source: Input,
    *,
    relations: Collection[str] | None = None,
    directed: bool | None = None,
    progress: bool | None = None,
    **storage: Any,
) -> Graph:
    """Read a Cytoscape file: a Graph with the vertex names of the file, without weights.

    source: a path (plain, gzip or bzip2) or an open file. A line is ``name``, or ``name relation name name ..``,
    separated by tabs if the file contains any, otherwise by blanks. relations: those to read, None: all; all vertices
    of the file are kept. directed: False: edges go both ways; None: from the first name of a line to the others, with a
    warning if every edge is present in both directions. storage: as in Matrix.from_coo.

    Raises OSError if the file cannot be opened; InvalidValue, with file and line, for a line of two fields.
    """
    directed = validation.flag("directed", directed)
    if isinstance(relations, str):
        raise TypeError(f"relations: expected a list of relations, got {relations!r}. Hint: [{relations!r}]")
    with opened(source, progress) as file:
        name, text = file.name, b"".join(file.blocks()).decode(errors="replace").removeprefix("\ufeff")
    mark = "\t" if "\t" in text else None
    numbers: dict[str, int] = {}
    rows, cols = list[int](), list[int]()
    for k, line in enumerate(text.split("\n")):
        first, *rest = [x.strip() for x in line.split(mark)] if line.strip() else ("",)
        if len(rest) == 1:
            raise InvalidValue(f"{name}, line {k + 1}: expected a relation and a name after {first!r}, got {rest[0]!r}")
        ends = [numbers.setdefault(x, len(numbers)) for x in (first, *rest[1:]) if x]
        if rest and (relations is None or rest[0] in relations):
            rows += [ends[0]] * (len(ends) - 1)
            cols += ends[1:]
    i, j = np.array(rows, np.int64), np.array(cols, np.int64)
    return graph_of_edges(name, i, j, None, len(numbers), list(numbers), directed, MatrixOptions(**storage))

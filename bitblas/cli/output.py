"""Answers as files and as words."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..io import Graph, file_format_of, host_coo, mmwrite, replacing
from ..io import write as write_matrix


def plain(value: Any) -> str:
    """A value of a summary as text."""
    if isinstance(value, list):
        return " ".join(map(plain, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write(path: str, answer: Any, graph: Graph, vertices: bool) -> None:
    """An answer into a file: a Matrix as a matrix file, a Vector as lines, .npz or one column of Matrix Market.

    vertices: the values are vertices, and have their names too.
    """
    if hasattr(answer, "nrows"):
        kind = file_format_of(path)
        names = graph.labels if kind not in ("mtx", "npz") else None
        write_matrix(path, answer, kind, labels=names)
        return
    if path.endswith((".mtx", ".mtx.gz")):
        mmwrite(path, answer)
        return
    index, values = host_coo(answer)
    with replacing(path) as stream:
        if os.path.splitext(path)[1] == ".npz":
            parts: dict[str, Any] = {"indices": index, "values": values, "size": answer.size}
            if graph.labels is not None:
                parts["labels"] = np.array(graph.labels)
            np.savez(stream, **parts)
            return
        ends, answers = index.tolist(), values.tolist()
        if graph.labels is not None:
            ends = [graph.labels[i] for i in ends]
            answers = [graph.labels[x] for x in answers] if vertices else answers
        stream.writelines(f"{i}\t{x}\n".encode() for i, x in zip(ends, answers))

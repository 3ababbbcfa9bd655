"""Strongly connected components on the CPU, by one depth-first search: time linear in vertices and edges.

A search of one vertex after the other suits a CPU only; GPUs color the graph in rounds
(algorithms/connectivity/strong.py).
"""

from __future__ import annotations

import numpy as np

from .. import tuning
from ..formats.csr.layout import index_type
from ..kernels.variant import Variant
from ..store import MatrixStore


def strong_components(A: MatrixStore) -> np.ndarray:
    """The smallest vertex number in the strongly connected component of each vertex of a square matrix in host memory,
    INT64. Raises OutOfMemory."""
    device, rows, n = A.device, A.structure.plain_rows(), A.nrows
    kind = index_type(n + 1)
    device.foresee(f"components of {n} vertices", (5 * kind.itemsize + rows.ptr.itemsize) * n)
    label, waiting, state = np.full(n, -1, kind), np.empty(n, kind), np.zeros(4, np.int64)
    name = "connected_by_search"
    arrays: tuple[np.ndarray, ...] = waiting, label
    if not A.structure.symmetric:
        entry, order, path = np.empty(n, rows.ptr.dtype), np.empty(n, kind), np.empty(n, kind)
        name, arrays = "strong_components", (entry, order, np.zeros(n, kind), path, *arrays)
    kernel = device.kernel(Variant(f"kernels/{name}"))
    while state[0] < n:  # in parts, so that an interrupt may end it between them
        kernel(1, rows.ptr, rows.col, *arrays, state, tuning.count("strong.interrupt"))
    return label.astype(np.int64)

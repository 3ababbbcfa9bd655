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
    low, label, state = np.zeros(n, kind), np.full(n, -1, kind), np.zeros(4, np.int64)
    order, path, waiting = (np.empty(n, kind) for _ in range(3))
    entry = np.empty(n, rows.ptr.dtype)
    kernel = device.kernel(Variant("kernels/strong_components"))
    while state[0] < n:  # in parts, so that an interrupt may end it between them
        kernel(1, rows.ptr, rows.col, entry, order, low, path, waiting, label, state, tuning.count("strong.interrupt"))
    return label.astype(np.int64)

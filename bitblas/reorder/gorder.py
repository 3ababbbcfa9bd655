"""Gorder: place each vertex after those with which it shares most neighbours, for cache locality.

The score of a pair is 1 for an edge between them, plus 1 for each common neighbour; the next vertex is the one with the
highest sum of scores with the w vertices before it (the window). The total is at least 1 / (2 w) of the optimum. The
first vertex is the one with most neighbours. Of equal scores, the vertex that was near the window most recently goes
first, then the one with most neighbours. As in the authors' code, neighbours of more than sqrt(n) neighbours do not
count as common ones; this bounds the time, which is that of reading all pairs of neighbours of all other vertices. The
algorithm is sequential: it runs on the host, on one core, for every device of A.

Wei, Yu, Lu, Lin: Speedup graph processing by graph ordering. SIGMOD 2016.
"""

from __future__ import annotations

import math

import numpy as np

from .. import device as devices
from .. import tuning
from ..core import Matrix
from ..core.matrix.views import MatrixRead
from ..core.statement.running import guarded
from ..formats.csr.layout import pointers_of
from ..kernels.variant import Variant
from ..typing import Array
from ._graph import square, undirected


def gorder(A: MatrixRead) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n).

    Peak memory: 40 bytes per edge and 70 per vertex, on the host. Raises DimensionMismatch, TypeError.
    """
    return _gorder(square(A))


@guarded
def _gorder(A: Matrix) -> Array:
    host, n = devices.get("cpu"), A.nrows
    i, j = (A.device.to_host(part) for part in undirected(A)._stored.coo())
    i, j = i[i != j], j[i != j]
    ptr, col = pointers_of(i, n, host).astype(np.int64), j.astype(np.int32 if n < 1 << 31 else np.int64)
    order, window = np.zeros(n, np.int64), tuning.count("gorder.window")
    if n:
        degree = np.diff(ptr)
        # the largest score: an edge and all common neighbours with every vertex of the window
        head = np.full(window * (int(degree.max()) + 1) + 1, -1)
        key, bucket, behind, ahead = np.zeros(n, np.int64), *(np.full(n, -1) for _ in range(3))
        first = np.argsort(-degree, kind="stable")
        variant = Variant("kernels/gorder", (), (("WINDOW", window),))
        host.kernel(variant)(n, first, ptr, col, math.isqrt(n), key, bucket, head, behind, ahead, order)
    return A.device.asarray(order)

"""What stands above those in core who ask for it: each name with a function that loads it. core/__init__ and
bitblas/__init__, who know all, plug it in.

    MatrixExtras, VectorExtras  the classes of `A.ss` and `v.ss`
    orders                      {name: function of a Matrix, which gives a permutation}
    measured                    function of a Matrix and its Profile, which gives the Profile with measured times
    io                          bitblas.io, for Graph, which its readers make
    plots                       bitblas.plots, for `A.spy()`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

above: dict[str, Callable[[], Any]] = {}

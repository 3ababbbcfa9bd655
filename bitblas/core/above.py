"""Late binding: names that core uses from packages above it, each with a function that loads it.

core/__init__ and bitblas/__init__ register them, because they may import every package.

    MatrixExtras, VectorExtras  the classes of `A.ss` and `v.ss`
    orders                      {name: function from a Matrix to a permutation}
    measured                    function of a Matrix and its Profile, returns the Profile with measured times
    io                          bitblas.io, for Graph, which its readers make
    plots                       bitblas.plots, for `A.spy()`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

above: dict[str, Callable[[], Any]] = {}

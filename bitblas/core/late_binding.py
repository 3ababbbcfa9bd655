"""Late binding: names that core uses from packages above it, each with a function that loads it.

core/__init__ and bitblas/__init__ register them, because they may import every package. `A.ss` and `v.ss` are
properties that load core/ss on first use.

    MatrixExtras, VectorExtras  the classes of `A.ss` and `v.ss`
    orders                      {name: function from a Matrix to a permutation}
    measured                    function of a Matrix and its Profile, returns the Profile with measured times
    io                          bitblas.io, for Graph, which its readers make
    plots                       bitblas.plots, for `A.spy()`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# ---- Late binding: names that core uses from packages above it, each with a function that loads it.

late: dict[str, Callable[[], Any]] = {}


# ---- `A.ss` and `v.ss` as properties that load core/ss on first use, and `__sizeof__`.


class Accessor:
    """`A.ss`: the extras of an object; `Matrix.ss`: their class. Loaded at first use."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, parent: object, owner: type) -> Any:
        kind = late[self.name]()
        return kind if parent is None else kind(parent)


class Sized:
    """`sys.getsizeof` of an object includes its arrays, on its device too."""

    __slots__ = ()

    def __sizeof__(self) -> int:
        content: Any = self
        return object.__sizeof__(self) + int(content.memory().total)

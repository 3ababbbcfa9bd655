"""Hooks for packages above core: names that are loaded late, and the recorder of statements (bitblas/loop).

Late binding: names that core uses from packages above it, each with a function that loads it. core/__init__ and
bitblas/__init__ register them, because they may import every package. `A.ss` and `v.ss` are properties that load
core/ss on first use.

    MatrixExtras, VectorExtras  the classes of `A.ss` and `v.ss`
    orders                      {name: function from a Matrix to a permutation}
    measured                    function of a Matrix and its Profile, returns the Profile with measured times
    io                          bitblas.io, for Graph, which its readers make
    plots                       bitblas.plots, for `A.spy()`
    torch                       bitblas.torch, for `Matrix.from_torch` and `A.to_torch()`
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings.dtypes import DataType, cast_scalar

if TYPE_CHECKING:
    from .scalar import Scalar


late: dict[str, Callable[[], Any]] = {}


class Accessor:
    """`A.ss`: the extras of an object; `Matrix.ss`: their class. Loaded at first use."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, parent: object, owner: type) -> Any:
        kind = late[self.name]()
        return kind if parent is None else kind(parent)


# ---- Hook for symbolic execution: whether statements run or are recorded for loops on the device (bitblas/loop).


class _Own(threading.local):
    def __init__(self) -> None:
        self.recorder: Any = None
        self.started: list[Any] = []


class State:
    """recorder: receives the statements of this thread. threads: the threads that have a recorder; every statement
    checks this first, because reading a thread-local attribute takes Python eight times as long."""

    __slots__ = ("_own", "threads")

    def __init__(self) -> None:
        self._own, self.threads = _Own(), set[int]()

    @property
    def recorder(self) -> Any:
        return self._own.recorder

    @recorder.setter
    def recorder(self, recorder: Any) -> None:
        self._own.recorder = recorder
        (self.threads.discard if recorder is None else self.threads.add)(threading.get_ident())

    @property
    def started(self) -> list[Any]:
        """The recorders that this thread started and has not stopped; the last one is to be its `recorder`."""
        return self._own.started

    def choose(self) -> None:
        self.recorder = self.started[-1] if self.started else None


state = State()  # statements are recorded instead of run


class SymbolicScalar:
    """Stands for the value of a Scalar that is known only on the device, in places where expressions take NumPy
    scalars; casts are recorded."""

    __slots__ = ("casts", "scalar")

    def __init__(self, scalar: Scalar, casts: tuple[np.dtype, ...] = ()) -> None:
        self.scalar, self.casts = scalar, casts

    def __repr__(self) -> str:
        return str(self.scalar.name)


class SymbolicArray:
    """Stands for an array of a vector's content, as from `to_dense` and `to_coo`: at the entries of `where` (None:
    everywhere) the values of `vector`, or the positions themselves (None). It may index a Vector, be indexed by another
    one, and build a Vector."""

    __slots__ = ("size", "vector", "where")

    def __init__(self, vector: Any, where: Any, size: int) -> None:
        self.vector, self.where, self.size = vector, where, size

    def __getitem__(self, at: object) -> SymbolicArray:
        if isinstance(at, SymbolicArray) and at.vector is None and self.where is None and at.size == self.size:
            return SymbolicArray(self.vector, at.where, self.size)
        return self._refuse()

    def _refuse(self, *args: object) -> Any:
        state.recorder.refuse(f"{self}: used as an array")

    def __getattr__(self, name: str) -> Any:
        return self._refuse()

    def __str__(self) -> str:
        if self.where is None:
            return f"{self.vector.name}.to_dense()"
        if self.vector is self.where:
            return f"{self.where.name}.to_coo()[1]"
        places = f"{self.where.name}.to_coo()[0]"
        return places if self.vector is None else f"{self.vector.name}.to_dense()[{places}]"

    __array__ = __iter__ = __len__ = __bool__ = __eq__ = __lt__ = __add__ = __sub__ = _refuse
    __hash__ = object.__hash__


def cast(value: object, dtype: DataType) -> Any:
    """The cast of a NumPy scalar, or of a symbol for one."""
    if isinstance(value, SymbolicScalar):
        return SymbolicScalar(value.scalar, (*value.casts, dtype.np_type))
    return cast_scalar(value, dtype)

"""Hook for symbolic execution: whether statements run or are recorded for loops on the device (bitblas/loop)."""

from __future__ import annotations

import threading
from typing import Any

from semirings.dtypes import DataType, cast_scalar


class _Own(threading.local):
    recorder: Any = None


class State:
    """recorder: takes the statements of this thread. threads: those that have one, which every statement asks first:
    what is a thread's own takes Python eight times as long to find."""

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


state = State()  # instead of running them


class Symbol:
    """Stands for the value of a Scalar that only the device will know, where NumPy scalars go on their way into an
    expression; casts are written down."""

    __slots__ = ("casts", "scalar")

    def __init__(self, scalar: Any, casts: tuple[Any, ...] = ()) -> None:
        self.scalar, self.casts = scalar, casts

    def __repr__(self) -> str:
        return str(self.scalar.name)


class Listed:
    """Stands for an array with what a vector holds, as `to_dense` and `to_coo` give it: at the places where `where`
    has an entry (None: everywhere) the values of `vector`, or the places themselves (None). It may index a Vector, be
    indexed by another one, and build a Vector."""

    __slots__ = ("size", "vector", "where")

    def __init__(self, vector: Any, where: Any, size: int) -> None:
        self.vector, self.where, self.size = vector, where, size

    def __getitem__(self, at: Any) -> Listed:
        if isinstance(at, Listed) and at.vector is None and self.where is None and at.size == self.size:
            return Listed(self.vector, at.where, self.size)
        return self._refuse()

    def _refuse(self, *args: Any) -> Any:
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


def cast(value: Any, dtype: DataType) -> Any:
    """The cast of a NumPy scalar, or of what stands for one."""
    if isinstance(value, Symbol):
        return Symbol(value.scalar, (*value.casts, dtype.np_type))
    return cast_scalar(value, dtype)

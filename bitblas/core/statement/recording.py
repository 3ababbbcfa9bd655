"""Whether statements run or are written down: the hook for programs that stay on the device (bitblas/loop)."""

from __future__ import annotations

import threading
from typing import Any


class _State(threading.local):
    recorder: Any = None  # takes the statements of this thread instead of running them


state = _State()


class Symbol:
    """Stands for the value of a Scalar that only the device will know; casts are written down.

    It goes where NumPy scalars go on their way into an expression, which ask for `dtype` and `astype` alone.
    """

    __slots__ = ("casts", "scalar")

    def __init__(self, scalar: Any, casts: tuple[Any, ...] = ()) -> None:
        self.scalar, self.casts = scalar, casts

    class dtype:
        kind = "symbol"

    def astype(self, np_type: Any) -> Symbol:
        return Symbol(self.scalar, (*self.casts, np_type))

"""Whether statements run or are written down: the hook for programs that stay on the device (bitblas/loop)."""

from __future__ import annotations

import threading
from typing import Any

from semirings.dtypes import DataType, cast_scalar


class _State(threading.local):
    recorder: Any = None  # takes the statements of this thread instead of running them


state = _State()


class Symbol:
    """Stands for the value of a Scalar that only the device will know, where NumPy scalars go on their way into an
    expression; casts are written down."""

    __slots__ = ("casts", "scalar")

    def __init__(self, scalar: Any, casts: tuple[Any, ...] = ()) -> None:
        self.scalar, self.casts = scalar, casts


def cast(value: Any, dtype: DataType) -> Any:
    """The cast of a NumPy scalar, or of what stands for one."""
    if isinstance(value, Symbol):
        return Symbol(value.scalar, (*value.casts, dtype.np_type))
    return cast_scalar(value, dtype)

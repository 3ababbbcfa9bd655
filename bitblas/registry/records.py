"""Registered variants for user-defined types: functions of a record, alone, as a sum, and as both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from semirings import binary, monoid, semiring
from semirings.dtypes import DataType, lookup_dtype

from ..kernels.prologue import Variant


def point() -> DataType:
    return lookup_dtype(np.dtype([("x", np.float32), ("y", np.float32)]))


def _added(a: Any, b: Any) -> Any:
    return a.x + b.x, a.y + b.y


def _turned(a: Any, b: Any) -> Any:
    return a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x


ADD = binary.register_anonymous(_added, is_udt=True)
SUM = monoid.register_anonymous(ADD, (0, 0))
ROTATE = semiring.register_anonymous(SUM, binary.register_anonymous(_turned, is_udt=True))


def records() -> Iterator[Variant]:
    """Element-wise on two vectors, reduction of the rows of a matrix, and a matrix-vector product."""
    from ..verbs.records_device import records_variant

    add, turn = ADD[point()], ROTATE.binaryop[point()]
    yield records_variant(add, None, ("x", "y"), (), False)
    yield records_variant(None, add, ("x",), ("x",), False)
    yield records_variant(turn, add, ("x", "y"), ("x", "y"), False)

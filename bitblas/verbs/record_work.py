"""Operations on values of user-defined types (records.py), the same for CPU and GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Typed
from semirings.dtypes import DataType
from semirings.udf import Call


class Operand(NamedTuple):
    """Values, an array or one for all; `at` gives the index of each product's operand, None: in order."""

    values: Any
    at: Any = None


class Work(NamedTuple):
    """`product` (of operands x, y and t by name; None: x itself) of `size` operands each; with `add` a left fold of
    each segment pointers[s]:pointers[s + 1], none of them empty. rows, cols: their positions."""

    size: int
    product: Typed | None
    operands: dict[str, Operand]
    add: Typed | None = None
    pointers: Any = None
    rows: Any = None
    cols: Any = None

    @property
    def taken(self) -> DataType:
        """The type of the operands."""
        made: Any = self.add if self.product is None else self.product
        found: DataType = made.dtype
        return found

    @property
    def given(self) -> DataType:
        made: Any = self.product if self.add is None else self.add
        found: DataType = made.return_type
        return found


def is_call(op: Typed) -> bool:
    return isinstance(op.op.expr, Call)


def is_one(values: Any) -> bool:
    return isinstance(values, np.generic) or np.ndim(values) == 0

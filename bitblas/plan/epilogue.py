"""Choose the epilogue of a kernel from the types and values of the output, accumulator and result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Monoid, Typed
from semirings.dtypes import BOOL, DataType, cast_scalar


class Epilogue(NamedTuple):
    """Epilogue of a pull with sums of type z: how w<mask, accum, replace> = t ends in the kernel.

    merge: entries of w may stay. store: values are written; otherwise all values are equal and only presence is
    written.
    """

    z: DataType
    w: DataType
    accum: Typed | None = None
    merge: bool = False
    store: bool = True

    def constants(self) -> tuple[tuple[str, int], ...]:
        flags = {"MERGE": self.merge, "ACCUM": self.accum is not None, "STORE": self.store, "W_BOOL": self.w is BOOL}
        return tuple((name, int(flag)) for name, flag in flags.items())


def plan_epilogue(
    z: DataType, product: np.generic | None, w: DataType, value: np.generic | None, accum: Typed | None
) -> Epilogue:
    """The epilogue of a statement whose output, of type w, keeps entries. product, value: the single value of all
    entries of t, and of w, or None; if they are equal and the accumulator reproduces that value, only presence is
    written."""
    if product is None or value is None or not _same(cast_scalar(product, w), value):
        return Epilogue(z, w, accum, merge=True)
    if accum is not None:
        op = accum.op.binaryop if isinstance(accum.op, Monoid) else accum.op
        t = accum.op.compute_type(accum.dtype) if isinstance(accum.op, Monoid) else accum.dtype
        if op.positional or not _same(cast_scalar(op.evaluate(t, x=value, y=product), w), value):
            return Epilogue(z, w, accum, merge=True)
    return Epilogue(BOOL, w, accum, merge=True, store=False)


def _same(x: Any, y: Any) -> bool:
    """Whether two scalars of one type are bitwise equal."""
    return bool(np.asarray(x).tobytes() == np.asarray(y).tobytes())

"""How operands reach a kernel: arrays that always have an address, iso values as scalars, masks as words and a flip."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Typed, dtypes
from semirings.dtypes import BOOL, DataType

from ..device import Device, even_bounds
from ..device import dummy as dummy  # what verbs call it by
from ..formats.values import PackedValues
from ..store import ALL, NONE, Raw, VectorStore, words

PARALLEL_WORDS = 1 << 11  # below this a parallel launch on the CPU costs more than it saves

ZERO = {t.name: t.np_type.type(0) for t in dtypes.ALL}


class Mask(NamedTuple):
    """A bitset of the positions that may be written, or that may not (complement)."""

    words: Any
    complement: bool


class Into(NamedTuple):
    """The end of a statement, for a verb that does it itself: w<mask, accum, replace> = t."""

    w: VectorStore
    mask: Mask | None
    accum: Typed | None
    replace: bool
    keeps: bool  # whether entries of w may stay; else t is all that it will hold


def stored(device: Device, dtype: DataType, values: Any) -> tuple[Any, Any, int]:
    """Values as kernels take them: array, iso value, step."""
    if isinstance(values, np.generic):
        return dummy(device, "uint64" if dtype is BOOL else dtype.np_type.char), values, 0
    return values, ZERO[dtype.name], 1


def mask_arguments(device: Device, mask: Mask | None) -> tuple[Any, int, np.uint64]:
    """Words, step and flip: no mask is one zero word, flipped."""
    if mask is None:
        return dummy(device, "uint64"), 0, ALL
    return mask.words, 1, ALL if mask.complement else NONE


def entry_values(device: Device, dtype: DataType, values: Raw) -> tuple[Any, Any, int]:
    """The same for the values of a matrix, one per entry (BOOL: bools); of packed ones, for a kernel that reads them
    (kernels/values.cuh), the string, the base and the bits of a number."""
    if isinstance(values, np.generic):
        return dummy(device, dtype.np_type.char), values, 0
    if isinstance(values, PackedValues):
        return values.string, values.base, values.width
    return (values if len(values) else dummy(device, dtype.np_type.char)), dtype.np_type.type(0), 1


def word_bounds(u: VectorStore) -> Any:
    """Parallel ranges of the words of u on the CPU; None for one range: where few words, or few entries, are read."""
    n = words(u.size)
    if u.device.is_gpu or n < PARALLEL_WORDS or u.nvals < 64 * PARALLEL_WORDS:
        return None
    return even_bounds(n, u.device.threads)

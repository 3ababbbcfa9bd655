"""Kernel arguments of operands: arrays with a valid address, iso values as scalars, masks as words or their complement.

An operand is a NamedTuple of its kernel arguments in the kernel's order; the caller of a kernel concatenates them.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import Typed, dtypes
from semirings.dtypes import BOOL, DataType

from ..device import Device
from ..device import dummy as dummy  # what verbs call it by
from ..formats.values import PackedValues
from ..store import ALL, NONE, Raw, VectorStore, words

PARALLEL_WORDS = 1 << 10  # below this a parallel launch on the CPU costs more than it saves


class Zeros(dict[str, np.generic]):
    """The zero of each type, by its name."""

    def __missing__(self, name: str) -> np.generic:
        self[name] = dtypes.lookup_dtype(name).np_type.type(0)
        return self[name]


ZERO = Zeros((t.name, t.np_type.type(0)) for t in dtypes.ALL)
make: Any = tuple.__new__  # of a NamedTuple, by its class and its fields: half of what the class takes by itself


class Mask(NamedTuple):
    """The positions that may be written, or that may not (complement): a bitset, or a store that lists them."""

    words: Any
    complement: bool

    @property
    def bits(self) -> Any:
        """The bitset, in any case."""
        return self[0].present if isinstance(self[0], VectorStore) else self[0]


class Into(NamedTuple):
    """The end of a statement, for a verb that does it itself: w<mask, accum, replace> = t."""

    w: VectorStore
    mask: Mask | None
    accum: Typed | None
    replace: bool
    keeps: bool  # whether entries of w may stay; else t is all that it will hold


def overlap(w: VectorStore, u: VectorStore, mask: Mask | None) -> bool:
    """Whether what is written into the arrays of w would overwrite what is read of u, or of a mask."""
    bits, values, words = w.bits, w.values, None if mask is None else mask[0]
    if bits is u.bits or bits is u.values or (bits is words and bits is not None):
        return True
    if isinstance(values, np.generic):  # iso values may be one object
        return False
    return values is u.values or values is u.bits or values is words


class Values(NamedTuple):
    """An array and stride 1, or one value and stride 0; packed ones: the string, the base, the bits of a number."""

    array: Any
    iso: Any
    stride: int


class Rows(NamedTuple):
    """The units of a form, or segments of long ones: where each begins and ends, and (stride 1) which unit it is of."""

    begin: Any
    end: Any
    row_of: Any
    row_stride: int


class Input(NamedTuple):
    """A vector that is read."""

    bits: Any
    array: Any
    iso: Any
    stride: int


class Allowed(NamedTuple):
    """Where a mask allows to write; no mask is one zero word, inverted."""

    words: Any
    stride: int
    invert: np.uint64


class Matrix(NamedTuple):
    """A matrix that is read. contents: what the units hold, as the form gives it."""

    rows: Rows
    contents: tuple[Any, ...]
    values: Values

    def flat(self) -> tuple[Any, ...]:
        """The arguments of a kernel."""
        return *self.rows, *self.contents, *self.values


class Old(NamedTuple):
    """What the output of a statement holds before; moved: the result lies elsewhere; replace: nothing of it stays."""

    bits: Any
    array: Any
    iso: Any
    stride: int
    moved: int = 0
    replace: int = 0


class Output(NamedTuple):
    """Where the result goes."""

    bits: Any
    array: Any


def matrix_of(form: Any, ranked: bool, values: Values) -> Matrix:
    """A matrix in that form, as kernels take it. ranked: values are found by ranks."""
    starts, parts = form.unit_starts()
    rows = Rows(starts, starts[parts:], dummy(form.device, "int64"), 0)  # codes read where the group after ends
    return Matrix(rows, form.unit_contents(ranked), values)


def stored(device: Device, dtype: DataType, values: Any) -> Values:
    """The values of a vector as kernels take them."""
    if isinstance(values, np.generic):
        return make(Values, (nothing(device, dtype), values, 0))
    return make(Values, (values, ZERO[dtype.name], 1))


def nothing(device: Device, dtype: DataType) -> Any:
    """An array of a vector's values that nobody reads."""
    return dummy(device, "uint64" if dtype is BOOL else dtype.np_type.char)


@functools.cache
def no_mask(device: Device) -> Allowed:
    return Allowed(dummy(device, "uint64"), 0, ALL)


def allowed(device: Device, mask: Mask | None) -> Allowed:
    """A mask as kernels take it."""
    return no_mask(device) if mask is None else make(Allowed, (mask.bits, 1, ALL if mask[1] else NONE))


def entry_values(device: Device, dtype: DataType, values: Raw) -> Values:
    """The same for the values of a matrix, one per entry (BOOL: bools); of packed ones, for a kernel that reads them
    (kernels/values.cuh), the string, the base and the bits of a number."""
    if isinstance(values, np.generic):
        return make(Values, (dummy(device, dtype.np_type.char), values, 0))
    if isinstance(values, PackedValues):
        return Values(values.string, values.base, values.width)
    array = values if len(values) else dummy(device, dtype.np_type.char)
    return make(Values, (array, ZERO[dtype.name], 1))


def word_bounds(*read: VectorStore) -> Any:
    """Parallel ranges of the words of vectors on the CPU; None for one range: where few words, or few entries, are
    read."""
    device, n = read[0].device, words(read[0].size)
    if device.splits(n, PARALLEL_WORDS):
        for u in read:
            if u.nvals >= 64 * PARALLEL_WORDS:
                return device.ranges(n, PARALLEL_WORDS, parts=device.threads)
    return None

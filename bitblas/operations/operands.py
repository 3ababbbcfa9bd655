"""Kernel arguments of operands, and work partition: valid array addresses, iso values as scalars, masks as words.

An operand is a NamedTuple of its kernel arguments in the kernel's order; the caller of a kernel concatenates them. Rows
are partitioned into parallel ranges on the CPU and into whole words on a GPU, once per stored format.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed, dtypes
from semirings.dtypes import BOOL, DataType

from .. import tuning
from ..device import Device, threads
from ..device import dummy as dummy
from ..device.jit import BLOCK
from ..device.threads import Bounds
from ..formats import Layout, Structure
from ..formats.packing import PackedValues
from ..kernels.variant import Variant
from ..store import ALL, NONE, MatrixStore, PlainValues, Raw, VectorStore, words
from ..typing import Array, Number

# ---- Kernel arguments of operands: arrays with a valid address, iso values as scalars, masks as words or their
# complement.


class Zeros(dict[str, np.generic]):
    """The zero of each type, by its name."""

    def __missing__(self, name: str) -> np.generic:
        self[name] = dtypes.lookup_dtype(name).np_type.type(0)
        return self[name]


ZERO = Zeros((t.name, t.np_type.type(0)) for t in dtypes.ALL)
Pair = tuple[Number, Number]  # defaults for the missing left and right operand
make: Any = tuple.__new__  # builds a NamedTuple from its class and fields in half the time of calling the class


class Mask(NamedTuple):
    """The positions that may be written, or (complement) that may not: a bitset, or a store that lists them."""

    words: Array | VectorStore
    complement: bool

    @property
    def bits(self) -> Array:
        """The bitset, in any case."""
        return self[0].present if isinstance(self[0], VectorStore) else self[0]


class MatrixMask(NamedTuple):
    """A mask of a matrix: the entries of `structure` may be written, or (complement) all other positions."""

    structure: Structure
    complement: bool


class MatrixProduct(NamedTuple):
    """C<mask> = A (+).(x) B, of the transposes if requested."""

    A: MatrixStore
    B: MatrixStore
    semiring: Typed[Semiring]
    transpose_a: bool
    transpose_b: bool
    mask: MatrixMask | None

    @property
    def shape(self) -> tuple[int, int]:
        nrows = self.A.ncols if self.transpose_a else self.A.nrows
        return nrows, self.B.nrows if self.transpose_b else self.B.ncols


class Into(NamedTuple):
    """The output of a statement, for an operation that ends it itself: w<mask, accum, replace> = t."""

    w: VectorStore
    mask: Mask | None
    accum: Typed | None
    replace: bool
    keeps: bool  # whether entries of w may stay; otherwise w becomes t


class VectorProduct(NamedTuple):
    """t<mask> = A (+).(x) u, of the transpose if `transpose`; flip: u is the left operand. into: the output, if the
    operation ends the statement."""

    A: MatrixStore
    u: VectorStore
    semiring: Typed[Semiring]
    transpose: bool
    flip: bool
    mask: Mask | None
    into: Into | None


def overlap(w: VectorStore, u: VectorStore, mask: Mask | None) -> bool:
    """Whether writing the arrays of w would overwrite values that are still read from u or a mask."""
    bits, values, words = w.bits, w.values, None if mask is None else mask[0]
    if bits is u.bits or bits is u.values or (bits is words and bits is not None):
        return True
    if isinstance(values, np.generic):  # iso values may be one object
        return False
    return values is u.values or values is u.bits or values is words


class Values(NamedTuple):
    """An array and stride 1, or one value and stride 0; bit-packed values: the words, the base, the bits of a
    number."""

    array: Array
    iso: np.generic
    stride: int


class Rows(NamedTuple):
    """The units of a format, or segments of long ones: their begin and end, and (stride 1) the unit of each."""

    begin: Array
    end: Array
    row_of: Array
    row_stride: int


class Input(NamedTuple):
    """An input vector."""

    bits: Array
    array: Array
    iso: np.generic
    stride: int


class Allowed(NamedTuple):
    """The positions that a mask allows; no mask is one zero word, complemented."""

    words: Array
    stride: int
    invert: np.uint64


class Matrix(NamedTuple):
    """An input matrix. contents: what the units hold, as the format gives it."""

    rows: Rows
    contents: tuple[Any, ...]
    values: Values

    def flat(self) -> tuple[Any, ...]:
        """The arguments of a kernel."""
        return *self.rows, *self.contents, *self.values


class Old(NamedTuple):
    """The old content of a statement's output; moved: the result has other arrays; replace: nothing of it is kept."""

    bits: Array
    array: Array
    iso: np.generic
    stride: int
    moved: int = 0
    replace: int = 0


class Output(NamedTuple):
    """The arrays of the result."""

    bits: Array
    array: Array


class PreparedKernel:
    """A kernel with the arguments that do not change: kernel(n, *arguments, *others). bounds: ranges of the n units of
    work for threads of the CPU."""

    __slots__ = ("arguments", "bounds", "extra_blocks", "kernel", "n", "variant")

    def __init__(
        self, device: Device, variant: Variant, n: int, args: tuple[Any, ...], bounds: Bounds = None, extra: int = 0
    ) -> None:
        self.kernel, self.variant = device.kernel(variant), variant
        self.n, self.arguments, self.bounds, self.extra_blocks = n, args, bounds, extra

    def run(self, *others: Any) -> None:
        self.kernel(self.n, *self.arguments, *others, bounds=self.bounds, extra_blocks=self.extra_blocks)


def matrix_of(layout: Layout, ranked: bool, values: Values) -> Matrix:
    """A matrix in that format as kernel arguments. ranked: values are found by ranks."""
    view = layout.format.view
    starts, parts = view.starts(layout)
    # The kernel reads codes up to the end of the next group
    rows = Rows(starts, starts[parts:], dummy(layout.device, "int64"), 0)
    return Matrix(rows, view.contents(layout, ranked), values)


def stored(device: Device, dtype: DataType, values: PlainValues) -> Values:
    """The values of a vector as kernel arguments."""
    if isinstance(values, np.generic):
        return make(Values, (nothing(device, dtype), values, 0))
    return make(Values, (values, ZERO[dtype.name], 1))


def nothing(device: Device, dtype: DataType) -> Array:
    """An unused array in place of a vector's values."""
    return dummy(device, "uint64" if dtype is BOOL else dtype.np_type.char)


@functools.cache
def no_mask(device: Device) -> Allowed:
    return Allowed(dummy(device, "uint64"), 0, ALL)


def allowed(device: Device, mask: Mask | None) -> Allowed:
    """A mask as kernel arguments."""
    return no_mask(device) if mask is None else make(Allowed, (mask.bits, 1, ALL if mask[1] else NONE))


def entry_values(device: Device, dtype: DataType, values: Raw) -> Values:
    """The values of a matrix as kernel arguments, one per entry (BOOL: bools); of bit-packed ones, for a kernel that
    reads them (kernels/product.cuh), the words, the base and the bits of a number."""
    if isinstance(values, np.generic):
        return make(Values, (dummy(device, dtype.np_type.char), values, 0))
    if isinstance(values, PackedValues):
        return Values(values.string, values.base, values.width)
    array = values if len(values) else dummy(device, dtype.np_type.char)
    return make(Values, (array, ZERO[dtype.name], 1))


def word_bounds(*read: VectorStore) -> Bounds:
    """Parallel ranges of the words of vectors on the CPU; None for one range, if few words or few entries are read."""
    device, n, least = read[0].device, words(read[0].size), tuning.count("parallel.words")
    if device.splits(n, least):
        for u in read:
            if u.nvals >= 64 * least:
                return device.ranges(n, least, parts=device.threads)
    return None


# ---- Work partition of rows: parallel ranges on the CPU, whole words on a GPU. Computed once per stored format.


def unit_bounds(layout: Layout, device: Device, times: int = 1) -> Bounds:
    """Parallel ranges of units on the CPU with about equal numbers of entries, bounded at whole words of the output.
    times: the work per entry. Long work is split into Chunks."""
    chunks = device.chunks(layout.nvals * times)
    if chunks == 1 and not device.splits(layout.nvals, tuning.count("parallel.entries")):
        return None
    name = ("bounds", chunks, tuning.version())
    if name not in layout.cache:
        ranges = threads.balanced_ranges(layout.ptr, max(device.parts, chunks), 64 // layout.rows_per_unit)
        layout.cache[name] = ranges if chunks == 1 else threads.as_chunks(ranges)
    bounds: Bounds = layout.cache[name]
    return bounds


def pull_blocks(n: int, bits: int, lanes: int) -> int:
    """GPU blocks beyond those of n units, so that every bit of the words of their result, `bits` per unit, has its
    group of lanes: a pull writes whole words, so its output need not be cleared first."""
    padded = -(-n * bits // 64) * 64 // bits
    return -(-padded * lanes // BLOCK) - -(-n * lanes // BLOCK)

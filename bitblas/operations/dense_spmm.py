"""SpMM with dense arrays: y = A x, where x and y are row-major arrays of numbers without presence bits.

For arrays of other libraries, which are read and written in place: features of vertices in PyTorch (bitblas/torch.py).
A product with a bitmap (multivector.py) has presence bits, and pads its lines. A sum is taken in the order of its row's
entries. The largest or smallest product of each position comes with its column in A, from which PICK makes the
derivative; that for the values of the matrix is in sddmm.py. On a GPU, numbers may be stored in 16 bits; sums are FP32,
and rounded once.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from semirings.dtypes import BOOL, FP32, INT64, DataType, lookup_dtype

from .. import tuning
from ..device import Device, address
from ..formats import EVERYWHERE, format_of
from ..formats.schedule import has_even_units
from ..kernels.variant import Variant
from ..plan.product import power_of_two
from ..store import MatrixStore
from ..typing import Array
from .operands import PreparedKernel, Rows, dummy, entry_values, unit_bounds
from .variants import Types, constants

SUM, BEST, PICK = range(3)  # dense_spmm.cu
ROWS, PARTS, JOIN = range(3)
LOAD = 16  # bytes that a thread loads at once


class DenseProduct(NamedTuple):
    """y = A x, of the transpose if requested. mode: SUM of the products, the BEST of them (largest or smallest), or
    PICK: the sum of those whose winner is this row. A BEST of A and a PICK of its transpose belong together. mean: sums
    are divided by the number of entries of their row."""

    A: MatrixStore
    transposed: bool
    mode: int = SUM
    largest: bool = True
    mean: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        A = self.A
        return (A.ncols, A.nrows) if self.transposed else (A.nrows, A.ncols)


FP16, BF16 = 1, 2  # half.cuh


class Lines(NamedTuple):
    """The rows of a dense array, and (BEST: output, PICK: input) the column of A for each position. half: 0, or the
    format of 16-bit numbers, FP16 or BF16, whose bits are a UINT16 array."""

    values: Array
    winners: Array | None = None
    half: int = 0

    @property
    def stored(self) -> DataType:
        return lookup_dtype(self.values.dtype)

    @property
    def summed(self) -> DataType:
        """The type of sums."""
        return FP32 if self.half else self.stored

    def arguments(self, device: Device, winner: DataType) -> tuple[Array, Array]:
        lines = self.values.reshape(-1) if self.values.size else dummy(device, self.values.dtype.char)
        return lines, dummy(device, winner.np_type.char) if self.winners is None else self.winners.reshape(-1)


class _Kernel(NamedTuple):
    """What a kernel is compiled for. format: "" for JOIN, which reads no matrix. iso: all values of A are equal. x, y:
    types of the arrays; half: the format of those of 16 bits."""

    format: str
    indices: Types
    a: DataType
    iso: bool
    x: DataType
    y: DataType
    z: DataType
    half: int
    winner: DataType


def winner_type(of: DenseProduct) -> np.dtype:
    """The type of the columns of a BEST."""
    return np.dtype(np.int32 if of.shape[1] < 1 << 31 else np.int64)


def row_lengths(of: DenseProduct) -> Array:
    """The number of entries of each row (INT64)."""
    ptr = of.A.structure.rows(transposed=of.transposed).ptr
    lengths: Array = (ptr[1:] - ptr[:-1])[: of.shape[0]].astype(np.int64)
    return lengths


def multiply(of: DenseProduct, x: Lines, y: Lines) -> None:
    """Write the product to y. x, y: C-contiguous arrays of the device, as long as A has columns and rows, of one float
    type and width."""
    device, structure = of.A.device, of.A.structure
    z, width = x.summed, x.values.shape[1]
    winners = y.winners if of.mode == BEST else x.winners
    winner = INT64 if winners is None else lookup_dtype(winners.dtype)
    layout = structure.rows(transposed=of.transposed)
    values = of.A.values_for(layout.key, of.transposed)
    a, iso = entry_values(device, of.A.dtype, values), isinstance(values, np.generic)
    indices = layout.format.view.types(layout, False)
    made = _Kernel(layout.key, indices, of.A.dtype, iso, x.stored, y.stored, z, x.half, winner)
    given, out = x.arguments(device, winner), y.arguments(device, winner)
    none = dummy(device, "int64")
    rows, n = Rows(layout.ptr, layout.ptr[1:], none, 0), of.shape[0]
    if not n or not width:
        return
    if not device.is_simt:
        args = (EVERYWHERE, *rows, layout.col, layout.width, *a, width, *given, none, *out)
        PreparedKernel(device, _variant(made, of, ROWS, _Split()), n, args, unit_bounds(layout, device, width)).run()
        return
    split = _split_of(x, y, even=has_even_units(layout, tuning.value("multivector.even_rows")))
    pieces = -(-width // (split.lanes * split.pieces * split.together))
    longest, segment = tuning.count("multivector.long_row"), tuning.count("multivector.segment")
    matrix = layout.col, layout.width, *a, width
    args = (longest, *rows, *matrix, *given, none, *out)
    PreparedKernel(device, _variant(made, of, ROWS, split), n * pieces, args).run()
    hubs = layout.format.view.hubs(layout, longest, segment)
    if hubs is None:
        return
    parts = Lines(
        device.xp.empty((hubs.segments, width), z.np_type),
        device.xp.empty((hubs.segments, width), winner.np_type) if of.mode == BEST else None,
    )
    found = parts.arguments(device, winner)
    rows = Rows(hubs.begin, hubs.end, hubs.row_of, 1)
    variant = _variant(made._replace(y=z), of._replace(mean=False), PARTS, split)
    args = (EVERYWHERE, *rows, *matrix, *given, none, *found)
    PreparedKernel(device, variant, hubs.segments * pieces, args).run()
    joined = _Kernel("", (("PTR", INT64), ("COL", INT64)), BOOL, True, z, y.stored, z, x.half, winner)
    variant = _variant(joined, of._replace(mode=BEST if of.mode == BEST else SUM), JOIN, split)
    entries = (layout.ptr[hubs.rows + 1] - layout.ptr[hubs.rows]).astype(np.int64) if of.mean else none
    rows, one = Rows(hubs.first, hubs.first[1:], hubs.rows, 1), entry_values(device, BOOL, np.bool_(True))
    args = (EVERYWHERE, *rows, none, 0, *one, width, *found, entries, *out)
    PreparedKernel(device, variant, len(hubs.rows) * pieces, args).run()


class _Split(NamedTuple):
    """How lanes share a row: each takes `pieces` times `together` positions, and loads `together` at once."""

    lanes: int = 1
    pieces: int = 1
    together: int = 1


def _split_of(x: Lines, y: Lines, *, even: bool) -> _Split:
    """Loads of up to 16 bytes if at least 4 lanes share a row, and then two pieces a lane if rows are even: each lane
    reads the columns and values of all entries."""
    arrays = [array for lines in (x, y) for array in lines[:2] if array is not None]
    width = x.values.shape[1]
    most = 1 if any(address(array) % LOAD for array in arrays) else LOAD // max(array.itemsize for array in arrays)
    together = next((k for k in (most, 2) if 1 < k <= most and width % k == 0 and width >= 4 * k), 1)
    loads = width // together
    lanes = power_of_two(loads - 1, 4, 32)
    if even and loads % (2 * lanes) == 0:
        return _Split(lanes, 2, together)
    return _Split(power_of_two(2 * loads - 1, 4, 32), 1, together)


FLAGS = {"AHEAD": 4, "PIPE": 0, "STREAM": 1, "BLOCKS": 4, "CLAMP": 2, "SHARED": 0, "SLOW": 0, "SHARES": 1}


def _variant(of: _Kernel, product: DenseProduct, part: int, split: _Split) -> Variant:
    packed = bool(of.format) and format_of(of.format).packed
    flags = constants(MODE=product.mode, MAX=product.largest, MEAN=product.mean, PART=part, PACKED=packed, ISO=of.iso)
    flags += constants(HALF=of.half, LANES=split.lanes * FLAGS["SHARES"], PIECES=split.pieces, VEC=split.together, **FLAGS)
    types = *of.indices, ("A", of.a), ("X", of.x), ("Y", of.y), ("Z", of.z), ("WINNER", of.winner)
    return Variant("kernels/dense_spmm", types, flags, label=("sum", "best", "pick")[product.mode])

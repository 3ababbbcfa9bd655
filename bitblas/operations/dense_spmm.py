"""SpMM with dense arrays: y = A x, where x and y are row-major arrays of numbers without presence bits.

For arrays of other libraries, which are read and written in place: features of vertices in PyTorch (bitblas/torch.py).
A product with a bitmap (multivector.py) has presence bits, and pads its lines. A sum is taken in a fixed order, on a
CPU that of its row's entries. The largest or smallest product of each position comes with its column in A, from which
PICK makes the derivative; that for the values of the matrix is in sddmm.py. On a GPU, numbers may be stored in 16 bits;
sums are FP32, and rounded once.
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
    types of the arrays; half: the format of those of 16 bits. mode, largest, mean: of the product."""

    format: str
    indices: Types
    a: DataType
    iso: bool
    x: DataType
    y: DataType
    half: int
    winner: DataType
    mode: int
    largest: bool
    mean: bool

    @property
    def z(self) -> DataType:
        """The type of sums."""
        return FP32 if self.half else self.x


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
    device, structure, width, n = of.A.device, of.A.structure, x.values.shape[1], of.shape[0]
    winners = y.winners if of.mode == BEST else x.winners
    winner = INT64 if winners is None else lookup_dtype(winners.dtype)
    layout = structure.rows(transposed=of.transposed)
    values = of.A.values_for(layout.key, of.transposed)
    a, iso = entry_values(device, of.A.dtype, values), isinstance(values, np.generic)
    of_rows = layout.key, layout.format.view.types(layout, False), of.A.dtype, iso
    made = _Kernel(*of_rows, x.stored, y.stored, x.half, winner, *of[2:])
    given, out, none = x.arguments(device, winner), y.arguments(device, winner), dummy(device, "int64")
    rows, matrix = Rows(layout.ptr, layout.ptr[1:], none, 0), (layout.col, layout.width, *a, width)
    if not n or not width:
        return
    if not device.is_simt:
        args = (EVERYWHERE, *rows, *matrix, *given, none, *out)
        PreparedKernel(device, _variant(made, ROWS, _Split()), n, args, unit_bounds(layout, device, width)).run()
        return
    even = has_even_units(layout, tuning.value("multivector.even_rows"))
    split = _split_of(x, y, even=even, length=0 if of.mode == BEST else layout.nvals / n)
    pieces = -(-width // (split.side * split.pieces * split.together))
    longest, segment = tuning.count("multivector.long_row"), tuning.count("multivector.segment")
    args = (longest, *rows, *matrix, *given, none, *out)
    PreparedKernel(device, _variant(made, ROWS, split), n * pieces, args).run()
    hubs = layout.format.view.hubs(layout, longest, segment)
    if hubs is None:
        return
    parts = Lines(
        device.xp.empty((hubs.segments, width), made.z.np_type),
        device.xp.empty((hubs.segments, width), winner.np_type) if of.mode == BEST else None,
    )
    found = parts.arguments(device, winner)
    args = (EVERYWHERE, hubs.begin, hubs.end, hubs.row_of, 1, *matrix, *given, none, *found)
    variant = _variant(made._replace(y=made.z, mean=False), PARTS, split)
    PreparedKernel(device, variant, hubs.segments * pieces, args).run()
    joined = made._replace(format="", indices=(("PTR", INT64), ("COL", INT64)), a=BOOL, iso=True, x=made.z)
    joined = joined._replace(mode=BEST if of.mode == BEST else SUM)
    entries = (layout.ptr[hubs.rows + 1] - layout.ptr[hubs.rows]).astype(np.int64) if of.mean else none
    one = entry_values(device, BOOL, np.bool_(True))
    args = (EVERYWHERE, hubs.first, hubs.first[1:], hubs.rows, 1, none, 0, *one, width, *found, entries, *out)
    PreparedKernel(device, _variant(joined, JOIN, split), len(hubs.rows) * pieces, args).run()


class _Split(NamedTuple):
    """How lanes share a row: `side` lanes side by side take `pieces` times `together` positions each, and load
    `together` at once; `shares` times as many lanes share its entries."""

    side: int = 1
    pieces: int = 1
    together: int = 1
    shares: int = 1


def _split_of(x: Lines, y: Lines, *, even: bool, length: float) -> _Split:
    """Loads of up to 16 bytes. length: mean entries of a row, if lanes may share them: then a row has more lanes, if
    rows differ up to a warp. If rows are even, a lane takes two pieces, because each reads the columns and values of
    all entries; if not, sums of at most 16 bytes, so that a multiprocessor has more rows at once."""
    arrays = [array for lines in (x, y) for array in lines[:2] if array is not None]
    width, size = x.values.shape[1], max(array.itemsize for array in arrays)
    most = 1 if any(address(array) % LOAD for array in arrays) else LOAD // (size if even else max(size, 4))
    least = 1 if length else 4  # lanes side by side
    together = next((k for k in (8, 4, 2) if k <= most and width % k == 0 and width >= least * k), 1)
    loads = width // together
    lanes = power_of_two(loads - 1, 4, 32)
    if even and loads % (2 * lanes) == 0:
        return _Split(lanes, 2, together)
    side = power_of_two(2 * loads - 1, least, 32)
    row = tuning.count("multivector.lanes_even") if even else tuning.count("multivector.lanes")
    shares = min(row // side, tuning.count("multivector.shares"), length / 2)
    return _Split(side, 1, together, power_of_two(shares, 1, 32))


def _blocks(of: _Kernel, part: int, split: _Split) -> int:
    """Blocks of a multiprocessor for whose registers a kernel is compiled: as many as spill none. With 8, 64 columns
    took 1218 us on rmat20 with weights (H200), with 6 1282, with 4 1419."""
    column = dict(of.indices)["COL"]
    few = part != JOIN and (of.iso or of.a.nbytes <= 4) and column.nbytes <= 4 and not _is_packed(of)
    if of.mode == SUM and few:
        return 8 if split.pieces * split.together * of.z.nbytes <= LOAD else 5
    return 4 if split.pieces == 1 else 2


def _is_packed(of: _Kernel) -> bool:
    return bool(of.format) and format_of(of.format).packed


@functools.cache
def _variant(of: _Kernel, part: int, split: _Split) -> Variant:
    flags = constants(MODE=of.mode, MAX=of.largest, MEAN=of.mean, PART=part, PACKED=_is_packed(of), ISO=of.iso)
    flags += constants(LANES=split.side * split.shares, SHARES=split.shares, PIECES=split.pieces, VEC=split.together)
    flags += constants(HALF=of.half, BLOCKS=_blocks(of, part, split))
    types = *of.indices, ("A", of.a), ("X", of.x), ("Y", of.y), ("Z", of.z), ("WINNER", of.winner)
    return Variant("kernels/dense_spmm", types, flags, label=("sum", "best", "pick")[of.mode])

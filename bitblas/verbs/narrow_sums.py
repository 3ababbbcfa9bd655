"""Row and column reductions of a multivector (a line is one row of the tall side); bitmaps as kernel arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Monoid, Typed
from semirings.dtypes import BOOL, DataType, cast_scalar

from ..device import Device
from ..flat import flat_of
from ..formats import EVERYWHERE
from ..formats.bitmap.layout import Lines, lines_of
from ..kernels.prologue import Variant
from ..plan.product import COUNT, VALUES
from ..store import MatrixStore, VectorStore, dense_values, words
from .narrow_variants import across_variant, join_lines_variant
from .operands import ZERO, Values, dummy, entry_values, nothing, stored
from .pull import compiled

RUN = 1 << 8  # lines that a thread sums one after the other in a column reduction
PARALLEL_LINES = 1 << 12
ALWAYS = 1 << 62


class Call(NamedTuple):
    """A kernel with its arguments. bounds: the ranges of its units, on the CPU."""

    variant: Variant
    n: int
    args: tuple[Any, ...]
    bounds: Any = None

    def run(self, device: Device) -> None:
        compiled(device, self.variant)(self.n, *self.args, bounds=self.bounds)


class Asked(NamedTuple):
    """A number on the device, and the limits within which it has to be for a kernel to run."""

    number: Any
    least: int
    most: int


def always(device: Device) -> Asked:
    """The condition of a kernel that always runs."""
    return Asked(dummy(device, "int64"), 0, ALWAYS)


def joined(
    device: Device, x: VectorStore, monoid: Typed[Monoid], lines: Lines, rows: Any, n: int, mask: Any, to: Any,
    asked: Asked | None = None,
) -> Call:  # fmt: skip
    """Reduce runs of lines of x, one run for each of n rows, to lines of a bitmap: its bits and values."""
    z = monoid.op.result_type(monoid.dtype)
    variant = join_lines_variant(monoid, x.dtype, lines.stride, min(32, lines.stride) if device.shares_rows else 1)
    none = dummy(device, "int64")
    per = words_of(lines) if device.shares_rows else 1
    args = (
        EVERYWHERE, *rows, none, 0, *entry_values(device, BOOL, BOOL.np_type.type(True)),
        *read_lines(device, x, lines, True), *line_mask(device, mask, lines),
        as_lines(to[0], lines), as_sums(to[1], z, lines), *(asked or always(device)),
    )  # fmt: skip
    return Call(variant, n * per, args)


def words_of(lines: Lines) -> int:
    """Words of a line as kernels count them."""
    return max(1, lines.stride // 64)


def as_lines(bits: Any, lines: Lines) -> Any:
    """Bits as numbers of at most a line each."""
    return bits.view(f"u{min(64, lines.stride) // 8}")


def as_sums(sums: Any, z: DataType, lines: Lines) -> Any:
    """The values of a bitmap as an output."""
    return as_lines(sums, lines) if z is BOOL else sums


def read_lines(device: Device, x: VectorStore, lines: Lines, valued: bool) -> tuple[Any, ...]:
    """Words of a line, positions in the last word, and a bitmap with its values."""
    per = words_of(lines)
    last = (1 << (lines.width - 64 * (per - 1))) - 1
    values = stored(device, x.dtype, x.values) if valued else Values(nothing(device, BOOL), ZERO["BOOL"], 0)
    return per, np.uint64(last), as_lines(x.present, lines), *values


def line_mask(device: Device, mask: tuple[Any, bool] | None, lines: Lines) -> tuple[Any, ...]:
    """Bits, and whether they are complemented."""
    every, none = ~np.uint64(0), np.uint64(0)
    if mask is None:
        return as_lines(dummy(device, "uint64"), lines), 0, every
    return as_lines(mask[0], lines), 1, every if mask[1] else none


def reduce_lines(A: MatrixStore, monoid: Typed[Monoid], *, along: bool) -> VectorStore:
    """The monoid's reduction of each line (`along`), or over all lines at each position of a line: a vector."""
    return (_along if along else _over)(flat_of(A), lines_of(A.nrows, A.ncols), monoid)


def _along(x: VectorStore, lines: Lines, monoid: Typed[Monoid]) -> VectorStore:
    device, xp = x.device, x.device.xp
    z = monoid.op.result_type(monoid.dtype)
    kind = COUNT if x.iso else VALUES
    lanes = min(32, lines.stride) if device.shares_rows and kind == VALUES else 1
    one = cast_scalar(x.values, z) if x.iso else ZERO[z.name]
    x_type = BOOL if x.iso else x.dtype
    values = Values(nothing(device, BOOL), ZERO["BOOL"], 0) if x.iso else stored(device, x.dtype, x.values)
    bits = xp.zeros(words(lines.number), np.uint64)
    sums = dense_values(device, lines.number, z)
    bounds = device.ranges(words(lines.number), PARALLEL_LINES // 64)
    if bounds is not None:
        bounds = np.minimum(64 * bounds, lines.number)
    compiled(device, across_variant(monoid, x_type, lines.stride, kind, lanes))(
        lines.number, words_of(lines), as_lines(x.present, lines), *values, one, bits, sums, bounds=bounds
    )
    return VectorStore(device, lines.number, z, bits, sums)


def _over(x: VectorStore, lines: Lines, monoid: Typed[Monoid]) -> VectorStore:
    device, xp = x.device, x.device.xp
    z, n = monoid.op.result_type(monoid.dtype), lines.number
    while True:  # only the shape determines the order of float sums
        runs = -(-n // RUN) or 1
        limits = xp.minimum(xp.arange(runs + 1, dtype=np.int64) * RUN, n)
        mine = lines._replace(number=runs)
        bits, sums = xp.zeros(mine.words, np.uint64), dense_values(device, mine.places, z)
        rows = limits, limits[1:], dummy(device, "int64"), 0
        joined(device, x, monoid, lines, rows, runs, None, (bits, sums)).run(device)
        x, n = VectorStore(device, mine.places, z, bits, sums), runs
        if runs == 1:
            return VectorStore(device, lines.width, z, bits[: words(lines.width)], sums)

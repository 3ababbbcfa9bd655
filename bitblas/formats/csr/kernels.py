"""Kernels of layouts by rows: arguments and constants of products, hub columns, utility kernels.

Hub columns: a pull tries one column of each row first, one that many rows have, because a search has likely reached
it.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import INT32, INT64, DataType, lookup_dtype

from ... import tuning
from ...device import dummy
from ...kernels.variant import Variant
from ...typing import Array
from ..contract import Arguments, Constants, Dot, Format, Layout, LayoutBase, Types, compute_once
from ..schedule import Hubs, hubs_of, longest_unit, power_of_two
from .binning import binned_constants
from .cost import UNROLL, RowsCost, index_type

if TYPE_CHECKING:
    from ..structure import Structure
    from .layout import Rows

# ---- Hub columns: the column of each row that a pull tries first.
#
# Many rows have such a column, so a search has likely reached it.


def hub_columns_variant(types: Types, packed: bool, lanes: int) -> Variant:
    """The kernel that finds hub columns."""
    return Variant("formats/csr/likely", types, (("PACKED", int(packed)), ("LANES", lanes)))


def bits_of(xp: ModuleType, flags: Array) -> Array:
    """Pack flags into whole words of bits."""
    padded = xp.zeros(-(-len(flags) // 64) * 64, bool)
    padded[: len(flags)] = flags
    return xp.packbits(padded, bitorder="little").view(np.uint64)


def hub_columns(layout: RowsArguments, types: Types) -> tuple[Array, Array] | None:
    """Hub columns of a square matrix: for each row the column that has most entries itself; and the bits of the
    nonempty rows. None if all rows have similar lengths."""
    key = "likely", tuning.version()
    if key not in layout.cache:
        found, skew = None, tuning.value("rows.hub_column_skew")
        if layout.nrows == layout.ncols and longest_unit(layout) * layout.nrows > skew * layout.nvals:
            found = layout.device.xp.empty(layout.nrows, dict(types)["COL"].np_type)
            lanes = power_of_two(layout.nvals / layout.nrows, tuning.count("csr.hub_column_least_lanes"), 32)
            kernel = layout.device.kernel(hub_columns_variant(types, layout.format.packed, lanes))
            kernel(layout.nrows, layout.ptr, layout.col, layout.width, found)
            found = found, bits_of(layout.device.xp, layout.ptr[1:] > layout.ptr[:-1])
        layout.cache[key] = found
    return layout.cache[key]


# ---- Utility kernels of rows, plain and packed: all but products.

TYPES = (("PTR", INT32), ("COL", INT32))
PLACES = (*TYPES, ("PLACE", INT32))


def deal_variant(col: DataType, count: int) -> Variant:
    """The kernel that distributes entries to their rows, or counts them."""
    return Variant("formats/csr/deal", (("COL", col),), (("COUNT", count),))


# ---- Kernel arguments of layouts by rows, with plain or packed columns.

# Types of a dot kernel's index arrays: of A, of B' (which may have more entries), of the mask.
DOT_INDICES = ("PTR", "COL", "BPTR", "MPTR", "MCOL")


def pieces(rows: RowsArguments) -> list[int]:
    """Limits of the entries that are processed at a time, from 0 to the end: all plain columns at once, packed ones in
    pieces."""
    nvals = rows.nvals
    return [*range(0, nvals, tuning.count("csr.piece")), nvals] if nvals and rows.format.packed else [0, nvals]


def column_types(rows: RowsArguments) -> Types:
    """The types of row pointers and of (unpacked) column numbers."""
    return ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(index_type(rows.ncols)))


@functools.cache
def _dot_types(*kinds: np.dtype) -> Types:
    return tuple((name, lookup_dtype(kind)) for name, kind in zip(DOT_INDICES, kinds, strict=True))


class RowsFormat(RowsCost):
    """Compile-time constants of kernels by rows."""

    indices = ("PTR", "COL")
    dot_indices = DOT_INDICES

    def pull_constants(
        self, *, ranked: bool, neutral: bool, padded: bool, many_blocks: bool, staged: int, width: int
    ) -> Constants:
        blocks = tuning.count("csr.min_blocks") if many_blocks else tuning.count("csr.min_blocks_wide")
        more = [("MIN_BLOCKS", blocks), ("STAGED", staged), ("STAGE", tuning.count("csr.stage"))]
        return [*self._columns(width), ("UNROLL", UNROLL), *more]

    def binned_constants(self, shared: int) -> Constants:
        return binned_constants(shared)

    def push_constants(self, *, ranked: bool, neutral: bool) -> Constants:
        return self._columns()

    def dot_constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        # A block takes 256 entries, one per thread (LANES), although GROUP lanes then share the work of an entry.
        shape = [("LANES", 1), ("GROUP", lanes), ("COL_64", int(dict(types)["COL"] is INT64))]
        slots, least = tuning.count("csr.dot_slots"), tuning.count("csr.dot_table_from")
        table = [("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1), ("TABLE_FROM", least)]
        table += [("TABLE_FOR", tuning.count("csr.dot_table_for")), ("LONG", tuning.count("csr.dot_long"))]
        return [*shape, *table, *self._columns(), ("M_PACKED", int(mask.packed))]

    def _columns(self, width: int = 0) -> Constants:
        """Constants of columns.cuh. width: bits of packed columns if the kernel is specialized for them."""
        return [("PACKED", int(self.packed)), ("WIDTH", width)]

    def dot_mask(self, structure: Structure) -> Layout:
        return structure.rows()

    def dot(self, left: Rows, right: Rows, mask: Rows, ranked: tuple[bool, bool]) -> Dot:
        kinds = left.ptr.dtype, index_type(left.ncols), right.ptr.dtype, mask.ptr.dtype, index_type(mask.ncols)
        at = mask.ptr, mask.nrows, mask.col, mask.width, right.width
        return Dot(mask.nvals, _dot_types(*kinds), at, (left.ptr, left.col), (right.ptr, right.col))


FORMATS = (RowsFormat(),)


class RowsArguments(LayoutBase):
    """Kernel arguments of layouts by rows."""

    if TYPE_CHECKING:

        @property
        def width(self) -> int:
            """Bits of a packed column number; 0: columns are plain."""

        def columns(self, low: int = 0, high: int | None = None) -> Array:
            """The columns of entries low .. high."""

        def columns_at(self, places: Array) -> Array:
            """The columns of these entries."""

    def types(self, ranked: bool) -> Types:
        return compute_once(self.cache, "types", lambda: column_types(self))

    def unit_starts(self) -> tuple[Array, int]:
        return self.ptr, 1

    def unit_contents(self, ranked: bool) -> Arguments:
        return self.col, self.width

    def pushed(self, ranked: bool, longest: int) -> Arguments:
        return self.ptr, self.col, self.width

    def pulled(self, ranked: bool, *, read: bool = True) -> Arguments:
        likely = hub_columns(self, column_types(self)) if read else None
        none = dummy(self.device, index_type(self.ncols).name), dummy(self.device, "uint64")
        return self.ptr, self.col, *(none if likely is None else likely), np.int64(likely is not None)

    def ranks(self) -> None:
        return None

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        return hubs_of(self, longest, part)

    def segments(self, longest: int) -> int:
        def compute() -> int:
            length = self.ptr[1:] - self.ptr[:-1]
            return int((-(-length // longest))[length > longest].sum())

        return compute_once(self.cache, ("segments", longest), compute)

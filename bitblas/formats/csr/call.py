"""Kernel arguments of layouts by rows, with plain or packed columns."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings.dtypes import INT64, lookup_dtype

from ...device import dummy
from ..choice import Constants, Dot, Format
from ..contract import Form, Types
from ..hubs import Hubs, hubs_of
from .choice import DOT_TABLE, MIN_BLOCKS, STAGE, UNROLL, RowsChoice, index_type
from .grades import graded_constants
from .likely import likely_of

# Types of a dot kernel's index arrays: of A, of B' (which may have more entries), of the mask.
DOT_INDICES = ("PTR", "COL", "BPTR", "MPTR", "MCOL")
PIECE = 1 << 22  # packed columns that are unpacked at a time: 16 to 32 MB, and few launches (not measured)


def pieces(rows: Any) -> list[int]:
    """Limits of the entries that are processed at a time, from 0 to the end: all plain columns at once, packed ones in
    pieces of PIECE."""
    nvals = rows.nvals
    return [*range(0, nvals, PIECE), nvals] if nvals and rows.format.packed else [0, nvals]


def column_types(rows: Any) -> Types:
    """The types of row pointers and of (unpacked) column numbers."""
    return ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(index_type(rows.ncols)))


@functools.cache
def _dot_types(*kinds: Any) -> Types:
    return tuple((name, lookup_dtype(kind)) for name, kind in zip(DOT_INDICES, kinds, strict=True))


class RowsFormat(RowsChoice):
    """Compile-time constants of kernels by rows."""

    indices = ("PTR", "COL")
    dot_indices = DOT_INDICES

    def pull_constants(
        self, *, ranked: bool, neutral: bool, padded: bool, many_blocks: bool, staged: int, width: int
    ) -> Constants:
        more = [("MIN_BLOCKS", MIN_BLOCKS if many_blocks else 4), ("STAGED", staged), ("STAGE", STAGE)]
        return [*self._columns(width), ("UNROLL", UNROLL), *more]

    def graded_constants(self, shared: int) -> Constants:
        return graded_constants(shared)

    def push_constants(self, *, ranked: bool, neutral: bool) -> Constants:
        return self._columns()

    def dot_constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        # A block takes 256 entries, one per thread (LANES), although GROUP lanes then share the work of an entry.
        shape = [("LANES", 1), ("GROUP", lanes), ("COL_64", int(dict(types)["COL"] is INT64)), *DOT_TABLE]
        return [*shape, *self._columns(), ("M_PACKED", int(mask.packed))]

    def _columns(self, width: int = 0) -> Constants:
        """Constants of columns.cuh. width: bits of packed columns if the kernel is specialized for them."""
        return [("PACKED", int(self.packed)), ("WIDTH", width)]

    def dot_mask(self, structure: Any) -> Form:
        form: Form = structure.rows()
        return form

    def dot(self, left: Any, right: Any, mask: Any, ranked: tuple[bool, bool]) -> Dot:
        kinds = left.ptr.dtype, index_type(left.ncols), right.ptr.dtype, mask.ptr.dtype, index_type(mask.ncols)
        at = mask.ptr, mask.nrows, mask.col, mask.width, right.width
        return Dot(mask.nvals, _dot_types(*kinds), at, (left.ptr, left.col), (right.ptr, right.col))


FORMATS = (RowsFormat(),)


class RowsCall:
    """Kernel arguments of layouts by rows."""

    def types(self: Any, ranked: bool) -> Types:
        if "types" not in self.cache:
            self.cache["types"] = column_types(self)
        found: Types = self.cache["types"]
        return found

    def unit_starts(self: Any) -> tuple[Any, int]:
        return self.ptr, 1

    def unit_contents(self: Any, ranked: bool) -> tuple[Any, ...]:
        return self.col, self.width

    def pushed(self: Any, ranked: bool, longest: int) -> tuple[Any, ...]:
        return self.ptr, self.col, self.width

    def pulled(self: Any, ranked: bool, *, read: bool = True) -> tuple[Any, ...]:
        likely = likely_of(self, column_types(self)) if read else None
        none = dummy(self.device, index_type(self.ncols).name), dummy(self.device, "uint64")
        return self.ptr, self.col, *(none if likely is None else likely), np.int64(likely is not None)

    def ranks(self) -> None:
        return None

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        return hubs_of(self, longest, part)

    def segments(self: Any, longest: int) -> int:
        if ("segments", longest) not in self.cache:
            length = self.ptr[1:] - self.ptr[:-1]
            self.cache["segments", longest] = int((-(-length // longest))[length > longest].sum())
        return int(self.cache["segments", longest])

"""Cost model and kernel choice of layouts by rows: CSR, and MPLG unless mplg/cost.py overrides it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.constants import WORDS
from .. import schedule as limits
from ..contract import CSR, Format, ItemCounts, StructureFacts
from ..schedule import longest_unit, power_of_two
from .binning import degree_bins

UNROLL = 4  # entries that a lane of a pull loads before it uses the first
MIN_BLOCKS = 8  # least blocks of 256 threads per multiprocessor, for 32-bit sums (min_plus, grid: 58 us; with 4, 64 us)
STAGE = 1024  # entries that a block reads at once when it reads its rows as one run (measured)
# Iterations of lanes over a row if rows stop at their first hit and are seldom read to the end (RMAT 20: 26.6, 21.9,
# 21.7 us with 8, 32, 128).
MAX_ITERATIONS_EARLY = 128
PARALLEL_ENTRIES = 1 << 16  # below this a parallel launch on the CPU does not pay off (measured: about 0.1 ms)
UNEVEN = 32  # ratio of the longest row to the mean from which on rows are uneven (RMAT 20: 2000; meshes: 1 to 4)
GRADED_FROM = 1 << 22  # entries; below this a block would spend as long on hot columns as on its rows (estimated)
SAMPLES = 1 << 15  # sampled entries, to estimate the share in the first columns
HOT_SHARE = 0.4  # share of entries from which on the first columns are hot (RMAT 20: by degree 0.69, else 0.25)
# Masked dot products on a GPU: slots of the hash table for a row of A (a row may fill half of them); entries of a row
# from which on it is put there, and entries of the mask for which it must serve; and the length of even the shorter row
# from which on a whole block searches for its entries (estimated). Triangles of RMAT 20 on an H200: 10.8 ms, 20.2
# without tables; rows from 8 to 32 entries on, and 2048 to 8192 slots, differ by 4 %.
DOT_TABLE = (("SLOTS", 4096), ("LOG_SLOTS", 12), ("TABLE_FROM", 16), ("TABLE_FOR", 4), ("LONG", 1024))
CLIP_LANES, CLIP_ALONE = 8, 4  # lanes that copy a part of a row on a GPU, if more entries per row are kept


# Upper bound of how far a kernel's index passes the end of a row before the test, in the type of pointers: loads of
# all lanes, the parts of a segment (kernels/joined.cuh, csr/step.cu, csr/patches.cu).
STRIDE = 1 << 16
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)  # dtypes: with np.int32 NumPy takes twice as long per array


def index_type(limit: int) -> Any:
    """32-bit indices if they fit, otherwise 64-bit."""
    return INT32 if limit < 1 << 31 else INT64


def pointer_type(entries: int) -> Any:
    """Type of pointers to that many entries or tiles: 32 bits if these and a kernel's next step fit, otherwise 64."""
    return index_type(entries + STRIDE)


def rows_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes of row pointers and plain columns."""
    return (nrows + 1) * pointer_type(nvals).itemsize + nvals * index_type(ncols).itemsize


class RowsCost(Format):
    """Rows with plain columns."""

    name, folder = CSR, "csr"
    by_rows, ranked, reads_values, scans, opens, spreads, pushes_by_output_word = (
        True,
        False,
        True,
        True,
        True,
        True,
        True,
    )
    fused, registered, accepts_nan = True, "all", True

    def listing(self, seen: StructureFacts) -> ItemCounts:
        return ItemCounts(0.0, 0.0, float(seen.nvals))

    def predict_bytes(self, seen: StructureFacts) -> int:
        return rows_bytes(seen.nrows, seen.ncols, seen.nvals)

    def scratch(self, seen: StructureFacts) -> int:
        return 0

    def rows_key(self) -> str:
        return self.key

    def dot_key_with(self, other: Format, nrows: int, ncols: int) -> str:
        """If the other operand is packed, pack this one too, once: plain columns would be rebuilt for every
        operation."""
        return other.key if other.packed and not other.refusal(nrows, ncols) else self.key

    def lanes(self, layout: Any, nrows: int, kind: int, *, push: bool) -> int:
        """As many as have two or three loads in flight each. Measured on an H200, of 1, 2, 4, .. lanes: Boolean CSR,
        which stops a row at its first hit, was fastest with 1 (RMAT 20: 22, 32, 56 us with 1, 2, 4); sums with 1 on a
        Delaunay mesh (6 entries per row), 2 on a stencil (25) and 4 on RMAT (30)."""
        if kind == WORDS and not push:
            return 1
        return power_of_two(layout.nvals / max(1, nrows) / (2 if push else 7), 1, 32)

    def dot_lanes(self, layout: Any) -> int:
        """One per entry of a row (rmat20: 10.8 ms with 4 lanes, 9.6 and 10.8 in two runs with 8, 10.0 with 32)."""
        return power_of_two(layout.nvals / max(1, layout.nrows), 4, 32)

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        if staged:
            return max(STAGE, limits.MAX_ITERATIONS * UNROLL * lanes)
        return (
            (MAX_ITERATIONS_EARLY if kind == WORDS and not push else limits.MAX_ITERATIONS)
            * lanes
            * (1 if push else UNROLL)
        )

    def segment(self) -> int:
        return 8 * UNROLL * 32

    def is_uneven(self, layout: Any) -> bool:
        return longest_unit(layout) * layout.units > UNEVEN * layout.nvals

    def is_binned(self, layout: Any) -> bool:
        return layout.nvals >= GRADED_FROM and layout.nrows < 1 << 32 and self.is_uneven(layout)

    def grades(self, layout: Any, part: Any = None) -> Any:
        return degree_bins(layout)

    def hot(self, layout: Any, columns: int) -> int:
        """Sampled once per layout: with columns ordered by degree, the first ones have most entries."""
        if ("hot", columns) not in layout.cache:
            at = np.linspace(0, layout.nvals - 1, min(layout.nvals, SAMPLES)).astype(np.int64)
            inside = layout.columns_at(layout.device.asarray(at)) < columns
            pays = float(inside.mean()) >= HOT_SHARE
            layout.cache["hot", columns] = min(columns, layout.ncols) if pays else 0
        return int(layout.cache["hot", columns])

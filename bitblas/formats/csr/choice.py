"""Cost model and kernel choice of layouts by rows: CSR, and MPLG unless mplg/choice.py overrides it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.kinds import WORDS
from .. import lanes as limits
from ..choice import Format, Listing, Seen
from ..contract import CSR
from ..hubs import longest_unit
from ..lanes import power_of_two
from .grades import grades_of

UNROLL = 4  # entries that a lane of a pull loads before it uses the first
MIN_BLOCKS = 8  # of 256 threads a multiprocessor, at least, for 32-bit sums (min_plus, grid: 58 us; with 4, 64 us)
STAGE = 1024  # entries that a block reads at once where it reads its rows as one run (measured)
# Of lanes over a row where rows end at their first hit, and are seldom gone through (RMAT 20: 26.6, 21.9, 21.7 us with
# 8, 32, 128).
MAX_ITERATIONS_EARLY = 128
PARALLEL_ENTRIES = 1 << 16  # below this a parallel launch on the CPU costs more than it saves (measured: about 0.1 ms)
UNEVEN = 32  # times the mean that the longest row has where rows are uneven (RMAT 20: 2000; meshes: 1 to 4)
GRADED_FROM = 1 << 22  # entries; of fewer a block would read hot columns for as long as its rows (estimated)
SAMPLES = 1 << 15  # entries of which the share is told that stand in the first columns
HOT_SHARE = 0.4  # of the entries, from which on the first columns are hot (RMAT 20: by degree 0.69, else 0.25)
ALPHA = 16  # a frontier with more than 1/16 of all entries pulls (Beamer's alpha is 14; his graphs are RMAT too)
CONTENDED = 8  # or with more than so many for each row of the result, as pushes then wait for one another
# Dot products of rows at a mask on a GPU: slots of the table that holds a row of A (a row may fill half of them), from
# how many entries on a row is put there, for how many entries of the mask at once; and how long even the shorter row
# has to be for a whole block to search for its entries (estimated). Triangles of RMAT 20 on an H200: 10.8 ms, 20.2
# without tables; rows from 8 to 32 entries on, and 2048 to 8192 slots, differ by 4 %.
DOT_TABLE = (("SLOTS", 4096), ("LOG_SLOTS", 12), ("TABLE_FROM", 16), ("TABLE_FOR", 4), ("LONG", 1024))
CLIP_LANES, CLIP_ALONE = 8, 4  # lanes that copy a part of a row on a GPU, where more entries of it are kept


# Entries that a kernel steps beyond the end of a row at most before it looks, in numbers as wide as pointers: loads of
# all lanes, the parts of a segment (kernels/joined.cuh, csr/step.cu, csr/patches.cu).
STRIDE = 1 << 16
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)  # dtypes: NumPy takes twice as long for an array of np.int32


def index_type(limit: int) -> Any:
    """32-bit indices where they fit, else 64-bit ones."""
    return INT32 if limit < 1 << 31 else INT64


def pointer_type(entries: int) -> Any:
    """Of pointers to so many entries or tiles: 32 bits where these and a kernel's next step fit, else 64."""
    return index_type(entries + STRIDE)


def rows_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes of row pointers and plain columns."""
    return (nrows + 1) * pointer_type(nvals).itemsize + nvals * index_type(ncols).itemsize


class RowsChoice(Format):
    """Rows of plain columns."""

    name, folder = CSR, "csr"
    by_rows, ranked, reads_values, scans, opens, spreads, shares_pushes = True, False, True, True, True, True, True
    fused, registered, reads_nan = True, "all", True

    def listing(self, seen: Seen) -> Listing:
        return Listing(0.0, 0.0, float(seen.nvals))

    def predict_bytes(self, seen: Seen) -> int:
        return rows_bytes(seen.nrows, seen.ncols, seen.nvals)

    def scratch(self, seen: Seen) -> int:
        return 0

    def rows_key(self) -> str:
        return self.key

    def dot_beside(self, other: Format, nrows: int, ncols: int) -> str:
        """Beside packed rows these are packed too, once: plain columns would be made in every statement."""
        return other.key if other.packed and not other.refusal(nrows, ncols) else self.key

    def lanes(self, form: Any, nrows: int, kind: int, *, push: bool) -> int:
        """So many that each has two or three loads in flight. Measured on an H200, of 1, 2, 4, .. lanes: Boolean CSR,
        which ends a row at its first hit, was fastest with 1 (RMAT 20: 22, 32, 56 us with 1, 2, 4); sums with 1 on a
        Delaunay mesh (6 entries a row), 2 on a stencil (25) and 4 on RMAT (30)."""
        if kind == WORDS and not push:
            return 1
        return power_of_two(form.nvals / max(1, nrows) / (2 if push else 7), 1, 32)

    def dot_lanes(self, form: Any) -> int:
        """One per entry of a row (rmat20: 10.8 ms with 4 lanes, 9.6 and 10.8 in two runs with 8, 10.0 with 32)."""
        return power_of_two(form.nvals / max(1, form.nrows), 4, 32)

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

    def pull_threshold(self, form: Any) -> int:
        return min(int(form.work) // ALPHA, CONTENDED * int(form.units))

    def is_uneven(self, form: Any) -> bool:
        return longest_unit(form) * form.units > UNEVEN * form.nvals

    def is_graded(self, form: Any) -> bool:
        return form.nvals >= GRADED_FROM and form.nrows < 1 << 32 and self.is_uneven(form)

    def grades(self, form: Any, part: Any = None) -> Any:
        return grades_of(form)

    def hot(self, form: Any, columns: int) -> int:
        """Columns are sampled once a form: by degree, the first ones have most entries."""
        if ("hot", columns) not in form.cache:
            at = np.linspace(0, form.nvals - 1, min(form.nvals, SAMPLES)).astype(np.int64)
            inside = form.columns_at(form.device.asarray(at)) < columns
            pays = float(inside.mean()) >= HOT_SHARE
            form.cache["hot", columns] = min(columns, form.ncols) if pays else 0
        return int(form.cache["hot", columns])

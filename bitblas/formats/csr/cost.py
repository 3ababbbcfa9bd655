"""Cost model and kernel choice of layouts by rows: CSR, and MPLG unless mplg/cost.py overrides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import tuning
from ...kernels.constants import WORDS
from ..contract import CSR, Format, Layout, StructureFacts
from ..schedule import Part, longest_unit, power_of_two
from .binning import DegreeBins, degree_bins

if TYPE_CHECKING:
    from .layout import Rows

UNROLL = 4  # entries that a lane of a pull loads before it uses the first
# Upper bound of how far a kernel's index passes the end of a row before the test, in the type of pointers: loads of
# all lanes, the parts of a segment (kernels/joined.cuh, csr/step.cu, csr/patches.cu).
STRIDE = 1 << 16
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)  # dtypes: with np.int32 NumPy takes twice as long per array


def index_type(limit: int) -> np.dtype:
    """32-bit indices if they fit, otherwise 64-bit."""
    return INT32 if limit < 1 << 31 else INT64


def pointer_type(entries: int) -> np.dtype:
    """Type of pointers to that many entries or tiles: 32 bits if these and a kernel's next step fit, otherwise 64."""
    return index_type(entries + STRIDE)


def rows_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes of row pointers and plain columns."""
    return (nrows + 1) * pointer_type(nvals).itemsize + nvals * index_type(ncols).itemsize


class RowsCost(Format["Rows"]):
    """Rows with plain columns."""

    name, folder = CSR, "csr"
    by_rows = reads_values = scans = opens = spreads = pushes_by_output_word = True
    ranked = False
    fused, accepts_nan = True, True

    def predict_bytes(self, facts: StructureFacts) -> int:
        return rows_bytes(facts.nrows, facts.ncols, facts.nvals)

    def scratch(self, facts: StructureFacts) -> int:
        return 0

    def rows_key(self) -> str:
        return self.key

    def dot_key_with(self, other: Format, nrows: int, ncols: int) -> str:
        """If the other operand is packed, pack this one too, once: plain columns would be rebuilt for every
        operation."""
        return other.key if other.packed and not other.refusal(nrows, ncols) else self.key

    def lanes(self, layout: Rows, nrows: int, kind: int, *, push: bool) -> int:
        """As many as have two or three loads in flight each. Boolean CSR, which stops a row at its first hit, was
        fastest with 1 on an H200 (RMAT 20: 22, 32, 56 us with 1, 2, 4)."""
        if kind == WORDS and not push:
            return 1
        each = tuning.value("csr.push_entries_per_lane") if push else tuning.value("csr.pull_entries_per_lane")
        return power_of_two(layout.nvals / max(1, nrows) / each, 1, 32)

    def dot_lanes(self, layout: Layout) -> int:
        """One per entry of a row (rmat20: 10.8 ms with 4 lanes, 9.6 and 10.8 in two runs with 8, 10.0 with 32)."""
        return power_of_two(layout.nvals / max(1, layout.nrows), tuning.count("rows.dot_least_lanes"), 32)

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        iterations = tuning.count("rows.iterations")
        if staged:
            return max(tuning.count("csr.stage"), iterations * UNROLL * lanes)
        if push:
            return iterations * lanes
        return (tuning.count("csr.iterations_early") if kind == WORDS else iterations) * UNROLL * lanes

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * UNROLL * 32

    def is_uneven(self, layout: Rows) -> bool:
        return longest_unit(layout) * layout.units > tuning.value("csr.uneven") * layout.nvals

    def is_binned(self, layout: Rows) -> bool:
        enough = layout.nvals >= tuning.count("csr.binned_from") and layout.nrows < 1 << 32
        return enough and self.is_uneven(layout)

    def grades(self, layout: Rows, part: Part | None = None) -> DegreeBins:
        return degree_bins(layout)

    def hot(self, layout: Rows, columns: int) -> int:
        """Sampled once per layout: with columns ordered by degree, the first ones have most entries."""
        key = "hot", columns, tuning.version()
        if key not in layout.cache:
            samples = min(layout.nvals, tuning.count("csr.hot_samples"))
            at = np.linspace(0, layout.nvals - 1, samples).astype(np.int64)
            inside = layout.columns_at(layout.device.asarray(at)) < columns
            pays = float(inside.mean()) >= tuning.value("rows.hot_share")
            layout.cache[key] = min(columns, layout.ncols) if pays else 0
        return int(layout.cache[key])

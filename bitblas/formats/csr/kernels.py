"""Cost and kernels of layouts by rows: sizes, arguments and constants of products, degree bins, hub columns.

Hub columns: a pull tries one column of each row first, one that many rows have, because a search has probably reached
it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.dtypes import DataType, lookup_dtype

from ... import tuning
from ...device import dummy
from ...kernels.variant import WORDS, Variant
from ...typing import Array
from ..contract import (
    CSR,
    Advance,
    Arguments,
    BinnedPull,
    Constants,
    Cost,
    Dot,
    DotArguments,
    Format,
    Kernels,
    Layout,
    Pull,
    PullCase,
    Push,
    StructureFacts,
    Types,
    View,
    compute_once,
)
from ..schedule import Bins, Hubs, Part, all_set, bits_of, block_constants, hubs_of, longest_unit, placed, power_of_two

if TYPE_CHECKING:
    from ..structure import Structure
    from .layout import Rows

# ---- Sizes of plain rows, and the cost model of CSR. Other formats by rows override `predict_bytes`.

UNROLL = 4  # entries that a lane of a pull loads before it uses the first
# Upper bound of how far a kernel's index passes the end of a row before the test, in the type of pointers: loads of
# all lanes, the parts of a segment (kernels/joined.cuh, csr/advance.cu).
STRIDE = 1 << 16
NARROW, WIDE = np.dtype(np.int32), np.dtype(np.int64)  # dtypes: with np.int32 NumPy takes twice as long per array


def index_type(limit: int) -> np.dtype:
    """32-bit indices if they fit, otherwise 64-bit."""
    return NARROW if limit < 1 << 31 else WIDE


def pointer_type(entries: int) -> np.dtype:
    """Type of pointers to that many entries or tiles: 32 bits if these and a kernel's next step fit, otherwise 64."""
    return index_type(entries + STRIDE)


def rows_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes of row pointers and plain columns."""
    return (nrows + 1) * pointer_type(nvals).itemsize + nvals * index_type(ncols).itemsize


class RowsCost(Cost):
    """Rows with plain columns."""

    name = CSR

    def predict_bytes(self, facts: StructureFacts) -> int:
        return rows_bytes(facts.nrows, facts.ncols, facts.nvals)

    def scratch(self, facts: StructureFacts) -> int:
        return 0


# ---- Hub columns: the column of each row that a pull tries first.
#
# Many rows have such a column, so a search has probably reached it.


def hub_columns(layout: Rows, types: Types) -> tuple[Array, Array] | None:
    """Hub columns: for each row the column that has most entries itself; and the bits of the nonempty rows. None if all
    rows have similar lengths. The entries of a column are those of the row with its number in a square matrix, such as
    that of an undirected graph; in other matrices, such as a rank's rows, they are counted."""
    key = "hub columns", tuning.version()
    if key not in layout.cache:
        found, skew = None, tuning.value("rows.hub_column_skew")
        if longest_unit(layout) * layout.nrows > skew * layout.nvals:
            by = layout.ptr if layout.nrows == layout.ncols else _column_pointers(layout)
            found = layout.device.xp.empty(layout.nrows, dict(types)["COL"].np_type)
            lanes = power_of_two(layout.nvals / layout.nrows, tuning.count("csr.hub_column_least_lanes"), 32)
            constants = ("PACKED", int(layout.format.packed)), ("LANES", lanes)
            kernel = layout.device.kernel(Variant("formats/csr/hub_columns", types, constants))
            kernel(layout.nrows, layout.ptr, layout.col, layout.width, by, found)
            found = found, bits_of(layout.device.xp, layout.ptr[1:] > layout.ptr[:-1])
        layout.cache[key] = found
    return layout.cache[key]


def _column_pointers(layout: Rows) -> Array:
    """The sums of the numbers of entries of the columns before each column, in the type of the row pointers."""
    xp = layout.device.xp
    by = xp.zeros(layout.ncols + 1, layout.ptr.dtype)
    xp.cumsum(xp.bincount(layout.columns(), minlength=layout.ncols), out=by[1:])
    return by


# ---- Utility kernels of rows, plain and packed: all but products.


def distribute_variant(col: DataType, count: int) -> Variant:
    """The kernel that distributes entries to their rows, or counts them."""
    return Variant("formats/csr/distribute", (("COL", col),), (("COUNT", count),))


# ---- Degree-binned schedule of rows for a GPU's pull when row lengths differ much (pull_binned.cu). Computed once per
# layout.

UNLISTED = 255


def log_limits() -> range:
    """log2 of the longest row of each bin, ascending."""
    return range(tuning.count("csr.bin_log_shortest"), tuning.count("csr.bin_log_longest") + 1)


class Pieces(NamedTuple):
    """Pieces by bin (grade), the longest first: grade g has rows of up to 2^(csr.bin_log_longest - g) entries,
    pieces piece[g] .. piece[g + 1], grouped into runs run[g] .. run[g + 1]. Segments of long rows come before the rows
    of grade 0."""

    run: Array  # uint32
    piece: Array
    segments: int
    begin: Array  # type of ptr
    length: Array  # uint16
    row: Array  # uint32: the row of a piece


def rows_of_run(grade: int) -> int:
    """Number of rows, or segments, that a warp takes at a time."""
    return 1 << min(5, max(0, tuning.count("csr.bin_log_run") - log_limits()[-1] + grade))


def degree_bins(layout: Rows) -> Bins[Pieces]:
    """The schedule of a layout by rows with less than 2^32 rows. Kept: 10 bytes per nonempty row, 14 with 64-bit
    pointers. Peak memory: 20 bytes per row more."""
    key = "grades", tuning.version()
    return compute_once(layout.cache, key, lambda: _grades(layout))


def _grades(layout: Rows) -> Bins[Pieces]:
    logs = log_limits()
    xp, ptr, longest, grades = layout.device.xp, layout.ptr, 1 << logs[-1], len(logs)
    length, hubs = ptr[1:] - ptr[:-1], hubs_of(layout, longest)
    tops = xp.asarray([1 << log for log in logs[:-1]], dtype=length.dtype)
    grade = grades - 1 - xp.searchsorted(tops, length)  # up to 4, up to 8, .. entries
    grade = xp.where((length > 0) & (length <= longest), grade, UNLISTED).astype(np.uint8)
    counts = layout.device.to_host(xp.bincount(grade, minlength=UNLISTED + 1))[:grades].astype(np.int64)
    row = xp.argsort(grade, kind="stable")[: int(counts.sum())]
    begin, lengths, segments = ptr[row], length[row].astype(np.uint16), 0
    row, reached, hubs = placed(xp, length, row, hubs, None)
    if hubs is not None:
        segments = hubs.segments
        begin = xp.concatenate([hubs.begin, begin])
        lengths = xp.concatenate([(hubs.end - hubs.begin).astype(np.uint16), lengths])
        row = xp.concatenate([hubs.row_of.astype(np.uint32), row])
    counts[0] += segments
    runs = [-(-int(count) // rows_of_run(grade)) for grade, count in enumerate(counts)]
    run, piece = (xp.asarray(np.cumsum([0, *some]).astype(np.uint32)) for some in (runs, counts))
    pieces = Pieces(run, piece, segments, begin, lengths, row)
    return Bins(sum(runs), pieces, reached, hubs, all_set(xp, segments))


# ---- Types and pieces of rows.

# Types of a dot kernel's index arrays: of A, of B' (which may have more entries), of the mask.
DOT_INDICES = ("PTR", "COL", "BPTR", "MPTR", "MCOL")


def pieces(rows: Rows) -> list[int]:
    """Limits of the entries that are processed at a time, from 0 to the end: all plain columns at once, packed ones in
    pieces."""
    nvals = rows.nvals
    return [*range(0, nvals, tuning.count("csr.piece")), nvals] if nvals and rows.format.packed else [0, nvals]


def column_types(rows: Rows) -> Types:
    """The types of row pointers and of (unpacked) column numbers."""
    return ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(index_type(rows.ncols)))


@functools.cache
def _dot_types(*kinds: np.dtype) -> Types:
    return tuple((name, lookup_dtype(kind)) for name, kind in zip(DOT_INDICES, kinds, strict=True))


# ---- What layouts by rows offer, with plain or packed columns.


class RowsView(View["Rows"]):
    """Row pointers and columns."""

    indices = ("PTR", "COL")

    def types(self, layout: Rows, ranked: bool) -> Types:
        return compute_once(layout.cache, "types", lambda: column_types(layout))

    def contents(self, layout: Rows, ranked: bool) -> Arguments:
        return layout.col, layout.width

    def hubs(self, layout: Rows, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        return hubs_of(layout, longest, part)


class RowsPull(Pull["Rows"]):
    """Lanes share a row."""

    def __init__(self, packed: bool = False, fused: bool = False) -> None:
        self.packed, self.fused = packed, fused

    def constants(self, case: PullCase) -> Constants:
        blocks = tuning.count("csr.min_blocks") if case.many_blocks else tuning.count("csr.min_blocks_wide")
        return [("PACKED", int(self.packed)), ("UNROLL", UNROLL), ("STAGED", 0), ("MIN_BLOCKS", blocks)]

    def lanes(self, layout: Rows, nrows: int, kind: int) -> int:
        """As many as have two or three loads in flight each. Boolean CSR, which stops a row at its first hit, was
        fastest with 1 on an H200 (RMAT 20: 22, 32, 56 us with 1, 2, 4)."""
        if kind == WORDS:
            return 1
        return power_of_two(layout.nvals / max(1, nrows) / tuning.value("csr.pull_entries_per_lane"), 1, 32)

    def longest(self, kind: int, lanes: int) -> int:
        return tuning.count("rows.iterations") * UNROLL * lanes

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * UNROLL * 32

    def stages(self, layout: Rows, ranked: bool) -> bool:
        """Plain rows of even lengths that are neither very short nor long."""
        mean = layout.nvals / max(1, layout.nrows)
        least = tuning.value("csr.staged.least.valued") if ranked else tuning.value("csr.staged.least")
        if layout.key != CSR or not least <= mean <= tuning.value("csr.staged.most"):
            return False
        return longest_unit(layout) <= tuning.value("csr.uneven") * mean


class RowsBinnedPull(BinnedPull["Rows"]):
    """Many rows of very different lengths."""

    def suits(self, layout: Rows) -> bool:
        if layout.nvals < tuning.count("csr.binned_from") or layout.nrows >= 1 << 32:
            return False
        return longest_unit(layout) * layout.units > tuning.value("csr.uneven") * layout.nvals

    def bins(self, layout: Rows, part: Part | None = None) -> Bins[Pieces]:
        return degree_bins(layout)

    def contents(self, layout: Rows, ranked: bool) -> Arguments:
        return layout.col, layout.width

    def constants(self, shared: int) -> Constants:
        logs, run = log_limits(), tuning.count("csr.bin_log_run")
        shape = [("LOG_LONGEST", logs[-1]), ("LOG_LANE", logs[0]), ("LOG_RUN", run), ("LANES", 32)]
        return [*shape, *block_constants(shared)]

    def hot(self, layout: Rows, columns: int) -> int:
        """Sampled once per layout: with columns ordered by degree, the first ones have most entries."""

        def compute() -> int:
            samples = min(layout.nvals, tuning.count("csr.hot_samples"))
            at = np.linspace(0, layout.nvals - 1, samples).astype(np.int64)
            inside = layout.columns_at(layout.device.asarray(at)) < columns
            return min(columns, layout.ncols) if float(inside.mean()) >= tuning.value("rows.hot_share") else 0

        return compute_once(layout.cache, ("hot", columns, tuning.version()), compute)


class RowsPush(Push["Rows"]):
    """Lanes share a row."""

    by_output_word = True

    def __init__(self, packed: bool = False) -> None:
        self.packed = packed

    def constants(self, *, ranked: bool, neutral: bool) -> Constants:
        return [("PACKED", int(self.packed))]

    def lanes(self, layout: Rows, nrows: int, kind: int) -> int:
        return power_of_two(layout.nvals / max(1, nrows) / tuning.value("csr.push_entries_per_lane"), 1, 32)

    def longest(self, lanes: int) -> int:
        return tuning.count("rows.iterations") * lanes


class RowsAdvance(Advance["Rows"]):
    """Its pulls try a hub column of each row first."""

    kernel = "formats/csr/advance"
    reads_values = scans = True

    def pushed(self, layout: Rows, ranked: bool, longest: int) -> Arguments:
        return layout.ptr, layout.col, layout.width

    def pulled(self, layout: Rows, ranked: bool, *, read: bool = True) -> Arguments:
        hubs = hub_columns(layout, column_types(layout)) if read else None
        none = dummy(layout.device, index_type(layout.ncols).name), dummy(layout.device, "uint64")
        return layout.ptr, layout.col, *(none if hubs is None else hubs), np.int64(hubs is not None)

    def segments(self, layout: Rows, longest: int) -> int:
        def compute() -> int:
            length = layout.ptr[1:] - layout.ptr[:-1]
            return int((-(-length // longest))[length > longest].sum())

        return compute_once(layout.cache, ("segments", longest), compute)


class RowsDot(Dot["Rows"]):
    """Operands by rows, with a mask by rows of any format."""

    indices = DOT_INDICES

    def __init__(self, packed: bool = False) -> None:
        self.packed = packed

    def constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        # A block takes 256 entries, one per thread (LANES), although GROUP lanes then share the work of an entry.
        shape = [("LANES", 1), ("GROUP", lanes)]
        slots, least = tuning.count("csr.dot_slots"), tuning.count("csr.dot_table_from")
        table = [("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1), ("TABLE_FROM", least)]
        table += [("TABLE_FOR", tuning.count("csr.dot_table_for")), ("LONG", tuning.count("csr.dot_long"))]
        return [*shape, *table, ("PACKED", int(self.packed)), ("M_PACKED", int(mask.packed))]

    def lanes(self, layout: Layout) -> int:
        """One per entry of a row (rmat20: 10.8 ms with 4 lanes, 9.6 and 10.8 in two runs with 8, 10.0 with 32)."""
        return power_of_two(layout.nvals / max(1, layout.nrows), tuning.count("rows.dot_least_lanes"), 32)

    def mask(self, structure: Structure, key: str) -> Layout:
        return structure.rows()

    def arguments(self, left: Rows, right: Rows, mask: Rows, ranked: tuple[bool, bool]) -> DotArguments:
        kinds = left.ptr.dtype, index_type(left.ncols), right.ptr.dtype, mask.ptr.dtype, index_type(mask.ncols)
        at = mask.ptr, mask.nrows, mask.col, mask.width, right.width
        return DotArguments(mask.nvals, _dot_types(*kinds), at, (left.ptr, left.col), (right.ptr, right.col))

    def key_with(self, format: Format, other: Format, nrows: int, ncols: int) -> str:
        """If the other operand is packed, pack this one too, once: plain columns would be rebuilt for every
        operation."""
        return other.key if other.packed and not other.cost.refusal(nrows, ncols) else format.key


def rows_kernels(packed: bool = False, fused: bool = False) -> Kernels:
    """The kernels of layouts by rows. packed: columns are. fused: pulls have epilogues."""
    return {
        "mxv.pull": RowsPull(packed, fused),
        "mxv.pull.binned": RowsBinnedPull(),
        "mxv.pull.worklist": "formats/csr/pull_worklist",
        "mxv.push": RowsPush(packed),
        "advance": RowsAdvance(),
        "advance.cpu": "formats/csr/push_frontier",
        "dot": RowsDot(packed),
    }


def rows_format(cost: Cost, more: Kernels | None = None) -> Format:
    """A format whose kernels are those of plain rows, which its layouts build on demand. more: its other kernels."""
    kernels = rows_kernels()
    kernels.update(more or {})
    return Format(cost, RowsView(), kernels, folder="csr", by_rows=True, ranked=False)


FORMATS = (Format(RowsCost(), RowsView(), rows_kernels(fused=True), by_rows=True, ranked=False),)

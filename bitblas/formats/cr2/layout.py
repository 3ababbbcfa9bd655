"""CR2: rows cut into pieces of 2^k entries, grouped by cluster and k, with 16-bit numbers inside a cluster.

Jeong et al., CR2: Community-aware Compressed Regular Representation for Graph Processing on a GPU (slides).

Vertices are divided into clusters of 2^16 consecutive numbers, in the given order or that of their degrees, whichever
takes fewer bytes. An entry whose row and column are in one cluster is *inside*, all others are *between* clusters. The
entries of a row inside, and those between, are cut into pieces: as many of 2^log_longest as there are, then one of 2^k
for each bit k of the rest, in ascending order of columns. Pieces of one cluster and one k are a *group*, sorted by row.
As all its pieces are of one length, a group needs no offsets: a piece is its row (the source) and 2^k columns. Inside a
cluster rows and columns are numbers within it, of 16 bits (8 or 4 if no more are needed), otherwise of 32 bits.

Entry order: group, piece, column. The groups of clusters come first, in descending order of k, then those between.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ... import tuning
from ...device import Device
from ...typing import Array
from .. import validation
from ..contract import Layout, LazyDict, Order, compute_once
from ..csr.layout import (
    Csr,
    from_arrays,
    mirror_hash_of,
    numbers_of,
    pointer_type,
    pointers_of,
    rows_bytes,
    sort_entries,
)
from ..packing import pack, packed_words, unpack, unpack_at
from .cost import MOST_LOG, Grid, Parts, build_bytes, counted, counts_of, grid_of, inverse
from .kernels import FORMATS

NUMBERS = ("nrows", "ncols", "nvals", "inside", "inside_pieces", "log_cluster", "log_longest", "ordered")
RUN = 64  # slots for pieces of a group that kernels take together: a word of bits


class Runs(NamedTuple):
    """The schedule of kernels: slots for the pieces of each group, in whole runs of 64. Three INT64 numbers per run:
    its first entry and its first piece; and, from bit 0 on, its pieces (8 bits), k (7), whether they are between
    clusters (1), the cluster."""

    starts: Array  # 3 per run, at least one run
    size: int
    first: Array  # INT64: the first run of each group


@dataclass(eq=False)
class Cr2(Layout):
    """Group g has the pieces groups[g] .. groups[g + 1] of 2^k entries, k = log_longest - g % (log_longest + 1)."""

    device: Device
    nrows: int
    ncols: int
    nvals: int
    inside: int  # entries
    inside_pieces: int
    log_cluster: int  # of the vertices of a cluster; 0: there are none
    log_longest: int  # of the entries of the longest pieces
    ordered: int  # 1: vertices are renumbered by `perm`
    groups: Array  # INT64
    inside_rows: (
        Array  # packed: the row of each piece inside a cluster, within it; of others; then the same for columns
    )
    between_rows: Array
    inside_cols: Array
    between_cols: Array
    perm: Array  # uint32: perm[new] = old, if ordered
    cache = LazyDict()  # schedules of kernels, pieces by row

    format = FORMATS[0]
    compact = True

    @property
    def grid(self) -> Grid:
        return Grid(self.nrows, self.ncols, self.log_cluster, self.log_longest)

    @property
    def parts(self) -> Parts:
        return Parts(self.inside, self.inside_pieces, self.work - self.inside_pieces, self.ordered)

    def arrays(self) -> dict[str, Array]:
        names = "groups", "inside_rows", "between_rows", "inside_cols", "between_cols", "perm"
        return {name: getattr(self, name) for name in names}

    def numbers(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in NUMBERS}

    # ---- Build. ----

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Cr2, Order]:
        """Group the pieces of these rows. Peak memory: the result, 128 bytes per entry and 32 per row."""
        rows.device.foresee(f"CR2 of {rows.nvals} entries", build_bytes(rows.nrows, rows.nvals))
        return cls.divided(rows, grid_of(rows.nrows, rows.ncols), order)

    @classmethod
    def divided(cls, rows: Csr, grid: Grid, order: bool) -> tuple[Cr2, Order]:
        """The same for any grid."""
        device, xp, nvals = rows.device, rows.device.xp, rows.nvals
        parts, perm = counted(rows, grid)
        (row, col), places = rows.coo(), None
        if perm is not None:
            new = inverse(xp, perm)
            row, col = new[row], new[col]
            places = sort_entries(device, row, col, grid.nrows, grid.ncols)
            row, col = row[places], col[places]
        length, group = group_entries(grid, row, grid.are_inside(row, col), pointers_of(row, grid.nrows, device), xp)
        few = group.astype(np.uint16) if grid.groups <= 1 << 16 else group  # the host sorts these by digits
        at = xp.argsort(few, kind="stable")
        begin = xp.zeros(grid.groups + 1, np.int64)
        xp.cumsum(counts_of(xp, group, grid.groups), out=begin[1:])
        row, col, length, group = row[at], col[at], length[at], group[at]
        heads = xp.flatnonzero(xp.arange(nvals) - begin[group] & (1 << length) - 1 == 0)
        pieces = xp.zeros_like(begin)
        xp.cumsum(begin[1:] - begin[:-1] >> lengths(grid, xp), out=pieces[1:])
        low, (narrow, wide) = (1 << grid.log_cluster) - 1, grid.widths
        inside, first, source = parts.inside, parts.inside_pieces, row[heads]
        stored = xp.zeros(1, np.uint32) if perm is None else perm.astype(np.uint32)
        layout = cls(
            device,
            grid.nrows,
            grid.ncols,
            nvals,
            inside,
            first,
            grid.log_cluster,
            grid.log_longest,
            parts.ordered,
            pieces,
            pack(device, source[:first] & low, narrow),
            pack(device, source[first:], wide),
            pack(device, col[:inside] & low, narrow),
            pack(device, col[inside:], wide),
            stored,
        )
        layout.cache["counted"] = {layout.key: parts}
        if not order:
            return layout, None
        return layout, at if places is None else places[at]

    # ---- Read. ----

    def sources(self) -> Array:
        """The row of each piece (INT64), in the order of the layout."""
        first, narrow, wide = self.inside_pieces, *self.grid.widths
        rows = self.device.xp.empty(self.work, np.int64)
        if self.work:
            rows[:first] = unpack(self.device, self.inside_rows, first, narrow, np.int64)
            rows[first:] = unpack(self.device, self.between_rows, self.work - first, wide, np.int64)
            group = numbers_of(self.groups, self.work, self.device)
            rows[:first] += group[:first] // self.grid.kinds << self.log_cluster
        return rows

    def begins(self) -> Array:
        """Entries before each group, and their total (INT64)."""
        xp = self.device.xp
        begin = xp.zeros_like(self.groups)
        xp.cumsum(self.groups[1:] - self.groups[:-1] << lengths(self.grid, xp), out=begin[1:])
        return begin

    def coo(self) -> tuple[Array, Array]:
        rows, cols = self.renumbered()
        return self.old(rows), self.old(cols)

    def renumbered(self, first: int = 0, last: int | None = None) -> tuple[Array, Array]:
        """Rows and columns (INT64) of entries first .. last, in the layout's numbers. Peak memory: 40 bytes per entry,
        and 16 per piece."""
        device, xp, (narrow, wide) = self.device, self.device.xp, self.grid.widths
        last = self.nvals if last is None else last
        begin, cols, middle = self.begins(), xp.empty(last - first, np.int64), min(max(self.inside, first), last)
        group = numbers_of(xp.minimum(xp.maximum(begin, first), last) - first, last - first, device)
        if middle > first:
            within, before = cols[: middle - first], group[: middle - first] // self.grid.kinds << self.log_cluster
            xp.add(unpack(device, self.inside_cols, middle, narrow, np.int64, first=first), before, out=within)
        if last > middle:
            skipped = middle - self.inside
            others = unpack(device, self.between_cols, last - self.inside, wide, np.int64, first=skipped)
            cols[middle - first :] = others
        piece = self.groups[group] + (xp.arange(first, last) - begin[group] >> lengths(self.grid, xp)[group])
        return self.sources()[piece], cols

    def is_symmetric(self) -> bool:
        """By hashes of all positions (csr/layout.py). Peak memory: 16 bytes per piece, and 80 bytes per entry of
        symmetry.band."""
        band, total = tuning.count("symmetry.band"), 0
        for first in range(0, self.nvals, band):
            total += mirror_hash_of(*map(self.old, self.renumbered(first, min(first + band, self.nvals))))
        return total % (1 << 64) == 0

    def old(self, numbers: Array) -> Array:
        """The vertices with these numbers of the layout."""
        return self.perm[numbers].astype(np.int64) if self.ordered else numbers

    def to_csr(self, order: bool) -> tuple[Csr, Order]:
        """The same entries row by row; order[e]: the position of entry e in this layout. The entries are sorted.
        Peak memory: the result, 64 bytes per entry, and 8 per row."""
        device, nrows, ncols = self.device, self.nrows, self.ncols
        needed = rows_bytes(nrows, ncols, self.nvals) + 64 * self.nvals + 8 * nrows
        device.foresee(f"CSR of {self.nvals} entries", needed)
        rows, cols = self.coo()
        places = sort_entries(device, rows, cols, nrows, ncols)
        made = from_arrays(device, nrows, ncols, pointers_of(rows[places], nrows, device), cols[places])
        return made, places.astype(pointer_type(self.nvals)) if order else None

    def equals(self, other: Cr2) -> bool:
        if self.grid == other.grid:
            return super().equals(other)
        return self.to_csr(False)[0].equals(other.to_csr(False)[0])

    @property
    def work(self) -> int:
        """The number of pieces."""
        return compute_once(self.cache, "pieces", lambda: int(self.groups[-1]))

    # ---- Pieces by row: what the slides call the expand list. ----

    def runs(self) -> Runs:
        """The slots of pieces. Kept: 24 bytes per 64 pieces of a group."""
        return compute_once(self.cache, "runs", self._runs)

    def _runs(self) -> Runs:
        xp, grid = self.device.xp, self.grid
        pieces = self.groups[1:] - self.groups[:-1]
        first = xp.zeros_like(self.groups)
        xp.cumsum(-(-pieces // RUN), out=first[1:])
        count = int(first[-1])
        group = numbers_of(first, count, self.device)
        before, log = (xp.arange(count) - first[group]) * RUN, lengths(grid, xp)[group]
        starts, cluster = xp.zeros((max(1, count), 3), np.int64), group // grid.kinds
        starts[:count, 0] = self.begins()[group] + (before << log)
        starts[:count, 1] = self.groups[group] + before
        starts[:count, 2] = xp.minimum(RUN, pieces[group] - before) | log << 8
        starts[:count, 2] |= xp.where(cluster < grid.clusters, cluster << 16, 1 << 15)
        return Runs(starts.ravel(), count, first)

    def by_row(self) -> Csr:
        """The slots of the pieces of each row, as the columns of a matrix: rows of A are sums of the pieces in them.
        Kept: 4 bytes per piece and per row. Peak memory: 40 bytes per piece, and 8 per row."""

        def compute() -> Csr:
            xp, device, found = self.device.xp, self.device, self.runs()
            device.foresee(f"the pieces of {self.nrows} rows", 40 * self.work + 8 * self.nrows)
            rows, owner = self.old(self.sources()), numbers_of(self.groups, self.work, device)
            slots = found.first[owner] * RUN + xp.arange(self.work) - self.groups[owner]
            at = xp.argsort(rows, kind="stable")
            ptr = pointers_of(rows[at], self.nrows, device)
            return from_arrays(device, self.nrows, max(1, found.size) * RUN, ptr, slots[at])

        return compute_once(self.cache, "by row", compute)

    def some_rows(self, rows: Array, order: bool) -> tuple[Csr, Order]:
        """Read only these rows (INT64 numbers, in any order), concatenated; with `order` also the positions of their
        entries in this layout. Peak memory: 90 bytes per entry of these rows."""
        device, xp, lists, starts = self.device, self.device.xp, self.by_row(), self.runs().starts
        owner, at = spread(device, lists.ptr[rows].astype(np.int64), lists.ptr[rows + 1] - lists.ptr[rows])
        slot = lists.col[at].astype(np.int64)
        first, shape = starts[slot // RUN * 3], starts[slot // RUN * 3 + 2]
        log = shape >> 8 & 127
        piece, entry = spread(device, first + (slot % RUN << log), 1 << log)
        cols, inside, (narrow, wide) = xp.empty(len(entry), np.int64), entry < self.inside, self.grid.widths
        cols[inside] = unpack_at(device, self.inside_cols, entry[inside], narrow, np.int64)
        cols[inside] += (shape >> 16 << self.log_cluster)[piece[inside]]
        cols[~inside] = unpack_at(device, self.between_cols, entry[~inside] - self.inside, wide, np.int64)
        row, cols = owner[piece], self.old(cols)
        places = sort_entries(device, row, cols, len(rows), self.ncols)
        ptr = pointers_of(row[places], len(rows), device)
        found = from_arrays(device, len(rows), self.ncols, ptr, cols[places])
        return found, entry[places] if order else None

    @property
    def ptr(self) -> Array:
        """Pieces before each row."""
        return self.by_row().ptr

    @property
    def col(self) -> Array:
        return self.by_row().col

    # ---- Files. ----

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Cr2:
        found = dict(zip(NUMBERS, validation.expect_numbers(numbers, *NUMBERS), strict=True))
        nrows, ncols, nvals, inside, first, log_cluster, log_longest, ordered = found.values()
        if refusal := cls.format.cost.refusal(nrows, ncols):
            raise ValueError(f"numbers: {cls.format.key!r} {refusal}")
        if max(log_cluster, log_longest) > MOST_LOG or ordered > (nrows == ncols) or not first <= inside <= nvals:
            raise ValueError(f"numbers: expected those of a CR2, got {found}")
        grid = Grid(nrows, ncols, log_cluster, log_longest)
        narrow, wide = grid.widths
        groups = arrays.get("groups", np.zeros(1, np.int64))
        total = int(groups[-1]) if groups.dtype == np.int64 and len(groups) == grid.groups + 1 else 0
        if not first <= total <= nvals:
            raise ValueError(f"groups: expected from {first} to {nvals} pieces, got {total}")
        words = np.uint32
        made = validation.expect_arrays(
            arrays,
            groups=((np.int64,), grid.groups + 1),
            inside_rows=((words,), packed_words(first, narrow)),
            between_rows=((words,), packed_words(total - first, wide)),
            inside_cols=((words,), packed_words(inside, narrow)),
            between_cols=((words,), packed_words(nvals - inside, wide)),
            perm=((words,), max(1, nrows * ordered)),
        )
        return cls(device, nrows, ncols, nvals, inside, first, log_cluster, log_longest, ordered, *made)

    def check(self) -> None:
        """Also checks that the layout is canonical: rows divided in the same way must give the same arrays."""
        validation.check_pointers(self.groups, self.work)
        xp, grid = self.device.xp, self.grid
        begin = self.begins()
        inside = int(begin[grid.clusters * grid.kinds]), int(self.groups[grid.clusters * grid.kinds])
        if inside != (self.inside, self.inside_pieces) or int(begin[-1]) != self.nvals:
            raise ValueError(f"groups: expected {self.nvals} entries, {self.inside} of them inside clusters")
        if self.ordered and not bool((xp.sort(self.perm) == xp.arange(self.nrows)).all()):
            raise ValueError(f"perm: expected a permutation of {self.nrows} vertices")
        for name, found, limit in zip(("rows", "cols"), self.renumbered(), (self.nrows, self.ncols), strict=True):
            if self.nvals and int(found.max()) >= limit:
                raise ValueError(f"{name}: expected numbers below {limit}, got {int(found.max())}")
        rows = self.to_csr(False)[0]
        rows.check()
        if not self.equals(self.divided(rows, grid, False)[0]):
            raise ValueError("groups: expected the pieces of the rows, sorted, in the order of fewest bytes")


# ---- Pieces of rows.


def lengths(grid: Grid, xp: ModuleType) -> Array:
    """k of the pieces of each group (INT64)."""
    found: Array = grid.log_longest - xp.arange(grid.groups) % grid.kinds
    return found


def spread(device: Device, begin: Array, length: Array) -> tuple[Array, Array]:
    """Of ranges, for each position in them, one range after the other: the range, and the position (INT64)."""
    ends = device.xp.zeros(len(begin) + 1, np.int64)
    device.xp.cumsum(length, out=ends[1:])
    owner = numbers_of(ends, int(ends[-1]), device)
    return owner, begin[owner] + device.xp.arange(len(owner)) - ends[owner]


def group_entries(grid: Grid, row: Array, inside: Array, ptr: Array, xp: ModuleType) -> tuple[Array, Array]:
    """k and the group (INT64) of the piece of each entry, of entries sorted by row and column. Entry q of the d inside
    (or between) of its row is in one of the longest pieces, or in that of the highest bit in which d and q differ."""
    before = xp.zeros(len(row) + 1, np.int64)  # entries inside
    xp.cumsum(inside, out=before[1:])
    first, stop = ptr[row], ptr[row + 1]
    degree, rank = before[stop] - before[first], before[:-1] - before[first]
    degree = xp.where(inside, degree, stop - first - degree)
    rank = xp.where(inside, rank, xp.arange(len(row)) - first - rank)
    powers = xp.asarray(1 << np.arange(grid.kinds))
    rest = (degree ^ rank) & (1 << grid.log_longest) - 1
    log = xp.searchsorted(powers, rest, side="right") - 1
    log = xp.where(rank < degree >> grid.log_longest << grid.log_longest, grid.log_longest, log)
    cluster = xp.where(inside, row >> grid.log_cluster, grid.clusters)
    return log, cluster * grid.kinds + grid.log_longest - log

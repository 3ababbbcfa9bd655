"""Who does which rows: parallel ranges on the CPU, segments of long rows on a GPU. Computed once per form."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from ..device import Device, balanced_bounds
from ..device.jit import BLOCK
from ..formats import ROWS
from ..formats.csr.format import pieces
from ..formats.split.format import Split

PARALLEL_ENTRIES = 1 << 14  # below this a parallel launch on the CPU costs more than it saves
READ_EARLY = 8  # entries of a row that are read, about, where it ends at its first hit


def unit_bounds(form: Any, device: Device, *, early: bool = False) -> Any:
    """Parallel ranges of units on the CPU, their limits on whole words of the output. early: rows end at their first
    hit, so that a long one costs no more than its beginning."""
    if device.is_gpu or form.nvals < PARALLEL_ENTRIES:
        return None
    early = early and form.rows_per_unit == 1
    name = "early bounds" if early else "bounds"
    if name not in form.cache:
        ptr = form.ptr
        if early:
            ptr = np.zeros(len(form.ptr), np.int64)
            np.cumsum(np.minimum(np.diff(form.ptr), READ_EARLY), out=ptr[1:])
        form.cache[name] = balanced_bounds(ptr, 4 * device.threads, 64 // form.rows_per_unit)
    return form.cache[name]


def ranges_of_work(work: Any, device: Device) -> Any:
    """Parallel ranges on the CPU of units whose work, summed up to and with each, is `work`."""
    wanted = np.linspace(0, work[-1], 4 * device.threads + 1)[1:-1]
    return np.concatenate(([0], np.searchsorted(work, wanted), [len(work)])).astype(np.int64)


def dot_bounds(b_ptr: Any, mask: Any, device: Device) -> Any:
    """Parallel ranges of the places (or tiles) of a mask, by the lengths of the rows of B' that are read there."""
    length = np.diff(b_ptr) + 1
    if mask.key not in ROWS:
        return ranges_of_work(np.cumsum(length[mask.col[: mask.work]], dtype=np.int64), device)
    work = np.empty(mask.nvals, np.int64)
    for low, high in itertools.pairwise(pieces(mask)):
        work[low:high] = length[mask.columns(low, high)]
    return ranges_of_work(np.cumsum(work, out=work), device)


def padding_blocks(n: int, bits: int, lanes: int) -> int:
    """Blocks of a GPU beyond those of n units, so that every bit of the words of their result, `bits` a unit, has its
    group of lanes: a pull writes whole words, and what it writes into need not be cleared."""
    padded = -(-n * bits // 64) * 64 // bits
    return -(-padded * lanes // BLOCK) - -(-n * lanes // BLOCK)


class Hubs(NamedTuple):
    """Rows (or tile rows) too long for one group of lanes, cut into segments: rows of a launch of their own."""

    rows: Any
    first: Any  # segments of hub h: first[h] .. first[h + 1]
    begin: Any
    end: Any
    row_of: Any

    @property
    def segments(self) -> int:
        return len(self.row_of)


def hubs_of(form: Any, longest: int, part: int | None = None) -> Hubs | None:
    """The rows of a form with more than `longest` entries (or tiles), None where there are none, in segments of `part`
    (`longest`, unless given)."""
    part = part or longest
    if ("hubs", longest, part) not in form.cache:
        xp, ptr = form.device.xp, form.ptr
        length = ptr[1:] - ptr[:-1]
        rows = xp.flatnonzero(length > longest)
        found = None
        if len(rows):
            count = -(-length[rows].astype(np.int64) // part)
            first = xp.zeros(len(rows) + 1, np.int64)
            xp.cumsum(count, out=first[1:])
            segment = xp.arange(int(first[-1]))
            hub = xp.searchsorted(first, segment, side="right") - 1
            begin = ptr[rows][hub] + (segment - first[hub]) * part
            end = xp.minimum(begin + part, ptr[rows + 1][hub])
            found = Hubs(rows, first, begin.astype(ptr.dtype), end.astype(ptr.dtype), rows[hub])
        form.cache["hubs", longest, part] = found
    return form.cache["hubs", longest, part]


def split_hubs(form: Split, longest: int, part: int, share: int) -> Hubs | None:
    """The same for a Split. A tile costs as much as `share` entries of the rest; a segment of a tile row takes as large
    a part of its tiles as of each range of the rest. begin, end: as many numbers each as `form.starts` has."""
    key = "hubs", longest, part, share
    if key not in form.cache:
        xp, starts = form.device.xp, form.starts.reshape(-1, form.parts)
        length = (starts[1:] - starts[:-1]).astype(np.int64)
        work = length.sum(axis=1) + length[:, 0] * (share - 1)
        rows = xp.flatnonzero(work > longest)
        found = None
        if len(rows):
            count = -(-work[rows] // part)
            first = xp.zeros(len(rows) + 1, np.int64)
            xp.cumsum(count, out=first[1:])
            segment = xp.arange(int(first[-1]))
            hub = xp.searchsorted(first, segment, side="right") - 1
            number, parts = (segment - first[hub])[:, None], count[hub][:, None]
            start, whole = starts[rows][hub], length[rows][hub]
            begin, end = start + whole * number // parts, start + whole * (number + 1) // parts
            begin, end = (limits.astype(starts.dtype).reshape(-1) for limits in (begin, end))
            found = Hubs(rows, first, begin, end, rows[hub])
        form.cache[key] = found
    return form.cache[key]

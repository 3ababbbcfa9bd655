"""How rows become intervals and gaps in bits, and these rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import DataType, lookup_dtype

from ...device import ranges
from ...kernels.prologue import Variant
from ..blocks import GROUP, PAD, blocks_of, mean_words
from ..csr.format import PARALLEL_ENTRIES, Csr
from ..sample import Sample

IN_WORD = 32  # bits of a word
SEGMENT = 256  # bits of a segment: as the authors chose them
ENDLESS = 1 << 40  # more bits than a row has: rows have one segment of each kind
LEAST = 4  # columns of an interval: code.cuh, and code.cpu.py


def encode_variant(ptr: DataType, fill: int) -> Variant:
    return Variant("formats/cgr/encode", (("PTR", ptr),), (("FILL", fill), ("LANES", 1)))


def decode_variant(fill: int, order: int) -> Variant:
    return Variant("formats/cgr/decode", (), (("FILL", fill), ("ORDER", order), ("LANES", 1)))


def bounds_of(rows: Csr) -> Any:
    """Parallel ranges of rows on the CPU, in whole groups, whose words no two ranges share."""
    if not rows.device.splits(rows.nvals, PARALLEL_ENTRIES):
        return None
    return ranges.balanced(rows.ptr, rows.device.parts, GROUP)


def sizes_of(rows: Csr, segment: int) -> Any:
    """The bits that each row takes. Peak memory: 8 bytes per row."""
    device, xp = rows.device, rows.device.xp
    sizes, none = xp.zeros(max(1, rows.nrows), np.int64), xp.zeros(1, np.int64)
    run = device.kernel(encode_variant(lookup_dtype(rows.ptr.dtype), 0))
    run(rows.nrows, segment, rows.ptr, rows.col, sizes, none, none, xp.zeros(1, np.uint32), bounds=bounds_of(rows))
    return sizes[: rows.nrows]


def counted(rows: Csr) -> float:
    """The words that these rows take."""
    found = blocks_of(rows.device, rows.nrows, sizes_of(rows, SEGMENT), IN_WORD)[2]
    return float(rows.device.to_host(found)[0])


def gamma_bits(x: Any) -> Any:
    """Bits of the code of a number, or of the mean of some."""
    return 2 * np.floor(np.log2(x + 1.0)) + 1


def sampled(of: Sample) -> float:
    """The same of a sample of entries, estimated for all: of those in intervals by how long these are in the mean."""
    gaps, size = of.gaps.astype(np.int64), len(of.gaps)
    inside, begins = of.runs > 0, of.runs > 1
    others, starts = gaps[~inside], gaps[begins]
    rows = max(1.0, min(of.nrows, of.each * size))
    each = of.each / rows  # of a row, what one of the sample stands for
    # A number of b bits is 2^(b - 1) and more; with 1 more few of them have another bit.
    bits = 4.0 * (np.maximum(0, others - 1) // 3 + 1).sum() + (2.0 * np.maximum(0, starts - 1) + 1).sum()
    bits += len(starts) * gamma_bits(max(0.0, inside.sum() / max(1, len(starts)) - LEAST))
    heads = rows * (2 + gamma_bits(each * len(starts)) + gamma_bits(each * len(others)))
    return mean_words(of.nrows, of.each * float(bits) + float(heads), IN_WORD)


def encoded(rows: Csr, segment: int) -> tuple[Any, Any]:
    """The heads and the words of these rows. Peak memory: the result, and 40 bytes per row."""
    device, xp = rows.device, rows.device.xp
    heads, ends, total = blocks_of(device, rows.nrows, sizes_of(rows, segment), IN_WORD)
    count = int(device.to_host(total)[0])
    device.foresee(f"codes of {rows.nvals} entries", 4 * (count + PAD))
    words = xp.zeros(count + PAD, np.uint32)
    run = device.kernel(encode_variant(lookup_dtype(rows.ptr.dtype), 1))
    given = ends if len(ends) else xp.zeros(1, np.int64)
    run(rows.nrows, segment, rows.ptr, rows.col, xp.zeros(1, np.int64), heads, given, words, bounds=bounds_of(rows))
    return heads, words


def decode(form: Any, fill: int, counts: Any, col: Any, place: Any = None) -> None:
    """One pass of decode.cu over a form."""
    given = form.device.xp.zeros(1, np.int64) if place is None else place
    run = form.device.kernel(decode_variant(fill, int(place is not None)))
    bounds = form.bounds(form.nvals)
    run(form.nrows, form.ncols, form.segment, form.heads, form.words, counts, col, given, bounds=bounds)


def pointers(form: Any) -> Any:
    """The number of each row's first entry, and of all. Peak memory: the result, and 8 bytes per row."""
    xp, nrows = form.device.xp, form.nrows
    ptr, counts = xp.zeros(nrows + 1, np.int64), xp.zeros(max(1, nrows), np.int64)
    decode(form, 0, counts, xp.zeros(1, np.int32))
    xp.cumsum(counts[:nrows], out=ptr[1:])
    if int(ptr[-1]) != form.nvals:
        raise ValueError(f"words: expected {form.nvals} entries, got {int(ptr[-1])}")
    return ptr


def decoded(form: Any, order: bool) -> tuple[Any, Any, Any]:
    """Row pointers, columns, and the places of the entries, where asked for."""
    xp, nvals = form.device.xp, form.nvals
    ptr, col = pointers(form), xp.empty(max(1, nvals), np.int32)
    place = xp.empty(max(1, nvals), np.int64) if order else None
    decode(form, 1, ptr, col, place)
    return ptr, col[:nvals], None if place is None else place[:nvals]


def check_codes(form: Any) -> None:
    """ValueError unless all rows can be decoded within their words and columns."""
    xp = form.device.xp
    wrong = xp.zeros(max(1, form.nrows), np.int64)
    decode(form, 2, wrong, xp.zeros(1, np.int32))
    if bool(wrong.any()):
        row = int(xp.flatnonzero(wrong)[0])
        raise ValueError(f"words: expected intervals and columns of row {row}, within it and below {form.ncols}")

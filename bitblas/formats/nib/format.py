"""NIB: the gaps between the columns of a row, in nibbles. The smallest form of most graphs whose edges are scattered.

A row's first column is stored as how far it is from the row, in zigzag (2 d for d >= 0, else -2 d - 1), each further
one as its gap less 1. A value takes as many nibbles as it has threes of bits, one at least, the lowest first; bit 3 of
a nibble says that the value ends there. So a GPU's lanes each take a word of eight nibbles, and know without guessing
what ends in it (walk.cuh).

Of 32 rows, a group, `heads` has the first word of its block in `words`, and in the lowest 6 bits the width of the 32
numbers there: where each row ends, in nibbles, counted from the first one of the group. The nibbles of all its rows
follow, from a new word on. Two words follow the last block, so that three may always be
read. A group without entries has
no block.

Entry order: row, column, as in CSR. What number a row's first entry has is not stored; `value_ptr` is made where values
need it.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from semirings.dtypes import INT32

from ...device import Device
from ...kernels.prologue import Variant
from .. import sound
from ..choice import Format
from ..contract import Later, Region
from ..csr.format import Csr, from_arrays, index_type, rows_bytes
from . import layout
from .call import NibCall, NibFormat, marks_variant


@dataclass(eq=False)
class Nib(NibCall):
    """Row i is in group g = i // 32: heads[g] >> 6 is the first word of its block, heads[g] & 63 the width of ends."""

    device: Device
    nrows: int
    ncols: int
    heads: Any  # groups + 1, INT64; the last one says how many words there are
    words: Any  # uint32
    nvals: int
    value_ptr: Any = None  # nrows + 1: the number of each row's first entry; only where values are stored
    cache = Later()  # schedules of kernels: hubs, parallel bounds

    format = NibFormat()
    formats: ClassVar[tuple[Format, ...]] = (format,)
    key = format.key
    rows_per_unit = 1
    compact = True

    @property
    def units(self) -> int:
        """What kernels count: rows."""
        return self.nrows

    def lengths(self) -> Any:
        """The words of each row, as a lane reads them: from its first nibble on. Made at every call."""
        return layout.word_counts(self.device, self.nrows, self.heads, self.words)

    @property
    def ptr(self) -> Any:
        """The words before each row: the work there. Made where nobody else holds it."""
        found = self.cache["ptr"]() if "ptr" in self.cache else None
        if found is None:
            xp, length = self.device.xp, self.lengths()
            ptr = xp.zeros(self.nrows + 1, np.int64)
            xp.cumsum(length, out=ptr[1:])
            found = ptr.astype(index_type(8 * len(self.words) + self.nrows), copy=False)
            self.cache["ptr"] = weakref.ref(found)
        return found

    @property
    def col(self) -> Any:
        return self.words

    @property
    def work(self) -> int:
        """Words that lanes read."""
        if "work" not in self.cache:
            self.cache["work"] = int(self.lengths().sum())
        return int(self.cache["work"])

    @property
    def nbytes(self) -> int:
        ranks = 0 if self.value_ptr is None else int(self.value_ptr.nbytes)
        return int(self.heads.nbytes + self.words.nbytes) + ranks

    def ranks(self) -> Any:
        """value_ptr, made at first need."""
        if self.value_ptr is None:
            found = layout.pointers(self.device, self.nrows, self.nvals, self.heads, self.words)
            self.value_ptr = found.astype(index_type(self.nvals), copy=False)
        return self.value_ptr

    def adopt(self, twin: Nib) -> None:
        if self.value_ptr is None:
            self.value_ptr = twin.value_ptr

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Nib, Any]:
        """The gaps of these rows; entries keep their order. Peak memory: the result, and 40 bytes per row."""
        heads, words = layout.encoded(rows)
        ranks = rows.ptr if order else None
        return cls(rows.device, rows.nrows, rows.ncols, heads, words, rows.nvals, ranks), None

    def to_csr(self, order: bool) -> tuple[Csr, Any]:
        """The same entries with plain columns, in the same order. Peak memory: the result, and 16 bytes per row."""
        needed = rows_bytes(self.nrows, self.ncols, self.nvals) + 16 * self.nrows
        self.device.foresee(f"CSR of {self.nvals} entries", needed)
        ptr, col = layout.decoded(self.device, self.nrows, self.nvals, self.heads, self.words)
        return from_arrays(self.device, self.nrows, self.ncols, ptr, col), None

    def by_rows(self, order: bool) -> tuple[Csr, Any]:
        return self.to_csr(order)

    def transpose(self, order: bool) -> tuple[Nib, Any]:
        """The form of the transpose; order[e]: the place of its entry e in this form. Peak memory: that of `to_csr`, of
        a CSR's transpose, and of `from_csr`."""
        rows, places = self.to_csr(False)[0].transpose(order)
        return self.from_csr(rows, None, order)[0], places

    def clip(self, region: Region, order: bool) -> tuple[Nib, Any]:
        """The entries in a region; order[e]: the place of its entry e in this form."""
        rows, places = self.to_csr(False)[0].clip(region, order)
        return self.from_csr(rows, None, order)[0], places

    def filter(self, keep: Any) -> tuple[Nib, Any]:
        """The entries for which `keep` (bools in entry order) is true, and that."""
        return self.from_csr(self.to_csr(False)[0].filter(keep)[0], None, False)[0], keep

    def is_symmetric(self) -> bool:
        return layout.mirrored(self.device, self.nrows, self.heads, self.words)

    def equals(self, other: Any) -> bool:
        return sound.same(self, other)

    def coo(self) -> tuple[Any, Any]:
        return self.to_csr(False)[0].coo()

    def arrays(self) -> dict[str, Any]:
        return {"heads": self.heads, "words": self.words}

    def numbers(self) -> dict[str, int]:
        return {"nrows": self.nrows, "ncols": self.ncols, "nvals": self.nvals}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Nib:
        nrows, ncols, nvals = sound.counts(numbers, "nrows", "ncols", "nvals")
        if refusal := cls.format.refusal(nrows, ncols):
            raise ValueError(f"numbers: {cls.key!r} {refusal}")
        size = len(arrays["words"]) if "words" in arrays else 0
        wanted = {"heads": ((np.int64,), layout.groups_of(nrows) + 1), "words": ((np.uint32,), max(layout.PAD, size))}
        heads, words = sound.expect(arrays, **wanted)
        return cls(device, nrows, ncols, heads, words, nvals)

    def check(self) -> None:
        """Also that it is the one way in which its entries are stored, so that no value says what it does not mean."""
        layout.check_blocks(self.device.xp, self.heads, self.words, self.nrows)
        rows = self.to_csr(False)[0]
        rows.check()
        if not self.equals(self.from_csr(rows, None, False)[0]):
            raise ValueError("words: expected what rows are encoded as")

    @classmethod
    def samples(cls) -> Iterator[Variant]:
        yield from (layout.encode_variant(INT32, fill, 4) for fill in (0, 1))
        yield from (layout.decode_variant(fill, 4) for fill in (0, 1))
        yield from (layout.EXTENTS, layout.MIRROR)
        yield marks_variant()

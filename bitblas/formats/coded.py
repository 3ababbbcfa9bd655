"""Base class of layouts that store rows as variable-length codes in blocks of 32 rows (blocks.py).

A row can only be read from its beginning. The number of its first entry is not stored; `value_ptr` is computed when
values need it. Such a layout changes by decoding to rows, changing these, and encoding again.

A subclass defines `from_csr`; `decode(fill, counts, col, place, some)`, one launch of its decoder over rows
(picked.py); `check_codes()`, which raises ValueError unless rows can be decoded within their words; and `hubs`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from semirings.dtypes import lookup_dtype

from ..device import Device, dummy
from . import picked, sound
from .blocks import PAD, check_blocks, groups_of, word_counts
from .contract import Later, Region, Types
from .csr.format import PARALLEL_ENTRIES, Csr, from_arrays, pointer_type, rows_bytes


@dataclass(eq=False)
class Coded:
    """Row i is in group g = i // 32: heads[g] >> 6 is the first word of its block, heads[g] & 63 the width of ends."""

    device: Device
    nrows: int
    ncols: int
    heads: Any  # groups + 1, INT64; the last one is the number of words
    words: Any  # uint32
    nvals: int
    value_ptr: Any = None  # nrows + 1: the number of each row's first entry; only if values are stored
    cache = Later()  # schedules of kernels: hubs, parallel bounds

    in_word: ClassVar[int]  # units per word: nibbles or bits
    format: ClassVar[Any]
    rows_per_unit = 1
    compact = True
    in_order: ClassVar[bool] = True  # entries are in CSR order

    @property
    def key(self) -> str:
        return str(self.format.key)

    @property
    def units(self) -> int:
        """Number of units that kernels iterate over: rows."""
        return self.nrows

    def bounds(self, work: int) -> Any:
        """Parallel ranges of rows on the CPU."""
        return self.device.ranges(self.nrows, PARALLEL_ENTRIES, work=work)

    def lengths(self) -> Any:
        """Words per row, counted from its first unit on. Computed at every call."""
        return word_counts(self.device, self.nrows, self.heads, self.words, self.in_word, self.bounds(self.nrows))

    @property
    def ptr(self) -> Any:
        """Words before each row, as a measure of work. Computed unless a caller still holds it (weak reference)."""
        found = self.cache["ptr"]() if "ptr" in self.cache else None
        if found is None:
            xp, length = self.device.xp, self.lengths()
            ptr = xp.zeros(self.nrows + 1, np.int64)
            xp.cumsum(length, out=ptr[1:])
            found = ptr.astype(pointer_type(self.in_word * len(self.words) + self.nrows), copy=False)
            self.cache["ptr"] = weakref.ref(found)
        return found

    @property
    def col(self) -> Any:
        return self.words

    @property
    def work(self) -> int:
        """The words of all rows."""
        if "work" not in self.cache:
            self.cache["work"] = int(self.lengths().sum())
        return int(self.cache["work"])

    @property
    def nbytes(self) -> int:
        ranks = 0 if self.value_ptr is None else int(self.value_ptr.nbytes)
        return int(self.heads.nbytes + self.words.nbytes) + ranks

    def ranks(self: Any) -> Any:
        """value_ptr, computed on first use."""
        if self.value_ptr is None:
            self.value_ptr = self.pointers().astype(pointer_type(self.nvals), copy=False)
        return self.value_ptr

    def adopt(self, twin: Any) -> None:
        if self.value_ptr is None:
            self.value_ptr = twin.value_ptr

    def pointers(self: Any) -> Any:
        """The number of each row's first entry, and the total. ValueError if the total is not `nvals`."""
        ptr = picked.pointers(self, picked.all_of(self))
        if int(ptr[-1]) != self.nvals:
            raise ValueError(f"words: expected {self.nvals} entries, got {int(ptr[-1])}")
        return ptr

    def decoded(self: Any, order: bool) -> tuple[Any, Any, Any]:
        """Row pointers, columns, and with `order` the position of each entry in this layout (None: the same order)."""
        ptr = self.pointers()
        col, place = picked.decoded(self, ptr, order, picked.all_of(self))
        return ptr, col[: self.nvals], place

    def some_rows(self: Any, rows: Any, order: bool) -> tuple[Csr, Any]:
        """Decode only these rows (INT64 numbers, in any order) to plain ones, concatenated; with `order` also the
        positions of their entries in this layout."""
        some = picked.some_of(self, rows)
        ptr = picked.pointers(self, some)
        nvals = int(ptr[-1])
        self.device.foresee(f"{some.size} rows of {nvals} entries", rows_bytes(some.size, self.ncols, nvals))
        col, place = picked.decoded(self, ptr, order, some)
        made = from_arrays(self.device, some.size, self.ncols, ptr, col[:nvals])
        return made, picked.moved(self, ptr, place, rows) if order else None

    def to_csr(self: Any, order: bool) -> tuple[Csr, Any]:
        """The same entries with plain columns; order[e]: the position of entry e in this layout, None if it is the
        same. Peak memory: the result, the order, and 16 bytes per row."""
        needed = rows_bytes(self.nrows, self.ncols, self.nvals) + 16 * self.nrows
        self.device.foresee(f"CSR of {self.nvals} entries", needed)
        ptr, col, places = self.decoded(order)
        return from_arrays(self.device, self.nrows, self.ncols, ptr, col), places

    def by_rows(self, order: bool) -> tuple[Csr, Any]:
        return self.to_csr(order)

    def changed(self: Any, change: Callable[[Csr], tuple[Csr, Any]], order: bool) -> tuple[Any, Any]:
        """Decode, apply `change` to the rows, and encode again; order[e]: the position of the result's entry e in this
        layout. Peak memory: that of `to_csr`, of the change, and of `from_csr`."""
        rows, places = self.to_csr(order)
        rows, kept = change(rows)
        made, moved = self.from_csr(rows, None, order)
        for step in (kept, moved) if order else ():
            places = step if places is None else places if step is None else places[step]
        return made, places

    def transpose(self, order: bool) -> tuple[Any, Any]:
        """The layout of the transpose; order[e]: the position of the result's entry e in this layout."""
        return self.changed(lambda rows: rows.transpose(order), order)

    def clip(self, region: Region, order: bool) -> tuple[Any, Any]:
        """The entries in a region; order[e]: the position of the result's entry e in this layout."""
        return self.changed(lambda rows: rows.clip(region, order), order)

    def again(self: Any, rows: Csr) -> Any:
        """Encode these rows in the same format."""
        return self.from_csr(rows, None, False)[0]

    def filter(self: Any, keep: Any) -> tuple[Any, Any]:
        """The entries for which `keep` (bools in entry order) is true, and the index that selects their values from
        this layout's."""
        rows, places = self.to_csr(True)
        kept = keep if places is None else keep[places]
        made, moved = self.from_csr(rows.filter(kept)[0], None, True)
        if places is None:
            return made, keep
        return made, places[kept] if moved is None else places[kept][moved]

    def coo(self: Any) -> tuple[Any, Any]:
        rows, places = self.to_csr(True)
        found = rows.coo()
        if places is None:
            return found
        for x, of in zip(made := tuple(self.device.xp.empty_like(x) for x in found), found, strict=True):
            x[places] = of
        return made

    def equals(self, other: Any) -> bool:
        return sound.same(self, other)

    def arrays(self) -> dict[str, Any]:
        return {"heads": self.heads, "words": self.words}

    def numbers(self) -> dict[str, int]:
        return {"nrows": self.nrows, "ncols": self.ncols, "nvals": self.nvals}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Any:
        nrows, ncols, nvals = sound.counts(numbers, "nrows", "ncols", "nvals")
        if refusal := cls.format.refusal(nrows, ncols):
            raise ValueError(f"numbers: {cls.format.key!r} {refusal}")
        size = len(arrays["words"]) if "words" in arrays else 0
        wanted = {"heads": ((np.int64,), groups_of(nrows) + 1), "words": ((np.uint32,), max(PAD, size))}
        heads, words = sound.expect(arrays, **wanted)
        return cls(device, nrows, ncols, heads, words, nvals)

    def check(self: Any) -> None:
        """Also checks that the encoding is canonical: decoding and encoding again must give the same words."""
        check_blocks(self.device.xp, self.heads, self.words, self.nrows, self.in_word)
        self.check_codes()
        rows = self.to_csr(False)[0]
        rows.check()
        if not self.equals(self.again(rows)):
            raise ValueError("words: expected the canonical encoding of the rows")

    # ---- kernel arguments ----

    def places(self, ranked: bool) -> Any:
        """Ranks as a kernel argument: a dummy array if the kernel does not read them."""
        return self.ranks() if ranked else dummy(self.device, "int32")

    def types(self, ranked: bool) -> Types:
        return (("PLACE", lookup_dtype(self.places(ranked).dtype)),)

    def unit_starts(self) -> tuple[Any, int]:
        return self.heads, 1

    def unit_contents(self, ranked: bool) -> tuple[Any, ...]:
        return self.words, self.places(ranked)

    def segments(self: Any, longest: int) -> int:
        found = self.hubs(longest)
        return 0 if found is None else found.segments

"""Build matrices from chunks of entries, for inputs that do not fit in memory together with the result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import dtypes

from ...device import Device
from ...formats.csr.format import index_type
from ..building import check_lengths, duplicates
from ..convert import check_range, check_size, check_symmetric, device_of, index_array, value_array
from ..options import check_layout
from .stored import StoredMatrix

if TYPE_CHECKING:
    from typing_extensions import Self

Entries = tuple[Any, Any, Any]  # rows, columns, values (None: there are no values)


class Chunks:
    """Chunks as arrays of a device; they can be read repeatedly."""

    def __init__(self, source: Any, device: Device, dtype: Any) -> None:
        self.source, self.device = source, device
        self.dtype = None if dtype is None else dtypes.lookup_dtype(dtype)
        self.found: Any = None  # the NumPy type that holds the values of all chunks so far
        self.parts = 0  # number of arrays in a chunk: 2 or 3
        self.kept: list[Entries] | None = None if callable(source) or iter(source) is not source else []

    def first(self) -> Iterator[Entries]:
        """All chunks; those that cannot be read again are kept, in narrow types."""
        for entries in self._read():
            if self.kept is not None:
                narrow = [x.astype(index_type(int(x.max()) + 1 if len(x) else 0)) for x in entries[:2]]
                own = entries[2].copy() if entries[2] is not None else None
                self.kept.append((*narrow, own))
            yield entries

    def again(self) -> Iterator[Entries]:
        """All chunks once more, with values in the common type."""
        for i, j, x in self._read() if self.kept is None else self.kept:
            yield i.astype(np.int64, copy=False), j.astype(np.int64, copy=False), self._as_one(x)

    def _as_one(self, x: Any) -> Any:
        return None if x is None else x.astype(self.value_type.np_type, copy=False)

    @property
    def value_type(self) -> Any:
        """The common type of all values, after all chunks were read."""
        said = getattr(self.source, "value_dtype", None)
        return self.dtype or dtypes.lookup_dtype(self.found if said is None else said)

    def _read(self) -> Iterator[Entries]:
        for chunk in self.source() if callable(self.source) else self.source:
            given = tuple(chunk)
            if len(given) not in (2, 3) or self.parts not in (0, len(given)):
                expected = self.parts or "2 or 3 (rows, columns and, if there are any, values)"
                raise ValueError(f"chunks: expected {expected} arrays in each, got {len(given)}")
            self.parts = len(given)
            i, j = index_array(self.device, given[0], "rows"), index_array(self.device, given[1], "columns")
            x = None
            if len(given) == 3:
                x, kind = value_array(self.device, given[2], self.dtype)
                x = self.device.full(len(i), x) if isinstance(x, np.generic) else x
                self.found = kind.np_type if self.found is None else np.result_type(self.found, kind.np_type)
            check_lengths(np.bool_(True) if x is None else x, i, j)
            yield i, j, x


class ChunkBuild(StoredMatrix):
    __slots__ = ()

    @classmethod
    def from_chunks(
        cls, chunks: Any, value: Any = True, dtype: Any = None, *, nrows: Any = None, ncols: Any = None,
        dup_op: Any = None, name: str | None = None, device: str | Device | None = None, format: str | None = None,
        tile: int | None = None, packed: bool | None = None, symmetric: bool = False,
    ) -> Self:  # fmt: skip
        """The Matrix that `from_coo` makes of all chunks concatenated, without holding them all at once.

        chunks: an iterable of (rows, columns) or (rows, columns, values), arrays as for `from_coo`. It is read twice,
        and up to 64 times more for `format` "nib" and "mplg", which are built in bands of rows (3 times if rows ascend
        from chunk to chunk): pass a list, an object whose `__iter__` starts over, or a function without arguments that
        returns an iterator each time. An iterator, which can be read only once, is stored while it is read: 8 bytes an
        entry (16 for indices from 2**31 on), and its values. value: the value of all entries if chunks have none.
        dtype: of the values; None: the common type of all chunks. nrows, ncols: if not given, `chunks.shape` before or
        after the first pass, if it exists, else one more than the largest index. symmetric: it is checked that each
        entry has its mirror image, without a transpose. Everything else as in `from_coo`.

        Memory: about 4 bytes an entry (for "nib" and "mplg" the size of the format), and its value, 40 a row, and 96
        for each entry of the largest chunk or of a million; docs/memory.md has the formulas. Raises the errors of
        `from_coo`, and ValueError for chunks that differ in their number of arrays, or from pass to pass.
        """
        layout = check_layout(format, tile, packed)
        d = device_of(device)
        given = [None if n is None else check_size(what, n) for n, what in ((nrows, "nrows"), (ncols, "ncols"))]
        source = Chunks(chunks, d, dtype)
        with d.guard:
            first, second = _sizes(given, chunks)
            from ...build import chunks as build  # imports all formats that grow: 2 ms

            counts = build.Counts(d, first)
            for i, j, _ in source.first():
                check_range(i, 1 << 60 if first is None else first, "rows")
                check_range(j, 1 << 60 if second is None else second, "columns")
                counts.add(i, j)
            first, second = _sizes(given, chunks)
            if not counts.entries and None in (first, second):
                raise ValueError("nrows, ncols: expected sizes, because there are no indices, got None")
            shape = counts.nrows if first is None else first, counts.ncols if second is None else second
            one, of = (None, source.value_type) if source.parts == 3 else value_array(d, value, source.dtype)
            if one is not None and not isinstance(one, np.generic):
                raise ValueError("value: expected a scalar; different values belong into the chunks")
            dup = duplicates(dup_op, one, of)
            store = build.from_counts(counts, source.again, *shape, one, of, dup, format=layout.format, tile=tile)
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)


def _sizes(given: list[int | None], chunks: Any) -> tuple[int | None, int | None]:
    """Rows and columns, as far as they are known now: as given, else as the chunks report."""
    said: Any = getattr(chunks, "shape", ())
    rows, cols = said if len(said) == 2 else (None, None)
    return rows if given[0] is None else given[0], cols if given[1] is None else given[1]

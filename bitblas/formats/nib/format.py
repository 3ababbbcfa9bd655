"""NIB: the gaps between a row's columns as variable-length codes of nibbles.

The smallest layout of most graphs with scattered edges.

A row's first column is stored as its distance from the row's own number, in zigzag coding (2 d for d >= 0, else -2 d -
1), each later one as its gap less 1. A value takes one nibble per 3 bits, at least one, lowest first; bit 3 of a nibble
marks the end of the value. GPU lanes therefore each take a word of eight nibbles and find the values that end in it
without guessing (walk.cuh).

Rows are in blocks of 32 (formats/blocks.py). Entry order: row, column, as in CSR.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from semirings.dtypes import INT32

from ...kernels.prologue import Variant
from ..blocks import extents_variant
from ..choice import Format
from ..coded import Coded
from ..coded_likely import likely_variant
from ..csr.format import Csr
from ..picked import Some
from . import layout
from .call import FORMATS, NibCall, marks_variant
from .grades import chunks_variant


class Nib(NibCall, Coded):
    """Rows of nibble gaps."""

    formats: ClassVar[tuple[Format, ...]] = FORMATS
    format = FORMATS[0]
    in_word = layout.IN_WORD

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Nib, Any]:
        """Encode these rows; entries keep their order. Peak memory: the result, and 40 bytes per row."""
        heads, words = layout.encoded(rows)
        ranks = rows.ptr if order else None
        return cls(rows.device, rows.nrows, rows.ncols, heads, words, rows.nvals, ranks), None

    def decode(self, fill: int, counts: Any, col: Any, place: Any, some: Some) -> None:
        layout.decode(self, fill, counts, col, some)

    def is_symmetric(self) -> bool:
        return layout.mirrored(self.device, self.nrows, self.heads, self.words)

    def check_codes(self) -> None:
        """Nothing to check: for any nibbles, values end within their row."""

    @classmethod
    def samples(cls) -> Iterator[Variant]:
        yield from (layout.encode_variant(INT32, fill, 4) for fill in (0, 1))
        yield from (layout.decode_variant(fill, 4) for fill in (0, 1))
        yield from (extents_variant(cls.in_word), layout.MIRROR)
        yield from (marks_variant(), chunks_variant())
        yield likely_variant(cls, 4)

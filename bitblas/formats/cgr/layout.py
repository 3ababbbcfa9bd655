"""CGR: rows as intervals and gaps in variable-length bit codes.

The compressed graph representation of Sha, Li and Tan (GPU-based graph traversal on compressed graphs, SIGMOD 2019), in
the code of their program.

Four or more consecutive columns of a row form an interval: its first column and its length less 4, both as gamma codes.
All other columns, the residuals, are one zeta_3 code each. The first of either kind is stored as its distance from the
row's own number, in zigzag coding (2 d for d >= 0, else -2 d - 1). Later ones are stored as the gap from the previous
one (for an interval, from its last column) less 1.

A row is its intervals, then its residuals, both in segments of 256 bits: the number of segments less 1, and for each
segment the number of its codes (gamma), the codes, and zeros up to the next segment. Each segment restarts from the
row's number, so a GPU lane can read one without the others. A remainder at the end belongs to the last segment, which
is then longer and has no zeros after it.

Two things differ from the authors' files: rows are in blocks of 32 (formats/coded.py), where a file has 64 bits per
row, and a row without entries has no bits.

Entry order: row; the entries of intervals, then residuals.
"""

from __future__ import annotations

from ...device import Device
from ...typing import Array
from .. import coded
from ..coded import Coded, RowSelection
from ..contract import Order
from ..csr.layout import Csr
from . import encoding
from .kernels import FORMATS


class Cgr(Coded):
    """Rows of intervals and residuals."""

    format = FORMATS[0]
    in_word = encoding.IN_WORD
    in_order = False

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Cgr, Order]:
        """Encode these rows; with `order` the position of each entry's value in them. Peak memory: the result, the
        order twice, and 40 bytes per row."""
        encoder = encoding.Encoder(rows)
        heads, words = coded.encoded(rows, encoder.sizes(), encoding.IN_WORD, "codes", encoder.fill)
        ranks = rows.ptr if order else None
        layout = cls(rows.device, rows.nrows, rows.ncols, heads, words, rows.nvals, ranks)
        if not order:
            return layout, None
        place = layout.decoded(True)[2]
        places = rows.device.xp.empty_like(place)
        places[place] = rows.device.xp.arange(rows.nvals)
        return layout, places

    def decode(self, fill: int, counts: Array, col: Array, place: Order, selection: RowSelection) -> None:
        encoding.decode(self, fill, counts, col, place, selection)

    def numbers(self) -> dict[str, int]:
        return super().numbers() | {"segment": encoding.SEGMENT}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Cgr:
        if numbers.get("segment") != encoding.SEGMENT:
            raise ValueError(f"segment: expected {encoding.SEGMENT} bits, got {numbers.get('segment')}")
        return super().restored(device, {name: x for name, x in numbers.items() if name != "segment"}, arrays)

    def check_codes(self) -> None:
        encoding.check_codes(self)

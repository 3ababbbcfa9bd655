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

import numpy as np

from ...device import Device
from ...typing import Array
from .. import coded
from .kernels import FORMATS

SEGMENT = 256  # bits per segment, the authors' choice; also in walk.cuh and rows.cpu.py


class Cgr(coded.Coded):
    """Rows of intervals and residuals."""

    format, code, in_order = FORMATS[0], coded.CGR, False

    def numbers(self) -> dict[str, int]:
        return super().numbers() | {"segment": SEGMENT}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Cgr:
        if numbers.get("segment") != SEGMENT:
            raise ValueError(f"segment: expected {SEGMENT} bits, got {numbers.get('segment')}")
        return super().restored(device, {name: x for name, x in numbers.items() if name != "segment"}, arrays)

    def check_codes(self) -> None:
        """ValueError unless all rows can be decoded within their words and columns."""
        xp = self.device.xp
        wrong = xp.zeros(max(1, self.nrows), np.int64)
        self.decode(2, wrong, xp.zeros(1, np.int32), None)
        if bool(wrong.any()):
            row = int(xp.flatnonzero(wrong)[0])
            raise ValueError(f"words: expected row {row} to decode within its bits, to columns below {self.ncols}")

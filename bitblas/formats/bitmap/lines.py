"""Bit positions in a bitmap.

A matrix has one line per position of its longer side, and a line has one bit per position of the shorter side: lines
are the rows of a tall or square matrix and the columns of a wide one. So the frontiers of 64 searches are one word per
vertex, whether the matrix has a row or a column per search.

A line takes 8, 16 or 32 bits, or as many whole 64-bit words as it needs, so kernels read whole lines and never part of
a word of another line. Bits beyond the shorter side are zero.
"""

from __future__ import annotations

import functools
from typing import NamedTuple, TypeVar

from ...typing import Array

WORD = 64
T = TypeVar("T", int, Array)


class Lines(NamedTuple):
    """`number` lines of `stride` bits, of which the first `width` are positions. tall: lines are rows."""

    number: int
    width: int
    stride: int
    tall: bool

    @property
    def places(self) -> int:
        """Total number of bits, including the padding of lines."""
        return self.number * self.stride

    @property
    def words(self) -> int:
        """Words of 64 bits; at least one, so that the array has an address."""
        return -(-self.places // WORD) or 1

    def place(self, rows: T, cols: T) -> T:
        """Position of the entry at a row and a column."""
        return rows * self.stride + cols if self.tall else cols * self.stride + rows

    def entry(self, places: T) -> tuple[T, T]:
        """Row and column of a position."""
        line, position = places // self.stride, places % self.stride
        return (line, position) if self.tall else (position, line)


def stride_of(width: int) -> int:
    """Bits of a line with that many positions."""
    return next((bits for bits in (8, 16, 32) if width <= bits), -(-width // WORD) * WORD)


@functools.lru_cache(1 << 10)
def lines_of(nrows: int, ncols: int) -> Lines:
    """The lines of a matrix of that shape."""
    width = min(nrows, ncols)
    return Lines(max(nrows, ncols), width, stride_of(width), nrows >= ncols)


def places_of(nrows: int, ncols: int) -> int:
    """`Lines.places`."""
    return lines_of(nrows, ncols).places

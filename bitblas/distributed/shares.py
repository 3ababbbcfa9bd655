"""Partition of indices over ranks: consecutive blocks, the same for all objects of one size, so that element-wise
operations need no communication.

The first object of a size that has known entries (a matrix that is built) sets the blocks so that every rank has the
same number of entries; otherwise every rank has the same number of indices. Blocks are whole words of bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semirings.cached import cached_property

from .start import current

WORD = 64
LARGE = 1 << 16  # positions from which on blocks are those of BLOCK
BLOCK = 512
BLOCKS = 33  # log2 of the positions from which on blocks are larger than BLOCK
EVEN = 1.03  # a rank of evenly dealt positions may have so many times its part of the entries
ROW_WEIGHT = 8  # what a row costs besides its entries, in entries: vectors are gone through several times a round


@dataclass(frozen=True)
class Shares:
    """bounds[r] to bounds[r + 1]: the positions of rank r."""

    bounds: tuple[int, ...]
    rank: int

    @property
    def size(self) -> int:
        return self.bounds[-1]

    @property
    def low(self) -> int:
        return self.bounds[self.rank]

    @property
    def high(self) -> int:
        return self.bounds[self.rank + 1]

    @property
    def mine(self) -> int:
        """The positions of this rank."""
        return self.high - self.low

    @cached_property
    def counts(self) -> list[int]:
        return np.diff(self.bounds).tolist()

    @cached_property
    def words(self) -> list[int]:
        """Words of bits that each rank has."""
        return [-(-count // WORD) for count in self.counts]

    def owner(self, position: int) -> int:
        return int(np.searchsorted(self.bounds, position, side="right")) - 1

    def owners(self, xp: Any, positions: Any) -> Any:
        """The rank of each of an array of positions."""
        return xp.searchsorted(xp.asarray(self.bounds[1:], np.int64), positions, side="right")

    def has(self, positions: Any) -> Any:
        """Which of an array of positions are this rank's."""
        return (positions >= self.low) & (positions < self.high)


def of(size: int) -> Shares:
    """Those of the objects of that size; dealt evenly if there are none yet."""
    group = current()
    found = group.shares.get(size)
    if found is None:
        found = group.shares[size] = Shares(_even(size, group.size), group.rank)
    return found


def block(size: int) -> int:
    """Positions in a block: more in the largest objects, of which there are at most 2**25 blocks."""
    return BLOCK << max(0, (size >> BLOCKS).bit_length()) if size >= LARGE else WORD


def deal(size: int, entries: np.ndarray) -> Shares:
    """Shares of as many entries for each rank, if there are none of that size yet. entries: of each block of rows, the
    same array on every rank."""
    group = current()
    known = group.shares
    if size not in known and group.size > 1:
        weight = np.cumsum(entries + np.int64(ROW_WEIGHT * block(size)))
        targets = weight[-1] * np.arange(1, group.size) // group.size if len(weight) else np.zeros(group.size - 1, int)
        cuts = np.searchsorted(weight, targets, side="left") + (len(weight) > 0)
        even = _even(size, group.size)
        until = np.concatenate([[0], weight])[[-(-cut // block(size)) for cut in even]]
        if np.diff(until).max() * group.size <= EVEN * until[-1]:
            return of(size)  # calls of as many positions from each rank are faster
        cuts = np.minimum(cuts * block(size), size)
        known[size] = Shares((0, *cuts.tolist(), size), group.rank)
    return of(size)


def _even(size: int, ranks: int) -> tuple[int, ...]:
    blocks = -(-size // block(size))
    return (*(rank * blocks // ranks * block(size) for rank in range(ranks)), size)


def known(size: int) -> bool:
    return size in current().shares


def adopt(bounds: tuple[int, ...]) -> None:
    """Those of all objects of that size from now on, as they were when something was saved."""
    current().shares[bounds[-1]] = Shares(bounds, current().rank)

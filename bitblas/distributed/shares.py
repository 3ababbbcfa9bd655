"""Partition of indices over ranks: consecutive blocks, the same for all objects of one size, so that element-wise
operations need no communication.

The first object of a size that has known entries (a matrix that is built) sets the blocks so that every rank has the
same number of entries; otherwise every rank has the same number of indices. Blocks are whole words of bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from semirings.cached import cached_property

from .. import tuning
from ..typing import Array
from .start import current

WORD = 64


@dataclass(frozen=True)
class Shares:
    """bounds[r] to bounds[r + 1]: the positions of rank r."""

    bounds: tuple[int, ...]
    rank: int

    @cached_property
    def size(self) -> int:
        return self.bounds[-1]

    @cached_property
    def low(self) -> int:
        return self.bounds[self.rank]

    @cached_property
    def high(self) -> int:
        return self.bounds[self.rank + 1]

    @cached_property
    def mine(self) -> int:
        """The number of positions of this rank."""
        return self.high - self.low

    @cached_property
    def counts(self) -> list[int]:
        return np.diff(self.bounds).tolist()

    @cached_property
    def words(self) -> list[int]:
        """Words of bits per rank."""
        return [-(-count // WORD) for count in self.counts]

    def owner(self, position: int) -> int:
        return int(np.searchsorted(self.bounds, position, side="right")) - 1

    def owners(self, xp: ModuleType, positions: Array) -> Array:
        """The rank of each position of an array."""
        return xp.searchsorted(xp.asarray(self.bounds[1:], np.int64), positions, side="right")

    def has(self, positions: Array) -> Array:
        """Which positions of an array belong to this rank."""
        return (positions >= self.low) & (positions < self.high)


def of(size: int) -> Shares:
    """The partition of objects of that size; even if there is none yet."""
    group = current()
    found = group.shares.get(size)
    if found is None:
        found = group.shares[size] = Shares(_even(size, group.size), group.rank)
    return found


def block_size(size: int) -> int:
    """Positions in a block: a power of 2 times the usual length, so that there are at most `shares.blocks`."""
    if size < tuning.count("shares.large"):
        return WORD
    block = tuning.count("shares.block")
    return block << (size // (block * tuning.count("shares.blocks"))).bit_length()


def partition_by_entries(size: int, entries: np.ndarray) -> Shares:
    """Partition with the same number of entries per rank, if that size has no partition yet. entries: per block of
    rows, the same array on every rank."""
    group = current()
    if size not in group.shares and group.size > 1:
        weight = np.cumsum(entries + np.int64(tuning.count("shares.row_cost") * block_size(size)))
        targets = weight[-1] * np.arange(1, group.size) // group.size if len(weight) else np.zeros(group.size - 1, int)
        cuts = np.searchsorted(weight, targets, side="left") + (len(weight) > 0)
        even = _even(size, group.size)
        until = np.concatenate([[0], weight])[[-(-cut // block_size(size)) for cut in even]]
        if np.diff(until).max() * group.size <= tuning.value("shares.imbalance") * until[-1]:
            return of(size)  # calls with the same number of positions from each rank are faster
        cuts = np.minimum(cuts * block_size(size), size)
        group.shares[size] = Shares((0, *cuts.tolist(), size), group.rank)
    return of(size)


def _even(size: int, ranks: int) -> tuple[int, ...]:
    blocks = -(-size // block_size(size))
    return (*(rank * blocks // ranks * block_size(size) for rank in range(ranks)), size)


def has_partition(size: int) -> bool:
    return size in current().shares

"""Sparse vectors: a sorted list of positions, used if it is shorter than one bit per position.

Ten entries of 10^8 positions take 160 bytes, and positions go to 2^60. Operations compress the positions that they
touch (`verbs/local.py`) and run on those. Reading the bits of such a store converts it to bits for good.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import BOOL, DataType

from .device import Device, held
from .store import VectorStore, dense_values, pack, words

# Positions below which a bitset is used however few bits are set, on a CPU and on devices where threads share rows. A
# list costs 3 ms per round of a search on a CPU, whatever its size, a bitset 0.15 ms with 2^20 positions (measured on a
# grid): about as much at 2^24, where bits take 2 MB and values 128. On a GPU lists are many small launches (estimated).
FLOOR, FLOOR_SHARED = 1 << 24, 1 << 26
SHARE = 128  # bits of an entry: an index and a value of 8 bytes each
INDEX = np.dtype(np.int64)


def is_sparse(device: Device, nvals: int, size: int) -> bool:
    """Whether a vector with `nvals` of `size` entries is stored as a sorted list."""
    return size >= FLOOR and nvals * SHARE < size and (size >= FLOOR_SHARED or not device.shares_rows)


@held.root
class SparseStore(VectorStore):
    """index: positions of the entries (INT64, ascending); listed: their values, one for all (np.generic) or an array
    (BOOL: bools). Both are read-only. Becomes a plain VectorStore when `bits` or `values` are read."""

    index: Any
    listed: Any

    def __init__(
        self, device: Device, size: int, dtype: DataType, index: Any, listed: Any, order: Any = None
    ) -> None:  # fmt: skip
        known = {"device": device, "size": size, "dtype": dtype, "index": index, "listed": listed, "order": order}
        self.__dict__.update(known, count=len(index))
        if isinstance(listed, np.generic):
            self.__dict__["values"] = listed

    def __getattr__(self, name: str) -> Any:
        if name not in ("bits", "values"):
            raise AttributeError(name)
        self._expand()
        return self.__dict__[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("bits", "values"):
            self._expand()  # it is a VectorStore from now on
        object.__setattr__(self, name, value)

    @property
    def iso(self) -> bool:
        return isinstance(self.listed, np.generic)

    def with_value(self, dtype: DataType, value: np.generic) -> SparseStore:
        return SparseStore(self.device, self.size, dtype, self.index, value)

    def copy(self) -> SparseStore:
        return SparseStore(self.device, self.size, self.dtype, self.index, self.listed, self.order)

    def become(self, other: VectorStore) -> None:
        """Take over the content of another store of the same size and type, in place."""
        order = self.order
        self.__dict__.clear()
        self.__dict__.update(other.__dict__, order=order)
        object.__setattr__(self, "__class__", type(other))

    def _expand(self) -> None:
        """OutOfMemory if one bit per position does not fit."""
        device, size, n = self.device, self.size, self.count
        wide = 0 if self.iso else self.dtype.np_type.itemsize if self.dtype is not BOOL else 0.125
        device.foresee(f"vector: bits of {size} positions, which this operation needs,", int(size // 8 + wide * size))
        bits, values = _bits_at(device, size, self.index), self.listed
        if not self.iso:
            values = dense_values(device, size, self.dtype)
            if self.dtype is BOOL:
                values = _bits_at(device, size, self.index[self.listed])
            else:
                values[self.index] = self.listed
        self.become(VectorStore(device, size, self.dtype, bits, values, n))


def _bits_at(device: Device, size: int, index: Any) -> Any:
    """A bitset with the bits at these positions set; they ascend."""
    if not device.host_memory:
        flags = device.xp.zeros(size, bool)
        flags[index] = True
        return pack(device, flags)
    bits, at = np.zeros(words(size), np.uint64), index >> 6
    if len(at):
        starts = np.flatnonzero(np.append(True, at[1:] != at[:-1]))
        bits[at[starts]] = np.bitwise_or.reduceat(np.uint64(1) << (index & 63).astype(np.uint64), starts)
    return bits


def is_blank(u: VectorStore) -> bool:
    """Whether it has no bits, like the result of `empty_vector`."""
    return type(u) is VectorStore and u.count == 0 and u.bits is None and u.order is None and u.iso


def empty(device: Device, size: int, dtype: DataType) -> VectorStore:
    """A vector without entries, for callers that read it before anything is written."""
    zero = dtype.np_type.type(0)
    if not is_sparse(device, 0, size):
        return VectorStore(device, size, dtype, None, zero, 0)
    return SparseStore(device, size, dtype, device.xp.zeros(0, INDEX), zero)

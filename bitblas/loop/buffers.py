"""Memory of a captured program: allocated before capture, the same for every run, never moved.

A vector that an advance writes has three buffers: its contents, the one that the next advance writes, and the one that
the advance clears for the advance after that. All other vectors have one. Each frontier also has a worklist and a state
of 8 numbers (see frontier.cuh).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ..store import VectorStore, full_bits, words
from .recorded.ir import Vec
from .scratch import Own, Scratch

STATE = 8  # numbers in a state
ENTRIES, LISTED, DENSE, WORK, SEGMENTS, REMAINING = range(6)
BUFFERS = 3  # of a vector that steps write
ROUNDS = 7  # numbers about rounds, behind the states (see frontier.cuh)
FAULTS = 5  # which of them tell of index vectors that lead nowhere (see indexed.cuh)


class Frontier:
    """The arrays of one vector: its bits, values (None where it is iso) and lists, each once or three times."""

    def __init__(self, scratch: Scratch | Own, vec: Vec, iso: Any, rotates: bool, values: Any = None) -> None:
        """values: of a vector that is only read, where they lie."""
        count = BUFFERS if rotates else 1
        self.vec, self.iso, self.rotates = vec, iso, rotates
        self.scratch, self.device, self.current = scratch, scratch.device, 0  # the buffer that is read
        self.bits = [scratch.bits(vec.size) for _ in range(count)]
        self.values: list[Any] = []
        if values is not None:
            self.values = [values]
        elif iso is None:
            n, dtype = (words(vec.size), np.uint64) if vec.dtype is BOOL else (max(1, vec.size), vec.dtype.np_type)
            self.values = [scratch.array(n, dtype) for _ in range(count)]
        self.lists: list[Any] = []
        self.segments: list[Any] = []

    def list_units(self, units: int, segments: int) -> None:
        """Room for lists of the units of a form, and for segments of its long rows."""
        if not self.lists:
            self.lists = [self.scratch.array(max(1, units), np.uint32) for _ in self.bits]
            self.segments = [self.scratch.array(max(1, 2 * segments), np.uint32) for _ in self.bits]

    def at(self, arrays: list[Any], ahead: int = 0) -> Any:
        """One of the arrays: the present one, the next, the one after."""
        return arrays[(self.current + ahead) % len(arrays)] if arrays else None

    @property
    def nbytes(self) -> int:
        return sum(int(x.nbytes) for x in (*self.bits, *self.values, *self.lists, *self.segments))

    def load(self, store: VectorStore, *, full: bool = False) -> None:
        """Begin with what a vector holds. full: which has an entry everywhere, as the buffer has already."""
        self._clear(1)
        if not full:
            self.bits[0][...] = store.present
        if self.values:
            self._load_values(store)

    def empty(self) -> None:
        """Begin without entries; what has one buffer is written before it is read."""
        if self.rotates:
            self._clear(0)

    def fill(self) -> None:
        """An entry everywhere, for ever: in memory of its own."""
        self.bits[0] = full_bits(self.device, self.vec.size)

    def _clear(self, first: int) -> None:
        for bits in self.bits[first:]:
            bits.fill(0)

    def _load_values(self, store: VectorStore) -> None:
        first = self.values[0]
        if not store.iso:
            first[...] = store.values
        elif store.dtype is BOOL:
            first[...] = store.present if store.values else 0
        elif store.count != 0:
            self.device.fill(first, store.values)

    def begin_cells(self, beginning: Any) -> None:
        """Cells that products are joined to; those of the present buffer are cleared with its entries."""
        for more in self.values[1:]:
            more.fill(beginning)

    def store(self, steps: int, *, full: bool = False) -> VectorStore:
        """What it holds after so many steps, as a vector of its own. full: it has an entry everywhere."""
        k = steps % len(self.bits)
        values = self.iso if not self.values else self.values[k].copy()
        count = self.vec.size if full else None
        return VectorStore(self.device, self.vec.size, self.vec.dtype, self.bits[k].copy(), values, count)


class States:
    """The states of a program, numbered: how each is found again in the next run of the body."""

    def __init__(self) -> None:
        self.sources: list[int] = []  # of each: the state whose numbers it takes over, a later one; -1: zeros

    def take(self, count: int, carried: int = 0) -> int:
        """`count` consecutive states; the last `carried` become the first of the next run. The first one's number."""
        first = len(self.sources)
        self.sources += [first + count - carried + k if k < carried else -1 for k in range(count)]
        return first

"""Memory of a vector in the rounds of a CPU loop, with a summary of its nonempty words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...store import VectorStore, words
from ..buffers import Frontier
from ..recorded.ir import Vec
from ..scratch import Own


class Summed(Frontier):
    """The arrays of one vector, and a summary for each of its bitsets: the words that have, or may have, entries."""

    def __init__(self, scratch: Own, vec: Vec, iso: Any, rotates: bool) -> None:
        super().__init__(scratch, vec, iso, rotates)
        self.summaries = [np.zeros(-(-words(vec.size) // 64), np.uint64) for _ in self.bits]

    def load(self, store: VectorStore, *, full: bool = False) -> None:
        super().load(store, full=full)
        if not full:
            self._clear_summaries()
            if store.count != 0:
                self._summarize()

    def fill(self) -> None:
        super().fill()
        self._summarize()

    def _summarize(self) -> None:
        flags = np.packbits(self.bits[0] != 0, bitorder="little")
        self.summaries[0].view(np.uint8)[: len(flags)] = flags

    def empty(self) -> None:
        self._clear(0)
        self._clear_summaries()

    def _clear_summaries(self) -> None:
        for summary in self.summaries:
            summary.fill(0)

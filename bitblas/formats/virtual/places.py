"""Positions of virtual nodes among the rows or columns of a matrix, which keep their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...device import Device
from ..contract import Later
from ..graded import Part


@dataclass(eq=False)
class Places:
    """Positions of nodes: bit p is set if position p is a node's."""

    device: Device
    size: int  # positions: of nodes and others
    nodes: int
    bits: Any  # uint64, at least one word
    cache = Later()

    @classmethod
    def of(cls, device: Device, nodes: np.ndarray, size: int) -> Places:
        """Nodes at these positions (ascending, on the host) of `size`."""
        bits = np.zeros(-(-size // 64) or 1, np.uint64)
        np.bitwise_or.at(bits, nodes >> 6, np.uint64(1) << (nodes & 63).astype(np.uint64))
        return cls(device, size, len(nodes), device.asarray(bits))

    @property
    def others(self) -> int:
        return self.size - self.nodes

    def turned(self) -> Places:
        """The complement, with nodes and others exchanged; computed on first use."""
        if "turned" not in self.cache:
            flags = 1 - self.flags()
            flags[self.size :] = 0
            bits = self.device.xp.packbits(flags, bitorder="little").view(np.uint64)
            self.cache["turned"] = Places(self.device, self.size, self.others, bits)
        found: Places = self.cache["turned"]
        return found

    def flags(self) -> Any:
        """Whether a node is at each position of the words."""
        return self.device.xp.unpackbits(self.bits.view(np.uint8), bitorder="little")

    def before(self) -> Any:
        """Number of nodes before each word, UINT32, computed on first use."""
        if "before" not in self.cache:
            xp = self.device.xp
            found = xp.zeros(len(self.bits), np.uint32)
            xp.cumsum(self.flags().reshape(-1, 64).sum(axis=1, dtype=np.uint32)[:-1], out=found[1:])
            self.cache["before"] = found
        return self.cache["before"]

    def at(self) -> Any:
        """The position of every 64th non-node, UINT32, computed on first use."""
        if "at" not in self.cache:
            xp = self.device.xp
            found = xp.flatnonzero(self.flags()[: self.size] == 0)[::64].astype(np.uint32)
            self.cache["at"] = found if len(found) else xp.zeros(1, np.uint32)
        return self.cache["at"]

    def numbers(self) -> tuple[Any, Any]:
        """For each position whether it is a node's, and its number among nodes or among others (INT64). Computed at
        every call."""
        xp, is_node = self.device.xp, self.flags()[: self.size].astype(bool)
        node = xp.cumsum(is_node, dtype=np.int64) - is_node
        return is_node, xp.where(is_node, node, xp.arange(self.size) - node)

    def check(self, name: str) -> None:
        """ValueError unless the number of set bits equals the number of nodes, and no bit beyond the last position is
        set."""
        flags = self.flags()
        if int(flags.sum()) != self.nodes or bool(flags[self.size :].any()):
            raise ValueError(f"{name}: expected {self.nodes} set bits within {self.size} positions")


def of_nodes(rows: Places, cols: Places) -> Part:
    """The rows of nodes, whose sums go to the columns of the same nodes."""
    xp = rows.device.xp
    is_node, number = rows.numbers()
    at = xp.flatnonzero(cols.flags()[: cols.size])
    place = xp.where(is_node, at[xp.where(is_node, number, 0)] if len(at) else number, 0)
    return Part("nodes", is_node, place, cols.size)


def of_others(rows: Places) -> Part:
    """The other rows, whose sums go to their positions in the matrix."""
    is_node, number = rows.numbers()
    return Part("others", ~is_node, number, rows.others)

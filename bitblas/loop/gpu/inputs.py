"""Inputs used in place: full vectors that a body only reads. Its kernels read the vector's own memory, so that no run
copies them and the program allocates nothing for them.

The program has captured the address of that memory. If a vector has other memory in a later run, the program is
captured again, and copies that vector from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ...core.vector.vector import Vector
from ...store import VectorStore
from ..recorded.ir import Vec
from .exchange import address
from .member import Member

ALIGNED = 16  # bytes, as in the memory of programs: a view of a user's array may begin at any address


class Inputs:
    """The inputs of a program, by their arrays of values."""

    def __init__(
        self, members: Mapping[Vec, Member], held: Mapping[int, VectorStore], read: Collection[Vec], moved: set[int]
    ) -> None:
        """held: the contents of vectors, by number. read: full vectors that nothing writes. moved: vectors whose memory
        has moved, by `id`; more are added."""
        self.members, self.moved = members, moved
        self.values: dict[Vec, Any] = {}
        for x in read:
            store, vector = held[x.id], members[x].vector
            known = isinstance(vector, Vector) and id(vector) not in moved
            if known and not store.iso and address(store.values) % ALIGNED == 0:
                self.values[x] = store.values

    def stay(self) -> bool:
        """Whether all inputs still have the same memory."""
        gone = [self.members[x] for x, array in self.values.items() if self.members[x].held().values is not array]
        self.moved.update(id(member.vector) for member in gone)
        return not gone

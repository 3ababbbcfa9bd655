"""Contents of a Vector before and after a run of a program: its bits, values and count."""

from __future__ import annotations

from typing import Any

from ...core.vector.vector import Vector
from ...order import Order
from ...sparse import is_blank
from ...store import VectorStore, empty_vector
from ..recorded.matrices import Places
from .exchange import Single


class Member:
    """A Vector (or the positions of a Matrix) that a program uses, and its order inside the program: that of the
    matrices for vectors of their size. Vectors of other sizes are not combined with these."""

    __slots__ = ("order", "vector")

    def __init__(self, vector: Vector | Places, order: Order | None) -> None:
        self.vector, self.order = vector, order

    def held(self) -> VectorStore:
        """The vector's contents, in the order of the loop."""
        return self.vector._in(self.order)

    def entering(self) -> VectorStore | Single:
        """The same; or the only pending entry of a vector that was emptied and then given one entry."""
        written, data = self.vector._pending, self.vector._data
        if len(written) != 1 or data.count != 0 or type(data) is not VectorStore:
            return self.held()
        ((place, value),) = written.items()
        if value is None:
            return self.held()
        return Single(place if self.order is None else self.order.place(place), value)

    def adopt(self, store: VectorStore) -> None:
        """Store the result of a run."""
        self.vector._adopt(store)
        self.vector._data.order = self.order

    def empty(self) -> None:
        """Set it to have no entries after a run, discarding a pending entry that it had before."""
        vector = self.vector
        if type(vector) is Vector and is_blank(vector._data):
            vector._pending.clear()
            vector._data.order = self.order
        else:
            self.adopt(empty_vector(vector.device, vector.size, vector.dtype))


def kind_of_values(held: VectorStore | Single) -> Any:
    """What a capture assumes about the values: that all are equal, or not; None: there are no entries."""
    if held.count == 0:
        return None
    return (held.values.dtype.char, held.values.tobytes()) if held.iso else "dense"

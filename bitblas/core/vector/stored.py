"""The state of a Vector: its store, and pending writes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ... import device as devices
from ... import verbs
from ...order import Order
from ...sparse import empty as empty_vector
from ...store import VectorStore
from ..statement import orders
from ..statement.recording import state as recording
from ..statement.tensor import Tensor
from ..statement.typed import TypedVector

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..memory import VectorMemory

_names = itertools.count()


def named(name: str | None) -> str:
    """The name of a Vector, generated if none was given."""
    return f"v_{next(_names)}" if name is None else name


class StoredVector(TypedVector, Tensor):
    """State and accessors that all mixins of Vector use."""

    __slots__ = ()
    _data: VectorStore
    _pending: dict[int, np.generic | None]
    ndim = 1

    @classmethod
    def _from_store(cls, store: VectorStore, name: str | None = None) -> Self:
        v = cls.__new__(cls)
        v._data, v._pending, v.name = store, {}, named(name)
        if recording.threads and recording.recorder is not None:
            recording.recorder.created(v)
        return v

    @property
    def _store(self) -> VectorStore:
        """The content; permutes it to the user's order for good."""
        store = self._stored
        return store if store.order is None else self._in(None)

    @property
    def _stored(self) -> VectorStore:
        """The content in its stored order."""
        if recording.threads and recording.recorder is not None:
            return recording.recorder.shape_of(self)
        if devices.several:
            devices.activate(self._data.device)
        if self._pending:
            verbs.elements.put(self._data, orders.placed(self._data.order, self._pending))
            self._pending.clear()
        return self._data

    @property
    def _in_users_order(self) -> VectorStore:
        """The content in the user's order, for one read: the stored order is unchanged."""
        store = self._stored
        return store if store.order is None else orders.moved(self, store, None)

    def _in(self, order: Order | None) -> VectorStore:
        """The content; permutes it to that order for good."""
        store = self._stored
        if store.order is not order:
            self._data = store = orders.moved(self, store, order)
        return store

    def _adopt(self, store: VectorStore) -> None:
        self._data = store
        if self._pending:
            self._pending.clear()

    def _release(self) -> Self:
        """A Vector that takes over the content; this one is left without entries."""
        held = self._stored
        self._adopt(empty_vector(held.device, held.size, held.dtype))
        return self._from_store(held)

    def _put(self, i: int, value: np.generic | None) -> None:
        """Set (None: delete) one entry; many of them cost one kernel, at the next read."""
        self._pending[i] = value

    @property
    def size(self) -> int:
        return self._data.size

    @property
    def shape(self) -> tuple[int]:
        return (self._data.size,)

    def memory(self) -> VectorMemory:
        """Memory usage in bytes: .presence, .values and .total, which prints as a table."""
        from ..memory import VectorMemory

        return VectorMemory.of(self._stored)

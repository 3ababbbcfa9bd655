"""The state of a Matrix: its store, pending writes, and the stored format."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import build, verbs
from ... import device as devices
from ...config import config
from ...flat import FlatStore
from ...order import Order
from ...store import MatrixStore, empty_vector
from ..options import AUTO, Layout
from ..statement import orders
from ..statement.recording import state as recording
from ..statement.tensor import Tensor
from .read import MatrixRead
from .writes import Writes

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..memory import Memory

_names = itertools.count()


def named(name: str | None) -> str:
    """The name of a Matrix, generated if none was given."""
    return f"M_{next(_names)}" if name is None else name


class StoredMatrix(MatrixRead, Tensor):
    """State and accessors that all mixins of Matrix use. `_layout`: the requested format."""

    __slots__ = ("_layout",)
    _data: MatrixStore
    _pending: Writes
    _layout: Layout
    _transposed = False

    @classmethod
    def _from_store(
        cls, store: MatrixStore, name: str | None = None, layout: Layout = AUTO, *, as_is: bool = False
    ) -> Self:
        A = cls.__new__(cls)
        A._data = store if as_is else build.stores.with_values(store, layout.packed)
        if isinstance(store, FlatStore):
            store.holders += 1
        A._layout, A._pending = layout, Writes()
        A.name = named(name)
        if recording.threads and recording.recorder is not None and recording.recorder.takes(A):
            recording.recorder.created(A)
        return A

    @property
    def _store(self) -> MatrixStore:
        store = self._stored
        return store if store.order is None else orders.in_users_order(self, store)

    def _at(self, order: Order | None) -> MatrixStore:
        store = self._stored if self._pending or devices.several else self._data
        return store if order is not None or store.order is None else orders.in_users_order(self, store)

    @property
    def _stored(self) -> MatrixStore:
        if recording.threads and recording.recorder is not None and recording.recorder.takes(self):
            return recording.recorder.matrix_shape(self)
        return self._settled()

    def _settled(self) -> MatrixStore:
        """The content in its stored order, after pending writes."""
        if devices.several:
            devices.activate(self._data.device)
        if self._pending:
            self._adopt(self._pending.into(self._data))
        return self._data

    def _read(self, *, now: bool = False) -> MatrixStore:
        """The content for a product, in the format that the planner chooses once that is amortized (or `now`). Stores
        that other objects share are unchanged, so several threads may read."""
        store = self._stored if self._pending or devices.several else self._data
        if not store.usual and isinstance(store, FlatStore):
            return store
        structure = store.structure
        if not now and structure.reads < structure.due[isinstance(store.raw, np.generic)]:
            return store
        if self._layout.asks or (not now and self.device.capturing):  # a choice waits for the device
            return store
        with self.device.guard:
            found = build.chosen.in_chosen_form(store, now=now)
        if self._data is store:
            self._data = found
        return found

    def _adopt(self, store: MatrixStore) -> None:
        if self._layout is not AUTO:
            if self._layout.asks:
                store = build.stores.with_format(store, *self._layout[:2])
            store = build.stores.with_values(store, self._layout.packed)
        elif config.prefer == "memory":
            store = build.stores.with_values(store)
        if not store.usual and isinstance(store, FlatStore) and store is not self._data:
            store.holders += 1
        self._data = store
        if self._pending:
            self._pending.clear()

    def _release(self) -> Self:
        """A Matrix that takes over the content; this one is left without entries."""
        held = self._stored
        self._adopt(self._emptied())
        if isinstance(held, FlatStore):
            held.holders -= 1
        return self._from_store(held)

    def _emptied(self) -> MatrixStore:
        """The content after all entries are deleted: a bitmap stays a bitmap, so that later writes go into its
        arrays."""
        held = self._data
        if type(held) is FlatStore:
            return FlatStore(empty_vector(held.device, held.flat.size, held.dtype), held.nrows, held.ncols)
        return verbs.matrix.empty(held.device, held.nrows, held.ncols, held.dtype)

    def _put(self, i: int, j: int, value: np.generic | None) -> None:
        """Set (None: delete) one entry; many of them cost one rebuild, at the next read. InvalidValue for a value that
        cannot be packed with the others, if packing is requested."""
        if self._data.usual:  # neither a bitmap nor hypersparse
            verbs.matrix.check_keys(*self.shape)
        writes = self._pending
        if value is None or not self._layout.packed or writes.packs(self._data, value):
            writes[i, j] = value
            return
        more = writes.copy()
        more[i, j] = value
        self._adopt(more.into(self._data))

    def _partner(self, other: Any, where: str, *, restrict: bool = False) -> Any:
        if type(other) is type(self):  # two matrices: compare their stores directly
            a, b = self._data, other._data
            if a.nrows == b.nrows and a.ncols == b.ncols and a.device is b.device:
                return other
        return super()._partner(other, where, restrict=restrict)

    @property
    def shape(self) -> tuple[int, int]:
        store = self._data
        return store.nrows, store.ncols

    @property
    def nrows(self) -> int:
        return self._data.nrows

    @property
    def ncols(self) -> int:
        return self._data.ncols

    @property
    def format(self) -> str:
        """The primary stored format: "csr", "mplg", "b2sr8", "split8", "hyper"..."""
        return self._stored.structure.primary.key

    def memory(self) -> Memory:
        """Memory usage in bytes: a Memory with .forms, .structure, .values, .caches, .total .., which prints as a
        table."""
        from ..memory import Memory

        return Memory.of(self._stored)

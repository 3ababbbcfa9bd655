"""The state of a Matrix: its store, the stored format, and pending writes of single entries.

A[i, j] = x: writes are merged at the next read, so that many of them cost one rebuild.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import device as devices
from ... import operations
from ...config import config
from ...formats import CSR
from ...formats.packing import MOST_BITS, PackedValues, is_whole
from ...order import Order
from ...store import FlatStore, MatrixStore, empty_vector
from ..hooks import state as recording
from ..options import AUTO, StorageOptions
from ..statement.indexing import Tensor
from ..statement.masks import in_users_order
from .read import MatrixRead

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..memory import Memory
    from ..typing import OperandLike
    from .read import MatrixElementwise


# ---- A[i, j] = x: pending writes of single entries, merged at the next read, so that many of them cost one rebuild.


class Writes(dict[tuple[int, int], np.generic | None]):
    """The pending value of each entry, None if it is to be deleted.

    `limits` are bounds of all values, stored and pending, as far as they are known: integers less than 2**32 apart can
    be packed, whatever is deleted or overwritten. None: no value is pending.
    """

    __slots__ = ("limits",)

    def __init__(self) -> None:
        super().__init__()
        self.limits: tuple[Any, Any] | None = None

    def clear(self) -> None:
        super().clear()
        self.limits = None

    def copy(self) -> Writes:
        copied = Writes()
        copied.update(self)
        return copied

    def packs(self, store: MatrixStore, value: np.generic) -> bool:
        """Whether the values certainly can be packed, or are all equal, after one more value; False: unknown."""
        if store.dtype.kind == "c" or (store.dtype.kind != "f" and store.dtype.nbytes <= MOST_BITS // 8):
            return True
        x = value.item()
        low, high = self.limits or _limits(store) or (x, x)
        if not low == high == x or math.copysign(1, low) != math.copysign(1, x):  # NaN differs from itself
            if not (is_whole(low) and is_whole(high) and is_whole(x)):
                return False
            low, high = min(low, x), max(high, x)
            if high - low >= 1 << MOST_BITS:
                return False
        self.limits = low, high
        return True

    def into(self, store: MatrixStore) -> MatrixStore:
        """The matrix with the pending writes applied."""
        d = store.device
        plain = store.plain and d.host_memory and store.order is None and not isinstance(store.raw, PackedValues)
        if len(self) == 1 and plain and store.structure.primary.key == CSR:
            (((i, j), value),) = self.items()
            return operations.assign_extract.put_one(store, i, j, value)
        at = np.array(list(self), np.int64)
        if store.order is not None:
            at = d.to_host(store.order.places(d.asarray(at)))
        if operations.multivector.is_flat(store) and not store.dtype._is_udt:
            return operations.multivector.written(store, at, list(self.values())).tagged(store.order)
        if store.structure.hypersparse:
            return self._into_hyper(store, at)
        keys = at[:, 0] * store.ncols + at[:, 1]
        order = np.argsort(keys)
        written = list(self.values())
        kept = np.array([x is not None for x in written], bool)[order]
        values = np.array([store.dtype.np_type.type(0) if x is None else x for x in written], store.dtype.np_type)[
            order
        ]
        one = values[kept][0] if kept.any() else store.raw
        new: Any = values[kept]
        if (store.iso and (new == store.raw).all()) or (not store.nvals and len(new) and (new == one).all()):
            new = one  # an iso matrix stays iso
        put = new if isinstance(new, np.generic) else d.asarray(new)
        keys = keys[order]
        return operations.assign_extract.put(store, d.asarray(keys[kept]), put, d.asarray(keys[~kept])).tagged(
            store.order
        )

    def _into_hyper(self, store: MatrixStore, at: np.ndarray) -> MatrixStore:
        """The same for hypersparse matrices. at: stored positions of the writes."""
        d = store.device
        found = zip(operations.hypersparse.lists(store), at.T, strict=True)
        rows, cols = (d.xp.union1d(some, d.asarray(fresh)) for some, fresh in found)
        inside = Writes()
        places = (d.to_host(some).searchsorted(fresh).tolist() for some, fresh in zip((rows, cols), at.T, strict=True))
        inside.update(zip(zip(*places, strict=True), self.values(), strict=True))
        written = inside.into(operations.hypersparse.compress(store, rows, cols))
        return operations.hypersparse.widened(written, rows, cols, store.nrows, store.ncols).tagged(store.order)


def _limits(store: MatrixStore) -> tuple[Any, Any] | None:
    """Bounds of the values of a matrix if they cost nothing: NaN if they do; None without values."""
    if not store.nvals:
        return None
    if isinstance(store.raw, PackedValues):
        low = int(store.raw.base)
        return low, low + (1 << store.raw.width) - 1
    one = store.raw.item() if isinstance(store.raw, np.generic) else math.nan
    return one, one


# ---- The state of a Matrix: its store, pending writes, and the stored format.

_names = itertools.count()


def named(name: str | None) -> str:
    """The name of a Matrix, generated if none was given."""
    return f"M_{next(_names)}" if name is None else name


class StoredMatrix(MatrixRead, Tensor):
    """State and accessors that all mixins of Matrix use. `_layout`: the requested format."""

    __slots__ = ("_layout",)
    _data: MatrixStore
    _pending: Writes
    _layout: StorageOptions
    _transposed = False

    @classmethod
    def _from_store(
        cls, store: MatrixStore, name: str | None = None, layout: StorageOptions = AUTO, *, as_is: bool = False
    ) -> Self:
        A = cls.__new__(cls)
        A._data = store if as_is else operations.convert.with_values(store, layout.packed)
        if isinstance(store, FlatStore):
            store.owner_count += 1
        A._layout, A._pending = layout, Writes()
        A.name = named(name)
        if recording.threads and recording.recorder is not None and recording.recorder.takes(A):
            recording.recorder.created(A)
        return A

    @property
    def _store(self) -> MatrixStore:
        store = self._stored
        return store if store.order is None else in_users_order(self.name, store)

    def _at(self, order: Order | None) -> MatrixStore:
        store = self._stored if self._pending or devices.several else self._data
        return store if order is not None or store.order is None else in_users_order(self.name, store)

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
        if not store.plain and (isinstance(store, FlatStore) or store.deferred):
            return store
        structure = store.structure
        if not now and structure.reads < structure.check_at[isinstance(store.raw, np.generic)]:
            return store
        if self._layout.asks or (not now and self.device.capturing):  # a choice waits for the device
            return store
        with self.device.guard:
            found = operations.convert.in_chosen_format(store, now=now)
        if self._data is store:
            self._data = found
        return found

    def _adopt(self, store: MatrixStore) -> None:
        if self._layout is not AUTO:
            if self._layout.asks:
                store = operations.convert.with_format(store, *self._layout[:2])
            store = operations.convert.with_values(store, self._layout.packed)
        elif config.prefer == "memory":
            store = operations.convert.with_values(store)
        if not store.plain and isinstance(store, FlatStore) and store is not self._data:
            store.owner_count += 1
        self._data = store
        if self._pending:
            self._pending.clear()

    def _release(self) -> Self:
        """A Matrix that takes over the content; this one is left without entries."""
        store = self._stored
        self._adopt(self._empty_store())
        if isinstance(store, FlatStore):
            store.owner_count -= 1
        return self._from_store(store)

    def _empty_store(self) -> MatrixStore:
        """The content after all entries are deleted: a bitmap stays a bitmap, so that later writes go into its
        arrays."""
        store = self._data
        if isinstance(store, FlatStore):
            return FlatStore(empty_vector(store.device, store.flat.size, store.dtype), store.nrows, store.ncols)
        return operations.ewise_matrix.empty(store.device, store.nrows, store.ncols, store.dtype)

    def _put(self, i: int, j: int, value: np.generic | None) -> None:
        """Set (None: delete) one entry; many of them cost one rebuild, at the next read. InvalidValue for a value that
        cannot be packed with the others, if packing is requested."""
        if self._data.plain:  # neither a bitmap nor hypersparse
            operations.ewise_matrix.check_keys(*self.shape)
        writes = self._pending
        if value is None or not self._layout.packed or writes.packs(self._data, value):
            writes[i, j] = value
            return
        more = writes.copy()
        more[i, j] = value
        self._adopt(more.into(self._data))

    def _partner(self, other: OperandLike, where: str, *, restrict: bool = False) -> MatrixElementwise:
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

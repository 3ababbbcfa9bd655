"""The state of a Vector: its store, and pending writes; indexing v[I]; methods shared with distributed vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from ... import device as devices
from ... import operations, plan
from ...order import Order
from ...store import SparseStore, VectorStore
from ...store import empty_sparse_vector as empty_vector
from ..convert import keys_of, one_shown
from ..late_binding import Accessor
from ..statement import orders
from ..statement.expressions import ScalarExpression, TypedVector, VectorExpression
from ..statement.indexing import IndexExpr, One, Several, Tensor, parse
from ..statement.infix import Operand, describe
from ..statement.symbolic import SymbolicArray
from ..statement.symbolic import state as recording

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..memory import VectorMemory
    from ..scalar import Scalar
    from ..statement.indexing import Axis
    from ..typing import Axes, DeviceArg, DTypeArg, IndexLike, MaskLike, OperandLike, OperatorArg, SizeArg, ValuesLike


# ---- The state of a Vector: its store, and pending writes.

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
            operations.vector_entries.put(self._data, orders.to_stored_positions(self._data.order, self._pending))
            self._pending.clear()
        return self._data

    @property
    def _in_users_order(self) -> VectorStore:
        """The content in the user's order, for one read: the stored order is unchanged."""
        store = self._stored
        return store if store.order is None else orders.permuted(self.name, store, None)

    def _in(self, order: Order | None) -> VectorStore:
        """The content; permutes it to that order for good."""
        store = self._stored
        if store.order is not order:
            self._data = store = orders.permuted(self.name, store, order)
        return store

    def _adopt(self, store: VectorStore) -> None:
        self._data = store
        if self._pending:
            self._pending.clear()

    def _release(self) -> Self:
        """A Vector that takes over the content; this one is left without entries."""
        store = self._stored
        self._adopt(empty_vector(store.device, store.size, store.dtype))
        return self._from_store(store)

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


# ---- Methods of Vector, local or distributed, in terms of its `from_coo`, `to_coo` and `_element`.


class StyledVector(Operand):
    """from_dict, from_pairs; v[I], i in v, iteration, get."""

    __slots__ = ()
    from_coo: Any
    to_coo: Any

    if TYPE_CHECKING:

        def _element(self, i: int) -> np.generic | None: ...

    @classmethod
    def from_dict(
        cls,
        d: Mapping[SupportsIndex, OperandLike],
        dtype: DTypeArg = None,
        *,
        size: SizeArg = None,
        name: str | None = None,
        device: DeviceArg = None,
    ) -> Self:
        """A Vector from {index: value}."""
        if size is None and not d:
            size = 0
        values: ValuesLike = list(d.values())
        if not d and dtype is None:
            values = np.zeros(0)
        return cls.from_coo(keys_of(lambda: d, len(d)), values, dtype, size=size, name=name, device=device)

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[tuple[SupportsIndex, OperandLike]],
        dtype: DTypeArg = None,
        *,
        size: SizeArg = None,
        dup_op: OperatorArg = None,
        name: str | None = None,
        device: DeviceArg = None,
    ) -> Self:
        """A Vector from (index, value) pairs. ValueError for items of another length."""
        if hasattr(pairs, "dtype"):
            raise TypeError("pairs: expected a list of (index, value), got an array; use Vector.from_coo")
        parts = list(zip(*pairs, strict=True))
        if len(parts) not in (0, 2):
            raise ValueError(f"pairs: expected two elements in each item, got {len(parts)}")
        indices, values = parts or ((), ())
        return cls.from_coo(list(indices), list(values), dtype, size=size, dup_op=dup_op, name=name, device=device)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: One) -> IndexExpr[Scalar]: ...
        @overload
        def __getitem__(self, key: Several) -> IndexExpr[Self]: ...
        @overload
        def __getitem__(self, key: IndexLike) -> IndexExpr: ...

    def __getitem__(self, key: IndexLike) -> IndexExpr:
        return IndexExpr(self, parse(self, key))

    def __contains__(self, index: object) -> bool:
        (at,) = parse(self, index)
        if at.size is not None:
            raise TypeError(f"index in v: expected an integer, got {describe(index)}")
        return self._element(at.at) is not None

    def __iter__(self) -> Iterator[int]:
        """The indices of the entries, ascending."""
        indices, _ = self.to_coo(values=False)
        return iter(self.device.to_host(indices))

    def get(self, index: IndexLike, default: Any = None) -> Any:
        """v[index] as a Python scalar, or `default` if there is no entry. IndexError out of range."""
        (at,) = parse(self, index)
        if at.size is not None:
            raise ValueError(f"index: expected a single index, got {describe(index)}")
        found = self._element(at.at)
        return default if found is None else one_shown(found, self.dtype)


# ---- v[I] of a Vector: reading and writing by index.


class VectorIndex(StoredVector):
    """Indices are ints (negative ones count from the end), slices, lists or arrays of ints, integer Scalars; out of
    range raises IndexError, another type TypeError."""

    __slots__ = ()

    def _extract(self, axes: Axes) -> ScalarExpression | VectorExpression:
        (index,) = axes
        if index.size is None:
            return ScalarExpression("__getitem__", (self,), None, partial(self._element, index.at), self.dtype)
        args = (self, index.at) if type(index.at) is SymbolicArray else (self,)
        return VectorExpression(index.size, "__getitem__", args, None, partial(_read_part, self, index), self.dtype)

    def _element(self, i: int, mask: object = None) -> np.generic | None:
        store = self._stored
        return operations.vector_entries.get(store, i if store.order is None else store.order.place(i))

    ss = Accessor("VectorExtras")


def _read_part(u: VectorIndex, index: Axis, mask: MaskLike) -> VectorStore:
    """u[I] as a store."""
    store = u._stored
    way = plan.operation.extract_way(store, index.at is None, isinstance(index.at, slice) and bool(index.size))
    if way is plan.operation.WHOLE:
        return u._in_users_order.copy()
    if way is plan.operation.PART_OF_LIST and type(store) is SparseStore and (region := index.region):
        return operations.compressed.extract_range(store, region)
    at = index.array(store.device)
    return operations.compressed.extract(store, at if store.order is None else store.order.places(at))

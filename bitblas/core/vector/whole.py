"""A Vector as a whole: copies, other devices, comparison with another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semirings import binary, dtypes

from ... import device as devices
from ...device import Device
from ...order import Order
from ...store import VectorStore, empty_vector
from ...verbs import reading
from ...verbs import vector as verbs
from ..convert import same_device
from ..memory import VectorMemory
from ..operators import typed
from ..options import check_options
from ..statement import orders
from ..statement.mask import check
from ..statement.operand import object_of
from . import assign

if TYPE_CHECKING:
    from .vector import Vector


class VectorWhole:
    __slots__ = ()

    def _in(self: Vector, order: Order | None) -> VectorStore:  # type: ignore[misc]
        """What it holds, in that order from now on."""
        store = self._stored
        if store.order is not order:
            self._data = store = orders.moved(self, store, order)
        return store

    @property
    def _in_users_order(self: Vector) -> VectorStore:  # type: ignore[misc]
        """What it holds, in the user's order, for a look: it stays as it lies."""
        store = self._stored
        return store if store.order is None else orders.moved(self, store, None)

    def dup(  # type: ignore[misc]
        self: Vector, dtype: Any = None, *, clear: bool = False, mask: Any = None, name: str | None = None, **opts: Any
    ) -> Vector:
        """A copy: cast to `dtype`, without entries (`clear`), or only those under `mask`."""
        check_options(opts)
        kind = self.dtype if dtype is None else dtypes.lookup_dtype(dtype)
        if clear:
            return type(self)(kind, self.size, name=name, device=self.device)
        if mask is None:
            return type(self)._from_store(assign.copied(self._stored, kind), name)
        v = type(self)(kind, self.size, name=name, device=self.device)
        v._update(self, check(mask, 1), None, False)
        return v

    def clear(self: Vector) -> None:  # type: ignore[misc]
        """Delete all entries."""
        self._adopt(empty_vector(self.device, self.size, self.dtype))

    def memory(self: Vector) -> VectorMemory:  # type: ignore[misc]
        """The bytes held: .presence, .values and .total, which prints as a table."""
        return VectorMemory.of(self._stored)

    def to(self: Vector, device: str | Device) -> Vector:  # type: ignore[misc]
        """A copy on another device; the object itself if it is there already."""
        d, s = devices.get(device), self._store
        if d is s.device:
            return self
        move = lambda x: d.asarray(s.device.to_host(x))
        return type(self)._from_store(
            VectorStore(d, s.size, s.dtype, move(s.present), s.values if s.iso else move(s.values), s.count), self.name
        )

    def isequal(  # type: ignore[misc]
        self: Vector, other: Any, *, check_dtype: bool = False, **opts: Any
    ) -> bool:
        """The same size, the same structure, equal values; the dtype counts with `check_dtype`."""
        check_options(opts)
        v = object_of(other, 1, "isequal")
        same_order = self._data.order is v._data.order
        a, b = (self._stored, v._stored) if same_order else (self._in_users_order, v._in_users_order)
        if a.device is not b.device:
            same_device("isequal", self, v)
        if a.size != b.size or (check_dtype and a.dtype is not b.dtype):
            return False
        if a.dtype is not b.dtype:
            kind = typed(binary.eq, "binary", a.dtype, b.dtype).dtype
            a, b = verbs.cast(a, kind), verbs.cast(b, kind)
        return verbs.equal(a, b)

    def isclose(  # type: ignore[misc]
        self: Vector, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False,
        **opts: Any,
    ) -> bool:  # fmt: skip
        """The same size and structure, and abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)."""
        check_options(opts)
        from ...verbs.matrix import all_close

        v = object_of(other, 1, "isclose")
        same_device("isclose", self, v)
        if self.size != v.size or (check_dtype and self.dtype is not v.dtype) or self.nvals != v.nvals:
            return False
        (i, x), (j, y) = reading.entries(self._in_users_order), reading.entries(v._in_users_order)
        return bool((i == j).all()) and all_close(self.device, x, y, rel_tol, abs_tol)

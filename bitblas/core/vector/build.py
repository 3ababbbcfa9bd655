"""Vectors from arrays, lists and dicts, and back. GraphBLAS C API 2.1, sections 4.2.4 (build) and 4.2.8 (tuples)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from semirings import dtypes
from semirings.dtypes import check_cast

from ... import operations
from ...exceptions import OutputNotEmpty
from ...store import full_vector
from ..building import alike, check_distinct, check_lengths, dense_values, duplicates, fill_of, one_value, restored
from ..convert import check_size, device_of, entry_array, holds, index_array, pickled, shown, value_array
from ..options import check_options
from ..statement.expressions import VectorExpression
from ..statement.running import guarded
from ..statement.symbolic import SymbolicArray
from ..statement.symbolic import state as recording
from .stored import StoredVector

if TYPE_CHECKING:
    from typing import SupportsInt

    from typing_extensions import Self

    from ...typing import Array
    from ..typing import DeviceArg, DTypeArg, IndicesLike, OperandArg, OperandLike, OperatorArg, SizeArg, ValuesLike


class VectorBuild(StoredVector):
    """The constructors of Vector, and exports of its whole content."""

    __slots__ = ()
    select: Any

    @classmethod
    def from_coo(
        cls,
        indices: IndicesLike,
        values: ValuesLike = 1.0,
        dtype: DTypeArg = None,
        *,
        size: SizeArg = None,
        dup_op: OperatorArg = None,
        name: str | None = None,
        device: DeviceArg = None,
    ) -> Self:
        """A Vector with values[k] at indices[k].

        indices: integers. values: as many, or one scalar for all entries (then duplicates are merged). size: one more
        than the largest index if not given. dup_op: combines the values of duplicates, in their order. Raises
        ValueError (duplicates without dup_op; lengths; float indices), IndexOutOfBound, DeviceError.
        """
        if type(indices) is SymbolicArray:
            return recording.recorder.built(indices, values, dtype, size, dup_op, name)
        d = device_of(device)
        at = index_array(d, indices, "indices")
        array, kind = entry_array(d, values, dtype)
        check_lengths(array, at)
        if size is None:
            if not len(at):
                raise ValueError("size: expected a size, because there are no indices, got None")
            size = int(at.max()) + 1
        size = check_size("size", size)
        dup = duplicates(dup_op, array, kind, d)
        with d.guard:
            found = alike(d, array, dup)
            store = operations.vector_entries.build(d, size, kind, at, found, dup)
            if found is not array:
                check_distinct(store.nvals, len(at))
        return cls._from_store(store, name)

    @classmethod
    def from_scalar(
        cls,
        value: OperandLike,
        size: SupportsIndex,
        dtype: DTypeArg = None,
        *,
        name: str | None = None,
        device: DeviceArg = None,
        **opts: object,
    ) -> Self:
        """A Vector with the same value at every position; one value is stored."""
        check_options(opts)
        one, kind = one_value(value, dtype)
        d = device_of(device)
        with d.guard:
            return cls._from_store(full_vector(d, check_size("size", size), one, kind), name)

    @classmethod
    def from_dense(
        cls,
        values: ValuesLike,
        missing_value: OperandArg = None,
        *,
        dtype: DTypeArg = None,
        name: str | None = None,
        device: DeviceArg = None,
        **opts: object,
    ) -> Self:
        """A Vector with an entry for each element of a one-dimensional array that differs from `missing_value`."""
        check_options(opts)
        d = device_of(device)
        array, kind = dense_values(d, values, dtype, cls)
        with d.guard:
            v = cls._from_store(operations.vector_entries.full(d, array, kind), name)
        if missing_value is None or (type(missing_value) is int and not holds(kind, missing_value)):
            return v
        return v.select("!=", missing_value).new(name=name)

    @guarded
    def to_coo(self, dtype: DTypeArg = None, *, indices: bool = True, values: bool = True, sort: bool = True) -> Any:
        """(indices, values) as arrays on the object's device: UINT64 ascending, and `dtype` or the Vector's own. None
        for arrays that were not requested."""
        if recording.threads and recording.recorder is not None:
            return recording.recorder.listing(self, dtype, indices=indices, values=values)
        u = self._in_users_order
        if dtype is not None:
            check_cast(u.dtype, kind := dtypes.lookup_dtype(dtype))
            u = operations.ewise_vector.cast(u, kind)
        i, x = operations.compressed.entries(u)
        return (i.view(np.uint64) if indices else None, shown(u.device, x, u.dtype) if values else None)

    @guarded
    def to_dense(self, fill_value: OperandArg = None, dtype: DTypeArg = None, **opts: object) -> Array:
        """An array of `size` values, fill_value where there is no entry; of a type that holds both.

        Raises TypeError if entries are missing and no fill_value is given.
        """
        check_options(opts)
        if recording.threads and recording.recorder is not None:
            return recording.recorder.dense(self, fill_value, dtype)
        u = self._in_users_order
        fill, kind = fill_of(fill_value, dtype, u.dtype, u.nvals == u.size)
        return shown(u.device, operations.compressed.dense(operations.ewise_vector.cast(u, kind), fill), kind)

    def __reduce__(self) -> Any:
        u = self._in_users_order
        host = u.device.to_host
        i, x = operations.compressed.entries(u)
        args = host(i), *pickled(u.dtype, u.values if u.iso else host(x))
        more = {"size": u.size, "name": self.name, "device": u.device.name}
        return restored, (type(self), args, more)

    def to_dict(self) -> dict[int, object]:
        """{index: value}, Python numbers."""
        i, x = operations.compressed.entries(u := self._in_users_order)
        host = u.device.to_host
        return dict(zip(host(i).tolist(), host(shown(u.device, x, u.dtype)).tolist()))

    def reposition(self, offset: SupportsInt, *, size: SizeArg = None) -> VectorExpression:
        """A Vector of `size` (self's if not given) with self's entries shifted by `offset`; entries that fall outside
        are dropped."""
        size = self._store.size if size is None else check_size("size", int(size))
        shift = int(offset)
        run = lambda mask: operations.vector_entries.place_at(self._store, shift, size)
        return VectorExpression(size, "reposition", (self, shift), None, run, self._store.dtype)

    def resize(self, size: SupportsIndex) -> None:
        """Change the size in place; entries beyond it are deleted."""
        self._adopt(operations.vector_entries.place_at(self._store, 0, check_size("size", size)))

    def build(
        self,
        indices: IndicesLike,
        values: ValuesLike,
        *,
        dup_op: OperatorArg = None,
        clear: bool = False,
        size: SizeArg = None,
    ) -> None:
        """Insert entries into a Vector without entries, or after `clear`. GraphBLAS C API 2.1, section 4.2.3.4.

        size: resize it first. Raises OutputNotEmpty, and the errors of `from_coo`.
        """
        old = self._store
        size = old.size if size is None else check_size("size", size)
        if old.nvals and not clear:
            raise OutputNotEmpty(f"build: expected a Vector without entries, got {old.nvals}; clear=True deletes them")
        array, _ = value_array(old.device, values, old.dtype)
        fresh = type(self).from_coo(indices, array, old.dtype, size=size, dup_op=dup_op, device=old.device)
        self._adopt(fresh._store)

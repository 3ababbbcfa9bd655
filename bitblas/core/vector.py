"""The class Vector: its store and pending writes, constructors, v[I], operations; methods of distributed vectors too.

GraphBLAS C API 2.1, sections 4.2.4 (build), 4.2.8 (tuples), 4.3.1 to 4.3.10.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from semirings import Typed, dtypes, monoid, semiring
from semirings import binary as binary_ops
from semirings.dtypes import FP64, DataType, check_cast
from semirings.operators import as_row_operator

from .. import device as devices
from .. import foreign_names, operations, plan
from ..device import Device
from ..exceptions import DimensionMismatch, OutputNotEmpty
from ..order import Order
from ..store import SparseStore, VectorStore, full_vector, is_blank
from ..store import empty_sparse_vector as empty_vector
from . import aggregators, assign
from .building import alike, check_distinct, check_lengths, dense_values, duplicates, fill_of, one_value, restored
from .convert import (
    check_size,
    device_of,
    entry_array,
    holds,
    index_array,
    keys_of,
    one_shown,
    pickled,
    same_device,
    shown,
    value_array,
)
from .hooks import Accessor, SymbolicArray, late
from .hooks import state as recording
from .operators import typed
from .options import check_options
from .statement.expressions import (
    MatrixExpression,
    ScalarExpression,
    TypedVector,
    VectorExpression,
    enter,
    multiply_vector,
)
from .statement.indexing import IndexExpr, One, Several, Tensor, parse
from .statement.infix import Operand, describe, is_tensor, kinds, object_of
from .statement.masks import Mask, align, check, movable, permuted, to_stored_positions
from .statement.running import guarded
from .statement.scalar_operands import apply_operator, index_operator, operands, select_mask, union_operator

if TYPE_CHECKING:
    from typing import SupportsInt

    from typing_extensions import Self

    from ..operations.operands import Into
    from ..typing import Array, Number
    from .matrix.matrix import Matrix
    from .memory import VectorMemory
    from .scalar import Scalar
    from .statement.indexing import Axis
    from .statement.infix import Operand
    from .typing import (
        Axes,
        DeviceArg,
        DTypeArg,
        DTypeLike,
        IndexLike,
        IndicesLike,
        MaskArg,
        MaskLike,
        OperandArg,
        OperandLike,
        OperatorArg,
        OperatorLike,
        Run,
        SizeArg,
        ValuesLike,
    )


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
        """A Vector from {index: value}.

        Parameters
        ----------
        d : dict
            Indices and their values.
        dtype : optional
            Of the Vector; that of the values if not given.
        size : int, optional
            One more than the largest index if not given.
        name : str, optional
            Shown when the Vector is printed.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.

        Returns
        -------
        Vector
            Of `size` positions.

        Raises
        ------
        IndexOutOfBound
            An index is negative or beyond `size`.
        """
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
        """A Vector from (index, value) pairs.

        Parameters
        ----------
        pairs : list of pairs
            Indices and their values; for two arrays, `from_coo`.
        dtype : optional
            Of the Vector; that of the values if not given.
        size : int, optional
            One more than the largest index if not given.
        dup_op : BinaryOp, Monoid or str, optional
            Combines the values of duplicates, in their order.
        name : str, optional
            Shown when the Vector is printed.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.

        Returns
        -------
        Vector
            Of `size` positions.

        Raises
        ------
        ValueError
            Items of another length; duplicates without `dup_op`.
        TypeError
            An array.
        IndexOutOfBound
            An index is negative or beyond `size`.
        """
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
        """The entry v[index] as a Python scalar.

        Parameters
        ----------
        index : int
            A single index; a negative one counts from the end.
        default : optional
            The answer if there is no entry; None if not given.

        Returns
        -------
        scalar
            The value, or `default`.

        Raises
        ------
        IndexError
            The index is out of range.
        ValueError
            Several indices; `v[indices]` reads them.
        """
        (at,) = parse(self, index)
        if at.size is not None:
            raise ValueError(f"index: expected a single index, got {describe(index)}")
        found = self._element(at.at)
        return default if found is None else one_shown(found, self.dtype)


# ---- The class Vector.

_names = itertools.count()


def named(name: str | None) -> str:
    """The name of a Vector, generated if none was given."""
    return f"v_{next(_names)}" if name is None else name


class Vector(TypedVector, Tensor, StyledVector, metaclass=foreign_names.Hinted):
    """Vector(dtype=FP64, size=0): a sparse vector without entries. GraphBLAS C API 2.1, section 3.8.1.

    Parameters
    ----------
    dtype : optional
        A type of `dtypes`, its name, or a NumPy dtype.
    device : optional
        "cpu", "cuda"; else that of the configuration.

    Raises
    ------
    TypeError
        dtype.
    InvalidValue
        size.
    DeviceError
    OutOfMemory

    Notes
    -----
    Indices are ints (negative ones count from the end), slices, lists or arrays of ints, integer Scalars; out of range
    raises IndexError, another type TypeError.
    """

    __slots__ = ()
    _data: VectorStore
    _pending: dict[int, np.generic | None]
    ndim = 1
    ss = Accessor("VectorExtras")
    _mask_ranks = (1,)
    _write = staticmethod(assign.update_vector)
    _write_part = staticmethod(assign.assign_vector)

    def __init__(
        self, dtype: DTypeLike = FP64, size: SupportsIndex = 0, *, name: str | None = None, device: DeviceArg = None
    ) -> None:
        kind = dtypes.lookup_dtype(dtype)
        if type(size) is not int or not 0 <= size < 1 << 60:
            size = check_size("size", size)
        d = device if isinstance(device, Device) else device_of(device)
        self._data = empty_vector(d, size, kind)
        self._pending = {}
        self.name = named(name)
        if recording.threads and recording.recorder is not None:
            recording.recorder.created(self)

    @classmethod
    def _computed(
        cls, expr: VectorExpression, dtype: DataType | None = None, mask: MaskArg = None, name: str | None = None
    ) -> Vector:
        """A new Vector with the result of an expression."""
        w = cls(expr.dtype if dtype is None else dtype, expr.size, name=name, device=expr.device)
        w._update(expr, None if mask is None else check(mask, 1), None, mask is not None)
        return w

    def __dir__(self) -> list[str]:
        return dir(type(self))

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
            operations.vector_entries.put(self._data, to_stored_positions(self._data.order, self._pending))
            self._pending.clear()
        return self._data

    @property
    def _in_users_order(self) -> VectorStore:
        """The content in the user's order, for one read: the stored order is unchanged."""
        store = self._stored
        return store if store.order is None else permuted(self.name, store, None)

    def _in(self, order: Order | None) -> VectorStore:
        """The content; permutes it to that order for good."""
        store = self._stored
        if store.order is not order:
            self._data = store = permuted(self.name, store, order)
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
        from .memory import VectorMemory

        return VectorMemory.of(self._stored)

    # ---- from arrays, lists and dicts, and back ----

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

        Parameters
        ----------
        indices : list or array of int
            The positions.
        values : list, array or scalar, optional
            As many, or one scalar for all entries (then duplicates are merged).
        dtype : optional
            Of the Vector; that of the values if not given.
        size : int, optional
            One more than the largest index if not given.
        dup_op : BinaryOp, Monoid or str, optional
            Combines the values of duplicates, in their order.
        name : str, optional
            Shown when the Vector is printed.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.

        Returns
        -------
        Vector
            Of `size` positions.

        Raises
        ------
        ValueError
            Duplicates without `dup_op`; different lengths; float indices.
        IndexOutOfBound
            An index is negative or beyond `size`.
        DeviceError
            The device is not available.

        Examples
        --------
        >>> Vector.from_coo([0, 2], [3.5, 5]).to_dict()
        {0: 3.5, 2: 5.0}
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
        """A Vector with the same value at every position, which is stored once.

        Parameters
        ----------
        value : scalar
            Of every entry.
        size : int
            The number of positions.
        dtype : optional
            Of the Vector; that of the value if not given.
        name : str, optional
            Shown when the Vector is printed.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.

        Returns
        -------
        Vector
            Full.

        Raises
        ------
        TypeError
            `value` is no scalar, or `size` no integer.
        InvalidValue
            `size` is below 0.
        DeviceError
            The device is not available.
        """
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
        """A Vector of the elements of a one-dimensional array.

        Parameters
        ----------
        values : array
            Anything that NumPy or the device reads.
        missing_value : scalar, optional
            Elements equal to it become no entry; every element is an entry if not given.
        dtype : optional
            Of the Vector; that of the array if not given.
        name : str, optional
            Shown when the Vector is printed.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.

        Returns
        -------
        Vector
            Of the array's length.

        Raises
        ------
        ValueError
            Not one-dimensional; an unknown `device`.
        DeviceError
            The device is not available.

        Examples
        --------
        >>> Vector.from_dense([0, 5, 3], missing_value=0).to_dict()
        {1: 5, 2: 3}
        """
        check_options(opts)
        d = device_of(device)
        array, kind = dense_values(d, values, dtype, cls)
        with d.guard:
            v = cls._from_store(operations.vector_entries.full(d, array, kind), name)
        if missing_value is None or (type(missing_value) is int and not holds(kind, missing_value)):
            return v
        return cls._from_store(v.select("!=", missing_value).new()._stored, name)

    @classmethod
    def from_dlpack(cls, x: Any, *, name: str | None = None, device: DeviceArg = None) -> Self:
        """A full Vector in the memory of a one-dimensional array of numbers of any library (`__dlpack__`), such as a
        tensor, on its device: nothing is copied, and writes through one are seen by the other.

        Parameters
        ----------
        x : array or tensor
            Of one dimension, contiguous and writable; BOOL is stored as bits and cannot be shared.
        name : str, optional
            Shown when the Vector is printed.
        device : str, optional
            That of the array if not given; another one is an error.

        Returns
        -------
        Vector
            Full.

        Raises
        ------
        TypeError
            No such array.
        DimensionMismatch
        InvalidValue
            BOOL, not contiguous, read-only; `from_dense` copies.
        DeviceError
        """
        from .dlpack import shared_vector

        return cls._from_store(shared_vector(x, device), name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A table with the columns vertex and value for libraries that read Arrow (pandas, polars, DuckDB, ..).
        ImportError without pyarrow."""
        return late["io"]().to_arrow(self).__arrow_c_stream__(requested_schema)

    def __binsparse_descriptor__(self) -> dict[str, Any]:
        """The descriptor of `__binsparse__` (format CVEC). Experimental: the protocol is a draft of the array API."""
        return late["io"]().binsparse.describe(self)[0]

    def __binsparse__(self) -> dict[str, Array]:
        """The arrays of the descriptor by name, on the object's device. Experimental."""
        return late["io"]().binsparse.describe(self)[1]

    def __dlpack__(self, **how: Any) -> Any:
        """The values of a full Vector for `torch.from_dlpack` and the like, without a copy. BufferError if an entry is
        missing (`to_dense` fills), and for BOOL, whose values are bits."""
        from .dlpack import vector_array

        return vector_array(self._store).__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        from .dlpack import dlpack_device

        return dlpack_device(self.device)

    @guarded
    def to_coo(self, dtype: DTypeArg = None, *, indices: bool = True, values: bool = True, sort: bool = True) -> Any:
        """The entries as arrays on the object's device, by index.

        Parameters
        ----------
        dtype : optional
            Of the values; the Vector's own if not given.
        indices, values : bool, optional
            Which arrays to make; the other is None.
        sort : bool, optional
            For compatibility: indices always ascend.

        Returns
        -------
        tuple of arrays
            (indices, values); indices are UINT64.

        Examples
        --------
        >>> indices, values = Vector.from_coo([2, 0], [3, 5]).to_coo()
        >>> indices.tolist(), values.tolist()
        ([0, 2], [5, 3])
        """
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
        """A one-dimensional array, on the object's device.

        Parameters
        ----------
        fill_value : scalar, optional
            Where there is no entry; needed unless the Vector is full.
        dtype : optional
            Of the array; if not given, one that holds both values and `fill_value`.

        Returns
        -------
        array
            Of `size` elements.

        Raises
        ------
        TypeError
            Entries are missing and no `fill_value` is given.
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
        """The entries as a dictionary of Python numbers.

        Returns
        -------
        dict
            {index: value}.
        """
        i, x = operations.compressed.entries(u := self._in_users_order)
        host = u.device.to_host
        return dict(zip(host(i).tolist(), host(shown(u.device, x, u.dtype)).tolist()))

    def reposition(self, offset: SupportsInt, *, size: SizeArg = None) -> VectorExpression:
        """The entries at positions shifted by an offset; those that fall outside are dropped.

        Parameters
        ----------
        offset : int
            Added to each index; may be negative.
        size : int, optional
            Of the result; this one if not given.

        Returns
        -------
        VectorExpression
            A delayed Vector of `size` positions and this dtype.

        Raises
        ------
        InvalidValue
            `size` is below 0.
        """
        size = self._store.size if size is None else check_size("size", int(size))
        shift = int(offset)
        run = lambda mask: operations.vector_entries.place_at(self._store, shift, size)
        return VectorExpression(size, "reposition", (self, shift), None, run, self._store.dtype)

    def resize(self, size: SupportsIndex) -> None:
        """Change the size in place; entries beyond it are deleted.

        Parameters
        ----------
        size : int
            At least 0.

        Raises
        ------
        TypeError
            `size` is no integer.
        InvalidValue
            `size` is below 0.
        """
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

        Parameters
        ----------
        size : optional
            Resize it first.

        Raises
        ------
        OutputNotEmpty

        Notes
        -----
        Also raises the errors of `from_coo`.
        """
        old = self._store
        size = old.size if size is None else check_size("size", size)
        if old.nvals and not clear:
            raise OutputNotEmpty(f"build: expected a Vector without entries, got {old.nvals}; clear=True deletes them")
        array, _ = value_array(old.device, values, old.dtype)
        fresh = type(self).from_coo(indices, array, old.dtype, size=size, dup_op=dup_op, device=old.device)
        self._adopt(fresh._store)

    # ---- v[I] ----

    def _extract(self, axes: Axes) -> ScalarExpression | VectorExpression:
        (index,) = axes
        if index.size is None:
            return ScalarExpression("__getitem__", (self,), None, partial(self._element, index.at), self.dtype)
        args = (self, index.at) if type(index.at) is SymbolicArray else (self,)
        return VectorExpression(index.size, "__getitem__", args, None, partial(_read_part, self, index), self.dtype)

    def _element(self, i: int, mask: object = None) -> np.generic | None:
        store = self._stored
        return operations.vector_entries.get(store, i if store.order is None else store.order.place(i))

    # ---- the whole object ----

    def dup(
        self,
        dtype: DTypeArg = None,
        *,
        clear: bool = False,
        mask: MaskArg = None,
        name: str | None = None,
        **opts: object,
    ) -> Vector:
        """A copy, whole or in part.

        Parameters
        ----------
        dtype : optional
            What values are cast to; this one if not given.
        clear : bool, optional
            Without entries.
        mask : mask, optional
            Such as `w.S` or `~w.V`: only the entries under it.
        name : str, optional
            Of the copy.

        Returns
        -------
        Vector
            On the same device.

        Raises
        ------
        TypeError
            `mask` is no mask.
        """
        check_options(opts)
        kind = self.dtype if dtype is None else dtypes.lookup_dtype(dtype)
        if clear:
            return type(self)(kind, self.size, name=name, device=self.device)
        if mask is None and not (recording.threads and recording.recorder is not None):
            return type(self)._from_store(assign.copied(self._stored, kind), name)
        v = type(self)(kind, self.size, name=name, device=self.device)
        v._update(self, None if mask is None else check(mask, 1), None, mask is not None)
        return v

    def clear(self) -> None:
        """Delete all entries."""
        if recording.threads and recording.recorder is not None:
            recording.recorder.cleared(self)
            return
        store = self._data
        if is_blank(store):
            self._pending.clear()
        else:
            self._adopt(empty_vector(store.device, store.size, store.dtype))

    def to(self, device: str | Device) -> Vector:
        """A copy on another device; the object itself if it is already there.

        Parameters
        ----------
        device : str
            "cpu", "cuda" or "cuda:1".

        Returns
        -------
        Vector
            On that device.

        Raises
        ------
        ValueError
            An unknown device.
        DeviceError
            The device is not available.
        """
        d, s = devices.get(device), self._store
        if d is s.device:
            return self
        move: Callable[[Any], Any] = lambda x: x if isinstance(x, np.generic) else d.asarray(s.device.to_host(x))
        if type(s) is SparseStore:
            return type(self)._from_store(SparseStore(d, s.size, s.dtype, move(s.index), move(s.listed)), self.name)
        return type(self)._from_store(
            VectorStore(d, s.size, s.dtype, move(s.present), move(s.values), s.count), self.name
        )

    def isequal(self, other: OperandLike, *, check_dtype: bool = False, **opts: object) -> bool:
        """Whether another Vector has the same size, the same positions and equal values.

        Parameters
        ----------
        other : Vector
            On the same device.
        check_dtype : bool, optional
            The dtypes must be the same too.

        Returns
        -------
        bool
            Not a Vector of comparisons: that is `v.ewise_mult(w, "eq")`.

        Raises
        ------
        TypeError
            `other` is no Vector.
        DeviceError
            `other` is on another device.
        """
        check_options(opts)
        v = object_of(other, 1, "isequal")
        same_order = self._data.order is v._data.order
        a, b = (self._stored, v._stored) if same_order else (self._in_users_order, v._in_users_order)
        if a.device is not b.device:
            same_device("isequal", self, v)
        if a.size != b.size or (check_dtype and a.dtype is not b.dtype):
            return False
        if a.dtype is not b.dtype:
            kind = typed(binary_ops.eq, "binary", a.dtype, b.dtype).dtype
            a, b = operations.ewise_vector.cast(a, kind), operations.ewise_vector.cast(b, kind)
        return operations.vector_entries.equal(a, b)

    def isclose(
        self,
        other: OperandLike,
        *,
        rel_tol: float = 1e-7,
        abs_tol: float = 0.0,
        check_dtype: bool = False,
        **opts: object,
    ) -> bool:
        """Whether another Vector has the same size, the same positions and nearly equal values.

        Parameters
        ----------
        other : Vector
            On the same device.
        rel_tol, abs_tol : float, optional
            abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol) for all values.
        check_dtype : bool, optional
            The dtypes must be the same too.

        Returns
        -------
        bool
            True if all are close.

        Raises
        ------
        TypeError
            `other` is no Vector.
        DeviceError
            `other` is on another device.
        """
        check_options(opts)
        from ..operations.ewise_matrix import all_close

        v = object_of(other, 1, "isclose")
        same_device("isclose", self, v)
        if self.size != v.size or (check_dtype and self.dtype is not v.dtype) or self.nvals != v.nvals:
            return False
        if self.dtype._is_udt:
            return self.isequal(v)
        (i, x), (j, y) = (
            operations.compressed.entries(self._in_users_order),
            operations.compressed.entries(v._in_users_order),
        )
        return bool((i == j).all()) and all_close(self.device, x, y, rel_tol, abs_tol)

    # ---- operations: all return delayed expressions ----

    def _partner(self, other: OperandLike, where: str) -> Vector:
        v: Vector = other if type(other) is Vector else object_of(other, 1, where)
        if v._data.size != self._data.size:
            raise DimensionMismatch(f"{where}: expected two vectors of one size, got {self.size} and {v.size}")
        if v._data.device is not self._data.device:
            same_device(where, self, v)
        return v

    def _columns(self, other: Operand, where: str) -> Any:
        """self as every column of a matrix like `other`."""
        return other._resolve()._beside(self, where, columns=True, restrict=where == "ewise_mult")

    def ewise_add(self, other: OperandLike, op: OperatorLike = monoid.plus) -> VectorExpression:
        """The union: op where both have an entry, else the single entry. GraphBLAS C API 2.1, section 4.3.5.

        Parameters
        ----------
        other : Vector or Matrix
            Of the same size; with a Matrix of that many rows, self is broadcast to every column.
        op : BinaryOp, Monoid or str, optional
            Such as `binary.max` or "max"; plus if not given.

        Returns
        -------
        VectorExpression
            A delayed Vector of this size (with a Matrix, a delayed Matrix); `.new()` or `w <<` computes it.

        Raises
        ------
        DimensionMismatch
            The sizes differ.
        TypeError
            `other` is neither a Vector nor a Matrix, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.

        Examples
        --------
        >>> u, v = Vector.from_coo([0, 1], [3, 5]), Vector.from_coo([1], [7], size=2)
        >>> u.ewise_add(v, "max").new().to_dict()
        {0: 3, 1: 7}
        """
        return self._ewise(other, op, "ewise_add", True)

    def ewise_mult(self, other: OperandLike, op: OperatorLike = binary_ops.times) -> VectorExpression:
        """The intersection: op where both have an entry. GraphBLAS C API 2.1, section 4.3.4.

        Parameters
        ----------
        other : Vector or Matrix
            Of the same size; with a Matrix of that many rows, self is broadcast to every column.
        op : BinaryOp, Monoid or str, optional
            Such as `binary.max` or "max"; times if not given.

        Returns
        -------
        VectorExpression
            A delayed Vector of this size (with a Matrix, a delayed Matrix); `.new()` or `w <<` computes it.

        Raises
        ------
        DimensionMismatch
            The sizes differ.
        TypeError
            `other` is neither a Vector nor a Matrix, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.

        Examples
        --------
        >>> u, v = Vector.from_coo([0, 1], [3, 5]), Vector.from_coo([1], [7], size=2)
        >>> u.ewise_mult(v).new().to_dict()
        {1: 35}
        """
        return self._ewise(other, op, "ewise_mult", False)

    def _ewise(self, other: OperandLike, op: OperatorLike, method: str, union: bool) -> VectorExpression:
        if type(other) is not Vector and is_tensor(other) and other.ndim == 2:
            return getattr(self._columns(other, method), method)(other, op)
        u, v = self._data, self._partner(other, method)
        args, f = (self, v), typed(op, "binary", u.dtype, v._data.dtype)
        if union:
            check_cast(u.dtype, f.return_type)
        run = lambda out: operations.ewise_vector.ewise(self._stored, v._stored, f, union=union, out=out)
        return VectorExpression(u.size, method, args, f, run, None, False, True, None if f.op.positional else args)

    def ewise_union(
        self, other: OperandLike, op: OperatorLike, left_default: OperandLike, right_default: OperandLike
    ) -> VectorExpression:
        """The union: op everywhere, with a default for the operand that has no entry.

        Parameters
        ----------
        other : Vector or Matrix
            Of the same size; with a Matrix of that many rows, self is broadcast to every column.
        op : BinaryOp, Monoid or str
            Such as `binary.minus` or "minus".
        left_default, right_default : scalar
            Stand for missing entries of self and of `other`; the result type also holds them.

        Returns
        -------
        VectorExpression
            A delayed Vector of this size (with a Matrix, a delayed Matrix); `.new()` or `w <<` computes it.

        Raises
        ------
        DimensionMismatch
            The sizes differ.
        TypeError
            `other` is neither a Vector nor a Matrix, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.
        """
        if is_tensor(other) and other.ndim == 2:
            return self._columns(other, "ewise_union").ewise_union(other, op, left_default, right_default)
        v = self._partner(other, "ewise_union")
        f, left, right = union_operator(op, self.dtype, v.dtype, left_default, right_default)

        args, run = (self, v, left, right), partial(_united, self, v, f, left, right)
        return VectorExpression(self.size, "ewise_union", args, f, run, ends=True, along=movable(f, self, v))

    def vxm(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> VectorExpression:
        """The product with a Matrix, as a row, over a semiring. GraphBLAS C API 2.1, section 4.3.2.

        Parameters
        ----------
        other : Matrix
            Of self.size rows.
        op : semiring or str, optional
            Such as `semiring.min_plus` or "min_plus"; plus_times if not given.

        Returns
        -------
        VectorExpression
            A delayed Vector of other.ncols positions; `.new()` or `w <<` computes it.

        Raises
        ------
        DimensionMismatch
            self.size differs from other.nrows.
        TypeError
            `other` is no Matrix, or `op` no semiring.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.
        """
        return multiply_vector(other, self, op, "vxm")

    def inner(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> ScalarExpression:
        """The inner product with another Vector over a semiring. `v @ w` is the same with plus_times.

        Parameters
        ----------
        other : Vector
            Of the same size.
        op : semiring or str, optional
            Such as `semiring.min_plus` or "min_plus"; plus_times if not given.

        Returns
        -------
        ScalarExpression
            A delayed Scalar, empty if there is no common index; `.value` is its Python number.

        Raises
        ------
        DimensionMismatch
            The sizes differ.
        TypeError
            `other` is no Vector, or `op` no semiring.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.

        Examples
        --------
        >>> v = Vector.from_coo([0, 1], [3, 4])
        >>> v.inner(v).value
        25
        """
        v = self._partner(other, "inner")
        f = typed(op, "semiring", self.dtype, v.dtype)
        multiply: Typed = as_row_operator(f.op.binaryop)[f.op.multiply_type(f.dtype)]
        add: Typed = f.op.monoid[multiply.return_type]
        return ScalarExpression("inner", (self, v), f, partial(_inner, self, v, multiply, add))

    def outer(self, other: OperandLike, op: OperatorLike = binary_ops.times) -> MatrixExpression:
        """The outer product: op(self[i], other[j]) at (i, j).

        Parameters
        ----------
        other : Vector
            Of any size.
        op : BinaryOp, Monoid or str, optional
            Such as `binary.plus` or "plus"; times if not given.

        Returns
        -------
        MatrixExpression
            A delayed Matrix of self.size x other.size.

        Raises
        ------
        TypeError
            `other` is no Vector, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        DeviceError
            The operands are on different devices.
        """
        v = object_of(other, 1, "outer")
        same_device("outer", self, v)
        f = typed(op, "binary", self.dtype, v.dtype)
        run = lambda mask: operations.assign_extract.outer(self._store, v._store, f)
        return MatrixExpression(self.size, v.size, "outer", (self, v), f, run)

    def apply(self, op: OperatorLike, right: OperandArg = None, *, left: OperandArg = None) -> VectorExpression:
        """op of every entry. GraphBLAS C API 2.1, section 4.3.8.

        Parameters
        ----------
        op : UnaryOp, BinaryOp, IndexUnaryOp or str
            Such as `unary.sqrt`, "sqrt", or "times" with a scalar.
        right : scalar, optional
            The second operand of a BinaryOp, or the thunk of an IndexUnaryOp.
        left : scalar, optional
            The first operand of a BinaryOp.

        Returns
        -------
        VectorExpression
            A delayed Vector with the same positions; `.new()` or `w <<` computes it.

        Raises
        ------
        TypeError
            `op` is no such operator, or a BinaryOp without a scalar or with two.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.

        Examples
        --------
        >>> Vector.from_coo([0, 2], [3, 5]).apply("times", right=2).new().to_dict()
        {0: 6, 2: 10}
        """
        u = self._data
        kind, f, scalar = apply_operator(op, u.dtype, left, right)
        if kind == "unary":
            run: Run = lambda out: operations.ewise_vector.apply(self._stored, f, out)
        elif kind == "index":
            run = lambda out: operations.ewise_vector.apply_index(self._stored, f, scalar, out)
        else:
            run = lambda out: operations.ewise_vector.apply_bound(self._stored, f, scalar, left=kind == "left", out=out)
        along = None if f.op.positional else (self,)
        return VectorExpression(u.size, "apply", operands(self, kind, scalar), f, run, None, False, True, along)

    def select(self, op: OperatorLike | Mask | Operand, thunk: OperandArg = None) -> VectorExpression:
        """The entries for which op(value, index, 0, thunk) is true. GraphBLAS C API 2.1, section 4.3.9.

        Parameters
        ----------
        op : SelectOp, IndexUnaryOp, str, mask or Vector
            Such as ">" or `w.S`; under a mask, its entries; a BOOL object stands for its values.
        thunk : scalar, optional
            What `op` compares with.

        Returns
        -------
        VectorExpression
            A delayed Vector of this size and dtype; `.new()` or `w <<` computes it.

        Raises
        ------
        TypeError
            `op` is no such operator or mask.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.
        """
        mask = select_mask(op, thunk, 1)
        if mask is not None:
            mask.fits(self)
            both, read = (self, mask.parent), partial(_under_mask, self, mask)
            return VectorExpression(self.size, "select", (self, mask), None, read, self.dtype, along=both)
        u = self._data
        f, value = index_operator(op, u.dtype, thunk, "select")
        keep = lambda out: operations.ewise_vector.select(self._stored, f, value, out)
        along = None if f.op.positional else (self,)
        return VectorExpression(u.size, "select", (self, value), f, keep, u.dtype, False, True, along)

    def reduce(self, op: OperatorLike = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The reduction of all entries. GraphBLAS C API 2.1, section 4.3.10.

        Parameters
        ----------
        op : Monoid, Aggregator or str, optional
            Such as `monoid.max`, "max" or `agg.mean`; plus if not given.
        allow_empty : bool, optional
            Without entries the result is an empty Scalar if true, the monoid's identity if false.

        Returns
        -------
        ScalarExpression
            A delayed Scalar; `.new()` computes it, `.value` is its Python number.

        Raises
        ------
        TypeError
            `op` is no monoid and no aggregator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.
        """
        aggregator = aggregators.find(op)
        if aggregator is not None:
            return aggregators.delayed(aggregator, self, "reduce", None, allow_empty)
        f = typed(op, "monoid", self.dtype)
        run = partial(_reduced, self, f, None if allow_empty else f.identity)
        return ScalarExpression("reduce", (self,) if allow_empty else (self, f.identity), f, run)

    def diag(self, k: int = 0, *, name: str | None = None) -> Matrix:
        """The Matrix with this Vector on a diagonal.

        Parameters
        ----------
        k : int, optional
            Which one: 0 the main diagonal, above it if positive, below if negative.
        name : str, optional
            Of the Matrix.

        Returns
        -------
        Matrix
            Of size + abs(k) rows and columns.
        """
        return kinds[2]._from_store(operations.assign_extract.from_diagonal(self._store, int(k)), name)

    def _as_map(self, ncols: int) -> Matrix:
        """The Matrix with the entry (i, self[i]) for each i; self is full, and its integers are below ncols."""
        if recording.threads and recording.recorder is not None:
            made: Matrix = recording.recorder.map_of(self, ncols)
            return made
        return kinds[2]._from_store(operations.lazy_map_product.map_of(self._store, ncols))


# ---- What expressions compute.


def _read_part(u: Vector, index: Axis, mask: MaskLike) -> VectorStore:
    """u[I] as a store."""
    store = u._stored
    way = plan.operation.extract_way(store, index.at is None, isinstance(index.at, slice) and bool(index.size))
    if way is plan.operation.WHOLE:
        return u._in_users_order.copy()
    if way is plan.operation.PART_OF_LIST and type(store) is SparseStore and (region := index.region):
        return operations.compressed.extract_range(store, region)
    at = index.array(store.device)
    return operations.compressed.extract(store, at if store.order is None else store.order.places(at))


def _united(u: Vector, v: Vector, op: Typed, left: Number, right: Number, out: Into | None) -> VectorStore | None:
    x, y = operations.ewise_vector.cast(u._stored, op.dtype), operations.ewise_vector.cast(v._stored, op.dtype)
    return operations.ewise_vector.ewise_union(x, y, op, left, right, out)


def _inner(u: Vector, v: Vector, multiply: Typed, add: Typed, mask: object) -> np.generic | None:
    if multiply.op.positional:  # positions are the user's
        x, y = u._store, v._store
    else:
        align(u, v)
        x, y = u._stored, v._stored
    return operations.ewise_vector.reduce(operations.ewise_vector.ewise(x, y, multiply, union=False), add)


def _under_mask(u: Vector, selected: Mask, mask: object) -> VectorStore:
    t = empty_vector(u.device, u.size, u.dtype)
    operations.ewise_vector.merge(t, u._stored, assign.vector_mask(selected), None, True)
    return t


def _reduced(u: Vector, monoid: Typed, empty: np.generic | None, mask: object) -> np.generic | None:
    """empty: the result without entries."""
    found = operations.ewise_vector.reduce(u._stored, monoid)
    return empty if found is None else found


enter(Vector)
foreign_names.add_foreign_names(Vector, foreign_names.VECTOR)

"""Matrix: rows and columns, some places with an entry."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from semirings import Typed, dtypes
from semirings.dtypes import FP64, DataType

from ... import device as devices
from ...build import stores
from ...device import Device
from ...formats.values import PackedValues
from ...order import Order
from ...store import MatrixStore
from ...verbs import matrix as verbs
from ..accessor import Sized
from ..convert import check_size, device_of
from ..options import AUTO, Layout, check_layout, check_options
from ..statement import orders
from ..statement.axes import Axis, parse
from ..statement.base import Output, Updater
from ..statement.mask import Mask, check
from ..statement.operand import kinds
from ..statement.running import assignment, computed, statement
from ..vector.build import restored
from . import assign as assign_matrix
from .build import MatrixBuild
from .order import MatrixOrder
from .read import MatrixRead
from .saved import MatrixFile
from .shape import MatrixReshape
from .transposed import TransposedMatrix
from .writes import Writes

_names = itertools.count()


class Matrix(MatrixBuild, MatrixFile, MatrixReshape, MatrixOrder, MatrixRead, Sized, Output):
    """Matrix(dtype=FP64, nrows=0, ncols=0): no entries yet. GraphBLAS C API 2.1, section 3.8.2.

    format: "auto", "csr", "mplg", "b2sr" with a `tile` of 4, 8, 16, 32 or 64, or "split" with one of 4, 8 or 16 (or
    that of the fewest bytes): the stored form, which results assigned to this object take too. packed: whether values
    that differ are stored in as many bits as they need (True; InvalidValue where they are not integers of a range below
    2**32), as an array of their type (False), or as `config.prefer` says (None). Raises TypeError (dtype), InvalidValue
    (sizes), ValueError (format), DeviceError, OutOfMemory.
    """

    __slots__ = ("__weakref__", "_data", "_layout", "_pending", "name")
    _transposed = False
    _mask_ranks = (1, 2)

    def __init__(
        self, dtype: Any = FP64, nrows: Any = 0, ncols: Any = 0, *, name: str | None = None,
        device: str | Device | None = None, format: str | None = None, tile: int | None = None,
        packed: bool | None = None,
    ) -> None:  # fmt: skip
        self._layout = check_layout(format, tile, packed)
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        empty = verbs.empty(device_of(device), *shape, dtypes.lookup_dtype(dtype))
        self._data = stores.with_format(empty, *self._layout[:2]) if self._layout.asks else empty
        self._pending = Writes()
        self.name = f"M_{next(_names)}" if name is None else name

    @classmethod
    def _from_store(
        cls, store: MatrixStore, name: str | None = None, layout: Layout = AUTO, *, as_is: bool = False
    ) -> Matrix:
        A = cls.__new__(cls)
        A._data = store if as_is else stores.with_values(store, layout.packed)
        A._layout, A._pending = layout, Writes()
        A.name = f"M_{next(_names)}" if name is None else name
        return A

    @classmethod
    def _computed(cls, expr: Any, dtype: DataType | None = None, mask: Any = None, name: str | None = None) -> Matrix:
        """A new Matrix of what an expression gives."""
        kind, m = expr.dtype if dtype is None else dtype, None if mask is None else check(mask, 2)
        if expr._value is None and (m is None or expr.masked):  # what comes out is all that it holds
            name = f"M_{next(_names)}" if name is None else name
            return cls._from_store(computed(expr, lambda: assign_matrix.alone(expr, kind, m), name, m), name)
        C = cls(kind, expr.nrows, expr.ncols, name=name, device=expr.device)
        C._update(expr, m, None, m is not None)
        return C

    # ---- what it holds ----

    @property
    def _matrix(self) -> Matrix:
        return self

    @property
    def _store(self) -> MatrixStore:
        store = self._stored
        return store if store.order is None else orders.in_users_order(self, store)

    def _at(self, order: Order | None) -> MatrixStore:
        store = self._stored
        return store if order is not None or store.order is None else orders.in_users_order(self, store)

    @property
    def _stored(self) -> MatrixStore:
        if devices.several:
            devices.activate(self._data.device)
        if self._pending:
            self._adopt(self._pending.into(self._data))
        return self._data

    def _adopt(self, store: MatrixStore) -> None:
        if self._layout is not AUTO and self._layout.asks:
            store = stores.with_format(store, *self._layout[:2])
        self._data = stores.with_values(store, self._layout.packed)
        if self._pending:
            self._pending.clear()

    def _put(self, i: int, j: int, value: np.generic | None) -> None:
        """Set (None: delete) one entry; many of them cost one rebuild, at the next read. InvalidValue for a value that
        cannot be packed with the others, where that is asked for."""
        verbs.check_keys(*self.shape)
        writes = self._pending
        if value is None or not self._layout.packed or writes.packs(self._data, value):
            writes[i, j] = value
            return
        more = writes.copy()
        more[i, j] = value
        self._adopt(more.into(self._data))

    @property
    def dtype(self) -> DataType:
        return self._data.dtype

    @property
    def device(self) -> Device:
        return self._data.device

    @property
    def nrows(self) -> int:
        return self._data.nrows

    @property
    def ncols(self) -> int:
        return self._data.ncols

    @property
    def nvals(self) -> int:
        """The number of entries."""
        try:
            return self._stored.nvals
        except self.device.errors as error:
            return self.device.fail(error)

    @property
    def S(self) -> Mask:
        """The structural mask: where there is an entry, whatever its value."""
        return Mask(self, True)

    @property
    def V(self) -> Mask:
        """The value mask: where there is an entry that is not zero."""
        return Mask(self, False)

    @property
    def T(self) -> TransposedMatrix:
        """The transpose, not computed: products and reductions read A the other way round."""
        return TransposedMatrix(self)

    @property
    def format(self) -> str:
        """The primary stored form: "csr", "mplg", "b2sr8", "split8"..."""
        return self._stored.structure.primary.key

    def memory(self) -> Any:
        """The bytes held: a Memory with .forms, .structure, .values, .caches, .total .., which prints as a table."""
        from ..memory import Memory

        return Memory.of(self._stored)

    def to(self, device: str | Device) -> Matrix:
        """A copy on another device; the object itself if it is there already."""
        d = devices.get(device)
        if d is self.device:
            return self
        make, (kind, args, more) = self.__reduce__()
        return make(kind, args, more | {"device": d})

    def __reduce__(self) -> Any:
        A, host = self._stored, self.device.to_host
        i, j = (host(x) for x in A.coo())
        more = {"nrows": A.nrows, "ncols": A.ncols, "name": self.name, **self._layout._asdict()}
        if isinstance(A.raw, PackedValues):
            more["stays_packed"] = True
        if A.order is not None:
            more["order"] = host(A.order.perm)
        args = i, j, A.values if A.iso else host(A.values), A.dtype.name
        return restored, (Matrix, args, more | {"device": self.device.name})

    # ---- statements ----

    def _keep(self, key: Any, make: Any) -> Any:
        """make(a matrix of the same contents), made once and kept as long as these contents are.

        Not make(self): what is kept would keep the matrix alive that keeps it.
        """
        store = self._read(now=True)  # what is kept would hold another form besides
        if ("kept", key) not in store.prepared:
            twin = type(self)._from_store(
                MatrixStore(store.structure, store.dtype, store.raw, store.copies, order=store.order)
            )
            store.prepared["kept", key] = make(twin)
        return store.prepared["kept", key]

    def _update(self, value: Any, mask: Mask | None = None, accum: Typed | None = None, replace: bool = False) -> None:
        statement(assign_matrix.update_matrix, self, value, mask, accum, replace)

    def __lshift__(self, value: Any) -> None:
        statement(assign_matrix.update_matrix, self, value, None, None, False)

    def _assign(self, axes: tuple[Axis, ...], value: Any, mask: Any, accum: Any, replace: bool, region: bool) -> None:
        assignment(assign_matrix.assign_matrix, self, axes, value, mask, accum, replace, region)

    def __setitem__(self, key: Any, value: Any, **opts: Any) -> None:
        if opts:
            check_options(opts)
        self._assign(parse(self, key), value, None, None, False, False)

    def __delitem__(self, key: Any) -> None:
        del Updater(self, None, None, False)[key]

    def clear(self) -> None:
        """Delete all entries."""
        self._adopt(verbs.empty(self.device, self.nrows, self.ncols, self.dtype))


kinds[2] = Matrix

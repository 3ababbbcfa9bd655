"""Vector: `size` positions, some with an entry."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from semirings import Typed, dtypes, monoid, semiring
from semirings import binary as binary_ops
from semirings.dtypes import FP64, DataType
from semirings.known import of_row

from ... import device as devices
from ...device import Device
from ...exceptions import DimensionMismatch
from ...store import VectorStore, empty_vector
from ...verbs import elements, submatrix
from ...verbs import vector as verbs
from .. import aggregators
from ..accessor import Sized
from ..convert import check_size, device_of, same_device
from ..matrix.elementwise import Broadcast
from ..operators import typed
from ..show import Shown
from ..statement import orders
from ..statement.axes import Axis
from ..statement.base import Output
from ..statement.expr import MatrixExpression, ScalarExpression, VectorExpression
from ..statement.mask import Mask, check
from ..statement.operand import is_tensor, kinds, object_of
from ..statement.operands import apply_operator, index_operator, operands, select_mask, union_operator
from ..statement.orders import movable
from ..statement.products import multiply_vector
from ..statement.recording import state as recording
from ..statement.running import assignment, statement
from . import assign
from .build import VectorBuild
from .index import VectorIndex
from .whole import VectorWhole

_names = itertools.count()
HUGE = 1 << 29  # positions: from here on it is asked whether they fit


class Vector(VectorBuild, VectorIndex, VectorWhole, Sized, Shown, Output):
    """Vector(dtype=FP64, size=0): no entries yet. GraphBLAS C API 2.1, section 3.8.1.

    dtype: a type of `dtypes`, its name, or a NumPy dtype. device: "cpu", "cuda"; else that of the configuration.
    Raises TypeError (dtype), InvalidValue (size), DeviceError, OutOfMemory.
    """

    __slots__ = ("__weakref__", "_data", "_pending", "name")
    ndim = 1
    _mask_ranks = (1,)

    def __init__(
        self, dtype: Any = FP64, size: Any = 0, *, name: str | None = None, device: str | Device | None = None
    ) -> None:
        kind = dtypes.lookup_dtype(dtype)
        if type(size) is not int or not 0 <= size < 1 << 60:
            size = check_size("size", size)
        d = device if isinstance(device, Device) else device_of(device)
        if size >= HUGE:
            d.foresee(f"presence bits of a vector of size {size}", size // 8)
        self._data = empty_vector(d, size, kind)
        self._pending: dict[int, np.generic | None] = {}
        self.name = f"v_{next(_names)}" if name is None else name

    @classmethod
    def _from_store(cls, store: VectorStore, name: str | None = None) -> Vector:
        v = cls.__new__(cls)
        v._data, v._pending, v.name = store, {}, f"v_{next(_names)}" if name is None else name
        return v

    @classmethod
    def _computed(cls, expr: Any, dtype: DataType | None = None, mask: Any = None, name: str | None = None) -> Vector:
        """A new Vector of what an expression gives."""
        w = cls(expr.dtype if dtype is None else dtype, expr.size, name=name, device=expr.device)
        w._update(expr, None if mask is None else check(mask, 1), None, mask is not None)
        return w

    # ---- what it holds ----

    @property
    def _store(self) -> VectorStore:
        """What it holds, in the user's order from now on."""
        store = self._stored
        return store if store.order is None else self._in(None)

    @property
    def _stored(self) -> VectorStore:
        """What it holds, as it lies."""
        if recording.recorder is not None:
            return recording.recorder.shape_of(self)
        if devices.several:
            devices.activate(self._data.device)
        if self._pending:
            elements.put(self._data, orders.placed(self._data.order, self._pending))
            self._pending.clear()
        return self._data

    def _adopt(self, store: VectorStore) -> None:
        self._data = store
        if self._pending:
            self._pending.clear()

    def _release(self) -> Vector:
        """A Vector with what this one holds, which is left without entries."""
        held = self._stored
        self._adopt(empty_vector(held.device, held.size, held.dtype))
        return self._from_store(held)

    def _put(self, i: int, value: np.generic | None) -> None:
        """Set (None: delete) one entry; many of them cost one pass, at the next read."""
        self._pending[i] = value

    @property
    def size(self) -> int:
        return self._data.size

    @property
    def shape(self) -> tuple[int]:
        return (self._data.size,)

    @property
    def dtype(self) -> DataType:
        return self._data.dtype

    @property
    def device(self) -> Device:
        return self._data.device

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

    # ---- statements ----

    def _update(self, value: Any, mask: Mask | None = None, accum: Typed | None = None, replace: bool = False) -> None:
        statement(assign.update_vector, self, value, mask, accum, replace)

    def __lshift__(self, value: Any) -> None:
        statement(assign.update_vector, self, value, None, None, False)

    def _assign(self, axes: tuple[Axis, ...], value: Any, mask: Any, accum: Any, replace: bool, region: bool) -> None:
        assignment(assign.assign_vector, self, axes[0], value, mask, accum, replace, region)

    # ---- operations: all return delayed expressions ----

    def _partner(self, other: Any, where: str) -> Vector:
        v: Vector = other if type(other) is Vector else object_of(other, 1, where)
        if v._data.size != self._data.size:
            raise DimensionMismatch(f"{where}: expected two vectors of one size, got {self.size} and {v.size}")
        if v._data.device is not self._data.device:
            same_device(where, self, v)
        return v

    def _columns(self, other: Any, where: str) -> Any:
        """self as every column of a matrix like `other`."""
        return Broadcast(self, other._resolve(), where, columns=True, restrict=where == "ewise_mult")

    def ewise_add(self, other: Any, op: Any = monoid.plus) -> VectorExpression:
        """The union: op where both have an entry, else the one there is. C API 2.1, 4.3.5. With a Matrix: self counts
        as every column.

        op: BinaryOp, Monoid or text. Raises DimensionMismatch, TypeError, KeyError (op has not that type).
        """
        if type(other) is not Vector and is_tensor(other) and other.ndim == 2:
            return self._columns(other, "ewise_add").ewise_add(other, op)
        return self._ewise(other, op, "ewise_add", True)

    def ewise_mult(self, other: Any, op: Any = binary_ops.times) -> VectorExpression:
        """The intersection: op where both have an entry. C API 2.1, 4.3.4. Errors as in `ewise_add`."""
        if type(other) is not Vector and is_tensor(other) and other.ndim == 2:
            return self._columns(other, "ewise_mult").ewise_mult(other, op)
        return self._ewise(other, op, "ewise_mult", False)

    def _ewise(self, other: Any, op: Any, method: str, union: bool) -> VectorExpression:
        u, v = self._data, self._partner(other, method)
        args, f = (self, v), typed(op, "binary", u.dtype, v._data.dtype)
        run = lambda out: verbs.ewise(self._stored, v._stored, f, union=union, out=out)
        return VectorExpression(u.size, method, args, f, run, None, False, True, None if f.op.positional else args)

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> VectorExpression:
        """The union, with a default for the operand that is missing; the type also holds the defaults."""
        if is_tensor(other) and other.ndim == 2:
            return self._columns(other, "ewise_union").ewise_union(other, op, left_default, right_default)
        v = self._partner(other, "ewise_union")
        f, left, right = union_operator(op, self.dtype, v.dtype, left_default, right_default)

        def run(out: Any) -> VectorStore | None:
            x, y = verbs.cast(self._stored, f.dtype), verbs.cast(v._stored, f.dtype)
            return verbs.ewise_union(x, y, f, left, right, out)

        return VectorExpression(
            self.size, "ewise_union", (self, v, left, right), f, run, ends=True, along=movable(f, self, v)
        )

    def vxm(self, other: Any, op: Any = semiring.plus_times) -> VectorExpression:
        """self times a Matrix, as a row. C API 2.1, 4.3.2. Gives a vector of other.ncols.

        Raises DimensionMismatch unless self.size is other.nrows; TypeError, KeyError for op.
        """
        return multiply_vector(other, self, op, "vxm")

    def inner(self, other: Any, op: Any = semiring.plus_times) -> ScalarExpression:
        """The inner product of two vectors; empty where no index has both. `v @ w` is the same."""
        v = self._partner(other, "inner")
        f = typed(op, "semiring", self.dtype, v.dtype)
        multiply: Typed = of_row(f.op.binaryop)[f.op.multiply_type(f.dtype)]
        add: Typed = f.op.monoid[multiply.return_type]

        def run(mask: Any) -> np.generic | None:
            if multiply.op.positional:  # positions are the user's
                x, y = self._store, v._store
            else:
                orders.meet(self, v)
                x, y = self._stored, v._stored
            return verbs.reduce(verbs.ewise(x, y, multiply, union=False), add)

        return ScalarExpression("inner", (self, v), f, run)

    def outer(self, other: Any, op: Any = binary_ops.times) -> Any:
        """The Matrix op(self[i], other[j]) of self.size x other.size."""
        v = object_of(other, 1, "outer")
        same_device("outer", self, v)
        f = typed(op, "binary", self.dtype, v.dtype)
        run = lambda mask: submatrix.outer(self._store, v._store, f)
        return MatrixExpression(self.size, v.size, "outer", (self, v), f, run)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> VectorExpression:
        """op of every entry: a UnaryOp; a BinaryOp with a scalar `left` or `right`; an IndexUnaryOp with its thunk as
        `right`. C API 2.1, 4.3.8. Raises TypeError, KeyError (op has not that type)."""
        u = self._data
        kind, f, scalar = apply_operator(op, u.dtype, left, right)
        if kind == "unary":
            run: Any = lambda out: verbs.apply(self._stored, f, out)
        elif kind == "index":
            run = lambda out: verbs.apply_index(self._stored, f, scalar, out)
        else:
            run = lambda out: verbs.apply_bound(self._stored, f, scalar, left=kind == "left", out=out)
        along = None if f.op.positional else (self,)
        return VectorExpression(u.size, "apply", operands(self, kind, scalar), f, run, None, False, True, along)

    def select(self, op: Any, thunk: Any = None) -> VectorExpression:
        """The entries for which op(value, index, 0, thunk) is true; or those under a mask, or a BOOL object.
        C API 2.1, 4.3.9. Raises TypeError, KeyError (op has not that type)."""
        mask = select_mask(op, thunk, 1)
        if mask is not None:
            mask.fits(self)

            def run(_: Any) -> VectorStore:
                t = empty_vector(self.device, self.size, self.dtype)
                verbs.merge(t, self._stored, assign.vector_mask(mask), None, True)
                return t

            return VectorExpression(self.size, "select", (self, mask), None, run, self.dtype, along=(self, mask.parent))
        u = self._data
        f, value = index_operator(op, u.dtype, thunk, "select")
        keep = lambda out: verbs.select(self._stored, f, value, out)
        along = None if f.op.positional else (self,)
        return VectorExpression(u.size, "select", (self, value), f, keep, u.dtype, False, True, along)

    def reduce(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The monoid's sum of all entries. C API 2.1, 4.3.10. Without entries: an empty Scalar, or the identity if
        `allow_empty` is false. op may be an aggregator too, as `agg.mean` or text. Raises TypeError (op has no monoid),
        KeyError."""
        aggregator = aggregators.find(op)
        if aggregator is not None:
            return aggregators.delayed(aggregator, self, "reduce", None, allow_empty)
        f = typed(op, "monoid", self.dtype)

        def run(mask: Any) -> np.generic | None:
            found = verbs.reduce(self._stored, f)
            return f.identity if found is None and not allow_empty else found

        return ScalarExpression("reduce", (self,) if allow_empty else (self, f.identity), f, run)

    def diag(self, k: int = 0, *, name: str | None = None) -> Any:
        """The Matrix with this vector on diagonal k, of size + abs(k) rows and columns."""
        return kinds[2]._from_store(submatrix.from_diagonal(self._store, int(k)), name)


kinds[1] = Vector

"""The class Vector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from semirings import Typed, dtypes, monoid, semiring
from semirings import binary as binary_ops
from semirings.dtypes import FP64, DataType, check_cast
from semirings.operators import as_row_operator

from ... import device as devices
from ... import foreign_names, operations
from ...device import Device
from ...exceptions import DimensionMismatch
from ...store import SparseStore, VectorStore, is_blank
from ...store import empty_sparse_vector as empty_vector
from .. import aggregators
from ..convert import check_size, device_of, same_device
from ..operators import typed
from ..options import check_options
from ..statement import orders
from ..statement.expressions import MatrixExpression, ScalarExpression, VectorExpression, enter, multiply_vector
from ..statement.infix import is_tensor, kinds, object_of
from ..statement.masks import Mask, check
from ..statement.orders import movable
from ..statement.scalar_operands import apply_operator, index_operator, operands, select_mask, union_operator
from ..statement.symbolic import state as recording
from . import assign
from .build import VectorBuild
from .stored import StyledVector, VectorIndex, named

if TYPE_CHECKING:
    from ...operations.operands import Into
    from ...typing import Number
    from ..matrix.matrix import Matrix
    from ..statement.infix import Operand
    from ..typing import DeviceArg, DTypeArg, DTypeLike, MaskArg, OperandArg, OperandLike, OperatorLike, Run


class Vector(VectorBuild, VectorIndex, StyledVector, metaclass=foreign_names.Hinted):
    """Vector(dtype=FP64, size=0): a sparse vector without entries. GraphBLAS C API 2.1, section 3.8.1.

    dtype: a type of `dtypes`, its name, or a NumPy dtype. device: "cpu", "cuda"; else that of the configuration. Raises
    TypeError (dtype), InvalidValue (size), DeviceError, OutOfMemory.
    """

    __slots__ = ()
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
        self._pending: dict[int, np.generic | None] = {}
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
        """A copy: cast to `dtype`, without entries (`clear`), or only those under `mask`."""
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
        """A copy on another device; the object itself if it is already there."""
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
        """The same size and structure, and abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)."""
        check_options(opts)
        from ...operations.ewise_matrix import all_close

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
        """The union: op where both have an entry, else the single entry. C API 2.1, 4.3.5. With a Matrix, self is
        broadcast to every column.

        op: BinaryOp, Monoid or text. Raises DimensionMismatch, TypeError, KeyError (op has no version for the type).
        """
        return self._ewise(other, op, "ewise_add", True)

    def ewise_mult(self, other: OperandLike, op: OperatorLike = binary_ops.times) -> VectorExpression:
        """The intersection: op where both have an entry. C API 2.1, 4.3.4. Errors as in `ewise_add`."""
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
        """The union, with a default for the missing operand; the result type also holds the defaults."""
        if is_tensor(other) and other.ndim == 2:
            return self._columns(other, "ewise_union").ewise_union(other, op, left_default, right_default)
        v = self._partner(other, "ewise_union")
        f, left, right = union_operator(op, self.dtype, v.dtype, left_default, right_default)

        args, run = (self, v, left, right), partial(_united, self, v, f, left, right)
        return VectorExpression(self.size, "ewise_union", args, f, run, ends=True, along=movable(f, self, v))

    def vxm(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> VectorExpression:
        """self times a Matrix, as a row. C API 2.1, 4.3.2. Returns a vector of other.ncols.

        Raises DimensionMismatch unless self.size equals other.nrows; TypeError, KeyError for op.
        """
        return multiply_vector(other, self, op, "vxm")

    def inner(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> ScalarExpression:
        """The inner product of two vectors; empty if they have no common index. `v @ w` is the same."""
        v = self._partner(other, "inner")
        f = typed(op, "semiring", self.dtype, v.dtype)
        multiply: Typed = as_row_operator(f.op.binaryop)[f.op.multiply_type(f.dtype)]
        add: Typed = f.op.monoid[multiply.return_type]
        return ScalarExpression("inner", (self, v), f, partial(_inner, self, v, multiply, add))

    def outer(self, other: OperandLike, op: OperatorLike = binary_ops.times) -> MatrixExpression:
        """The Matrix op(self[i], other[j]) of self.size x other.size."""
        v = object_of(other, 1, "outer")
        same_device("outer", self, v)
        f = typed(op, "binary", self.dtype, v.dtype)
        run = lambda mask: operations.assign_extract.outer(self._store, v._store, f)
        return MatrixExpression(self.size, v.size, "outer", (self, v), f, run)

    def apply(self, op: OperatorLike, right: OperandArg = None, *, left: OperandArg = None) -> VectorExpression:
        """op of every entry: a UnaryOp; a BinaryOp with a scalar `left` or `right`; an IndexUnaryOp with its thunk as
        `right`. C API 2.1, 4.3.8. Raises TypeError, KeyError (op has no version for the type)."""
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
        """The entries for which op(value, index, 0, thunk) is true; or those under a mask, or a BOOL object.

        C API 2.1, 4.3.9. Raises TypeError, KeyError (op has no version for the type).
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
        """The monoid's reduction of all entries. C API 2.1, 4.3.10. Without entries: an empty Scalar, or the identity
        if `allow_empty` is false. op may be an aggregator too, such as `agg.mean` or text. Raises TypeError (op has no
        monoid), KeyError."""
        aggregator = aggregators.find(op)
        if aggregator is not None:
            return aggregators.delayed(aggregator, self, "reduce", None, allow_empty)
        f = typed(op, "monoid", self.dtype)
        run = partial(_reduced, self, f, None if allow_empty else f.identity)
        return ScalarExpression("reduce", (self,) if allow_empty else (self, f.identity), f, run)

    def diag(self, k: int = 0, *, name: str | None = None) -> Matrix:
        """The Matrix with this vector on diagonal k, of size + abs(k) rows and columns."""
        return kinds[2]._from_store(operations.assign_extract.from_diagonal(self._store, int(k)), name)


# ---- What expressions compute.


def _united(u: Vector, v: Vector, op: Typed, left: Number, right: Number, out: Into | None) -> VectorStore | None:
    x, y = operations.ewise_vector.cast(u._stored, op.dtype), operations.ewise_vector.cast(v._stored, op.dtype)
    return operations.ewise_vector.ewise_union(x, y, op, left, right, out)


def _inner(u: Vector, v: Vector, multiply: Typed, add: Typed, mask: object) -> np.generic | None:
    if multiply.op.positional:  # positions are the user's
        x, y = u._store, v._store
    else:
        orders.align(u, v)
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

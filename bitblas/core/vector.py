"""Vector: `size` positions, some with an entry."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from semirings import Typed, dtypes, monoid, semiring
from semirings import binary as binary_ops
from semirings.dtypes import BOOL, FP64, DataType

from .. import device as devices
from ..device import Device
from ..exceptions import DimensionMismatch
from ..store import VectorStore, empty_vector
from ..verbs import vector as verbs
from . import assign
from .base import Operand, Output, describe
from .build import VectorBuild
from .convert import check_size, device_of, same_device
from .expr import ScalarExpression, VectorExpression
from .indexing import Axis
from .mask import Mask, check
from .operands import apply_operator, index_operator, select_mask, union_operator
from .operators import typed
from .vector_index import VectorIndex

_names = itertools.count()


def vector_of(value: Any, where: str) -> Vector:
    """A Vector, or a delayed one, computed. TypeError otherwise."""
    if type(value) is Vector:
        return value
    if isinstance(value, Operand) and value.ndim == 1:
        return value._resolve()
    raise TypeError(f"{where}: expected a Vector, got {describe(value)}")


class Vector(VectorBuild, VectorIndex, Output):
    """Vector(dtype=FP64, size=0): no entries yet. GraphBLAS C API 2.1, section 3.8.1.

    dtype: a type of `dtypes`, its name, or a NumPy dtype. device: "cpu", "cuda"; else that of the configuration.
    Raises TypeError (dtype), InvalidValue (size), DeviceError, OutOfMemory.
    """

    __slots__ = ("__weakref__", "_store", "name")
    ndim = 1
    _store: VectorStore

    def __init__(
        self, dtype: Any = FP64, size: Any = 0, *, name: str | None = None, device: str | Device | None = None
    ) -> None:
        self._store = self._empty(dtypes.lookup_dtype(dtype), size, device)
        self.name = f"v_{next(_names)}" if name is None else name

    @classmethod
    def _from_store(cls, store: VectorStore, name: str | None = None) -> Vector:
        v = cls.__new__(cls)
        v._store, v.name = store, f"v_{next(_names)}" if name is None else name
        return v

    # ---- facts ----

    @property
    def size(self) -> int:
        return self._store.size

    @property
    def shape(self) -> tuple[int]:
        return (self._store.size,)

    @property
    def dtype(self) -> DataType:
        return self._store.dtype

    @property
    def device(self) -> Device:  # type: ignore[override]
        return self._store.device

    @property
    def nvals(self) -> int:
        """The number of entries."""
        return self._store.nvals

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
        assign.update_vector(self, value, mask, accum, replace)

    def _assign(self, axes: tuple[Axis, ...], value: Any, mask: Any, accum: Any, replace: bool, region: bool) -> None:
        assign.assign_vector(self, axes[0], value, mask, accum, replace, region)

    # ---- operations: all return delayed expressions ----

    def _partner(self, other: Any, where: str) -> Vector:
        v = vector_of(other, where)
        if v._store.size != self._store.size:
            raise DimensionMismatch(f"{where}: expected two vectors of one size, got {self.size} and {v.size}")
        same_device(where, self, v)
        return v

    def ewise_add(self, other: Any, op: Any = monoid.plus) -> VectorExpression:
        """The union: op where both have an entry, else the one there is. C API 2.1, 4.3.5.

        op: BinaryOp, Monoid or text. Raises DimensionMismatch, TypeError, KeyError (op has not that type).
        """
        v = self._partner(other, "ewise_add")
        f = typed(op, "binary", self.dtype, v.dtype)
        return VectorExpression(
            self.size, "ewise_add", (self, v), f, lambda mask: verbs.ewise(self._store, v._store, f, union=True)
        )

    def ewise_mult(self, other: Any, op: Any = binary_ops.times) -> VectorExpression:
        """The intersection: op where both have an entry. C API 2.1, 4.3.4. Errors as in `ewise_add`."""
        v = self._partner(other, "ewise_mult")
        f = typed(op, "binary", self.dtype, v.dtype)
        return VectorExpression(
            self.size, "ewise_mult", (self, v), f, lambda mask: verbs.ewise(self._store, v._store, f, union=False)
        )

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> VectorExpression:
        """The union, with a default for the operand that is missing; the type also holds the defaults."""
        v = self._partner(other, "ewise_union")
        f, left, right = union_operator(op, self.dtype, v.dtype, left_default, right_default)

        def run(mask: Any) -> VectorStore:
            x, y = verbs.cast(self._store, f.dtype), verbs.cast(v._store, f.dtype)
            return verbs.ewise_union(x, y, f, left, right)

        return VectorExpression(self.size, "ewise_union", (self, v, left, right), f, run)

    def vxm(self, other: Any, op: Any = semiring.plus_times) -> VectorExpression:
        """self times a Matrix, as a row. C API 2.1, 4.3.2. Gives a vector of other.ncols.

        Raises DimensionMismatch unless self.size is other.nrows; TypeError, KeyError for op.
        """
        from .matrix import multiply_vector

        return multiply_vector(other, self, op, "vxm")

    def inner(self, other: Any, op: Any = semiring.plus_times) -> ScalarExpression:
        """The inner product of two vectors; empty where no index has both. `v @ w` is the same."""
        v = self._partner(other, "inner")
        f = typed(op, "semiring", self.dtype, v.dtype)
        multiply: Typed = f.op.binaryop[f.op.multiply_type(f.dtype)]
        add: Typed = f.op.monoid[multiply.return_type]

        def run(mask: Any) -> np.generic | None:
            return verbs.reduce(verbs.ewise(self._store, v._store, multiply, union=False), add)

        return ScalarExpression("inner", (self, v), f, run)

    def outer(self, other: Any, op: Any = binary_ops.times) -> Any:
        """The Matrix op(self[i], other[j]) of self.size x other.size."""
        from .matrix import outer

        return outer(self, vector_of(other, "outer"), op)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> VectorExpression:
        """op of every entry: a UnaryOp; a BinaryOp with a scalar `left` or `right`; an IndexUnaryOp with its thunk as
        `right`. C API 2.1, 4.3.8. Raises TypeError, KeyError (op has not that type)."""
        kind, f, scalar = apply_operator(op, self.dtype, left, right)
        if kind == "unary":
            run: Any = lambda mask: verbs.apply(self._store, f)
        elif kind == "index":
            run = lambda mask: verbs.apply_index(self._store, f, scalar)
        else:
            run = lambda mask: verbs.apply_bound(self._store, f, scalar, left=kind == "left")
        return VectorExpression(self.size, "apply", (self,) if scalar is None else (self, scalar), f, run)

    def select(self, op: Any, thunk: Any = None) -> VectorExpression:
        """The entries for which op(value, index, 0, thunk) is true; or those under a mask, or a BOOL object.
        C API 2.1, 4.3.9. Raises TypeError, KeyError (op has not that type)."""
        mask = select_mask(op, thunk, 1)
        if mask is not None:
            mask.fits(self)

            def run(_: Any) -> VectorStore:
                t = empty_vector(self.device, self.size, self.dtype)
                verbs.merge(t, self._store, assign.vector_mask(mask), None, True)
                return t

            return VectorExpression(self.size, "select", (self, mask), None, run, self.dtype)
        f, value = index_operator(op, self.dtype, thunk, "select")
        return VectorExpression(
            self.size, "select", (self, value), f, lambda _: verbs.select(self._store, f, value), self.dtype
        )

    def reduce(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The monoid's sum of all entries. C API 2.1, 4.3.10. Without entries: an empty Scalar, or the identity if
        `allow_empty` is false. Raises TypeError (op has no monoid), KeyError."""
        f = typed(op, "monoid", self.dtype)

        def run(mask: Any) -> np.generic | None:
            found = verbs.reduce(self._store, f)
            return f.identity if found is None and not allow_empty else found

        return ScalarExpression("reduce", (self,), f, run)

    def diag(self, k: int = 0, *, name: str | None = None) -> Any:
        """The Matrix with this vector on diagonal k, of size + abs(k) rows and columns."""
        from .matrix import from_diagonal

        return from_diagonal(self, int(k), name)

    # ---- the whole object ----

    def dup(self, dtype: Any = None, *, clear: bool = False, mask: Any = None, name: str | None = None) -> Vector:
        """A copy: cast to `dtype`, without entries (`clear`), or only those under `mask`."""
        kind = self.dtype if dtype is None else dtypes.lookup_dtype(dtype)
        if clear:
            return Vector(kind, self.size, name=name, device=self.device)
        if mask is None:
            return Vector._from_store(assign.copied(self._store, kind), name)
        v = Vector(kind, self.size, name=name, device=self.device)
        v._update(self, check(mask, 1), None, False)
        return v

    def clear(self) -> None:
        """Delete all entries."""
        self._store = empty_vector(self.device, self.size, self.dtype)

    def to(self, device: str | Device) -> Vector:
        """A copy on another device; the object itself if it is there already."""
        d, s = devices.get(device), self._store
        if d is s.device:
            return self
        move = lambda x: d.asarray(s.device.to_host(x))
        return Vector._from_store(
            VectorStore(d, s.size, s.dtype, move(s.present), s.values if s.iso else move(s.values), s.count), self.name
        )

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """The same size, the same structure, equal values; the dtype counts with `check_dtype`."""
        v = vector_of(other, "isequal")
        a, b = self._store, v._store
        if a.device is not b.device:
            same_device("isequal", self, v)
        if a.size != b.size or (check_dtype and a.dtype is not b.dtype) or a.nvals != b.nvals:
            return False
        f = typed(binary_ops.eq, "binary", a.dtype, b.dtype)
        same = verbs.ewise(a, b, f, union=False)
        return same.nvals == a.nvals and bool(verbs.reduce(same, monoid.land[BOOL]) in (None, True))

    def isclose(self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """The same size and structure, and abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)."""
        from ..verbs.matrix import all_close

        v = vector_of(other, "isclose")
        same_device("isclose", self, v)
        if self.size != v.size or (check_dtype and self.dtype is not v.dtype) or self.nvals != v.nvals:
            return False
        (i, x), (j, y) = verbs.entries(self._store), verbs.entries(v._store)
        return bool((i == j).all()) and all_close(self.device, x, y, rel_tol, abs_tol)

    def __repr__(self) -> str:
        head = f"{self.name}: Vector {self.dtype}, size {self.size}, {self.nvals} entries, on {self.device.name}"
        if not 0 < self.nvals <= 20:
            return head
        i, x = (self.device.to_host(a) for a in verbs.entries(self._store))
        return head + "\n" + "  ".join(f"[{k}] {v}" for k, v in zip(i.tolist(), x.tolist()))

    def _empty(self, dtype: DataType, size: Any, device: str | Device | None) -> VectorStore:
        if type(size) is not int or not 0 <= size < 1 << 60:
            size = check_size("size", size)
        return empty_vector(device if isinstance(device, Device) else device_of(device), size, dtype)


__all__ = ["Vector", "vector_of"]

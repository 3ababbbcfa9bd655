"""Arrays of a GPU for array code: CuPy's, with operators, indexing, scans and reductions by kernels of ours.

CuPy compiles a kernel for each operator and each combination of types at first use: 0.15 s each, reductions 2 to 3 s.
The kernels used here (kernels/arrays.cu) take operators and types as arguments, so that seven compiled kernels serve
all array code. Sorts and sums of prefixes are CuPy's precompiled ones (Thrust, CUB). Results have NumPy's values and
types. What is not handled here (complex and half-precision arithmetic, more than two dimensions, rare functions) is
left to CuPy, which compiles.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ..exceptions import OutOfMemory
from ..kernels.variant import Variant
from ..typing import Array, ArrayLike
from .jit import BLOCK

if TYPE_CHECKING:
    from .cuda import Cuda

# Types of elements by their numbers in kernels/arrays.cu, which continue with constants and positions.
TYPES = {
    np.dtype(name): number
    for number, name in enumerate("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split())
}
SIGNED_VALUE, UNSIGNED_VALUE, FLOAT_VALUE, POSITION = range(len(TYPES), len(TYPES) + 4)
SIGNED, UNSIGNED, FLOAT = range(3)  # what a kernel computes with: 64-bit integers, or FP64
# NumPy's ufuncs by their numbers in the kernel; "positive" is a copy.
OPERATORS = (
    "positive add subtract multiply true_divide floor_divide remainder bitwise_and bitwise_or bitwise_xor left_shift "
    "right_shift minimum maximum negative invert absolute sqrt equal not_equal less less_equal greater greater_equal "
    "isfinite trunc signbit where bit pack"
).split()
NUMBER = {name: number for number, name in enumerate(OPERATORS)}
COMPARISONS = {
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
}
ARITHMETIC = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "true_divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "left_shift": "lshift",
    "right_shift": "rshift",
}
UNARY = {
    "negative": "neg",
    "invert": "invert",
    "absolute": "abs",
    "sqrt": "",
    "isfinite": "",
    "trunc": "",
    "signbit": "",
}
ON_INTEGERS = ("floor_divide", "remainder")  # of floats: left to CuPy
FOLDS = ("sum", "min", "max", "all", "any")
FOLD_PART = 1 << 15  # elements that a block reduces
LONGEST_SCAN = 1 << 30  # CUB counts elements in 32 bits
ELEMENT_BYTES = (1, 2, 4, 8, 16)  # sizes of elements that kernels copy
KERNELS = {
    name: Variant(f"kernels/{name}_elements") for name in ("map", "take", "put", "select", "search", "count", "fold")
}


class NotHandled(Exception):
    """Raised inside where an operation is left to the array library."""


# An operand of a kernel (ElementsView of kernels/arrays.cu): memory, type, stride, stride between rows, value.
View: TypeAlias = tuple[Array, int, int, int, int]
# What operators take: arrays and numbers of the host.
Operand: TypeAlias = Array | bool | int | float | np.generic
# How NumPy promotes an operand: by its type, or by the Python type of a number.
Kind: TypeAlias = np.dtype | type


class Primitives(NamedTuple):
    """What is not computed by kernels of ours."""

    scan: Callable[[Array], object]  # sums of prefixes in place, of at most LONGEST_SCAN integers
    argsort: Callable[[Array], Array]  # stable; may overwrite its argument
    copy: Callable[[Array, Array], None]  # (to, from): contiguous arrays of the same type and size
    clear: Callable[[Array], None]  # set all bytes of a contiguous array to 0
    memory: Callable[[Array], Array] = lambda a: a  # what a kernel receives for an array, which may have strides


def _meaning(dtype: np.dtype) -> int:
    return FLOAT if dtype.kind == "f" else UNSIGNED if dtype.kind == "u" else SIGNED


@functools.cache
def _types_of(name: str, *kinds: Kind) -> tuple[np.dtype, np.dtype]:
    """The type that NumPy's ufunc converts its operands to, and the type of its result."""
    if name == "where":
        return (np.result_type(*kinds),) * 2
    found = getattr(np, name).resolve_dtypes((*kinds, None))
    if any(t not in TYPES for t in found) or (name in ON_INTEGERS and found[0].kind == "f"):
        raise NotHandled
    return found[0], found[-1]


def _kind(x: Operand) -> Kind:
    """The type of an operand, as NumPy promotes it: numbers of Python adapt to the other operand."""
    if isinstance(x, (bool, np.bool_)):
        return np.dtype(bool)
    return x.dtype if hasattr(x, "dtype") else type(x)


def _sum_type(dtype: np.dtype) -> np.dtype:
    """NumPy sums integers in 64 bits."""
    return np.dtype({"b": np.int64, "i": np.int64, "u": np.uint64}.get(dtype.kind, dtype))


def _constant(x: Operand, dtype: np.dtype | None, data: Array) -> View:
    """A number of the host as an operand, converted to a type first, if one is given. data: the memory of any array."""
    number = np.asarray(x if dtype is None else dtype.type(x)).item()
    if isinstance(number, float):
        return data, FLOAT_VALUE, 0, 0, _bits(number)
    if not -(1 << 63) <= number < 1 << 64:
        raise NotHandled
    kind, bits = (UNSIGNED_VALUE, number - (1 << 64)) if number >= 1 << 63 else (SIGNED_VALUE, int(number))
    return data, kind, 0, 0, bits


def _bits(x: float) -> int:
    """The bits of an FP64 number as a signed integer."""
    return int(struct.unpack("q", struct.pack("d", x))[0])


def _strides(x: Array) -> tuple[int, ...]:
    """Strides in elements."""
    size = x.dtype.itemsize
    if x.dtype not in TYPES or any(s % size for s in x.strides):
        raise NotHandled
    return tuple(s // size for s in x.strides)


def _is_basic(key: Any) -> bool:
    """Whether indexing by the key gives a view."""
    return type(key) in (int, slice) or key is None or key is Ellipsis or isinstance(key, np.integer)


def _contiguous(x: Array) -> Array:
    return x if x.flags.c_contiguous else x.copy()


class Arrays:
    """The array module of a GPU: functions named as NumPy's; all others are those of the array library."""

    def __init__(self, library: ModuleType, device: Cuda, primitives: Primitives) -> None:
        self.library, self.device, self.primitives = library, device, primitives
        self.ndarray = library.ndarray  # what `isinstance` tests
        self._launchers: dict[str, Callable[..., None]] = {}
        self._memory = primitives.memory
        self.Array: Any = type(
            "Array", (ArrayMethods, library.ndarray), {"_xp": self, "__module__": __name__, "__hash__": None}
        )

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.library, name)
        setattr(self, name, found)
        return found

    # ---- launches ----

    def _run(self, name: str, n: int, *args: Any) -> None:
        """Launch a kernel for n elements, or for n blocks ("fold"). Traces do not list it."""
        if not n:
            return
        launch = self._launchers.get(name)
        if launch is None:
            launch = self._launchers[name] = self.device.load(KERNELS[name])
        blocks = n if name == "fold" else -(-n // BLOCK)
        if blocks >= 1 << 31:
            raise OutOfMemory(f"an array of {n} elements exceeds the largest CUDA grid")
        try:
            launch((blocks,), (BLOCK,), (n, *args))
        except self.device.errors as error:
            self.device.fail(error)

    def _view(self, x: Array, flat: bool) -> View:
        """An array as an operand. flat: all operands are contiguous, or have one dimension."""
        kind = TYPES.get(x.dtype)
        if kind is None:
            raise NotHandled
        data = self._memory(x)
        if x.size == 1:
            return data, kind, 0, 0, 0
        if flat:
            stride, rest = divmod(x.strides[0], x.itemsize) if x.ndim == 1 else (1, 0)
            if rest:
                raise NotHandled
            return data, kind, stride, 0, 0
        sizes, strides = (1,) * (2 - x.ndim) + x.shape, (0,) * (2 - x.ndim) + _strides(x)
        rows, inner = (0 if size == 1 else stride for size, stride in zip(sizes, strides))
        return data, kind, inner, rows, 0

    def map(
        self,
        name: str,
        x: Operand,
        y: Operand = 0,
        flags: Array | None = None,
        out: Array | None = None,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The ufunc `name` of x, or of x and y; where(flags, x, y); or x as `dtype` ("positive")."""
        ndarray = self.ndarray
        given = [a for a in (x, y, flags) if isinstance(a, ndarray)]
        if name == "positive":
            result = np.dtype(dtype)
            of = x.dtype if isinstance(x, (ndarray, np.generic)) else result
            if of not in TYPES or result not in TYPES:
                raise NotHandled
        elif name in UNARY:
            of, result = _types_of(name, _kind(x))
        else:
            of, result = _types_of(name, _kind(x), _kind(y))
        shape: tuple[int, ...] = given[0].shape if given else ()
        if any(a.shape != shape for a in given[1:]):
            shape = np.broadcast_shapes(*(a.shape for a in given))
        if out is None:
            out = self.Array(shape, result)
        elif out.shape != shape:
            if np.broadcast_shapes(shape, out.shape) != out.shape:
                raise ValueError(f"expected an array that broadcasts to shape {out.shape}, got {shape}")
            shape = out.shape
        n = out.size
        if not n:
            return out
        flat = len(shape) < 2 or all(a.shape == shape and a.flags.c_contiguous for a in (*given, out) if a.size > 1)
        if not flat and len(shape) > 2:
            raise NotHandled
        to, kind, stride, rows, _ = self._view(out, flat)
        exact = name in COMPARISONS and of.kind != "f"  # compares integers of any range
        first, second = (
            self._view(a, flat) if isinstance(a, ndarray) else _constant(a, None if exact else of, to) for a in (x, y)
        )
        third = first if flags is None else self._view(flags, flat)
        inner = 0 if flat else shape[1]
        number = NUMBER[name]
        self._run("map", n, number, _meaning(of), inner, to, kind, stride, rows, *first, *second, *third)
        return out

    def select(self, flags: Array, data: Array | None = None) -> Array:
        """The elements of data whose flags are set, or the positions of the flags."""
        n = flags.size
        if flags.ndim != 1 or (data is not None and (data.ndim != 1 or data.dtype.itemsize not in ELEMENT_BYTES)):
            raise NotHandled
        if data is not None and data.size != n:
            raise IndexError(f"expected {data.size} flags, got {n}")
        flags = _contiguous(flags if flags.dtype == bool else flags != 0)
        before = self.map("positive", flags, dtype=np.int64)
        self.scan(before)
        out = self.Array((int(before[-1]) if n else 0,), np.int64 if data is None else data.dtype)
        if out.size:
            size, stride = (0, 0) if data is None else (data.dtype.itemsize, data.strides[0] // data.dtype.itemsize)
            memory = self._memory
            source = memory(out if data is None else data)
            self._run("select", n, size, memory(flags), memory(before), source, stride, memory(out))
        return out

    def scan(self, x: Array) -> None:
        """Sums of prefixes in place, of a contiguous array. Those of floats are made by doubling, because the order of
        CUB's sums may differ between runs."""
        if x.dtype.kind == "f":
            shift = 1
            while shift < x.size:
                x[shift:] = x[shift:] + x[:-shift]
                shift *= 2
            return
        for begin in range(0, x.size, LONGEST_SCAN):
            part = x[begin : begin + LONGEST_SCAN]
            self.primitives.scan(part)
            if begin:
                self.map("add", part, x[begin - 1], out=part)

    def take(self, x: Array, index: Array) -> Array:
        """x[index], for positions along the first axis."""
        if index.dtype.kind not in "iu" or x.ndim not in (1, 2) or x.dtype.itemsize not in ELEMENT_BYTES:
            raise NotHandled
        out = self.Array(index.shape + x.shape[1:], x.dtype)
        if out.size and not x.size:
            raise IndexError("expected no positions in an empty array, got some")
        index, size = _contiguous(index).reshape(-1), x.dtype.itemsize
        rows, stride = x.strides[0] // size, x.strides[-1] // size
        inner = 1 if x.ndim == 1 else x.shape[1]
        source = self._memory(x), len(x), stride, rows
        self._run("take", out.size, size, inner, *source, *self._view(index, True), self._memory(out))
        return out

    def put(self, x: Array, index: Array, values: Operand) -> None:
        """x[index] = values, for positions."""
        if x.ndim != 1 or x.dtype not in TYPES or index.dtype.kind not in "iu":
            raise NotHandled
        index = _contiguous(index).reshape(-1)
        if isinstance(values, (self.ndarray, np.ndarray)):
            values = self.asarray(values)
            if values.size not in (index.size, 1):
                raise ValueError(f"expected {index.size} values, got {values.size}")
            source = self._view(values if values.ndim == 1 else _contiguous(values).reshape(-1), True)
        else:
            source = _constant(values, x.dtype, self._memory(index))
        to = self._memory(x), TYPES[x.dtype], len(x), _strides(x)[0]
        self._run("put", index.size, *to, *self._view(index, True), *source)

    def fold(self, name: str, x: Array, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
        """A reduction of all elements, or along an axis of two."""
        result = np.dtype(bool) if name in ("all", "any") else x.dtype
        if name == "sum":
            result = _sum_type(x.dtype) if dtype is None else np.dtype(dtype)
        if x.dtype not in TYPES or result not in TYPES:
            raise NotHandled
        if axis is None or (x.ndim == 1 and axis in (0, -1)):
            x = x if x.ndim == 1 else _contiguous(x).reshape(-1)
            shape: tuple[int, ...] = ()
            rows, length, stride, row_stride = 1, x.size, _strides(x)[0], 0
        elif x.ndim == 2 and axis in (0, 1, -1, -2):
            along, strides = axis % 2, _strides(x)
            shape, rows, length = (x.shape[1 - along],), x.shape[1 - along], x.shape[along]
            stride, row_stride = strides[along], strides[1 - along]
        else:
            raise NotHandled
        if not length:
            if name in ("min", "max"):
                raise ValueError("zero-size array to reduction operation which has no identity")
            return self.full(shape, name == "all", result)
        of = _meaning(result if name == "sum" else x.dtype)
        source = self._memory(x), TYPES[x.dtype], stride, row_stride, 0
        while True:
            parts = -(-length // FOLD_PART)
            # Results of parts are as wide as what the kernel computes with.
            out = self.Array(rows * parts, result if parts == 1 else (np.int64, np.uint64, np.float64)[of])
            number, to = FOLDS.index(name), self._memory(out)
            self._run("fold", rows * parts, number, length, FOLD_PART, parts, *source, to, TYPES[out.dtype], of)
            if parts == 1:
                return out.reshape(shape)
            source, length, x = (to, TYPES[out.dtype], 1, parts, 0), parts, out

    def find_extreme(self, name: str, x: Array, axis: int | None) -> Array:
        """argmax or argmin: the first position of the extreme; NaN counts as one."""
        best = self.fold("max" if name == "argmax" else "min", x, axis)
        if axis is None:
            x, axis = _contiguous(x).reshape(-1), 0
        hit = x == (best if x.ndim == 1 else self.library.expand_dims(best, axis))
        if x.dtype.kind == "f":
            hit = hit | (x != x)
        at = self.arange(x.shape[axis])
        at = at[:, None] if x.ndim == 2 and axis == 0 else at
        return self.fold("min", self.map("where", at, x.shape[axis], hit), axis)

    def as_index(self, key: Any) -> Array:
        """Positions or flags as an array of the device."""
        return key if isinstance(key, self.ndarray) else self.asarray(np.asarray(key) if len(key) else np.zeros(0, int))

    # ---- NumPy's functions ----

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike = float) -> Array:
        return self.Array(shape, dtype)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike = float) -> Array:
        out = self.Array(shape, dtype)
        self.primitives.clear(out)
        return out

    def full(self, shape: int | tuple[int, ...], value: Operand, dtype: DTypeLike | None = None) -> Array:
        out = self.Array(shape, np.asarray(value).dtype if dtype is None else dtype)
        out[...] = value
        return out

    def ones(self, shape: int | tuple[int, ...], dtype: DTypeLike = float) -> Array:
        return self.full(shape, 1, dtype)

    def empty_like(self, x: Array, dtype: DTypeLike | None = None) -> Array:
        return self.Array(x.shape, x.dtype if dtype is None else dtype)

    def zeros_like(self, x: Array, dtype: DTypeLike | None = None) -> Array:
        return self.zeros(x.shape, x.dtype if dtype is None else dtype)

    def asarray(self, data: Any, dtype: DTypeLike | None = None) -> Array:
        if type(data) is self.Array:
            return data if dtype is None else data.astype(dtype, copy=False)
        if hasattr(data, "__cuda_array_interface__"):
            data = self.library.asarray(data)
        elif not isinstance(data, self.ndarray):
            data = np.asarray(data, dtype)
            # CuPy compiles a kernel for an array without dimensions.
            data = self.library.asarray(data.reshape(-1)).reshape(data.shape)
        data = data.view(type=self.Array)
        return data if dtype is None else data.astype(dtype, copy=False)

    def ascontiguousarray(self, data: Array, dtype: DTypeLike | None = None) -> Array:
        data = self.asarray(data, dtype)
        return _contiguous(data) if data.ndim else data.reshape(1)

    def arange(self, start: Any, stop: Any = None, step: Any = 1, dtype: DTypeLike | None = None) -> Array:
        start, stop = (0, start) if stop is None else (start, stop)
        kind = np.dtype(dtype) if dtype is not None else np.result_type(*map(np.asarray, (start, stop, step)))
        start, stop, step = (x.item() if hasattr(x, "item") else x for x in (start, stop, step))
        if kind.kind not in "iu" or kind not in TYPES or not all(isinstance(x, int) for x in (start, stop, step)):
            return self.asarray(np.arange(start, stop, step, dtype=dtype))
        out = self.Array(max(0, -(-(stop - start) // step)), kind)
        to = self._memory(out)
        positions = to, POSITION, step, 0, start
        self._run("map", out.size, 0, SIGNED, 0, to, TYPES[kind], 1, 0, *positions, *positions, *positions)
        return out

    def flatnonzero(self, x: Array) -> Array:
        return self.asarray(x).reshape(-1).nonzero()[0]

    def cumsum(
        self, x: Array, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None
    ) -> Array:
        x = self.asarray(x)
        return x.cumsum(axis, dtype) if out is None else x.cumsum(axis, dtype, out)

    def argsort(self, x: Array, axis: int = -1, kind: Any = None) -> Array:
        return self.asarray(x).argsort(axis, kind)

    def sort(self, x: Array) -> Array:
        x = x.copy()
        x.sort()
        return x

    def searchsorted(self, x: Array, v: Array, side: str = "left", sorter: Array | None = None) -> Array:
        scalar = not isinstance(v, (self.ndarray, np.ndarray, list, tuple))
        x, v = self.asarray(x), self.asarray(v)
        if sorter is not None or v.dtype not in TYPES or x.dtype not in TYPES or x.ndim != 1:
            return self.asarray(self.library.searchsorted(x, v, side, sorter))
        flat = v if v.ndim == 1 else _contiguous(v).reshape(-1)
        out = self.Array(v.shape, np.int64)
        places = *self._view(x, True), *self._view(flat, True), self._memory(out)
        self._run("search", v.size, int(side == "right"), len(x), *places)
        return out[()] if scalar else out

    def concatenate(self, parts: Sequence[Array], axis: int = 0) -> Array:
        parts = [self.asarray(part) for part in parts]
        if axis or any(part.ndim != 1 for part in parts):
            return self.asarray(self.library.concatenate(parts, axis))
        out = self.Array(sum(map(len, parts)), np.result_type(*(part.dtype for part in parts)))
        begin = 0
        for part in parts:
            if len(part):
                out[begin : begin + len(part)] = part
            begin += len(part)
        return out

    def append(self, x: ArrayLike, y: ArrayLike | int) -> Array:
        return self.concatenate((self.asarray(x).reshape(-1), self.asarray(y).reshape(-1)))

    def stack(self, parts: Sequence[Array], axis: int = 0) -> Array:
        parts = [self.asarray(part) for part in parts]
        if any(part.ndim > 1 for part in parts) or axis > 1:
            return self.asarray(self.library.stack(parts, axis))
        shape = (len(parts), *parts[0].shape)
        out = self.Array(shape if axis == 0 else shape[::-1], np.result_type(*(part.dtype for part in parts)))
        for k, part in enumerate(parts):
            out[(k, ...) if axis == 0 else (slice(None), k)] = part
        return out

    def where(self, flags: Array, x: Operand | None = None, y: Operand = 0) -> Array | tuple[Array, ...]:
        if x is None:
            return flags.nonzero()
        try:
            return self.map("where", x, y, self.asarray(flags))
        except NotHandled:
            return self.asarray(self.library.where(flags, x, y))

    def unique(
        self, x: Array, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False
    ) -> Any:
        x = self.asarray(x).reshape(-1)
        if x.dtype not in TYPES or x.dtype.kind == "f":  # NaN counts once
            return self.library.unique(x, return_index, return_inverse, return_counts)
        sorts_alone = not (return_index or return_inverse)
        order = x[:0] if sorts_alone else x.argsort()
        ordered = self.sort(x) if sorts_alone else x[order]
        first = self.ones(len(x), bool)
        first[1:] = ordered[1:] != ordered[:-1]
        starts = self.flatnonzero(first)
        results = [ordered[starts]]
        if return_index:
            results.append(order[starts])
        if return_inverse:
            inverse = self.empty(len(x), np.int64)
            inverse[order] = first.cumsum() - 1
            results.append(inverse)
        if return_counts:
            results.append(self.diff(self.append(starts, len(x))))
        return results[0] if len(results) == 1 else tuple(results)

    def union1d(self, x: Array, y: Array) -> Array:
        return self.unique(self.concatenate((x, y)))

    def bincount(self, x: Array, weights: Any = None, minlength: int | None = 0) -> Array:
        if weights is not None or x.dtype.kind not in "biu":
            return self.asarray(self.library.bincount(x, weights, minlength))
        counts = self.zeros(max(minlength or 0, int(x.max()) + 1 if len(x) else 0), np.int64)
        self._run("count", len(x), *self._view(x, True), self._memory(counts.view(np.uint64)))
        return counts

    def diff(self, x: Array, append: Any = None) -> Array:
        x = x if append is None else self.append(x, append)
        return x[1:] - x[:-1]

    def repeat(self, x: Array, repeats: Array | int | np.integer, axis: int | None = None) -> Array:
        x = self.asarray(x).reshape(-1)
        if isinstance(repeats, (int, np.integer)):
            out = self.Array((len(x), int(repeats)), x.dtype)
            out[...] = x[:, None]
            return out.reshape(-1)
        ends = self.asarray(repeats).cumsum()
        return x[self.searchsorted(ends, self.arange(int(ends[-1]) if len(ends) else 0), "right")]

    def tile(self, x: Array, times: int) -> Array:
        out = self.Array((times, len(x)), x.dtype)
        out[...] = x[None, :]
        return out.reshape(-1)

    def packbits(self, x: Array, bitorder: str = "big") -> Array:
        if bitorder != "little" or x.ndim != 1 or x.dtype.itemsize != 1:
            return self.asarray(self.library.packbits(x, bitorder=bitorder))
        out, source = self.Array(-(-len(x) // 8), np.uint8), (*self._view(x.view(np.uint8), True)[:4], len(x))
        self._run_bits("pack", out, source)
        return out

    def unpackbits(self, x: Array, bitorder: str = "big") -> Array:
        if bitorder != "little":
            return self.asarray(self.library.unpackbits(x, bitorder=bitorder))
        x = _contiguous(x)
        out = self.Array(8 * x.size, np.uint8)
        self._run_bits("bit", out, self._view(x, True))
        return out

    def _run_bits(self, name: str, out: Array, x: View) -> None:
        to = self._memory(out), TYPES[out.dtype], 1, 0
        self._run("map", len(out), NUMBER[name], UNSIGNED, 0, *to, *x, *x, *x)

    def clip(self, x: Array, low: Operand | None = None, high: Operand | None = None) -> Array:
        out = self.asarray(x) if low is None else self.maximum(x, low)
        return out if high is None else self.minimum(out, high)

    def array_split(self, x: Array, parts: Array) -> list[Array]:
        return list(self.library.array_split(x, parts))


def _function(name: str) -> Callable[..., Any]:
    """NumPy's ufunc of one or two operands, with an optional `out`."""

    def function(self: Arrays, x: Operand, y: Operand = 0, *, out: Array | None = None) -> Array:
        try:
            return self.map(name, x, y, out=out)
        except NotHandled:
            options = {} if out is None else {"out": out}
            return self.asarray(getattr(self.library, name)(*((x,) if name in UNARY else (x, y)), **options))

    return function


for _name in (*ARITHMETIC, *COMPARISONS, *UNARY, "minimum", "maximum", "abs"):
    setattr(Arrays, _name, _function("absolute" if _name == "abs" else _name))


def _plain(x: Array, method: str) -> Callable[..., Any]:
    """The array library's own method."""
    return getattr(super(ArrayMethods, x), method)


class ArrayMethods:
    """The methods of arrays that run kernels of ours; `Arrays` derives a class from it and the library's array."""

    _xp: Arrays

    def __getitem__(self: Any, key: Any) -> Array:
        if type(key) in (slice, int):
            return _plain(self, "__getitem__")(key)
        rest: tuple[Any, ...] = ()
        if type(key) is tuple and len(key) and isinstance(key[0], self._xp.ndarray) and all(map(_is_basic, key[1:])):
            key, *others = key
            rest = (slice(None), *others)
        if isinstance(key, (self._xp.ndarray, np.ndarray, list)):
            try:
                index = self._xp.as_index(key)
                out = self._xp.select(index, self) if index.dtype == bool else self._xp.take(self, index)
                return out[rest] if rest else out
            except NotHandled:
                pass
        return _plain(self, "__getitem__")((key, *rest[1:]) if rest else key)

    def __setitem__(self: Any, key: Any, values: Operand) -> None:
        values = np.asarray(values) if isinstance(values, (list, tuple)) else values
        try:
            if isinstance(key, (self._xp.ndarray, np.ndarray, list)):
                index = self._xp.as_index(key)
                if index.dtype == bool:
                    if index.shape != self.shape:
                        raise IndexError(f"expected flags of shape {self.shape}, got {index.shape}")
                    index = self._xp.select(index)
                return self._xp.put(self, index, values)
            if _is_basic(key) or (type(key) is tuple and all(map(_is_basic, key))):
                target = _plain(self, "__getitem__")(key)
                target = target if isinstance(target, self._xp.ndarray) else _plain(self, "__getitem__")((key, ...))
                values = self._xp.asarray(values) if isinstance(values, np.ndarray) else values
                if isinstance(values, self._xp.ndarray) and (values.shape, values.dtype) == (
                    target.shape,
                    target.dtype,
                ):
                    if target.flags.c_contiguous and values.flags.c_contiguous:
                        return self._xp.primitives.copy(target, values)
                self._xp.map("positive", values, out=target, dtype=target.dtype)
                return None
        except NotHandled:
            pass
        return _plain(self, "__setitem__")(key, values)

    def __array_ufunc__(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Array:
        if method == "__call__" and ufunc.__name__ in NUMBER and not options and ufunc.nin < 3:
            try:
                return self._xp.map(ufunc.__name__, *inputs)
            except NotHandled:
                pass
        return _plain(self, "__array_ufunc__")(ufunc, method, *inputs, **options)

    def copy(self: Any, order: str = "C") -> Array:
        if not self.flags.c_contiguous:
            try:
                return self._xp.map("positive", self, dtype=self.dtype)
            except NotHandled:
                return _plain(self, "copy")(order)
        out = self._xp.Array(self.shape, self.dtype)
        self._xp.primitives.copy(out, self)
        return out

    def astype(
        self: Any, dtype: DTypeLike, order: str = "K", casting: Any = None, subok: Any = None, copy: bool = True
    ) -> Array:
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        try:
            return self._xp.map("positive", self, dtype=dtype)
        except NotHandled:
            return _plain(self, "astype")(dtype, copy=copy)

    def __pow__(self: Any, other: Operand) -> Array:
        if type(other) is int and other == 2:
            return self * self
        if type(other) is float and other == 0.5 and self.dtype.kind == "f":
            return self._xp.sqrt(self)
        return _plain(self, "__pow__")(other)

    def fill(self: Any, value: Operand) -> None:
        if isinstance(value, (int, np.integer)) and not value and self.flags.c_contiguous:
            return self._xp.primitives.clear(self)
        try:
            self._xp.map("positive", value, out=self, dtype=self.dtype)
        except NotHandled:  # not by way of self[...], which CuPy fills
            _plain(self, "fill")(value)
        return None

    def nonzero(self: Any) -> tuple[Array, ...]:
        try:
            return (self._xp.select(self),)
        except NotHandled:
            return tuple(_plain(self, "nonzero")())

    def cumsum(self: Any, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
        if self.ndim == 2 and axis in (1, -1) and self.dtype.kind in "biu" and dtype is None and out is None:
            # Sums along rows: those of all elements, less what is before each row.
            sums = _contiguous(self).reshape(-1).cumsum().reshape(self.shape)
            if sums.size:
                sums[1:] = sums[1:] - sums[:-1, -1:]
            return sums
        if self.ndim != 1 or self.dtype not in TYPES:
            return _plain(self, "cumsum")(axis, dtype, out)
        dtype = np.dtype(dtype if dtype is not None else _sum_type(self.dtype) if out is None else out.dtype)
        if out is not None and out.dtype == dtype and out.flags.c_contiguous:
            if out is not self:
                out[...] = self
            self._xp.scan(out)
            return out
        sums = self.astype(dtype)
        self._xp.scan(sums)
        if out is None:
            return sums
        out[...] = sums
        return out

    def argsort(self: Any, axis: int = -1, kind: Any = None) -> Array:
        return self._xp.primitives.argsort(self.copy()) if self.ndim == 1 else _plain(self, "argsort")(axis)

    def searchsorted(self: Any, v: Array, side: str = "left", sorter: Array | None = None) -> Array:
        return self._xp.searchsorted(self, v, side, sorter)

    def repeat(self: Any, repeats: Operand, axis: int | None = None) -> Array:
        return self._xp.repeat(self, repeats, axis)

    def clip(self: Any, min: Operand | None = None, max: Operand | None = None) -> Array:
        return self._xp.clip(self, min, max)

    def take(self: Any, indices: Array, axis: int | None = None, out: Array | None = None) -> Array:
        return self[indices] if self.ndim == 1 and out is None else _plain(self, "take")(indices, axis, out)


def _method(method: str, name: str, flipped: bool = False, in_place: bool = False) -> Callable[..., Any]:
    """An operator of Python on arrays and numbers."""

    def operate(self: Any, other: Operand = 0) -> Array:
        if isinstance(other, (self._xp.ndarray, int, float, np.generic)):
            try:
                if not in_place:
                    return self._xp.map(name, *((other, self) if flipped else (self, other)))
                if np.can_cast(_types_of(name, self.dtype, _kind(other))[1], self.dtype, "same_kind"):
                    return self._xp.map(name, self, other, out=self)
            except NotHandled:
                pass
        others = _plain(self, method)
        return others() if name in UNARY else others(other)

    operate.__name__ = method
    return operate


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(
        self: Any,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        keepdims: bool = False,
    ) -> Array:
        if out is None and not keepdims:
            try:
                return (
                    self._xp.fold(name, self, axis, dtype) if name in FOLDS else self._xp.find_extreme(name, self, axis)
                )
            except NotHandled:
                pass
        options = {"dtype": dtype} if dtype is not None else {}
        return _plain(self, name)(axis=axis, out=out, keepdims=keepdims, **options)

    reduce.__name__ = name
    return reduce


for _name, _short in (*ARITHMETIC.items(), *COMPARISONS.items(), *UNARY.items()):
    if _short:
        setattr(ArrayMethods, f"__{_short}__", _method(f"__{_short}__", _name))
    if _name in ARITHMETIC:
        setattr(ArrayMethods, f"__r{_short}__", _method(f"__r{_short}__", _name, flipped=True))
        setattr(ArrayMethods, f"__i{_short}__", _method(f"__i{_short}__", _name, in_place=True))
for _name in (*FOLDS, "argmax", "argmin"):
    setattr(ArrayMethods, _name, _reduction(_name))

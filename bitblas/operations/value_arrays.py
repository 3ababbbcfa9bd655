"""Element-wise operations on value arrays, one value per entry of a matrix, by the kernels of full vectors.

Values are an array (BOOL: bools) or np.generic (iso). Results have the same representation.
"""

from __future__ import annotations

import functools
from typing import overload

import numpy as np

from semirings import Monoid, Operator, Typed
from semirings.catalog import UNARY
from semirings.dtypes import BOOL, INT64, DataType, cast_scalar, lookup_dtype
from semirings.expressions import code
from semirings.operators import with_positions

from .. import tuning
from ..device import Device, Kernel
from ..store import PlainValues, VectorStore, full_bits, pack, unpack, words
from ..typing import Array, Number
from . import ewise_vector, udf
from .ewise_vector import APPLY, APPLY_INDEX, INTERSECTION, WORD, pointwise
from .variants import Call, binary_of, fold_variant


def take(values: PlainValues, places: Array) -> PlainValues:
    """The values at these positions."""
    return values if isinstance(values, np.generic) else values[places]


@functools.lru_cache(maxsize=64)
def _kept_bits(device: Device, size: int) -> Array:
    return full_bits(device, size)


def _all_present(device: Device, size: int) -> Array:
    """Read-only: results have bitsets of their own."""
    return _kept_bits(device, size) if size <= tuning.count("cached.full_positions") else full_bits(device, size)


def _presence(device: Device, size: int) -> tuple[Array, Array]:
    """The bitset of a full vector, and an unused output for the result's bitset."""
    return full_bits(device, size), device.xp.empty(words(size), WORD)


_kept_presence = functools.lru_cache(maxsize=64)(_presence)


def as_vector(
    device: Device, values: PlainValues, size: int, present: Array | None = None, *, shared: bool = True
) -> VectorStore:
    """A full vector of these values (np.generic: iso), which are not copied; `present`: its full bitset, if known.
    shared: its bitset will not be written."""
    dtype = lookup_dtype(values.dtype)
    if not isinstance(values, np.generic):
        values = pack(device, values) if dtype is BOOL else values if size else device.xp.zeros(1, values.dtype)
    if present is None:
        present = _all_present(device, size) if shared else full_bits(device, size)
    return VectorStore(device, size, dtype, present, values, size)


def _pointwise(
    device: Device,
    call: Call,
    op: Typed[Operator],
    left: tuple[PlainValues, DataType],
    right: tuple[PlainValues, DataType],
    size: int,
    places: tuple[Array, Array] | None = None,
) -> Array:
    """op of `size` values each, arrays or np.generic, as an array."""
    (x, x_type), (y, y_type) = left, right
    if op.dtype._is_udt and udf.computes(op):
        names = {"x": x} if call.bound == "x" else {"x": x, call.bound[1]: y}
        return udf.computed(device, op, size, *(places or ()), **names)
    k = pointwise(device, call, op, x_type.name, y_type.name, places is not None, True, False)
    presence = _kept_presence if size <= tuning.count("cached.full_positions") else _presence
    n, (bits, unread) = (size + 63) >> 6 or 1, presence(device, size)
    out = device.xp.empty(n if k.dtype is BOOL else size or 1, k.np_type)
    of_x = _operand(device, x, x_type, k.u_nothing, k.u_zero)
    of_y = of_x if y is x and y_type is x_type else _operand(device, y, y_type, k.v_nothing, k.v_zero)
    plain = k.plain if places is None else (*k.plain[:2], *places, *k.plain[4:])
    args = n, size, bits, *of_x, bits, *of_y, *plain, unread, out
    if n < (least := tuning.count("parallel.words")):
        k.kernel(*args)
    else:
        k.kernel(*args, bounds=device.ranges(n, least, parts=device.threads))
    if k.dtype is BOOL:
        return unpack(device, out, size)
    return out if len(out) == size else out[:size]


def _operand(
    device: Device, x: PlainValues, dtype: DataType, nothing: Array, zero: np.generic
) -> tuple[Array, np.generic, int]:
    if isinstance(x, np.generic):
        return nothing, x, 0
    return (pack(device, x) if dtype is BOOL else x if len(x) else nothing), zero, 1


def binary(
    device: Device,
    op: Typed[Operator],
    x: PlainValues,
    y: PlainValues,
    places: tuple[Array, Array] | None = None,
) -> PlainValues:
    """op(x, y); places: rows and columns of the entries (INT64), for positional operators."""
    op = binary_of(op)
    places = places if op.op.positional else None
    if places is not None:
        size = len(places[0])
    elif not isinstance(x, np.generic):
        size = len(x)
    elif not isinstance(y, np.generic):
        size = len(y)
    else:
        return op.op.evaluate(op.dtype, x=x, y=y)
    left, right = (x, lookup_dtype(x.dtype)), (y, lookup_dtype(y.dtype))
    return _pointwise(device, INTERSECTION, op, left, right, size, places)


def by_place(
    device: Device, op: Typed, x: PlainValues, y: PlainValues, rows: Array, cols: Array, places: tuple[str, ...]
) -> PlainValues:
    """A positional operator whose operands are at different positions. rows, cols (INT64): ix and jx of the result;
    places: ix, jx of x and iy, jy of y, as expressions in these."""
    there = with_positions(op.op, *places)[op.dtype]
    if not op.op.reads_positions_only:
        return binary(device, there, x, y, (rows, cols))
    names = {"ix": rows, "jx": cols, "quotient": lambda a, b, bits: a // b}
    return cast(device, eval(code(there.op.expr), names) + rows * 0, INT64, op.return_type)


def unary(device: Device, op: Typed[Operator], x: PlainValues, dtype: DataType) -> PlainValues:
    """op(x), for values of type `dtype`."""
    if isinstance(x, np.generic):
        return op.op.evaluate(op.dtype, x=x)
    return _pointwise(device, APPLY, op, (x, dtype), (x, dtype), len(x))


def index(
    device: Device, op: Typed[Operator], x: PlainValues, rows: Array | None, cols: Array | None, thunk: Number
) -> Array:
    """op(x, row, column, thunk), always an array of len(rows); rows None: op does not read positions."""
    places, kind = None, op.compute_type
    if rows is not None and cols is not None:
        places, size = (rows, cols), len(rows)
    else:
        size = 1 if isinstance(x, np.generic) else len(x)
    y = kind.np_type.type(thunk)
    return _pointwise(device, APPLY_INDEX, op, (x, lookup_dtype(x.dtype)), (y, kind), size, places)


@overload
def cast(device: Device, x: np.generic, from_dtype: DataType, to_dtype: DataType) -> np.generic: ...
@overload
def cast(device: Device, x: Array, from_dtype: DataType, to_dtype: DataType) -> Array: ...
@overload
def cast(device: Device, x: PlainValues, from_dtype: DataType, to_dtype: DataType) -> PlainValues: ...


def cast(device: Device, x: PlainValues, from_dtype: DataType, to_dtype: DataType) -> PlainValues:
    """x in another type, by the casts of GraphBLAS."""
    if from_dtype is to_dtype:
        return x
    if isinstance(x, np.generic):
        return cast_scalar(x, to_dtype)
    return unary(device, UNARY["identity"][to_dtype], x, from_dtype)


def reduce(device: Device, monoid: Typed[Monoid], values: Array) -> np.generic:
    """The monoid's reduction of a non-empty array."""
    total = ewise_vector.reduce(as_vector(device, values, len(values)), monoid)
    assert total is not None
    return total


@functools.cache
def _fold(device: Device, op: Typed, a: DataType) -> tuple[Kernel, DataType]:
    variant, z = fold_variant(binary_of(op), a)
    return device.kernel(variant), z


def fold_segments(device: Device, op: Typed, values: Array, dtype: DataType, pointers: Array) -> Array:
    """Left fold of op over each segment values[pointers[s]:pointers[s + 1]], none of them empty."""
    if op.dtype._is_udt and udf.computes(op):
        return udf.folded(device, udf.plain(op), values, pointers)
    kernel, z = _fold(device, op, lookup_dtype(values.dtype))
    sums = device.xp.empty(len(pointers) - 1, z.np_type)
    kernel(len(sums), pointers.astype(np.int64, copy=False), values, sums)
    return cast(device, sums, z, dtype)


def reduce_segments(device: Device, monoid: Typed[Monoid], values: Array, pointers: Array) -> Array:
    """The monoid's reduction of each segment, none of them empty."""
    return fold_segments(device, monoid, values, monoid.return_type, pointers)

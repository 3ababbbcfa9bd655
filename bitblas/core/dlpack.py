"""DLPack: dense arrays of Vectors and multivectors for other libraries, and theirs in ours, without a copy.

A full Vector is one array of values. A multivector (a Matrix of format "bitmap") is one row of values after the other,
padded to 8, 16, 32 or a multiple of 64 of them; a wide one is stored by columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semirings.dtypes import BOOL, DataType, lookup_dtype

from .. import device as devices
from .. import operations
from ..device import Device
from ..exceptions import DeviceError, DimensionMismatch, InvalidValue
from ..formats.bitmap.layout import lines_of
from ..store import FlatStore, MatrixStore, VectorStore, flat_of, full_bits, full_vector
from .convert import device_of

if TYPE_CHECKING:
    from ..typing import Array
    from .typing import DeviceArg

_CPU, _GPU = (1, 3), (2, 13)  # dlpack.h: kDLCPU, kDLCUDAHost; kDLCUDA, kDLCUDAManaged


def _checked(kind: str, dtype: DataType, nvals: int, size: int) -> None:
    """BufferError unless the values are an array with a number for each position."""
    if dtype._is_udt or dtype is BOOL:
        stored = "bits" if dtype is BOOL else "records"
        raise BufferError(
            f"{kind}: expected numbers for DLPack, got {dtype}, whose values are {stored}. Hint: to_dense()"
        )
    if nvals != size:
        raise BufferError(
            f"{kind}: expected an entry at every position for DLPack, got {nvals} of {size}. Hint: to_dense(fill_value)"
        )


def dlpack_device(device: Device) -> tuple[int, int]:
    """The number of DLPack for the kind of a device, and which one of this kind it is."""
    found: tuple[int, int] = device.xp.empty(0).__dlpack_device__()
    return int(found[0]), int(found[1])


def vector_array(store: VectorStore) -> Array:
    """The values of a full vector, in its own memory."""
    _checked("Vector", store.dtype, store.nvals, store.size)
    if store.iso:
        operations.vector_entries.make_dense(store)
    return store.values[: store.size]


def as_flat(store: MatrixStore) -> FlatStore:
    """A bitmap as a vector of all its positions. BufferError for other formats."""
    if store.order is not None:
        raise BufferError("Matrix: expected the user's order for DLPack, got another one. Hint: A.reorder(None)")
    if isinstance(store, FlatStore):
        return store
    if not store.structure.bitmap:
        raise BufferError(
            f"Matrix: expected format 'bitmap' for DLPack, got {store.structure.primary.key!r}. Hint: to_torch(), "
            "to_dense(fill_value)"
        )
    return FlatStore(flat_of(store), store.nrows, store.ncols)


def matrix_array(store: FlatStore) -> Array:
    """The values of a full multivector, in its own memory, with a stride between rows (between columns if wide)."""
    _checked("Matrix", store.dtype, store.nvals, store.nrows * store.ncols)
    if store.flat.iso:
        operations.vector_entries.make_dense(store.flat)
    lines = store.lines
    values = store.flat.values[: lines.places].reshape(lines.number, lines.stride)[:, : lines.width]
    return values if lines.tall else values.T


def _array_of(x: Any, device: DeviceArg, ndim: int, hint: str) -> tuple[Device, Array, DataType]:
    """An array of another library, in its own memory."""
    if not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"x: expected an array with __dlpack__, got {type(x).__module__}.{type(x).__qualname__}")
    kind, ordinal = x.__dlpack_device__()
    if kind not in _CPU + _GPU:
        raise DeviceError(f"x: expected an array in host memory or on an NVIDIA GPU, got DLPack device {kind}")
    d = devices.get("cpu" if kind in _CPU else f"cuda:{ordinal}") if device is None else device_of(device)
    array = d.adopt(x, "x")
    if not isinstance(array, d.xp.ndarray):
        raise DeviceError(f"x: expected an array on device {d.name!r}, got one in host memory")
    if array.ndim != ndim:
        raise DimensionMismatch(f"x: expected {ndim} dimensions, got {array.ndim}")
    try:
        dtype = lookup_dtype(array.dtype)
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or dtype is BOOL or array.dtype.kind not in "iufc":
        raise InvalidValue(f"x: expected numbers, got {array.dtype}. Hint: {hint} copies")
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise InvalidValue(f"x: expected an array that may be written, got a read-only one. Hint: {hint} copies")
    return d, array, dtype


def shared_vector(x: Any, device: DeviceArg) -> VectorStore:
    """A full vector in the memory of an array."""
    hint = "Vector.from_dense(x)"
    d, array, dtype = _array_of(x, device, 1, hint)
    if not array.flags.c_contiguous:
        raise InvalidValue(f"x: expected a contiguous array, got strides {array.strides} in bytes. Hint: {hint} copies")
    if not len(array):
        return full_vector(d, 0, dtype.np_type.type(0), dtype)
    return VectorStore(d, len(array), dtype, full_bits(d, len(array)), array, len(array))


def shared_matrix(x: Any, device: DeviceArg) -> FlatStore:
    """A full multivector in the memory of an array, whose rows (columns if wide) need no padding."""
    hint = 'Matrix.from_dense(x, format="bitmap")'
    d, array, dtype = _array_of(x, device, 2, hint)
    nrows, ncols = array.shape
    lines = lines_of(nrows, ncols)
    if not array.size or lines.width != lines.stride:
        raise InvalidValue(
            f"x: expected 8, 16, 32 or a multiple of 64 columns (rows, if they are fewer), got shape {array.shape}. "
            f"Hint: {hint} copies"
        )
    by_lines = array if lines.tall else array.T
    if not by_lines.flags.c_contiguous:
        order = "row after row" if lines.tall else "column after column"
        raise InvalidValue(
            f"x: expected a contiguous array, {order}, got strides {array.strides} in bytes. Hint: {hint} copies"
        )
    bits = operations.multivector.valid_bits(operations.ewise_matrix.empty(d, nrows, ncols, dtype))
    return FlatStore(VectorStore(d, lines.places, dtype, bits, by_lines.reshape(-1), lines.places), nrows, ncols)

"""Read and write Binsparse, the exchange format of sparse matrix libraries: HDF5 files, and (experimental) arrays in
memory by `__binsparse__`.

A JSON descriptor names the format (CSR, CSC, DCSR, DCSC, COO, dense, ..), the shape and the types; each array is a
dataset. Files need h5py. Every array is checked before a matrix is made of it.

Binsparse Specification, version 0.1: https://graphblas.org/binsparse-specification/
Python array API, draft of the sparse extension: `__binsparse_descriptor__`, `__binsparse__`, from_binsparse.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import extras
from ..core import Matrix, TransposedMatrix, Vector
from ..exceptions import InvalidValue, OutOfMemory
from ..typing import DTypeLike
from .build import DupOp, MatrixOptions, build, has_one_value
from .files import Input, Output, check_fits, name_of, open_output

NAME, VERSION = "binsparse", "0.1"  # the key of the descriptor
_VERSIONS = re.compile(r"0\.1(\.\d+)?")
_TYPES = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"float32", "float64"}
_WRAPPED = re.compile(r"(?:(iso)\[)?(?:(complex)\[)?(\w+)\]?\]?")
# The arrays of each format of matrices, and whether rows and columns are exchanged.
_COORDINATES = ("indices_0", "indices_1")
_FORMATS: dict[str, tuple[tuple[str, ...], bool]] = {
    "CSR": (("pointers_to_1", "indices_1"), False), "CSC": (("pointers_to_1", "indices_1"), True),
    "DCSR": (("indices_0", "pointers_to_1", "indices_1"), False),
    "DCSC": (("indices_0", "pointers_to_1", "indices_1"), True),
    "COO": (_COORDINATES, False), "COOR": (_COORDINATES, False), "COOC": (_COORDINATES, True),
    "DMAT": ((), False), "DMATR": ((), False), "DMATC": ((), True),
    "CVEC": (("indices_0",), False), "VEC": (("indices_0",), False), "DVEC": ((), False),
}  # fmt: skip
WRITTEN = ("CSR", "CSC", "DCSR", "DCSC", "COO", "COOC")
_STRUCTURES = {f"{kind}_{side}": (kind, side) for kind in ("symmetric", "hermitian", "skew_symmetric")
               for side in ("lower", "upper")}  # fmt: skip


class _Arrays:
    """The arrays of a descriptor, by name, with their types checked. read: an array; shape: without reading it."""

    def __init__(self, header: object, read: Callable[[str], Any], shape: Callable[[str], tuple[int, ...]]) -> None:
        self.header = _checked(header)
        self.read, self.shape = read, shape

    def length(self, name: str) -> int:
        """The number of elements. ValueError unless it is a list."""
        found = self.shape(name)
        if len(found) != 1:
            raise ValueError(f"{name} of shape {found}")
        return int(found[0])

    def integers(self, name: str) -> np.ndarray:
        found = np.asarray(self.read(name))
        if found.dtype.kind not in "iu" or found.ndim != 1:
            raise ValueError(f"{name} of type {found.dtype} and shape {found.shape}")
        base = self.header.get("index_base", 0)
        if found.size and (int(found.min()) < base or int(found.max()) >= 1 << 63):
            raise ValueError(f"{name} with numbers below {base} or from 2^63 on")
        found = found.astype(np.int64, copy=False)
        return found - base if base else found

    def values(self, name: str, count: int) -> np.ndarray:
        """As many values; those of an iso array are one value, repeated."""
        declared = self.header["data_types"].get(name)
        parts = _WRAPPED.fullmatch(declared) if isinstance(declared, str) else None
        if parts is None or (parts[3] not in _TYPES and parts[3] != "bint8"):
            raise ValueError(f"the type {declared!r} of {name}")
        iso, is_complex, kind = parts.groups()
        if is_complex and kind not in ("float32", "float64"):
            raise ValueError(f"the type {declared!r} of {name}")
        stored = (1 if iso else count) * (2 if is_complex else 1)
        if self.length(name) != stored:
            raise ValueError(f"{self.length(name)} numbers as {name}, expected {stored}")
        found = np.asarray(self.read(name))
        want = np.dtype("uint8" if kind == "bint8" else kind)
        if found.dtype.newbyteorder("=") != want and not (kind == "bint8" and found.dtype in (np.int8, np.bool_)):
            raise ValueError(f"{name} of type {found.dtype}, declared as {declared}")
        found = np.ascontiguousarray(found.astype(found.dtype.newbyteorder("="), copy=False))
        if kind == "bint8":
            found = found != 0
        if is_complex:
            found = found.view(np.complex64 if kind == "float32" else np.complex128)
        return np.broadcast_to(found, count) if iso else found


def _checked(header: object) -> dict[str, Any]:
    """A descriptor with all required keys. ValueError."""
    found = header.get(NAME) if isinstance(header, Mapping) else None
    if not isinstance(found, Mapping):
        raise ValueError("no descriptor of Binsparse")
    if not _VERSIONS.fullmatch(str(found.get("version"))):
        raise ValueError(f"version {found.get('version')!r}, expected {VERSION}")
    kind, shape, count = (found.get(key) for key in ("format", "shape", "number_of_stored_values"))
    if kind not in _FORMATS:
        raise ValueError(f"the format {kind!r}, expected one of {', '.join(_FORMATS)}")
    sizes = shape if isinstance(shape, (list, tuple)) else ()
    integer = lambda x: isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 1 << 60
    if len(sizes) != (1 if kind.endswith("VEC") else 2) or not all(map(integer, sizes)) or not integer(count):
        raise ValueError(f"the shape {shape!r} with {count!r} values, for the format {kind}")
    if not isinstance(found.get("data_types"), Mapping):
        raise ValueError("no data types")
    if found.get("structure") not in (None, *_STRUCTURES):
        raise ValueError(f"the structure {found['structure']!r}")
    if found.get("index_base", 0) not in (0, 1):
        raise ValueError(f"the index base {found['index_base']!r}")
    return dict(found)


def _object(place: str, arrays: _Arrays, options: MatrixOptions) -> Matrix | Vector:
    """The Matrix or Vector that the arrays store. ValueError for arrays that do not fit."""
    header = arrays.header
    kind, shape, count = header["format"], tuple(header["shape"]), header["number_of_stored_values"]
    if header.get("fill") and arrays.values("fill_value", 1)[0] != 0:
        raise ValueError("a fill value other than 0, which GraphBLAS does not have")
    parts, swapped = _FORMATS[kind]
    major, *minor = shape[::-1] if swapped else shape
    check_fits(place, shape[0], shape[-1] if len(shape) == 2 else 1, count)
    if not parts:
        if count != math.prod(shape):
            raise ValueError(f"{count} values for a dense array of {shape}")
        ends = (
            [np.repeat(np.arange(major), minor[0]), np.tile(np.arange(minor[0]), major)]
            if minor
            else [np.arange(major)]
        )
    else:
        ends = _ends(arrays, parts, count, major)
    if any(len(end) != count for end in ends):
        raise ValueError(f"{min(map(len, ends))} indices for {count} values")
    values = arrays.values("values", count)
    for end, size in zip(ends, (major, *minor)):
        if len(end) and int(end.max()) >= size:
            raise ValueError(f"the index {int(end.max())} in a dimension of {size}")
    if len(shape) == 1:
        one = values[0] if has_one_value(values) else values
        return Vector.from_coo(ends[0], one, options.dtype or values.dtype, size=shape[0], dup_op=options.dup_op,
                               name=options.name, device=options.device)  # fmt: skip
    rows, cols = ends[::-1] if swapped else ends
    if structure := header.get("structure"):
        rows, cols, values = _both_triangles(*_STRUCTURES[structure], shape, (rows, cols, values))
    dtype = options.dtype or values.dtype
    return build(place, (rows, cols, values), (shape[0], shape[1]), options._replace(dtype=dtype))


def _ends(arrays: _Arrays, parts: tuple[str, ...], count: int, major: int) -> list[np.ndarray]:
    """The indices of the entries, along the first stored dimension and the second one."""
    if "pointers_to_1" not in parts:
        return [arrays.integers(name) for name in parts if arrays.length(name) == count or _wrong(arrays, name, count)]
    if "indices_0" in parts and arrays.length("indices_0") > count:  # each has an entry
        _wrong(arrays, "indices_0", count)
    listed = arrays.integers("indices_0") if "indices_0" in parts else np.arange(major)
    if arrays.length("pointers_to_1") != len(listed) + 1:
        raise ValueError(f"{arrays.length('pointers_to_1')} pointers, expected {len(listed) + 1}")
    ptr = arrays.integers("pointers_to_1")
    if ptr[0] != 0 or ptr[-1] != count or (ptr[1:] < ptr[:-1]).any():
        raise ValueError(f"pointers that do not ascend from 0 to {count}")
    if arrays.length("indices_1") != count:
        _wrong(arrays, "indices_1", count)
    return [np.repeat(listed, np.diff(ptr)), arrays.integers("indices_1")]


def _wrong(arrays: _Arrays, name: str, count: int) -> bool:
    raise ValueError(f"{arrays.length(name)} numbers as {name}, expected {count}")


def _both_triangles(kind: str, side: str, shape: tuple[int, ...], entries: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    """The entries of a matrix of which one triangle is stored."""
    rows, cols, values = entries
    if shape[0] != shape[1]:
        raise ValueError(f"a {kind} structure with shape {shape}")
    if ((rows < cols) if side == "lower" else (rows > cols)).any():
        raise ValueError(f"entries outside of the {side} triangle")
    other = rows != cols
    if kind == "skew_symmetric" and values.dtype.kind not in "ifc":
        raise ValueError(f"a skew-symmetric structure with values of type {values.dtype}")
    mirror = (
        values[other].conj() if kind == "hermitian" else -values[other] if kind == "skew_symmetric" else values[other]
    )
    join = lambda x, y: np.concatenate([x, y])
    return join(rows, cols[other]), join(cols, rows[other]), join(values, mirror)


# ---- Files.


def read_binsparse(
    source: Input,
    *,
    group: str = "/",
    dup_op: DupOp | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Matrix | Vector:
    """Read a Matrix or a Vector from a Binsparse HDF5 file (.bsp.h5), of any predefined format and structure; dense
    ones have an entry everywhere.

    Parameters
    ----------
    source
        A path, or a file open for binary reading.
    group : optional
        Of the HDF5 file. The dtype is that of the file, or ``dtype``.

    Raises
    ------
    OSError
        If the file cannot be opened.
    InvalidValue
        With its name, if it is not such a file, or has arrays that do not fit, a custom format, or a
        fill value other than 0.
    OutOfMemory
    ImportError
        Without h5py.
    """
    h5py = extras.load("h5py", "a Binsparse file")
    place = name_of(source)
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb"):  # OSError with its reason
            pass
    elif not (hasattr(source, "seekable") and source.seekable()):
        data = source.read()
        source = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    options = MatrixOptions(dup_op, dtype, name, device, format, tile, packed)
    try:
        with h5py.File(source, "r") as file:
            at = file[group]
            text = at.attrs[NAME]
            arrays = _Arrays(json.loads(text), lambda key: at[key][()], lambda key: at[key].shape)
            return _object(place, arrays, options)
    except MemoryError as error:
        raise error if isinstance(error, OutOfMemory) else OutOfMemory(f"{place}: {error}") from None
    except InvalidValue:
        raise
    except (OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        words = " ".join(str(error).split()).strip("'\"") or type(error).__name__
        raise InvalidValue(f"{place}: expected a Binsparse file, got {words}") from None


def write_binsparse(
    target: Output, A: Matrix | Vector, *, layout: str = "CSR", group: str = "/", version: str = VERSION
) -> None:
    """Write a Matrix or a Vector (CVEC) as a Binsparse HDF5 file; equal values are stored once.

    Parameters
    ----------
    target
        A path (the file is written atomically) or a file open for binary writing.
    layout : optional
        CSR, CSC, DCSR, DCSC, COO or COOC.
    group : optional
        Of the HDF5 file.
    version : optional
        "0.1", as the specification has it, or "0.1.0", which the package `binsparse` 0.1 requires.

    Raises
    ------
    InvalidValue
        For another layout or version, or values of a user-defined type.
    OSError
        If the file cannot be written.
    ImportError
        Without h5py.
    """
    if not _VERSIONS.fullmatch(version):
        raise InvalidValue(f"version: expected '0.1' or '0.1.0', got {version!r}")
    h5py = extras.load("h5py", "a Binsparse file")
    header, arrays = describe(A, layout)
    header[NAME]["version"] = version
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        at = file.require_group(group)
        for name, array in arrays.items():
            at.create_dataset(name, data=A.device.to_host(array))
        at.attrs[NAME] = json.dumps(header)
    with open_output(target) as stream:
        stream.write(buffer.getvalue())


# ---- Arrays in memory.


def describe(A: Matrix | TransposedMatrix | Vector, layout: str = "CSR") -> tuple[dict[str, Any], dict[str, Any]]:
    """The descriptor of an object, and its arrays on its device. InvalidValue for another layout or values of a
    user-defined type."""
    if layout not in WRITTEN:
        raise InvalidValue(f"layout: expected one of {', '.join(WRITTEN)}, got {layout!r}")
    if A.dtype._is_udt:
        raise InvalidValue(f"expected numbers for Binsparse, got values of {A.dtype}")
    if isinstance(A, Vector):
        layout, (*ends, values) = "CVEC", A.to_coo()
        arrays = {"indices_0": ends[0]}
    elif layout in ("COO", "COOC"):
        i, j, values = A.to_coo() if layout == "COO" else _transposed(A).to_coo()
        arrays = {"indices_0": i, "indices_1": j}
    else:
        of = _transposed(A) if layout.endswith("C") else A
        *ends, values = of.to_dcsr() if layout.startswith("D") else of.to_csr()
        arrays = dict(zip(_FORMATS[layout][0], ends, strict=True))
    count = len(values)
    types = {name: array.dtype.name for name, array in arrays.items()}
    kind = values.dtype.name
    if values.dtype.kind == "b":
        values, kind = values.view(np.uint8), "bint8"
    elif values.dtype.kind == "c":
        values = values.view(np.float32 if values.itemsize == 8 else np.float64)
        kind = f"complex[{values.dtype.name}]"
    if (A if isinstance(A, Vector) else A._matrix)._stored.iso and count:
        values, kind = values[: len(values) // count], f"iso[{kind}]"
    header = {
        "version": VERSION, "format": layout, "shape": list(A.shape), "number_of_stored_values": count,
        "data_types": {**types, "values": kind},
    }  # fmt: skip
    return {NAME: header, "original_source": "bitblas"}, {**arrays, "values": values}


def _transposed(A: Matrix | TransposedMatrix) -> Matrix:
    other = A.T
    return other.new() if isinstance(other, TransposedMatrix) else other


def _on_host(x: Any) -> Any:
    """An array of CuPy is copied to the host, others are left as they are."""
    return x.get() if hasattr(x, "__cuda_array_interface__") and hasattr(x, "get") else x


def from_binsparse(
    x: Any,
    *,
    dup_op: DupOp | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Matrix | Vector:
    """A Matrix or a Vector from an object with `__binsparse__`: experimental, as the protocol is a draft.

    Parameters
    ----------
    x
        Has `__binsparse_descriptor__()`, a descriptor, and `__binsparse__()`, its arrays by name; or
        only `__binsparse__()`, which returns both (PyData Sparse). Arrays are in host memory, or
        CuPy's.

    Raises
    ------
    TypeError
        For another object.
    InvalidValue
        As `read_binsparse`.
    """
    if not hasattr(x, "__binsparse__"):
        raise TypeError(f"x: expected an object with __binsparse__, got {type(x).__module__}.{type(x).__qualname__}")
    if hasattr(x, "__binsparse_descriptor__"):
        header, arrays = x.__binsparse_descriptor__(), x.__binsparse__()
    else:
        header, arrays = x.__binsparse__()
    place = f"{type(x).__module__.partition('.')[0]}.{type(x).__qualname__}"
    try:
        if not isinstance(arrays, Mapping):  # in the order of their types
            arrays = dict(zip(_checked(header)["data_types"], arrays, strict=True))
        named = _Arrays(header, lambda key: _on_host(arrays[key]), lambda key: np.shape(arrays[key]))
        return _object(place, named, MatrixOptions(dup_op, dtype, name, device, format, tile, packed))
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue(f"{place}: expected arrays of Binsparse, got {error}") from None

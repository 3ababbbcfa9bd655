"""Read and write SciPy's .npz files of sparse matrices (scipy.sparse.save_npz, load_npz).

SciPy does not check the sizes that a file declares, so the declared size of every array is checked before it is
unpacked, and nothing is unpickled. SciPy then makes a matrix of the arrays.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np

from ..core import Matrix
from ..exceptions import InvalidValue, OutOfMemory
from ..graph import validation
from ..typing import DTypeLike
from .build import Coordinates, DupOp, Entries, MatrixOptions, build
from .files import DEFLATE_RATIO, Input, Output, check_fits, name_of, open_output
from .libraries import to_scipy_sparse

# ---- Read .npz archives safely: check the declared size of every array before unpacking it.

_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the ones that NumPy writes
_VERSION = (1, 0)  # the header version of arrays without fields: at most 64 KiB long


class Header(NamedTuple):
    """Shape and dtype of an array, before it is read."""

    shape: tuple[int, ...]
    dtype: np.dtype


class Archive:
    """The arrays of a file that is open for binary reading, by name. Nothing is unpickled.

    The methods raise ValueError for an array that is missing or that does not match its header; reading a damaged file
    raises the exceptions of NumPy, zipfile and zlib (`npz.FAULTS`).
    """

    def __init__(self, source: Any) -> None:
        stream = source if source.seekable() else io.BytesIO(source.read())
        self.size = stream.seek(0, io.SEEK_END)
        self._zip = zipfile.ZipFile(stream)
        self._members = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def header(self, name: str) -> Header:
        """The header of an array, checked against the size of its member and the best possible compression."""
        if name not in self._members:
            raise ValueError(f"no array {name!r}")
        member = self._members[name]
        with self._zip.open(member) as stream:
            try:
                if np.lib.format.read_magic(stream) != _VERSION:
                    raise ValueError("an unsupported version of the format")
                shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            except MemoryError:
                raise
            except Exception as error:  # any error of Python's parser on a damaged header
                raise ValueError(f"no array as {name!r}: {error}") from None
            start = stream.tell()
        ratio = 1 if member.compress_type == zipfile.ZIP_STORED else DEFLATE_RATIO
        packed = member.compress_type in _PACKINGS and member.compress_size <= self.size
        if not packed or member.file_size > ratio * member.compress_size:
            raise ValueError(f"{member.file_size} bytes as {name!r}, packed in {member.compress_size}")
        if min(shape, default=0) < 0 or start + dtype.itemsize * math.prod(shape) != member.file_size:
            raise ValueError(f"{member.file_size} bytes as {name!r}, for an array of {shape} and {dtype}")
        return Header(shape, dtype)

    def read(self, name: str) -> np.ndarray:
        """The array, in native byte order."""
        with self._zip.open(self._members[name]) as stream:
            found = np.lib.format.read_array(stream, allow_pickle=False)
        return found.astype(found.dtype.newbyteorder("="), copy=False)


# ---- Read and write SciPy's .npz files of sparse matrices (scipy.sparse.save_npz, load_npz).

_FORMATS = ("csr", "csc", "coo")  # formats that are written
_COMPRESSED = ("indices", "indptr")
DIRECTED = "directed"  # an array of one value, in addition to those of SciPy
_INDICES = {"csr": _COMPRESSED, "csc": _COMPRESSED, "bsr": _COMPRESSED, "coo": ("row", "col"), "dia": ("offsets",)}
# The exceptions of NumPy and zipfile for truncated, damaged or foreign files.
FAULTS = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError, OSError, OverflowError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read_npz(
    source: Input,
    *,
    dup_op: DupOp | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Matrix:
    """Read a Matrix from a file of scipy.sparse.save_npz, in any of its formats; nothing is unpickled.

    Parameters
    ----------
    source
        A path, or a file open for binary reading. The dtype is that of the file, or ``dtype``.
        ``dup_op`` combines duplicate entries.

    Raises
    ------
    OSError
        If the file cannot be opened.
    InvalidValue
        With its name, if it is not such a file or has indices beyond its shape, an unsupported type, or
        duplicates without dup_op.
    OutOfMemory
    """
    return read_with_direction(source, MatrixOptions(dup_op, dtype, name, device, format, tile, packed))[0]


def read_with_direction(source: Input, options: MatrixOptions) -> tuple[Matrix, bool | None]:
    """The Matrix that `read_npz` returns, and whether the file states that the edges are directed; None: not stated, as
    in files of SciPy."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as stream:
            return read_with_direction(stream, options)
    place = name_of(source)
    try:
        with Archive(source) as archive:
            kind, shape = _declared_format(archive)
            headers = {name: archive.header(name) for name in ("data", *_INDICES[kind])}
            count = _count_elements(kind, shape, headers)
            if kind != "dia" and options.dup_op is None and count > shape[0] * shape[1]:
                raise ValueError(
                    f"{count} entries for {shape[0]} x {shape[1]}, hence duplicates. Hint: dup_op combines them"
                )
            check_fits(place, *shape, count)
            entries = _entries(kind, shape, {name: archive.read(name) for name in headers})
            directed = _read_direction(archive)
    except MemoryError as error:
        raise error if isinstance(error, OutOfMemory) else OutOfMemory(f"{place}: {error}") from None
    except FAULTS as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise InvalidValue(f"{place}: expected a matrix saved by scipy.sparse.save_npz, got {words}") from None
    return build(place, entries, shape, options), directed


def _read_direction(archive: Archive) -> bool | None:
    """Whether the edges are directed, which `write_npz` stores in an array that SciPy ignores."""
    if DIRECTED not in archive:
        return None
    header = archive.header(DIRECTED)
    if header.shape != () or header.dtype != np.bool_:
        raise ValueError(f"{DIRECTED} as an array of {header.shape} and {header.dtype}")
    return bool(archive.read(DIRECTED))


def _declared_format(archive: Archive) -> tuple[str, tuple[int, int]]:
    """The format and the shape that a file declares. ValueError if they are invalid."""
    kinds, sizes = archive.header("format"), archive.header("shape")
    if kinds.shape != () or kinds.dtype.kind not in "SU" or kinds.dtype.itemsize > 64:
        raise ValueError(f"the format as an array of {kinds.shape} and {kinds.dtype}")
    kind = archive.read("format").item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
    if kind not in _INDICES:
        raise ValueError(f"the format {kind!r}")
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu":
        raise ValueError(f"the shape as an array of {sizes.shape} and {sizes.dtype}")
    nrows, ncols = archive.read("shape").tolist()
    if min(nrows, ncols) < 0:
        raise ValueError(f"the shape {(nrows, ncols)}")
    return kind, (nrows, ncols)


def _count_elements(kind: str, shape: tuple[int, int], found: dict[str, Header]) -> int:
    """The number of elements, from the headers of the arrays. ValueError if the arrays are inconsistent."""
    values = found["data"]
    if values.dtype.kind not in "biufc" or values.dtype.char in "egG":
        raise ValueError(f"values of type {values.dtype}")
    for name in _INDICES[kind]:
        if found[name].dtype.kind not in "iu":
            raise ValueError(f"{name} of type {found[name].dtype}")
    data = values.shape
    if kind == "coo":
        expected = {"data": 1, "row": data, "col": data}
    elif kind == "dia":
        expected = {"data": 2, "offsets": data[:1]}
    else:
        block = data[1:] if kind == "bsr" else (1, 1)
        if len(block) != 2 or min(block) == 0 or shape[0] % block[0] or shape[1] % block[1]:
            raise ValueError(f"blocks of {block} in a matrix of {shape}")
        majors = shape[1] if kind == "csc" else shape[0] // block[0]
        expected = {"data": 3 if kind == "bsr" else 1, "indices": data[:1], "indptr": (majors + 1,)}
    for name, declared in expected.items():
        got = found[name].shape
        if declared not in (got, len(got)):
            raise ValueError(f"{name} of shape {got}")
    return math.prod(data)


def _entries(kind: str, shape: tuple[int, int], parts: dict[str, np.ndarray]) -> Entries:
    """Rows, columns and values of the arrays of a file. ValueError for indices beyond the shape."""
    from scipy import sparse

    values, *indices = (parts[name] for name in ("data", *_INDICES[kind]))
    if kind == "dia":  # SciPy shortens offsets to 32 bits, so those beyond the shape are dropped before
        inside = (indices[0] > -shape[0]) & (indices[0] < shape[1])
        values, indices = values[inside], [indices[0][inside]]
    indices = [array.astype(np.int64, copy=False) for array in indices]
    if kind == "coo":
        A = sparse.coo_array((values, tuple(indices)), shape=shape)
    elif kind == "dia":
        A = sparse.dia_array((values, *indices), shape=shape)
    else:
        ptr = indices[1]
        if (ptr[1:] < ptr[:-1]).any():  # SciPy's check subtracts them, which may wrap
            raise ValueError("indptr that does not ascend")
        A = getattr(sparse, f"{kind}_array")((values, *indices), shape=shape)
        A.check_format(full_check=True)
    A = A.tocoo(copy=False)
    return A.row, A.col, A.data


def write_npz(
    target: Output, matrix: Coordinates, *, layout: str = "csr", compressed: bool = True, directed: bool | None = None
) -> None:
    """Write a Matrix in the format of scipy.sparse.save_npz; a Vector as `to_scipy_sparse` converts it.

    Parameters
    ----------
    target
        A path (the file is written atomically) or a file open for binary writing.
    layout : optional
        csr, csc or coo.
    directed : optional
        Whether the graph is directed, which `read` restores and SciPy ignores; None: not stated.

    Raises
    ------
    InvalidValue
        For another layout.
    OSError
        If the file cannot be written.
    """
    if layout not in _FORMATS:
        raise InvalidValue(f"layout: expected one of {', '.join(_FORMATS)}, got {layout!r}")
    sparse = to_scipy_sparse(matrix, layout)
    arrays = {name: getattr(sparse, name) for name in _INDICES[layout]}
    arrays |= {"format": layout.encode("ascii"), "shape": sparse.shape, "data": sparse.data, "_is_array": True}
    arrays |= {} if validation.flag("directed", directed) is None else {DIRECTED: directed}
    with open_output(target) as stream:
        (np.savez_compressed if compressed else np.savez)(stream, **arrays)

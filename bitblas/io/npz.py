"""SciPy's .npz files of sparse matrices, in and out: what scipy.sparse.save_npz writes and load_npz reads."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from typing import Any

import numpy as np

from ..exceptions import InvalidValue, OutOfMemory
from .build import build
from .files import check_fits, created, name_of
from .libraries import to_scipy_sparse

_FORMATS = ("csr", "csc", "coo")
# What NumPy, zipfile and SciPy raise for a file that is cut short, changed, or something else.
_FAULTS = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError, OSError, OverflowError, SyntaxError,
    RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read_npz(
    source: Any, *, dup_op: Any = None, name: str | None = None, dtype: Any = None, device: str | None = None,
    format: str | None = None, tile: int | None = None,
    packed: bool | None = None,
) -> Any:  # fmt: skip
    """A Matrix from a file of scipy.sparse.save_npz, in any format that this writes; nothing is unpickled.

    source: a path, or a file open for binary reading. The dtype is that of the file, or ``dtype``. ``dup_op`` joins
    entries that are there twice. Raises OSError if the file cannot be opened; InvalidValue, with its name, if it is no
    such file, has indices beyond its shape, a type that is not here, or an entry twice; OutOfMemory.
    """
    place = name_of(source)
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as stream:
            return read_npz(
                stream, dup_op=dup_op, name=name, dtype=dtype, device=device, format=format, tile=tile, packed=packed
            )  # fmt: skip
    try:
        data = source if source.seekable() else io.BytesIO(source.read())
        with np.load(data, allow_pickle=False) as members:
            if not isinstance(members, np.lib.npyio.NpzFile):
                raise ValueError("one array, not an archive")
            A = _matrix_of({name: members[name] for name in members.files}, place).tocoo()
    except MemoryError as error:
        raise error if isinstance(error, OutOfMemory) else OutOfMemory(f"{place}: {error}") from None
    except _FAULTS as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise InvalidValue(f"{place}: expected a matrix saved by scipy.sparse.save_npz, got {words}") from None
    return build(
        place, A.row, A.col, A.data, A.shape, dup_op=dup_op, dtype=dtype, name=name, device=device,
        format=format, tile=tile, packed=packed,
    )  # fmt: skip


def _matrix_of(parts: dict[str, Any], place: str) -> Any:
    """The scipy.sparse array that the members of an archive describe, checked: load_npz trusts them."""
    import scipy.sparse as sp

    shape = tuple(int(n) for n in parts["shape"])
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"the shape {shape}")
    check_fits(place, *shape)
    for name in ("indices", "indptr", "offsets", "row", "col"):
        if name in parts and parts[name].dtype.kind not in "iu":
            raise ValueError(f"{name} of type {parts[name].dtype}")
    values = parts["data"]
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8 or values.dtype.char == "e":
        raise ValueError(f"values of type {values.dtype}")
    kind = parts["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
    if kind == "coo":
        return sp.coo_array((values, (parts["row"], parts["col"])), shape=shape)
    if kind == "dia":
        return sp.dia_array((values, parts["offsets"]), shape=shape)
    if kind not in ("csr", "csc", "bsr"):
        raise ValueError(f"the format {kind!r}")
    A = getattr(sp, f"{kind}_array")((values, parts["indices"], parts["indptr"]), shape=shape)
    A.check_format(full_check=True)
    return A


def write_npz(target: Any, matrix: Any, *, layout: str = "csr", compressed: bool = True) -> None:
    """Write a Matrix as scipy.sparse.save_npz does, so that load_npz reads it; a Vector as `to_scipy_sparse` gives it.

    target: a path (the file appears whole or not at all) or a file open for binary writing. layout: csr, csc or coo.
    Raises InvalidValue for another layout; OSError if the file cannot be written.
    """
    from scipy.sparse import save_npz

    if layout not in _FORMATS:
        raise InvalidValue(f"layout: expected one of {', '.join(_FORMATS)}, got {layout!r}")
    made = to_scipy_sparse(matrix, layout)
    with created(target) as stream:
        save_npz(stream, made, compressed=compressed)

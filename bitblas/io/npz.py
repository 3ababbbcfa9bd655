"""SciPy's .npz files of sparse matrices, in and out: what scipy.sparse.save_npz writes and load_npz reads."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from typing import Any

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
) -> Any:  # fmt: skip
    """A Matrix from a file of scipy.sparse.save_npz, in any format that this writes; nothing is unpickled.

    source: a path, or a file open for binary reading. The dtype is that of the file, or ``dtype``. ``dup_op`` joins
    entries that are there twice. Raises OSError if the file cannot be opened; InvalidValue, with its name, if it is no
    such file, has indices beyond its shape, a type that is not here, or an entry twice; OutOfMemory.
    """
    import numpy as np
    import scipy.sparse as sp

    place = name_of(source)
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as stream:
            return read_npz(
                stream, dup_op=dup_op, name=name, dtype=dtype, device=device, format=format, tile=tile
            )  # fmt: skip
    try:
        data = source if source.seekable() else io.BytesIO(source.read())
        with np.load(data, allow_pickle=False) as members:
            if not isinstance(members, np.lib.npyio.NpzFile):
                raise ValueError("one array, not an archive")
            shape = [int(n) for n in members["shape"]]
        if len(shape) != 2 or min(shape) < 0:
            raise ValueError(f"the shape {shape}")
        check_fits(place, shape[0], shape[1])
        data.seek(0)
        A = sp.load_npz(data)
        if A.format in ("csr", "csc", "bsr"):
            A.check_format(full_check=True)
        if A.dtype.kind not in "biuf" or A.dtype.itemsize > 8 or A.dtype == np.float16:
            raise ValueError(f"values of type {A.dtype}")
        A = A.tocoo()
        if len(A.row) and (min(A.row.min(), A.col.min()) < 0 or A.row.max() >= shape[0] or A.col.max() >= shape[1]):
            raise ValueError("an index beyond its shape")
    except MemoryError as error:
        raise error if isinstance(error, OutOfMemory) else OutOfMemory(f"{place}: {error}") from None
    except _FAULTS as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise InvalidValue(f"{place}: expected a matrix saved by scipy.sparse.save_npz, got {words}") from None
    return build(
        place, A.row, A.col, A.data, (shape[0], shape[1]), first=0, dup_op=dup_op, dtype=dtype, name=name,
        device=device, format=format, tile=tile,
    )  # fmt: skip


def write_npz(target: Any, matrix: Any, *, layout: str = "csr", compressed: bool = True) -> None:
    """Write a Matrix, or a Vector as one row, as scipy.sparse.save_npz does, so that load_npz reads it.

    target: a path (the file appears whole or not at all) or a file open for binary writing. layout: csr, csc or coo.
    Raises InvalidValue for another layout; OSError if the file cannot be written.
    """
    from scipy.sparse import save_npz

    if layout not in _FORMATS:
        raise InvalidValue(f"layout: expected one of {', '.join(_FORMATS)}, got {layout!r}")
    made = to_scipy_sparse(matrix, layout)
    with created(target) as stream:
        save_npz(stream, made, compressed=compressed)

"""Matrices in and out: Matrix Market, scipy.sparse, python-graphblas.

Vertices count from 0 here, and from 1 in Matrix Market files. SciPy and python-graphblas are imported by the functions
that need them.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from . import matrixmarket
from .exceptions import GraphblasException, InvalidValue

__all__ = ["from_graphblas", "from_scipy_sparse", "mmread", "mmwrite", "to_graphblas", "to_scipy_sparse"]

_SCIPY_FORMATS = ("bsr", "csr", "csc", "coo", "lil", "dia", "dok")


def mmread(
    source: Any,
    *,
    dup_op: Any = None,
    dtype: Any = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
) -> Any:
    """Read a Matrix Market file into a Matrix.

    source: a path (plain, gzip or bzip2) or an open file, binary or text. Coordinate and array; real, integer and
    pattern; general, symmetric and skew-symmetric (these are expanded).

    The dtype is BOOL, with one value for all entries, for a pattern; INT64 for integer and FP64 for real; or
    ``dtype``. Explicit zeros are entries, and so is every element of an array file. An entry that is there twice
    counts once in a pattern; where it has a value, ``dup_op`` must say how to join the two (``binary.plus`` for
    finite elements), as in python-graphblas. ``device``, ``format`` and ``tile`` are those of ``Matrix.from_coo``.

    Raises OSError if the file cannot be opened; InvalidValue, with file and line, if it is not what Matrix Market
    says, if it is complex, or for an entry given twice; OutOfMemory.
    """
    import bitblas as gb

    head, rows, cols, values = matrixmarket.read(source)
    pattern = head.field == "pattern"
    try:
        return gb.Matrix.from_coo(
            rows, cols, True if pattern else values, dtype, nrows=head.nrows, ncols=head.ncols,
            dup_op=None if pattern else dup_op, device=device, format=format, tile=tile,
        )  # fmt: skip
    except (ValueError, GraphblasException):
        twice = None if pattern or dup_op is not None else _first_duplicate(rows, cols)
        if twice is None:
            raise
        name = matrixmarket.name_of(source)
        raise InvalidValue(
            f"{name}: expected every entry once, got row {twice[0] + 1}, column {twice[1] + 1} twice; "
            "dup_op says how to join them"
        ) from None


def mmwrite(target: Any, A: Any, *, comment: str = "") -> None:
    """Write a Matrix, or a Vector as one column, as a Matrix Market coordinate file.

    target: a path (``.gz`` is compressed; the file appears whole or not at all) or a file open for binary writing.
    BOOL becomes a pattern, or integers 0 and 1 if an entry is False; integers stay, floats are written so that they
    read back the same. Explicit zeros are written. The dtype itself is not: read with ``mmread(..., dtype=)``.

    Raises OSError if the file cannot be written.
    """
    from scipy.io import mmwrite as write
    from scipy.sparse import coo_array

    rows, cols, values, shape = _coo(A)
    field = "real"
    if values.dtype == np.bool_:
        field = "pattern" if values.all() else "integer"
    elif values.dtype.kind in "iu":
        field = "integer"
    if field == "pattern":
        values = values.astype(np.float64)
    elif field == "integer" and (values.dtype != np.uint64 or not (values >> np.uint64(63)).any()):
        values = values.astype(np.int64)
    matrix = coo_array((values, (_index(rows), _index(cols))), shape=shape)
    kind = None if values.dtype == np.uint64 else field  # SciPy then writes its own word, unsigned-integer
    if hasattr(target, "write"):
        write(target, matrix, comment=comment, field=kind, symmetry="general")
        return
    with replacing(target) as stream:
        if os.fspath(target).endswith(".gz"):
            with gzip.open(stream, "wb") as packed:
                write(packed, matrix, comment=comment, field=kind, symmetry="general")
        else:
            write(stream, matrix, comment=comment, field=kind, symmetry="general")


def from_scipy_sparse(
    A: Any,
    *,
    dup_op: Any = None,
    name: str | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
) -> Any:
    """A Matrix from a scipy.sparse array or matrix of any format, of the same dtype; explicit zeros are entries.

    Where all values are equal the Matrix holds one value. ``dup_op`` joins entries that are there twice; without it
    they raise. DomainMismatch or TypeError for a dtype that GraphBLAS has not here (complex).
    """
    import bitblas as gb

    nrows, ncols = A.shape
    canonical = A.format in ("csr", "csc") and A.has_canonical_format
    coo = A.tocoo()
    values = coo.data
    if canonical and _one_value(values):
        values, dup_op = values[0], None
    more = {} if name is None else {"name": name}
    return gb.Matrix.from_coo(
        coo.row, coo.col, values, A.dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, device=device, format=format,
        tile=tile, **more,
    )  # fmt: skip


def to_scipy_sparse(A: Any, format: str = "csr") -> Any:
    """A scipy.sparse array of the same shape and dtype, in host memory; explicit zeros stay. A Vector gives one row.

    format: bsr, csr, csc, coo, lil, dia or dok; ValueError for another.
    """
    from scipy.sparse import coo_array

    format = format.lower()
    if format not in _SCIPY_FORMATS:
        raise ValueError(f"format: expected one of {', '.join(_SCIPY_FORMATS)}, got {format!r}")
    rows, cols, values, shape = _coo(A)
    if len(shape) == 2 and not hasattr(A, "nrows"):
        rows, cols, shape = cols, rows, shape[::-1]
    return coo_array((values, (_index(rows), _index(cols))), shape=shape).asformat(format)


def from_graphblas(M: Any, *, device: str | None = None, format: str | None = None, tile: int | None = None) -> Any:
    """A Matrix or Vector from a python-graphblas one, of the same dtype; an iso-valued one stays so.

    DomainMismatch or TypeError for a dtype that there is not here (complex, user-defined).
    """
    import bitblas as gb

    *indices, values = M.to_coo()
    dtype = str(M.dtype)
    if len(values) and _one_value(values):
        values = values[0]
    if len(indices) == 1:
        return gb.Vector.from_coo(indices[0], values, dtype, size=M.size, device=device)
    rows, cols = indices
    return gb.Matrix.from_coo(
        rows, cols, values, dtype, nrows=M.nrows, ncols=M.ncols, device=device, format=format, tile=tile
    )


def to_graphblas(A: Any) -> Any:
    """A python-graphblas Matrix or Vector, of the same dtype; iso-valued where all values are equal.

    ImportError where python-graphblas is not installed.
    """
    import graphblas

    *indices, values = host_coo(A)
    dtype = str(A.dtype)
    if len(values) and _one_value(values):
        values = values[0]
    if len(indices) == 1:
        return graphblas.Vector.from_coo(*indices, values, dtype, size=A.size)
    return graphblas.Matrix.from_coo(*indices, values, dtype, nrows=A.nrows, ncols=A.ncols)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name when the block ends well, and leaves no trace when it does not."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as stream:  # a device or a pipe
            yield stream
        return
    part = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.{os.getpid()}.part")
    try:
        with open(part, "wb") as stream:
            yield stream
        os.replace(part, target)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        if os.path.exists(part):
            os.unlink(part)


def host_coo(A: Any) -> tuple[np.ndarray, ...]:
    """`A.to_coo()` as NumPy arrays, wherever A is. Objects of python-graphblas will do too."""
    arrays = A.to_coo()
    return tuple(map(A.device.to_host, arrays)) if hasattr(A, "device") else tuple(arrays)


def _coo(A: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Rows, columns, values, shape; a Vector is one column."""
    *indices, values = host_coo(A)
    if len(indices) == 1:
        return indices[0], np.zeros(len(values), np.int64), values, (A.size, 1)
    return indices[0], indices[1], values, (A.nrows, A.ncols)


def _index(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype(np.int64, copy=False)


def _one_value(values: np.ndarray) -> bool:
    """All of the same bits: NaN counts as one value, 0.0 and -0.0 as two."""
    if not len(values):
        return False
    raw = np.ascontiguousarray(values)
    if raw.dtype.itemsize <= 8 and raw.dtype.kind in "biuf":
        raw = raw.view(f"u{raw.dtype.itemsize}")
    return bool((raw == raw[0]).all())


def _first_duplicate(rows: np.ndarray, cols: np.ndarray) -> tuple[int, int] | None:
    order = np.lexsort((cols, rows))
    rows, cols = rows[order], cols[order]
    same = np.flatnonzero((rows[1:] == rows[:-1]) & (cols[1:] == cols[:-1]))
    return (int(rows[same[0]]), int(cols[same[0]])) if len(same) else None

"""Build matrices from arrays, lists, dicts and chunks of entries. GraphBLAS C API 2.1, section 4.2.5 (build).

`indptr` and the `minor` indices are those of rows (CSR) or of columns (CSC); the D in DCSR and DCSC lists only those
rows or columns that have entries, `major`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from semirings import dtypes

from ... import operations, tuning
from ...device import Device
from ...exceptions import IndexOutOfBound, InvalidObject, InvalidValue, OutputNotEmpty
from ...formats.csr.layout import are_pointers, find_row_faults, index_type, numbers_of
from ...store import FlatStore
from ..building import alike, check_distinct, check_lengths, dense_values, duplicates, one_value
from ..convert import (
    OF_PYTHON,
    check_range,
    check_size,
    check_symmetric,
    device_of,
    entry_array,
    index_array,
    keys_of,
    value_array,
)
from ..hooks import SymbolicArray, late
from ..hooks import state as recording
from ..options import StorageOptions, check_options, check_storage_options
from .read import is_columnwise
from .stored import StoredMatrix

if TYPE_CHECKING:
    from typing_extensions import Self

    from semirings import DataType

    from ..typing import (
        Array,
        DeviceArg,
        DTypeArg,
        IndicesLike,
        OperandArg,
        OperandLike,
        OperatorArg,
        SizeArg,
        ValuesLike,
    )
    from .matrix import Matrix


def fault_of_pointers(entries: int) -> InvalidValue:
    """The error for invalid pointers."""
    return InvalidValue(f"indptr: expected 0 <= ... <= {entries} (the number of indices), ascending")


# ---- Build matrices from chunks of entries, for inputs that do not fit in memory together with the result.

Entries = tuple[Any, Any, Any]  # rows, columns, values (None: there are no values)


class Chunks:
    """Chunks as arrays of a device; they can be read repeatedly."""

    def __init__(self, source: Any, device: Device, dtype: DTypeArg) -> None:
        self.source, self.device = source, device
        self.dtype = None if dtype is None else dtypes.lookup_dtype(dtype)
        self.found: np.dtype | None = None  # the NumPy type that holds the values of all chunks so far
        self.parts = 0  # number of arrays in a chunk: 2 or 3
        self.kept: list[Entries] | None = None if callable(source) or iter(source) is not source else []

    def first(self) -> Iterator[Entries]:
        """All chunks; those that cannot be read again are kept, in narrow types."""
        for entries in self._read():
            if self.kept is not None:
                narrow = [x.astype(index_type(int(x.max()) + 1 if len(x) else 0)) for x in entries[:2]]
                values = entries[2].copy() if entries[2] is not None else None
                self.kept.append((*narrow, values))
            yield entries

    def again(self) -> Iterator[Entries]:
        """All chunks once more, with values in the common type."""
        for i, j, x in self._read() if self.kept is None else self.kept:
            yield i.astype(np.int64, copy=False), j.astype(np.int64, copy=False), self._as_one(x)

    def _as_one(self, x: Array | None) -> Array | None:
        return None if x is None else x.astype(self.value_type.np_type, copy=False)

    @property
    def value_type(self) -> DataType:
        """The common type of all values, after all chunks were read."""
        declared = getattr(self.source, "value_dtype", None)
        return self.dtype or dtypes.lookup_dtype(self.found if declared is None else declared)

    def _read(self) -> Iterator[Entries]:
        for chunk in self.source() if callable(self.source) else self.source:
            arrays = tuple(chunk)
            if len(arrays) not in (2, 3) or self.parts not in (0, len(arrays)):
                expected = self.parts or "2 or 3 (rows, columns and, if there are any, values)"
                raise ValueError(f"chunks: expected {expected} arrays in each, got {len(arrays)}")
            self.parts = len(arrays)
            i, j = index_array(self.device, arrays[0], "rows"), index_array(self.device, arrays[1], "columns")
            x = None
            if len(arrays) == 3:
                x, kind = value_array(self.device, arrays[2], self.dtype)
                x = self.device.full(len(i), x) if isinstance(x, np.generic) else x
                self.found = kind.np_type if self.found is None else np.result_type(self.found, kind.np_type)
            check_lengths(np.bool_(True) if x is None else x, i, j)
            yield i, j, x


def _sizes(sizes: list[int | None], chunks: Any) -> tuple[int | None, int | None]:
    """Rows and columns, as far as they are known now: as given, else as the chunks report."""
    shape: tuple[int | None, ...] = getattr(chunks, "shape", ())
    rows, cols = shape if len(shape) == 2 else (None, None)
    return rows if sizes[0] is None else sizes[0], cols if sizes[1] is None else sizes[1]


# ---- Build matrices from arrays and lists. GraphBLAS C API 2.1, section 4.2.5 (build).


class BeyondRows(IndexOutOfBound, InvalidObject):
    """Columns beyond the matrix: both errors that SuiteSparse raises for it, a bad index and an invalid object."""


def _limit(indices: Array, size: SizeArg, name: str) -> int:
    if size is not None:
        return check_size(name, size)
    if not len(indices):
        raise ValueError(f"{name}: expected a size, because there are no indices, got None")
    return int(indices.max()) + 1


class MatrixBuild(StoredMatrix):
    """The constructors of Matrix, and `build`.

    format: "auto" (the planner chooses), "csr", "mplg", "nib", "cgr", "cr2", "hyper", or "b2sr" or "split" with the
    `tile`; a "split" without one uses the tile size of the fewest bytes. packed: see `Matrix`.
    """

    __slots__ = ()

    @classmethod
    def from_coo(
        cls,
        rows: IndicesLike,
        columns: IndicesLike,
        values: ValuesLike = 1.0,
        dtype: DTypeArg = None,
        *,
        nrows: SizeArg = None,
        ncols: SizeArg = None,
        dup_op: OperatorArg = None,
        name: str | None = None,
        device: DeviceArg = None,
        format: str | None = None,
        tile: int | None = None,
        packed: bool | None = None,
        symmetric: bool = False,
    ) -> Self:
        """A Matrix with values[k] at (rows[k], columns[k]).

        Parameters
        ----------
        rows, columns : list or array of int
            Of the same length.
        values : list, array or scalar, optional
            As many, or one scalar for all entries, which is then stored once (duplicates are merged).
        dtype : optional
            Of the Matrix; that of the values if not given.
        nrows, ncols : int, optional
            One more than the largest index if not given.
        dup_op : BinaryOp, Monoid or str, optional
            Combines the values of duplicates, in their order.
        name : str, optional
            Shown when the Matrix is printed.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.
        format, tile, packed : optional
            How it is stored; chosen for the graph if not given.
        symmetric : bool, optional
            For each (i, j) there is a (j, i), whatever the values: this is checked in one pass.

        Returns
        -------
        Matrix
            Of nrows x ncols.

        Raises
        ------
        ValueError
            Duplicates without `dup_op`; different lengths; float indices; an unknown `device`.
        InvalidValue
            Not symmetric, with `symmetric=True`.
        IndexOutOfBound
            An index is negative, or beyond nrows or ncols.
        DeviceError
            The device is not available.
        OutOfMemory
            It does not fit.

        Examples
        --------
        >>> Matrix.from_coo([0, 1], [1, 0], [3.5, 5]).to_dicts()
        {0: {1: 3.5}, 1: {0: 5.0}}
        """
        if type(rows) is SymbolicArray or type(columns) is SymbolicArray:
            symbolic: Self = recording.recorder.map_built(rows, columns, values, dtype, (nrows, ncols), name)
            return symbolic
        layout = check_storage_options(format, tile, packed)
        d = device_of(device)
        i, j = index_array(d, rows, "rows", narrow=True), index_array(d, columns, "columns", narrow=True)
        array, dtype = entry_array(d, values, dtype)
        check_lengths(array, i, j)
        nrows, ncols = _limit(i, nrows, "nrows"), _limit(j, ncols, "ncols")
        ready = operations.build.in_order(d, nrows, ncols, i, j, array)
        if ready is None:
            check_range(i, nrows, "rows")
            check_range(j, ncols, "columns")
        dup = duplicates(dup_op, array, dtype, d)
        with d.guard:
            found = alike(d, array, dup)
            entries = operations.build.Entries(d, nrows, ncols, i, j, found, dtype, dup)
            store = operations.build.from_coo(entries, format=layout.format, tile=tile, ready=ready)
            if found is not array:
                check_distinct(store.nvals, len(i))
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    @classmethod
    def _from_rows(
        cls,
        d: Device,
        ptr: Array,
        cols: Array,
        values: ValuesLike,
        dtype: DTypeArg,
        nrows: int,
        ncols: SizeArg,
        *,
        dup_op: OperatorArg = None,
        name: str | None = None,
        format: str | None = None,
        tile: int | None = None,
        packed: bool | None = None,
        symmetric: bool = False,
    ) -> Self:
        """From row pointers and columns on device d. Raises InvalidValue for invalid pointers, BeyondRows for invalid
        columns."""
        layout = check_storage_options(format, tile, packed)
        array, dtype = entry_array(d, values, dtype)
        check_lengths(array, cols)
        ncols = _limit(cols, ncols, "ncols")
        with d.guard:
            wrong = find_row_faults(d, ptr, cols, ncols)
        if wrong.pointers:
            raise fault_of_pointers(len(cols))
        if wrong.columns:
            try:
                check_range(cols, ncols, "columns")
            except IndexOutOfBound as error:
                raise BeyondRows(str(error)) from None
        dup = duplicates(dup_op, array, dtype, d)
        with d.guard:
            entries = operations.build.Entries(d, nrows, ncols, ptr, cols, array, dtype, dup)
            store = operations.build.from_csr(entries, ptr, not wrong.order, format=layout.format, tile=tile)
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    @classmethod
    def from_scalar(
        cls,
        value: OperandLike,
        nrows: SupportsIndex,
        ncols: SupportsIndex,
        dtype: DTypeArg = None,
        *,
        name: str | None = None,
        device: DeviceArg = None,
        **opts: object,
    ) -> Self:
        """A Matrix with the same value at every position.

        Parameters
        ----------
        value : scalar
            Of every entry.
        nrows, ncols : int
            The shape.
        dtype : optional
            Of the Matrix; that of the value if not given.
        name : str, optional
            Shown when the Matrix is printed.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.

        Returns
        -------
        Matrix
            Full, of nrows x ncols.

        Raises
        ------
        TypeError
            `value` is no scalar, or a size no integer.
        InvalidValue
            A size is below 0.
        DeviceError
            The device is not available.
        """
        check_options(opts)
        one, kind = one_value(value, dtype)
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        d = device_of(device)
        with d.guard:
            return cls._from_store(operations.assign_extract.full(d, *shape, one, kind), name)

    @classmethod
    def from_dense(
        cls,
        values: ValuesLike,
        missing_value: OperandArg = None,
        *,
        dtype: DTypeArg = None,
        name: str | None = None,
        device: DeviceArg = None,
        format: str | None = None,
        tile: int | None = None,
        packed: bool | None = None,
        symmetric: bool = False,
        **opts: object,
    ) -> Self:
        """A Matrix of the elements of a two-dimensional array.

        Parameters
        ----------
        values : array
            Of nrows x ncols; anything that NumPy or the device reads.
        missing_value : scalar, optional
            Elements equal to it become no entry; every element is an entry if not given.
        dtype : optional
            Of the Matrix; that of the array if not given.
        name : str, optional
            Shown when the Matrix is printed.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.
        format, tile, packed : optional
            How it is stored; chosen for the graph if not given.
        symmetric : bool, optional
            For each (i, j) there is a (j, i), whatever the values: this is checked.

        Returns
        -------
        Matrix
            Of the array's shape.

        Raises
        ------
        ValueError
            Not two-dimensional; an unknown `device`.
        InvalidValue
            Not symmetric, with `symmetric=True`.
        DeviceError
            The device is not available.

        Examples
        --------
        >>> Matrix.from_dense([[0, 5], [3, 0]], missing_value=0).to_dicts()
        {0: {1: 5}, 1: {0: 3}}
        """
        check_options(opts)
        layout = check_storage_options(format, tile, packed)
        d = device_of(device)
        array, dtype = dense_values(d, values, dtype, cls)
        with d.guard:
            flat, keys = array.reshape(-1).copy(), d.xp.arange(array.size, dtype=np.int64)
            if missing_value is not None:
                keep = flat != missing_value
                flat, keys = flat[keep], keys[keep]
            nrows, ncols = array.shape
            store = operations.build.from_sorted_keys(
                d, nrows, ncols, keys, flat, dtype, format=layout.format, tile=tile
            )
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    # ---- from CSR, CSC, DCSR and DCSC arrays, edges, nested dicts, chunks. All take `device`, `format`, `tile`,
    # `packed` and `symmetric` of `from_coo` too. Sizes that are not given are one more than the largest index, 0
    # without indices. Raise InvalidValue for pointers or sizes that do not fit, and the errors of `from_coo`.

    @classmethod
    def _from_compressed(
        cls,
        major: IndicesLike | None,
        indptr: IndicesLike,
        minor: IndicesLike,
        values: ValuesLike,
        dtype: DTypeArg,
        nmajor: SizeArg,
        nminor: SizeArg,
        columns: bool,
        device: DeviceArg,
        more: dict[str, Any],
    ) -> Self:
        d = device_of(device)
        j = index_array(d, minor, "row_indices" if columns else "col_indices", narrow=True)
        ptr = index_array(d, indptr, "indptr", narrow=True)
        rows = major is None and not columns
        if not len(ptr) or (not rows and not are_pointers(ptr, len(j))):  # for rows, all checks run together later
            raise fault_of_pointers(len(j))
        if nminor is None and not len(j):
            nminor = 0
        name = "ncols" if columns else "nrows"
        if major is None:
            if nmajor is not None and check_size(name, nmajor) != len(ptr) - 1:
                raise InvalidValue(f"{name}: expected {len(ptr) - 1}, one less than the length of indptr, got {nmajor}")
            nmajor = len(ptr) - 1
            if rows:
                return cls._from_rows(d, ptr, j, values, dtype, nmajor, nminor, **more)
        i = numbers_of(ptr, len(j), d)
        if major is not None:
            major = index_array(d, major, "compressed_cols" if columns else "compressed_rows")
            if len(major) != len(ptr) - 1:
                raise InvalidValue(f"indptr: expected {len(major) + 1} of them, one more than indices, got {len(ptr)}")
            if nmajor is None:  # a listed row counts even without entries
                nmajor = int(major.max()) + 1 if len(major) else 0
            i = major[i]
        ij, shape = ((j, i), (nminor, nmajor)) if columns else ((i, j), (nmajor, nminor))
        return cls.from_coo(*ij, values, dtype, nrows=shape[0], ncols=shape[1], device=d, **more)

    @classmethod
    def from_csr(
        cls,
        indptr: IndicesLike,
        col_indices: IndicesLike,
        values: ValuesLike = 1.0,
        dtype: DTypeArg = None,
        *,
        nrows: SizeArg = None,
        ncols: SizeArg = None,
        device: DeviceArg = None,
        **more: Any,
    ) -> Self:
        """A Matrix whose row i has columns col_indices[indptr[i]:indptr[i + 1]], in any order.

        Parameters
        ----------
        indptr : array of int
            Of nrows + 1 positions in `col_indices`, ascending from 0.
        col_indices : array of int
            The column of each entry.
        values : list, array or scalar, optional
            As many, or one scalar for all entries.
        dtype : optional
            Of the Matrix; that of the values if not given.
        nrows : int, optional
            As `indptr` says; another number is an error.
        ncols : int, optional
            One more than the largest index if not given.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.
        more : optional
            dup_op, name, format, tile, packed and symmetric of `from_coo`.

        Returns
        -------
        Matrix
            Of nrows x ncols.

        Raises
        ------
        InvalidValue
            Pointers or sizes that do not fit.
        ValueError
            Duplicates without `dup_op`; different lengths; float indices.
        IndexOutOfBound
            An index is negative or beyond ncols.

        Examples
        --------
        >>> Matrix.from_csr([0, 1, 2], [1, 0], [5, 3]).to_dicts()
        {0: {1: 5}, 1: {0: 3}}
        """
        return cls._from_compressed(None, indptr, col_indices, values, dtype, nrows, ncols, False, device, more)

    @classmethod
    def from_csc(
        cls,
        indptr: IndicesLike,
        row_indices: IndicesLike,
        values: ValuesLike = 1.0,
        dtype: DTypeArg = None,
        *,
        nrows: SizeArg = None,
        ncols: SizeArg = None,
        device: DeviceArg = None,
        **more: Any,
    ) -> Self:
        """A Matrix whose column j has rows row_indices[indptr[j]:indptr[j + 1]], in any order.

        Parameters
        ----------
        indptr : array of int
            Of ncols + 1 positions in `row_indices`, ascending from 0.
        row_indices : array of int
            The row of each entry.
        values : list, array or scalar, optional
            As many, or one scalar for all entries.
        dtype : optional
            Of the Matrix; that of the values if not given.
        nrows : int, optional
            One more than the largest index if not given.
        ncols : int, optional
            As `indptr` says; another number is an error.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.
        more : optional
            dup_op, name, format, tile, packed and symmetric of `from_coo`.

        Returns
        -------
        Matrix
            Of nrows x ncols.

        Raises
        ------
        InvalidValue
            Pointers or sizes that do not fit.
        ValueError
            Duplicates without `dup_op`; different lengths; float indices.
        IndexOutOfBound
            An index is negative or beyond nrows.
        """
        return cls._from_compressed(None, indptr, row_indices, values, dtype, ncols, nrows, True, device, more)

    @classmethod
    def from_dcsr(
        cls,
        compressed_rows: IndicesLike,
        indptr: IndicesLike,
        col_indices: IndicesLike,
        values: ValuesLike = 1.0,
        dtype: DTypeArg = None,
        *,
        nrows: SizeArg = None,
        ncols: SizeArg = None,
        device: DeviceArg = None,
        **more: Any,
    ) -> Self:
        """A Matrix whose row compressed_rows[k] has columns col_indices[indptr[k]:indptr[k + 1]].

        Parameters
        ----------
        compressed_rows : array of int
            The rows that have entries.
        indptr : array of int
            As many positions in `col_indices` and one more, ascending from 0.
        col_indices : array of int
            The column of each entry.
        values : list, array or scalar, optional
            As many, or one scalar for all entries.
        dtype : optional
            Of the Matrix; that of the values if not given.
        nrows, ncols : int, optional
            One more than the largest index if not given.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.
        more : optional
            dup_op, name, format, tile, packed and symmetric of `from_coo`.

        Returns
        -------
        Matrix
            Of nrows x ncols.

        Raises
        ------
        InvalidValue
            Pointers or sizes that do not fit.
        ValueError
            Duplicates without `dup_op`; different lengths; float indices.
        IndexOutOfBound
            An index is negative or beyond the size.
        """
        args = compressed_rows, indptr, col_indices, values, dtype, nrows, ncols, False, device, more
        return cls._from_compressed(*args)

    @classmethod
    def from_dcsc(
        cls,
        compressed_cols: IndicesLike,
        indptr: IndicesLike,
        row_indices: IndicesLike,
        values: ValuesLike = 1.0,
        dtype: DTypeArg = None,
        *,
        nrows: SizeArg = None,
        ncols: SizeArg = None,
        device: DeviceArg = None,
        **more: Any,
    ) -> Self:
        """A Matrix whose column compressed_cols[k] has rows row_indices[indptr[k]:indptr[k + 1]].

        Parameters
        ----------
        compressed_cols : array of int
            The columns that have entries.
        indptr : array of int
            As many positions in `row_indices` and one more, ascending from 0.
        row_indices : array of int
            The row of each entry.
        values : list, array or scalar, optional
            As many, or one scalar for all entries.
        dtype : optional
            Of the Matrix; that of the values if not given.
        nrows, ncols : int, optional
            One more than the largest index if not given.
        device : str, optional
            "cpu", "cuda" or "cuda:1"; the default device if not given.
        more : optional
            dup_op, name, format, tile, packed and symmetric of `from_coo`.

        Returns
        -------
        Matrix
            Of nrows x ncols.

        Raises
        ------
        InvalidValue
            Pointers or sizes that do not fit.
        ValueError
            Duplicates without `dup_op`; different lengths; float indices.
        IndexOutOfBound
            An index is negative or beyond the size.
        """
        args = compressed_cols, indptr, row_indices, values, dtype, ncols, nrows, True, device, more
        return cls._from_compressed(*args)

    @classmethod
    def from_edgelist(
        cls, edgelist: Any, values: ValuesLike | None = None, dtype: DTypeArg = None, **more: Any
    ) -> Self:
        """A Matrix of edges in one object.

        Parameters
        ----------
        edgelist : list, array or data frame
            (row, column) or (row, column, value) tuples; an array of shape (nvals, 2); two or three columns of
            pandas or polars.
        values : list, array or scalar, optional
            As in `from_coo`, if the edges have none.
        dtype : optional
            Of the Matrix; that of the values if not given.
        more : optional
            nrows, ncols, dup_op, device and the others of `from_coo`.

        Returns
        -------
        Matrix
            Of nrows x ncols.

        Raises
        ------
        ValueError
            Another shape; and those of `from_coo`.
        TypeError
            Two sources of values.

        Examples
        --------
        >>> Matrix.from_edgelist([(0, 1, 5), (1, 0, 3)]).to_dicts()
        {0: {1: 5}, 1: {0: 3}}
        """
        if hasattr(edgelist, "columns"):
            parts = [edgelist[name] for name in edgelist.columns]
            if len(parts) not in (2, 3):
                raise ValueError(f"edgelist: expected two or three columns, got {len(parts)}")
            rows, cols, found = parts if len(parts) == 3 else (*parts, None)
        elif hasattr(edgelist, "ndim"):
            if edgelist.ndim != 2 or edgelist.shape[1] != 2:
                raise ValueError(f"edgelist: expected an array of shape (nvals, 2), got {edgelist.shape}")
            rows, cols, found = edgelist[:, 0], edgelist[:, 1], None
        else:
            parts = list(zip(*edgelist, strict=True))
            if len(parts) not in (0, 2, 3):
                raise ValueError(f"edgelist: expected two or three elements in each item, got {len(parts)}")
            rows, cols = (list(part) for part in parts[:2]) if parts else ([], [])
            found = list(parts[2]) if len(parts) == 3 else None
        if values is not None and found is not None:
            raise TypeError("values: expected one source of values, got the triples of `edgelist` and `values`")
        values = found if values is None else values
        return cls.from_coo(rows, cols, 1.0 if values is None else values, dtype, **more)

    @classmethod
    def from_dlpack(cls, x: Any, *, name: str | None = None, device: DeviceArg = None) -> Self:
        """A full multivector (format "bitmap") in the memory of a two-dimensional array of numbers of any library
        (`__dlpack__`), such as a tensor of features, on its device: nothing is copied. The memory is shared: do not
        write to the array while the Matrix is used.

        Parameters
        ----------
        x : array or tensor
            Of two dimensions, contiguous and writable; BOOL is stored as bits and cannot be shared.
        name : str, optional
            Shown when the Matrix is printed.
        device : str, optional
            That of the array if not given; another one is an error.

        Returns
        -------
        Matrix
            Full.

        Raises
        ------
        TypeError
            No such array.
        DimensionMismatch
        InvalidValue
            Another shape, BOOL, not contiguous, read-only; `from_dense` copies.
        DeviceError

        Notes
        -----
        The array is contiguous and has 8, 16, 32 or a multiple of 64 columns, and at least as many rows; or
        is the transpose of such an array.
        """
        from ..dlpack import shared_matrix

        return cls._from_store(shared_matrix(x, device), name, StorageOptions("bitmap"))

    def __dlpack__(self, **how: Any) -> Any:
        """The values of a full multivector for `torch.from_dlpack` and the like, without a copy. BufferError for other
        formats, if an entry is missing (`to_dense` fills), and for BOOL, whose values are bits."""
        from ..dlpack import as_flat, matrix_array

        store = self._stored
        flat = as_flat(store)
        if flat is not store:
            self._adopt(flat)
        return matrix_array(flat).__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        from ..dlpack import dlpack_device

        return dlpack_device(self.device)

    @classmethod
    def from_torch(cls, tensor: Any, **more: Any) -> Matrix:
        """A Matrix from a sparse tensor of PyTorch, on its device: `bitblas.torch.from_torch`.

        Parameters
        ----------
        tensor : torch.Tensor
            Of the layout COO, CSR or CSC.
        more : optional
            The options of `bitblas.torch.from_torch`.

        Returns
        -------
        Matrix
            Of the tensor's shape.

        Raises
        ------
        TypeError
            No tensor.
        InvalidValue
            A dense or block layout: `Matrix.from_dense` takes dense tensors.
        """
        return late["torch"]().from_torch(tensor, **more)

    @classmethod
    def from_dicts(
        cls,
        nested_dicts: Any,
        dtype: DTypeArg = None,
        *,
        order: str = "rowwise",
        nrows: SizeArg = None,
        ncols: SizeArg = None,
        **more: Any,
    ) -> Self:
        """A Matrix from dictionaries.

        Parameters
        ----------
        nested_dicts : dict or list
            {row: {column: value}}, or one {column: value} for each row.
        dtype : optional
            Of the Matrix; that of the values if not given.
        order : str, optional
            "rowwise", or "columnwise" for {column: {row: value}}.
        nrows, ncols : int, optional
            One more than the largest index if not given.
        more : optional
            device, name, format, tile, packed and symmetric of `from_coo`.

        Returns
        -------
        Matrix
            Of nrows x ncols.

        Raises
        ------
        ValueError
            Another `order`.
        IndexOutOfBound
            An index is negative or beyond the size.

        Examples
        --------
        >>> Matrix.from_dicts({0: {1: 5}, 1: {0: 3}}).nvals
        2
        """
        columns = is_columnwise(order)
        keyed = isinstance(nested_dicts, Mapping)
        major = keys_of(lambda: nested_dicts, len(nested_dicts)) if keyed else None
        dicts = list(nested_dicts.values()) if keyed else list(nested_dicts)
        indptr = np.cumsum([0, *map(len, dicts)])
        minor = keys_of(lambda: itertools.chain.from_iterable(dicts), int(indptr[-1]))
        values: ValuesLike = [x for inner in dicts for x in inner.values()]
        if dtype is not None and not values:
            values = np.zeros(0, dtypes.lookup_dtype(dtype).np_type)
        sizes = (ncols, nrows) if columns else (nrows, ncols)
        return cls._from_compressed(
            major, indptr, minor, values, dtype, *sizes, columns, more.pop("device", None), more
        )

    @classmethod
    def from_chunks(
        cls,
        chunks: Any,
        value: OperandLike = True,
        dtype: DTypeArg = None,
        *,
        nrows: SizeArg = None,
        ncols: SizeArg = None,
        dup_op: OperatorArg = None,
        name: str | None = None,
        device: DeviceArg = None,
        format: str | None = None,
        tile: int | None = None,
        packed: bool | None = None,
        symmetric: bool = False,
    ) -> Self:
        """The Matrix that `from_coo` makes of all chunks concatenated, without holding them all at once.

        Parameters
        ----------
        chunks
            An iterable of (rows, columns) or (rows, columns, values), arrays as for `from_coo`. It is read
            twice, and up to 64 times more for `format` "nib" and "mplg", which are built in bands of rows
            (3 times if rows ascend from chunk to chunk): pass a list, an object whose `__iter__` starts
            over, or a function without arguments that returns an iterator each time. An iterator, which can
            be read only once, is stored while it is read: 8 bytes an entry (16 for indices from 2**31 on),
            and its values.
        value : optional
            The value of all entries if chunks have none.
        dtype : optional
            Of the values; None: the common type of all chunks.
        nrows, ncols : optional
            If not given, `chunks.shape` before or after the first pass, if it exists, else one more than
            the largest index.
        symmetric : optional
            It is checked that each entry has its mirror image, without a transpose. Everything else as in
            `from_coo`.

        Notes
        -----
        Memory: about 4 bytes an entry (for "nib" and "mplg" the size of the format), and its value, 40 a
        row, and 96 for each entry of the largest chunk or of a million; docs/memory.md has the formulas.

        Raises the errors of `from_coo`, and ValueError for chunks that differ in their number of arrays, or
        from pass to pass.
        """
        layout = check_storage_options(format, tile, packed)
        d = device_of(device)
        sizes = [None if n is None else check_size(what, n) for n, what in ((nrows, "nrows"), (ncols, "ncols"))]
        source = Chunks(chunks, d, dtype)
        with d.guard:
            first, second = _sizes(sizes, chunks)
            counts = operations.build.Counts(d, first)
            for i, j, _ in source.first():
                check_range(i, 1 << 60 if first is None else first, "rows")
                check_range(j, 1 << 60 if second is None else second, "columns")
                counts.add(i, j)
            first, second = _sizes(sizes, chunks)
            if not counts.entries and None in (first, second):
                raise ValueError("nrows, ncols: expected sizes, because there are no indices, got None")
            shape = counts.nrows if first is None else first, counts.ncols if second is None else second
            one, of = (None, source.value_type) if source.parts == 3 else value_array(d, value, source.dtype)
            if one is not None and not isinstance(one, np.generic):
                raise ValueError("value: expected a scalar; different values belong into the chunks")
            dup = duplicates(dup_op, one, of, d)
            to = operations.build.Target(*shape, one, of, dup, layout.format, tile)
            store = operations.build.from_counts(counts, source.again, to)
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    # ---- into a Matrix ----

    def build(
        self,
        rows: IndicesLike,
        columns: IndicesLike,
        values: ValuesLike,
        *,
        dup_op: OperatorArg = None,
        clear: bool = False,
        nrows: SizeArg = None,
        ncols: SizeArg = None,
    ) -> None:
        """Insert entries into a Matrix without entries, or after `clear`.

        Parameters
        ----------
        nrows, ncols : optional
            Resize it first.

        Raises
        ------
        OutputNotEmpty

        Notes
        -----
        Also raises the errors of `from_coo`.
        """
        if not clear and self.nvals:
            raise OutputNotEmpty(f"build: expected a Matrix without entries, got {self.nvals}; clear=True deletes them")
        if nrows is None and ncols is None and (few := self._few(rows, columns, values)) is not None:
            if clear:
                self._adopt(self._empty_store())
            self._pending.update(few)
            return
        shape = self.nrows if nrows is None else nrows, self.ncols if ncols is None else ncols
        array, _ = value_array(self.device, values, self.dtype)
        fresh = type(self).from_coo(
            rows, columns, array, self.dtype, nrows=shape[0], ncols=shape[1], dup_op=dup_op, device=self.device
        )
        self._adopt(fresh._store)

    def _few(self, rows: Any, columns: Any, values: Any) -> dict[tuple[int, int], np.generic] | None:
        """The writes for lists of a few entries of a bitmap, each position once; else None."""
        lists = type(rows) is type(columns) is type(values) is list and len(rows) == len(columns) == len(values)
        if not lists or len(rows) > tuning.count("build.single_writes"):
            return None
        if type(self._data) is not FlatStore or self._layout.packed:
            return None
        dtype, inside = self.dtype, lambda side, size: not side or 0 <= min(side) <= max(side) < size
        if not {*map(type, rows), *map(type, columns)} <= {int} or not all(map(inside, (rows, columns), self.shape)):
            return None
        if not {*map(OF_PYTHON.get, map(type, values))} <= {dtype}:
            return None
        try:
            found = dict(zip(zip(rows, columns), map(dtype.np_type.type, values)))
        except OverflowError:  # the constructor raises the error
            return None
        return found if len(found) == len(rows) else None

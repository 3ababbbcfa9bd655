"""Matrices from and to CSR, CSC, DCSR and DCSC arrays, lists of edges and nested dicts; to entries and dense arrays.

`indptr` and the `minor` indices are those of rows (CSR) or of columns (CSC); the D in DCSR and DCSC lists only those
rows or columns that have entries, `major`. GraphBLAS C API 2.1, section 4.2.8 (tuples).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from semirings import dtypes
from semirings.dtypes import check_cast

from ... import operations
from ...exceptions import InvalidValue
from ...formats.csr.layout import are_pointers, numbers_of, pointers_of
from ...store import MatrixStore
from ..building import fill_of
from ..convert import check_size, device_of, index_array, keys_of, shown
from ..options import check_options
from ..statement.orders import in_users_order
from ..statement.running import guarded
from .operations import MatrixElementwise

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..typing import Array, DeviceArg, DTypeArg, IndicesLike, OperandArg, SizeArg, ValuesLike


# ---- Build matrices from CSR, CSC, DCSR and DCSC arrays, lists of edges and nested dicts.


def is_columnwise(order: object) -> bool:
    """Whether text such as "columnwise" or "F" means by columns. ValueError for unknown text."""
    text = str(order).lower()
    if text in ("f", "col", "cols", "column", "columns", "colwise", "columnwise"):
        return True
    if text in ("c", "row", "rows", "rowwise"):
        return False
    raise ValueError(f"order: expected 'rowwise' (or 'C') or 'columnwise' (or 'F'), got {order!r}")


def fault_of_pointers(entries: int) -> InvalidValue:
    """The error for invalid pointers."""
    return InvalidValue(f"indptr: expected 0 <= ... <= {entries} (the number of indices), ascending")


class CompressedBuild:
    """Constructors; all take `device`, `format`, `tile`, `packed` and `symmetric` of `Matrix.from_coo` too. Sizes that
    are not given are one more than the largest index, 0 without indices. Raise InvalidValue for pointers or sizes that
    do not fit, and the errors of `from_coo`."""

    __slots__ = ()
    from_coo: ClassVar[Any]
    _from_rows: ClassVar[Any]

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
        """A Matrix whose row i has columns col_indices[indptr[i]:indptr[i + 1]], in any order."""
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
        """A Matrix whose column j has rows row_indices[indptr[j]:indptr[j + 1]]."""
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
        """A Matrix whose row compressed_rows[k] has columns col_indices[indptr[k]:indptr[k + 1]]."""
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
        """A Matrix whose column compressed_cols[k] has rows row_indices[indptr[k]:indptr[k + 1]]."""
        args = compressed_cols, indptr, row_indices, values, dtype, ncols, nrows, True, device, more
        return cls._from_compressed(*args)

    @classmethod
    def from_edgelist(
        cls, edgelist: Any, values: ValuesLike | None = None, dtype: DTypeArg = None, **more: Any
    ) -> Self:
        """A Matrix from (row, column) or (row, column, value) tuples, an array of shape (nvals, 2), or a data frame
        with two or three columns (pandas, polars).

        values: as in `from_coo`, if the edges have none. Raises ValueError for another shape, TypeError for two sources
        of values.
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
        """A Matrix from {row: {column: value}}, or from a list with one {column: value} for each row; with
        order="columnwise" from {column: {row: value}}. Raises ValueError for `order`."""
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


# ---- Export a Matrix or TransposedMatrix: entries, dense arrays, CSR and CSC arrays, dicts.


class MatrixExport(MatrixElementwise):
    """Indices are UINT64, on the object's device."""

    __slots__ = ()
    T: Any

    @property
    def _in_users_order(self) -> MatrixStore:
        """The content in the user's order, for one read: the stored order is unchanged, and no second copy is kept."""
        return in_users_order(self.name, self._stored, keep=False)

    def to_coo(
        self, dtype: DTypeArg = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> Any:
        """(rows, columns, values) as arrays on the object's device: UINT64 by row, then column, and `dtype` or the
        Matrix's own. None for arrays that were not requested; with sort=False in the order of the stored format."""
        i, j, x = self._coo(dtype, values, sort, rows)
        return (i, j if columns else None, x)

    @guarded
    def _coo(self, dtype: DTypeArg = None, values: bool = True, sort: bool = True, rows: bool = True) -> Any:
        """Its rows, columns and values, of a transpose too: by row, then column, or in stored order."""
        A = self._in_users_order if sort else self._stored
        order = A.order
        if dtype is not None:
            check_cast(A.dtype, kind := dtypes.lookup_dtype(dtype))
            A = operations.ewise_matrix.cast(A, kind).tagged(order)
        if sort:
            i, j, x = operations.ewise_matrix.coo(A, rows=rows, values=values)
        else:
            i, j = A.coo()
            x = A.device.full(len(i), A.values) if A.iso else A.values
        if values and x is A.raw:
            x = A.values.copy()  # callers may write to the result
        i = i.view(np.uint64) if rows else None
        return i, j.view(np.uint64), shown(A.device, x, A.dtype) if values else None

    @guarded
    def to_dense(self, fill_value: OperandArg = None, dtype: DTypeArg = None, **opts: object) -> Array:
        """An array of nrows x ncols, fill_value where there is no entry; of a type that holds both.

        Raises TypeError if entries are missing and no fill_value is given.
        """
        check_options(opts)
        A = self._in_users_order
        fill, kind = fill_of(fill_value, dtype, A.dtype, A.nvals == A.nrows * A.ncols)
        i, j, x = operations.ewise_matrix.coo(A)
        out = A.device.xp.full((A.nrows, A.ncols), fill)
        out[i, j] = operations.value_arrays.cast(A.device, x, A.dtype, kind) if len(x) else x.astype(kind.np_type)
        return shown(A.device, out, kind)

    def to_csr(self, dtype: DTypeArg = None, *, sort: bool = True) -> tuple[Array, Array, Array]:
        """(indptr, columns, values); columns ascend within a row."""
        i, j, x = self._coo(dtype)
        ptr = pointers_of(i, self.nrows, self.device).view(np.uint64)
        return ptr, j, x

    def to_csc(self, dtype: DTypeArg = None, *, sort: bool = True) -> tuple[Array, Array, Array]:
        """(indptr, rows, values); rows ascend within a column."""
        return self.T.to_csr(dtype)

    def to_dcsr(self, dtype: DTypeArg = None, *, sort: bool = True) -> tuple[Array, Array, Array, Array]:
        """(rows that have entries, indptr, columns, values)."""
        i, j, x = self._coo(dtype)
        xp = self.device.xp
        first = xp.flatnonzero(xp.append(xp.ones(min(1, len(i)), bool), i[1:] != i[:-1]))
        return i[first].view(np.uint64), xp.append(first, len(i)).astype(np.uint64), j, x

    def to_dcsc(self, dtype: DTypeArg = None, *, sort: bool = True) -> tuple[Array, Array, Array, Array]:
        """(columns that have entries, indptr, rows, values)."""
        return self.T.to_dcsr(dtype)

    def to_edgelist(
        self, dtype: DTypeArg = None, *, values: bool = True, sort: bool = True
    ) -> tuple[Array, Array | None]:
        """An array of shape (nvals, 2) with row and column of each entry, and the values (None if not requested)."""
        i, j, x = self.to_coo(dtype, values=values, sort=sort)
        return self.device.xp.stack((i, j), axis=1), x

    def to_dicts(self, order: str = "rowwise") -> dict[int, dict[int, object]]:
        """{row: {column: value}} (order="columnwise": {column: {row: value}}), Python numbers."""
        source = self.T if is_columnwise(order) else self
        host = self.device.to_host
        out: dict[int, dict[int, object]] = {}
        for i, j, x in zip(*(host(a).tolist() for a in source._coo())):
            out.setdefault(i, {})[j] = x
        return out

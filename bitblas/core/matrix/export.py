"""Export a Matrix or TransposedMatrix: entries, dense arrays, CSR and CSC arrays, dicts.

GraphBLAS C API 2.1, section 4.2.8 (tuples).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import dtypes
from semirings.dtypes import check_cast

from ... import verbs
from ...formats.csr.format import pointers_of
from ...store import MatrixStore
from ..building import fill_of
from ..convert import shown
from ..options import check_options
from ..statement.orders import in_users_order
from ..statement.running import guarded
from .compressed import is_columnwise


class MatrixExport:
    """Indices are UINT64, on the object's device."""

    __slots__ = ()
    T: Any
    nrows: Any
    device: Any

    if TYPE_CHECKING:

        @property
        def _stored(self) -> MatrixStore: ...

    @property
    def _in_users_order(self) -> MatrixStore:
        """The content in the user's order, for one read: the stored order is unchanged, and no second copy is kept."""
        return in_users_order(self, self._stored, keep=False)

    def to_coo(
        self, dtype: Any = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> Any:
        """(rows, columns, values) as arrays on the object's device: UINT64 by row, then column, and `dtype` or the
        Matrix's own. None for arrays that were not requested; with sort=False in the order of the stored format."""
        i, j, x = self._coo(dtype, values, sort, rows)
        return (i, j if columns else None, x)

    @guarded
    def _coo(
        self, dtype: Any = None, values: bool = True, sort: bool = True, rows: bool = True
    ) -> tuple[Any, Any, Any]:
        """Its rows, columns and values, of a transpose too: by row, then column, or in stored order."""
        A = self._in_users_order if sort else self._stored
        order = A.order
        if dtype is not None:
            check_cast(A.dtype, kind := dtypes.lookup_dtype(dtype))
            A = verbs.matrix.cast(A, kind).tagged(order)
        if sort:
            i, j, x = verbs.matrix.coo(A, rows=rows, values=values)
        else:
            i, j = A.coo()
            x = A.device.full(len(i), A.values) if A.iso else A.values
        if values and x is A.raw:
            x = A.values.copy()  # callers may write to the result
        i = i.view(np.uint64) if rows else None
        return i, j.view(np.uint64), shown(A.device, x, A.dtype) if values else None

    @guarded
    def to_dense(self, fill_value: Any = None, dtype: Any = None, **opts: Any) -> Any:
        """An array of nrows x ncols, fill_value where there is no entry; of a type that holds both.

        Raises TypeError if entries are missing and no fill_value is given.
        """
        check_options(opts)
        A = self._in_users_order
        fill, kind = fill_of(fill_value, dtype, A.dtype, A.nvals == A.nrows * A.ncols)
        i, j, x = verbs.matrix.coo(A)
        out = A.device.xp.full((A.nrows, A.ncols), fill)
        out[i, j] = verbs.arrays.cast(A.device, x, A.dtype, kind) if len(x) else x.astype(kind.np_type)
        return shown(A.device, out, kind)

    def to_csr(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any]:
        """(indptr, columns, values); columns ascend within a row."""
        i, j, x = self._coo(dtype)
        ptr = pointers_of(i, self.nrows, self.device).view(np.uint64)
        return ptr, j, x

    def to_csc(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any]:
        """(indptr, rows, values); rows ascend within a column."""
        return self.T.to_csr(dtype)

    def to_dcsr(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any, Any]:
        """(rows that have entries, indptr, columns, values)."""
        i, j, x = self._coo(dtype)
        xp = self.device.xp
        first = xp.flatnonzero(xp.append(xp.ones(min(1, len(i)), bool), i[1:] != i[:-1]))
        return i[first].view(np.uint64), xp.append(first, len(i)).astype(np.uint64), j, x

    def to_dcsc(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any, Any]:
        """(columns that have entries, indptr, rows, values)."""
        return self.T.to_dcsr(dtype)

    def to_edgelist(self, dtype: Any = None, *, values: bool = True, sort: bool = True) -> tuple[Any, Any]:
        """An array of shape (nvals, 2) with row and column of each entry, and the values (None if not requested)."""
        i, j, x = self.to_coo(dtype, values=values, sort=sort)
        return self.device.xp.stack((i, j), axis=1), x

    def to_dicts(self, order: Any = "rowwise") -> dict[int, dict[int, Any]]:
        """{row: {column: value}} (order="columnwise": {column: {row: value}}), Python numbers."""
        source = self.T if is_columnwise(order) else self
        host = self.device.to_host
        out: dict[int, dict[int, Any]] = {}
        for i, j, x in zip(*(host(a).tolist() for a in source._coo())):
            out.setdefault(i, {})[j] = x
        return out

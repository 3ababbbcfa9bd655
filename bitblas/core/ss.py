"""`A.ss`, `v.ss`: the part of python-graphblas' SuiteSparse extras that programs use.

Exports are host arrays, by row or column as the name says. What is left out raises NotImplementedException.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from ..exceptions import NotImplementedException
from ..store import unpack
from .options import check_options


class _Extras:
    """What both kinds share."""

    __slots__ = ("_parent",)
    _exports: dict[str, str] = {}

    def __init__(self, parent: Any) -> None:
        self._parent = parent

    @property
    def is_iso(self) -> bool:
        """Whether one value is stored for all entries."""
        return self._parent._stored.iso

    @property
    def iso_value(self) -> Any:
        """That value, a Scalar. ValueError where there is none."""
        from .scalar import Scalar

        p = self._parent
        if not self.is_iso:
            raise ValueError(f"{type(p).__name__} is not iso-valued")
        return Scalar.from_value(p._stored.values, p.dtype) if p.nvals else Scalar(p.dtype)

    def _entries(self) -> tuple[list[Any], list[Any]]:
        """Keys and values of the entries as Python objects, ascending."""
        *indices, values = (self._parent.device.to_host(x).tolist() for x in self._parent.to_coo())
        return (list(zip(*indices)) if len(indices) == 2 else indices[0]), values

    def iterkeys(self, seek: int = 0) -> Iterator[Any]:
        """The indices of the entries, from entry number `seek` on (negative: from the end)."""
        return islice(self._entries()[0], *_from(seek, self._parent.nvals))

    def itervalues(self, seek: int = 0) -> Iterator[Any]:
        """The values of the entries, Python scalars."""
        return islice(self._entries()[1], *_from(seek, self._parent.nvals))

    def iteritems(self, seek: int = 0) -> Iterator[Any]:
        """(row, column, value) or (index, value) of the entries."""
        keys, values = self._entries()
        pairs = ((*k, x) if isinstance(k, tuple) else (k, x) for k, x in zip(keys, values))
        return islice(pairs, *_from(seek, len(values)))

    def _values(self, values: Any) -> Any:
        return self._parent.device.to_host(values[:1] if self.is_iso else values)

    def _some(self, values: Any, bitmap: Any) -> Any:
        return values[bitmap][:1] if self.is_iso else values

    def build_scalar(self, *indices_and_value: Any) -> None:
        """Entries of one value: build_scalar(rows, columns, value), build_scalar(indices, value)."""
        *indices, value = indices_and_value
        p = self._parent
        p.build(*indices, p.dtype.np_type.type(value))

    def export(self, format: str | None = None, *, sort: bool = False, give_ownership: bool = False,
               raw: bool = False, **opts: Any) -> dict[str, Any]:  # fmt: skip
        """The entries as a dict of host arrays in one of the plain forms; is_iso: `values` has one element.

        give_ownership: the object is emptied. Raises ValueError for another form, TypeError for one that needs all
        entries to be present.
        """
        check_options(opts)
        format = format or next(iter(self._exports))
        if format not in self._exports:
            raise ValueError(f"format: expected one of {', '.join(self._exports)}, got {format!r}")
        out = getattr(self, "_" + self._exports[format])(format)
        out |= {"is_iso": self.is_iso, "format": format}
        if give_ownership:
            self._parent.clear()
        return out

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [n for n in dir(self) if not n.startswith("_")]
        raise NotImplementedException(f"ss.{name}: bitblas has no such extra of SuiteSparse; it has {', '.join(known)}")


def _from(seek: int, n: int) -> tuple[int, None]:
    return max(0, seek + n if seek < 0 else seek), None


class MatrixExtras(_Extras):
    """`A.ss`."""

    __slots__ = ()
    _exports = {
        "csr": "compressed", "csc": "compressed", "hypercsr": "compressed", "hypercsc": "compressed", "coo": "coo",
        "coor": "coo", "cooc": "coo", "bitmapr": "bitmap", "bitmapc": "bitmap", "fullr": "full", "fullc": "full",
    }  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes held on the device, cached forms included."""
        return self._parent.memory().total

    @property
    def format(self) -> str:
        """The stored form, by its name in bitblas."""
        return self._parent.format

    orientation = "rowwise"

    def build_diag(self, vector: Any, k: int = 0, **opts: Any) -> None:
        """Replace the entries by `vector` on diagonal k."""
        check_options(opts)
        self._parent << vector.diag(k)

    def _compressed(self, format: str) -> dict[str, Any]:
        A, by_row = self._parent, format.endswith("csr")
        major, minor = ("rows", "col_indices") if by_row else ("cols", "row_indices")
        host = A.device.to_host
        *index, values = getattr(A, {"csr": "to_csr", "csc": "to_csc", "hypercsr": "to_dcsr"}.get(format, "to_dcsc"))()
        names = (major, "indptr", minor) if format.startswith("hyper") else ("indptr", minor)
        out = dict(zip(names, map(host, index)))
        sort = "sorted_cols" if by_row else "sorted_rows"
        return out | {sort: True, "nrows": A.nrows, "ncols": A.ncols, "values": self._values(values)}

    def _coo(self, format: str) -> dict[str, Any]:
        A = self._parent
        if format == "cooc":
            j, i, x = A.T._coo()
        else:
            i, j, x = A.to_coo()
        host = A.device.to_host
        out = {"rows": host(i), "cols": host(j), "nrows": A.nrows, "ncols": A.ncols, "values": self._values(x)}
        return out | {"sorted_rows": format == "coor" or format == "cooc", "sorted_cols": format != "coo"}

    def _bitmap(self, format: str) -> dict[str, Any]:
        A = self._parent
        i, j, _ = A.to_coo(values=False)
        bitmap = A.device.xp.zeros(A.shape, bool)
        bitmap[i.view(np.int64), j.view(np.int64)] = True
        values = A.to_dense(fill_value=0, dtype=A.dtype)
        host = A.device.to_host
        return {"bitmap": host(bitmap), "nvals": A.nvals, "values": self._some(host(values), host(bitmap))}

    def _full(self, format: str) -> dict[str, Any]:
        A = self._parent
        values = A.device.to_host(A.to_dense())
        return {"values": values.reshape(-1)[:1] if self.is_iso else values}


class VectorExtras(_Extras):
    """`v.ss`."""

    __slots__ = ()
    _exports = {"bitmap": "bitmap", "sparse": "sparse", "full": "full"}

    @property
    def nbytes(self) -> int:
        """Bytes held on the device."""
        return self._parent.memory().total

    format = "bitmap"

    def build_diag(self, matrix: Any, k: int = 0, **opts: Any) -> None:
        """Replace the entries by diagonal k of `matrix`."""
        check_options(opts)
        self._parent << matrix.diag(k)

    def _sparse(self, format: str) -> dict[str, Any]:
        v = self._parent
        i, x = v.to_coo()
        return {"size": v.size, "indices": v.device.to_host(i), "sorted_index": True, "values": self._values(x)}

    def _bitmap(self, format: str) -> dict[str, Any]:
        v, host = self._parent, self._parent.device.to_host
        bitmap = host(unpack(v.device, v._whole.present, v.size))
        values = host(v.to_dense(fill_value=0, dtype=v.dtype))
        return {"bitmap": bitmap, "nvals": v.nvals, "values": self._some(values, bitmap)}

    def _full(self, format: str) -> dict[str, Any]:
        return {"values": self._values(self._parent.to_dense())}

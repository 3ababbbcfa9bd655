"""Export objects as dicts of plain host arrays, with SuiteSparse's formats and names; `unpack` empties the object."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from typing import Any

import numpy as np

from ...exceptions import InvalidValue
from ...store import unpack as unpack_bits
from ..matrix.compressed import is_columnwise
from ..options import check_options
from .settings import ObjectSettings

_settings: dict[int, dict[str, Any]] = {}  # settings of objects, by their id, as long as they live


class Arrays:
    """Shared by Matrix and Vector. `_forms`: name of each SuiteSparse format -> the method that returns its arrays."""

    __slots__ = ()
    _forms: dict[str, str] = {}
    _parent: Any
    is_iso: bool

    @property
    def config(self) -> ObjectSettings:
        """The settings of this object: see ObjectSettings."""
        key = id(self._parent)
        if key not in _settings:
            _settings[key] = {}
            weakref.finalize(self._parent, _settings.pop, key, None).atexit = False
        return ObjectSettings(self._parent, _settings[key], self._status)

    def _status(self) -> str:
        """The format that SuiteSparse would use: hypersparse, sparse, bitmap or full."""
        return self.config.chosen(self._fits())

    @abstractmethod
    def _fits(self) -> str:
        """The same, without regard to which formats are allowed."""

    @abstractmethod
    def _best(self) -> str:
        """Its name in `export`."""

    def _named(self, format: str | None) -> str:
        name = self._best() if format is None else format.lower()
        if name not in self._forms:
            raise ValueError(f"Invalid format: expected one of {', '.join(self._forms)}, got {format!r}")
        return name

    def export(self, format: str | None = None, *, sort: bool = False, give_ownership: bool = False,
               raw: bool = False, **opts: Any) -> dict[str, Any]:  # fmt: skip
        """The entries as a dict of host arrays; is_iso: `values` has one element.

        format: a format of SuiteSparse, of a Matrix also "rowwise" and "columnwise"; None: the one that it would use
        for such entries, by `config` and `gb.ss.config`. Entries are always sorted. raw: arrays have one dimension, and
        the dict has the sizes. give_ownership: the object is emptied. Raises ValueError for another format,
        InvalidValue for a full one if entries are missing.
        """
        check_options(opts)
        format = self._named(format)
        format = "coor" if sort and format == "coo" else format
        out = getattr(self, self._forms[format])(format)
        if raw:
            names = ("nrows", "ncols") if len(self._parent.shape) == 2 else ("size",)
            out |= dict(zip(names, self._parent.shape))
            out |= {k: x.ravel("K") for k, x in out.items() if isinstance(x, np.ndarray)}
        out |= {"is_iso": self.is_iso, "format": format}
        if give_ownership:
            self._parent.clear()
        return out

    def unpack(self, format: str | None = None, *, sort: bool = False, raw: bool = False, **opts: Any) -> Any:
        """The result of `export`; the object keeps its size and loses its entries."""
        return self.export(format, sort=sort, raw=raw, give_ownership=True, **opts)

    def _values(self, values: Any) -> Any:
        return self._parent.device.to_host(values[:1] if self.is_iso else values)

    def _some(self, values: Any, bitmap: Any) -> Any:
        return values[bitmap][:1] if self.is_iso else values

    def _full_values(self) -> Any:
        p = self._parent
        if p.nvals < np.prod(p.shape, dtype=object):
            raise InvalidValue(f"format: full needs an entry at every position, got {p.nvals} entries")
        return p.device.to_host(p.to_dense())


class MatrixArrays(Arrays):
    """Of a Matrix."""

    __slots__ = ()
    _forms = {
        "csr": "_compressed", "csc": "_compressed", "hypercsr": "_compressed", "hypercsc": "_compressed", "coo": "_coo",
        "coor": "_coo", "cooc": "_coo", "bitmapr": "_bitmap", "bitmapc": "_bitmap", "fullr": "_full", "fullc": "_full",
    }  # fmt: skip

    def _best(self) -> str:
        letter = self.config.letter
        return {"sparse": "cs", "hypersparse": "hypercs"}.get(form := self._status(), form) + letter

    def _fits(self) -> str:
        A, settings = self._parent, self.config
        if A.nvals and A.nvals == A.nrows * A.ncols:
            return "full"
        if settings.is_dense(A.nvals):
            return "bitmap"
        rows = A if settings.letter == "r" else A.T
        filled = rows.reduce_rowwise("any").new().nvals if A.nvals else 0
        return "hypersparse" if settings.is_hyper(filled, rows.nrows) else "sparse"

    def _named(self, format: str | None) -> str:
        try:
            letter = "c" if is_columnwise(format) else "r"
        except ValueError:
            return super()._named(format)
        return self._best()[:-1] + letter

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
        return out | {"sorted_rows": format != "coo", "sorted_cols": format != "coo"}

    def _bitmap(self, format: str) -> dict[str, Any]:
        A = self._parent
        i, j, _ = A.to_coo(values=False)
        bitmap = A.device.xp.zeros(A.shape, bool)
        bitmap[i.view(np.int64), j.view(np.int64)] = True
        values = A.to_dense(fill_value=0, dtype=A.dtype)
        order: Any = "F" if format == "bitmapc" else "C"
        bitmap, values = (np.asarray(A.device.to_host(x), order=order) for x in (bitmap, values))
        return {"bitmap": bitmap, "nvals": A.nvals, "values": self._some(values, bitmap)}

    def _full(self, format: str) -> dict[str, Any]:
        values = np.asarray(self._full_values(), order="F" if format == "fullc" else "C")
        if not self.is_iso:
            return {"values": values}
        return {"values": values.reshape(-1)[:1], "nrows": self._parent.nrows, "ncols": self._parent.ncols}


class VectorArrays(Arrays):
    """Of a Vector."""

    __slots__ = ()
    _forms = {"sparse": "_sparse", "bitmap": "_bitmap", "full": "_full"}

    def _best(self) -> str:
        return self._status()

    def _fits(self) -> str:
        v = self._parent
        if v.nvals and v.nvals == v.size:
            return "full"
        return "bitmap" if self.config.is_dense(v.nvals) else "sparse"

    def _sparse(self, format: str) -> dict[str, Any]:
        v = self._parent
        i, x = v.to_coo()
        return {"size": v.size, "indices": v.device.to_host(i), "sorted_index": True, "values": self._values(x)}

    def _bitmap(self, format: str) -> dict[str, Any]:
        v, host = self._parent, self._parent.device.to_host
        bitmap = host(unpack_bits(v.device, v._in_users_order.present, v.size))
        values = host(v.to_dense(fill_value=0, dtype=v.dtype))
        return {"bitmap": bitmap, "nvals": v.nvals, "values": self._some(values, bitmap)}

    def _full(self, format: str) -> dict[str, Any]:
        values = self._full_values()
        return {"values": values[:1], "size": self._parent.size} if self.is_iso else {"values": values}


__all__ = ["MatrixArrays", "VectorArrays"]

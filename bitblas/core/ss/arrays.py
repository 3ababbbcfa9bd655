"""Import and export plain host arrays in SuiteSparse's formats, with its names: `import_csr`, `pack_csr`, `export`.

`unpack` empties the object. All arrays are copied. Arrays are read up to the length that the sizes require. is_iso, or
one number as `values`: one value for all entries.
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import dtypes

from ...exceptions import InvalidValue
from ...store import unpack as unpack_bits
from ..convert import array_of
from ..matrix.matrix import Matrix
from ..matrix.read import is_columnwise
from ..options import check_options
from ..statement.running import guarded
from ..vector import Vector
from .base import Extras, Parent
from .settings import ObjectSettings

Parts = dict[str, Any]  # arrays, sizes and flags by their names in `export`

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semirings import DataType

    from ..typing import Array, ArrayLike, DTypeArg, ValuesLike

# ---- Export objects as dicts of plain host arrays, with SuiteSparse's formats and names; `unpack` empties the object.

_settings: dict[int, Parts] = {}  # settings of objects, by their id, as long as they live


class Arrays(Extras[Parent]):
    """Shared by Matrix and Vector. `_forms`: name of each SuiteSparse format -> the method that returns its arrays."""

    __slots__ = ()
    _forms: dict[str, str] = {}

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

    def export(
        self,
        format: str | None = None,
        *,
        sort: bool = False,
        give_ownership: bool = False,
        raw: bool = False,
        **opts: object,
    ) -> Parts:
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

    def unpack(self, format: str | None = None, *, sort: bool = False, raw: bool = False, **opts: object) -> Parts:
        """The result of `export`; the object keeps its size and loses its entries."""
        return self.export(format, sort=sort, raw=raw, give_ownership=True, **opts)

    def _values(self, values: Array) -> Array:
        return self._parent.device.to_host(values[:1] if self.is_iso else values)

    def _some(self, values: Array, bitmap: Array) -> Array:
        return values[bitmap][:1] if self.is_iso else values

    def _full_values(self) -> Array:
        p = self._parent
        if p.nvals < np.prod(p.shape, dtype=object):
            raise InvalidValue(f"format: full needs an entry at every position, got {p.nvals} entries")
        return p.device.to_host(p.to_dense())


class MatrixArrays(Arrays[Matrix]):
    """Of a Matrix."""

    __slots__ = ()
    _forms = {
        "csr": "_compressed",
        "csc": "_compressed",
        "hypercsr": "_compressed",
        "hypercsc": "_compressed",
        "coo": "_coo",
        "coor": "_coo",
        "cooc": "_coo",
        "bitmapr": "_bitmap",
        "bitmapc": "_bitmap",
        "fullr": "_full",
        "fullc": "_full",
    }

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

    def _compressed(self, format: str) -> Parts:
        A, by_row = self._parent, format.endswith("csr")
        major, minor = ("rows", "col_indices") if by_row else ("cols", "row_indices")
        host = A.device.to_host
        *index, values = getattr(A, {"csr": "to_csr", "csc": "to_csc", "hypercsr": "to_dcsr"}.get(format, "to_dcsc"))()
        names = (major, "indptr", minor) if format.startswith("hyper") else ("indptr", minor)
        out = dict(zip(names, map(host, index)))
        sort = "sorted_cols" if by_row else "sorted_rows"
        return out | {sort: True, "nrows": A.nrows, "ncols": A.ncols, "values": self._values(values)}

    def _coo(self, format: str) -> Parts:
        A = self._parent
        if format == "cooc":
            j, i, x = A.T._coo()
        else:
            i, j, x = A.to_coo()
        host = A.device.to_host
        out = {"rows": host(i), "cols": host(j), "nrows": A.nrows, "ncols": A.ncols, "values": self._values(x)}
        return out | {"sorted_rows": format != "coo", "sorted_cols": format != "coo"}

    def _bitmap(self, format: str) -> Parts:
        A = self._parent
        i, j, _ = A.to_coo(values=False)
        bitmap = A.device.xp.zeros(A.shape, bool)
        bitmap[i.view(np.int64), j.view(np.int64)] = True
        values = A.to_dense(fill_value=0, dtype=A.dtype)
        order: Any = "F" if format == "bitmapc" else "C"
        bitmap, values = (np.asarray(A.device.to_host(x), order=order) for x in (bitmap, values))
        return {"bitmap": bitmap, "nvals": A.nvals, "values": self._some(values, bitmap)}

    def _full(self, format: str) -> Parts:
        values = np.asarray(self._full_values(), order="F" if format == "fullc" else "C")
        if not self.is_iso:
            return {"values": values}
        return {"values": values.reshape(-1)[:1], "nrows": self._parent.nrows, "ncols": self._parent.ncols}


class VectorArrays(Arrays[Vector]):
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

    def _sparse(self, format: str) -> Parts:
        v = self._parent
        i, x = v.to_coo()
        return {"size": v.size, "indices": v.device.to_host(i), "sorted_index": True, "values": self._values(x)}

    def _bitmap(self, format: str) -> Parts:
        v, host = self._parent, self._parent.device.to_host
        bitmap = host(unpack_bits(v.device, v._in_users_order.present, v.size))
        values = host(v.to_dense(fill_value=0, dtype=v.dtype))
        return {"bitmap": bitmap, "nvals": v.nvals, "values": self._some(values, bitmap)}

    def _full(self, format: str) -> Parts:
        values = self._full_values()
        return {"values": values[:1], "size": self._parent.size} if self.is_iso else {"values": values}


# ---- Import objects from plain arrays in SuiteSparse's formats (`import_csr`, ..), or into an existing object
# (`pack_csr`, ..): the inverse of `export` and `unpack`. All arrays are copied.

# Format -> (list of rows or columns that have entries, the indices in them, the constructor).
COMPRESSED: dict[str, tuple[str | None, str, Any]] = {
    "csr": (None, "col_indices", Matrix.from_csr),
    "csc": (None, "row_indices", Matrix.from_csc),
    "hypercsr": ("rows", "col_indices", Matrix.from_dcsr),
    "hypercsc": ("cols", "row_indices", Matrix.from_dcsc),
}
HINTS = ("sorted_rows", "sorted_cols", "sorted_index", "take_ownership", "secure_import", "nvec", "nvals")
INDEX_ARRAYS = ("indptr", "bitmap", "rows", "cols", "row_indices", "col_indices", "indices")


def _iso(values: ValuesLike, is_iso: bool, dtype: DTypeArg) -> Any:
    """A single number for iso values, else the array. dtype: that of the object, if given."""
    want = None if dtype is None else dtypes.lookup_dtype(dtype)
    values = _array(values, None if want is None or want._is_udt else want)
    if not is_iso and values.ndim:
        return values
    return values.reshape(-1)[0] if values.size else values.dtype.type(0)


def _array(data: object, want: DataType | None = None) -> Array:
    """The input as an array; integers of lists stay integers."""
    return np.asarray(data) if hasattr(data, "dtype") else array_of(data, want)


def _flat(array: ArrayLike, letter: str, size: int, name: str) -> Array:
    """`size` elements in the order of rows ("r") or columns ("c"). InvalidValue if there are fewer."""
    array = np.asarray(array)
    array = array.reshape(-1, order="F" if letter == "c" and array.ndim == 2 else "C")
    if array.size < size:
        raise InvalidValue(f"{name}: expected {size} elements, got {array.size}")
    return array[:size]


def _columnwise(*arrays: object) -> bool:
    """Whether the first two-dimensional array is in column-major order."""
    found = next((a for a in arrays if isinstance(a, np.ndarray) and a.ndim == 2), None)
    return found is not None and found.flags.f_contiguous


def _matrix_form(parts: Parts) -> str:
    """The format of the given arrays. TypeError if they match none."""
    has = {name for name in INDEX_ARRAYS if parts.get(name) is not None}
    if "bitmap" in has:
        if has != {"bitmap"}:
            raise TypeError(f"bitmap: expected no other indices, got {', '.join(sorted(has - {'bitmap'}))}")
        return "bitmapc" if _columnwise(parts["values"], parts["bitmap"]) else "bitmapr"
    if "indptr" in has:
        for form, (major, minor, _) in COMPRESSED.items():
            if has == {"indptr", minor} | ({major} if major else set()):
                return form
        raise TypeError(f"indptr: expected col_indices (and rows), or row_indices (and cols), got {sorted(has)}")
    if not has:
        return "fullc" if _columnwise(parts["values"]) else "fullr"
    if has != {"rows", "cols"}:
        raise ValueError(f"coo requires both `rows` and `cols`, got {sorted(has)}")
    return "coo"


def _matrix(form: str, parts: Parts, more: Parts) -> Matrix:
    """The Matrix from these arrays. more: dtype and name."""
    values = _iso(parts["values"], parts.get("is_iso", False), more["dtype"])
    shape = parts.get("nrows"), parts.get("ncols")
    if form in COMPRESSED:
        major, minor, make = COMPRESSED[form]
        nmajor = shape[0] if form.endswith("r") else shape[1]
        ptr = _array(parts["indptr"])
        ptr = ptr if nmajor is None or major else ptr[: int(nmajor) + 1]
        index: tuple[Array, ...] = (ptr, _array(parts[minor])[: int(ptr[-1])])
        index = index if major is None else (_array(parts[major])[: len(ptr) - 1], *index)
        cut = values if values.ndim == 0 else values[: int(ptr[-1])]
        return make(*index, cut, nrows=shape[0], ncols=shape[1], **more)
    if form.startswith("coo"):
        for letter, name in (("r", "sorted_rows"), ("c", "sorted_cols")):
            if form == f"coo{letter}" and not parts.get(name, True):
                raise ValueError(f"{name} must be True for {form!r}")
        cut = values if values.ndim == 0 else values[: len(parts["rows"])]
        return Matrix.from_coo(parts["rows"], parts["cols"], cut, nrows=shape[0], ncols=shape[1], **more)
    letter = form[-1]
    marks = parts["bitmap"] if form.startswith("bitmap") else None
    nrows, ncols = _shape(shape, values, marks)
    size = nrows * ncols
    keep = slice(None) if marks is None else np.flatnonzero(_flat(marks, letter, size, "bitmap"))
    at = np.arange(size)[keep]
    cut = values if values.ndim == 0 else _flat(values, letter, size, "values")[keep]
    step = max(1, ncols if letter == "r" else nrows)
    i, j = (at // step, at % step) if letter == "r" else (at % step, at // step)
    return Matrix.from_coo(i, j, cut, nrows=nrows, ncols=ncols, **more)


def _shape(requested: tuple[int | None, int | None], *arrays: Any) -> tuple[int, int]:
    """The requested shape, or that of the bitmap, or of the values. ValueError if none of them is known."""
    found = next((np.shape(a) for a in reversed(arrays) if np.ndim(a) == 2), (None, None))
    nrows, ncols = (b if a is None else a for a, b in zip(requested, found))
    if nrows is None or ncols is None:
        raise ValueError("nrows and ncols must be provided unless an array has two dimensions")
    return int(nrows), int(ncols)


def _vector_form(parts: Parts) -> str:
    if parts.get("indices") is not None and parts.get("bitmap") is not None:
        raise TypeError("Cannot provide both `indices` and `bitmap`")
    return "sparse" if parts.get("indices") is not None else "full" if parts.get("bitmap") is None else "bitmap"


def _vector(form: str, parts: Parts, more: Parts) -> Vector:
    values, size = _iso(parts["values"], parts.get("is_iso", False), more["dtype"]), parts.get("size")
    if form == "sparse":
        indices = _array(parts["indices"])
        cut = values if values.ndim == 0 else values[: len(indices)]
        return Vector.from_coo(indices, cut, size=size, **more)
    if size is None:
        size = len(parts["bitmap"]) if values.ndim == 0 and form == "bitmap" else values.size
    size = int(size)
    at = np.arange(size) if form == "full" else np.flatnonzero(_flat(parts["bitmap"], "r", size, "bitmap"))
    return Vector.from_coo(
        at, values if values.ndim == 0 else _flat(values, "r", size, "values")[at], size=size, **more
    )


KINDS = {"nrows": (_matrix_form, _matrix), "size": (_vector_form, _vector)}  # by the name of a size


def _build(kind: str, forms: Sequence[str], form: str, parts: Parts) -> Any:
    """The object from the arguments of an import. form: "any", or the format in its name."""
    guess, make = KINDS[kind]
    known = {*INDEX_ARRAYS, *HINTS, "values", "is_iso", "nrows", "ncols", "size"}
    requested, more = parts.pop("format", None), {key: parts.pop(key, None) for key in ("dtype", "name")}
    check_options({key: x for key, x in parts.items() if key not in known})
    if requested is not None and (requested not in forms or form not in ("any", requested)):
        raise ValueError(f"Invalid format: expected {form if form != 'any' else ', '.join(forms)}, got {requested!r}")
    chosen = (requested or guess(parts)) if form == "any" else form
    return make(chosen, parts, more)


def importer(kind: str, forms: Sequence[str], form: str) -> Any:
    """import_FORM of a class of extras."""

    def import_form(cls: Any, values: ValuesLike, **arrays: Any) -> Any:
        return _build(kind, forms, form, arrays | {"values": values})

    return classmethod(_called(import_form, f"import_{form}", "A new object of the arrays of"))


def packer(kind: str, forms: Sequence[str], form: str) -> Any:
    """pack_FORM of a class of extras."""

    def pack_form(self: Any, values: ValuesLike, **arrays: Any) -> None:
        p = self._parent
        sizes = dict(zip(("nrows", "ncols") if kind == "nrows" else ("size",), p.shape))
        p << _build(kind, forms, form, arrays | sizes | {"values": values, "dtype": p.dtype}).to(p.device)

    return guarded(_called(pack_form, f"pack_{form}", "Replace the entries by the arrays of"))


def _called(function: Callable[..., Any], name: str, what: str) -> Callable[..., Any]:
    function.__name__ = name
    function.__doc__ = f"""{what} `export`: {name.partition("_")[2]}. Raises ValueError (another format), TypeError."""
    return function

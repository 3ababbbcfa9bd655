"""Import objects from plain arrays in SuiteSparse's formats (`import_csr`, ..), or into an existing object (`pack_csr`,
..): the inverse of `export` and `unpack`. All arrays are copied.

Arrays are read up to the length that the sizes require. is_iso, or one number as `values`: one value for all entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import dtypes

from ...exceptions import InvalidValue
from ..exact import array_of
from ..matrix.matrix import Matrix
from ..options import check_options
from ..statement.running import guarded
from ..vector.vector import Vector

# Format -> (list of rows or columns that have entries, the indices in them, the constructor).
COMPRESSED: dict[str, tuple[str | None, str, Any]] = {
    "csr": (None, "col_indices", Matrix.from_csr), "csc": (None, "row_indices", Matrix.from_csc),
    "hypercsr": ("rows", "col_indices", Matrix.from_dcsr), "hypercsc": ("cols", "row_indices", Matrix.from_dcsc),
}  # fmt: skip
HINTS = ("sorted_rows", "sorted_cols", "sorted_index", "take_ownership", "secure_import", "nvec", "nvals")
INDEX_ARRAYS = ("indptr", "bitmap", "rows", "cols", "row_indices", "col_indices", "indices")


def _iso(values: Any, is_iso: bool, dtype: Any) -> Any:
    """A single number for iso values, else the array. dtype: that of the object, if given."""
    want = None if dtype is None else dtypes.lookup_dtype(dtype)
    values = _array(values, None if want is None or want._is_udt else want)
    if not is_iso and values.ndim:
        return values
    return values.reshape(-1)[0] if values.size else values.dtype.type(0)


def _array(given: Any, want: Any = None) -> np.ndarray:
    """The input as an array; integers of lists stay integers."""
    return np.asarray(given) if hasattr(given, "dtype") else array_of(given, want)


def _flat(array: Any, letter: str, size: int, name: str) -> np.ndarray:
    """`size` elements in the order of rows ("r") or columns ("c"). InvalidValue if there are fewer."""
    array = np.asarray(array)
    array = array.reshape(-1, order="F" if letter == "c" and array.ndim == 2 else "C")
    if array.size < size:
        raise InvalidValue(f"{name}: expected {size} elements, got {array.size}")
    return array[:size]


def _columnwise(*arrays: Any) -> bool:
    """Whether the first two-dimensional array is in column-major order."""
    found = next((a for a in arrays if isinstance(a, np.ndarray) and a.ndim == 2), None)
    return found is not None and found.flags.f_contiguous


def _matrix_form(given: dict[str, Any]) -> str:
    """The format of the given arrays. TypeError if they match none."""
    has = {name for name in INDEX_ARRAYS if given.get(name) is not None}
    if "bitmap" in has:
        if has != {"bitmap"}:
            raise TypeError(f"bitmap: expected no other indices, got {', '.join(sorted(has - {'bitmap'}))}")
        return "bitmapc" if _columnwise(given["values"], given["bitmap"]) else "bitmapr"
    if "indptr" in has:
        for form, (major, minor, _) in COMPRESSED.items():
            if has == {"indptr", minor} | ({major} if major else set()):
                return form
        raise TypeError(f"indptr: expected col_indices (and rows), or row_indices (and cols), got {sorted(has)}")
    if not has:
        return "fullc" if _columnwise(given["values"]) else "fullr"
    if has != {"rows", "cols"}:
        raise ValueError(f"coo requires both `rows` and `cols`, got {sorted(has)}")
    return "coo"


def _matrix(form: str, given: dict[str, Any], more: dict[str, Any]) -> Any:
    """The Matrix from these arrays. more: dtype and name."""
    values = _iso(given["values"], given.get("is_iso", False), more["dtype"])
    shape = given.get("nrows"), given.get("ncols")
    if form in COMPRESSED:
        major, minor, make = COMPRESSED[form]
        nmajor = shape[0] if form.endswith("r") else shape[1]
        ptr = _array(given["indptr"])
        ptr = ptr if nmajor is None or major else ptr[: int(nmajor) + 1]
        index: tuple[Any, ...] = (ptr, _array(given[minor])[: int(ptr[-1])])
        index = index if major is None else (_array(given[major])[: len(ptr) - 1], *index)
        cut = values if values.ndim == 0 else values[: int(ptr[-1])]
        return make(*index, cut, nrows=shape[0], ncols=shape[1], **more)
    if form.startswith("coo"):
        for letter, name in (("r", "sorted_rows"), ("c", "sorted_cols")):
            if form == f"coo{letter}" and not given.get(name, True):
                raise ValueError(f"{name} must be True for {form!r}")
        cut = values if values.ndim == 0 else values[: len(given["rows"])]
        return Matrix.from_coo(given["rows"], given["cols"], cut, nrows=shape[0], ncols=shape[1], **more)
    letter = form[-1]
    marks = given["bitmap"] if form.startswith("bitmap") else None
    nrows, ncols = _shape(shape, values, marks)
    size = nrows * ncols
    keep = slice(None) if marks is None else np.flatnonzero(_flat(marks, letter, size, "bitmap"))
    at = np.arange(size)[keep]
    cut = values if values.ndim == 0 else _flat(values, letter, size, "values")[keep]
    step = max(1, ncols if letter == "r" else nrows)
    i, j = (at // step, at % step) if letter == "r" else (at % step, at // step)
    return Matrix.from_coo(i, j, cut, nrows=nrows, ncols=ncols, **more)


def _shape(asked: tuple[Any, Any], *arrays: Any) -> tuple[int, int]:
    """The requested shape, or that of the bitmap, or of the values. ValueError if none of them is known."""
    found = next((np.shape(a) for a in reversed(arrays) if np.ndim(a) == 2), (None, None))
    nrows, ncols = (b if a is None else a for a, b in zip(asked, found))
    if nrows is None or ncols is None:
        raise ValueError("nrows and ncols must be provided unless an array has two dimensions")
    return int(nrows), int(ncols)


def _vector_form(given: dict[str, Any]) -> str:
    if given.get("indices") is not None and given.get("bitmap") is not None:
        raise TypeError("Cannot provide both `indices` and `bitmap`")
    return "sparse" if given.get("indices") is not None else "full" if given.get("bitmap") is None else "bitmap"


def _vector(form: str, given: dict[str, Any], more: dict[str, Any]) -> Any:
    values, size = _iso(given["values"], given.get("is_iso", False), more["dtype"]), given.get("size")
    if form == "sparse":
        indices = _array(given["indices"])
        cut = values if values.ndim == 0 else values[: len(indices)]
        return Vector.from_coo(indices, cut, size=size, **more)
    if size is None:
        size = len(given["bitmap"]) if values.ndim == 0 and form == "bitmap" else values.size
    size = int(size)
    at = np.arange(size) if form == "full" else np.flatnonzero(_flat(given["bitmap"], "r", size, "bitmap"))
    return Vector.from_coo(
        at, values if values.ndim == 0 else _flat(values, "r", size, "values")[at], size=size, **more
    )


KINDS = {"nrows": (_matrix_form, _matrix), "size": (_vector_form, _vector)}  # by the name of a size


def _made(kind: str, forms: Any, form: str, given: dict[str, Any]) -> Any:
    """The object from the arguments of an import. form: "any", or the format in its name."""
    guess, make = KINDS[kind]
    known = {*INDEX_ARRAYS, *HINTS, "values", "is_iso", "nrows", "ncols", "size"}
    asked, more = given.pop("format", None), {key: given.pop(key, None) for key in ("dtype", "name")}
    check_options({key: x for key, x in given.items() if key not in known})
    if asked is not None and (asked not in forms or form not in ("any", asked)):
        raise ValueError(f"Invalid format: expected {form if form != 'any' else ', '.join(forms)}, got {asked!r}")
    chosen = (asked or guess(given)) if form == "any" else form
    return make(chosen, given, more)


def importer(kind: str, forms: Any, form: str) -> Any:
    """import_FORM of a class of extras."""

    def import_form(cls: Any, values: Any, **arrays: Any) -> Any:
        return _made(kind, forms, form, arrays | {"values": values})

    return classmethod(_called(import_form, f"import_{form}", "A new object of the arrays of"))


def packer(kind: str, forms: Any, form: str) -> Any:
    """pack_FORM of a class of extras."""

    def pack_form(self: Any, values: Any, **arrays: Any) -> None:
        p = self._parent
        sizes = dict(zip(("nrows", "ncols") if kind == "nrows" else ("size",), p.shape))
        p << _made(kind, forms, form, arrays | sizes | {"values": values, "dtype": p.dtype}).to(p.device)

    return guarded(_called(pack_form, f"pack_{form}", "Replace the entries by the arrays of"))


def _called(function: Any, name: str, what: str) -> Any:
    function.__name__ = name
    function.__doc__ = f"""{what} `export`: {name.partition("_")[2]}. Raises ValueError (another format), TypeError."""
    return function

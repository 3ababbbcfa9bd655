"""Compare objects of two libraries: types, shapes, structure; integers exactly, floats within a tolerance."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

# Relative to the largest finite number of the object, because sums are added in different orders.
TOLERANCE = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}


def host(x: Any) -> np.ndarray:
    """An array as NumPy's, from a GPU too."""
    return x.get() if hasattr(x, "get") and not isinstance(x, np.ndarray) else np.asarray(x)


def is_object(x: Any) -> bool:
    return type(x).__name__ in ("Matrix", "Vector", "Scalar")


def plain(x: Any) -> Any:
    """The same for both libraries: names, numbers, tuples and NumPy's arrays."""
    if type(x).__name__ == "Scalar":
        value = x.value.item() if isinstance(x.value, np.void) else x.value
        is_float = isinstance(value, (float, complex))  # the type determines the tolerance
        return "Scalar", str(x.dtype), np.array([value], x.dtype.np_type) if is_float else value
    if is_object(x):
        return type(x).__name__, str(x.dtype), x.shape, *plain(x.to_coo())
    if isinstance(x, np.ndarray) or hasattr(x, "__cuda_array_interface__"):
        return host(x)
    if hasattr(x, "new"):
        return plain(x.new())
    if isinstance(x, dict):
        return tuple((plain(k), plain(v)) for k, v in sorted(x.items()))
    if isinstance(x, (list, tuple)):
        found = tuple(map(plain, x))
        return _by_row(found) if _is_coo(found) else found
    return x.item() if isinstance(x, np.generic) else x


def _is_coo(x: tuple) -> bool:
    """Rows, columns and values, or pairs of the first two, and values."""
    if len(x) not in (2, 3) or not all(isinstance(a, np.ndarray) for a in x):
        return False
    return [a.shape[1:] for a in x[:-1]] in ([(), ()], [(2,)]) and len({len(a) for a in x}) == 1


def _by_row(x: tuple) -> tuple:
    """SuiteSparse lists the entries in the order of its form, by row or by column."""
    rows, columns = x[0].T if len(x) == 2 else x[:2]
    order = np.lexsort((columns, rows))
    return tuple(a[order] for a in x)


def agree(x: Any, y: Any) -> str:
    """Compare two plain values: "exact", "close" (within the tolerance), or the difference."""
    if isinstance(x, tuple) and isinstance(y, tuple):
        if len(x) != len(y):
            return f"{len(x)} and {len(y)} of them"
        found = [agree(a, b) for a, b in zip(x, y)]
        return next((f for f in found if f not in ("exact", "close")), "close" if "close" in found else "exact")
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"{x.dtype} {x.shape} and {y.dtype} {y.shape}"
        return _arrays(x, y)
    if isinstance(x, (float, complex)) and type(x) is type(y):
        return _arrays(np.array([x]), np.array([y]))
    return "exact" if type(x) is type(y) and x == y else f"{x!r} and {y!r}"


def _arrays(x: np.ndarray, y: np.ndarray) -> str:
    if np.array_equal(x, y, equal_nan=x.dtype.kind in "fc"):
        return "exact"
    if x.dtype.kind == "c":  # what becomes of products of infinities is no rule
        both = ~(np.isfinite(x) | np.isfinite(y))
        x, y = np.where(both, 0, x), np.where(both, 0, y)
    if x.dtype.kind in "fc":
        finite = np.abs(x[np.isfinite(x)])
        scale = float(finite.max()) if finite.size else 0.0
        tolerance = TOLERANCE[x.dtype.name]
        if np.allclose(x, y, rtol=tolerance, atol=tolerance * scale if math.isfinite(scale) else 0, equal_nan=True):
            return "close"
    where = np.flatnonzero(~((x == y) | ((x != x) & (y != y))).reshape(x.shape))
    return f"{len(where)} values, the first at {where[0]}: {x.ravel()[where[0]]} and {y.ravel()[where[0]]}"


def is_kind_of(ours: Exception, theirs: Exception) -> bool:
    """Whether bitblas raises python-graphblas' error, by its name, or a subclass of one that it is of."""
    names = {c.__name__ for c in type(theirs).__mro__} - {"Exception", "BaseException", "object"}
    return bool(names & {c.__name__ for c in type(ours).__mro__})


def same_error(ours: Exception, theirs: Exception) -> bool:
    """The errors correspond. python-graphblas has no operators for user-defined types where others see what they
    cannot be cast to."""
    if type(theirs).__name__ == "TypingError":  # Numba's: a function that does not take such values
        return isinstance(ours, (KeyError, TypeError, ValueError))
    if all(re.search("Pair|Triple|user-defined", str(x)) or "DOMAIN_MISMATCH" in str(x) for x in (ours, theirs)):
        fits = lambda x: isinstance(x, (KeyError, TypeError)) or re.search("Domain|Typing", type(x).__name__)
        return all(map(fits, (ours, theirs)))
    return is_kind_of(ours, theirs)

"""Argument validation, memory checks, and choice of the library: shared by all algorithms.

An error message names the argument, the expected value, the value received, and a hint.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from numbers import Real
from types import ModuleType
from typing import TYPE_CHECKING, SupportsIndex, TypeVar

from .. import tuning as tuning

if TYPE_CHECKING:
    from ..core import Matrix, Vector
    from ..typing import Array

Number = TypeVar("Number", int, float)


def library(gb: ModuleType | None, A: object = None) -> ModuleType:
    """The module to run on: the one given, that of a distributed matrix, or bitblas (imported here to avoid an import
    cycle).
    """
    if gb is None:
        gb = getattr(A, "_library", None)
    if gb is None:
        import bitblas

        return bitblas
    return gb


def graph_given(name: str, program: str | None = None) -> TypeError:
    """TypeError for a Graph passed instead of its Matrix. program: the algorithm, which is also a method of Graph."""
    method = f"call the method, g.{program}(..), whose answers have the names of the vertices, or " if program else ""
    return TypeError(f"argument {name}: expected a Matrix, got a Graph. Hint: {method}pass g.matrix.")


def _hint_to_build(gb: ModuleType, A: object) -> str:
    """Hint how to build a Matrix from an object of another library."""
    libraries = {part.__module__.partition(".")[0] for part in type(A).__mro__}
    is_bitblas = gb.__name__ == "bitblas"
    if "networkx" in libraries:
        return "bitblas.io.from_networkx(G) makes one" if is_bitblas else f"{gb.__name__}.io.from_networkx(G) makes one"
    if hasattr(A, "tocoo"):
        made = "from_scipy_sparse(S) makes one"
        return f"bitblas.io.{made}" if is_bitblas else f"{gb.__name__}.io.{made}"
    if hasattr(A, "columns"):
        return "bitblas.Graph.from_table takes a table; its attribute matrix is the Matrix"
    if "igraph" in libraries:
        return "bitblas.Graph.from_igraph takes it; its attribute matrix is the Matrix"
    if hasattr(A, "ndim"):
        return "build it with Matrix.from_dense, or Matrix.from_coo"
    return "build it with Matrix.from_coo"


def square(gb: ModuleType, A: Matrix, name: str = "A") -> int:
    """The number of vertices. Raises unless A, the argument called `name`, is a square Matrix of the library."""
    # A transposed matrix has a class of its own; its transpose is a Matrix.
    if not isinstance(A, gb.Matrix) and not isinstance(getattr(A, "T", None), gb.Matrix):
        if hasattr(A, "matrix") and hasattr(A, "pagerank"):
            raise graph_given(name)
        made = "pass its library by the keyword gb=" if hasattr(A, "nvals") else _hint_to_build(gb, A)
        raise TypeError(f"argument {name}: expected a {gb.__name__} Matrix, got {_described(A)}. Hint: {made}.")
    if A.nrows != A.ncols:
        raise gb.exceptions.DimensionMismatch(
            f"argument {name}: expected a square adjacency matrix, got {A.nrows} rows and {A.ncols} columns. "
            f"Hint: give the number of vertices as both nrows= and ncols=."
        )
    return A.nrows


def symmetric(gb: ModuleType, A: Matrix, name: str = "A") -> int:
    """Like `square`; InvalidValue unless an entry (j, i) exists for each entry (i, j). bitblas caches the answer."""
    n = square(gb, A, name)
    if not is_symmetric(gb, A):
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected a symmetric matrix, with each edge as (i, j) and (j, i), got a matrix of "
            f"{A.nvals} entries, some in one direction only. "
            f"Hint: A.ewise_add(A.T, 'max').new() has each edge both ways; of a Graph, g.to_undirected()."
        )
    return n


def is_symmetric(gb: ModuleType, A: Matrix) -> bool:
    """Whether the structure of the square matrix A equals that of its transpose. bitblas caches the answer."""
    base = A if isinstance(A, gb.Matrix) else A.T
    store = getattr(base, "_store", None)
    if store is not None:
        return store.structure.symmetric
    if hasattr(A, "is_symmetric"):  # distributed
        return A.is_symmetric(values=False)
    both = gb.binary.pair[gb.dtypes.BOOL](A & A.T).new()
    return both.nvals == A.nvals


def vertex(gb: ModuleType, name: str, value: object, n: int) -> int:
    """`value` as a Python int, a vertex number below n."""
    value = integer(name, value, "a vertex number")
    if not 0 <= value < n:
        expected = f"a vertex number from 0 to {n - 1}" if n else "a graph with vertices"
        raise gb.exceptions.IndexOutOfBound(
            f"argument {name}: expected {expected}, got {value}. "
            f"Hint: vertices are numbered from 0, and negative numbers do not count from the end."
        )
    return value


def vertices(gb: ModuleType, name: str, values: Iterable[int], n: int) -> list[int]:
    """`values` as a list of Python ints, vertex numbers below n."""
    kind, ndim = getattr(getattr(values, "dtype", None), "kind", None), getattr(values, "ndim", None)
    whole = kind in ("i", "u") and ndim == 1
    try:
        numbers = values.tolist() if whole and hasattr(values, "tolist") else list(values)
    except TypeError:
        raise TypeError(
            f"argument {name}: expected vertex numbers, got {_described(values)}. Hint: pass a single vertex as [v]."
        ) from None
    # An integer array or a list of ints: check all at once.
    if (whole or {*map(type, numbers)} == {int}) and (not numbers or 0 <= min(numbers) <= max(numbers) < n):
        return numbers
    return [vertex(gb, name, value, n) for value in numbers]


def sources(gb: ModuleType, name: str, value: object, n: int) -> list[int]:
    """`value`, one or several vertices below n, as a list of distinct Python ints."""
    if isinstance(value, Iterable) and not isinstance(value, str) and getattr(value, "ndim", 1) != 0:
        return list(dict.fromkeys(vertices(gb, name, value, n)))
    return [vertex(gb, name, value, n)]


def set_entries(gb: ModuleType, w: Vector, source: list[int], values: float | list[int] | list[float]) -> None:
    """w = {source: values} for a list or a single value. A single entry is faster as an item assignment than as a
    Vector.
    """
    if len(source) == 1:
        w.clear()
        w[source[0]] = values[0] if isinstance(values, list) else values
    else:
        w << gb.Vector.from_coo(source, values, w.dtype, size=w.size)


def members(gb: ModuleType, vertices: list[int], n: int) -> Vector:
    """A BOOL Vector of size n with an entry at each of these vertices."""
    return gb.Vector.from_coo(vertices, True, gb.dtypes.BOOL, size=n)


def count(gb: ModuleType, name: str, value: object, hint: str, least: int = 1) -> int:
    """`value` as a Python int of at least `least`."""
    expected = f"an integer, {least} or more"
    value = integer(name, value, expected)
    return _within(gb, name, value, value >= least, expected, hint)


def number(
    gb: ModuleType, name: str, value: object, within: Callable[[float], bool], expected: str, hint: str
) -> float:
    """`value` as a Python float that satisfies the predicate `within`, which must be false for NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"argument {name}: expected {expected}, got {_described(value)}. Hint: {hint}.")
    real = float(value)
    return _within(gb, name, real, within(real), expected, hint)


def integer(name: str, value: object, expected: str = "an integer") -> int:
    """`value` as a Python int."""
    if type(value) is int:  # a check against a protocol takes microseconds
        return value
    # operator.index accepts NumPy integers and rejects floats, but would accept True as 1.
    try:
        if isinstance(value, bool) or not isinstance(value, SupportsIndex):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"argument {name}: expected {expected}, got {_described(value)}. Hint: convert it with int() if it is one."
        ) from None


def no_nan(gb: ModuleType, name: str, ok: bool, expected: str = "no NaN", got: object = "one") -> None:
    """InvalidValue for weights if `ok` is false."""
    if not ok:
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected weights with {expected}, got {got}. Hint: remove such edges with A.select."
        )


def path_error(gb: ModuleType, way: list[int], expected: str, got: str, hint: str) -> Exception:
    """InvalidValue that lists the vertices `way` of a forbidden path; a Graph replaces the numbers by names."""
    text = " -> ".join(map(str, way)) or "one"
    error = gb.exceptions.InvalidValue(f"argument A: expected {expected}, got {text}{got}. Hint: {hint}.")
    error.way = way
    return error


def flag(name: str, value: object) -> bool:
    """`value`, a bool."""
    if not isinstance(value, bool):
        raise TypeError(
            f"argument {name}: expected True or False, got {_described(value)}. Hint: convert it with bool()."
        )
    return value


def weights(gb: ModuleType, A: Matrix) -> float:
    """The sum of the values of a Matrix. InvalidValue if a value is negative, infinite or NaN."""
    sums, lows = (A.reduce_rowwise(f[gb.dtypes.FP64]).new() for f in (gb.monoid.plus, gb.monoid.min))
    return sum_of_weights(gb, sums, lows, "A", "A.select drops entries")


def sum_of_weights(gb: ModuleType, sums: Vector, lows: Vector, name: str, hint: str) -> float:
    """The sum of weights, given sums and minima of some of them; the same exceptions."""
    plus, least = gb.monoid.plus[gb.dtypes.FP64], gb.monoid.min[gb.dtypes.FP64]
    total = sums.reduce(plus, allow_empty=False).new().value
    lowest = lows.reduce(least, allow_empty=False).new().value
    if not (0 <= total < float("inf")) or lowest < 0:
        got = lowest if lowest < 0 else total
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected values of 0 or more with a finite sum, got {got}. Hint: {hint}."
        )
    return float(total)


def vector(gb: ModuleType, name: str, value: Vector, n: int) -> Vector:
    """`value`, a Vector of size n."""
    if not isinstance(value, gb.Vector):
        raise TypeError(
            f"argument {name}: expected a {gb.__name__} Vector, got {_described(value)}. "
            f"Hint: build it with Vector.from_coo or Vector.from_dense."
        )
    if value.size != n:
        raise gb.exceptions.DimensionMismatch(
            f"argument {name}: expected a Vector of size {n}, got {value.size}. Hint: one position per vertex."
        )
    return value


def labels(gb: ModuleType, name: str, value: Vector, n: int) -> Array:
    """`value`, a full Vector of n integers from 0 to n - 1, as an INT64 array."""
    value = vector(gb, name, value, n)
    found = value.dtype.name
    if not found.startswith(("INT", "UINT")) or value.nvals != n:
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected an integer for each of {n} vertices, got {value.nvals} of {found}. "
            f"Hint: vertices of one class have the same number."
        )
    numbers = value.to_dense().astype("int64")
    if n and not 0 <= int(numbers.min()) <= int(numbers.max()) < n:
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected numbers from 0 to {n - 1}, got {int(numbers.min())} to {int(numbers.max())}. "
            f"Hint: number the classes by one of their vertices, or from 0."
        )
    return numbers


def _within(gb: ModuleType, name: str, value: Number, ok: bool, expected: str, hint: str) -> Number:
    if not ok:
        raise gb.exceptions.InvalidValue(f"argument {name}: expected {expected}, got {value!r}. Hint: {hint}.")
    return value


def _described(value: object) -> str:
    text = repr(value) if isinstance(value, (bool, int, float, str)) else ""
    return f"{type(value).__module__}.{type(value).__qualname__} {text}".replace("builtins.", "").strip()


def memory(A: object, what: str, nbytes: float) -> None:
    """Raise bitblas's OutOfMemory if arrays of `nbytes` do not fit on the device of A. No check on python-graphblas."""
    foresee = getattr(getattr(A, "device", None), "foresee", None)
    if foresee is not None:
        foresee(what, int(nbytes))


def default_memory(gb: ModuleType, what: str, nbytes: float) -> None:
    """`memory` for the default device of new objects."""
    get = getattr(getattr(gb, "device", None), "get", None)  # None: python-graphblas has no devices
    if get is not None:
        get(gb.config.device).foresee(what, int(nbytes))

"""From the arrays that a reader made to a Matrix, and from a Matrix to the arrays that a writer takes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..exceptions import GraphblasException, InvalidValue, OutOfMemory, warn


def build(
    source: str, rows: np.ndarray, cols: np.ndarray, values: np.ndarray | None, shape: tuple[int, int], *,
    dup_op: Any, dtype: Any, name: str | None, directed: bool = True,
    where: Callable[[int, int], str] | None = None, **storage: Any,
) -> Any:  # fmt: skip
    """A Matrix of entries that were read; values None: a pattern, in which equal entries fall together.

    directed: False: each entry is one in both directions; where both were given, with other values, the lesser one
    stands, as in `Graph.to_undirected`, or what dup_op makes of them. where: names an entry that is there twice, from
    its row and column, as the file does: its line and its ends. Raises InvalidValue for such an entry with values and
    without dup_op, and for the name of a dup_op that is none; OutOfMemory.
    """
    if values is not None and dtype is not None:
        _check_held(source, values, dtype)
    check_dup_op(dup_op)
    if values is not None and dtype is None and dup_op is not None and values.dtype.kind in "iu":
        values = values.astype(np.int64 if values.itemsize < 8 else values.dtype, copy=False)  # sums have room
    sums = str(getattr(dup_op, "name", dup_op)).partition("[")[0] in ("plus", "times")
    if not directed and values is not None and sums and _there_already(rows, cols, values):
        warn(
            f"{source}: edges are there in both directions with the same weight, and dup_op joins these two: leave "
            "directed=False (--undirected) out, or take 'max', where both are one edge"
        )
    i, j, x = (rows, cols, values) if directed else mirrored(rows, cols, values)
    try:
        return from_entries(i, j, x, dtype, shape, dup_op=dup_op, name=name, **storage)
    except MemoryError as error:
        raise OutOfMemory(f"{source}: {shape[0]} x {shape[1]} with {len(rows)} entries: {error}") from None
    except (ValueError, GraphblasException):
        if values is None or dup_op is not None:
            raise
        twice = _first_duplicate(rows, cols)
        if twice is None and (directed or _first_duplicate(i, j) is None):
            raise
        if twice is None:
            if x is not None and _differ(i, j, x):
                warn_of_directions(source)
            return from_entries(i, j, x, dtype, shape, dup_op=lesser(values.dtype), name=name, **storage)
        got = where(*twice) if where else f": expected every entry once, got row {twice[0]}, column {twice[1]} twice"
        raise InvalidValue(f"{source}{got}; {JOINING}") from None


LOOKED_AT = 16  # edges whose other direction is looked for


def _there_already(rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> bool:
    """Whether edges, as far as some say, are there in both directions with one weight."""
    apart = np.flatnonzero(rows != cols)
    some = apart[:: max(1, len(apart) // LOOKED_AT)].tolist()
    return bool(some) and all(((rows == cols[k]) & (cols == rows[k]) & (values == values[k])).any() for k in some)


def _check_held(source: str, values: np.ndarray, dtype: Any) -> None:
    """Refuse integers of a type that does not hold the values that were read."""
    import bitblas as gb

    kind = gb.dtypes.lookup_dtype(dtype)
    if getattr(kind.np_type, "kind", "") not in "iu" or values.dtype.kind not in "iuf" or not len(values):
        return
    limits, low, high = np.iinfo(kind.np_type), values.min(), values.max()
    wrong = high if high > limits.max else low if low < limits.min else None
    if wrong is None and values.dtype.kind == "f" and (apart := values != np.floor(values)).any():
        wrong = values[apart][0]
    if wrong is not None:
        raise InvalidValue(f"{source}: dtype {kind}: expected weights that it holds, got {wrong}")


def check_weights(edges: Iterable[tuple[Any, Any, Any]], weight: Any, dtype: Any = None) -> None:
    """InvalidValue for the first weight that is no number, and for the first integer beyond `dtype`.

    edges: both ends and the weight of each. dtype None: integers are INT64, or UINT64 if none is negative; they are not
    checked if there are floats among the weights.
    """
    found = list(edges)
    told = lambda u, v, value, expected: InvalidValue(
        f"weight: expected {expected} as {weight!r} of every edge, got {value!r} on the edge from {u!r} to {v!r}"
    )
    for u, v, value in found:
        if not isinstance(value, int | float | complex | np.number | np.bool_):
            raise told(u, v, value, "a number")
    if not all(isinstance(value, int | np.integer) for *_, value in found):
        return
    kind = getattr(dtype, "np_type", None)
    if kind is None:
        kind = np.dtype(np.int64 if any(value < 0 for *_, value in found) else np.uint64)
    if kind.kind not in "iu":
        return
    limits = np.iinfo(kind)
    for u, v, value in found:
        if not limits.min <= value <= limits.max:
            raise told(u, v, value, f"a number from {limits.min} to {limits.max}")


JOINING = "dup_op (--dup-op) says how to join them: 'plus', 'min', 'max', 'first', .."
# What other libraries call these, and what has no name of its own here.
_OPERATORS = {
    "sum": "'plus'",
    "add": "'plus'",
    "last": "'second'",
    "product": "'times'",
    "mul": "'times'",
    "or": "'lor'",
}
_OPERATORS |= {"mean": "'plus', and 'plus' of ones, and divide", "count": "'plus' of ones", "keep": "'first'"}


def warn_of_directions(source: str) -> None:
    """Warn of edges without a direction that were there in both with two values."""
    warn(f"{source}: edges are there in both directions with different values; the lesser stands; {JOINING}")


def check_dup_op(dup_op: Any) -> None:
    """Refuse a name that is no operator: InvalidValue, with the one that may be meant."""
    import bitblas as gb

    if not isinstance(dup_op, str) or not dup_op.isidentifier() or hasattr(gb.binary, dup_op):
        return
    near = difflib.get_close_matches(dup_op, [name for name in dir(gb.binary) if not name.startswith("_")], 1)
    meant = _OPERATORS.get(dup_op) or (repr(near[0]) if near else "'plus', 'min', 'max', 'first', ..")
    raise InvalidValue(f"dup_op: expected the name of a binary operator, got {dup_op!r}. Hint: {meant}")


SPARSE, FEW = 10, 1000  # numbers from 0 for each vertex that has edges, and the numbers, from which on a warning comes


def warn_of_gaps(source: str, rows: np.ndarray, cols: np.ndarray, size: int) -> None:
    """Warn where most numbers of vertices have no edge: they are ids, it seems, and no numbers from 0."""
    if size <= FEW or not len(rows):
        return
    if size > 2 * SPARSE * len(rows):
        found = len(np.unique(np.concatenate([rows, cols])))
    else:
        there = np.zeros(size, bool)
        for part in (slice(0, size), slice(size, None)):  # mostly the first edges say enough
            there[rows[part]] = there[cols[part]] = True
            found = int(np.count_nonzero(there))
            if size <= SPARSE * found:
                return
    _warn_of_few(source, found, size)


def warn_of_gaps_in(source: str, A: Any) -> None:
    """The same of a square Matrix, whose edges were read in parts."""
    import bitblas as gb

    if A.nrows <= FEW or not A.nvals:
        return
    ends = A.reduce_rowwise(gb.monoid.any).new()
    if A.nrows > SPARSE * ends.nvals:  # mostly the rows say enough
        ends = ends.ewise_add(A.reduce_columnwise(gb.monoid.any).new(), gb.monoid.any).new()
        _warn_of_few(source, ends.nvals, A.nrows)


def _warn_of_few(source: str, found: int, size: int) -> None:
    if size > SPARSE * found:
        warn(
            f"{source}: {found} different numbers of vertices, of {size} in all, so that {size - found} have no "
            "edge: labels=True (--labels) if these are ids, size= (--size) if they are meant"
        )


def lesser(dtype: Any) -> Any:
    """The operator that keeps the lesser of two values."""
    import bitblas as gb

    return gb.binary.land if str(dtype) in ("BOOL", "bool") else gb.binary.min


def from_entries(
    rows: np.ndarray, cols: np.ndarray, values: np.ndarray | None, dtype: Any, shape: tuple[int, int], *, dup_op: Any,
    **more: Any,
) -> Any:  # fmt: skip
    """`Matrix.from_coo`; the Matrix holds one value where all are the same to the bit. values None: a pattern."""
    import bitblas as gb

    more |= {"nrows": shape[0], "ncols": shape[1]}
    if values is None or one_value(values):
        A = gb.Matrix.from_coo(rows, cols, True if values is None else values[0], dtype, **more)
        if values is None or A.nvals == len(rows):  # else entries are there twice, which have fallen together
            return A
    return gb.Matrix.from_coo(rows, cols, values, dtype, dup_op=dup_op, **more)


def mirrored(rows: np.ndarray, cols: np.ndarray, values: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    """Every edge and its mirror image, side by side, so that duplicates are joined in the order of the file."""
    keep = np.ones(2 * len(rows), bool)
    keep[1::2] = rows != cols
    there, back = np.stack([rows, cols], 1).ravel()[keep], np.stack([cols, rows], 1).ravel()[keep]
    return there, back, None if values is None else np.repeat(values, 2)[keep]


def _first_duplicate(rows: np.ndarray, cols: np.ndarray) -> tuple[int, int] | None:
    order = np.lexsort((cols, rows))
    rows, cols = rows[order], cols[order]
    same = np.flatnonzero((rows[1:] == rows[:-1]) & (cols[1:] == cols[:-1]))
    return (int(rows[same[0]]), int(cols[same[0]])) if len(same) else None


def _differ(rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> bool:
    """Whether an entry that is there twice has two values."""
    order = np.lexsort((cols, rows))
    rows, cols, values = rows[order], cols[order], values[order]
    return bool(((rows[1:] == rows[:-1]) & (cols[1:] == cols[:-1]) & (values[1:] != values[:-1])).any())


def host_coo(A: Any) -> tuple[np.ndarray, ...]:
    """`A.to_coo()` as NumPy arrays, wherever A is, by row, then column. Objects of python-graphblas will do too."""
    if type(A).__name__ == "TransposedMatrix":  # of either library; its entries come in the order of A.T
        A = A.new()
    arrays = A.to_coo()
    return tuple(map(A.device.to_host, arrays)) if hasattr(A, "device") else tuple(arrays)


def columns_of(A: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Rows, columns (INT64), values, shape; a Vector is one column."""
    *indices, values = host_coo(A)
    at = indices[0].astype(np.int64, copy=False)
    if len(indices) == 1:
        return at, np.zeros(len(values), np.int64), values, (A.size, 1)
    return at, indices[1].astype(np.int64, copy=False), values, (A.nrows, A.ncols)


def one_value(values: np.ndarray) -> bool:
    """There is one, and all have the same bits."""
    raw = _bits(values)
    return len(raw) > 0 and bool((raw == raw[0]).all())


def symmetry_of(rows: np.ndarray, cols: np.ndarray, values: np.ndarray, asked: str | None = None) -> str:
    """What the entries of a square matrix, by row, then column, are: symmetric, hermitian, skew-symmetric or general.

    To the bit: a file of the lower triangle gives the same matrix back. asked: what is tried first; a matrix with zeros
    on its diagonal is skew-symmetric if that was asked for.
    """
    by_column = np.lexsort((rows, cols))
    if not (np.array_equal(rows, cols[by_column]) and np.array_equal(cols, rows[by_column])):
        return "general"
    mirror, diagonal = values[by_column], rows == cols
    kinds = {"symmetric": mirror}
    if values.dtype.kind == "c" and not values[diagonal].imag.any():
        kinds["hermitian"] = np.where(diagonal, values, mirror.conj())
    if values.dtype.kind in "ifc" and not (values[diagonal] if asked == "skew-symmetric" else diagonal).any():
        kinds["skew-symmetric"] = np.where(diagonal, values, -mirror)
    for kind in (asked, *kinds):
        if kind in kinds and np.array_equal(_bits(values), _bits(kinds[kind])):
            return kind
    return "general"


def _bits(values: np.ndarray) -> np.ndarray:
    """Values as integers of the same bits: NaN equals itself, 0.0 is not -0.0."""
    raw = np.ascontiguousarray(values)
    if raw.dtype == np.complex128:
        return raw.view(np.uint64).reshape(-1, 2)
    return raw.view(f"u{raw.dtype.itemsize}") if raw.dtype.kind in "biufc" and raw.dtype.itemsize <= 8 else raw

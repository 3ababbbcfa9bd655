"""Build a Matrix from the arrays of a reader, at once or in chunks, combining duplicates; extract the arrays of a
Matrix.

Sums and products of small integers are INT64 and never wrap.
"""

from __future__ import annotations

import difflib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, TypedDict

import numpy as np

from semirings import BinaryOp, DataType, Monoid, Parameterized, Typed, binary, monoid
from semirings.dtypes import FP64, INT64, lookup_dtype

from .. import device as devices
from .. import tuning
from ..core import Matrix
from ..core.operators import typed
from ..exceptions import GraphblasException, InvalidValue, OutOfMemory, warn
from ..typing import DTypeLike
from .files import Input, Source, open_input

# What users pass as dup_op: the name of an operator, or an operator.
DupOp: TypeAlias = str | BinaryOp | Monoid | Parameterized | Typed[BinaryOp] | Typed[Monoid] | Callable[..., object]


# Rows, columns from 0, and values (None: a pattern) of a matrix.
Entries: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray | None]


class Coordinates(Protocol):
    """A Matrix or a Vector, also of python-graphblas."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def to_coo(self) -> tuple[Any, ...]: ...


class Storage(TypedDict, total=False):
    """Where and how a Matrix is stored: keywords of `Matrix.from_coo`."""

    device: str | None
    format: str | None
    tile: int | None
    packed: bool | None


class MatrixOptions(NamedTuple):
    """How a reader makes its Matrix of the entries that it read: keywords that all readers share."""

    dup_op: DupOp | None = None
    dtype: DTypeLike | None = None
    name: str | None = None
    device: str | None = None
    format: str | None = None
    tile: int | None = None
    packed: bool | None = None

    @property
    def storage(self) -> Storage:
        return {"device": self.device, "format": self.format, "tile": self.tile, "packed": self.packed}

    @property
    def type(self) -> DataType | None:
        return None if self.dtype is None else lookup_dtype(self.dtype)


# ---- Combine the weights of duplicate edges: sums and products of small integers are INT64 and never wrap.

DUP_OP_HINT = "dup_op combines them: 'plus', 'min', 'max', 'first', .."
# Names of other libraries, and aggregations without an operator here.
_OPERATORS = {
    "sum": "'plus'", "add": "'plus'", "last": "'second'", "product": "'times'", "mul": "'times'", "or": "'lor'",
    **dict.fromkeys(("mean", "avg", "average"), "'plus' of the weights divided by 'plus' of ones"),
    "count": "'plus' of ones", "keep": "'first'",
}  # fmt: skip
_SUMS = ("plus", "minus", "rminus")  # bounded by the sum of absolute values
_GROW = (*_SUMS, "times", "pow", "rpow")


def check_dup_op(dup_op: DupOp | None, dtype: DTypeLike | None = None) -> None:
    """Raise InvalidValue for an unknown operator name (with a suggestion) and for an operator that is not defined for
    `dtype`; TypeError for an object that is neither a name nor an operator."""
    if isinstance(dup_op, str) and dup_op.isidentifier() and not hasattr(binary, dup_op):
        near = difflib.get_close_matches(dup_op, [name for name in dir(binary) if not name.startswith("_")], 1)
        meant = _OPERATORS.get(dup_op) or (repr(near[0]) if near else "'plus', 'min', 'max', 'first', ..")
        raise InvalidValue(f"dup_op: expected the name of a binary operator, got {dup_op!r}. Hint: {meant}")
    if dup_op is None or dtype is None:
        return
    try:
        typed(dup_op, "binary", lookup_dtype(dtype))
    except (KeyError, ValueError) as error:
        raise InvalidValue(
            f"dup_op: expected a binary operator of {dtype}, got {dup_op!r}: {str(error.args[0]).removeprefix('op: ')}"
        ) from None
    except TypeError as error:
        raise TypeError(f"dup_op: {str(error).removeprefix('op: ')}") from None


def operator_name(dup_op: DupOp | None) -> str:
    """The name of an operator, without its type."""
    return str(getattr(dup_op, "name", dup_op)).partition("[")[0]


def may_overflow(dup_op: DupOp | None, dtype: np.dtype) -> bool:
    """Whether the result of an operator on two integers may overflow their type. dtype: NumPy's."""
    return dup_op is not None and dtype.kind in "iu" and operator_name(dup_op) in _GROW


def results_fit(dup_op: DupOp | None, total: float, dtype: np.dtype) -> bool:
    """Whether results certainly fit, given `total`, the sum of absolute values. dtype: an integer type of NumPy."""
    name = operator_name(dup_op)
    if name not in _SUMS or (dtype.kind == "u" and name != "plus"):  # 3 - 5 is no UINT64
        return False
    return total < float(np.iinfo(dtype).max) * 0.999


def sum_of_magnitudes(values: np.ndarray) -> float:
    """The approximate sum of absolute values."""
    return float(np.abs(values.astype(np.float64)).sum())


def wide_type(dtype: np.dtype) -> np.dtype:
    """INT64 for smaller integer types, so that sums fit."""
    return dtype if dtype.itemsize == 8 else np.dtype(np.int64)


def _beyond(low: int, high: int, dtype: np.dtype) -> int | None:
    """One of two numbers that an integer type cannot represent, None if it holds both."""
    limits = np.iinfo(dtype)
    return high if high > limits.max else low if low < limits.min else None


def cast_to(source: str, A: Matrix, dtype: DTypeLike, name: str | None) -> Matrix:
    """Cast an INT64 Matrix to a smaller type. InvalidValue for a value that does not fit."""
    kind = lookup_dtype(dtype)
    if A.nvals:
        low, high = (int(A.reduce_scalar(f).new().value) for f in (monoid.min, monoid.max))
        if (wrong := _beyond(low, high, kind.np_type)) is not None:
            raise InvalidValue(f"{source}: dtype {kind}: expected weights that fit, got {wrong}")
    return A.dup(kind, name=name)


# ---- Build a Matrix from the arrays of a reader, and extract the arrays of a Matrix for a writer.


def build(
    source: str,
    entries: Entries,
    shape: tuple[int, int],
    options: MatrixOptions,
    *,
    directed: bool = True,
    where: Callable[[int, int], str] | None = None,
    early: int | None = None,
) -> Matrix:
    """A Matrix of entries that were read; values None: a pattern, in which duplicates are merged.

    directed: False: each entry is stored in both directions; if both were given with different values, the smaller is
    kept, as in `Graph.to_undirected`, or dup_op combines them. where: describes a duplicate entry, given its row and
    column, in the terms of the file: its line and its ends. early: the number of entries that are
    checked for duplicates before the Matrix is built. Raises InvalidValue for duplicate entries with values if
    dup_op is not given, and for an unknown dup_op; OutOfMemory.
    """
    (rows, cols, values), dup_op, dtype = entries, options.dup_op, options.dtype
    if values is not None:
        check_values_fit(source, values, dtype)
    check_dup_op(dup_op, None if values is None else values.dtype if dtype is None else dtype)
    if values is not None and dtype is None and dup_op is not None and values.dtype.kind in "iu":
        values = values.astype(wide_type(values.dtype), copy=False)  # room for sums
    sums = operator_name(dup_op) in ("plus", "times")
    if not directed and values is not None and sums and _sample_has_both_directions(rows, cols, values):
        warn(
            f"{source}: edges are present in both directions with the same weight, and dup_op combines the two: if "
            "they are one edge, omit directed=False or pass dup_op='max'"
        )

    def refuse(at: np.ndarray) -> InvalidValue:
        twice = int(rows[at[0]]), int(cols[at[0]])
        got = where(*twice) if where else f": expected every entry once, got row {twice[0]}, column {twice[1]} twice"
        return InvalidValue(f"{source}{got}. Hint: {DUP_OP_HINT}")

    early = tuning.count("file.early_entries") if early is None else early
    if values is not None and dup_op is None and len(at := repeated_entries(rows[:early], cols[:early])):
        raise refuse(at)
    both = i, j, x = (rows, cols, values) if directed else with_reverse_edges((rows, cols, values))
    try:
        return from_entries_exact(source, both, shape, options)
    except MemoryError as error:
        raise OutOfMemory(f"{source}: {shape[0]} x {shape[1]} with {len(rows)} entries: {error}") from None
    except (ValueError, GraphblasException):
        if values is None or dup_op is not None:
            raise
        at = repeated_entries(rows, cols)
        if len(at):
            raise refuse(at) from None
        if directed or not len(repeated_entries(i, j)):
            raise
        if x is not None and _differ(i, j, x):
            warn_conflicting_directions(source)
        return from_entries(both, shape, options._replace(dup_op=smaller_operator(values.dtype)))


SAMPLED_EDGES = 16  # edges whose reverse is looked up


def _sample_has_both_directions(rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> bool:
    """Whether a sample of edges is present in both directions with equal weights."""
    apart = np.flatnonzero(rows != cols)
    some = apart[:: max(1, len(apart) // SAMPLED_EDGES)].tolist()
    return bool(some) and all(((rows == cols[k]) & (cols == rows[k]) & (values == values[k])).any() for k in some)


def check_values_fit(source: str, values: np.ndarray, dtype: DTypeLike | None) -> None:
    """Raise InvalidValue if an integer dtype cannot represent the values that were read. Every reader calls it: whole
    files, chunks and distributed parts."""
    if dtype is None or values.dtype.kind not in "iuf" or not len(values):
        return
    kind = lookup_dtype(dtype)
    if kind.np_type.kind not in "iu":
        return
    wrong = _beyond(values.min().item(), values.max().item(), kind.np_type)  # Python compares exactly
    if wrong is None and values.dtype.kind == "f" and (apart := values != np.floor(values)).any():
        wrong = values[apart][0]
    if wrong is not None:
        raise InvalidValue(f"{source}: dtype {kind}: expected weights that fit, got {wrong}")


def check_weights(
    edges: Iterable[tuple[Hashable, Hashable, Any]], weight: str | None, dtype: DataType | None = None, hint: str = ""
) -> None:
    """Raise InvalidValue for the first weight that is not a number, and for the first integer outside `dtype`.

    edges: both ends and the weight of each. dtype None: integers are INT64, or UINT64 if none is negative; they are not
    checked if some weights are floats.
    """
    found = list(edges)
    error = lambda u, v, value, expected: InvalidValue(
        f"weight: expected {expected} as {weight!r} of every edge, got {value!r} on the edge from {u!r} to {v!r}"
    )
    for u, v, value in found:
        if not isinstance(value, int | float | complex | np.number | np.bool_):
            raise error(u, v, value, "a number")
    if not all(isinstance(value, int | np.integer) for *_, value in found):
        return
    signed = any(value < 0 for *_, value in found)
    kind = np.dtype(np.int64 if signed else np.uint64) if dtype is None else dtype.np_type
    if kind.kind not in "iu":
        return
    limits = np.iinfo(kind)
    for u, v, value in found:
        if not limits.min <= value <= limits.max:
            fault = error(u, v, value, f"a number from {limits.min} to {limits.max}")
            raise InvalidValue(f"{fault}{hint}") if dtype is None else fault


def warn_conflicting_directions(source: str) -> None:
    """Warn of undirected edges that were given in both directions with different values."""
    warn(
        f"{source}: edges are present in both directions with different values; the smaller is kept. "
        f"Hint: {DUP_OP_HINT}"
    )


def smaller_operator(dtype: DataType | np.dtype) -> BinaryOp:
    """The operator that keeps the smaller of two values."""
    return binary.land if str(dtype) in ("BOOL", "bool") else binary.min


def from_entries(entries: Entries, shape: tuple[int, int], options: MatrixOptions) -> Matrix:
    """`Matrix.from_coo`; iso-valued if all values have the same bits."""
    (rows, cols, values), (nrows, ncols) = entries, shape
    make = partial(
        Matrix.from_coo, rows, cols, dtype=options.dtype, nrows=nrows, ncols=ncols, name=options.name, **options.storage
    )
    if values is None or has_one_value(values):
        A = make(True if values is None else values[0])
        if values is None or A.nvals == len(rows):  # else duplicates were merged
            return A
    return make(values, dup_op=options.dup_op)


def from_entries_exact(source: str, entries: Entries, shape: tuple[int, int], options: MatrixOptions) -> Matrix:
    """`from_entries`, but sums and products of integers do not wrap. dtype None: small integers become INT64. Raises
    InvalidValue for a result that does not fit the type."""
    (rows, cols, values), dup_op, name = entries, options.dup_op, options.name
    kind = None if options.type is None else options.type.np_type
    if values is None or not may_overflow(dup_op, values.dtype) or (kind is not None and kind.kind not in "iu"):
        return from_entries(entries, shape, options)
    total = sum_of_magnitudes(values)
    direct = kind is not None and results_fit(dup_op, total, kind)
    wide = kind if kind is not None and (direct or kind.itemsize == 8) else wide_type(values.dtype)
    A = from_entries(entries, shape, options._replace(dtype=wide))
    if A.nvals < len(rows) and not results_fit(dup_op, total, wide):
        floats = MatrixOptions(operator_name(dup_op), FP64, device=options.device)
        B = from_entries((rows, cols, values.astype(np.float64)), shape, floats)
        check_overflow(source, dup_op, A, B)
    return A if kind is None or kind == wide else cast_to(source, A, kind, name)


def check_overflow(source: str, dup_op: DupOp | None, joined: Matrix, floats: Matrix) -> None:
    """Raise InvalidValue if integers wrapped. floats: the same Matrix in FP64; a wrapped value differs from it by a
    multiple of 2**64."""
    (rows, cols, values), real = host_coo(joined), host_coo(floats)[-1]
    wrong = np.abs(values.astype(np.float64) - real) >= 2.0 ** (8 * values.itemsize - 1)
    if wrong.any():
        k = int(wrong.argmax())
        low, high = np.iinfo(values.dtype).min, np.iinfo(values.dtype).max
        raise InvalidValue(
            f"{source}: dup_op {operator_name(dup_op)!r}: expected weights from {low} to {high} ({joined.dtype}), got "
            f"about {real[k]:.17g} in row {rows[k]}, column {cols[k]}. Hint: sums of FP64 weights are rounded instead"
        )


def with_reverse_edges(entries: Entries) -> Entries:
    """Every edge followed by its reverse, so that duplicates are combined in the order of the file."""
    rows, cols, values = entries
    keep = np.ones(2 * len(rows), bool)
    keep[1::2] = rows != cols
    there, back = np.stack([rows, cols], 1).ravel()[keep], np.stack([cols, rows], 1).ravel()[keep]
    return there, back, None if values is None else np.repeat(values, 2)[keep]


def is_power_of_two(count: int) -> bool:
    """Which blocks of a file are checked for duplicates of their own: ever fewer."""
    return count & (count - 1) == 0


def repeated_entries(rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Positions of entries that repeat an earlier one, sorted by row, then column."""
    none = np.zeros(0, np.int64)
    if len(rows) < 2:
        return none
    width = int(cols.max()) + 1
    if (int(rows.max()) + 1) * width < 1 << 63:
        keys = rows.astype(np.int64)
        keys *= width
        keys += cols
        if (keys[1:] > keys[:-1]).all():
            return none
        ordered = np.sort(keys)
        if not (ordered[1:] == ordered[:-1]).any():
            return none
        order = np.argsort(keys, kind="stable")
        same = keys[order[1:]] == keys[order[:-1]]
    else:
        order = np.lexsort((cols, rows))  # stable
        same = (rows[order[1:]] == rows[order[:-1]]) & (cols[order[1:]] == cols[order[:-1]])
    later: np.ndarray = order[1:][same]
    return later


def _differ(rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> bool:
    """Whether a duplicate entry has two different values."""
    order = np.lexsort((cols, rows))
    rows, cols, values = rows[order], cols[order], values[order]
    return bool(((rows[1:] == rows[:-1]) & (cols[1:] == cols[:-1]) & (values[1:] != values[:-1])).any())


def host_coo(A: Coordinates) -> tuple[np.ndarray, ...]:
    """`A.to_coo()` as NumPy arrays, from any device, by row, then column."""
    if type(A).__name__ == "TransposedMatrix" and hasattr(A, "new"):  # its entries are in the order of A.T
        A = A.new()
    arrays = A.to_coo()
    return tuple(map(A.device.to_host, arrays)) if hasattr(A, "device") else tuple(arrays)


def columns_of(A: Coordinates) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Rows, columns (INT64), values, shape; a Vector is one column."""
    *indices, values = host_coo(A)
    at = indices[0].astype(np.int64, copy=False)
    if len(indices) == 1:
        return at, np.zeros(len(values), np.int64), values, (A.shape[0], 1)
    return at, indices[1].astype(np.int64, copy=False), values, (A.shape[0], A.shape[1])


def has_one_value(values: np.ndarray) -> bool:
    """Whether there is a value and all have the same bits."""
    raw = _bits(values)
    return len(raw) > 0 and bool((raw == raw[0]).all())


def symmetry_of(rows: np.ndarray, cols: np.ndarray, values: np.ndarray, requested: str | None = None) -> str:
    """The symmetry of the entries of a square matrix, sorted by row, then column: symmetric, hermitian, skew-symmetric
    or general.

    Bits are compared, so that a file of the lower triangle restores the same matrix. requested: the kind to try first;
    a matrix with zeros on its diagonal counts as skew-symmetric only if requested.
    """
    by_column = np.lexsort((rows, cols))
    if not (np.array_equal(rows, cols[by_column]) and np.array_equal(cols, rows[by_column])):
        return "general"
    mirror, diagonal = values[by_column], rows == cols
    kinds = {"symmetric": mirror}
    if values.dtype.kind == "c" and not values[diagonal].imag.any():
        kinds["hermitian"] = np.where(diagonal, values, mirror.conj())
    least = values.dtype.kind == "i" and bool((values == np.iinfo(values.dtype).min).any())  # it has no negative
    zeros = not (values[diagonal] if requested == "skew-symmetric" else diagonal).any()
    if values.dtype.kind in "ifc" and zeros and not least:
        kinds["skew-symmetric"] = np.where(diagonal, values, -mirror)
    for kind in (requested, *kinds):
        if kind in kinds and np.array_equal(_bits(values), _bits(kinds[kind])):
            return kind
    return "general"


def _bits(values: np.ndarray) -> np.ndarray:
    """Values as integers of the same bits: NaN equals itself, 0.0 differs from -0.0."""
    raw = np.ascontiguousarray(values)
    if raw.dtype == np.complex128:
        return raw.view(np.uint64).reshape(-1, 2)
    return raw.view(f"u{raw.dtype.itemsize}") if raw.dtype.kind in "biufc" and raw.dtype.itemsize <= 8 else raw


# ---- Chunked reading of files larger than memory: two passes, block by block, into `Matrix.from_chunks`.


def in_chunks(source: Input, chunked: bool | None, needed: Callable[[], int]) -> bool:
    """Whether to read a file in chunks: as requested, otherwise if reading it at once would not fit in memory."""
    if isinstance(source, (str, os.PathLike)):
        return bool(devices.get("cpu").missing(needed())) if chunked is None else chunked
    if chunked:
        raise InvalidValue("chunked: expected a path because the file is read twice, got an open file")
    return False


class FileChunks(ABC):
    """The entries of a file, as a repeatable iterable. The first pass sets `shape` and `value_dtype`, the type of all
    values. dtype: of the resulting Matrix, which must hold all values; None: `value_dtype`."""

    def __init__(self, source: Input, progress: bool | None) -> None:
        assert isinstance(source, (str, os.PathLike))  # only paths are read in chunks
        self.source, self.progress, self.name = source, progress, os.fspath(source)
        self.shape: tuple[int, ...] = ()
        self.entries_read, self.total = 0, 0.0  # entries, and the sum of their absolute values
        self.value_dtype: np.dtype | None = None
        self.dtype: DTypeLike | None = None
        self.refuse_duplicates = False  # whether duplicate entries that occur while reading are refused

    def __iter__(self) -> Iterator[tuple[np.ndarray, ...]]:
        self.entries_read, self.total = 0, 0.0
        with open_input(self.source, self.progress) as stream:
            for rows, cols, values in self.entries(stream):
                self.entries_read += len(rows)
                self.total += 0.0 if values is None or values.dtype.kind not in "iu" else sum_of_magnitudes(values)
                if values is not None:
                    check_values_fit(self.name, values, self.dtype)
                yield (rows, cols) if values is None else (rows, cols, values)

    @abstractmethod
    def entries(self, stream: Source) -> Iterator[Entries]:
        """Rows, columns and values (None: a pattern) of one part of the file after the other."""

    def matrix(self, options: MatrixOptions) -> Matrix:
        """The Matrix. Raises InvalidValue for duplicate entries with values if dup_op is None; OutOfMemory."""
        check_dup_op(options.dup_op)
        self.dtype, self.refuse_duplicates = options.dtype, options.dup_op is None
        try:
            return self._joined(options)
        except MemoryError as error:
            raise OutOfMemory(f"{self.name}: {error}") from None
        except ValueError as error:
            if isinstance(error, InvalidValue) or "Duplicate" not in str(error):
                raise
            raise DuplicateEntry(
                f"{self.name}: expected every entry once, got one twice. Hint: {DUP_OP_HINT}"
            ) from None

    def _joined(self, options: MatrixOptions) -> Matrix:
        """`Matrix.from_chunks`, but sums and products of integers do not wrap: those of a small dtype are computed as
        INT64."""
        dup_op, kind, name = options.dup_op, options.type, options.name
        small = kind is not None and may_overflow(dup_op, kind.np_type) and kind.nbytes < 8
        dtype = INT64 if small else kind
        A = Matrix.from_chunks(self, dup_op=dup_op, dtype=dtype, name=name, **options.storage)
        stored = A.dtype.np_type
        if may_overflow(dup_op, stored) and A.nvals < self.entries_read and not results_fit(dup_op, self.total, stored):
            B = Matrix.from_chunks(self, dup_op=operator_name(dup_op), dtype=FP64, device=options.device)
            check_overflow(self.name, dup_op, A, B)
        return cast_to(self.name, A, kind, name) if kind is not None and small else A


class DuplicateEntry(InvalidValue):
    """A duplicate entry."""

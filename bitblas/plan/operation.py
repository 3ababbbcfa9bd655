"""Which way an operation other than a product runs: element-wise, selection, reduction, extraction, assignment.

Each function `*_way` is the only place of its decision: the operation branches on its result. It reads types, counts
and stored formats, and launches nothing. `choose(..)` makes the Plan that `gb.explain` and traces print: the way, and
the reason, with the row of bitblas/tuning.py that decided. Small element-wise statements take two microseconds; they
construct no plan.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy import generic

from semirings import Monoid, Operator, Semiring, Typed
from semirings.dtypes import UINT8, UINT16, UINT32, UINT64, cast_scalar
from semirings.expressions import Expression
from semirings.udf import Call

from .. import tuning
from ..formats import Structure
from ..formats.hyper.layout import is_hyper
from ..formats.packing import PackedValues
from ..kernels.variant import VALUES as ALL_VALUES
from ..kernels.variant import WORDS
from ..store import FlatStore, MatrixStore, SparseStore, VectorStore
from ..typing import Array, Number
from .product import Plan

if TYPE_CHECKING:
    from ..operations.operands import Into, MatrixMask

# ---- The plan of an operation.

COMPUTES = {WORDS: "presence", ALL_VALUES: "values"}


class OperationPlan(Plan):
    """How an operation other than a product runs. `semiring` is its operator, `key` the storage that it reads,
    `direction` its way, one of the texts below."""

    __slots__ = ()

    def __str__(self) -> str:
        said, text = self._said(), f"\n\n{self.source}" if self.source else ""
        facts = f"{said['storage']}, {said['computes']}" + (f"; {said['why']}" if said["why"] else "")
        return f"{said['operation']}: {said['way']} ({facts}){text}"

    __repr__ = __str__

    def _said(self) -> dict[str, str]:
        return {
            "operation": f"{self.verb} {self.semiring}".rstrip(),
            "storage": self.key,
            "way": self.direction,
            "computes": COMPUTES[self.kind],
            "why": self.reason,
        }


def choose(verb: str, op: Typed | None, key: str, way: Way, *reasons: str) -> OperationPlan:
    """The plan of a decision. reasons: after that of the way; empty ones are left out."""
    reason = "; ".join(filter(None, (way.reason, *reasons)))
    name, kind = "" if op is None else op.op.name, WORDS if way.one else ALL_VALUES
    return OperationPlan(verb, name, key, False, way, kind, 1, reason)


def row(name: str) -> str:
    """A row of the tuning table in a reason."""
    return f"{name} = {tuning.count(name)}"


# ---- Ways.


class Way(str):
    """The name of a way, with its reason. one: all entries have one value, so that only presence is computed."""

    def __new__(cls, text: str, reason: str = "", one: bool = False) -> Way:
        way = super().__new__(cls, text)
        way.reason, way.one = reason, one
        return way

    reason: str
    one: bool


# Vectors, and matrices as bitmaps.
ONE_VALUE = Way("one value for all entries", "all results are equal", True)
LISTED = Way("at listed positions")
FUNCTION = Way("user-defined function of each entry", "the operator is a Python function of a user-defined type")
NEW_ARRAYS = Way("word by word into new arrays")
OWN_ARRAYS = Way("word by word into the arrays of the output", "no operand or mask reads the arrays of the output")
IN_PLACE = Way("word by word in place, under the mask", "the output keeps its entries outside of the mask")
THEN_MERGED = Way("word by word, then merged into the output")
UNDER_MASK = Way("copy of the entries under the mask", "no operator is applied")
CHUNKS = Way("sums of chunks of words, then of the chunks", "sums have a fixed order")
REPEATED = Way("one value, repeated by the monoid", "all entries are equal", True)
EQUAL_CHUNKS = Way("one chunk for all equal chunks", "all positions have the same value, and the order of sums matters")
WHOLE = Way("copy of all entries", "all positions are read")
PART_OF_LIST = Way("part of a list")
SEARCHED_LIST = Way("search in a list", "entries are listed")
GATHERED = Way("gather")
SINGLE_BIT = Way("one bit", "presence is one bit of a bitset")
PLACED = Way("written at the positions", "no mask and no accumulator")
SCATTERED = Way("scattered, then merged at the positions", "a mask or an accumulator reads the old entries")
SHIFTED = Way("shifted entries", "positions move alike")

# Matrices.
BITMAP = Way("word by word on a bitmap", "a bitmap is one vector of all positions")
SAME_STRUCTURE = Way("values only", "both operands have one structure")
COMPRESSED = Way("on compressed rows and columns", "few rows or columns have entries")
MERGED_ROWS = Way("merge of rows", "rows are sorted lists")
SEARCHED_ENTRIES = Way("search of each entry in the other matrix", "one thread per entry")
JOINED = Way("entries joined first, then the operator", "the operator reads positions, or is a Python function")
EACH_VALUE = Way("value by value", "the structure stays")
BY_POSITION = Way("value by value, with positions", "the operator reads positions")
NO_ENTRIES = Way("no entries", "an operand has no entries", True)
SELECTED_ROWS = Way("row by row", "the kernel tests and copies entries in one pass")
CLIPPED = Way("cut out of the format", "the entries are a region of the matrix")
ONE_TEST = Way("one test for all entries", "all entries are equal", True)
FILTERED = Way("tests, then a filter of entries", "all entries are tested, then those that remain are copied")
PENDING_SUMS = Way("sums of a masked product, without its structure", "the sums have not been filtered yet")
COUNTED = Way("products counted, without a product", "each of a column and a row is a product", True)
FUSED = Way("fused into the reduction", "each row is reduced while its products are summed by key")
STORED_FIRST = Way("the product is computed first", "its entries are read")
SUMMED_UNITS = Way("sum inside a masked product", "its entries are not needed, and were not computed")
DECODED_ROWS = Way("decoded rows", "the format decodes single rows")
SEARCHED_COLUMNS = Way("search of columns in the index list")
SCATTERED_COLUMNS = Way("table of columns", "an index list is missing, or does not ascend")
ROW_SLICE = Way("slice of a row", "rows are stored one after the other")
ROW_SEARCH = Way("binary search in a row", "columns of a row ascend")
EMBEDDED = Way("the assigned matrix with other indices", "the output has no entries")
SORTED_KEYS = Way("sorted keys", "keys are row * ncols + column")
ALL_PAIRS = Way("all pairs of entries", "each entry of the one with each entry of the other")
TRANSPOSED = Way("the layout of the transpose")
SUMMED_LINES = Way("sums of lines of a bitmap", "a line has a row or a column of the matrix")
REPEATED_SQUARES = Way("repeated squaring")

# Scalars and aggregators.
# Ways that read the rows, or the list of entries, of matrices other than bitmaps.
READS_ROWS = {COMPRESSED, MERGED_ROWS, SEARCHED_ENTRIES, JOINED, BY_POSITION, SELECTED_ROWS, CLIPPED, FILTERED}
READS_ROWS |= {SEARCHED_COLUMNS, SCATTERED_COLUMNS, ROW_SLICE, ROW_SEARCH, EMBEDDED, SORTED_KEYS, ALL_PAIRS, TRANSPOSED}
READS_ROWS.add(UNDER_MASK)
ON_HOST = Way("in Python", "scalars are stored on the host")
SEVERAL_STEPS = Way("several operations", "gb.trace() lists the kernels of an aggregator")

# ---- Facts about operators and stores.


def is_function(op: Typed) -> bool:
    """Whether an operator, or a part of a semiring, is a function that computes with values of a user-defined type."""
    if not op.dtype._is_udt:
        return False
    if isinstance(op.op, Semiring):
        parts: tuple[Any, ...] = op.op.binaryop, op.op.monoid.binaryop
    else:
        parts = (getattr(op.op, "binaryop", op.op)[op.dtype].op,)
    return any(isinstance(part.expr, Call) for part in parts)


def is_flat(A: MatrixStore) -> bool:
    """Whether a matrix is a bitmap."""
    if A.plain:
        return False
    lazy: Any = A  # a masked product whose structure is not computed for this
    return isinstance(A, FlatStore) or bool((lazy.places if A.deferred else A.structure).bitmap)


def storage_of(A: MatrixStore) -> str:
    """The key of the stored format. A bitmap's structure is not read, because that would make its arrays shared."""
    return A.key if isinstance(A, FlatStore) else A.structure.primary.key


def storage_of_vector(u: VectorStore) -> str:
    return "a list" if type(u) is SparseStore else "bits"


def storage_reason(u: VectorStore) -> str:
    """Why a vector is stored as a list, or as bits."""
    name = f"list.positions.{u.device.kind}"
    if type(u) is SparseStore:
        return f"{len(u.index)} of {u.size} positions are listed: fewer than one in {row('list.bits_per_entry')}"
    if u.size < tuning.count(name):
        return f"{u.size} positions as bits, fewer than {row(name)}"
    return f"{u.size} positions as bits, not listed: see {row('list.bits_per_entry')}"


def threads_reason(shared: bool, name: str) -> str:
    return f"threads share the work from {row(name)} on" if shared else ""


# ---- Element-wise operations on vectors.


def elementwise_way(
    u: VectorStore, v: VectorStore, op: Typed[Operator], either: bool, keep: bool, out: Into | None
) -> Way:
    """How op(u, v) is computed by position. either: the result has entries that only one operand has. keep: it has the
    values of u. out: the output, if the operation ends the statement."""
    listed = type(u) is SparseStore or type(v) is SparseStore
    if listed and (not either or type(u) is type(v)):
        return LISTED
    if op.dtype._is_udt and is_function(op):
        return FUNCTION
    if out is None:
        return NEW_ARRAYS
    w, mask, accum, _, keeps = out
    if w.dtype is not (u.dtype if keep else op.return_type) or (keeps and accum):
        return THEN_MERGED
    if keeps:
        return IN_PLACE
    # w must not change while op is computed if its arrays are read, or if op may raise. The arrays of lists are new.
    if listed or type(w) is SparseStore:
        return NEW_ARRAYS
    bits, values, words = w.bits, w.values, None if mask is None else mask[0]
    if bits is u.bits or bits is v.bits or bits is words or bits is None:
        return NEW_ARRAYS
    if values is u.values or values is v.values or values is words or isinstance(op.op.expr, Expression):
        return NEW_ARRAYS
    return OWN_ARRAYS


def joins_to_one_value(u: VectorStore, v: VectorStore, op: Typed[Operator], union: bool) -> generic | None:
    """The value of all entries of a union or intersection, if the operands imply that there is one."""
    if not (u.iso and v.iso) or op.op.positional:
        return None
    value: generic = op.op.evaluate(op.dtype, x=u.values, y=v.values)
    return value if not union or (same_value(value, u.values) and same_value(value, v.values)) else None


def applied_value(op: Typed[Operator], x: object, y: object = None, *, unary: bool = False) -> generic | None:
    """The one value of op for all entries: of operands that are single values, or if it reads no others. So pair(A, 1)
    and second(A, 7) store a single value."""
    operator = op.op
    expr = operator.expr
    if x is None and expr not in ("1", "x", "y"):  # the common case first
        return None
    both = isinstance(x, generic) and (unary or isinstance(y, generic))
    if operator.positional or not (both or expr in ("1", "x", "y")):
        return None
    names = {k: v for k, v in (("x", x), ("y", y)) if isinstance(v, generic)}
    value: generic | None = operator.evaluate(op.dtype, **names) if both or expr == "1" or expr in names else None
    return value


def same_value(a: Number, b: Number) -> bool:
    return bool(a == b) or bool(a != a and b != b)


def reduce_way(u: VectorStore, monoid: Typed[Monoid], chunk: int) -> tuple[Way, generic | None]:
    """How all entries of a vector are summed, and the sum if it needs no kernel. chunk: positions of a chunk on the
    CPU."""
    x = u.listed if type(u) is SparseStore else u.values
    if isinstance(x, generic):
        if not u.nvals:
            return NO_ENTRIES, None
        x = cast_scalar(x, monoid.return_type)
        total = _repeated(monoid, x.dtype.char, x.tobytes(), u.nvals, not u.device.host_memory)
        if total is not None:
            return REPEATED, total
        if u.nvals == u.size > chunk:
            return EQUAL_CHUNKS, None
    return FUNCTION if monoid.dtype._is_udt and is_function(monoid) else CHUNKS, None


@functools.lru_cache(1 << 10)
def _repeated(monoid: Typed[Monoid], kind: str, value: bytes, k: int, rounded: bool) -> generic | None:
    """The sum of k equal values; None if it would be rounded and must not be."""
    x = np.frombuffer(value, kind)[0]
    total: generic = monoid.op.repeat(monoid.dtype, x, k)
    return total if rounded or monoid.op.repeats_exactly(monoid.dtype, x, k) else None


# ---- Vectors by index.


def extract_way(u: VectorStore, everything: bool, ranged: bool) -> Way:
    """How u[I] is read. ranged: I is a range."""
    if everything:
        return WHOLE
    if type(u) is not SparseStore:
        return GATHERED
    return PART_OF_LIST if ranged and u.order is None else SEARCHED_LIST


def assign_way(w: VectorStore, mask: object, accum: object) -> Way:
    """How w<mask, accum>(I) = u is written."""
    if type(w) is SparseStore:
        return LISTED
    return PLACED if mask is None and accum is None else SCATTERED


# ---- Element-wise operations on matrices.


def maps_bitmap(A: MatrixStore, op: Typed) -> bool:
    """Whether an operator runs on the entries of a bitmap in place: positional operators see the user's indices, and
    bitmaps those of A."""
    return is_flat(A) and not op.dtype._is_udt and (A.order is None or not op.op.positional)


def ewise_way(A: MatrixStore, B: MatrixStore, op: Typed[Operator], same: bool | None = None) -> Way:
    """How the union or intersection of two matrices is computed. same: whether they have one structure, if known."""
    if not (A.plain and B.plain) and not op.dtype._is_udt and (is_flat(A) or is_flat(B)):
        return BITMAP
    if A.structure is B.structure if same is None else same:
        return SAME_STRUCTURE
    return join_way(A, B, op)


def join_way(A: MatrixStore, B: MatrixStore, op: Typed[Operator]) -> Way:
    """The same for two structures that differ."""
    if op.dtype._is_udt and is_function(op):
        return JOINED
    if not (A.plain and B.plain) and (A.structure.hypersparse or B.structure.hypersparse):
        return JOINED if op.op.positional else COMPRESSED
    return SEARCHED_ENTRIES if A.device.is_simt else MERGED_ROWS


def apply_way(A: MatrixStore, op: Typed[Operator], value: generic | None) -> Way:
    """How op of every entry is computed. value: the one value of all results, if it is known."""
    if not A.plain and maps_bitmap(A, op):
        return BITMAP
    if not A.structure.nvals:
        return NO_ENTRIES
    if op.op.positional:
        return BY_POSITION
    return EACH_VALUE if value is None else ONE_VALUE


def select_way(A: MatrixStore, op: Typed[Operator], region: bool) -> Way:
    """How the entries for which op is true are copied. region: op selects a region, such as a triangle."""
    if not A.plain and maps_bitmap(A, op):
        return BITMAP
    if not A.structure.nvals:
        return NO_ENTRIES
    raw, one = A.raw, isinstance(A.raw, generic) and not op.op.positional
    if A.order is None and not one and not isinstance(raw, PackedValues) and not A.device.is_simt and A.plain:
        if A.structure.primary.format.by_rows and not (op.dtype._is_udt and is_function(op)):
            return SELECTED_ROWS
    if region and A.order is None:
        return CLIPPED
    return ONE_TEST if one else FILTERED


def reduce_matrix_way(A: MatrixStore, monoid: Typed[Monoid]) -> Way:
    """How all entries of a matrix are summed."""
    if isinstance(A, FlatStore) and not (monoid.dtype._is_udt and is_function(monoid)):
        return BITMAP
    lazy: Any = A
    if A.deferred and lazy.adds(monoid):
        return SUMMED_UNITS if lazy.sums_units(monoid) else PENDING_SUMS
    if not A.nvals:
        return NO_ENTRIES
    return REPEATED if isinstance(A.raw, generic) else EACH_VALUE


def merges_bitmap(C: MatrixStore, accum: Typed | None) -> bool:
    """Whether the merge of a statement on C runs on the bitmap."""
    if C.dtype._is_udt or accum is None:
        return not C.dtype._is_udt
    return not accum.dtype._is_udt and not getattr(accum.op, "positional", False)


def merge_way(C: MatrixStore, T: MatrixStore, mask: MatrixMask | None, accum: Typed | None, replace: bool) -> Way:
    """How C<mask, accum, replace> = T is computed."""
    usual = C.plain and T.plain
    if not usual and (mask is not None or accum is not None) and (is_flat(C) or is_flat(T)):
        if merges_bitmap(C, accum):
            return BITMAP
    if accum is not None and accum.dtype._is_udt and is_function(accum):
        return FUNCTION
    if mask is None:
        return WHOLE if accum is None else join_way(C, T, accum)
    lazy: Any = T
    if not (usual and mask.structure.plain):
        places = lazy.places if T.deferred else T.structure
        if C.structure.hypersparse or mask.structure.hypersparse or places.hypersparse:
            return COMPRESSED
    if accum is None and not mask.complement and not T.deferred and T.structure is mask.structure:
        if replace or C.structure is T.structure:
            return SAME_STRUCTURE
    return SEARCHED_ENTRIES if C.device.is_simt else MERGED_ROWS


def transpose_way(A: MatrixStore) -> Way:
    return BITMAP if isinstance(A, FlatStore) and A.nrows != A.ncols else TRANSPOSED


# ---- Matrices by index.

# Positions of an assignment or extraction: None for all, a range only of hypersparse matrices.
Index: TypeAlias = "Array | range | None"

# Types for copying values of a given width.
ALIKE = {1: UINT8, 2: UINT16, 4: UINT32, 8: UINT64}


def supports_rows(A: MatrixStore) -> bool:
    """Whether the kernel of the CPU that copies parts of rows supports A."""
    return not A.device.is_simt and A.dtype.np_type.itemsize in ALIKE and A.dtype.np_type.kind != "V"


def ascends(index: Index) -> bool:
    """Whether an index list (None: all) ascends strictly."""
    return index is None or isinstance(index, range) or len(index) < 2 or bool((index[1:] > index[:-1]).all())


def extract_matrix_way(A: MatrixStore, I: Index, J: Index) -> Way:
    """How A[I, J] is read."""
    if not A.plain and A.structure.hypersparse:
        return COMPRESSED
    if I is not None and "rows" in A.structure.primary.format.kernels:
        return DECODED_ROWS
    if supports_rows(A) and ascends(J):
        return SELECTED_ROWS
    if I is not None and J is not None and ascends(I) and (J is I or ascends(J)):
        return SEARCHED_COLUMNS
    return SCATTERED_COLUMNS


def searches_columns(entries: int, ncols: int) -> bool:
    """Whether the columns of so many entries are searched in the index list, instead of a table of all columns."""
    return entries * tuning.count("extract.searched_columns") < ncols


def assign_matrix_way(
    C: MatrixStore, I: Index, J: Index, T: MatrixStore, mask: Structure | None, accum: Typed | None
) -> Way:
    """How C<mask, accum>[I, J] = T is written."""
    if C.structure.hypersparse or T.structure.hypersparse or (mask is not None and mask.hypersparse):
        return COMPRESSED
    if supports_rows(C) and supports_rows(T) and ascends(I) and ascends(J):
        return MERGED_ROWS
    if not C.nvals and mask is None and accum is None and ascends(I) and (J is I or ascends(J)):
        return EMBEDDED
    return SORTED_KEYS


def line_way(A: MatrixStore, column: bool) -> Way:
    """How a row or a column is read."""
    if column or (not A.plain and A.structure.hypersparse):
        return CLIPPED
    return DECODED_ROWS if "rows" in A.structure.primary.format.kernels else ROW_SLICE


def element_way(A: MatrixStore) -> Way:
    """How one entry is read."""
    if isinstance(A, FlatStore):
        return SINGLE_BIT
    return COMPRESSED if not A.plain and A.structure.hypersparse else ROW_SEARCH


def place_way(A: MatrixStore, nrows: int, ncols: int) -> Way:
    """How the entries of a matrix are shifted into one of another shape."""
    return SHIFTED if A.structure.hypersparse or is_hyper(nrows, ncols, A.nvals) else SORTED_KEYS


def kronecker_way(A: MatrixStore, B: MatrixStore, op: Typed[Operator]) -> Way:
    """How the Kronecker product is computed."""
    return COMPRESSED if (A.structure.hypersparse or B.structure.hypersparse) and not op.op.positional else SORTED_KEYS

"""Products with a map that are computed when they are read: a reduction of their rows never computes them.

C = A (+).(x) L with at most one entry per row of L has as many products as A has entries, and often only a reduction of
C is read: the most frequent label next to each vertex is the argmax of each row of A plus.pair L. C stays a
`LazyMapProduct` until something else reads its entries. `apply` and `select` of it are one, too. (GraphBLAS C API 2.1,
section 2.5: a nonblocking implementation may delay results that are not used yet.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.algebra import compose
from semirings.cached import cached_property
from semirings.catalog import BINARY
from semirings.dtypes import BOOL

from ..formats import Structure
from ..formats.contract import compute_once
from ..formats.csr.layout import from_arrays, pointer_type
from ..kernels.variant import KINDS, VALUES
from ..plan.product import kind_of
from ..store import MatrixStore, RowLayout, VectorStore, full_vector, pack
from ..typing import Array
from . import ewise_vector, spmv
from .map_products import (
    FIRST,
    FOLD,
    LARGEST,
    LAST,
    SMALLEST,
    Applied,
    Keys,
    Operands,
    Selection,
    prepare,
    refusal,
    selected,
)
from .operands import MatrixProduct

# The aggregators that are selections: what they select, and whether they give the key.
AGGREGATORS = {
    "argmax": (LARGEST, True),
    "argmin": (SMALLEST, True),
    "first": (FIRST, False),
    "last": (LAST, False),
    "first_index": (FIRST, True),
    "last_index": (LAST, True),
    "count": (FOLD, False),
}
MOST_KEYS = (1 << 31) - 1


def sums_products(semiring: Typed[Semiring], monoid: Typed[Monoid]) -> bool:
    """Whether the monoid's sum of each row of a product sums the semiring's products of that row."""
    same = semiring.op.monoid is monoid.op and monoid.dtype is semiring.return_type
    return same and not semiring.op.is_positional and monoid.op.name != "any"


def is_single(b: RowLayout) -> bool:
    """Whether no row has more than one entry. Computed once per layout."""
    few = 0 < b.nvals <= b.nrows
    return few and compute_once(b.cache, "single", lambda: int((b.ptr[1:] - b.ptr[:-1]).max()) <= 1)


def keys_of(b: RowLayout) -> Array:
    """The column of each row's entry, INT32; -1: none. Cached with the layout: 4 bytes a row."""

    def compute() -> Array:
        cols = b.columns(0, b.nvals).astype(np.int32, copy=False)
        if b.nvals == b.nrows:
            return cols
        xp = b.device.xp
        key = xp.full(b.nrows, -1, np.int32)
        key[xp.flatnonzero(b.ptr[1:] > b.ptr[:-1])] = cols
        return key

    return compute_once(b.cache, "keys", compute)


def map_of(u: VectorStore, ncols: int) -> MatrixStore:
    """The matrix with the entry (i, u[i]) for each i, of value True; u: full, integers from 0 to ncols - 1 (not
    checked)."""
    device, n = u.device, u.size
    values = device.full(n, u.values) if u.iso else u.values[:n]
    ptr = device.xp.arange(n + 1, dtype=pointer_type(n))
    rows = from_arrays(device, n, ncols, ptr, values)
    rows.cache["single"] = True
    return MatrixStore(Structure(rows), BOOL, BOOL.np_type.type(True))


def delays(of: MatrixProduct) -> bool:
    """Whether a product by rows of plain matrices is computed when it is read: B has at most one entry per row."""
    A, B, semiring, _, transpose_b, mask = of
    if mask is not None or A.order is not None or B.order is not None or not A.nvals:
        return False
    inner, count = (B.ncols, B.nrows) if transpose_b else (B.nrows, B.ncols)
    if not 0 < B.nvals <= inner or count > MOST_KEYS or refusal(semiring, Selection(LARGEST), A.raw, B.raw):
        return False
    return is_single(B.structure.rows(transposed=transpose_b))


class LazyMapProduct(MatrixStore):
    """A product of A with the map B, and an operator that is applied to its entries. compute: the same as a store,
    called at the first read of the structure or of the values."""

    deferred = True

    def __init__(self, of: MatrixProduct, compute: Callable[[], MatrixStore], applied: Applied | None = None) -> None:
        self.of: MatrixProduct | None = of
        self.compute: Callable[[], MatrixStore] | None = compute
        self.applied = applied
        z = of.semiring.return_type
        self.dtype = z if applied is None else applied.result(z)
        self.device, self.order = of.A.device, None
        self.nrows, self.ncols = of.shape
        self.plain = False

    @property
    def pending(self) -> bool:
        """Whether its entries have not been computed yet."""
        return self.of is not None

    @property
    def product(self) -> str:
        """What is computed, in words: "mxm plus_pair, count"."""
        assert self.of is not None
        A, B, semiring, *_ = self.of
        return f"mxm {semiring.op.name}, {KINDS[kind_of(semiring, A.raw, B.raw)[0]]}"

    def _entries(self) -> MatrixStore:
        assert self.compute is not None
        found = self.compute()
        self.of = self.compute = None
        self.structure, self.raw, self.plain = found.structure, found.raw, found.plain
        return found

    # Computed at first access.
    structure: Any = cached_property(lambda self: self._entries().structure)
    raw: Any = cached_property(lambda self: self._entries().raw)

    @property
    def places(self) -> Any:
        """The structure: all entries are in it."""
        return self.structure

    # ---- reductions that do not compute it

    def operands(self, selection: Selection, transpose: bool) -> Operands | str:
        """What a reduction of the rows reads, or why the entries are computed first."""
        if self.of is None:
            return "the product is computed already"
        A, B, semiring, transpose_a, transpose_b, _ = self.of
        if transpose:
            return "columns of a product with a map are not reduced as they are computed"
        applied = None if selection == (FOLD, None) and not (self.applied and self.applied.keep) else self.applied
        z = semiring.return_type if applied is None else applied.result(semiring.return_type)
        if z.kind not in "biuf":
            return f"values of type {z} are not compared"
        if reason := refusal(semiring, selection, A.raw, B.raw):
            return reason
        b = B.structure.rows(transposed=transpose_b)
        valued = kind_of(semiring, A.raw, B.raw)[0] == VALUES
        values: Any = B.values_for(b.key, transpose_b) if valued else BOOL.np_type.type(True)
        if valued and not isinstance(values, np.generic) and b.nvals < b.nrows:
            values = _by_row(b, values)
        keys = Keys(keys_of(b), b.ncols, B.dtype if valued else BOOL, values)
        return Operands(A, keys, semiring, selection, transpose_a, applied=applied)

    def refusal(self, by: Typed[Monoid] | str, transpose: bool = False) -> str:
        """Why a reduction of the rows by a monoid or an aggregator computes the entries first; "" if it does not."""
        if isinstance(by, str):
            if by not in AGGREGATORS:
                return f"agg.{by} takes several steps"
            selection = Selection(AGGREGATORS[by][0])
        else:
            if self.sums_all(by) and not (transpose and not self._reads_left_only()):
                return ""
            selection = Selection(FOLD, by)
        found = self.operands(selection, transpose)
        return found if isinstance(found, str) else ""

    def _reads_left_only(self) -> bool:
        return self.of is not None and self.of.semiring.op.binaryop.name in ("pair", "oneb", "first")

    def aggregated(self, name: str, transpose: bool) -> VectorStore | None:
        """The aggregator of that name of each row; None if the entries are computed first."""
        if name not in AGGREGATORS:
            return None
        kind, position = AGGREGATORS[name]
        of = self.operands(Selection(kind), transpose)
        return None if isinstance(of, str) else selected(prepare(of._replace(position=position)))

    def reduced_rows(self, monoid: Typed[Monoid], *, transpose: bool) -> VectorStore | None:
        if self.sums_all(monoid):
            return self._summed(monoid, transpose)
        of = self.operands(Selection(FOLD, monoid), transpose)
        return None if isinstance(of, str) else selected(prepare(of))

    def sums_all(self, monoid: Typed[Monoid]) -> bool:
        """Whether a reduction by the monoid of the semiring is a product with a vector: it sums the products of each
        row, whatever their keys."""
        if self.of is None or self.applied is not None:
            return False
        return sums_products(self.of.semiring, monoid)

    def _summed(self, monoid: Typed[Monoid], transpose: bool) -> VectorStore | None:
        """The reduction of the rows: A (+).(x) v, v the values of the map. Of the columns, if the multiplier reads A
        only: sums of the columns of A, then by key."""
        assert self.of is not None
        A, B, semiring, transpose_a, transpose_b, _ = self.of
        if transpose:
            if not self._reads_left_only():
                return None
            ones = full_vector(self.device, A.ncols if transpose_a else A.nrows, np.bool_(True), BOOL)
            column = spmv.mxv(A, ones, semiring, not transpose_a)
            first = compose(monoid.op, BINARY["first"])[monoid.dtype]
            return spmv.mxv(B, column, first, not transpose_b, True)
        b = B.structure.rows(transposed=transpose_b)
        return spmv.mxv(A, _as_vector(b, B, transpose_b), semiring, transpose_a)

    def adds(self, monoid: Typed[Monoid]) -> bool:
        """Whether `total` can sum all entries without computing them."""
        if self.of is None:
            return False
        exact = monoid.return_type.kind in "biu" or monoid.op.is_exact_in_any_order
        return self.sums_all(monoid) or (exact and not self.refusal(monoid))

    def sums_units(self, monoid: Typed[Monoid]) -> bool:
        """Whether `total` sums them inside the kernel."""
        return True

    def total(self, monoid: Typed[Monoid]) -> np.generic | None:
        """The sum of all entries, None if there are none."""
        rows = self.reduced_rows(monoid, transpose=False)
        assert rows is not None  # `adds` says so
        return ewise_vector.reduce(rows, monoid)

    # ---- operators that are applied when the entries are computed

    def then(self, applied: Applied, compute: Callable[[MatrixStore], MatrixStore]) -> LazyMapProduct | None:
        """The operator applied to it, by the same kernel; None if its entries are computed first."""
        if self.of is None or self.applied is not None or applied.op.dtype._is_udt:
            return None
        if self.of.semiring.return_type.kind not in "biuf" or applied.result(self.dtype).kind not in "biuf":
            return None

        def after() -> MatrixStore:
            _ = self.structure  # not delayed any more
            return compute(self)

        return LazyMapProduct(self.of, after, applied)


def _by_row(b: RowLayout, values: Array) -> Array:
    """The values of a map's entries, one per row."""
    found = b.device.xp.zeros(b.nrows, values.dtype)
    found[keys_of(b) >= 0] = values
    return found


def _as_vector(b: RowLayout, B: MatrixStore, transposed: bool) -> VectorStore:
    """The entries of a map as a vector: one per row that has an entry."""
    device, values = b.device, B.values_for(b.key, transposed)
    there = pack(device, keys_of(b) >= 0)
    if not isinstance(values, np.generic):
        values = values if b.nvals == b.nrows else _by_row(b, values)
        values = pack(device, values) if B.dtype is BOOL else values
    return VectorStore(device, b.nrows, B.dtype, there, values, b.nvals)

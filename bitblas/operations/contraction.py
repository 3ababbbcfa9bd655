"""Contraction of a graph: S' A S for a map S of the rows to groups, with one entry per pair of groups that has entries.

`contract_rows`, on the CPU, for Louvain and Leiden: the rows are sorted by group, and the rows of a group are added in
a table with a place for each group. Sums are INT64 (integers, BOOL) modulo 2^64, which is exact in any order; the
caller makes sure that they fit. A GPU contracts inside of a larger kernel there (kernels/louvain_levels.cu).

`GroupSums`, on a GPU: the product S' A, which is computed when it is read. Its product with S contracts A without it
(`contract_pairs`): the entries are sorted by the groups of their row and column, and those of a pair of groups are
added, floats in a fixed order (formats/csr/contraction.cu). A CPU computes both products, which takes less time than
tables of sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, INT64, UINT32, UINT64, DataType, lookup_dtype

from .. import tuning
from ..device import Device, dummy
from ..device.jit import BLOCK
from ..formats import Structure
from ..formats.csr.layout import Csr, close_gaps, from_arrays, index_type
from ..kernels.variant import VALUES, Variant
from ..plan.product import is_tall_skinny, kind_of
from ..store import FlatStore, MatrixStore, PlainValues, RowLayout, VectorStore, flat_of
from ..typing import Array
from . import lazy_map_product
from .lazy_map_product import LazyMapProduct, is_single, keys_of
from .map_products import Operands, Selection
from .operands import MatrixProduct, entry_values
from .variants import cast_function, constants


def rows_of(A: MatrixStore) -> tuple[Csr, PlainValues]:
    """The matrix as plain rows, and its values in their order."""
    rows = A.structure.plain_rows()
    return rows, A.values_for(rows.key, False)


class Contracted(NamedTuple):
    """The rows of S' A S, whose columns are in no order, and its values and diagonal, INT64."""

    rows: Csr
    values: Array
    loop: Array


def contract_rows(device: Device, rows: Csr, values: PlainValues, group: Array, count: int) -> Contracted:
    """S' A S, count x count, where A (square) has these rows and integer values, and S the entry (v, group[v]) for each
    row v. All arrays are in host memory.

    group: INT32, one per row, below count. Raises OutOfMemory before it allocates.
    """
    nvals, iso = rows.nvals, isinstance(values, np.generic)
    device.foresee(f"contraction of {nvals} entries", 12 * nvals + 36 * count + 4 * rows.nrows)
    first, begin, ptr = (np.zeros(count + 1, np.int64) for _ in range(3))
    order, loop = np.empty(max(1, rows.nrows), np.int32), np.zeros(max(1, count), np.int64)
    types = ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(rows.col.dtype))
    device.kernel(Variant("formats/csr/group_rows"))(rows.nrows, count, group, rows.ptr, first, order, begin)
    col, sums = np.empty(max(1, nvals), np.int32), np.empty(max(1, nvals), np.int64)
    source = dummy(device, "int64") if iso else values
    constant = np.int64(int(values)) if iso else np.int64(0)
    bounds = None
    if device.splits(nvals, tuning.count("parallel.entries")):
        bounds = np.searchsorted(begin, np.linspace(0, nvals, device.parts + 1).astype(np.int64)).astype(np.int64)
        bounds[0], bounds[-1] = 0, count
    kernel = device.kernel(Variant("formats/csr/contract_rows", (*types, ("Z", INT64))))
    args = first, order, begin, rows.ptr, rows.col, source, constant, int(not iso), group
    kernel(count, count, *args, ptr, col, sums, loop, bounds=bounds)
    if bounds is not None:
        close_gaps(begin[bounds], bounds, ptr, (col, sums))
    nvals = int(ptr[-1])
    return Contracted(from_arrays(device, count, count, ptr, col[:nvals]), sums[:nvals], loop[:count])


# ---- The same on a GPU, by sorting.

CHUNK = 256  # sorted entries that a warp sums
PART = 1024  # entries whose keys a block writes
KEY_BITS = 64  # of the largest key


class Groups(NamedTuple):
    """A map of rows to groups. of: INT32, one per row, below number; negative, if partial: in no group."""

    of: Array
    number: int
    partial: bool


class SortedPairs(NamedTuple):
    """The entries of A whose ends are in groups, sorted by the groups of their row and column. A key: both groups, and
    in its lowest number_bits the number of the entry. order: the number of the entry of each key, if number_bits is 0;
    None: it is not read."""

    keys: Array
    group_bits: int
    number_bits: int
    order: Array | None


def sort_pairs(rows: RowLayout, groups: Groups, z: DataType, *, numbered: bool) -> SortedPairs:
    """Raises OutOfMemory before it allocates."""
    group, count, partial = groups
    device, nvals = rows.device, rows.nvals
    group_bits, number_bits = (count - 1).bit_length(), (nvals - 1).bit_length() if numbered else 0
    bits = 2 * group_bits + partial  # with one more, no key of a pair is all ones
    ordered = bits + number_bits > KEY_BITS
    number_bits = 0 if ordered else number_bits
    key = UINT32 if bits + number_bits <= 32 else UINT64
    room = nvals * (2 * key.nbytes + 24 * ordered + 4 + z.nbytes) + 8 * count
    device.foresee(f"contraction of {nvals} entries", room)
    keys = device.xp.empty(nvals, key.np_type)
    types = ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(index_type(rows.ncols))), ("KEY", key)
    flags = constants(LANES=BLOCK, PART=PART, A_PACKED=rows.format.packed)
    kernel = device.kernel(Variant("formats/csr/pair_keys", types, flags))
    matrix = rows.ptr, rows.col, rows.width
    kernel(-(-nvals // PART), nvals, rows.nrows, *matrix, group, group_bits, number_bits, keys)
    order = None
    if ordered:
        order = device.xp.argsort(keys, kind="stable")
        keys = keys[order]
    else:
        keys.sort()
    if partial:
        keys = keys[: int(device.xp.searchsorted(keys, key.np_type.type(-1 % (1 << 8 * key.nbytes))))]
    return SortedPairs(keys, group_bits, number_bits, order)


def contract_pairs(rows: RowLayout, values: PlainValues, groups: Groups, z: DataType) -> MatrixStore:
    """S' A S, where A (square) has these rows and values, and S the entry (v, groups.of[v]) for each row v in a group.

    z: the type of the sums. Raises OutOfMemory before it allocates.
    """
    device, xp, counts, count = rows.device, rows.device.xp, isinstance(values, np.generic), groups.number
    a, s = (BOOL, INT64) if counts else (lookup_dtype(values.dtype), z)  # the types of values and of their sums
    keys, group_bits, number_bits, order = sort_pairs(rows, groups, s, numbered=not counts)
    nvals = len(keys)
    if not nvals:
        ptr, none = xp.zeros(count + 1, np.int64), xp.empty(0, np.int32)
        return MatrixStore(Structure(from_arrays(device, count, count, ptr, none)), z, xp.empty(0, z.np_type))
    key, flags = ("KEY", lookup_dtype(keys.dtype)), constants(LANES=32, CHUNK=CHUNK)
    n, given = -(-nvals // CHUNK), (keys, nvals, number_bits)
    before = xp.zeros(n + 1, np.int64)
    device.kernel(Variant("formats/csr/count_pairs", (key,), flags))(n, *given, before[1:])
    xp.cumsum(before, out=before)
    found = int(before[-1])
    ptr, col = xp.empty(count + 1, np.int64), xp.empty(found, np.int32)
    sums, lead = xp.empty(found, s.np_type), xp.empty(n, s.np_type)
    flags += constants(COUNT=counts, ORDERED=order is not None)
    variant = Variant("formats/csr/sum_pairs", (key, ("A", a), ("Z", s)), flags, (), (cast_function("take", a, s),))
    places = dummy(device, "int64") if order is None else order
    weights = entry_values(device, a, np.True_ if counts else values)
    device.kernel(variant)(n, *given, group_bits, count, places, *weights, before, ptr, col, sums, lead)
    device.kernel(Variant("formats/csr/join_chunks", (("Z", s),), constants(LANES=32)))(n, before, lead, sums)
    if counts:
        sums = sums.astype(z.np_type, copy=False)
        if values != 1:
            sums *= z.np_type.type(values)
    return MatrixStore(Structure(from_arrays(device, count, count, ptr, col)), z, sums)


# ---- S' A S as two products, of which the first is never computed.


def delays(of: MatrixProduct) -> bool:
    """Whether a product is S' A for a map S that is stored by rows, which a GPU computes when it is read."""
    A, B, semiring, transpose_a, transpose_b, mask = of
    if not transpose_a or transpose_b or mask is not None or B.nrows != B.ncols or A.order or B.order or A is B:
        return False
    if not A.device.is_simt or semiring.dtype._is_udt or isinstance(A, FlatStore) or isinstance(B, FlatStore):
        return False
    if A.nrows != B.nrows or A.structure.hypersparse or B.structure.hypersparse:
        return False
    return A.nvals > 0 and is_single(A.structure.rows()) and not lazy_map_product.delays(of)


def delayed(of: MatrixProduct, compute: Callable[[], MatrixStore]) -> GroupSums:
    """S' A. compute: the same as a store, called when it is read."""
    S, size = of.A, of.semiring.return_type.np_type.itemsize
    flat = is_tall_skinny(S.nrows, S.ncols, S.nvals, S.device.kind, size)
    return FlatGroupSums(of, compute) if flat else RowGroupSums(of, compute)


class GroupSums(MatrixStore):
    """The product S' A of a transposed map and a square matrix. of: its operands; None: it is computed already."""

    of: MatrixProduct | None

    def refuses(self, of: MatrixProduct) -> str:
        """Why a product of this one is not a contraction; "" if it is. Reads no entries."""
        if self.of is None:
            return "its left factor is computed already"
        S, A, first, *_ = self.of
        _, B, second, transpose_a, transpose_b, mask = of
        if B.structure is not S.structure or transpose_a or transpose_b or mask is not None:
            return "its operands are not the transpose of a map, a matrix, and the map"
        z, one, counts = second.return_type, B.raw, self.kind != VALUES
        sums = {first.return_type, z} if counts else {first.return_type, first.op.operand_type(first.dtype), z}
        kinds = sums if counts else sums | {A.dtype}
        real = z.kind == "f"
        if first.op.monoid.name != "plus" or second.op.monoid.name != "plus":
            return "sums other than those by plus are not contracted"
        if any(t.kind not in ("biuf" if real else "biu") for t in kinds):
            return f"values of these types are not summed as {z}"
        if z.kind == "b" or any(t is not z if real else t.nbytes < z.nbytes for t in sums):
            return "the sums by row are of another type, or narrower than the result"
        is_one = isinstance(one, np.generic) and one == 1
        if second.op.binaryop.name != "first" and not (second.op.binaryop.name == "times" and is_one):
            return f"multiplier {second.op.binaryop.name} does not keep the sums by row"
        name = first.op.binaryop.name
        if not counts and name != "second" and not (name == "times" and is_one):
            return f"multiplier {name} does not keep the entries of the matrix"
        return ""

    @property
    def kind(self) -> int:
        """How S' A is computed: kernels.variant.KINDS."""
        assert self.of is not None
        return kind_of(self.of.semiring, self.of.A.raw, self.of.B.raw)[0]

    @property
    def summed(self) -> str:
        """The format of A."""
        assert self.of is not None
        return self.of.B.structure.primary.key

    def weights(self) -> PlainValues:
        """The values that are summed, in the order of the rows of A."""
        assert self.of is not None
        S, A, first, *_ = self.of
        product = kind_of(first, S.raw, A.raw)[1]
        return A.values_for(A.structure.rows().key, False) if product is None else product

    def contracted(self, semiring: Typed[Semiring]) -> MatrixStore:
        """S' A S."""
        assert self.of is not None
        S, A, *_ = self.of
        groups = Groups(keys_of(S.structure.rows()), S.ncols, S.nvals < S.nrows)
        return contract_pairs(A.structure.rows(), self.weights(), groups, semiring.return_type)


class RowGroupSums(GroupSums, LazyMapProduct):
    """By rows."""

    def operands(self, selection: Selection, transpose: bool) -> Operands | str:
        return "the product is computed already" if self.of is None else "the left operand is a map, transposed"

    def sums_all(self, monoid: object) -> bool:
        return False

    def then(self, applied: object, compute: object) -> None:
        return None


class FlatGroupSums(GroupSums, FlatStore):
    """A bitmap, because there are few groups."""

    def __init__(self, of: MatrixProduct, compute: Callable[[], MatrixStore]) -> None:
        self.of, self.compute = of, compute
        self.dtype, self.order, self.plain = of.semiring.return_type, None, False
        self.copies, self.prepared = {}, {}
        self.device, (self.nrows, self.ncols) = of.A.device, of.shape
        self.owner_count = 0

    def __getattr__(self, name: str) -> VectorStore:
        """`flat`, at its first read."""
        if name != "flat":
            raise AttributeError(name)
        self.flat, self.of = flat_of(self.compute()), None
        return self.flat

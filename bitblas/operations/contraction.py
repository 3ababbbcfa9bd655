"""Contraction of a graph: S' A S for a map S of the rows to groups, with one entry per pair of groups that has entries.

`contract`, on the CPU: the rows are sorted by group, and the rows of a group are added in a table with a place for
each group (`contract_rows`); counting sorts then order the columns. Sums are INT64 (integers, BOOL) modulo 2^64, which
is exact in any order; the caller makes sure that they fit. A GPU contracts inside of a larger kernel in Louvain and
Leiden (kernels/louvain_levels.cu).

`GroupSums`: the product S' A, which is computed when it is read. Its product with S contracts A without it: on the CPU
by `contract`, on a GPU by one product of S with the rows of A, those of a group one after another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import INT64, DataType, lookup_dtype

from .. import tuning
from ..device import Device, dummy
from ..formats import Structure
from ..formats.csr.layout import Csr, close_gaps, expanded, from_arrays, pointer_type
from ..kernels.variant import VALUES, Variant
from ..plan.product import kind_of
from ..store import MatrixStore, PlainValues
from ..typing import Array
from .lazy_map_product import LazyMapProduct, is_single, keys_of
from .map_products import Operands, Selection
from .operands import MatrixProduct
from .value_arrays import take


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


def contract(device: Device, rows: Csr, values: PlainValues, group: Array, count: int) -> MatrixStore:
    """The same as a matrix: columns ascend, by two transposes."""
    found, sums, _ = contract_rows(device, rows, values, group, count)
    ptr, col, nvals = found.ptr.astype(np.int64), found.col, found.nvals
    device.foresee(f"transposes of {nvals} entries", 24 * nvals)
    for _ in range(2):
        t_ptr, t_col, t_sums = (
            np.zeros(count + 1, np.int64),
            np.empty(max(1, nvals), np.int32),
            np.empty(nvals, np.int64),
        )
        transpose = device.kernel(Variant("formats/csr/transpose_rows"))
        transpose(count, count, ptr, col, sums, t_ptr, t_col, t_sums if nvals else dummy(device, "int64"))
        ptr, col, sums = t_ptr, t_col, t_sums
    return MatrixStore(Structure(from_arrays(device, count, count, ptr, col[:nvals])), INT64, sums)


# ---- S' A S as two products, of which the first is never computed.


def delays(of: MatrixProduct) -> bool:
    """Whether a product by rows of plain matrices is S' A for a map S, which is computed when it is read."""
    A, B, _, transpose_a, transpose_b, mask = of
    if not transpose_a or transpose_b or mask is not None or B.nrows != B.ncols or A.order or B.order or A is B:
        return False
    return 0 < A.nvals == A.nrows == B.nrows and is_single(A.structure.rows())


class GroupSums(LazyMapProduct):
    """The product S' A of a transposed map and a square matrix."""

    def operands(self, selection: Selection, transpose: bool) -> Operands | str:
        return "the product is computed already" if self.of is None else "the left operand is a map, transposed"

    def sums_all(self, monoid: object) -> bool:
        return False

    def then(self, applied: object, compute: object) -> None:
        return None

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
        if first.op.monoid.name != "plus" or second.op.monoid.name != "plus" or any(t.kind not in "biu" for t in kinds):
            return "sums other than those of integers are not contracted"
        if z.kind == "b" or any(t.nbytes < z.nbytes for t in sums):
            return "the sums by row are narrower than the result"
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
    def key(self) -> str:
        """The format of A."""
        assert self.of is not None
        return self.of.B.structure.primary.key

    def weights(self, z: DataType) -> PlainValues:
        """The values that are summed, in the order of the rows of A."""
        assert self.of is not None
        S, A, first, *_ = self.of
        product = kind_of(first, S.raw, A.raw)[1]
        values = A.values_for(A.structure.rows().key, False) if product is None else product
        return z.np_type.type(values) if isinstance(values, np.generic) else values.astype(z.np_type, copy=False)

    def groups(self) -> tuple[Array, int]:
        """The group of each row, INT32, and their number."""
        assert self.of is not None
        S = self.of.A
        return keys_of(S.structure.rows()), S.ncols

    def contract_here(self, semiring: Typed[Semiring]) -> MatrixStore:
        """S' A S in host memory."""
        assert self.of is not None
        A, z, (group, count) = self.of.B, semiring.return_type, self.groups()
        rows, values = A.structure.plain_rows(), self.weights(INT64)
        found = contract(A.device, rows, values, group, count)
        return MatrixStore(found.structure, z, found.values.astype(z.np_type, copy=False))

    def rows_by_group(self, z: DataType) -> MatrixStore:
        """The matrix whose row k has the entries of all rows of A in group k, one after another: columns may repeat,
        and do not ascend. Only for products."""
        assert self.of is not None
        A, (group, count) = self.of.B, self.groups()
        device, xp, rows = A.device, A.device.xp, A.structure.rows()
        iso = isinstance(self.weights(z), np.generic)
        device.foresee(f"contraction of {rows.nvals} entries", rows.nvals * (28 if iso else 28 + z.nbytes))
        order = xp.argsort(group, kind="stable")
        counts = (rows.ptr[1:] - rows.ptr[:-1])[order]
        _, at = expanded(device, counts, rows.ptr[:-1][order])
        begin = xp.zeros(rows.nrows + 1, np.int64)
        begin[1:] = xp.cumsum(counts)
        ptr = begin[xp.searchsorted(group[order], xp.arange(count + 1))].astype(pointer_type(rows.nvals), copy=False)
        merged = from_arrays(device, count, A.ncols, ptr, rows.columns_at(at))
        return MatrixStore(Structure(merged), z, take(self.weights(z), at))

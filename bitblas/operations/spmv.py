"""SpMV: mxv and vxm over any semiring, with the mask in the kernel; SpMSpV; and row sums, which are products.

GraphBLAS C API 2.1, sections 4.3.2 and 4.3.3. Most products run on the plain matrix (plain_spmv.py). SpMSpV on the CPU
gathers the rows of the active entries and sorts the products (formats/csr/push.cpu.py); its cost does not depend
on the size of the vector.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, INT64, DataType

from .. import tuning
from ..device import Device, Kernel
from ..formats import CSR
from ..formats.bitmap.layout import lines_of
from ..formats.packing import PackedValues
from ..kernels.variant import Variant
from ..plan.direction import max_sorted_products
from ..plan.format_choice import is_available
from ..plan.product import LIST, VALUES, WORDS, Plan, kind_of, plan_sorted, reads_matrix
from ..store import MatrixStore, SparseStore, VectorStore, full_vector
from ..typing import Array
from . import compressed, ewise_vector, hypersparse, multivector, plain_spmv, sorted_keys, udf, virtual_nodes
from .operands import Into, Mask, MatrixProduct, VectorProduct, dummy, entry_values, make
from .variants import Algebra, push_variant

# ---- mxv and vxm. `explain` and `mxv` take the same way: along a list of entries; by sorted keys; on the graph with
# virtual nodes; or on the plain matrix, compressed if it is hypersparse or only some of its rows are read.


def is_sorted(of: VectorProduct | MatrixProduct) -> bool:
    """Whether a product runs by sorted keys: for semirings of functions of a user-defined type."""
    return of.semiring.dtype._is_udt and udf.computes(of.semiring)


def explain(of: VectorProduct, *, masked: bool, source: bool) -> tuple[Plan, tuple[Variant, ...]]:
    """The plan of a product whose output is new; and its kernels, if requested, which builds the formats they read.
    masked: it has a mask, which is not in `of`."""
    if (listed := prepare_listed(of)) is not None and (plan := explain_listed(listed, of)) is not None:
        return plan, (listed.variant,)
    if is_sorted(of):
        return plan_sorted("vxm" if of.flip else "mxv", of.semiring, of.A.structure.primary.key), ()
    virtual = of.A.structure.has_virtual_nodes
    if virtual:
        plan, inner = virtual_nodes.explain(of, masked=masked)
    else:
        inner, _ = hypersparse.compressed_product(of)
        plan = plain_spmv.explain(inner)._replace(semiring=of.semiring.op.name)
    if not source:
        return plan, ()
    A, u, semiring, transpose, flip, *_ = inner
    choice = plain_spmv.choose(A, u, semiring, transpose, flip)
    return plan, plain_spmv.prepare(choice, A, u, semiring, flip).variants(masked or virtual)


def mxv(
    A: MatrixStore,
    u: VectorStore,
    semiring: Typed[Semiring],
    transpose: bool = False,
    flip: bool = False,
    mask: Mask | None = None,
    into: Into | None = None,
) -> VectorStore:
    """t<mask> = A (+).(x) u, of the transpose if `transpose`; `flip`: u is the left operand (vxm). With `into`, the
    statement is completed: the result is its w, changed in place, or a new store if w keeps nothing."""
    if A.plain and type(u) is not SparseStore and not semiring.dtype._is_udt:
        return plain_spmv.multiply(A, u, semiring, transpose, flip, mask, into)
    of = make(VectorProduct, (A, u, semiring, transpose, flip, mask, into))
    if (listed := prepare_listed(of)) is not None and (t := multiply_listed(listed, of)) is not None:
        return hypersparse.merge_into(t, mask, into)
    if is_sorted(of):
        return hypersparse.merge_into(sorted_keys.mxv(of), mask, into)
    if A.structure.has_virtual_nodes:
        sums = virtual_nodes.node_sums(of)
        if isinstance(sums, VectorProduct):
            return mxv(*sums)
        return hypersparse.merge_into(virtual_nodes.multiply(sums, mask), mask, into)
    inner, at = hypersparse.compressed_product(of)
    t = plain_spmv.multiply(*inner)
    if at is None:
        return t
    return hypersparse.merge_into(compressed.expand(t, at, A.ncols if transpose else A.nrows), mask, into)


# ---- SpMSpV on the CPU.

NO_MASK, INDEX, BITS = range(3)  # push.cpu.py
PRODUCTS, ENTRIES = range(2)


class ListedProduct(NamedTuple):
    """A push along a list of entries: everything that does not depend on them."""

    plan: Plan
    variant: Variant
    kernel: Kernel
    z: DataType
    sums: DataType  # of the result's values in the kernel
    product: np.generic
    matrix: tuple[Any, ...]  # arguments of the kernel
    size: int  # of the result
    most: int  # products up to which it runs so


def prepare_listed(of: VectorProduct) -> ListedProduct | None:
    """The product, cached with the matrix; None if the vector is no list, or there are no rows to push along."""
    A, u, semiring, transpose, flip, _, _ = of
    if type(u) is not SparseStore or A.device.is_simt:
        return None
    x = u.listed
    one = x.tobytes() if isinstance(x, np.generic) else None
    key = "list", semiring, transpose, flip, u.dtype.name, one, tuning.version()
    found: ListedProduct | None = A.prepared.get(key)
    if found is not None:
        return found
    if is_sorted(of):
        return None
    small, pushed = hypersparse.compressed_matrix(A) if A.structure.hypersparse else A, not transpose
    layout: Any = small.structure.held(CSR, transposed=pushed)
    if layout is None and is_available(small.structure, transposed=pushed, valued=not A.iso):
        layout = small.structure.layout(small.structure.primary.key, transposed=pushed)
    if layout is None or not layout.format.by_rows or layout.format.hypersparse:
        return None
    device, z = A.device, semiring.return_type
    kind, product = kind_of(semiring, A.raw, x, flip=flip)
    valued, raw, a_type = kind == VALUES, A.raw, A.dtype
    if not valued:
        raw, a_type = BOOL.np_type.type(True), BOOL
    elif A.iso or reads_matrix(semiring, flip):
        raw = small.raw_for(layout.key, pushed)
    else:
        raw = A.dtype.np_type.type(0)
    types, ranked = layout.format.view.types(layout, False), not isinstance(raw, np.generic)
    what = layout.key, types, None if kind == WORDS else semiring, kind, a_type, u.dtype if valued else BOOL
    variant = push_variant(Algebra(*what, flip, ranked, isinstance(raw, PackedValues)), 1, "push_list")
    rows = cols = none = dummy(device, "int64")
    listed = -1, -1
    if A.structure.hypersparse:
        rows, cols = hypersparse.lists(A)[:: -1 if pushed else 1]
        listed = len(rows), len(cols)
        rows, cols = (x if len(x) else none for x in (rows, cols))
    values = entry_values(device, a_type, raw)
    matrix = rows, listed[0], cols, listed[1], layout.ptr, layout.col, layout.width, *values
    verb, name = "vxm" if flip else "mxv", semiring.op.name
    plan = Plan(verb, name, layout.key, pushed, "push", kind, 1, "", kernel=LIST, product=product)
    found = A.prepared[key] = ListedProduct(
        plan,
        variant,
        device.kernel(variant),
        z,
        BOOL if kind == WORDS else z,
        z.np_type.type(0 if product is None else product),
        matrix,
        A.nrows if pushed else A.ncols,
        max_sorted_products(layout.nvals),
    )
    return found


def explain_listed(product: ListedProduct, of: VectorProduct) -> Plan | None:
    """The plan of a product; None if it has too many products."""
    assert type(of.u) is SparseStore
    products = count_products(product, of.u, None)[1].item(PRODUCTS)
    reason = f"{len(of.u.index)} listed entries, whose rows hold {products}"
    return None if products > product.most else product.plan._replace(reason=reason)


def count_products(product: ListedProduct, u: SparseStore, mask: Mask | None) -> tuple[tuple[Any, ...], Array]:
    """The kernel arguments, and where the kernel stores the number of products that it counted."""
    device, n = u.device, len(u.index)
    none = dummy(device, "int64")
    plan, _, kernel, _, sums, one, matrix, _, _ = product
    values = entry_values(device, u.dtype, u.listed) if plan.kind == VALUES else entry_values(device, BOOL, np.True_)
    allowed: tuple[Any, ...] = none, NO_MASK, 0, 0
    if mask is not None and type(mask.words) is SparseStore:
        index = mask.words.index
        allowed = index if len(index) else none, INDEX, len(index), int(mask.complement)
    elif mask is not None:
        allowed = mask.bits.view(np.int64), BITS, 0, int(mask.complement)
    places, counts = np.empty(n or 1, np.int64), np.zeros(2, np.int64)
    operands = u.index if n else none, *values, *matrix, *allowed, one, places, counts
    kernel(n, 0, *operands, none, dummy(device, sums.np_type.char))
    return operands, counts


def multiply_listed(product: ListedProduct, of: VectorProduct) -> VectorStore | None:
    """The product; None if it has too many products."""
    u, words = of.u, product.plan.kind == WORDS
    assert type(u) is SparseStore
    operands, counts = count_products(product, u, of.mask)
    most = counts.item(PRODUCTS)
    if most > product.most:
        return None
    index, sums = np.empty(most or 1, np.int64), np.empty(1 if words else most or 1, product.sums.np_type)
    product.kernel(len(u.index), 1, *operands, index, sums)
    count = counts.item(ENTRIES)
    values = product.product if words else sums[:count]
    return compressed.as_bits_if_dense(SparseStore(u.device, product.size, product.z, index[:count], values))


# ---- Row sums, which are products.


def reduce_rows(
    A: MatrixStore, monoid: Typed[Monoid], *, transpose: bool = False, into: Into | None = None
) -> VectorStore | None:
    """t(i) = the sum of row i (column i if `transpose`): A (+).first 1. Section 4.3.10."""
    if A.deferred and (found := A.reduced_rows(monoid, transpose=transpose)) is not None:
        return hypersparse.merge_into(found, None if into is None else into[1], into)
    if not A.plain and multivector.is_flat(A) and multivector.computes(monoid):
        lines = lines_of(A.nrows, A.ncols)
        return ewise_vector.commit(multivector.reduce_lines(A, monoid, along=lines.tall != transpose), into)
    size, hyper, mask = A.nrows if transpose else A.ncols, A.structure.hypersparse, None if into is None else into[1]
    if hyper or size > tuning.count("cached.full_positions"):
        ones = hypersparse.ones(A, transpose) if hyper else full_vector(A.device, size, np.bool_(True), BOOL)
        return mxv(A, ones, _first(monoid), transpose, False, mask, into)
    ones, ways = _ones(A.device, size), A.prepared.get((monoid, transpose, tuning.version()))
    if ways is not None and (choice := ways.lasting.get(size)) is not None and choice.product is not None:
        A.structure.reads += choice.product.reads
        return choice.product.run(ones, mask, into)
    first, version = _first(monoid), tuning.version()
    t = mxv(A, ones, first, transpose, False, mask, into)
    if (ways := A.prepared.get((first, transpose, False, BOOL.name, ones.values.tobytes(), version))) is not None:
        A.prepared[monoid, transpose, version] = ways  # a shorter key, for the next call
    return t


@functools.lru_cache(64)
def total_products(of: MatrixProduct) -> int | None:
    """The number of products a(i, k) b(k, j) of C = A B, modulo 2^64, None if there are none: the sum over k of the
    entries of column k of A times those of row k of B. C is not computed."""
    columns = mxv(of.A, _ones(of.A.device, of.shape[0]), plain_spmv.PLUS_PAIR, not of.transpose_a)
    rows = mxv(of.B, _ones(of.B.device, of.shape[1]), plain_spmv.PLUS_PAIR, of.transpose_b)
    found = ewise_vector.reduce(ewise_vector.ewise(columns, rows, TIMES, union=False), PLUS)
    return None if found is None else int(found)


TIMES, PLUS = BINARY["times"][INT64], MONOIDS["plus"][INT64]


def _ones(device: Device, size: int) -> VectorStore:
    return full_vector(device, size, np.bool_(True), BOOL)


@functools.cache
def _first(monoid: Typed[Monoid]) -> Typed[Semiring]:
    return compose(monoid.op, BINARY["first"])[monoid.dtype]

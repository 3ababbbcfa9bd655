"""Hypersparse matrices: compress the non-empty rows and columns of all operands to 0..k-1, run the ordinary operation,
map the indices of the result back.

Products run the ordinary kernels on the compressed matrices. `rows` and `cols` are always lists of indices (INT64,
ascending).
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, NotImplementedException

from ..formats import CSR, Structure
from ..formats.csr.layout import from_arrays, numbers_of
from ..formats.hyper.layout import merge_lists, placed, within
from ..formats.hyper.layout import widened as widened_form
from ..store import MatrixStore, PlainValues, SparseStore, VectorStore
from ..typing import Array
from . import compressed, ewise_vector, value_arrays
from .convert import narrowed, widened
from .operands import Into, Mask, MatrixProduct, VectorProduct

# ---- Hypersparse matrices: compress the non-empty rows and columns of all operands to 0..k-1, run the ordinary
# operation, map the indices of the result back.


def lists(A: MatrixStore | Structure) -> tuple[Array, Array]:
    """The rows and the columns that have entries."""
    structure = A if isinstance(A, Structure) else A.structure
    layout: Any = structure.primary
    if layout.format.hypersparse:
        return layout.rows, layout.cols
    xp = structure.device.xp
    unique = tuple(map(xp.unique, layout.coo()))
    return unique[0], unique[1]


def united_lists(A: MatrixStore, *others: MatrixStore | Structure | None) -> tuple[Array, Array]:
    """The rows and the columns that have entries in any of these stores or structures (None: nothing)."""
    rows, cols = lists(A)
    for x in others:
        if x is not None:
            rows, cols = (merge_lists(A.device.xp, a, b) for a, b in zip((rows, cols), lists(x), strict=True))
    return rows, cols


def compressed_matrix(A: MatrixStore) -> MatrixStore:
    """The compressed matrix of A's own rows and columns, cached as long as A lives."""
    small: MatrixStore | None = A.prepared.get("own")
    if small is None:
        small = A.prepared["own"] = narrowed(A, *lists(A))
    return small


def compress(A: MatrixStore, rows: Array, cols: Array) -> MatrixStore:
    """The entries in these rows and columns, with compressed indices."""
    primary: Any = A.structure.primary
    same = A.structure.hypersparse and primary.rows is rows and primary.cols is cols
    return compressed_matrix(A) if same else narrowed(A, rows, cols)


def pattern(structure: Structure, rows: Array, cols: Array) -> Structure:
    """The same for a structure."""
    return narrowed(MatrixStore(structure, BOOL, BOOL.np_type.type(True)), rows, cols).structure


def entrywise(run: Callable[..., MatrixStore], A: MatrixStore, B: MatrixStore, *masks: Structure) -> MatrixStore:
    """run(a, b, *masks) on compressed matrices of one shape, and compressed mask structures."""
    rows, cols = united_lists(A, B, *masks)
    t = run(compress(A, rows, cols), compress(B, rows, cols), *(pattern(m, rows, cols) for m in masks))
    return widened(t, rows, cols, A.nrows, A.ncols)


def resolve_index(
    index: Array | range | None, listed: Array, size: int, xp: ModuleType
) -> tuple[Array | None, Array, int]:
    """Resolve an index (an array, a range, or None: all) against the rows or columns `listed`: their positions in
    `listed`, the positions in the index, and the size of the index."""
    if index is None:
        return None, listed, size
    if isinstance(index, range):
        position, place = within(listed, index)
        return place, position, len(index)
    place, there = placed(xp, listed, index)
    return place[there], xp.flatnonzero(there), len(index)


def resolve_assignment(
    index: Array | range | None, listed: Array, assigned: Array, size: int, xp: ModuleType
) -> tuple[Array, Array | None, Array]:
    """Resolve the index of an assignment (as in `resolve_index`): the rows (or columns) that have entries (`listed`) or
    are assigned to; the positions of the index among them (None: all); and which of its `size` positions are read from
    the assigned value, which has entries at `assigned`."""
    if index is None:
        rows = merge_lists(xp, listed, assigned)
        return rows, None, rows
    if isinstance(index, range):  # positions where neither has an entry do not change
        offsets = merge_lists(xp, within(listed, index)[0], assigned)
        index = index.start + index.step * offsets
    else:
        offsets = xp.arange(size, dtype=np.int64)
    rows = merge_lists(xp, listed, xp.unique(index))
    return rows, xp.searchsorted(rows, index), offsets


# ---- Products of hypersparse matrices: multiply the compressed matrices with the ordinary kernels.


def compressed_product(of: VectorProduct) -> tuple[VectorProduct, Array | None]:
    """The product of the compressed operands of A (+).(x) u, and the positions of its result; the product itself and
    None if A is not hypersparse. Of a vector that is a list, only the rows of A at its entries are compressed, if a
    format by rows exists."""
    structure, u = of.A.structure, of.u
    if not structure.hypersparse:
        layout = structure.held(CSR, transposed=not of.transpose) if type(u) is SparseStore else None
        if type(u) is not SparseStore or layout is None or not layout.format.by_rows:
            return of, None
        of = of._replace(A=rows_along(of.A, u, transposed=not of.transpose), transpose=True)
    A, u, semiring, transpose, flip, mask, _ = of
    if semiring.op.is_positional:
        A, semiring = _multiplied(A, u, semiring, transpose=transpose, flip=flip)
    rows, cols = lists(A)
    at, size, inner = (cols, A.ncols, rows) if transpose else (rows, A.nrows, cols)
    m = None if mask is None else compressed.mask_at(mask, at, A.device, size)
    return VectorProduct(compressed_matrix(A), compressed.compress(u, inner), semiring, transpose, flip, m, None), at


def merge_into(t: VectorStore, mask: Mask | None, into: Into | None) -> VectorStore:
    """Epilogue of a statement whose product is known."""
    if into is None or not into.keeps:
        return t
    ewise_vector.merge(into.w, t, mask, into.accum, into.replace)
    return into.w


def ones(A: MatrixStore, transpose: bool) -> VectorStore:
    """A Boolean vector over the dimension that row sums (column sums if `transpose`) of a hypersparse A reduce: true at
    its entries."""
    rows, cols = lists(A)
    index, size = (rows, A.nrows) if transpose else (cols, A.ncols)
    return SparseStore(A.device, size, BOOL, index, BOOL.np_type.type(True))


def rows_along(A: MatrixStore, u: SparseStore, *, transposed: bool) -> MatrixStore:
    """The rows of A (of its transpose if `transposed`) at the entries of u, hypersparse, so that a push reads only
    these. A format by rows has to exist."""
    layout: Any = A.structure.layout(CSR, transposed=transposed)
    xp, low = A.device.xp, layout.ptr[u.index].astype(np.int64)
    length = layout.ptr[u.index + 1] - low
    ptr = xp.zeros(len(length) + 1, np.int64)
    xp.cumsum(length, out=ptr[1:])
    owner = numbers_of(ptr, int(ptr[-1]), A.device)
    at = (low - ptr[:-1])[owner] + xp.arange(len(owner))
    cols, col = xp.unique(layout.columns_at(at).astype(np.int64), return_inverse=True)
    inner = from_arrays(A.device, len(length), len(cols), ptr, col)
    values = MatrixStore(Structure(layout), A.dtype, A.raw_for(layout.key, transposed)).taken(at)
    rows = Structure(widened_form(inner, u.index, cols, layout.nrows, layout.ncols))
    return MatrixStore(rows, A.dtype, values)


def _multiplied(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool
) -> tuple[MatrixStore, Typed[Semiring]]:
    """The same product with the multiplier already applied: the values of A become the products."""
    rows, cols = A.structure.coo()
    i, k = (cols, rows) if transpose else (rows, cols)
    op, x = semiring.op.binaryop, A.values
    y: PlainValues = x
    if not op.reads_positions_only:  # entries of A where u has none are not multiplied
        y = u.values if u.iso else compressed.plain_values(compressed.extract(u, k))
    x, y, places = (y, x, ("0", "jx", "jx", "ix")) if flip else (x, y, ("ix", "jx", "jx", "0"))
    return _with_products(A, semiring, x, y, (i, k), places), _with_multiplier(semiring, "second" if flip else "first")


def _with_products(
    A: MatrixStore,
    semiring: Typed[Semiring],
    x: PlainValues,
    y: PlainValues,
    at: tuple[Array, Array],
    places: tuple[str, ...],
) -> MatrixStore:
    """A with the products of a semiring as its values."""
    op = semiring.op.binaryop[semiring.op.operand_type(semiring.dtype)]
    rows, cols = at
    return MatrixStore(A.structure, op.return_type, value_arrays.by_place(A.device, op, x, y, rows, cols, places))


def _with_multiplier(semiring: Typed[Semiring], multiplier: str) -> Typed[Semiring]:
    return compose(semiring.op.monoid, BINARY[multiplier])[semiring.return_type]


def compressed_matrices(of: MatrixProduct) -> tuple[MatrixProduct, Array, Array]:
    """The product of compressed operands and mask, and the rows and columns of its result."""
    if of.semiring.op.is_positional:
        of = _multiplied_operand(of)
    A, B, semiring, transpose_a, transpose_b, mask = of
    (a_rows, a_cols), (b_rows, b_cols) = lists(A), lists(B)
    rows, inner = (a_cols, a_rows) if transpose_a else (a_rows, a_cols)
    other, cols = (b_cols, b_rows) if transpose_b else (b_rows, b_cols)
    inner = merge_lists(A.device.xp, inner, other)
    a = compress(A, *((inner, rows) if transpose_a else (rows, inner)))
    b = compress(B, *((cols, inner) if transpose_b else (inner, cols)))
    m = None if mask is None else mask._replace(structure=pattern(mask.structure, rows, cols))
    return MatrixProduct(a, b, semiring, transpose_a, transpose_b, m), rows, cols


def _multiplied_operand(of: MatrixProduct) -> MatrixProduct:
    """The same product with the multiplier already applied, in the operand whose indices the multiplier reads."""
    A, B, semiring, op = of.A, of.B, of.semiring, of.semiring.op.binaryop
    if not op.reads_positions_only:
        raise NotImplementedException(
            f"op: {op!r} reads values and positions, which products of hypersparse matrices do not support; "
            "expected operands with format='csr'"
        )
    reads_a = "x" in op.expr
    rows, cols = (A if reads_a else B).structure.coo()
    i, j = (cols, rows) if (of.transpose_a if reads_a else of.transpose_b) else (rows, cols)
    if reads_a:
        A = _with_products(A, semiring, A.values, A.values, (i, j), ("ix", "jx", "", ""))
    else:
        B = _with_products(B, semiring, B.values, B.values, (i, j), ("", "", "ix", "jx"))
    return of._replace(A=A, B=B, semiring=_with_multiplier(semiring, "first" if reads_a else "second"))

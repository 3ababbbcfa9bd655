"""Multivectors (tall-skinny matrices as bitmaps, flat.py): element-wise operations and the merge into the output.

Both run as on one vector of all positions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from semirings import BinaryOp, Monoid, Operator, Typed
from semirings.catalog import SELECT
from semirings.dtypes import BOOL, DataType, cast_scalar
from semirings.expressions import rename

from ..flat import FlatStore, bits_of, flat_of
from ..formats import Structure
from ..formats.bitmap.layout import Lines, lines_of
from ..kernels.prologue import Variant
from ..store import MatrixStore, VectorStore, pack, words
from . import elements, local, records, vector
from .operands import Mask, allowed, word_bounds
from .sieve import Sieve


def is_flat(A: MatrixStore) -> bool:
    """Whether a matrix is a bitmap."""
    if A.usual:
        return False
    return type(A) is FlatStore or (A.places if isinstance(A, Sieve) else A.structure).bits


def _own(t: VectorStore, *read: VectorStore) -> VectorStore:
    """A vector in arrays that it shares with none of the operands."""
    if any(t is u or t.bits is u.bits for u in read):
        t = dataclasses.replace(t, bits=t.present.copy())
    if not t.iso and any(t.values is u.values for u in read):
        t = dataclasses.replace(t, values=t.values.copy())
    return t


def _like(A: MatrixStore, t: VectorStore) -> FlatStore:
    return FlatStore(t, A.nrows, A.ncols)


def computes(op: Typed[Operator] | Typed[Monoid]) -> bool:
    """Whether an operator runs on bitmaps, whose values can represent its types."""
    return not op.dtype._is_udt and not records.computes(op)


def maps(A: MatrixStore, op: Typed[Operator]) -> bool:
    """Whether an operator runs on the entries of A in place: positional operators see the user's indices, and bitmaps
    those of A."""
    return is_flat(A) and computes(op) and (A.order is None or not op.op.positional)


@functools.cache
def at_places(op: Typed[Any], lines: Lines) -> Typed[Any]:
    """The operator with row and column computed from the position `ix`, which is on line `ix / stride`."""
    if not op.op.positional:
        return op
    line = f"floor_quotient(ix, 0 * ix + {lines.stride})"  # operands of one type
    position = f"(ix - {lines.stride} * {line})"
    row, column = (line, position) if lines.tall else (position, line)
    text = rename(op.op.expr, {"ix": row, "jx": column, "iy": row, "jy": column})
    alone = {"exchanged": None} if isinstance(op.op, BinaryOp) else {}
    return dataclasses.replace(op.op, expr=text, **alone)[op.dtype]


def ewise(A: MatrixStore, B: MatrixStore, op: Typed[Operator], *, union: bool, defaults: Any = None) -> MatrixStore:
    """The entries of both, or of either (with `defaults` for missing ones), combined by an operator."""
    u, v, op = flat_of(A), flat_of(B), at_places(op, lines_of(A.nrows, A.ncols))
    t = vector.ewise(u, v, op, union=union) if defaults is None else vector.ewise_union(u, v, op, *defaults)
    return _like(A, _own(t, u, v))


def each(run: Callable[..., VectorStore], A: MatrixStore, op: Typed[Operator], *args: Any, **how: Any) -> MatrixStore:
    """Run an operation of vectors on the entries of one matrix."""
    u = flat_of(A)
    return _like(A, _own(run(u, at_places(op, lines_of(A.nrows, A.ncols)), *args, **how), u))


def cast(A: MatrixStore, dtype: DataType) -> MatrixStore:
    """A with values of another type."""
    u = flat_of(A)
    return _like(A, _own(vector.cast(u, dtype), u))


def truthy(A: FlatStore) -> Structure:
    """Where A has a nonzero entry."""
    u = A.flat
    if u.iso:
        return A.pattern() if u.values else _nothing(A, BOOL).pattern()
    if u.dtype is BOOL:
        return _like(A, VectorStore(A.device, u.size, BOOL, u.values, BOOL.np_type.type(True))).pattern()
    return _like(A, vector.select(u, SELECT["valuene"][u.dtype], u.dtype.np_type.type(0))).pattern()


def _nothing(A: MatrixStore, dtype: DataType) -> FlatStore:
    size = lines_of(A.nrows, A.ncols).places
    return _like(A, VectorStore(A.device, size, dtype, None, dtype.np_type.type(0), 0))


def filled(C: MatrixStore, value: np.generic, dtype: DataType, mask: Any) -> FlatStore:
    """`value` wherever a mask allows it; used in a merge, and shares the bits of its mask."""
    bits = valid_bits(C) if mask is None else bits_of(mask.structure)
    if mask is not None and mask.complement:
        bits = valid_bits(C) & ~bits
    return _like(C, VectorStore(C.device, lines_of(C.nrows, C.ncols).places, dtype, bits, dtype.np_type.type(value)))


def valid_bits(C: MatrixStore) -> Any:
    """The bits of all positions within the matrix."""
    xp, lines = C.device.xp, lines_of(C.nrows, C.ncols)
    line = np.zeros(max(lines.stride, 64), bool)
    for first in range(0, len(line), lines.stride):
        line[first : first + lines.width] = True
    words = C.device.asarray(np.packbits(line, bitorder="little").view(np.uint64))
    bits = xp.tile(words, -(-lines.words // len(words)))[: lines.words]
    spare = lines.words * 64 - lines.places  # beyond the last line
    if spare:
        bits[-1:] &= np.uint64((1 << (64 - spare)) - 1)
    return bits


def merges(C: MatrixStore, accum: Typed[Operator] | None) -> bool:
    """Whether the merge of a statement on C runs on the bitmap."""
    named: Any = None if accum is None else accum.op
    return not C.dtype._is_udt and (accum is None or (computes(accum) and not getattr(named, "positional", False)))


def merge(
    C: MatrixStore, T: MatrixStore, mask: Any, accum: Typed[Operator] | None, replace: bool, inside: bool
) -> FlatStore:  # fmt: skip
    """The content of C after C<mask, accum, replace> = T, of C's type: written into C itself if `inside` and C's arrays
    are not shared."""
    t = flat_of(T)
    same = T is C
    C = C.copy() if type(C) is FlatStore and (same or not inside) else _own_places(C)
    m = None if mask is None else Mask(bits_of(mask.structure), mask.complement)
    if m is not None and m.words is C.flat.bits and mask.complement and not replace:
        m = Mask(m.words.copy(), True)  # a copy, because it changes while it is read
    w = C.flat
    if accum is None and t.iso and not w.iso and w.dtype is not BOOL:
        one = cast_scalar(t.values, w.dtype)
        bounds = word_bounds(w, t)
        kernel = w.device.kernel(fill_variant(w.dtype))
        kernel(words(w.size), t.present, one, *allowed(w.device, m), int(replace), w.present, w.values, bounds=bounds)
        w.changed(grown=False)
    else:
        vector.merge(w, t, m, accum, replace)
    return C


@functools.cache
def fill_variant(w: DataType) -> Variant:
    """The kernel for w<mask, replace> = one value at the places of t."""
    return Variant("formats/bitmap/fill", (("W", w),), (("LANES", 1),))


def transpose(A: FlatStore) -> MatrixStore | None:
    """The transpose; None for a square matrix, whose transpose has different lines."""
    if A.nrows == A.ncols:
        return None
    return FlatStore(_own(A.flat, A.flat), A.ncols, A.nrows)


def _own_places(C: MatrixStore) -> FlatStore:
    """C itself if its arrays are not shared, else a copy: may be written."""
    if type(C) is not FlatStore:
        return _like(C, flat_of(C).copy())
    return C if C.alone else C.copy()


def written(C: MatrixStore, at: np.ndarray, values: list[Any]) -> FlatStore:
    """C with single entries written, of its own type, or deleted (None). at: their rows and columns."""
    places, to = lines_of(C.nrows, C.ncols).place(at[:, 0], at[:, 1]).tolist(), _own_places(C)
    elements.put(to.flat, dict(zip(places, values, strict=True)))
    return to


def assigned(
    C: MatrixStore,
    I: Any,
    J: Any,
    u: VectorStore | MatrixStore,
    mask: Any,
    accum: Typed[Operator] | None,
    replace: bool,
    part: Any = None,
) -> FlatStore:
    """The content of C after C<mask, accum, replace>[I, J] = u. If an index repeats, the last one counts.

    I, J: arrays, None: all. u: a matrix of their sizes, or values for it, row by row. part: the rows and columns that
    the mask covers; nothing changes elsewhere. None: all.
    """
    xp, lines = C.device.xp, lines_of(C.nrows, C.ncols)
    (rows, r), (cols, c) = (_last_of_each(xp, index, size) for index, size in ((I, C.nrows), (J, C.ncols)))
    if isinstance(u, MatrixStore):
        u = local.extract(flat_of(u), lines_of(u.nrows, u.ncols).place(r[:, None], c).ravel())
    elif u.size != len(rows) * len(cols):
        u = local.extract(u, (r[:, None] * (C.ncols if J is None else len(J)) + c).ravel())
    m = None
    if mask is not None:
        m = Mask(bits_of(mask.structure), mask.complement) if part is None else _widened(C, part, mask)
    to = _own_places(C)
    elements.assign(to.flat, lines.place(rows[:, None], cols).ravel(), u, m, accum, replace)
    return to


def _widened(C: MatrixStore, part: tuple[Any, Any], mask: Any) -> Mask:
    """Extend the mask of a part of C to all of C; it allows every position outside."""
    xp, lines = C.device.xp, lines_of(C.nrows, C.ncols)
    (rows, r), (cols, c) = (_last_of_each(xp, *of) for of in zip(part, (C.nrows, C.ncols), strict=True))
    inside = xp.full((mask.structure.nrows, mask.structure.ncols), mask.complement)
    inside[mask.structure.coo()] = not mask.complement
    allowed = xp.ones(lines.places, bool)
    allowed[lines.place(rows[:, None], cols)] = inside[r[:, None], c]
    return Mask(pack(C.device, allowed), False)


def _last_of_each(xp: Any, index: Any, size: int) -> tuple[Any, Any]:
    """The distinct indices, and the last occurrence of each in the list."""
    if index is None:
        index = xp.arange(size)
        return index, index
    each, back = xp.unique(index[::-1], return_index=True)
    if len(each) == len(index):
        return index, xp.arange(len(index))
    return each, len(index) - 1 - back

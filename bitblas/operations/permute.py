"""Permute a vector (one gather) or a matrix (one sort); products by position."""

from __future__ import annotations

import dataclasses

import numpy as np

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import INT64
from semirings.expressions import names_in

from ..formats.packing import PackedValues
from ..order import Order, gather_places
from ..store import MatrixStore, VectorStore, empty_vector
from ..typing import Array
from . import build, compressed
from .build import Entries


def vector_in(u: VectorStore, order: Order | None) -> VectorStore:
    """u stored in that order; u itself if it already is."""
    if u.order is order:
        return u
    if u.count == 0:
        t = empty_vector(u.device, u.size, u.dtype)
    elif u.iso and u.count == u.size:  # the same in any order
        t = dataclasses.replace(u, bits=u.present.copy())
    else:
        t = compressed.extract(u, gather_places(u.order, order))
        t.count, t.least = u.count, u.least
    t.order = order
    return t


def matrix_in(A: MatrixStore, order: Order | None, format: str = "auto", tile: int | None = None) -> MatrixStore:
    """A stored in that order; A itself if it already is. Packed values stay packed.

    Peak memory: 24 bytes per entry for positions and keys (values: 24 more), and the result.
    """
    if A.order is order:
        return A
    rows, cols = A.coo()
    if order is not None:
        rows, cols = order.places(rows), order.places(cols)
    entries = Entries(A.device, A.nrows, A.ncols, rows, cols, A.values, A.dtype)
    B = build.from_coo(entries, format=format, tile=tile)
    if isinstance(A.raw, PackedValues):
        B = MatrixStore(B.structure, B.dtype, A.raw.again(B.values))
    return B.tagged(order)


# The position that a positional multiplier reads, for `A.mxv(u)` and `u.vxm(A)`: the position k that is summed over,
# the position of the result, or 0. A vector is a column on the right, and a row on the left.
SUMMED = ("jx", "iy")
OF_RESULT = {False: "ix", True: "jy"}


def reads_result(semiring: Typed[Semiring], flip: bool) -> bool:
    """Whether products read row indices of the result, which a matrix in another order does not have; or read positions
    together with values."""
    op = semiring.op.binaryop
    return OF_RESULT[flip] in names_in(op.expr) or (op.positional and not op.reads_positions_only)


def by_value(u: VectorStore, semiring: Typed[Semiring], flip: bool) -> tuple[VectorStore, Typed[Semiring]]:
    """A product by position k as one by value, if stored positions are not the user's indices: the values of the vector
    become k."""
    return (u, semiring) if u.order is None else by_number(u, u.order.perm, semiring, flip)


def by_number(
    u: VectorStore, numbers: Array | None, semiring: Typed[Semiring], flip: bool
) -> tuple[VectorStore, Typed[Semiring]]:
    """The same for given indices (None: the positions themselves); u itself if products do not read positions."""
    expr = semiring.op.binaryop.expr
    if expr.removesuffix(" + 1") not in SUMMED:
        return u, semiring
    numbers = u.device.xp.arange(u.size) if numbers is None else numbers.astype(np.int64)
    if expr.endswith(" + 1"):
        numbers += 1
    values = numbers if len(numbers) else u.device.xp.zeros(1, np.int64)
    by_number = dataclasses.replace(u, dtype=INT64, values=values)
    return by_number, compose(semiring.op.monoid, BINARY["first" if flip else "second"])[INT64]

"""The plan of matrix-matrix products, and its thresholds. See product.py."""

from __future__ import annotations

import numpy as np

from semirings import Semiring, Typed

from ..formats import format_of
from ..store import MatrixStore
from .product import VALUES, Plan, kind_of

# Row-by-row products on a GPU: lanes that share a row, and slots of its table (in shared memory: 48 KB a block), of
# which three in four may be taken; what fits none is a long row, with a bitset in shared memory up to that many words,
# and LONG_ROW_BLOCKS blocks take them one after the other (estimated). A * A on an H200: delaunay_n20 1.60 ms, with 128
# slots first 1.66, with 4 lanes first 1.62; a 27-point stencil and RMAT 14 and 16 differ by less than 5 %.
ROW_TABLES = ((8, 64), (16, 256), (32, 1024))
SHARED_BYTES = 48 << 10
SHARED_WORDS = 2048
LONG_ROW_BLOCKS = 1024
SINGLE_TURNS = 16  # a row's products at a slot's share of lanes: more than 16 a slot want more lanes (not measured)
BITSET_BYTES = 1 << 30  # of all blocks: fewer take the long rows where theirs would need more


def plan_mxm(A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], masked: bool) -> tuple[Plan, np.generic | None]:
    """Dot products at the entries of a mask; without one (or with a complement) row by row: see verbs/gustavson.py."""
    kind, product = kind_of(semiring, A.raw, B.raw)
    form = A.structure.primary

    def note(key: str) -> str:
        made = [x.key for x in (A.structure.primary, B.structure.primary) if x.compact and x.key != key]
        return f"; another form of {' and '.join(made)} is made for the statement" if made else ""

    if not masked:
        key = form.format.rows_key()
        return Plan("mxm", semiring.op.name, key, False, "gustavson", kind, 1, "no mask to dot at" + note(key)), product
    format = format_of(form.format.dot_key(A.device.shares_rows))
    format = format_of(format.dot_beside(B.structure.primary.format, A.nrows, A.ncols))
    key, shared = format.key, A.device.shares_rows
    lanes = format.dot_lanes(form) if shared else 1
    wide = not shared and format.wide and kind != VALUES
    reason = "at the entries of the mask" + note(key)
    return Plan("mxm", semiring.op.name, key, False, "dot", kind, lanes, reason, wide), product


def row_tables(bytes_per_slot: int) -> list[tuple[int, int]]:
    """Lanes and slots of the tables for short rows, as many slots as shared memory has room for."""
    tables = []
    for lanes, slots in ROW_TABLES:
        room = SHARED_BYTES * lanes // (256 * bytes_per_slot)
        tables.append((lanes, min(slots, 1 << room.bit_length() - 1)))
    return tables

"""The plan of matrix-matrix products, and its thresholds. See product.py."""

from __future__ import annotations

import numpy as np

from semirings import Semiring, Typed

from ..formats import format_of
from ..store import MatrixStore
from .product import VALUES, Plan, kind_of

# SpGEMM on a GPU: lanes that share a row, and slots of its hash table (in shared memory: 48 KB a block), of which three
# in four may be used. A row that fits none is a long row, with a bitset in shared memory up to SHARED_WORDS words;
# LONG_ROW_BLOCKS blocks process the long rows one after the other (estimated). A * A on an H200: delaunay_n20 1.60 ms,
# with 128 slots first 1.66, with 4 lanes first 1.62; a 27-point stencil and RMAT 14 and 16 differ by less than 5 %.
ROW_TABLES = ((8, 64), (16, 256), (32, 1024))
SHARED_BYTES = 48 << 10
SHARED_WORDS = 2048
LONG_ROW_BLOCKS = 1024
SINGLE_TURNS = 16  # products per slot of a row's lanes, beyond which the row gets more lanes (not measured)
BITSET_BYTES = 1 << 30  # for all blocks together: fewer blocks process the long rows if their bitsets would need more


def plan_mxm(A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], masked: bool) -> tuple[Plan, np.generic | None]:
    """Dot products at the entries of a mask; without one (or with a complement) row by row: see verbs/gustavson.py."""
    kind, product = kind_of(semiring, A.raw, B.raw)
    form = A.structure.primary

    def note(key: str) -> str:
        made = [x.key for x in (A.structure.primary, B.structure.primary) if x.compact and x.key != key]
        return f"; this statement converts {' and '.join(made)}" if made else ""

    if not masked:
        key = form.format.rows_key()
        return Plan(
            "mxm", semiring.op.name, key, False, "gustavson", kind, 1, "no mask, so row by row" + note(key)
        ), product
    format = format_of(form.format.dot_key(A.device.shares_rows))
    format = format_of(format.dot_beside(B.structure.primary.format, A.nrows, A.ncols))
    key, shared = format.key, A.device.shares_rows
    lanes = format.dot_lanes(form) if shared else 1
    wide = not shared and format.wide and kind != VALUES
    reason = "dot products only at the entries of the mask" + note(key)
    return Plan("mxm", semiring.op.name, key, False, "dot", kind, lanes, reason, wide), product


def row_tables(bytes_per_slot: int) -> list[tuple[int, int]]:
    """Lanes and slots of the tables for short rows: as many slots as fit in shared memory."""
    tables = []
    for lanes, slots in ROW_TABLES:
        room = SHARED_BYTES * lanes // (256 * bytes_per_slot)
        tables.append((lanes, min(slots, 1 << room.bit_length() - 1)))
    return tables

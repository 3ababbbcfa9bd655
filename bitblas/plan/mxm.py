"""The plan of products of matrices, and its thresholds: see product.py."""

from __future__ import annotations

import numpy as np

from semirings import Semiring, Typed

from ..formats import CSR, MPLG, ROWS
from ..formats.mplg.format import Mplg
from ..store import MatrixStore
from .product import VALUES, Plan, kind_of, power_of_two

# Dot products of rows at a mask on a GPU: slots of the table that holds a row of A (a row may fill half of them), from
# how many entries on a row is put there, for how many entries of the mask at once; and how long even the shorter row
# has to be for a whole block to search for its entries (estimated). Triangles of RMAT 20 on an H200: 10.8 ms, 20.2
# without tables; rows from 8 to 32 entries on, and 2048 to 8192 slots, differ by 4 %.
DOT_TABLE = (("SLOTS", 4096), ("LOG_SLOTS", 12), ("TABLE_FROM", 16), ("TABLE_FOR", 4), ("LONG", 1024))

# Row-by-row products on a GPU: lanes that share a row, and slots of its table (in shared memory: 48 KB a block), of
# which three in four may be taken; what fits none is a long row, with a bitset in shared memory up to that many words,
# and BLOCKS blocks take them in turns (estimated). A * A on an H200: delaunay_n20 1.60 ms, with 128 slots first 1.66,
# with 4 lanes first 1.62; a 27-point stencil and RMAT 14 and 16 differ by less than 5 %.
ROW_TABLES = ((8, 64), (16, 256), (32, 1024))
SHARED_BYTES = 48 << 10
SHARED_WORDS = 2048
BLOCKS = 1024
BITSET_BYTES = 1 << 30  # of all blocks: fewer take the long rows where theirs would need more


def plan_mxm(A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], masked: bool) -> tuple[Plan, np.generic | None]:
    """Dot products at the entries of a mask; without one (or with a complement) row by row: see verbs/gustavson.py."""
    kind, product = kind_of(semiring, A.raw, B.raw)
    form = A.structure.primary
    made = [M.structure.primary.key for M in (A, B) if M.structure.primary.compact]
    note = f"; another form of {' and '.join(made)} is made for the statement" if made else ""
    if not masked:
        key = form.key if form.key in ROWS else CSR
        return Plan("mxm", semiring.op.name, key, False, "gustavson", kind, 1, "no mask to dot at" + note), product
    key = CSR if form.compact else form.key
    if key == CSR and B.structure.primary.key == MPLG and Mplg.holds(A.nrows, A.ncols):
        key = MPLG  # the other is packed too, once: plain columns would be made in every statement
    lanes = 1
    if A.device.is_gpu:
        per_row = A.nvals / max(1, A.nrows) if key in ROWS else form.work / max(1, form.units)
        # Half a lane per tile (delaunay_n20: 0.21 ms with 4 lanes, 0.30 with 8), one per entry (rmat20: 10.8 ms with
        # 4 lanes, 9.6 and 10.8 in two runs with 8, 10.0 with 32).
        lanes = power_of_two(per_row / (1 if key in ROWS else 2), 4, 32)
    wide = not A.device.is_gpu and key == "b2sr8" and kind != VALUES
    reason = "at the entries of the mask" + note
    return Plan("mxm", semiring.op.name, key, False, "dot", kind, lanes, reason, wide), product


def row_tables(bytes_per_slot: int) -> list[tuple[int, int]]:
    """Lanes and slots of the tables for short rows, as many slots as shared memory has room for."""
    tables = []
    for lanes, slots in ROW_TABLES:
        room = SHARED_BYTES * lanes // (256 * bytes_per_slot)
        tables.append((lanes, min(slots, 1 << room.bit_length() - 1)))
    return tables

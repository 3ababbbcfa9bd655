"""Plans of products (SpMV, SpGEMM, multivectors): facts go in, a frozen decision that prints itself comes out.

Kernels decide nothing. Each threshold is defined next to the decision that uses it, with its reason and whether it was
measured. Thresholds of a stored format are in its folder.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, DataType, cast_scalar

from ..device import Device
from ..formats import Layout, format_of
from ..formats.bitmap.lines import lines_of
from ..formats.contract import CSR
from ..formats.schedule import power_of_two as power_of_two
from ..formats.structure import Structure
from ..kernels.constants import COUNT as COUNT
from ..kernels.constants import KINDS, VALUES, WORDS
from ..store import MatrixStore
from ..table import html

# ---- The plan of a product: facts about the operands go in, a frozen decision that prints itself comes out.
#
# Kernels decide nothing. Each threshold is defined next to the decision that uses it, with its reason and whether it
# was measured. Thresholds of a stored format are in its cost.py.

# Bytes of shared memory for values of a vector: compute capability 9.0 has 227 KB for a block, 8.0 has 163 (RMAT 22 by
# degree, H200, plus_second: 533 us with 128 KB, 509 with 192).
HOT_BYTES = (3 << 16, 1 << 17)
MOST_THREADS = 8  # CPU threads beyond which pulls are limited by memory bandwidth (not measured)
SPREAD = 1 << 21  # number of threads that uneven rows are distributed over


# ---- products -------------------------------------------------------------------------------------------------------


def equal_products(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool = False) -> np.generic | None:
    """The common value of all products, if there is one: pair; first or second of an iso operand; any operator that
    ignores positions if both are iso. `a`, `u`: the values, np.generic if iso."""
    x, y = (u, a) if flip else (a, u)
    x_key, y_key = ((v.dtype.char, v.tobytes()) if isinstance(v, np.generic) else None for v in (x, y))
    return _equal_products(semiring, x_key, y_key)


@functools.lru_cache(1 << 12)
def _equal_products(semiring: Typed[Semiring], x: Any, y: Any) -> np.generic | None:
    """The same for operands given as (type, bytes), or None if not iso."""
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    uses = {"x": op.expr not in ("1", "y"), "y": op.expr not in ("1", "x")}
    given = {"x": x, "y": y}
    if op.positional or any(used and given[name] is None for name, used in uses.items()):
        return None
    values = {name: np.frombuffer(given[name][1], given[name][0])[0] if used else 0 for name, used in uses.items()}
    names = {name: cast_scalar(value, op.casts(t)[0]) for name, value in values.items()}
    return op.evaluate(t, **names)


# The operators of the CPU's lanes, by expression (lanes.cpu.py has the functions in this order).
LANE_EXPRESSIONS = ("x", "y", "plus(x, y)", "minus(x, y)", "times(x, y)", "least(x, y)", "greatest(x, y)")


def is_wide(semiring: Typed[Semiring], kind: int, key: str, a: Any) -> bool:
    """Whether the CPU's kernel for all 64 positions of a tile at once supports the product: see lanes.cpu.py."""
    z, monoid, op = semiring.return_type, semiring.op.monoid, semiring.op.binaryop
    if not format_of(key).wide or kind == WORDS or z is BOOL or z.kind == "c":
        return False
    if kind == COUNT:
        return True
    compute = op.compute_type(semiring.op.operand_type(semiring.dtype))
    known = op.expr in LANE_EXPRESSIONS and monoid.binaryop.expr in LANE_EXPRESSIONS[2:]
    return known and not op.positional and compute is z and isinstance(a, np.generic)


class Plan(NamedTuple):
    """How one product runs: the format that is read (of A or of its transpose), direction, kernel and lanes.

    wide: the CPU's kernel for all positions of a tile at once. source: the text of its kernels, if requested.
    """

    verb: str
    semiring: str
    key: str
    transposed: bool
    direction: str  # pull: by rows of the output; push: by entries of the vector; dot: by entries of the mask
    kind: int
    lanes: int
    reason: str
    wide: bool = False
    source: str = ""

    def __str__(self) -> str:
        said, text = self._said(), f"\n\n{self.source}" if self.source else ""
        how = f"{said['direction']} on {said['form']}, {said['computes']}, {said['lanes']} lanes"
        return f"{said['product']}: {how} ({said['why']}){text}"

    def _repr_html_(self) -> str:
        return html([("plan", ""), *self._said().items()], *([self.source] if self.source else []))

    def _said(self) -> dict[str, str]:
        layout = self.key + (" of the transpose" if self.transposed else "")
        return {
            "product": f"{self.verb} {self.semiring}",
            "form": layout,
            "direction": self.direction,
            "computes": KINDS[self.kind],
            "lanes": "8 x 8" if self.wide else str(self.lanes),
            "why": self.reason,
        }


def kind_of(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool = False) -> tuple[int, np.generic | None]:
    """WORDS, COUNT or VALUES, and the common value of all products, if there is one."""
    product = equal_products(semiring, a, u, flip=flip)
    return VALUES if product is None else WORDS if semiring.op.monoid.is_idempotent else COUNT, product


def reads_matrix(semiring: Typed[Semiring], flip: bool) -> bool:
    """Whether the multiplier reads the matrix's values, which are y in its expression if `flip`, else x."""
    op = semiring.op.binaryop
    return not op.reads_positions_only and op.expr not in ("1", "x" if flip else "y")


def any_order(semiring: Typed[Semiring], kind: int) -> bool:
    """Whether sums may be taken in any order. Counts and inexact float sums are taken by rows."""
    exact = semiring.return_type.kind not in "fc" or semiring.op.monoid.is_exact_in_any_order
    return kind == WORDS or (kind == VALUES and exact)


def has_fused_epilogue(key: str, semiring: Typed[Semiring], w: DataType, accum: Typed | None) -> bool:
    """Whether a pull has its epilogue in the kernel: for the outputs and accumulators that are common with a semiring.
    Each epilogue is a separate kernel, which takes 0.1 to 1 s to compile; all others take one more element-wise
    kernel."""
    if not format_of(key).fused or w is not semiring.return_type:
        return False
    return accum is None or (accum.op.name == semiring.op.monoid.name and accum.dtype is w)


def may_split_rows(semiring: Typed[Semiring], kind: int, layout: Layout, full: bool) -> bool:
    """Whether a GPU may split rows freely (without a mask): partial products combine the same way within a row and
    across rows."""
    monoid, op = semiring.op.monoid, semiring.op.binaryop
    return layout.device.is_simt and kind == VALUES and full and monoid.name != "any" and not op.positional


def is_staged(semiring: Typed[Semiring], kind: int, layout: Layout, full: bool) -> bool:
    """Whether a GPU block reads the entries of its rows as one run: for rows of very different lengths."""
    return may_split_rows(semiring, kind, layout, full) and layout.format.is_uneven(layout)


def is_binned(semiring: Typed[Semiring], kind: int, layout: Layout, full: bool, u: DataType) -> bool:
    """Whether rows are degree-binned, if no entry of the output stays (of plain rows also: without a mask): sums of
    numbers over enough entries to amortize the schedule."""
    z = semiring.return_type
    numbers = all(t is not BOOL and t.kind in "fiu" for t in (z, u))
    return numbers and may_split_rows(semiring, kind, layout, full) and layout.format.is_binned(layout)


def hot_bytes(device: Device) -> int:
    """Bytes of shared memory for a block of a degree-binned pull, which has a multiprocessor for itself."""
    return next((size for size in HOT_BYTES if size <= device.block_shared_bytes), 0)


def staged_lanes(lanes: int, rows: int) -> int:
    """Lanes per staged row: more if rows are few, so that the long ones, which are neighbours in an order by degree,
    are distributed over more blocks (plus_second, H200, microseconds with 4, 8, 16 lanes: RMAT 20 224, 242, 300; RMAT
    18 55, 55, 68, by degree 108, 55, 58; email-Enron 25, 17, 15, and with 1: 79)."""
    return max(lanes, power_of_two(SPREAD / max(1, rows), 1, 8))


# ---- The plan of matrix-matrix products, and its thresholds.

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
    """Dot products at the entries of a mask; without one (or with a complement) row by row: see
    operations/spgemm.py."""
    kind, product = kind_of(semiring, A.raw, B.raw)
    layout = A.structure.primary

    def note(key: str) -> str:
        made = [x.key for x in (A.structure.primary, B.structure.primary) if x.compact and x.key != key]
        return f"; this statement converts {' and '.join(made)}" if made else ""

    if not masked:
        key = layout.format.rows_key()
        return Plan(
            "mxm", semiring.op.name, key, False, "gustavson", kind, 1, "no mask, so row by row" + note(key)
        ), product
    format = format_of(layout.format.dot_key(A.device.is_simt))
    format = format_of(format.dot_key_with(B.structure.primary.format, A.nrows, A.ncols))
    key, shared = format.key, A.device.is_simt
    lanes = format.dot_lanes(layout) if shared else 1
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


# ---- When a product with a multivector (tall-skinny matrix) runs on bitmaps (formats/bitmap), and in which direction.

# Shapes for which a bitmap is built automatically: lines of up to eight words, and enough of them to be a graph's
# vertices.
WIDEST = 512
FEWEST = 1 << 12
RATIO = 16  # lines per position of a line: with fewer the matrix is no multivector
# Lines per entry from which on the CPU keeps a multivector by rows: products along few entries read only these, and
# bitmaps all words. A GPU reads all words in the time of a launch.
SPARSE = {"cpu": 64, "gpu": 1 << 62}
MOST_BYTES = {"cpu": 1 << 31, "gpu": 1 << 33}  # for the values of a result that the user did not request as a bitmap
# Lines per non-empty line from which on products push along the non-empty lines. On a CPU, levels from 64 sources, one
# thread: road_ny 2.2 s with 16, 1.8 with 6, 1.3 with 3 and with 1; grid2d_256 .30, .16, .14 and .13; rmat14 the same.
# Two threads share a pull, but not a push. A GPU: csr/cost.py.
ALPHA = {"cpu": 4, "gpu": 16}


def is_tall_skinny(nrows: int, ncols: int, nvals: int, kind: str, itemsize: int) -> bool:
    """Whether a matrix is converted to a bitmap for a product, and its result too, with values of `itemsize` bytes."""
    lines = lines_of(nrows, ncols)
    shape = 1 < lines.width <= WIDEST and lines.number >= max(FEWEST, RATIO * lines.width)
    return shape and nvals * SPARSE[kind] >= lines.number and lines.places * itemsize <= MOST_BYTES[kind]


def pushes(structure: Structure, transposed: bool, lines: int, count: int | None, may: bool) -> bool:
    """Whether a product T = A X pushes along the non-empty lines of X, by rows of A', instead of pulling by rows of A:
    if they are few and the rows of A' exist. count: number of non-empty lines (None: not counted). transposed: A is the
    transpose of the structure. may: the kernel exists."""
    held = lambda other: structure.held(CSR, transposed=other) is not None
    few = count is not None and count * ALPHA[structure.device.kind] < lines
    return may and few and (held(not transposed) or not held(transposed))

"""The plan of a product: facts about the operands go in, a frozen decision that prints itself comes out. Kernels decide
nothing. Thresholds stand beside what they decide, each with its reason and whether it was measured.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, DataType, cast_scalar

from ..formats import ROWS, Form, Structure, tile_of
from ..formats.b2sr.format import B2sr
from ..formats.csr.format import KEY as CSR
from ..formats.mplg.format import Mplg
from ..formats.split.format import Split
from ..formats.split.layout import key_of as split_key
from .facts import UNEVEN, facts
from .forms import DEFAULT_TILE

WORDS, COUNT, VALUES = range(3)  # product.cuh
KINDS = ("words", "count", "values")

# Entries from which on a staged pull (below) is compiled for the width of its packed columns, once for each width, in
# half a second: packing costs it 4 instructions for an entry then, else 10 (counted in its SASS, not measured).
FIXED_FROM = 1 << 20
UNROLL = 4  # entries that a lane of the GPU's CSR kernel loads before it uses the first
BLOCKS = 8  # of 256 threads a multiprocessor, at least, for 32-bit sums of CSR (min_plus, grid: 58 us; with 4, 64 us)
STAGE = 1024  # entries that a block of the GPU's CSR kernel reads at once where it reads its rows as one run (measured)
# Steps of a group of lanes, each waiting for its loads; longer rows are hubs, cut into segments (estimated). Rows that
# end at their first hit are seldom gone through (RMAT 20: 26.6, 21.9, 21.7 us with 8, 32, 128).
LONGEST, LONGEST_EARLY = 16, 128
SPREAD = 1 << 21  # threads that uneven rows are spread over


# ---- products -------------------------------------------------------------------------------------------------------


def equal_products(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool = False) -> np.generic | None:
    """The one value that all products have, if they all have one: pair; first or second of an iso operand; any
    operator that ignores positions when both are iso. `a`, `u`: the values, np.generic where iso."""
    x, y = (u, a) if flip else (a, u)
    x_key, y_key = ((v.dtype.char, v.tobytes()) if isinstance(v, np.generic) else None for v in (x, y))
    return _equal_products(semiring, x_key, y_key)


@functools.lru_cache(1 << 12)
def _equal_products(semiring: Typed[Semiring], x: Any, y: Any) -> np.generic | None:
    """The same for operands given as (type, bytes), or None where they are not iso."""
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    uses = {"x": op.expr not in ("1", "y"), "y": op.expr not in ("1", "x")}
    given = {"x": x, "y": y}
    if op.positional or any(used and given[name] is None for name, used in uses.items()):
        return None
    compute = op.compute_type(t)
    values = {name: np.frombuffer(given[name][1], given[name][0])[0] if used else 0 for name, used in uses.items()}
    names = {name: cast_scalar(value, compute) for name, value in values.items()}
    return op.evaluate(t, **names)


# What the CPU's lanes compute, by the expression of the operator (lanes.cpu.py has the functions in this order).
LANE_EXPRESSIONS = ("x", "y", "plus(x, y)", "minus(x, y)", "times(x, y)", "least(x, y)", "greatest(x, y)")


def is_wide(semiring: Typed[Semiring], kind: int, key: str, a: Any) -> bool:
    """Whether the CPU's kernel for all 64 places of a tile at once can do the product: see lanes.cpu.py."""
    z, monoid, op = semiring.return_type, semiring.op.monoid, semiring.op.binaryop
    if key != "b2sr8" or kind == WORDS or z is BOOL:
        return False
    if kind == COUNT:
        return True
    compute = op.compute_type(semiring.op.operand_type(semiring.dtype))
    known = op.expr in LANE_EXPRESSIONS and monoid.binaryop.expr in LANE_EXPRESSIONS[2:]
    return known and not op.positional and compute is z and isinstance(a, np.generic)


@dataclass(frozen=True)
class Plan:
    """How one product runs: the form read (of A or of its transpose), the direction, the kernel and its lanes.

    wide: the CPU's kernel for all places of a tile at once.
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

    def __str__(self) -> str:
        form = self.key + (" of the transpose" if self.transposed else "")
        how = f"{self.direction} on {form}, {KINDS[self.kind]}, {'8 x 8' if self.wide else self.lanes} lanes"
        return f"{self.verb} {self.semiring}: {how} ({self.reason})"


def kind_of(semiring: Typed[Semiring], a: Any, u: Any, *, flip: bool = False) -> tuple[int, np.generic | None]:
    """WORDS, COUNT or VALUES, and the value of all products where they are equal."""
    product = equal_products(semiring, a, u, flip=flip)
    return VALUES if product is None else WORDS if semiring.op.monoid.is_idempotent else COUNT, product


def any_order(semiring: Typed[Semiring], kind: int) -> bool:
    """Whether sums may be taken in any order: not counts, which are taken by rows, and no float sums."""
    exact = semiring.return_type.kind != "f" or semiring.op.monoid.is_exact_in_any_order
    return kind == WORDS or (kind == VALUES and exact)


def fixed_width(form: Form) -> int:
    """The bits of a packed column that a staged pull is compiled for; 0: any, or plain columns."""
    return form.width if isinstance(form, Mplg) and form.device.is_gpu and form.nvals >= FIXED_FROM else 0


def choose_lanes(key: str, nvals: int, nrows: int, kind: int, structure: Structure, push: bool) -> int:
    """Lanes per row or tile row: a third of the words that it has, so that each lane has two or three loads in flight;
    never fewer than a tile needs. Measured on an H200: of 1, 2, 4, .. lanes, B2SR-8 was fastest with 2 on a Delaunay
    mesh (8.7 tiles a tile row), 1 on a grid (5), 4 on a 27-point stencil (13); Boolean CSR, which ends a row at its
    first hit, with 1 (RMAT 20: 22, 32, 56 us with 1, 2, 4); sums of CSR with 1 on a Delaunay mesh (6 entries a row), 2
    on a stencil (25) and 4 on RMAT (30)."""
    if key in ROWS:
        return 1 if kind == WORDS and not push else power_of_two(nvals / max(1, nrows) / (2 if push else 7), 1, 32)
    tile = tile_of(key)
    primary = structure.primary
    units = max(1, -(-nrows // tile))
    if isinstance(primary, Split):  # a third of the loads, as for tiles (not measured)
        if push:
            return power_of_two((primary.tiles + primary.in_rest) / units / 2, 2, 32)
        share = tile_share(key, kind)
        fewest = 4 if tile == 4 and kind == WORDS else share
        return power_of_two((primary.tiles * share + primary.in_rest) / units / 3, fewest, 32)
    tiles = primary.tiles if isinstance(primary, B2sr) else dict(facts(structure).tiles)[tile]
    per_row = tiles / units
    if push:
        return power_of_two(per_row / 2, 2, 32)
    if kind == WORDS:
        words = max(1, tile * tile // 64)
        return power_of_two(per_row * words / 3, 4 if tile == 4 else min(words, 32), 32)
    return power_of_two(min(tile, 32) * per_row * tile / 128, min(tile, 32), 32)


def tile_share(key: str, kind: int) -> int:
    """Lanes that go through a tile together: what it costs, in entries."""
    return max(1, tile_of(key) ** 2 // 64) if kind == WORDS else tile_of(key)


FUSED = (CSR, f"b2sr{DEFAULT_TILE}", split_key(DEFAULT_TILE))  # the forms that programs use


def is_fused(key: str, semiring: Typed[Semiring], w: DataType, accum: Typed | None) -> bool:
    """Whether a pull ends its statement in its kernel: for the outputs and accumulators that programs use with a
    semiring. Each end is a kernel of its own, which takes 0.1 to 1 s to compile; all others take one more pass."""
    if key not in FUSED or w is not semiring.return_type:
        return False
    return accum is None or (accum.op.name == semiring.op.monoid.name and accum.dtype is w)


def is_staged(semiring: Typed[Semiring], kind: int, form: Form, full: bool) -> bool:
    """Whether a block of a GPU reads the entries of its rows as one run (without a mask): where rows are of very
    different lengths, and products of any row and of any part of it are joined alike."""
    monoid, op = semiring.op.monoid, semiring.op.binaryop
    may = form.key in ROWS and kind == VALUES and full and monoid.name != "any" and not op.positional
    return may and longest_row(form) * form.units > UNEVEN * form.nvals


def staged_lanes(lanes: int, rows: int) -> int:
    """Lanes for a row where rows are staged: more where these are few, so that the long ones, which neighbour each
    other in an order by degree, are spread over more blocks (plus_second, H200, microseconds with 4, 8, 16 lanes:
    RMAT 20 224, 242, 300; RMAT 18 55, 55, 68, by degree 108, 55, 58; email-Enron 25, 17, 15, and with 1: 79)."""
    return max(lanes, power_of_two(SPREAD / max(1, rows), 1, 8))


def longest_row(form: Form) -> int:
    """Entries (tiles) of the longest row (tile row)."""
    if "longest" not in form.cache:
        form.cache["longest"] = int((form.ptr[1:] - form.ptr[:-1]).max()) if form.units else 0
    return int(form.cache["longest"])


def longest(key: str, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
    """Entries (tiles) of the longest row (tile row) that one group of lanes goes through on a GPU; of a Split, entries
    of the rest, and of tiles as many as each costs."""
    if staged:
        return max(STAGE, LONGEST * UNROLL * lanes)
    if key in ROWS:
        return (LONGEST_EARLY if kind == WORDS and not push else LONGEST) * lanes * (1 if push else UNROLL)
    if key.startswith("split"):
        return LONGEST * (1 if push else 3 if kind == WORDS else 8) * lanes
    share = 1 if push else tile_share(key, kind)
    return LONGEST * max(1, (1 if push else 3 if kind == WORDS else 8) * lanes // min(share, 32))


def segment(key: str) -> int:
    """Entries (tiles) of a long row (tile row) that 32 lanes sum: eight steps; of a Split as in `longest`."""
    if key in ROWS or key.startswith("split"):
        return 8 * UNROLL * 32
    return 8 * max(1, 2 * 32 // min(tile_of(key), 32))


def power_of_two(x: float, low: int, high: int) -> int:
    """The largest power of two that is at most x, from low to high."""
    lanes = low
    while lanes * 2 <= x and lanes < high:
        lanes *= 2
    return lanes

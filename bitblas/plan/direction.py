"""Push or pull: choose the direction of a matrix-vector product, for statements, loops and `explain`.

Facts go in; a direction, or the name of the fact that is missing, comes out.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed

from ..device import Device
from ..formats import CSR, format_of
from .product import COUNT, MOST_THREADS, VALUES, WORDS, Plan, any_order, is_wide, kind_of, reads_matrix

# Cost of a scattered entry relative to a streamed one (GPU: 30 % of a grid pushes in 27 us, pulls in 9; CPU: one thread
# pushes the presence of entries along rows, two threads pull; two threads push many entries of long rows, 1.3 to 2.3
# times as fast).
PUSH_COST = {"cpu": 3.0, "gpu": 16.0}
# CPU: factor on that cost, by what is summed. Measured on two EPYC cores as the density from which a pull is faster, on
# Delaunay meshes, a stencil, a road network, RMAT 16 and a Mycielskian. Rows (presence, if a pull reads all of a row):
# 0.25 to 0.7; 0.15 to 0.25; 0.3 to 0.5. Tiles (of 8): 0.05 to 0.1; 0.03 to 0.06; 0.12 to 0.14, on the road network
# 0.05: there a push goes through bits one by one, and a pull sums a whole tile at once.
ROWS_SHARE = {WORDS: 1.0, COUNT: 1.5, VALUES: 0.8}
TILES_SHARE = {WORDS: 4.0, COUNT: 8.0, VALUES: 2.4}
# The same for pushes along auxiliary CSR rows of a tiled matrix (see `beside`), per entry of a tile: a pull reads
# tiles, a push entries. One thread, densities from which a pull is faster, presence, counts, values: delaunay_n14 (6.5
# entries a tile) 0.085, 0.095, 0.2; stencil27_20 (8) 0.065, 0.045, 0.2; mycielskian13 (13, ends early) 0.027, 0.033,
# 0.1.
BESIDE_SHARE = {WORDS: 1.25, COUNT: 1.35, VALUES: 0.47}
TILE_SHARE = 0.19  # cost of a tile that is read for a few of its rows, relative to an entry
CACHED = 1 << 17  # positions whose sums fit in a core's cache; with more, a push along tiles costs twice as much
MEASURED_THREADS = 2


FEW_ENTRIES = 1 << 10  # entries of a matrix that either direction reads in less time than counting active rows takes
# Entries of a matrix that a pull reads in less time than the merge that ends a push. H200, 250 entries: statements take
# 15.5 to 17.5 us if they pull, 17.3 to 18.9 if they push.
PULLED = {"cpu": 1 << 8, "gpu": 1 << 8}


class ProductFacts(NamedTuple):
    """The facts of a product that do not depend on the vector's entries: computed once per matrix, semiring and kind of
    vector. pull_of, push_of: whether pulling, or pushing, reads the transpose of the matrix."""

    verb: str
    semiring: str
    key: str
    pull_of: bool
    kind: int
    product: np.generic | None  # the value of all products, if they are equal
    wide: bool  # a pull can use the CPU's kernel for all positions of a tile at once
    device: str  # "cpu", "gpu"
    ordered: str  # why sums have to be taken by rows; "": any order is allowed
    valued: bool = False  # the matrix has values, and they are read
    rows: bool | None = None  # whether the format that a push reads is available (plan/auxiliary_formats.py)
    back: bool | None = None  # whether the format that a pull reads is available, if that is of the transpose
    work: int | None = None  # entries (tiles) of that format; None: it does not exist
    longest: int = 0  # entries (tiles) of its longest row (tile row)
    threads: int = MEASURED_THREADS  # that share a pull; one pushes
    few: bool = False  # whether the matrix has so few entries that a pull is always chosen
    beside: float = 0.0  # mean entries of a tile, if pushes go along auxiliary CSR rows; else 0
    early: float = 0.0  # mean entries of a row that a pull reads up to the first hit; 0: it reads all of them

    @property
    def push_of(self) -> bool:
        return not self.pull_of

    @property
    def push_key(self) -> str:
        """The format that a push reads."""
        return CSR if self.beside else self.key

    def push_cost(self) -> tuple[float, float]:
        """Two relative costs: of pushing one vector entry against pulling one position; and of an entry (tile) that a
        push reads against one that a pull reads."""
        cost = PUSH_COST[self.device]
        if self.device == "gpu":
            return cost, cost
        cost *= min(self.threads, MOST_THREADS) / MEASURED_THREADS
        if self.beside:
            return (max(1.0, cost * BESIDE_SHARE[self.kind] * self.beside),) * 2
        if format_of(self.key).by_rows:  # a full vector is not pushed: as much is read, and writes are scattered
            return (max(1.0, cost * ROWS_SHARE[self.kind]),) * 2
        return cost * TILES_SHARE[self.kind], cost * TILES_SHARE[self.kind] * TILE_SHARE

    def pulled(self, nvals: int, size: int) -> float:
        """The share of its matrix that a pull reads, for a vector with `nvals` of `size` entries: rows that stop at
        their first hit find it after size / nvals entries on average."""
        return min(1.0, size / (nvals * self.early)) if self.early and nvals else 1.0

    def max_push_entries(self, size: int) -> float:
        """Number of entries of a vector of this size from which on a pull costs less, whatever rows they have."""
        cost = self.push_cost()[0]
        return size / (cost if cost >= self.early else math.sqrt(cost * self.early))


def product_facts(
    semiring: Typed[Semiring], key: str, a: Any, u: Any, *, transpose: bool, flip: bool, device: Device
) -> ProductFacts:
    """The case of A (+).(x) u for a matrix in that format; a, u: the values, np.generic if iso."""
    kind, product = kind_of(semiring, a, u, flip=flip)
    ordered = ""
    if device.is_simt and not any_order(semiring, kind):  # one thread pushes in the order of the entries
        floats = semiring.return_type.kind in "fc" and not semiring.op.monoid.is_exact_in_any_order
        ordered = "a float sum has a fixed order" if floats else "counts are summed by rows"
    wide = not device.is_simt and is_wide(semiring, kind, key, a)
    valued = kind == VALUES and not isinstance(a, np.generic) and reads_matrix(semiring, flip)
    verb, name = "vxm" if flip else "mxv", semiring.op.name
    made = ProductFacts(verb, name, key, transpose, kind, product, wide, device.kind, ordered, valued)
    return made if device.is_simt else made._replace(threads=device.threads)


class VectorFacts(NamedTuple):
    """The known facts about a vector's entries; None: not known (yet)."""

    size: int
    least: int = 0  # entries that the vector has at least
    nvals: int | None = None  # number of its entries
    active: int | None = None  # entries (tiles) of the rows (tile rows) that a push along them reads


class Missing(Enum):
    """The fact that the decision needs next: of the case the rows, with their work and the longest, counted once per
    format; or a field of Known, which changes with the vector, and which makes the host wait for the GPU."""

    ROWS = "rows"
    BACK = "back"
    NVALS = "nvals"
    ACTIVE = "active"


class Direction(NamedTuple):
    """Push or pull, and the reason, as a format string over the known facts."""

    push: bool
    why: str

    def reason(self, case: ProductFacts, known: VectorFacts) -> str:
        return self.why.format(key=case.push_key, work=case.work, **known._asdict())


MANY, FEW = (Direction(push, "{nvals} of {size} entries active") for push in (False, True))
AT_LEAST = Direction(False, "at least {least} of {size} entries active")
SMALL = Direction(False, "the matrix has few entries")
# The other direction would cost less if its transpose existed.
WITHOUT_TRANSPOSED_PUSH = Direction(
    False, "pushing needs {key} of the transpose, whose construction is not yet amortized"
)
WITHOUT_TRANSPOSED_PULL = Direction(
    True, "pulling needs {key} of the transpose, whose construction is not yet amortized"
)
LONG_ROWS = Direction(False, "{nvals} of {size} entries active, but their rows hold {active} of {work}")


def choose_direction(case: ProductFacts, known: VectorFacts) -> Direction | Missing:
    """Push or pull, or the fact that has to be counted first. Known facts decide as far as possible.

    A push pays if the vector has few entries and their rows hold few entries too: a few vertices can own most of the
    edges. Rows of a format that does not exist are assumed to be of equal length. If the preferred direction reads a
    transpose that is not available, the other one is chosen.
    """
    if case.ordered:
        return Direction(False, case.ordered)
    if case.few and not case.pull_of:
        return SMALL
    found = _cheaper(case, known)
    if isinstance(found, Missing) or found.push or case.back or not case.pull_of:
        return found
    return Missing.BACK if case.back is None else WITHOUT_TRANSPOSED_PULL


def is_cacheable(found: Direction, case: ProductFacts, known: VectorFacts) -> bool:
    """Whether the decision depends only on nvals, so that it can be cached. In a small matrix the active rows do not
    matter."""
    if found is SMALL:
        return True
    looked_at = case.work is not None or not found.push
    alike = known.active is None or (case.work is not None and case.work <= FEW_ENTRIES)
    return looked_at and alike and found is not WITHOUT_TRANSPOSED_PULL and found is not WITHOUT_TRANSPOSED_PUSH


def missed_reads(case: ProductFacts, known: VectorFacts, found: Direction) -> float:
    """Reads of the whole matrix that a direction costs because the transpose is not available."""
    if found is WITHOUT_TRANSPOSED_PUSH:
        return 1.0
    share = (known.nvals or known.least) / max(1, known.size)
    return max(0.0, case.push_cost()[0] * share - 1) if found is WITHOUT_TRANSPOSED_PULL else 0.0


def _cheaper(case: ProductFacts, known: VectorFacts) -> Direction | Missing:
    """The direction that costs less."""
    cost, item = case.push_cost()
    if known.size > CACHED and case.kind != WORDS and case.device == "cpu" and not format_of(case.push_key).by_rows:
        cost, item = 2 * cost, 2 * item
    nvals = known.least if known.nvals is None else known.nvals
    pulled = case.pulled(nvals, known.size)
    if not nvals * cost < known.size * pulled:  # the cost may be infinite
        return AT_LEAST if known.nvals is None else MANY
    if not case.rows:
        return Missing.ROWS if case.rows is None else WITHOUT_TRANSPOSED_PUSH
    if known.nvals is None:
        return Missing.NVALS
    if case.work is None or known.nvals * case.longest * item < case.work * pulled:
        return FEW
    if known.active is None:
        return Missing.ACTIVE
    return FEW if known.active * item < case.work * pulled else LONG_ROWS


def pulled(case: ProductFacts) -> Direction:
    """For callers that plan once for many vectors."""
    return Direction(False, case.ordered or "for every vector")


def plan_mxv(case: ProductFacts, known: VectorFacts, found: Direction, lanes: int) -> Plan:
    """The plan of a product with a known direction. lanes: lanes per row, as the format reports."""
    push, reason = found.push, found.reason(case, known)
    transposed, wide = (case.push_of, False) if push else (case.pull_of, case.wide)
    how = "push" if push else "pull"
    key = case.push_key if push else case.key
    return Plan(case.verb, case.semiring, key, transposed, how, case.kind, lanes, reason, wide)

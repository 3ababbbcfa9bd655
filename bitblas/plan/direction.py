"""Push or pull: choose the direction of a matrix-vector product, for statements, loops, multivectors and ranks.

A push scatters along the rows of the active vertices; a pull gathers into every row of the result. A push is cheaper if
few vertices are active *and* their rows hold few entries: a few hubs can own most of the edges. The rule is one
inequality, in entries that a pull streams, at two levels:

    active entries * push cost  <  size * share of the rows that a pull reads
    items of active units * push cost of an item  <  items of the matrix * the same share

`choose_direction` applies it to a statement, and names the next fact that it needs; facts that cost a kernel come last.
Where the device decides, it compares with numbers that this module computes from the same inequality: `PushLimits` and
`RoundLimits` for rounds of loops, `multivector_push_limit` for products with a multivector. `loop_direction` says which
products of a loop may push at all. The costs are rows of the tuning table.

Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search. SC 2012.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

import numpy as np

from semirings import Semiring, Typed

from .. import tuning
from ..device import Device
from ..formats import CSR, Layout, Structure, format_of
from ..formats.schedule import longest_unit
from ..store import Raw
from .product import COUNT, PRESENCE, PULL, PUSH, VALUES, WIDE, WORDS, Plan, any_order, is_wide, kind_of, reads_matrix

# What a product computes, in names of rows of the tuning table.
COMPUTES = {WORDS: "any", COUNT: "count", VALUES: "values"}

# ---- Facts: of the product, which do not depend on the vector's entries, and of the vector.


class ProductFacts(NamedTuple):
    """Facts of a product that do not depend on the vector's entries: computed once per matrix, semiring and kind of
    vector. Items are entries, or tiles, of the format that a push reads; units are its rows or tile rows."""

    verb: str  # "mxv", "vxm"
    semiring: str
    key: str  # the format that a pull reads
    pull_transposed: bool  # whether a pull reads the transpose of the matrix; if not, a push does
    kind: int  # WORDS, COUNT, VALUES
    product: np.generic | None  # the value of all products, if they are equal
    wide: bool  # a pull can use the CPU's kernel for all positions of a tile at once
    device: str  # "cpu", "gpu"
    fixed_order: str  # why sums must be taken row by row; "" if any order is allowed
    valued: bool = False  # the matrix has values, and they are read
    push_ready: bool | None = None  # whether the format that a push reads is available (format_choice.py)
    pull_ready: bool | None = None  # whether the format that a pull reads is available, if that is of the transpose
    items: int | None = None  # items of the format that a push reads; None: it does not exist
    longest_unit: int = 0  # items of its longest unit
    threads: int = 2  # that share a pull; one pushes
    small: bool = False  # whether the matrix has so few entries that a pull is always chosen
    tile_entries: float = 0.0  # mean entries of a tile, if pushes go along auxiliary CSR rows; else 0
    early_exit: float = 0.0  # mean entries of a row that a pull reads up to the first hit; 0: it reads all of them

    @property
    def push_transposed(self) -> bool:
        return not self.pull_transposed

    @property
    def push_key(self) -> str:
        """The format that a push reads."""
        return CSR if self.tile_entries else self.key

    def push_cost(self) -> tuple[float, float]:
        """Two relative costs: of pushing one vector entry against pulling one position; and of an item that a push
        reads against one that a pull reads."""
        if self.device == "gpu":
            return (tuning.value("push_cost.gpu"),) * 2
        computes = COMPUTES[self.kind]
        cost = tuning.value("push_cost.cpu")
        cost *= min(self.threads, tuning.value("pull.threads.cpu")) / tuning.value("push_cost.threads.cpu")
        if self.tile_entries:
            return (max(1.0, cost * tuning.value(f"push_cost.tile_rows.{computes}") * self.tile_entries),) * 2
        if format_of(self.key).by_rows:  # a full vector is not pushed: as much is read, and writes are scattered
            return (max(1.0, cost * tuning.value(f"push_cost.rows.{computes}")),) * 2
        cost *= tuning.value(f"push_cost.tiles.{computes}")
        return cost, cost * tuning.value("push_cost.tile")

    def read_share(self, nvals: int, size: int) -> float:
        """The share of its matrix that a pull reads, for a vector with `nvals` of `size` entries: rows that stop at
        their first hit find it after size / nvals entries on average."""
        return min(1.0, size / (nvals * self.early_exit)) if self.early_exit and nvals else 1.0

    def push_limits(self, size: int) -> PushLimits:
        """The rule as numbers, for a device that counts in each round. The format that a push reads must exist."""
        assert self.items is not None
        cost, item = self.push_cost()
        if cost < self.early_exit:  # nvals * cost < size * size / (nvals * early_exit)
            cost = math.sqrt(cost * self.early_exit)
        return PushLimits(_most(size, cost), _most(self.items, item))


class VectorFacts(NamedTuple):
    """The known facts about a vector's entries; None: not counted (yet)."""

    size: int
    least: int = 0  # entries that the vector has at least
    nvals: int | None = None  # number of its entries
    active: int | None = None  # items of the units that a push along the entries reads


class Missing(Enum):
    """The fact that the decision needs next. Looking up a format is cheap; counting makes the host wait for the GPU."""

    PUSH_FORMAT = "push_ready"  # with it the items and the longest unit, counted once per format
    PULL_FORMAT = "pull_ready"
    VECTOR_ENTRIES = "nvals"
    ACTIVE_ITEMS = "active"


class PushLimits(NamedTuple):
    """Push if the vector has at most so many entries, and the units of these at most so many items; else pull."""

    entries: int
    items: int


NO_LIMIT = (1 << 64) - 1


def _most(total: float, cost: float) -> int:
    """The largest count with count * cost < total."""
    return math.ceil(total / cost) - 1 if cost else 1 << 62


class Direction(NamedTuple):
    """Push or pull, and the reason, as a format string over the known facts."""

    push: bool
    why: str

    def reason(self, case: ProductFacts, known: VectorFacts) -> str:
        return self.why.format(key=case.push_key, items=case.items, **known._asdict())


def product_facts(
    semiring: Typed[Semiring], key: str, a: Raw, u: Raw, *, transpose: bool, flip: bool, device: Device
) -> ProductFacts:
    """The facts of A (+).(x) u for a matrix in that format; a, u: the values, np.generic if iso."""
    kind, product = kind_of(semiring, a, u, flip=flip)
    fixed_order = ""
    if device.is_simt and not any_order(semiring, kind):  # on a CPU one thread pushes in the order of the entries
        floats = semiring.return_type.kind in "fc" and not semiring.op.monoid.is_exact_in_any_order
        fixed_order = "a float sum has a fixed order" if floats else "counts are summed by rows"
    wide = not device.is_simt and is_wide(semiring, kind, key, a)
    valued = kind == VALUES and not isinstance(a, np.generic) and reads_matrix(semiring, flip)
    verb, name = "vxm" if flip else "mxv", semiring.op.name
    made = ProductFacts(verb, name, key, transpose, kind, product, wide, device.kind, fixed_order, valued)
    return made if device.is_simt else made._replace(threads=device.threads)


# ---- Statements.

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
LONG_ROWS = Direction(False, "{nvals} of {size} entries active, but their rows hold {active} of {items}")


def choose_direction(case: ProductFacts, known: VectorFacts) -> Direction | Missing:
    """Push or pull, or the fact that has to be counted first. Known facts decide as far as possible.

    Rows of a format that does not exist are assumed to be of equal length. If the cheaper direction reads a transpose
    that is not available, the other one is chosen.
    """
    if case.fixed_order:
        return Direction(False, case.fixed_order)
    if case.small and not case.pull_transposed:
        return SMALL
    found = _cheaper(case, known)
    if isinstance(found, Missing) or found.push or case.pull_ready or not case.pull_transposed:
        return found
    return Missing.PULL_FORMAT if case.pull_ready is None else WITHOUT_TRANSPOSED_PULL


def _cheaper(case: ProductFacts, known: VectorFacts) -> Direction | Missing:
    """The direction that costs less."""
    cost, item = case.push_cost()
    by_tiles = case.device == "cpu" and not format_of(case.push_key).by_rows
    if by_tiles and case.kind != WORDS and known.size > tuning.value("push_cost.tiles.cached"):
        cost, item = 2 * cost, 2 * item
    nvals = known.least if known.nvals is None else known.nvals
    share = case.read_share(nvals, known.size)
    if not nvals * cost < known.size * share:  # the cost may be infinite
        return AT_LEAST if known.nvals is None else MANY
    if not case.push_ready:
        return Missing.PUSH_FORMAT if case.push_ready is None else WITHOUT_TRANSPOSED_PUSH
    if known.nvals is None:
        return Missing.VECTOR_ENTRIES
    if case.items is None or known.nvals * case.longest_unit * item < case.items * share:
        return FEW
    if known.active is None:
        return Missing.ACTIVE_ITEMS
    return FEW if known.active * item < case.items * share else LONG_ROWS


def is_cacheable(found: Direction, case: ProductFacts, known: VectorFacts) -> bool:
    """Whether the decision depends only on nvals, so that it can be cached. In a small matrix the active rows do not
    matter."""
    if found is SMALL:
        return True
    push_format_known = case.items is not None or not found.push
    small = case.items is not None and case.items <= tuning.value("push.uncounted.items")
    without_active = known.active is None or small
    return (
        push_format_known
        and without_active
        and found is not WITHOUT_TRANSPOSED_PULL
        and found is not WITHOUT_TRANSPOSED_PUSH
    )


def missed_reads(case: ProductFacts, known: VectorFacts, found: Direction) -> float:
    """Reads of the whole matrix that a direction costs because the transpose is not available."""
    if found is WITHOUT_TRANSPOSED_PUSH:
        return 1.0
    share = (known.nvals or known.least) / max(1, known.size)
    return max(0.0, case.push_cost()[0] * share - 1) if found is WITHOUT_TRANSPOSED_PULL else 0.0


def plan_mxv(case: ProductFacts, known: VectorFacts, found: Direction, lanes: int, *, full: bool = False) -> Plan:
    """The plan of a product with a known direction. lanes: lanes per row, as the format reports. full: the vector has
    all entries."""
    push, reason, kernel = found.push, found.reason(case, known), PULL
    transposed = case.push_transposed if push else case.pull_transposed
    wide = case.wide and not push
    full = full and not push and known.size > 0  # without entries there is no gain, so no separate kernel
    if push:
        kernel = PUSH
    elif wide and not (full and case.kind == COUNT):  # counts of full rows are their lengths
        kernel = WIDE
    elif full and case.kind == WORDS:
        kernel = PRESENCE
    how, key = ("push", case.push_key) if push else ("pull", case.key)
    what = Plan(case.verb, case.semiring, key, transposed, how, case.kind, lanes, reason, wide)
    return what._replace(kernel=kernel, full=full, product=case.product)


# ---- Vectors stored as lists (SpMSpV on the CPU), and multivectors.


def max_sorted_products(nvals: int) -> int:
    """Products up to which a vector stored as a list is pushed by sorting them, for a matrix of nvals entries. The
    number is counted before products are computed; with more, the vector is stored as bits, and decided as others."""
    return int(max(tuning.value("push.list.products"), nvals / tuning.value("push_cost.list")))


def multivector_push_limit(rows: int, device: str) -> int:
    """Non-empty rows of a multivector below which a product T = A X pushes along them, of `rows` rows of X."""
    return math.ceil(rows / tuning.value(f"push_cost.multivector.{device}"))


def multivector_direction(
    structure: Structure, key: str, transposed: bool, rows: int, nonempty: int | None
) -> Direction:
    """The direction of T = A X, for a multivector X with so many rows, which reads A in the format `key`. nonempty: how
    many of them have entries (None: not counted). A is the transpose of the structure if `transposed`. A pull reads
    rows of A, a push rows of A'."""
    if nonempty is None:
        return Direction(False, "the non-empty rows are not counted")
    active = f"{nonempty} of {rows} rows active"
    if nonempty >= multivector_push_limit(rows, structure.device.kind):
        return Direction(False, active)
    exists = [structure.held(key, transposed=side) is not None for side in (transposed, not transposed)]
    if exists == [True, False]:
        return Direction(False, f"{active}, but pushing needs the transpose, which does not exist")
    return Direction(True, active)


# ---- Captured loops. A product that may push does so in rounds with few active entries, as the device counts them.


class LoopFacts(NamedTuple):
    """Facts of a product in a loop, which hold for all rounds."""

    full: bool  # the vector has all entries in every round
    fixed_order: str  # why sums must be taken row by row; ""
    mask_is_frontier: bool  # a pull reads only the rows that the mask lists, and these are the frontier's
    cannot_push: str  # why there is no kernel; ""
    push_ready: bool  # the formats that push and pull read exist, or can be built
    pull_ready: bool


class LoopDirection(NamedTuple):
    """push: whether the rounds may push; otherwise all of them pull. missing: the format that is needed and not
    amortized yet, or why there is no kernel; the loop cannot be captured with it."""

    push: bool
    why: str
    missing: str = ""


def loop_direction(facts: LoopFacts) -> LoopDirection:
    """Whether the rounds of a captured loop may push, or all of them pull."""
    if facts.full and facts.pull_ready:
        return LoopDirection(False, "the vector is full")
    if facts.fixed_order:
        needs = "" if facts.pull_ready else "needs the transpose, whose construction is not amortized yet"
        return LoopDirection(False, facts.fixed_order, needs and f"counting by rows {needs}")
    if facts.mask_is_frontier:
        return LoopDirection(False, "the mask lists the rows of the frontier: a pull of them needs no atomics")
    if facts.cannot_push:
        return LoopDirection(False, facts.cannot_push, facts.cannot_push)
    if not facts.push_ready:
        missing = "pushing needs the transpose, whose construction is not amortized yet"
        return LoopDirection(True, missing, missing)
    return LoopDirection(True, "few entries may be active")


class RoundLimits(NamedTuple):
    """A round pulls if the units of its frontier have more than `items` items; or, in a search, if these are more than
    a pull would read: the items of the units that were in no frontier yet (`left` before the first one). If the units
    of the frontier are longer than average, by a factor h, a pull finds most of them soon and reads 1/h of that."""

    items: int
    left: int = NO_LIMIT


def round_limits(layout: Layout, *, search: bool) -> RoundLimits:
    """Limits of a round of a loop on a GPU, for the layout that its advance reads. They are wider than those of a
    statement, because a push of a loop needs no merge. search: the mask excludes what frontiers have had, so that a
    pull reads only the rows that are left."""
    item = layout.format.kernels["advance"].item
    search = search and item != "tile"
    most = layout.work / (1 if search else tuning.value(f"push_cost.round.{item}"))
    if item == "entry":  # pushes contend for the cells of the result
        most = min(most, layout.units * tuning.value("push.round.contended"))
    if item == "tile" and (longest := longest_unit(layout)) > tuning.value("push.round.longest_tile_row"):
        most = min(most, longest - 1)  # long tile rows are not cut into segments
    if not search:
        return RoundLimits(int(most))
    return RoundLimits(int(most), layout.work + layout.units // tuning.count("push.round.scanned"))


def missed_by_loop(device: str) -> float:
    """Reads that a loop costs which cannot pull because the transpose is not available: a push of all entries."""
    return tuning.value(f"push_cost.{device}")

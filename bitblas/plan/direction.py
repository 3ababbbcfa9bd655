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

# A scattered entry against a streamed one (GPU: 30 % of a grid pushes in 27 us, pulls in 9; CPU: one thread pushes the
# presence of entries along rows, two threads pull; many entries of long rows two threads push, 1.3 to 2.3 times as
# fast).
PUSH_COST = {"cpu": 3.0, "gpu": 16.0}
# On the CPU against that, by what is added up. Measured on two EPYC cores: densities from which a pull takes less, on
# Delaunay meshes, a stencil, a road network, RMAT 16 and a Mycielskian. Rows (of presence, where a pull reads all of a
# row): 0.25 to 0.7; 0.15 to 0.25; 0.3 to 0.5. Tiles (of 8): 0.05 to 0.1; 0.03 to 0.06; 0.12 to 0.14, on the road
# network 0.05: there a push goes through bits one by one, where a pull adds up all of a tile.
ROWS_SHARE = {WORDS: 1.0, COUNT: 1.5, VALUES: 0.8}
TILES_SHARE = {WORDS: 4.0, COUNT: 8.0, VALUES: 2.4}
# Of pushes along rows that lie beside tiles (see `beside`), for each entry of a tile: a pull reads tiles, a push
# entries. One thread, densities from which a pull takes less, presence, counts, values: delaunay_n14 (6.5 entries a
# tile) 0.085, 0.095, 0.2; stencil27_20 (8) 0.065, 0.045, 0.2; mycielskian13 (13, ends early) 0.027, 0.033, 0.1.
BESIDE_SHARE = {WORDS: 1.25, COUNT: 1.35, VALUES: 0.47}
TILE_SHARE = 0.19  # of an entry's, what a tile costs that is read for a few of its rows
CACHED = 1 << 17  # positions, the sums of which a core's cache holds; among more a push along tiles costs twice
MEASURED_THREADS = 2


FEW_ENTRIES = 1 << 10  # of a matrix: either direction reads them in less time than asking for active rows takes
# And all of so many in less than the pass that ends the statement of a push. H200, 250 entries: statements take 15.5 to
# 17.5 us where they pull, 17.3 to 18.9 where they push.
PULLED = {"cpu": 1 << 8, "gpu": 1 << 8}


class Case(NamedTuple):
    """A product as far as the entries of its vector do not matter: known once for a matrix, a semiring and a kind of
    vector. pull_of, push_of: whether pulling, or pushing, reads the transpose of the matrix."""

    verb: str
    semiring: str
    key: str
    pull_of: bool
    kind: int
    product: np.generic | None  # the value of all products, where they are equal
    wide: bool  # a pull can take the CPU's kernel for all places of a tile at once
    device: str  # "cpu", "gpu"
    ordered: str  # why the sums have to be taken by rows; "": they may be taken in any order
    valued: bool = False  # the matrix has values that are read
    rows: bool | None = None  # whether the form that a push reads is at hand (plan/transpose.py)
    back: bool | None = None  # whether the one that a pull reads is, where that is of the transpose
    work: int | None = None  # entries (tiles) of that form; None: it is not there
    longest: int = 0  # entries (tiles) of its longest row (tile row)
    threads: int = MEASURED_THREADS  # that share a pull; one pushes
    few: bool = False  # whether a matrix has so few entries that it is pulled from
    beside: float = 0.0  # entries of a tile, in the mean, where plain rows lie beside and pushes go along these; else 0
    early: float = 0.0  # entries of a row that a pull reads up to the first hit, in the mean; 0: it reads all of them

    @property
    def push_of(self) -> bool:
        return not self.pull_of

    @property
    def push_key(self) -> str:
        """The form that a push reads."""
        return CSR if self.beside else self.key

    def push_cost(self) -> tuple[float, float]:
        """What an entry of the vector costs that is pushed along, against a position of it in a pull; and an entry
        (tile) that is read for it, against one in a pull."""
        cost = PUSH_COST[self.device]
        if self.device == "gpu":
            return cost, cost
        cost *= min(self.threads, MOST_THREADS) / MEASURED_THREADS
        if self.beside:
            return (max(1.0, cost * BESIDE_SHARE[self.kind] * self.beside),) * 2
        if format_of(self.key).by_rows:  # a full vector is not pushed: as much is read, and written here and there
            return (max(1.0, cost * ROWS_SHARE[self.kind]),) * 2
        return cost * TILES_SHARE[self.kind], cost * TILES_SHARE[self.kind] * TILE_SHARE

    def pulled(self, nvals: int, size: int) -> float:
        """What a pull reads of its matrix, 1 being all of it, for a vector with so many entries of `size`: rows that
        end at their first hit find it after size / nvals entries, in the mean."""
        return min(1.0, size / (nvals * self.early)) if self.early and nvals else 1.0

    def most_pushed(self, size: int) -> float:
        """Entries of a vector of that size from which on a pull costs less, whatever rows they have."""
        cost = self.push_cost()[0]
        return size / (cost if cost >= self.early else math.sqrt(cost * self.early))


def case_of(
    semiring: Typed[Semiring], key: str, a: Any, u: Any, *, transpose: bool, flip: bool, device: Device
) -> Case:
    """The case of A (+).(x) u for a matrix in that form; a, u: the values, np.generic where iso."""
    kind, product = kind_of(semiring, a, u, flip=flip)
    ordered = ""
    if device.shares_rows and not any_order(semiring, kind):  # one thread pushes in the order of the entries
        floats = semiring.return_type.kind in "fc" and not semiring.op.monoid.is_exact_in_any_order
        ordered = "a float sum has a fixed order" if floats else "counts are taken by rows"
    wide = not device.shares_rows and is_wide(semiring, kind, key, a)
    valued = kind == VALUES and not isinstance(a, np.generic) and reads_matrix(semiring, flip)
    verb, name = "vxm" if flip else "mxv", semiring.op.name
    made = Case(verb, name, key, transpose, kind, product, wide, device.kind, ordered, valued)
    return made if device.shares_rows else made._replace(threads=device.threads)


class Known(NamedTuple):
    """What is known of a vector's entries; None: not known (yet)."""

    size: int
    least: int = 0  # entries that the vector has at least
    nvals: int | None = None  # entries that it has
    active: int | None = None  # entries (tiles) of the rows (tile rows) that a push along them reads


class Ask(Enum):
    """What the decision still needs: of the case the rows, with their work and the longest, counted once for a form; or
    a field of Known, which changes with the vector, and for which the host of a GPU waits."""

    ROWS = "rows"
    BACK = "back"
    NVALS = "nvals"
    ACTIVE = "active"


class Direction(NamedTuple):
    """Push or pull, and why, with the names of what is known."""

    push: bool
    why: str

    def reason(self, case: Case, known: Known) -> str:
        return self.why.format(key=case.push_key, work=case.work, **known._asdict())


MANY, FEW = (Direction(push, "{nvals} of {size} entries active") for push in (False, True))
AT_LEAST = Direction(False, "at least {least} of {size} entries active")
SMALL = Direction(False, "the matrix has few entries")
# Of either the other would cost less, but for what it reads.
WITHOUT_TRANSPOSE = Direction(False, "pushing would need {key} of the transpose, which is not repaid")
AS_IT_LIES = Direction(True, "pulling would need {key} of the transpose, which is not repaid")
HEAVY = Direction(False, "{nvals} of {size} entries active, their rows hold {active} of {work}")


def direction(case: Case, known: Known) -> Direction | Ask:
    """Push or pull, or what has to be counted before it can be said: what is known decides as far as it goes.

    A push pays where the vector has few entries, and where the rows at these hold few entries too: a few vertices can
    have most of the edges. A form that is not there has rows that nobody knows, and is taken to be even. What would
    read a transpose that is not at hand is done the other way round.
    """
    if case.ordered:
        return Direction(False, case.ordered)
    if case.few and not case.pull_of:
        return SMALL
    found = _cheaper(case, known)
    if isinstance(found, Ask) or found.push or case.back or not case.pull_of:
        return found
    return Ask.BACK if case.back is None else AS_IT_LIES


def is_lasting(found: Direction, case: Case, known: Known) -> bool:
    """Whether it holds for every vector with as many entries, whatever is made of the matrix in the meantime; of a
    small matrix it does not matter which rows they have."""
    if found is SMALL:
        return True
    looked_at = case.work is not None or not found.push
    alike = known.active is None or (case.work is not None and case.work <= FEW_ENTRIES)
    return looked_at and alike and found is not AS_IT_LIES and found is not WITHOUT_TRANSPOSE


def missed(case: Case, known: Known, found: Direction) -> float:
    """Reads of all of the matrix that a direction costs because the transpose is not at hand."""
    if found is WITHOUT_TRANSPOSE:
        return 1.0
    share = (known.nvals or known.least) / max(1, known.size)
    return max(0.0, case.push_cost()[0] * share - 1) if found is AS_IT_LIES else 0.0


def _cheaper(case: Case, known: Known) -> Direction | Ask:
    """The one that costs less."""
    cost, item = case.push_cost()
    if known.size > CACHED and case.kind != WORDS and case.device == "cpu" and not format_of(case.push_key).by_rows:
        cost, item = 2 * cost, 2 * item
    nvals = known.least if known.nvals is None else known.nvals
    pulled = case.pulled(nvals, known.size)
    if not nvals * cost < known.size * pulled:  # a cost may be infinite
        return AT_LEAST if known.nvals is None else MANY
    if not case.rows:
        return Ask.ROWS if case.rows is None else WITHOUT_TRANSPOSE
    if known.nvals is None:
        return Ask.NVALS
    if case.work is None or known.nvals * case.longest * item < case.work * pulled:
        return FEW
    if known.active is None:
        return Ask.ACTIVE
    return FEW if known.active * item < case.work * pulled else HEAVY


def pulled(case: Case) -> Direction:
    """For whoever plans once for many vectors."""
    return Direction(False, case.ordered or "whatever entries the vector has")


def plan_mxv(case: Case, known: Known, found: Direction, lanes: int) -> Plan:
    """The plan of a product for which a direction is found. lanes: that share a row, as the form says."""
    push, reason = found.push, found.reason(case, known)
    transposed, wide = (case.push_of, False) if push else (case.pull_of, case.wide)
    how = "push" if push else "pull"
    key = case.push_key if push else case.key
    return Plan(case.verb, case.semiring, key, transposed, how, case.kind, lanes, reason, wide)

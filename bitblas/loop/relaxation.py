"""Recognize relaxation loops: d min= q min.+ A for the vertices q at which d has improved, until none improves.

Such a loop has one result, its fixpoint, in whatever order edges are relaxed. A body is recognized by its effect at a
position, not by its form. Its statements compare and copy values, so only the order of the values at a position
matters: every such order is tried. Pure functions of statements.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from semirings import Typed
from semirings.dtypes import BOOL, DataType

from .. import tuning
from ..operations.variants import BOTH, CELLS, LEFT, UNION
from ..typing import Number
from .codegen.dialect import Dialect, Entries
from .ir import Body, Elementwise, Product, Reduce, Scal, Statement, Vec, flat

# Multiplications that are monotone in their first operand: a better operand gives no worse product.
MONOTONE = ("plus", "min", "max", "first", "second")
# A value at a position (None: no entry), for which small numbers and truth values stand.
Sample: TypeAlias = bool | int | float | None
Combine: TypeAlias = Callable[[float, float], float]

BETTER: dict[str, Callable[[float, float], bool]] = {"min": lambda x, y: x < y, "max": lambda x, y: x > y}
COMPARED: dict[str, Combine] = {
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "min": min, "max": max, "first": lambda x, _: x,
    "second": lambda _, y: y, "any": lambda x, _: x, "valuelt": lambda x, t: x < t, "valuele": lambda x, t: x <= t,
    "valuegt": lambda x, t: x > t, "valuege": lambda x, t: x >= t, "valueeq": lambda x, t: x == t,
    "valuene": lambda x, t: x != t, "land": lambda x, y: bool(x and y), "lor": lambda x, y: bool(x or y),
}  # fmt: skip
VALUES_AT, SCALARS = (1, 2, 3), (0, 1, 1.5, 2, 2.5, 3, 4)  # all orders of two values at a position, and of a scalar


class Unknown(Exception):
    """The effect of a statement at a position depends on more than the cases that are tried; the message says on
    what."""


@dataclass(frozen=True)
class Relaxation:
    """best: the vector that reaches the fixpoint. waiting: the active vertices, where `best` has improved, with the
    same values (`held`) or as truth values."""

    best: Vec
    waiting: Vec
    product: Product

    @property
    def held(self) -> bool:
        return self.waiting.dtype is not BOOL


def relaxation(body: Body, condition: Vec | Scal, full: frozenset[Vec] = frozenset()) -> Relaxation | str:
    """Recognize what a body relaxes, or return why it is not recognized. full: vectors with an entry everywhere."""
    if not isinstance(condition, Vec):
        return "the loop condition is a scalar"
    statements = [s for s in body.statements if isinstance(s, Statement)]
    if len(statements) != len(body.statements):
        return "the body contains a nested loop"
    products = [s.value for s in statements if isinstance(s.value, Product)]
    if len(products) != 1:
        return f"the body has {len(products)} products"
    (product,) = products
    semiring = product.semiring.op
    if semiring.monoid.name not in BETTER or semiring.binaryop.name not in MONOTONE:
        return f"{product.semiring} is not min or max with a monotone operator, which keeps the order"
    late = {x.id for s in flat(body.end) for x in s.terms if isinstance(x, Scal)}
    if late & {s.target.id for s in statements if isinstance(s.target, Scal)}:
        return "statements after the rounds read a scalar that the rounds write"
    dtype, z = product.u.dtype, product.semiring.return_type
    seen = {s.target for s in statements if isinstance(s.target, Vec)} - body.own - {condition}
    if len(seen) != 1:
        return f"rounds write {len(seen)} vectors in addition to the loop condition"
    (best,) = seen
    if not best.dtype == dtype == z or best.size != condition.size or condition.dtype not in (BOOL, dtype):
        return "types or sizes differ"
    try:
        _try_all(statements, best, condition, BETTER[semiring.monoid.name], _places(best in full))
    except Unknown as unknown:
        return str(unknown)
    return Relaxation(best, condition, product)


def _try_all(
    statements: Sequence[Statement],
    d: Vec,
    q: Vec,
    better: Callable[[float, float], bool],
    places: Sequence[tuple[Sample, bool, Sample]],
) -> None:
    """Raise Unknown if a round does anything other than relaxing at a position."""
    scalars = sorted({x.id for s in statements if isinstance(s.target, Vec) for x in s.terms if isinstance(x, Scal)})
    if len(scalars) > tuning.count("loop.relaxation_scalars"):
        raise Unknown(f"{len(scalars)} scalars are read")
    truth = q.dtype is BOOL
    for known in itertools.product(SCALARS, repeat=len(scalars)):
        for was, waits, found in places:
            held = {d: was, q: (True if truth else was) if waits else None}
            place = _Place(held, dict(zip(scalars, known)), found)
            for s in statements:
                place.statement(s)
            if place.pushed not in (None, was) or (place.pushed is not None and not waits):
                raise Unknown("the values pushed along edges are not those of the active vertices")
            gains = found is not None and (was is None or better(found, was))
            now = found if gains else was
            still = waits and place.pushed is None
            then = (True if truth else now) if gains or still else None
            if place.held[d] != now or place.held[q] != then:
                raise Unknown("a round does not only relax edges")


def _places(full: bool) -> list[tuple[Sample, bool, Sample]]:
    """All cases at a position: its value, whether it is active, and the value that arrives along edges."""
    values = (None, *VALUES_AT)
    cases = itertools.product(VALUES_AT if full else values, (False, True), values)
    return [(was, waits, found) for was, waits, found in cases if was is not None or not waits]


class _Place(Dialect[bool, Sample]):
    """The vectors of a body at one position. Statements are executed on sample values; a set of positions is whether it
    contains this one."""

    everywhere, nowhere, inside = True, False, True

    def __init__(self, held: dict[Vec, Sample], scalars: Mapping[int, float], found: Sample) -> None:
        self.held, self.scalars, self.found = held, scalars, found
        self.iso, self.full = {}, frozenset()
        self.pushed: Sample = None
        self.overwritten: Vec | Scal | None = None

    def statement(self, s: Statement) -> None:
        if isinstance(s.target, Scal):
            if not isinstance(s.value, (Elementwise, Reduce)):
                raise Unknown(f"{s.text}: not supported")
            return
        self.overwritten = s.target if s.overwrites else None
        if isinstance(s.value, Product):
            self.pushed = self.vector_value(s.value.u)
            self.assign(s, self.is_open(s.mask), Entries(self.found is not None, self.found, s.target.dtype))
        elif isinstance(s.value, Elementwise):
            super().statement(s)
        else:
            raise Unknown(f"{s.text}: uses index vectors")

    def both(self, *sets: bool) -> bool:
        return all(sets)

    def either(self, *sets: bool) -> bool:
        return any(sets)

    def outside(self, positions: bool) -> bool:
        return not positions

    def where(self, positions: bool, condition: Sample) -> bool:
        return positions and bool(condition)

    def entries(self, x: Vec) -> bool:
        if x == self.overwritten and x not in self.held:
            return False
        return self.vector_value(x) is not None

    def scalar_entries(self, t: Scal) -> bool:
        return True

    def vector_value(self, x: Vec) -> Sample:
        if x not in self.held:
            raise Unknown("a vector with unknown contents is read")
        return self.held[x]

    def scalar_value(self, t: Scal) -> Sample:
        return self.scalars[t.id]

    def literal(self, dtype: DataType, x: Number) -> Sample:
        if dtype is not BOOL:
            return self.missing_value(dtype)
        return bool(x)

    def missing_value(self, dtype: DataType) -> Sample:
        raise Unknown("a constant number is written or compared")

    def cast(self, to: DataType, source: DataType, x: Sample) -> Sample:
        return x

    def choose(self, positions: bool, x: Sample, y: Sample) -> Sample:
        return x if positions else y

    def operator(self, e: Elementwise, u: DataType, v: DataType) -> tuple[Callable[[Sample, Sample], Sample], DataType]:
        op = e.op
        if op is None or e.mode not in (LEFT, BOTH, UNION) or e.bound not in ("xy", "yx", "xt") or e.v is None:
            raise Unknown(f"{op}: not supported")
        return lambda x, y: compare(op, *((y, x) if e.bound == "yx" else (x, y))), u

    def accumulated(self, accum: Typed, w: Vec | Scal, dtype: DataType, x: Sample) -> Sample:
        assert isinstance(w, Vec)
        return compare(accum, self.held[w], x)

    def write_values(self, s: Statement, here: bool, found: Entries[bool, Sample]) -> None:
        if here:
            assert isinstance(s.target, Vec)
            self.held[s.target] = self.new_value(s, found.value, found.dtype)

    def write_entries(self, w: Vec | Scal, positions: bool) -> None:
        if not positions:
            assert isinstance(w, Vec)
            self.held[w] = None


def compare(op: Typed, x: Sample, y: Sample) -> Sample:
    """The result of an operator that compares or selects values; None without an operand."""
    if x is None or y is None:
        return None
    found = COMPARED.get(op.name.split("[")[0])
    if found is None:
        raise Unknown(f"{op}: does more than compare values")
    return found(x, y)


def has_atomic(x: DataType, monoid: str) -> bool:
    """Whether a hardware atomic can combine values of a type."""
    return x in CELLS and (x.kind != "f" or monoid == "min")

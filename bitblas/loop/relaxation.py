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
from .ir import Body, Elementwise, Masked, Product, Reduce, Scal, Statement, Term, Vec, flat

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
                place.run(s)
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


class _Place:
    """The vectors of a body at one position, while its statements are simulated."""

    def __init__(self, held: dict[Vec, Sample], scalars: Mapping[int, float], found: Sample) -> None:
        self.held, self.scalars, self.found = held, scalars, found
        self.pushed: Sample = None

    def run(self, s: Statement) -> None:
        if isinstance(s.target, Scal):
            if not isinstance(s.value, (Elementwise, Reduce)):
                raise Unknown(f"{s.text}: not supported")
            return
        if isinstance(s.value, Product):
            self.pushed, new = self.at(s.value.u), self.found
        elif isinstance(s.value, Elementwise):
            new = self.value(s.value)
        else:
            raise Unknown(f"{s.text}: uses index vectors")
        is_open = s.mask is None or self.is_open(s.mask)
        old = None if s.overwrites else self.at(s.target)
        if not is_open:
            self.held[s.target] = None if s.replace else old
        elif s.accum is None or old is None:
            self.held[s.target] = new if new is not None or s.accum is None else old
        else:
            self.held[s.target] = old if new is None else compared(s.accum)(old, new)

    def at(self, x: Vec) -> Sample:
        if x not in self.held:
            raise Unknown("a vector with unknown contents is read")
        return self.held[x]

    def is_open(self, mask: Masked) -> bool:
        value = self.at(mask.vec)
        return (value is not None if mask.structure else bool(value)) is not mask.complement

    def term(self, t: Term) -> Sample:
        if isinstance(t, Vec):
            return self.at(t)
        if isinstance(t, Scal):
            return self.scalars[t.id]
        if t.dtype is not BOOL or t.value is None:
            raise Unknown("a constant number is written or compared")
        return bool(t.value)

    def value(self, e: Elementwise) -> Sample:
        u, v = self.term(e.u), None if e.v is None else self.term(e.v)
        if e.under is not None and not self.is_open(e.under):
            return None
        if e.op is None:
            return u
        if e.mode not in (LEFT, BOTH, UNION) or e.bound not in ("xy", "yx", "xt") or e.v is None:
            raise Unknown(f"{e.op}: not supported")
        if u is None or v is None:
            return (v if u is None else u) if e.mode == UNION else None
        result = compared(e.op)(*((v, u) if e.bound == "yx" else (u, v)))
        return (u if result else None) if e.keep else result


def compared(op: Typed) -> Combine:
    """The function of an operator that compares or selects values."""
    found = COMPARED.get(op.name.split("[")[0])
    if found is None:
        raise Unknown(f"{op}: does more than compare values")
    return found


def has_atomic(x: DataType, monoid: str) -> bool:
    """Whether a hardware atomic can combine values of a type."""
    return x in CELLS and (x.kind != "f" or monoid == "min")

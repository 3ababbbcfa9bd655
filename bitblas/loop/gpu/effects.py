"""The effect of a body at one position, executed on sample values.

Some bodies have one result in any order. They are recognized by their effect, not by their form: their statements
compare and copy values, so only the order of the values at a position matters, and every such order is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from semirings import Typed
from semirings.dtypes import BOOL, DataType

from ...operations.variants import BOTH, LEFT, UNION
from ...typing import Number
from ..codegen.dialect import Dialect, Entries
from ..ir import Body, Elementwise, Product, Reduce, Scal, Statement, Vec, flat

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


class Place(Dialect[bool, Sample]):
    """The vectors of a body at one position. Statements are executed on sample values; a set of positions is whether it
    contains this one. found: what arrives along edges, by product; pushed: what each pushes."""

    everywhere, nowhere, inside = True, False, True

    def __init__(self, held: dict[Vec, Sample], scalars: Mapping[int, float], found: Mapping[Product, Sample]) -> None:
        self.held, self.scalars, self.found = held, scalars, found
        self.iso, self.full = {}, frozenset()
        self.pushed: dict[Product, Sample] = {}
        self.overwritten: Vec | Scal | None = None

    def statement(self, s: Statement) -> None:
        if isinstance(s.target, Scal):
            if not isinstance(s.value, (Elementwise, Reduce)):
                raise Unknown(f"{s.text}: not supported")
            return
        self.overwritten = s.target if s.overwrites else None
        if isinstance(s.value, Product):
            self.pushed[s.value], found = self.vector_value(s.value.u), self.found[s.value]
            self.assign(s, self.is_open(s.mask), Entries(found is not None, found, s.target.dtype))
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
        if op is not None and op.name.split("[")[0] == "one":
            return lambda x, _: None if x is None else True, u
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


def plain_statements(body: Body) -> list[Statement]:
    """The statements of a body; raises Unknown for nested loops, and if statements after the rounds depend on more than
    vectors."""
    statements = [s for s in body.statements if isinstance(s, Statement)]
    if len(statements) != len(body.statements):
        raise Unknown("the body contains a nested loop")
    late = {x.id for s in flat(body.end) for x in s.terms if isinstance(x, Scal)}
    if late & {s.target.id for s in statements if isinstance(s.target, Scal)}:
        raise Unknown("statements after the rounds read a scalar that the rounds write")
    return statements


def only_written(body: Body, statements: Sequence[Statement], condition: Vec) -> Vec:
    """The vector that rounds write in addition to the loop condition and vectors of their own; raises Unknown unless it
    is one."""
    seen = {s.target for s in statements if isinstance(s.target, Vec)} - body.own - {condition}
    if len(seen) != 1:
        raise Unknown(f"rounds write {len(seen)} vectors in addition to the loop condition")
    return seen.pop()

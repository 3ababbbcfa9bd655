"""The meaning of a loop's statements, written once: operands, modes, masks, accumulators, gathers, scatters and sums.

A `Dialect` provides the leaves: how a set of positions and a value are written down. In the text of a kernel both are
expressions, in CUDA C++ (cuda_dialect.py) or Numba Python (numba_kernels.py). `gpu/effects.py` has a dialect of truth
values and numbers, which executes statements at a single position.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from semirings import Typed
from semirings.dtypes import BOOL, INT64, DataType

from ...kernels.variant import Function, lets, sum_of
from ...operations.variants import BOTH, FILLED, LEFT, UNION, Call, binary_of, elementwise_variant, initial_sum
from ...typing import Number
from ..fuse import late_scalars
from ..ir import (
    Const,
    Elementwise,
    Gather,
    InitializeCells,
    IsoValues,
    Masked,
    Reduce,
    Scal,
    Scatter,
    Statement,
    Term,
    Vec,
)

S = TypeVar("S")  # a set of positions
V = TypeVar("V")  # a value at a position

NO_INDICES = "this dialect has no index vectors and no sums"


@dataclasses.dataclass(frozen=True)
class Entries(Generic[S, V]):
    """The result of an expression. there: the positions that have a value. condition: a select keeps only the entries
    where it holds. written: the values are already in the target."""

    there: S
    value: V
    dtype: DataType
    condition: V | None = None
    written: bool = False


class Dialect(Protocol[S, V]):
    """How sets of positions and values are written down; the concrete methods walk statements.

    everywhere, nowhere: all positions, and none. inside: those that exist. iso: vectors whose entries all have one
    value, by number. full: vectors that have an entry everywhere.
    """

    everywhere: S
    nowhere: S
    inside: S
    iso: IsoValues
    full: frozenset[int]

    # ---- leaves: sets of positions ----

    def both(self, *sets: S) -> S: ...

    def either(self, *sets: S) -> S: ...

    def outside(self, positions: S) -> S: ...

    def where(self, positions: S, condition: V) -> S:
        """The positions where a condition holds."""

    def entries(self, x: Vec) -> S: ...

    def scalar_entries(self, t: Scal) -> S:
        """All positions if a scalar has a value, otherwise none."""

    def named(self, name: str, positions: S) -> S:
        """Evaluate a set once, under a name."""
        return positions

    # ---- leaves: values ----

    def vector_value(self, x: Vec) -> V: ...

    def scalar_value(self, t: Scal) -> V:
        """The value of a scalar, before its casts."""

    def literal(self, dtype: DataType, x: Number) -> V: ...

    def missing_value(self, dtype: DataType) -> V:
        """Any value, for a constant without one."""
        return self.literal(dtype, 0)

    def cast(self, to: DataType, source: DataType, x: V) -> V: ...

    def choose(self, positions: S, x: V, y: V) -> V:
        """x at these positions, y at all others."""

    def operator(self, e: Elementwise, u: DataType, v: DataType) -> tuple[Callable[[V, V], V], DataType]:
        """An operator as a function of its operands, and its result type."""

    def accumulated(self, accum: Typed, w: Vec | Scal, dtype: DataType, x: V) -> V:
        """The target's value combined with x."""

    # ---- leaves: statements ----

    def write_values(self, s: Statement, here: S, found: Entries[S, V]) -> None:
        """Write the values of an expression into the target at the positions `here`."""

    def write_entries(self, w: Vec | Scal, positions: S) -> None:
        """The positions where the target has an entry from now on."""

    # ---- leaves: index vectors and sums ----

    def position(self) -> V:
        """The number of the position."""
        raise TypeError(NO_INDICES)

    def write_cells(self, w: Vec, positions: S, x: V) -> None:
        """Write a value into cells that need not have an entry."""
        raise TypeError(NO_INDICES)

    def report_missing(self, positions: S, number: int) -> None:
        """Report that statement `number` lacks an index or a value, if there are such positions."""
        raise TypeError(NO_INDICES)

    def gathered(self, s: Statement, e: Gather, positions: S) -> Entries[S, V]:
        """The entries of the source at the indices stored at these positions."""
        raise TypeError(NO_INDICES)

    def combine(self, w: Vec, e: Scatter, positions: S, x: V) -> None:
        """Combine x into the target, at the index of each of these positions."""
        raise TypeError(NO_INDICES)

    def add_up(self, s: Statement, k: int) -> None:
        """Add the entries of a vector to sum number k."""
        raise TypeError(NO_INDICES)

    # ---- operands ----

    def has(self, t: Term) -> S:
        """The positions where an operand has a value."""
        if isinstance(t, Vec):
            return self.entries(t)
        if isinstance(t, Const):
            return self.nowhere if t.value is None else self.everywhere
        return self.everywhere if t.id < 0 else self.scalar_entries(t)

    def value(self, t: Term) -> tuple[V, DataType]:
        """The value of an operand, and its type."""
        if isinstance(t, Vec):
            return self.vector_value(t), t.dtype
        if isinstance(t, Const):
            return self.missing_value(t.dtype) if t.value is None else self.literal(t.dtype, t.value), t.dtype
        x, dtype = self.scalar_value(t), INT64 if t.id < 0 else t.dtype
        for to in t.casts:
            x, dtype = self.cast(to, dtype, x), to
        return x, dtype

    def true(self, x: Vec) -> S:
        """The positions of the entries that are true."""
        has = self.entries(x)
        if x.id in self.iso:
            return has if self.iso[x.id] else self.nowhere
        return self.where(has, self.cast(BOOL, x.dtype, self.vector_value(x)))

    def is_open(self, mask: Masked | None) -> S:
        """The positions where a mask is open."""
        if mask is None:
            return self.everywhere
        has = self.entries(mask.vec) if mask.structure else self.true(mask.vec)
        return self.outside(has) if mask.complement else has

    def computed(self, e: Elementwise) -> Entries[S, V]:
        """The result of an element-wise operation."""
        u_has, (u, u_type) = self.has(e.u), self.value(e.u)
        if e.op is None:
            return Entries(u_has if e.under is None else self.both(u_has, self.is_open(e.under)), u, u_type)
        v_has, (v, v_type) = (u_has, (u, u_type)) if e.v is None else (self.has(e.v), self.value(e.v))
        call, z = self.operator(e, u_type, v_type)
        if e.keep:
            return Entries(u_has, u, u_type, condition=call(u, v))
        if e.mode == LEFT:
            return Entries(u_has, call(u, v), z)
        if e.mode == BOTH:
            return Entries(self.both(u_has, v_has), call(u, v), z)
        there = self.either(u_has, v_has)
        if e.mode == UNION:
            one = self.choose(u_has, self.cast(z, u_type, u), self.cast(z, v_type, v))
            return Entries(there, self.choose(self.both(u_has, v_has), call(u, v), one), z)
        assert e.mode == FILLED
        left, right = (self._default(d, t) for d, t in zip(e.defaults, (u_type, v_type), strict=True))
        return Entries(there, call(self.choose(u_has, u, left), self.choose(v_has, v, right)), z)

    def _default(self, t: Term, to: DataType) -> V:
        x, dtype = self.value(t)
        return self.cast(to, dtype, x)

    # ---- statements ----

    def statement(self, s: Statement) -> None:
        """target(mask, accum, replace) << value"""
        w, e = s.target, s.value
        if isinstance(e, Scatter):
            self._scatter(s, e)
            return
        if isinstance(e, InitializeCells):
            assert isinstance(w, Vec)
            missing = self.named("missing", self.outside(self.entries(w)))
            self.write_cells(w, missing, self.literal(w.dtype, initial_cell(e.monoid, w.dtype)))
            return
        open_ = self.is_open(s.mask)
        open_ = self.named("open_here", self.both(self.inside, open_) if isinstance(w, Vec) else open_)
        if isinstance(e, Gather):
            there = self.entries(e.index)
            self.report_missing(self.both(open_, self.outside(there)), e.number)
            self.assign(s, open_, self.gathered(s, e, self.both(open_, there)))
        else:
            assert isinstance(e, Elementwise)
            self.assign(s, open_, self.computed(e))

    def assign(self, s: Statement, open_: S, found: Entries[S, V]) -> None:
        """Write the result of an expression where the mask is open. Other entries of the target stay without `replace`,
        and where the mask is open with an accumulator."""
        w = s.target
        here = self.both(open_, found.there)
        here = self.named("has", here if found.condition is None else self.where(here, found.condition))
        had = self.has(w)
        kept_open = self.both(open_, self.nowhere if s.accum is None else had)
        kept_closed = self.both(self.outside(open_), self.nowhere if s.replace else had)
        scalar = isinstance(w, Scal)
        if (scalar or w.id not in self.iso) and not found.written and not only_removes(s):
            self.write_values(s, here, found)
        if scalar or w.id not in self.full:
            self.write_entries(w, self.either(here, kept_open, kept_closed))

    def new_value(self, s: Statement, x: V, dtype: DataType) -> V:
        """What is written for the value x."""
        new = self.cast(s.target.dtype, dtype, x)
        if s.accum is None:
            return new
        return self.choose(self.has(s.target), self.accumulated(s.accum, s.target, dtype, x), new)

    def _scatter(self, s: Statement, e: Scatter) -> None:
        there = self.named("there", self.inside if e.where is None else self.both(self.inside, self.entries(e.where)))
        needed = [self.entries(x) for x in e.full if x.id not in self.full]
        if needed:
            whole = self.both(*needed)
            self.report_missing(self.both(there, self.outside(whole)), e.number)
            there = self.both(there, whole)
        assert isinstance(s.target, Vec)
        x, dtype = (self.position(), INT64) if e.u is None else self.value(e.u)
        self.combine(s.target, e, there, self.cast(s.target.dtype, dtype, x))


class Phase(NamedTuple):
    """The statements of a kernel as text: scalars before all positions, statements at a position, and after all
    positions the sums and the scalars computed from them."""

    before: list[str]
    lines: list[str]
    after: list[str]


@dataclasses.dataclass
class KernelText:
    """A kernel under construction. iso, full: as in Dialect. local: vectors without memory."""

    iso: IsoValues
    full: frozenset[int] = frozenset()
    local: frozenset[int] = frozenset()
    functions: list[Function] = dataclasses.field(default_factory=list, kw_only=True)

    def function(self, f: Function) -> str:
        """The name of a function with this content, which is added if it is new."""
        for known in self.functions:
            if known._replace(name=f.name) == f:
                return known.name
        self.functions.append(f._replace(name=f"f{len(self.functions)}"))
        return self.functions[-1].name


K = TypeVar("K", bound=KernelText)


class TextDialect(Dialect[str, str], Generic[K]):
    """A dialect of expressions and lines. AND, OR, OUTSIDE: how sets are combined."""

    AND, OR, OUTSIDE = " & ", " | ", "({inside} & ~{})"

    def __init__(self, kernel: K) -> None:
        self.kernel, self.iso, self.full = kernel, kernel.iso, kernel.full
        self.lines: list[str] = []

    def both(self, *sets: str) -> str:
        kept = [x for x in dict.fromkeys(sets) if x != self.everywhere]
        if self.nowhere in kept:
            return self.nowhere
        return self.everywhere if not kept else f"({self.AND.join(kept)})" if kept[1:] else kept[0]

    def either(self, *sets: str) -> str:
        kept = [x for x in dict.fromkeys(sets) if x != self.nowhere]
        if self.everywhere in kept:
            return self.everywhere
        return self.nowhere if not kept else f"({self.OR.join(kept)})" if kept[1:] else kept[0]

    def outside(self, positions: str) -> str:
        constants = {self.everywhere: self.nowhere, self.nowhere: self.everywhere}
        return constants.get(positions) or self.OUTSIDE.format(positions, inside=self.inside)

    def is_constant(self, positions: str) -> bool:
        return positions in (self.everywhere, self.nowhere)

    def operator(self, e: Elementwise, u: DataType, v: DataType) -> tuple[Callable[[str, str], str], DataType]:
        assert e.op is not None
        variant, z = elementwise_variant(Call(e.mode, e.bound, e.keep), e.op, u, v)
        name = self.kernel.function(next(f for f in variant.functions if f.name == "f"))
        return lambda x, y: self.call(name, x, y), z

    @abstractmethod
    def call(self, name: str, x: str, y: str) -> str:
        """A call of an operator's function, which also takes the row and column of the position."""

    def accumulated(self, accum: Typed, w: Vec | Scal, dtype: DataType, x: str) -> str:
        op, old = binary_of(accum), self.vector_value(w) if isinstance(w, Vec) else self.scalar_value(w)
        let = lets(op.op, op.dtype, ("x", w.dtype, "a"), ("y", dtype, "b"))
        f = Function("accum", op.return_type, (("a", w.dtype), ("b", dtype)), let, op.op.expr)
        return self.cast(w.dtype, op.return_type, f"{self.kernel.function(f)}({old}, {x})")

    def scoped(self, lines: list[str]) -> list[str]:
        """The lines of one statement, so that their names are its own."""
        return lines

    # ---- kernels ----

    def phase(self, statements: Sequence[Statement]) -> Phase:
        """The text of a kernel's statements."""
        before: list[str] = []
        after: list[str] = []
        sums, late = [s for s in statements if isinstance(s.value, Reduce)], late_scalars(statements)
        for s in statements:
            if isinstance(s.value, Reduce):
                before += self.begin_sum(s, sums.index(s))
                self.add_up(s, sums.index(s))
            elif isinstance(s.target, Scal):
                scalars = self.for_scalars()
                scalars.statement(s)
                (after if s in late else before).extend(scalars.lines)
            else:
                self.statement(s)
        stores = [line for k, s in enumerate(sums) for line in self.store_sum(s, k)]
        return Phase(before, self.lines, [*stores, *after])

    def begin_sum(self, s: Statement, k: int) -> list[str]:
        """The declarations of a sum before all positions."""
        return []

    def store_sum(self, s: Statement, k: int) -> list[str]:
        """s(accum) << sum number k"""
        assert isinstance(s.value, Reduce)
        scalars, z, default = self.for_scalars(), sum_function(s)[1], s.value.default
        has, x = scalars.sum_entries(k), f"sum{k}"
        if default is not None:
            has, x = scalars.everywhere, scalars.choose(has, x, scalars.literal(z, default))
        scalars.assign(s, scalars.everywhere, Entries(has, x, z))
        return scalars.scoped(scalars.lines)

    @abstractmethod
    def for_scalars(self) -> TextDialect[K]:
        """The dialect of statements on scalars, which has lines of its own."""

    @abstractmethod
    def sum_entries(self, k: int) -> str:
        """All positions if sum number k has any entries."""


def only_removes(s: Statement) -> bool:
    """Whether a statement only removes entries of its target, whose values stay."""
    e = s.value
    return isinstance(e, Elementwise) and e.u == s.target and (e.op is None or e.keep) and s.accum is None


def initial_cell(monoid: Typed, dtype: DataType) -> Number:
    """The initial value of a cell, before anything is combined into it."""
    return initial_sum(monoid.op, dtype) if monoid.op.name != "any" else dtype.np_type.type(0)


def sum_function(s: Statement) -> tuple[Function, DataType]:
    """The addition of a sum, and its type."""
    assert isinstance(s.value, Reduce)
    monoid = s.value.monoid
    z = monoid.op.result_type(monoid.dtype)
    return sum_of(monoid.op, z)[0][0], z


def vectors_of(statements: Sequence[Statement]) -> list[Vec]:
    """The vectors that statements read or write at the current position."""
    found: dict[Vec, None] = {}
    for s in statements:
        found |= dict.fromkeys(s.vectors)
        if s.written is not None:
            found[s.written] = None
    return sorted(found, key=lambda x: x.id)


def scalars_of(statements: Sequence[Statement]) -> list[Scal]:
    found: dict[int, Scal] = {}
    for s in statements:
        for t in (*s.terms, s.target):
            if isinstance(t, Scal) and t.id >= 0:
                found[t.id] = Scal(t.id, t.dtype)
    return [found[k] for k in sorted(found)]


def writes(statements: Sequence[Statement], s: Scal) -> bool:
    return any(isinstance(x.target, Scal) and x.target.id == s.id for x in statements)

"""Build the kernel table of a round: allocate memory and bind arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ...device import held
from ...device.table import STATE, Loop, Operation, Table, kernels
from ...verbs.operands import dummy
from ..buffers import BUFFERS
from ..fused.fuse import Inner, Item, Pass, Pull, Round, Step
from ..fused.lines import Line, texts_of
from ..fused.together import size_of
from ..recorded.ir import LineProduct, Pointwise, Scal, Statement, Vec
from ..scratch import Own
from .passes import UNIT, host_pass, joins
from .products import Products, host_kernel, pulls
from .summed import Summed

ENTRIES, PULLS, MANY = 0, 1, 2  # indices of the numbers that a tally writes


@held.root
class Build(Products):
    """The operations of the rounds of a program, and the memory that they use."""

    def __init__(
        self, device: Any, plan: Round, scalars: tuple[Scal, ...], iso: Mapping[int, Any], full: frozenset[Vec],
        condition: Vec | Scal, around: Build | None = None,
    ) -> None:  # fmt: skip
        """around: the build of the enclosing round, if this round is of a nested loop; it shares that build's
        memory."""
        self.device, self.round, self.iso, self.condition = device, plan, iso, condition
        self.of_full, self.full = full, frozenset(x.id for x in full)
        self.steps = [item for item in plan.items if isinstance(item, Step)]
        turning = _turning(plan.items)
        self.steps_of = {x: sum(s.target == x for s in self.steps) if x in turning else 0 for x in plan.vectors}
        self.scalars: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        if around is not None:
            self.buffers, self.scalars = around.buffers, around.scalars
        else:
            rotate = _turning(plan.all)
            self.buffers = {x: Summed(Own(device), x, iso.get(x.id), x in rotate) for x in plan.stored}
            for x in full & plan.stored:
                self.buffers[x].fill()
            self.scalars = {s.id: (np.zeros(1, np.uint8), np.zeros(1, s.dtype.np_type)) for s in scalars}
        self.state, self.going = np.zeros(STATE, np.int64), np.zeros(3, np.int64)
        self.lines: list[Line] = []
        first = self.steps[0] if self.steps else None
        self.enters = first if first is not None and self._is_told(first) else None
        self.told = {id(s): self.going if s is self.enters else np.zeros(3, np.int64) for s in self.steps}
        # Structures whose advances would read the transpose if it existed.
        self.without_transpose = [s.product.matrix.structure for s in self.steps if not pulls(s.product)]
        copies = BUFFERS if turning else 1
        self.copies = [self._round(k) for k in range(copies)]
        self._table: Table | None = None

    @property
    def table(self) -> Table:
        """The table, compiled and ready to run."""
        if self._table is None:
            self._table = Table(self.copies, self.going[ENTRIES : ENTRIES + 1], self.state)
        return self._table

    @property
    def has_table(self) -> bool:
        return self._table is not None

    def missing(self) -> int:
        """Number of kernels that are not compiled yet."""
        one = {(op.variant, op.signature): op for op in kernels(self.copies)}
        return sum(not op.is_there() for op in one.values())

    # ---- a round ----

    def _round(self, k: int) -> list[Operation | Loop]:
        found: list[Operation | Loop] = []
        self.latest = self.told[id(self.steps[-1])] if self.steps else None  # the last tally of a vector
        for item in self.round.items:
            said = len(found)
            if isinstance(item, Step):
                found += self._step(item)
            elif isinstance(item, Pull):
                u, t = self.buffers[item.product.u], self.buffers[item.target]
                if isinstance(item.product, LineProduct):
                    self.latest = np.zeros(3, np.int64)
                    found += self._lines(item.product, u, item.mask, t, self.latest)
                else:
                    found += [*self._pull(item.product, u, item.mask)(self._mask(item.mask), t), self._summary(t)]
            elif isinstance(item, Pass):
                found += self._pass(item)
            elif isinstance(item, Inner):
                found += self._inner(item)
                continue
            if k == 0:
                self._note(item, found[said:])
        if isinstance(self.condition, Vec):
            product = None if self.enters is None else self.enters.product
            found.append(self._tally(self.condition, product, self.going))
        return found

    def _is_told(self, first: Step) -> bool:
        """Whether the tally of the condition at the end of a round is still valid where the first advance reads it."""
        before = self.round.items[: self.round.items.index(first)]
        if any(isinstance(item, Inner) for item in before):
            return False
        written = {s.target for item in before if isinstance(item, Pass) for s in item.statements}
        written |= {item.target for item in before if isinstance(item, Pull)}
        return first.product.u == self.condition and self.condition not in written

    def entering(self) -> None:
        """Tally the condition for the first round, as after the last round of a body, when vectors are in their first
        buffers."""
        if isinstance(self.condition, Vec):
            last = self.copies[-1][-1]
            assert isinstance(last, Operation)
            self.device.kernel(last.variant)(int(last.bounds[1]), *last.args)

    def _note(self, item: Item, made: list[Operation | Loop]) -> None:
        if made:
            variants = ", ".join(str(op.variant) for op in made if isinstance(op, Operation))
            self.lines.append(Line(type(item).__name__.lower(), texts_of(item), variants))

    def _inner(self, item: Inner) -> list[Operation | Loop]:
        """A nested loop inside the round. Afterwards its vectors are in the same buffers as before."""
        inner = Build(self.device, item.round, (), self.iso, self.of_full, item.condition, self)
        self.without_transpose += inner.without_transpose
        self.latest = None
        self.lines += [Line("block", (item.text,), ""), *(x._replace(kind=f"  {x.kind}") for x in inner.lines)]
        if isinstance(item.condition, Vec):
            begins: list[Any] = inner.copies[-1][-1:]
        else:
            same = Statement(item.condition, Pointwise(0, None, item.condition))
            begins = inner._pass(Pass([same], item.condition))
        nested = lambda after: Operation(
            host_kernel("nested"), np.array([0, 1], np.int64), (after, item.limit, inner.state, self.state)
        )
        loop = Loop(inner.copies, inner.going[ENTRIES : ENTRIES + 1], inner.state)
        back = [self._settle(inner, x, steps) for x, steps in inner.steps_of.items() if steps]
        return [nested(0), *begins, loop, *back, nested(1)]

    def _settle(self, inner: Build, x: Vec, steps: int) -> Operation:
        of = self.buffers[x]
        values = of.values or [dummy(self.device, "int32")] * BUFFERS
        kind = 0 if not of.values else 2 if x.dtype is BOOL else 1
        args = (inner.state, steps, *of.bits, *of.summaries, *values)
        return Operation(host_kernel("settle", (), (("HELD", kind),)), np.array([0, 1], np.int64), args)

    def _units(self, size: int) -> int:
        return max(1, -(-size // UNIT))

    def _pass(self, item: Pass) -> list[Operation]:
        return self._fused(item.statements, item.local, item.counted)

    def _fused(self, statements: Any, local: frozenset[int], counted: Any = None) -> list[Operation]:
        counted = counted if isinstance(counted, Scal) else None
        variant, parameters, ends, listed = host_pass(statements, self.iso, self.full, local, counted)
        size = max((size for s in statements if (size := size_of(s)) is not None), default=0)
        units = self._units(size)
        args = tuple(self._argument(key, size, units) for key in parameters.values())
        found: list[Operation] = []
        one = np.array([0, units], np.int64)
        many = None if joins(statements) else self._shared(units, size)
        if size and many is not None and listed and self.latest is not None:
            number = self.latest[MANY : MANY + 1]
            found += [Operation(variant, one, args, (number, 0)), Operation(variant, many, args, (number, 1))]
        elif size:
            found.append(Operation(variant, one if many is None else many, args))
        return [*found, Operation(variant, np.array([-1, 0], np.int64), args)] if ends else found

    def _argument(self, key: tuple[Any, ...], size: int, units: int) -> Any:
        kind, *rest = key
        if kind == "state":
            return self.state
        if kind == "positions":
            return size
        if kind in ("bits", "val", "sum", "size"):
            x = next(f for v, f in self.buffers.items() if v.id == rest[0])
            if kind == "size":
                return x.vec.size
            return x.at({"bits": x.bits, "val": x.values, "sum": x.summaries}[kind])
        if kind in ("has", "scalar"):
            return self.scalars[rest[0]][kind == "scalar"]
        if kind == "going":
            return self.going
        return np.zeros(units, np.uint8 if kind == "there" else rest[1].np_type)

    def _step(self, item: Step) -> list[Operation]:
        product = item.product
        u, t = self.buffers[product.u], self.buffers[item.target]
        found = self._fused(item.before, frozenset()) if item.before else []
        self.latest = told = self.told[id(item)]
        if item is not self.enters:
            found.append(self._tally(product.u, product, told))
        mask, push = self._mask(item.mask), self._push(product, u)
        pull = self._pull(product, u, item.mask) if pulls(product) else None
        if self.steps_of[item.target]:
            t.current = (t.current + 1) % BUFFERS
        if pull is None:
            return [*found, push(mask, t)]
        number = told[PULLS : PULLS + 1]
        ways = [op._replace(when=(number, 1)) for op in (*pull(mask, t), self._summary(t))]
        return [*found, push(mask, t)._replace(when=(number, 0)), *ways]


def _turning(items: Iterable[Item]) -> set[Vec]:
    """The vectors that an advance writes while it reads them."""
    steps = [item for item in items if isinstance(item, Step)]
    return {s.target for s in steps if s.target == s.product.u or (s.mask and s.mask.vec == s.target)}

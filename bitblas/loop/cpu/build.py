"""Build the kernel table of a CPU round: products, element-wise kernels, memory, bound arguments.

A product is a push along entries or a pull by rows; an operation of the table chooses between them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings.dtypes import BOOL, lookup_dtype

from ... import tuning
from ...device import memory, threads
from ...device.kernel_table import STATE, Loop, Operation, Table, kernels
from ...exceptions import CaptureError
from ...formats import longest_unit
from ...formats.packing import PackedValues
from ...kernels.variant import Variant
from ...operations import plain_spmv
from ...operations.multivector import ALWAYS, Condition, kernels_of, plan_lines, prepare
from ...operations.operands import (
    Allowed,
    Input,
    Mask,
    Matrix,
    Output,
    PreparedKernel,
    Rows,
    allowed,
    dummy,
    entry_values,
    nothing,
    stored,
)
from ...operations.spmv_kernels import wide_arguments
from ...operations.variants import Types, push_variant
from ...plan.auxiliary_formats import is_available
from ...plan.direction import (
    LoopFacts,
    ProductFacts,
    PushLimits,
    loop_direction,
    multivector_push_limit,
)
from ...plan.product import COUNT, VALUES, WIDE, WORDS, reads_matrix
from ...store import Raw, VectorStore, words
from .. import analysis
from ..analysis import BodyFacts
from ..buffers import BUFFERS, SummarizedFrontier
from ..codegen.cuda_dialect import Key
from ..codegen.numba_kernels import UNIT, elementwise_kernel, needs_one_thread
from ..fuse import Inner, Item, Line, Pass, Pull, Round, Step, size_of, statement_texts
from ..ir import Elementwise, IsoValues, Masked, MultivectorProduct, Product, Scal, Statement, Vec
from ..scratch import OwnMemory

if TYPE_CHECKING:
    from ...device import Device
    from ...device.native import Argument
    from ...formats.contract import Layout

# ---- Products in rounds on the CPU: push along entries, pull by rows, and the operations that choose between them.

NEVER = 1 << 62


class NotYetAvailable(CaptureError):
    """A structure that statements will build does not exist yet: the capture can be tried again later."""


def may_push(s: Statement, full: frozenset[Vec], iso: IsoValues) -> bool:
    """Whether rounds may push the product of a statement (plan/direction.py). CaptureError if it can neither be pushed
    nor pulled. One thread pushes in the order of the entries, so that float sums are the same as by rows. Products that
    all equal one value are counted by rows, and multiplied: they are pushed only if no sum of them is rounded."""
    product = s.value
    assert isinstance(product, Product)
    if isinstance(product, MultivectorProduct):
        return False
    kind, value = analysis.product_kind(product, iso)
    rounded = (
        value is not None
        and kind == COUNT
        and not product.semiring.op.monoid.repeats_exactly(product.semiring.dtype, value, product.u.size)
    )
    A, key = product.matrix, product.matrix.structure.primary.key
    square = A.nrows == A.ncols
    cannot = not square or "advance.cpu" not in A.structure.primary.format.kernels
    found = loop_direction(
        LoopFacts(
            full=product.u in full,
            fixed_order="counts are summed by rows" if rounded else "",
            mask_is_frontier=False,
            cannot_push=f"{key if square else 'a matrix that is not square'} does not support pushing"
            if cannot
            else "",
            push_ready=can_push(product),
            pull_ready=can_pull(product),
        )
    )
    if found.missing:
        raise (CaptureError if cannot and not rounded else NotYetAvailable)(f"{s.text}: {found.missing}")
    return found.push


def can_push(product: Product) -> bool:
    """Whether the format that a push reads exists."""
    return _exists(product, not product.transpose)


def can_pull(product: Product) -> bool:
    """Whether the format that a pull reads exists."""
    return _exists(product, product.transpose)


def _exists(product: Product, transposed: bool) -> bool:
    valued = not product.matrix.iso and reads_matrix(product.semiring, product.flip)
    return is_available(product.matrix.structure, transposed=transposed, valued=valued)


class Products:
    """The operations of products, as part of a Build."""

    device: Device
    iso: IsoValues
    full: frozenset[int]
    buffers: dict[Vec, SummarizedFrontier]
    scalars: dict[int, tuple[np.ndarray, np.ndarray]]

    def _shared(self, units: int, size: int) -> np.ndarray | None:
        """Ranges of units for threads; None for one range."""
        if not self.device.splits(words(size), tuning.count("parallel.words")):
            return None
        return threads.even_ranges(units, min(units, self.device.parts))

    def _summary(self, t: SummarizedFrontier, name: str = "summary") -> Operation:
        """Recompute the summary of a vector; or (clear) remove its entries."""
        units = len(t.at(t.summaries))
        many = self._shared(units, t.vec.size)
        return Operation(host_kernel(name), self._bounds(units, many), (t.at(t.bits), t.at(t.summaries)))

    def _along(self, product: Product) -> tuple[Layout, bool]:
        """The format that an advance traverses, and whether it is of the transpose."""
        structure = product.matrix.structure
        return structure.layout(structure.primary.key, transposed=not product.transpose), not product.transpose

    def _case(self, product: Product) -> ProductFacts:
        A, values = product.matrix, analysis.planned_operand(product, self.iso)
        return plain_spmv.facts_of(A, values, product.semiring, transpose=product.transpose, flip=product.flip)

    def _tally(self, vec: Vec, product: Product | None, counts: np.ndarray) -> Operation:
        """Count the entries of a vector, and decide whether a product along them should pull."""
        x = self.buffers[vec]
        ptr, rows, longest, most = dummy(self.device, "int64"), 1, 0, PushLimits(NEVER, NEVER)
        if product is not None:
            layout, _ = self._along(product)
            (ptr, _), rows = layout.format.view.starts(layout), layout.rows_per_unit
            if can_pull(product):
                most = self._case(product)._replace(items=layout.work).push_limits(vec.size)
                longest = longest_unit(layout)
        variant = host_kernel("tally", (("PTR", lookup_dtype(ptr.dtype)),), (("ROWS", rows),))
        args = (x.at(x.bits), x.at(x.summaries), ptr, longest, *most, tuning.count("loop.parallel_entries"), counts)
        return Operation(variant, np.array([0, len(x.summaries[0])], np.int64), args)

    def _mask(self, mask: Masked | None) -> Allowed:
        x = None if mask is None else self.buffers[mask.vec]
        return allowed(self.device, None if x is None or mask is None else Mask(x.at(x.bits), mask.complement))

    def _kind(self, product: Product) -> int:
        """WORDS or VALUES: in the cells of an advance, counts are ordinary sums."""
        return WORDS if analysis.product_kind(product, self.iso)[0] == WORDS else VALUES

    def _push(self, product: Product, u: SummarizedFrontier) -> Callable[[Allowed, SummarizedFrontier], Operation]:
        """A push along the entries of u, in its current buffer, as a function of mask and result."""
        A, kind, device = product.matrix, self._kind(product), self.device
        layout, transposed = self._along(product)
        values: Raw = np.bool_(True)
        a_type, semiring = BOOL, None
        given = Input(u.at(u.bits), *stored(device, BOOL, np.bool_(True)))
        if kind == VALUES:
            a_type, semiring = A.dtype, product.semiring
            read = A.iso or reads_matrix(semiring, product.flip)
            values = A.raw_for(layout.key, transposed) if read else A.dtype.np_type.type(0)
            given = Input(u.at(u.bits), *stored(device, u.vec.dtype, u.stored_values()))
        ranked = layout.format.ranked and not isinstance(values, np.generic)
        variant = push_variant(
            layout.key,
            layout.format.view.types(layout, ranked),
            semiring,
            kind,
            a_type,
            BOOL if kind == WORDS else u.vec.dtype,
            flip=product.flip,
            ranked=ranked,
            lanes=1,
            packed=isinstance(values, PackedValues),
        )
        variant = dataclasses.replace(variant, kernel=layout.format.kernels["advance.cpu"])
        view = layout.format.view
        starts, parts = view.starts(layout)
        rows = Rows(starts, starts[parts:], dummy(device, "int64"), 0)
        matrix = Matrix(rows, view.contents(layout, ranked), entry_values(device, a_type, values)).flat()
        none = np.False_ if kind == WORDS else product.semiring.return_type.np_type.type(0)
        summary = u.at(u.summaries)

        def made(mask: Allowed, t: SummarizedFrontier) -> Operation:
            t_val = dummy(device, "int32") if kind == WORDS else t.at(t.values)
            args = (NEVER, *matrix, *given, *mask, none, summary, t.at(t.bits), t_val, t.at(t.summaries))
            return Operation(variant, np.array([0, len(summary)], np.int64), args)

        return made

    def _pull(
        self, product: Product, u: SummarizedFrontier, mask: Masked | None
    ) -> Callable[[Allowed, SummarizedFrontier], list[Operation]]:
        """A product by rows in the same way: the kernel of a single statement."""
        A, case, z = product.matrix, self._case(product), product.semiring.return_type
        case = case._replace(wide=case.wide and (case.kind != VALUES or product.u.dtype is z))
        plan = plain_spmv.choose_pull(A, case, product.u.size, full=product.u.id in self.full)
        made = plain_spmv.PreparedProduct(plan, A, product.u.dtype, product.semiring, product.flip)
        values = made.u_values or stored(self.device, made.u_type, u.stored_values())
        given = Input(u.at(u.bits), *values)

        def by_tiles(mask: Allowed, t: SummarizedFrontier) -> list[Operation]:
            to = Output(t.at(t.bits), t.at(t.values))
            calls = zip(made.kernels, wide_arguments(made.kernels, made, given, mask, to), strict=True)
            return [self._summary(t, "clear"), *(self._operation(kernel, rest) for kernel, rest in calls)]

        def by_rows(mask: Allowed, t: SummarizedFrontier) -> list[Operation]:
            to = Output(t.at(t.bits), t.at(t.values) if pull.end.store else pull.nothing.array)
            return [self._operation(pull.rows, (*given, *mask, pull.value, *pull.nothing, *to))]

        if plan.kernel == WIDE:
            return by_tiles
        pull = made.pull(made.z, None, None, False, mask is not None)  # rows are not degree-binned here
        return by_rows

    def _lines(
        self,
        product: MultivectorProduct,
        u: SummarizedFrontier,
        mask: Masked | None,
        t: SummarizedFrontier,
        counts: np.ndarray,
    ) -> list[Operation]:
        """A product with a multivector: along its rows if few have entries, otherwise by rows of the result."""
        of = analysis.lines_product(product, analysis.planned_operand(product, self.iso))
        x = VectorStore(self.device, u.vec.size, u.vec.dtype, u.at(u.bits), u.stored_values())
        bits, sums = t.at(t.bits), t.at(t.values) if t.values else nothing(self.device, BOOL)
        where = None if mask is None else (self.buffers[mask.vec].at(self.buffers[mask.vec].bits), mask.complement)
        few = multivector_push_limit(product.inner.number, self.device.kind)
        found = [self._tally(product.u, None, counts), self._summary(t, "clear")]
        by_rows, along = can_pull(product), can_push(product)  # if no format exists, the one for rows is built
        ways = [(False, Condition(counts, few if along else 0, ALWAYS))] if by_rows or not along else []
        if along:
            ways.append((True, Condition(counts, 0, few if by_rows else ALWAYS)))
        for push, condition in ways:
            made = prepare(plan_lines(of, push=push), of)
            found += [self._operation(kernel, ()) for kernel in kernels_of(made, x, where, (bits, sums), condition)]
        return [*found, self._summary(t)]

    def _operation(self, kernel: PreparedKernel, rest: tuple[Any, ...]) -> Operation:
        return Operation(kernel.variant, self._bounds(kernel.n, kernel.bounds), (*kernel.arguments, *rest))

    @staticmethod
    def _bounds(units: int, many: np.ndarray | None) -> np.ndarray:
        return np.array([0, units], np.int64) if many is None else many


def host_kernel(name: str, types: Types = (), constants: tuple[tuple[str, int], ...] = ()) -> Variant:
    return Variant(f"loop/cpu/{name}", types, (*constants, ("LANES", 1)))


# ---- Build the kernel table of a round: allocate memory and bind arguments.

ENTRIES, PULLS, MANY = 0, 1, 2  # indices of the numbers that a tally writes


@memory.track_memory
class Build(Products):
    """The operations of the rounds of a program, and the memory that they use."""

    def __init__(
        self,
        device: Device,
        plan: Round,
        facts: BodyFacts,
        condition: Vec | Scal,
        around: Build | None = None,
    ) -> None:
        """around: the build of the enclosing round, if this round is of a nested loop; it shares that build's
        memory."""
        self.device, self.round, self.facts, self.condition = device, plan, facts, condition
        self.iso, self.full = facts.iso, frozenset(x.id for x in facts.full)
        self.steps = [item for item in plan.items if isinstance(item, Step)]
        rotating = _rotating(plan.items)
        self.advances_of = {x: sum(s.target == x for s in self.steps) if x in rotating else 0 for x in plan.vectors}
        if around is not None:
            self.buffers, self.scalars = around.buffers, around.scalars
        else:
            rotate = _rotating(plan.all)
            self.buffers = {
                x: SummarizedFrontier(OwnMemory(device), x, self.iso.get(x.id), x in rotate) for x in plan.stored
            }
            for x in facts.full & plan.stored:
                self.buffers[x].fill()
            self.scalars = {s.id: (np.zeros(1, np.uint8), np.zeros(1, s.dtype.np_type)) for s in facts.body.scalars}
        self.state, self.going = np.zeros(STATE, np.int64), np.zeros(3, np.int64)
        self.lines: list[Line] = []
        first = self.steps[0] if self.steps else None
        self.enters = first if first is not None and self._tally_stays_valid(first) else None
        self.tallies = {id(s): self.going if s is self.enters else np.zeros(3, np.int64) for s in self.steps}
        # Structures whose advances would read the transpose if it existed.
        self.missing_transposes = [s.product.matrix.structure for s in self.steps if not can_pull(s.product)]
        copies = BUFFERS if rotating else 1
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
        self.latest = self.tallies[id(self.steps[-1])] if self.steps else None  # the last tally of a vector
        for item in self.round.items:
            before = len(found)
            if isinstance(item, Step):
                found += self._step(item)
            elif isinstance(item, Pull):
                u, t = self.buffers[item.product.u], self.buffers[item.target]
                if isinstance(item.product, MultivectorProduct):
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
                self._add_line(item, found[before:])
        if isinstance(self.condition, Vec):
            product = None if self.enters is None else self.enters.product
            found.append(self._tally(self.condition, product, self.going))
        return found

    def _tally_stays_valid(self, first: Step) -> bool:
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

    def _add_line(self, item: Item, operations: list[Operation | Loop]) -> None:
        if operations:
            variants = ", ".join(str(op.variant) for op in operations if isinstance(op, Operation))
            self.lines.append(Line(type(item).__name__.lower(), statement_texts(item), variants))

    def _inner(self, item: Inner) -> list[Operation | Loop]:
        """A nested loop inside the round. Afterwards its vectors are in the same buffers as before."""
        inner = Build(self.device, item.round, self.facts, item.condition, self)
        self.missing_transposes += inner.missing_transposes
        self.latest = None
        self.lines += [Line("block", (item.text,), ""), *(x._replace(kind=f"  {x.kind}") for x in inner.lines)]
        if isinstance(item.condition, Vec):
            begins: Sequence[Operation | Loop] = inner.copies[-1][-1:]
        else:
            same = Statement(item.condition, Elementwise(0, None, item.condition))
            begins = inner._pass(Pass([same], item.condition))
        nested = lambda after: Operation(
            host_kernel("nested"), np.array([0, 1], np.int64), (after, item.limit, inner.state, self.state)
        )
        loop = Loop(inner.copies, inner.going[ENTRIES : ENTRIES + 1], inner.state)
        back = [self._settle(inner, x, steps) for x, steps in inner.advances_of.items() if steps]
        return [nested(0), *begins, loop, *back, nested(1)]

    def _settle(self, inner: Build, x: Vec, steps: int) -> Operation:
        of = self.buffers[x]
        values = of.values or [dummy(self.device, "int32")] * BUFFERS
        kind = 0 if not of.values else 2 if x.dtype is BOOL else 1
        args: tuple[Argument, ...] = (inner.state, steps, *of.bits, *of.summaries, *values)
        return Operation(host_kernel("settle", (), (("HELD", kind),)), np.array([0, 1], np.int64), args)

    def _pass(self, item: Pass) -> list[Operation]:
        return self._fused(item.statements, item.local, item.counted)

    def _fused(
        self, statements: Sequence[Statement], local: frozenset[int], counted: Vec | Scal | None = None
    ) -> list[Operation]:
        counted = counted if isinstance(counted, Scal) else None
        variant, parameters, ends, listed = elementwise_kernel(statements, self.iso, self.full, local, counted)
        size = max((size for s in statements if (size := size_of(s)) is not None), default=0)
        units = max(1, -(-size // UNIT))
        args = tuple(self._argument(key, size, units) for key in parameters.values())
        found: list[Operation] = []
        one = np.array([0, units], np.int64)
        many = None if needs_one_thread(statements) else self._shared(units, size)
        if size and many is not None and listed and self.latest is not None:
            number = self.latest[MANY : MANY + 1]
            found += [Operation(variant, one, args, (number, 0)), Operation(variant, many, args, (number, 1))]
        elif size:
            found.append(Operation(variant, one if many is None else many, args))
        return [*found, Operation(variant, np.array([-1, 0], np.int64), args)] if ends else found

    def _argument(self, key: Key, size: int, units: int) -> np.ndarray | int:
        kind, number, dtype = key
        if kind == "state":
            return self.state
        if kind == "positions":
            return size
        if kind in ("bits", "val", "sum", "size"):
            x = next(f for v, f in self.buffers.items() if v.id == number)
            if kind == "size":
                return x.vec.size
            return x.at({"bits": x.bits, "val": x.values, "sum": x.summaries}[kind])
        if kind in ("has", "scalar"):
            return self.scalars[number][kind == "scalar"]
        if kind == "going":
            return self.going
        return np.zeros(units, np.uint8 if dtype is None else dtype.np_type)

    def _step(self, item: Step) -> list[Operation]:
        product = item.product
        u, t = self.buffers[product.u], self.buffers[item.target]
        found = self._fused(item.before, frozenset()) if item.before else []
        self.latest = counts = self.tallies[id(item)]
        if item is not self.enters:
            found.append(self._tally(product.u, product, counts))
        mask, push = self._mask(item.mask), self._push(product, u)
        pull = self._pull(product, u, item.mask) if can_pull(product) else None
        if self.advances_of[item.target]:
            t.current = (t.current + 1) % BUFFERS
        if pull is None:
            return [*found, push(mask, t)]
        number = counts[PULLS : PULLS + 1]
        ways = [op._replace(when=(number, 1)) for op in (*pull(mask, t), self._summary(t))]
        return [*found, push(mask, t)._replace(when=(number, 0)), *ways]


def _rotating(items: Iterable[Item]) -> set[Vec]:
    """The vectors that an advance writes while it reads them."""
    steps = [item for item in items if isinstance(item, Step)]
    return {s.target for s in steps if s.target == s.product.u or (s.mask and s.mask.vec == s.target)}

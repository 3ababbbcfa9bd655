"""Loops on the CPU: build the kernel table of a round (products, element-wise kernels, bound arguments) and run it.

A product is a push along entries or a pull by rows; an operation of the table chooses between them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from types import CellType
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings.dtypes import BOOL, lookup_dtype

from ... import tuning
from ...device import memory, threads, tracing
from ...device.cpu import COPY, FAULT, INDEX, LIMIT, ROUND, STATE, Loop, Operation, Table, kernels
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
from ...operations.plain_spmv import wide_arguments
from ...operations.variants import Algebra, Types, push_variant
from ...plan.direction import (
    LoopFacts,
    ProductFacts,
    PushLimits,
    loop_direction,
    missed_by_loop,
    multivector_push_limit,
)
from ...plan.format_choice import is_available, transpose_amortized
from ...plan.product import COUNT, VALUES, WIDE, WORDS, reads_matrix
from ...store import PlainValues, Raw, VectorStore, words
from .. import analysis
from ..analysis import BodyFacts
from ..buffers import (
    BUFFERS,
    Assumptions,
    Scratch,
    StackMemory,
    SummarizedFrontier,
    map_kernels,
    program_vectors,
    stack_memory,
    stacked_vectors,
)
from ..codegen.cuda_dialect import Key
from ..codegen.numba_kernels import UNIT, elementwise_kernel, needs_one_thread
from ..fuse import (
    Advance,
    FusedElementwise,
    Inner,
    Item,
    Line,
    OnStack,
    Pull,
    Round,
    fuse,
    recount,
    size_of,
    statement_texts,
)
from ..ir import (
    Block,
    Body,
    IsoValues,
    MapProduct,
    Masked,
    MultivectorProduct,
    Product,
    Scal,
    Stacked,
    Statement,
    Vec,
    flat,
)
from ..symbolic.control_flow import OnHost, single_rank_part, with_any_condition
from ..symbolic.multivectors import as_vector
from ..symbolic.recorder import Recorder, record

if TYPE_CHECKING:
    from ...device import Device
    from ...device.native import Argument
    from ...formats.contract import Layout


NEVER = 1 << 62


class NotYetAvailable(CaptureError):
    """A structure that statements will build does not exist yet: the capture can be tried again later."""


def may_push(s: Statement, full: frozenset[Vec], iso: IsoValues) -> bool:
    """Whether rounds may push the product of a statement (plan/direction.py). CaptureError if it can neither be pushed
    nor pulled. One thread pushes in the order of the entries, so that float sums are the same as by rows. Products that
    all equal one value are counted by rows, and multiplied: they are pushed only if no sum of them is rounded."""
    product = s.value
    assert isinstance(product, Product)
    if isinstance(product, (MultivectorProduct, MapProduct)):
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


def host_kernel(name: str, types: Types = (), constants: tuple[tuple[str, int], ...] = ()) -> Variant:
    return Variant(f"loop/cpu/{name}", types, (*constants, ("LANES", 1)))


def _bounds(units: int, many: np.ndarray | None = None) -> np.ndarray:
    """The ranges of units of an operation: `many` for threads, or one."""
    return np.array([0, units], np.int64) if many is None else many


# ---- Build the kernel table of a round: allocate memory and bind arguments.

ENTRIES, PULLS, MANY = 0, 1, 2  # indices of the numbers that a count of a frontier writes


@memory.track_memory
class Build:
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
        self.advances = [item for item in plan.items if isinstance(item, Advance)]
        rotating = _rotating(plan.items)
        self.advances_of = {x: sum(s.target == x for s in self.advances) if x in rotating else 0 for x in plan.vectors}
        self.buffers: dict[Vec, SummarizedFrontier]
        self.scalars: dict[int, tuple[np.ndarray, np.ndarray]]
        self.stacks: dict[int, StackMemory]
        if around is not None:
            self.buffers, self.scalars, self.stacks = around.buffers, around.scalars, around.stacks
        else:
            scratch, rotate = Scratch(device, shared=False), _rotating(plan.all)
            self.buffers = {x: SummarizedFrontier(scratch, x, self.iso.get(x.id), x in rotate) for x in plan.stored}
            for x in facts.full & plan.stored:
                self.buffers[x].fill()
            self.scalars = {s.id: (np.zeros(1, np.uint8), np.zeros(1, s.dtype.np_type)) for s in facts.body.scalars}
            self.stacks = stack_memory(device, [item.statement for item in plan.all if isinstance(item, OnStack)])
        self.state, self.going = np.zeros(STATE, np.int64), np.zeros(3, np.int64)
        self.lines: list[Line] = []
        first = self.advances[0] if self.advances else None
        self.enters = first if first is not None and self._count_stays_valid(first) else None
        self.counts = {id(s): self.going if s is self.enters else np.zeros(3, np.int64) for s in self.advances}
        # Structures whose advances would read the transpose if it existed.
        self.missing_transposes = [s.product.matrix.structure for s in self.advances if not can_pull(s.product)]
        copies = BUFFERS if rotating else 1
        self.copies = [self._round(k) for k in range(copies)]
        self._table: Table | None = None

    @property
    def table(self) -> Table:
        """The table, compiled and ready to run."""
        if self._table is None:
            self._table = Table(self.copies, self.going[ENTRIES : ENTRIES + 1], self.state)
        return self._table

    def missing(self) -> int:
        """Number of kernels that are not compiled yet."""
        one = {(op.variant, op.signature): op for op in kernels(self.copies)}
        return sum(not op.is_there() for op in one.values())

    # ---- a round ----

    def _round(self, k: int) -> list[Operation | Loop]:
        found: list[Operation | Loop] = []
        self.latest = self.counts[id(self.advances[-1])] if self.advances else None  # the last count of a vector
        for item in self.round.items:
            before = len(found)
            if isinstance(item, Advance):
                found += self._advance(item)
            elif isinstance(item, Pull) and isinstance(item.product, MultivectorProduct):
                self.latest = np.zeros(3, np.int64)
                found += self._lines(item, item.product, self.latest)
            elif isinstance(item, Pull) and isinstance(item.product, MapProduct):
                kernels = map_kernels(item.product, self.buffers[item.product.u], self.buffers[item.target])
                found += [self._operation(kernel, ()) for kernel in kernels]
            elif isinstance(item, Pull):
                found += self._pull(item, self._mask(item.mask), self.buffers[item.target], 0)
            elif isinstance(item, FusedElementwise):
                found += self._elementwise(item)
            elif isinstance(item, OnStack):
                found.append(self._on_stack(item.statement, item.value))
            elif isinstance(item, Inner):
                found += self._inner(item)
                continue
            if k == 0 and found[before:]:
                variants = ", ".join(str(op.variant) for op in found[before:] if isinstance(op, Operation))
                self.lines.append(Line(item.kind, statement_texts(item), variants))
        if isinstance(self.condition, Vec):
            product = None if self.enters is None else self.enters.product
            found.append(self._count(self.condition, product, self.going))
        return found

    def _count_stays_valid(self, first: Advance) -> bool:
        """Whether the count of the condition at the end of a round is still valid where the first advance reads it."""
        before = self.round.items[: self.round.items.index(first)]
        if any(isinstance(item, Inner) for item in before):
            return False
        written = {s.target for item in before if isinstance(item, FusedElementwise) for s in item.statements}
        written |= {item.target for item in before if isinstance(item, Pull)}
        return first.product.u == self.condition and self.condition not in written

    def entering(self) -> None:
        """Count the condition for the first round, as after the last round of a body, when vectors are in their first
        buffers."""
        if isinstance(self.condition, Vec):
            last = self.copies[-1][-1]
            assert isinstance(last, Operation)
            self.device.kernel(last.variant)(int(last.bounds[1]), *last.args)

    def _inner(self, item: Inner) -> list[Operation | Loop]:
        """A nested loop inside the round. Afterwards its vectors are in the same buffers as before."""
        inner = Build(self.device, item.round, self.facts, item.condition, self)
        self.missing_transposes += inner.missing_transposes
        self.latest = None
        self.lines += [Line("block", (item.text,), ""), *(x._replace(kind=f"  {x.kind}") for x in inner.lines)]
        if isinstance(item.condition, Vec):
            begins: Sequence[Operation | Loop] = inner.copies[-1][-1:]
        else:
            begins = inner._elementwise(recount(item.condition))
        sides = item.limit, inner.state, self.state
        nested = lambda after: Operation(host_kernel("nested"), _bounds(1), (after, *sides))
        loop = Loop(inner.copies, inner.going[ENTRIES : ENTRIES + 1], inner.state)
        back = [self._unrotate(inner, x, advances) for x, advances in inner.advances_of.items() if advances]
        return [nested(0), *begins, loop, *back, nested(1)]

    def _unrotate(self, inner: Build, x: Vec, advances: int) -> Operation:
        of = self.buffers[x]
        values = of.values or [dummy(self.device, "int32")] * BUFFERS
        kind = 0 if not of.values else 2 if x.dtype is BOOL else 1
        args: tuple[Argument, ...] = (inner.state, advances, *of.bits, *of.summaries, *values)
        return Operation(host_kernel("unrotate", (), (("HELD", kind),)), _bounds(1), args)

    def _elementwise(self, item: FusedElementwise) -> list[Operation]:
        statements, counted = item.statements, item.counted if isinstance(item.counted, Scal) else None
        variant, parameters, ends, listed = elementwise_kernel(statements, self.iso, self.full, item.local, counted)
        size = max((size for s in statements if (size := size_of(s)) is not None), default=0)
        units = max(1, -(-size // UNIT))
        args = tuple(self._argument(key, size, units) for key in parameters.values())
        found: list[Operation] = []
        many = None if needs_one_thread(statements) else self._shared(units, size)
        if size and many is not None and listed and self.latest is not None:
            number = self.latest[MANY : MANY + 1]
            found += [
                Operation(variant, _bounds(units), args, (number, 0)),
                Operation(variant, many, args, (number, 1)),
            ]
        elif size:
            found.append(Operation(variant, _bounds(units, many), args))
        return [*found, Operation(variant, np.array([-1, 0], np.int64), args)] if ends else found

    def _on_stack(self, s: Statement, value: Stacked) -> Operation:
        words, bits, ends, numbers = self.stacks[value.stack]
        if value.what == "clear":
            return Operation(host_kernel("clear_stack"), _bounds(1), (numbers,))
        (x,) = stacked_vectors(s)
        f, stack = self.buffers[x], (words, bits, ends, numbers)
        of = f.at(f.bits), f.at(f.summaries)
        if value.what == "push":
            return Operation(host_kernel("push_words"), _bounds(1), (*of, *stack, value.number, self.state))
        valued = bool(f.values) and x.dtype is BOOL
        values = f.at(f.values) if valued else dummy(self.device, "uint64")
        return Operation(host_kernel("pop_words"), _bounds(1), (*of, values, int(valued), *stack))

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

    def _advance(self, item: Advance) -> list[Operation]:
        product, t = item.product, self.buffers[item.target]
        found = self._elementwise(FusedElementwise(list(item.before))) if item.before else []
        self.latest = counts = self.counts[id(item)]
        if item is not self.enters:
            found.append(self._count(product.u, product, counts))
        mask, ahead, number = self._mask(item.mask), int(self.advances_of[item.target] > 0), counts[PULLS : PULLS + 1]
        push = self._push(product, mask, t, ahead)
        if can_pull(product):
            found.append(push._replace(when=(number, 0)))
            found += [op._replace(when=(number, 1)) for op in self._pull(item, mask, t, ahead)]
        else:
            found.append(push)
        t.current = (t.current + ahead) % BUFFERS
        return found

    # ---- products: push along entries, pull by rows ----

    def _shared(self, units: int, size: int) -> np.ndarray | None:
        """Ranges of units for threads; None for one range."""
        if not self.device.splits(words(size), tuning.count("parallel.words")):
            return None
        return threads.even_ranges(units, min(units, self.device.parts))

    def _summary(self, t: SummarizedFrontier, ahead: int = 0, name: str = "summary") -> Operation:
        """Recompute the summary of a vector, in its buffer `ahead` of the current one; or (clear) remove its
        entries."""
        units = len(t.summaries[0])
        args = t.at(t.bits, ahead), t.at(t.summaries, ahead)
        return Operation(host_kernel(name), _bounds(units, self._shared(units, t.vec.size)), args)

    def _along(self, product: Product) -> Layout:
        """The format that an advance traverses."""
        structure = product.matrix.structure
        return structure.layout(structure.primary.key, transposed=not product.transpose)

    def _case(self, product: Product) -> ProductFacts:
        A, values = product.matrix, analysis.planned_operand(product, self.iso)
        return plain_spmv.facts_of(A, values, product.semiring, transpose=product.transpose, flip=product.flip)

    def _count(self, vec: Vec, product: Product | None, counts: np.ndarray) -> Operation:
        """Count the entries of a vector, and decide whether a product along them should pull."""
        x = self.buffers[vec]
        ptr, rows, longest, most = dummy(self.device, "int64"), 1, 0, PushLimits(NEVER, NEVER)
        if product is not None:
            layout = self._along(product)
            (ptr, _), rows = layout.format.view.starts(layout), layout.rows_per_unit
            if can_pull(product):
                most = self._case(product)._replace(items=layout.work).push_limits(vec.size)
                longest = longest_unit(layout)
        variant = host_kernel("count_frontier", (("PTR", lookup_dtype(ptr.dtype)),), (("ROWS", rows),))
        args = (x.at(x.bits), x.at(x.summaries), ptr, longest, *most, tuning.count("loop.parallel_entries"), counts)
        return Operation(variant, _bounds(len(x.summaries[0])), args)

    def _mask(self, mask: Masked | None) -> Allowed:
        x = None if mask is None else self.buffers[mask.vec]
        return allowed(self.device, None if x is None or mask is None else Mask(x.at(x.bits), mask.complement))

    def _push(self, product: Product, mask: Allowed, t: SummarizedFrontier, ahead: int) -> Operation:
        """A push along the entries of the product's vector, into the buffer of t `ahead` of the current one."""
        A, device, u, layout = product.matrix, self.device, self.buffers[product.u], self._along(product)
        # In the cells of an advance, counts are ordinary sums.
        valued = analysis.product_kind(product, self.iso)[0] != WORDS
        values: Raw = np.bool_(True)
        a_type, u_type, semiring = BOOL, BOOL, None
        u_values: PlainValues = np.bool_(True)
        if valued:
            a_type, u_type, semiring, u_values = A.dtype, u.vec.dtype, product.semiring, u.stored_values()
            read = A.iso or reads_matrix(semiring, product.flip)
            values = A.raw_for(layout.key, not product.transpose) if read else A.dtype.np_type.type(0)
        view, ranked = layout.format.view, layout.format.ranked and not isinstance(values, np.generic)
        kinds = layout.key, view.types(layout, ranked), semiring, VALUES if valued else WORDS, a_type, u_type
        packed = isinstance(values, PackedValues)
        variant = push_variant(Algebra(*kinds, product.flip, ranked, packed), 1)
        variant = dataclasses.replace(variant, kernel=layout.format.kernels["advance.cpu"])
        starts, parts = view.starts(layout)
        rows = Rows(starts, starts[parts:], dummy(device, "int64"), 0)
        matrix = Matrix(rows, view.contents(layout, ranked), entry_values(device, a_type, values)).flat()
        none = product.semiring.return_type.np_type.type(0) if valued else np.False_
        t_val = t.at(t.values, ahead) if valued else dummy(device, "int32")
        given, summary = Input(u.at(u.bits), *stored(device, u_type, u_values)), u.at(u.summaries)
        to = t.at(t.bits, ahead), t_val, t.at(t.summaries, ahead)
        return Operation(variant, _bounds(len(summary)), (NEVER, *matrix, *given, *mask, none, summary, *to))

    def _pull(self, item: Advance | Pull, mask: Allowed, t: SummarizedFrontier, ahead: int) -> list[Operation]:
        """A product by rows in the same way: the kernel of a single statement."""
        product, u = item.product, self.buffers[item.product.u]
        A, case, z = product.matrix, self._case(product), product.semiring.return_type
        case = case._replace(wide=case.wide and (case.kind != VALUES or product.u.dtype is z))
        plan = plain_spmv.choose_pull(A, case, product.u.size, full=product.u.id in self.full)
        made = plain_spmv.PreparedProduct(plan, A, product.u.dtype, product.semiring, product.flip)
        given = Input(u.at(u.bits), *(made.u_values or stored(self.device, made.u_type, u.stored_values())))
        bits, summary = t.at(t.bits, ahead), self._summary(t, ahead)
        if plan.kernel == WIDE:
            to = Output(bits, t.at(t.values, ahead))
            calls = zip(made.kernels, wide_arguments(made.kernels, made, given, mask, to), strict=True)
            tiles = [self._operation(kernel, rest) for kernel, rest in calls]
            return [self._summary(t, ahead, "clear"), *tiles, summary]
        pull = made.pull(made.z, None, None, False, item.mask is not None)  # rows are not degree-binned here
        to, found = Output(bits, t.at(t.values, ahead) if pull.end.store else pull.nothing.array), list[Operation]()
        if pull.sums is not None and pull.piece is not None:  # of pieces of rows, then of these for each row
            (parts, *_), piece = pull.scratch(), pull.piece
            no_old = plain_spmv.no_output(self.device, piece.z)
            found.append(self._operation(pull.rows, (*given, *mask, pull.value, *no_old, *parts)))
            given, pull = plain_spmv.piece_input(parts, piece.z), pull.sums
        return [*found, self._operation(pull.rows, (*given, *mask, pull.value, *pull.nothing, *to)), summary]

    def _lines(self, item: Pull, product: MultivectorProduct, counts: np.ndarray) -> list[Operation]:
        """A product with a multivector: along its rows if few have entries, otherwise by rows of the result."""
        u, t, mask = self.buffers[product.u], self.buffers[item.target], item.mask
        of = analysis.lines_product(product, analysis.planned_operand(product, self.iso))
        x = VectorStore(self.device, u.vec.size, u.vec.dtype, u.at(u.bits), u.stored_values())
        bits, sums = t.at(t.bits), t.at(t.values) if t.values else nothing(self.device, BOOL)
        where = None if mask is None else (self.buffers[mask.vec].at(self.buffers[mask.vec].bits), mask.complement)
        few = multivector_push_limit(product.inner.number, self.device.kind)
        found = [self._count(product.u, None, counts), self._summary(t, name="clear")]
        by_rows, along = (
            can_pull(product),
            can_push(product) and of.may_push,
        )  # if no format exists, the one for rows is built
        ways = [(False, Condition(counts, few if along else 0, ALWAYS))] if by_rows or not along else []
        if along:
            ways.append((True, Condition(counts, 0, few if by_rows else ALWAYS)))
        for push, condition in ways:
            made = prepare(plan_lines(of, push=push), of)
            found += [self._operation(kernel, ()) for kernel in kernels_of(made, x, where, (bits, sums), condition)]
        return [*found, self._summary(t)]

    def _operation(self, kernel: PreparedKernel, rest: tuple[Any, ...]) -> Operation:
        return Operation(kernel.variant, _bounds(kernel.n, kernel.bounds), (*kernel.arguments, *rest))


def _rotating(items: Iterable[Item]) -> set[Vec]:
    """The vectors that an advance writes while it reads them."""
    advances = [item for item in items if isinstance(item, Advance)]
    return {s.target for s in advances if s.target == s.product.u or (s.mask and s.mask.vec == s.target)}


HUGE = 1 << 31  # maximum size: larger vectors are not stored densely


class CpuRounds:
    """The rounds of a body as a table of kernels. given: the results of the program's `begin`, which may be other
    vectors of the same kind in each run. Raises CaptureError if the body cannot be executed symbolically."""

    def __init__(self, body: Callable[..., object], condition: Any, given: tuple[object, ...]) -> None:
        cells = getattr(body, "__closure__", None) or ()
        if isinstance(condition, tuple):
            body, condition = with_any_condition(body, condition)
        self.body, self.recorder = _record_twice(body, cells, given)
        self.device = self.recorder.device
        condition = single_rank_part(condition)
        term = self.recorder.written_condition(condition, self.body.statements)
        if term is None:
            raise CaptureError(f"while_: the body never writes to {condition.name}")
        self.condition = term
        self.members = program_vectors(self.recorder.vectors.values(), self.recorder.order())
        self.scalars = {s.id: scalar for scalar, s in self.recorder.scalars.values()}
        ids = {id(vector): x for vector, x in self.recorder.vectors.values()}
        self.given = [ids.get(id(single_rank_part(thing))) for thing in given]
        self._check()
        loaded = analysis.loaded_vectors(self.body, term)
        self.facts = facts = analysis.analyze(self.body, {x.id: self.members[x].held() for x in loaded})
        self.body, iso, full = facts.body, facts.iso, facts.full
        advances, direct = lambda s: may_push(s, full, iso), lambda s: analysis.can_write_directly(s, iso)
        round_ = fuse(self.body, advances, direct, term, lists=False)
        self.assumptions = Assumptions(facts, self.members, self.recorder.matrices)
        self.build = Build(self.device, round_, analysis.with_added(facts, round_), term)

    def _check(self) -> None:
        for x in self.body.vectors:
            if not 0 < x.size < HUGE or x.dtype.kind == "c":
                self.recorder.refuse(f"a vector of {x.size} positions of {x.dtype}")
        cleared: set[int] = set()  # stacks that no round finds as another round left them
        for part in self.body.statements:
            for s in flat((part,)):
                if isinstance(s.value, Stacked) and s.value.stack not in cleared:
                    if s.value.what != "clear" or isinstance(part, Block):
                        self.recorder.refuse("a stack that the round does not clear before it uses it")
                    cleared.add(s.value.stack)
        for _, held in self.recorder.matrices:
            if held.structure.hypersparse or 0 in (held.nrows, held.ncols):
                self.recorder.refuse("a hypersparse matrix")

    def fits(self, given: tuple[object, ...]) -> bool:
        """Whether matrices and kinds of vectors are still those that the table was built for."""
        for x, thing in zip(self.given, given):
            if x is not None:
                self.members[x].vector = as_vector(single_rank_part(thing))
        return self.assumptions.hold() and not any(transpose_amortized(s) for s in self.build.missing_transposes)

    def run(self, first: int, limit: int) -> int:
        """Run rounds from number `first` on, until the condition fails; return the number of the first round that did
        not run. Afterwards vectors and scalars hold the results of the body."""
        build, table = self.build, self.build.table
        for x, summed in build.buffers.items():
            if x in self.facts.loaded:
                summed.load(self.members[x].held(), full=x.id in build.full)
            elif x.id not in build.full:
                summed.empty()
        for number, scalar in self.scalars.items():
            if number not in self.facts.fresh:
                has, value = build.scalars[number]
                has.fill(scalar._value is not None)
                if scalar._value is not None:
                    value.fill(scalar._value)
        build.state.fill(0)
        build.state[ROUND], build.state[LIMIT], build.state[COPY] = first, limit, 0
        if isinstance(self.condition, Scal):
            build.going[0] = 1  # the caller has checked the condition
        build.entering()
        if tracing.active is None:
            table.run()
        else:
            tracing.active.note_loop(self.device, len(build.copies[0]), table.run)
        self.recorder.changed()
        rounds = int(build.state[ROUND])
        if build.state[FAULT]:
            self.recorder.raise_fault(int(build.state[FAULT]) - 1, int(build.state[INDEX]), rounds - 1)
        for structure in build.missing_transposes:
            structure.transpose_credit += missed_by_loop(self.device.kind)
        if rounds > first:
            self._store_results(rounds - first, rounds < limit)
        return rounds

    def _store_results(self, count: int, over: bool) -> None:
        build = self.build
        for x in self.facts.changed:
            if x == self.condition and over:
                self.members[x].empty()
            else:
                self.members[x].adopt(build.buffers[x].store(count * build.advances_of[x], full=x.id in build.full))
        for s in self.facts.changed_scalars:
            has, value = (a[0] for a in build.scalars[s.id])
            self.scalars[s.id]._store(s.dtype.np_type.type(value) if has else None)


def _record_twice(
    body: Callable[..., object], cells: Sequence[CellType], given: tuple[object, ...]
) -> tuple[Body, Recorder]:
    """Record the body, twice. A body that rebinds its names (`cells`), or keeps what it creates alive, cannot be
    captured."""
    before = [_contents(cell) for cell in cells]
    try:
        found, again = (record(lambda number: body(number, *given), host=True) for _ in range(2))
    except (CaptureError, OnHost):
        raise
    except Exception as error:  # for example Python code that needs a number where there is a symbolic Scalar
        raise CaptureError(f"{type(error).__name__}: {error}") from error
    finally:
        changed = [k for k, cell in enumerate(cells) if _contents(cell) is not before[k]]
        for k in changed:
            cells[k].cell_contents = before[k]
    if changed:
        raise CaptureError("the body rebinds names of the surrounding function")
    if _known(*found) != _known(*again):
        raise CaptureError("an object created in the body outlives it")
    return found


def _known(body: Body, recorder: Recorder) -> set[int]:
    """The vectors and scalars that are also referenced outside of the body."""
    vectors = {id(vector) for vector, x in recorder.vectors.values() if x not in body.own}
    return vectors | {id(scalar) for scalar, x in recorder.scalars.values() if x.id not in body.unknown}


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None

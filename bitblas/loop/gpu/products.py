"""Products in the rounds of a GPU loop: advances along a frontier, and pulls by rows, in preallocated memory.

Operands are in the order of the kernels' arguments (kernels/advance_rows.cuh, b2sr/advance.cu).
compact_frontier.cu counts and lists the entries of a frontier, unless an advance finds them itself. Of a product with a
multivector the device chooses, by its count of entries, whether it runs over all rows of the result or along the rows
that have entries.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, DataType, lookup_dtype

from ... import tuning
from ...config import config
from ...device.cuda import grid_of
from ...device.jit import BLOCK
from ...formats import CSR, Structure, format_of
from ...formats.packing import PackedValues
from ...kernels.variant import Variant, value
from ...operations import plain_spmv
from ...operations.multivector import ALWAYS, Condition, always, kernels_of, plan_lines, prepare
from ...operations.operands import Input, Output, PreparedKernel, Values, dummy, entry_values, nothing, stored
from ...operations.variants import ATOMICS, CELLS, Algebra, Types, algebra_of, initial_sum, push_variant
from ...plan.direction import LoopFacts, loop_direction, multivector_push_limit, round_limits
from ...plan.format_choice import is_available
from ...plan.product import SUMS, VALUES, WORDS, any_order
from ...store import Raw, VectorStore
from .. import analysis
from ..buffers import Argument, Launch, map_kernels
from ..codegen.cuda_dialect import CudaKernel, macro
from ..fuse import Advance, CompactFrontier, Pull
from ..ir import IsoValues, MapProduct, Masked, MultivectorProduct, Product, Statement, Vec
from .column_rounds import may_advance

if TYPE_CHECKING:
    from ...device import Device
    from ...formats.contract import Layout
    from ...typing import Array
    from .build import Build


@dataclass(frozen=True)
class AdvanceKernel:
    """The advance of a format for a semiring (None for WORDS), and what is fixed when its kernel is compiled. a, u: the
    types of the matrix and of the frontier. also: the mask counts the frontier's entries as set. pulls: it may pull.
    scans: the entries of its vector have not been listed. counts_work: its result will be pushed along, so it sums
    up the work in it."""

    key: str
    types: Types
    semiring: Typed[Semiring] | None
    kind: int
    a: DataType
    u: DataType
    flip: bool = True
    lanes: int = 8
    ranked: bool = False
    packed: bool = False
    also: bool = False
    pulls: bool = False
    scans: bool = False
    counts_work: bool = True

    @property
    def any_product(self) -> bool:
        """Whether one product for each position suffices."""
        return self.kind == WORDS or (self.semiring is not None and self.semiring.op.monoid.name == "any")

    def variant(self, entry: tuple[CudaKernel, str] | None = None) -> Variant:
        """The kernel. entry: statements that run at entries."""
        what = self.key, self.types, self.semiring, self.kind, self.a, self.u, self.flip, self.ranked, self.packed
        plain = push_variant(Algebra(*what), self.lanes)
        _, _, monoid, z = algebra_of(self.semiring)
        kernel, at_entry = entry if entry is not None else (CudaKernel({}), macro("AT_ENTRY(i)", ["(void)(i);"]))
        parameters = macro("PARAMETERS", [f", {p.declaration}" for p in kernel.parameters])
        flags = ("ALSO", self.also), ("PULLS", self.pulls), ("SCANS", self.scans), ("COUNTS_WORK", self.counts_work)
        # The hardware atomic that accumulates products into a cell (kernels/advance.cuh).
        join = ATOMICS.get(monoid.name, 0) if has_atomic(z, monoid.name) else 0
        constants = *flags, ("JOIN", join), ("JOIN_FLOAT", join > 0 and z.kind == "f")
        return dataclasses.replace(
            plain,
            kernel=format_of(self.key).kernels["advance"].kernel,
            constants=(*plain.constants, *((name, int(x)) for name, x in constants)),
            values=(*plain.values, value("BEGIN", z, initial_sum(monoid, z))),
            functions=(*plain.functions, *kernel.functions),
            label=f"{plain.label}{' with statements' if kernel.functions or kernel.parameters else ''}",
            text=f"{parameters}\n{at_entry}\n",
        )


def has_atomic(x: DataType, monoid: str) -> bool:
    """Whether a hardware atomic can combine values of a type."""
    return x in CELLS and (x.kind != "f" or monoid == "min")


def compact_variant(
    per: int,
    lists: int,
    ptr: DataType,
    opens: Typed[Semiring] | None = None,
    *,
    full: bool = False,
    late: bool = False,
    line: int = 0,
) -> Variant:
    """The kernel that counts and lists the entries of a vector by units of `per` rows; by words (per 64) of a
    multivector with lines of `line` bits. opens: the semiring of a pull of
    these rows, of a `full` vector or not, whose result the kernel prepares. late: for the next round, if this one
    ran."""
    constants = {"PER": per, "LISTS": lists, "LANES": 1, "OPENS": 0 if opens is None else 1 + full}
    constants |= {"LATE": int(late), "LINE": line}
    plain = Variant("loop/gpu/compact_frontier", (("PTR", ptr),), tuple(constants.items()))
    if opens is None:
        return plain
    _, _, monoid, z = algebra_of(opens)
    more, begin = macro("PARAMETERS", [", Control control, u64* t_bits, C_T* t_val"]), initial_sum(monoid, z)
    types, values = (*plain.types, ("C", z)), (value("BEGIN", z, begin),)
    return dataclasses.replace(plain, types=types, values=values, text=f"{more}\n")


def can_pull_worklist(key: str, semiring: Typed[Semiring], kind: int) -> bool:
    """Whether a pull may process only the rows of a worklist: segments of long rows are combined in any order."""
    joined = kind == VALUES and semiring.op.monoid.name != "any" and any_order(semiring, kind)
    return joined and "mxv.pull.worklist" in format_of(key).kernels and semiring.return_type in CELLS


def can_pull(key: str, semiring: Typed[Semiring], kind: int) -> bool:
    """Whether finding one entry of the frontier is enough."""
    return kind == WORDS or (
        kind == VALUES and format_of(key).kernels["advance"].reads_values and semiring.op.monoid.name == "any"
    )


# ---- The matrix side of an advance: its format and values, and how the kernel for them is compiled.


@dataclass(frozen=True, eq=False)
class AdvanceMatrix:
    """The format that an advance traverses, the values of its product, and its kernel. segments: of its long rows.
    scans: whether the advance can find the entries of its vector itself, without a worklist: if it needs neither the
    number of their edges nor their long rows, and if its vector and its result have the same size."""

    layout: Layout
    segments: int
    values: Raw
    kernel: AdvanceKernel
    scans: bool

    @classmethod
    def of(cls, build: Build, item: Advance) -> AdvanceMatrix:
        """The matrix side of an advance of a program; the build notes a missing transpose."""
        product = item.product
        A, (layout, segments) = product.matrix, build.rows_of(product)
        kind, _ = analysis.product_kind(product, build.iso)
        values: Raw = A.raw_for(layout.key, not product.transpose) if kind == VALUES else np.bool_(True)
        pulls = can_pull(layout.key, product.semiring, kind)
        if pulls and not is_available(A.structure, transposed=product.transpose, valued=kind == VALUES and not A.iso):
            pulls = False
            build.missing_transposes[id(A.structure)] = A.structure
        ranked = layout.format.ranked and not isinstance(values, np.generic)
        # Lanes for a row or tile row, by its average number of entries or tiles.
        each = tuning.count("loop.lane_entries")
        lanes = next((lanes for lanes in (8, 16) if lanes * layout.units >= each * layout.work), 32)
        kernel = AdvanceKernel(
            layout.key,
            layout.format.view.types(layout, ranked),
            None if kind == WORDS else product.semiring,
            kind,
            *((A.dtype, product.u.dtype) if kind == VALUES else (BOOL, BOOL)),
            product.flip,
            tuning.count("loop.lanes_skewed") if segments else lanes,
            ranked,
            isinstance(values, PackedValues),
            item.also,
            pulls,
        )
        scans = layout.format.kernels["advance"].scans and not (pulls or segments or product.in_share)
        return cls(layout, segments, values, kernel, scans)

    def matrix(self, device: Device, longest: int) -> tuple[Argument, ...]:
        """The arguments for the matrix: its arrays, with rows of more than `longest` items in segments, and its
        values."""
        contents = launch_arguments(
            self.layout.format.kernels["advance"].pushed(self.layout, self.kernel.ranked, longest)
        )
        return *contents, *launch_arguments(entry_values(device, self.kernel.a, self.values))

    def back(self, device: Device, back: Layout | None, product: Product) -> tuple[Argument, ...]:
        """The matrix by rows of the result, for pulling; if it does not exist, the same arrays again, which are
        unused."""
        layout, advance = self.layout, self.layout.format.kernels["advance"]
        pulled = advance.pulled(layout if back is None else back, self.kernel.ranked, read=back is not None)
        arguments = launch_arguments(pulled)
        if not advance.reads_values:
            return arguments
        transposed = product.transpose if back is not None else not product.transpose
        values: Raw = product.matrix.raw_for(layout.key, transposed) if self.kernel.kind == VALUES else np.bool_(True)
        return *arguments, entry_values(device, self.kernel.a, values).array


# ---- Compact vectors into frontiers: count and list their entries for the advances of a round (compact_frontier.cu),
# unless an advance finds them itself.

ALL = np.uint64(np.iinfo(np.uint64).max)


def compaction(
    build: Build, vec: Vec, product: Product | None, state: int, most: np.uint64 = ALL, late: tuple[Argument, ...] = ()
) -> Launch:
    """The launch that counts the entries of a vector, and lists them if an advance needs that. most: with more work
    than this, no advance needs the list. late: the head of a launch of the round, if the list is for the next round."""
    frontier, device, longest = build.buffers[vec], build.device, 1
    bits, to = frontier.at(frontier.bits), build.number(state)
    if product is None:
        none = dummy(device, "uint32")
        args: tuple[Argument, ...] = bits, dummy(device, "int32"), none, to, none
        variant = compact_variant(1, 0, lookup_dtype(np.int32))
    else:
        layout, _ = build.rows_of(product)
        per, line = layout.rows_per_unit, 0
        if isinstance(product, MultivectorProduct):
            per, line = 64, 1
        else:
            longest = build.longest(layout)
        args = bits, layout.ptr, frontier.at(frontier.lists), to, frontier.at(frontier.segments)
        variant = compact_variant(per, 1, lookup_dtype(layout.ptr.dtype), late=bool(late), line=line)
    head = np.int64(vec.size), np.int64(vec.size), np.int64(longest), most
    return build.launcher(variant, build.grid(vec.size), (*head, *args, *late))


def worklist(build: Build, number: int, state: int, late: tuple[Argument, ...]) -> Launch | None:
    """The launch of item `number` of a round, which lists a vector's entries; None: the advances that need them find
    these themselves. late: as in `compaction`."""
    items = build.round.items
    item = items[number]
    assert isinstance(item, CompactFrontier)
    if isinstance(item.product, MultivectorProduct):
        return compaction(build, item.vec, item.product, state, late=late)
    vec, after = item.vec, items if item.late else items[number + 1 :]
    rest = itertools.takewhile(lambda x: not (isinstance(x, CompactFrontier) and x.vec == vec), after)
    along = [AdvanceMatrix.of(build, x) for x in rest if isinstance(x, Advance) and x.product.u == vec]
    rotates = bool(build.advances_of.get(vec))
    if not late and not rotates and all(a.scans for a in along):
        return None
    # With more work than that, all advances pull, and find the entries for their statements by the bits.
    pull = not rotates and all(a.kernel.pulls for a in along)
    most = max((limits(a.layout)[0] for a in along), default=ALL) if pull else ALL
    return compaction(build, vec, item.product, state, most, late)


def limits(layout: Layout, *, search: bool = False) -> tuple[np.uint64, np.uint64]:
    """The work of a frontier above which an advance pulls, and the work of all rows that a search has to do."""
    found = round_limits(layout, search=search)
    return np.uint64(found.items), np.uint64(found.left)


# ---- Products with a map.


def map_launches(build: Build, item: Pull, product: MapProduct) -> list[Launch]:
    """The launches of a product with a map: those of a single statement, whose tables are kept."""
    found, kernels = list[Launch](), map_kernels(product, build.buffers[product.u], build.buffers[item.target])
    for kernel in kernels:
        lanes, threads = kernel.variant.constant("LANES", 1), kernel.variant.constant("THREADS", BLOCK)
        args = launch_arguments((np.int64(kernel.n), *kernel.arguments))
        found.append(build.launcher(kernel.variant, -(-kernel.n * lanes // threads), args, threads))
    build.launched = ", ".join(str(kernel.variant) for kernel in kernels)
    return found


# ---- Product by rows (pull) inside a program: the kernels of single statements, with preallocated memory.


def keeps_rows(structure: Structure) -> bool:
    """Whether plain rows of a matrix exist, or may be built and kept in addition to the format that it is stored in."""
    may_build = structure.keeps(CSR) and (config.prefer != "memory" or structure.has(CSR))
    return structure.cached_as(CSR) == CSR and may_build


def may_hold_rows(structure: Structure) -> bool:
    """Whether a program may hold plain rows of a matrix for itself, whatever format the matrix is stored in."""
    return structure.nrows < 1 << 31 and (config.prefer != "memory" or structure.has(CSR))


def worklist_pull_format(device: Device, product: Product, mask: Masked | None, iso: IsoValues) -> str:
    """The key of the format whose rows a product traverses if its mask lists them; "" if there is none. CSR in addition
    to tiles, if the mask is the product's own frontier (independent sets, milliseconds: Delaunay mesh 0.49 by tiles,
    0.37; grid 1.12, 0.83)."""
    opens = mask is not None and mask.structure and not mask.complement
    if mask is None or not opens or isinstance(product, MultivectorProduct) or not device.is_simt:
        return ""
    primary, own = product.matrix.structure.primary, mask.vec == product.u
    key = CSR if own and not primary.format.by_rows and keeps_rows(product.matrix.structure) else primary.key
    return key if can_pull_worklist(key, product.semiring, analysis.product_kind(product, iso)[0]) else ""


def pulls_worklist(build: Build, item: Pull) -> bool:
    """Whether a product by rows traverses only the rows that its mask lists."""
    return worklist_pull_format(build.device, item.product, item.mask, build.iso) != ""


def may_push(device: Device, s: Statement, full: Set[Vec], iso: IsoValues) -> bool:
    """Whether rounds may push the product of a statement (plan/direction.py): as an advance, which takes sums in any
    order, by atomics. It needs a square matrix, so that its result can be the next frontier, or this rank's rows of
    one."""
    product = s.value
    assert isinstance(product, Product)
    if isinstance(product, MapProduct):
        return False
    if isinstance(product, MultivectorProduct):
        return product.u not in full and may_advance(product, iso)
    kind, _ = analysis.product_kind(product, iso)
    square = product.matrix.nrows == product.matrix.ncols or product.in_share
    swapped = kind == WORDS or product.semiring.return_type in CELLS
    own = s.mask is not None and s.mask.vec == product.u
    facts = LoopFacts(
        full=product.u in full,
        fixed_order="" if any_order(product.semiring, kind) else "sums are taken by rows",
        mask_is_frontier=own and worklist_pull_format(device, product, s.mask, iso) != "",
        cannot_push="" if square and swapped else "no kernel pushes such a product",
        push_ready=True,  # what is missing is built
        pull_ready=True,
    )
    return loop_direction(facts).push


def pulls_by_sums(build: Build, item: Pull) -> bool:
    """Whether a product is by a copy for sums, which is skipped after the last round."""
    if isinstance(item.product, MultivectorProduct) or pulls_worklist(build, item):
        return False
    return prepare_pull(build, item, "").plan.kernel == SUMS


def prepare_pull(build: Build, item: Pull, key: str) -> plain_spmv.PreparedProduct:
    """The product of a pull, prepared once. key: the format of listed rows."""
    product = item.product
    assert isinstance(product, Product)
    if (item, key) not in build.pulls:
        values, full = analysis.planned_operand(product, build.iso), product.u.id in build.full
        A, semiring, flip = product.matrix, product.semiring, product.flip
        case = plain_spmv.facts_of(A, values, semiring, transpose=product.transpose, flip=flip)
        plan = plain_spmv.choose_pull(A, case._replace(key=key or case.key), product.u.size, full=full)
        build.pulls[item, key] = plain_spmv.PreparedProduct(plan, A, product.u.dtype, semiring, flip)
    return build.pulls[item, key]


def pull_launches(build: Build, item: Pull, k: int) -> list[Launch]:
    """The launches of t<mask> = a product by rows, computed whole, in copy k of a round; -1: before the first round or
    after the last, where nothing is listed."""
    device, product, mask = build.device, item.product, item.mask
    u, t = build.buffers[product.u], build.buffers[item.target]
    if isinstance(product, MultivectorProduct):
        return [_multivector_launch(build, item, product, k, analysis.planned_operand(product, build.iso))]
    key = worklist_pull_format(device, product, mask, build.iso) if k >= 0 else ""
    prepared = prepare_pull(build, item, key)
    u_values: Values | None = prepared.u_values
    given = Input(u.at(u.bits), *(u_values or stored(device, product.u.dtype, u.stored_values())))
    if key:
        return [_worklist_pull_launch(build, item, k, prepared, given)]
    if prepared.misses_sums:
        build.missing_sums[id(product.matrix.structure)] = product.matrix.structure
    build.launched = str(prepared.plan)
    pull, allowed = prepared.pull(prepared.z, None, None, False, mask is not None), build.mask(mask)
    to = Output(t.at(t.bits), t.at(t.values) if pull.end.store else pull.nothing.array)
    if item not in build.pull_scratch:  # of all copies of a round
        build.pull_scratch[item] = pull.scratch()
    scratch = build.pull_scratch[item]
    if prepared.plan.kernel != SUMS:
        return [lambda: pull.launch(pull, given, allowed, pull.nothing, to, scratch)]
    when = (*build.once, np.int64(0)) if k < 0 else build.head(k)
    found, name = list[Launch](), build.launched
    for kernel, args in plain_spmv.sums_launches(pull, given, allowed, pull.nothing, to, scratch, when):
        blocks_of, threads = grid_of(device, kernel.variant)
        blocks = blocks_of(kernel.n, kernel.extra_blocks)
        arguments = launch_arguments((kernel.n, *kernel.arguments, *args))
        found.append(build.launcher(kernel.variant, blocks, arguments, threads))
    build.launched = name
    return found


def _worklist_pull_launch(
    build: Build, item: Pull, k: int, prepared: plain_spmv.PreparedProduct, given: Input
) -> Launch:
    """The product of the rows where a mask has entries, which are listed first: only these rows are read, and many
    warps share few rows."""
    assert item.mask is not None
    mask, t, layout, semiring = (
        build.buffers[item.mask.vec],
        build.buffers[item.target],
        prepared.layout,
        prepared.semiring,
    )
    state = build.number(build.compactions[k, build.round.items.index(item)])
    of, full = prepared.algebra, prepared.plan.full
    longest, n = np.int64(build.longest(layout)), np.int64(mask.vec.size)
    rows = build.scratch.array(max(1, layout.units), np.uint32)
    count = layout.format.kernels["advance"].segments(layout, int(longest))
    segments = build.scratch.array(max(1, 2 * count), np.uint32)
    to, head = (t.at(t.bits), t.at(t.values)), build.head(k)
    lists = build.launcher(
        compact_variant(1, 1, lookup_dtype(layout.ptr.dtype), semiring, full=full),
        build.grid(int(n)),
        (n, n, longest, ALL, mask.at(mask.bits), layout.ptr, rows, state, segments, *head, *to),
    )
    product = layout.key, of.types, semiring, VALUES, of.a, of.u
    advance = AdvanceKernel(*product, flip=of.flip, lanes=32, packed=of.packed).variant()
    constants = tuple({**dict(advance.constants), "U_FULL": int(full)}.items())
    kernel = format_of(layout.key).kernels["mxv.pull.worklist"]
    matrix = launch_arguments((layout.ptr, *prepared.matrix.contents, *prepared.matrix.values))
    pulls = build.launcher(
        dataclasses.replace(advance, kernel=kernel, constants=constants, text=""),
        build.grid(32 * int(n)),
        (n, longest, *head, rows, state, segments, *launch_arguments(given), *matrix, *to),
    )

    def launch() -> None:
        lists()
        pulls()

    return launch


def _multivector_launch(
    build: Build, item: Pull, product: MultivectorProduct, k: int, values: Array | np.generic
) -> Launch:
    """The launch of a product with a multivector in copy k of a round: over all rows of the result, or along the rows
    that have entries. The device chooses by the number of entries, if it has been counted."""
    device, u, t = build.device, build.buffers[product.u], build.buffers[item.target]
    x = VectorStore(device, product.u.size, product.u.dtype, u.at(u.bits), u.stored_values())
    of = analysis.lines_product(product, values)
    to = t.at(t.bits), t.at(t.values) if t.values else nothing(device, BOOL)
    where = None if item.mask is None else (build.mask(item.mask)[0], item.mask.complement)
    plan, condition = plan_lines(of, push=False), always(device)
    kernels: list[PreparedKernel] = []
    few = 0
    build.launched = str(plan)
    # Sums of values depend on the order.
    if k >= 0 and product.u == build.condition and build.remaining is not None and plan.kind == WORDS and of.may_push:
        # Changes by the round before this product are not counted: more entries make it slower, but not wrong.
        counted = build.number(*build.condition_at(k)).view(np.int64)
        few = multivector_push_limit(product.inner.number, device.kind)
        push, condition = prepare(plan_lines(of, push=True), of), Condition(counted, few, ALWAYS)
        kernels += kernels_of(push, x, where, to, Condition(counted, 0, few))
    kernels += kernels_of(prepare(plan, of), x, where, to, condition)

    def launch() -> None:
        if few:
            to[0].fill(0)
        for kernel in kernels:
            kernel.run()

    return launch


def launch_arguments(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Convert Python ints for a launch."""
    return tuple(np.int64(x) if isinstance(x, int) else x for x in arguments)

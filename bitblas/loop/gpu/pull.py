"""Products by rows (pull) inside a program, with vectors and multivectors, in preallocated memory.

Of a product with a multivector the device chooses, by its count of entries, whether it runs over all rows of the result
or along the rows that have entries.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL, lookup_dtype

from ...formats import CSR
from ...operations import plain_spmv
from ...operations.multivector import ALWAYS, Condition, always, kernels_of, plan_lines, prepare
from ...operations.operands import Allowed, Input, Output, PreparedKernel, Values, nothing, stored
from ...operations.variants import CELLS
from ...plan.direction import LoopFacts, loop_direction, multivector_push_limit
from ...plan.product import VALUES, WORDS, any_order
from ...store import VectorStore
from .. import analysis
from ..buffers import Argument, Frontier, Launch
from ..codegen.advance_variants import AdvanceKernel, Opens, can_pull_listed, compact_variant
from ..fuse import Pull
from ..ir import IsoValues, Masked, MultivectorProduct, Product, Statement, Vec
from .advance import ALL, launch_arguments

if TYPE_CHECKING:
    from ...device import Device
    from ...typing import Array
    from .build import Build

# ---- Product by rows (pull) inside a program: the kernels of single statements, with preallocated memory.


def listed_pull_format(device: Device, product: Product, mask: Masked | None, iso: IsoValues) -> str:
    """The key of the format whose rows a product traverses if its mask lists them; "" if there is none. CSR in addition
    to tiles, if the mask is the product's own frontier (independent sets, milliseconds: Delaunay mesh 0.49 by tiles,
    0.37; grid 1.12, 0.83)."""
    opens = mask is not None and mask.structure and not mask.complement
    if not opens or isinstance(product, MultivectorProduct) or not device.is_simt:
        return ""
    primary, own = product.matrix.structure.primary, mask is not None and mask.vec == product.u
    key = CSR if own and not primary.format.by_rows and not primary.compact else primary.key
    return key if can_pull_listed(key, product.semiring, analysis.product_kind(product, iso)[0]) else ""


def pulls_listed_rows(build: Build, item: Pull) -> bool:
    """Whether a product by rows traverses only the rows that its mask lists."""
    return listed_pull_format(build.device, item.product, item.mask, build.iso) != ""


def may_push(device: Device, s: Statement, full: Set[Vec], iso: IsoValues) -> bool:
    """Whether rounds may push the product of a statement (plan/direction.py): as an advance, which takes sums in any
    order, by atomics. It needs a square matrix, so that its result can be the next frontier, or this rank's rows of
    one."""
    product = s.value
    assert isinstance(product, Product)
    if isinstance(product, MultivectorProduct):
        return False
    kind, _ = analysis.product_kind(product, iso)
    square = product.matrix.nrows == product.matrix.ncols or product.in_share
    swapped = kind == WORDS or product.semiring.return_type in CELLS
    own = s.mask is not None and s.mask.vec == product.u
    facts = LoopFacts(
        full=product.u in full,
        fixed_order="" if any_order(product.semiring, kind) else "sums are taken by rows",
        mask_is_frontier=own and listed_pull_format(device, product, s.mask, iso) != "",
        cannot_push="" if square and swapped else "no kernel pushes such a product",
        push_ready=True,  # what is missing is built
        pull_ready=True,
    )
    return loop_direction(facts).push


@dataclass(frozen=True)
class LaunchPair:
    """Two launches, one after the other."""

    first: Launch
    second: Launch

    def __call__(self) -> None:
        self.first()
        self.second()


class PullLaunch:
    """t<mask> = the product of a frontier's vector, computed whole, into the buffers of t."""

    def __init__(
        self,
        device: Device,
        product: Product,
        values: Array | np.generic,
        u: Frontier,
        t: Frontier,
        *,
        masked: bool,
        full: bool,
        key: str = "",
    ) -> None:
        """key: the format to traverse; "": the one that a single statement would use."""
        self.device, self.u, self.t = device, u, t
        A, semiring, flip = product.matrix, product.semiring, product.flip
        case = plain_spmv.facts_of(A, values, semiring, transpose=product.transpose, flip=flip)
        case = case._replace(key=key or case.key)
        plan = plain_spmv.choose_pull(A, case, product.u.size, full=full)
        self.prepared = plain_spmv.PreparedProduct(plan, A, product.u.dtype, semiring, flip)
        self.pull = self.prepared.pull(self.prepared.z, None, None, False, masked)

    def bound(self, build: Build, item: Pull, k: int) -> Launch:
        """The launch of a round's item; k < 0: outside of the rounds, where nothing is listed."""
        if k >= 0 and item.mask is not None and pulls_listed_rows(build, item):
            state = build.number(build.activations[k, build.round.items.index(item)])
            return self.launch_some(build, build.buffers[item.mask.vec], state, build._head(k))
        build.launched = str(self.prepared.plan)
        return self.launch(build.mask(item.mask))

    def launch(self, mask: Allowed) -> Launch:
        """The product as a launch."""
        pull, u, t = self.pull, self.u, self.t
        given = Input(u.at(u.bits), *self._u_values)
        to = Output(t.at(t.bits), t.at(t.values) if pull.end.store else pull.nothing.array)
        scratch = pull.scratch()
        return lambda: pull.launch(pull, given, mask, pull.nothing, to, scratch)

    @property
    def _u_values(self) -> Values:
        found: Values | None = self.prepared.u_values
        u = self.u
        return found or stored(self.device, u.vec.dtype, u.stored_values())

    def launch_some(self, build: Build, mask: Frontier, state: Array, head: tuple[Argument, ...]) -> Launch:
        """The product of the rows where a mask has entries, which are listed first, as a launch: only these rows are
        read, and many warps share few rows. head: of a launch of the round."""
        prepared, u, t, layout = self.prepared, self.u, self.t, self.prepared.layout
        semiring, full = prepared.semiring, prepared.plan.full
        longest, n = np.int64(build.longest(layout)), np.int64(mask.vec.size)
        rows = build.scratch.array(max(1, layout.units), np.uint32)
        segments = build.scratch.array(
            max(1, 2 * layout.format.kernels["advance"].segments(layout, int(longest))), np.uint32
        )
        to = t.at(t.bits), t.at(t.values)
        opens = Opens.of(semiring, full=full)
        listed = build.launcher(
            compact_variant(1, 1, lookup_dtype(layout.ptr.dtype), opens),
            build.grid(int(n)),
            (n, n, longest, ALL, mask.at(mask.bits), layout.ptr, rows, state, segments, *head, *to),
        )
        made = prepared.algebra
        what = made.types, semiring, VALUES, made.a, made.u, made.flip
        variant = AdvanceKernel(layout.key, *what, packed=made.packed).pull_of_listed_rows(full)
        given = launch_arguments((u.at(u.bits), *self._u_values))
        matrix = launch_arguments((layout.ptr, *prepared.matrix.contents, *prepared.matrix.values))
        args = (n, longest, *head, rows, state, segments, *given, *matrix, *to)
        pulled = build.launcher(variant, build.grid(32 * int(n)), args)
        return LaunchPair(listed, pulled)


# ---- Product with a multivector inside a program: over all rows of the result, or along the rows that have entries.
# The device chooses, by its count of entries.


class MultivectorLaunch:
    """t<mask> = the product, computed whole, into the buffers of t; called, it launches. counted: the number of entries
    of u, if it is known on the device; None: the product runs over all rows of the result."""

    def __init__(
        self,
        device: Device,
        product: MultivectorProduct,
        values: Array | np.generic,
        u: Frontier,
        t: Frontier,
        mask: Masked | None,
        mask_bits: Array,
        counted: Array | None,
    ) -> None:
        x = VectorStore(device, product.u.size, product.u.dtype, u.at(u.bits), u.stored_values())
        of = analysis.lines_product(product, values)
        to = t.at(t.bits), t.at(t.values) if t.values else nothing(device, BOOL)
        where = None if mask is None else (mask_bits, mask.complement)
        self.plan, condition = plan_lines(of, push=False), always(device)
        self.kernels: list[PreparedKernel] = []
        self.clear = None
        if counted is not None and self.plan.kind == WORDS:  # sums of values depend on the order
            few = multivector_push_limit(product.inner.number, device.kind)
            push, condition = prepare(plan_lines(of, push=True), of), Condition(counted, few, ALWAYS)
            self.kernels += kernels_of(push, x, where, to, Condition(counted, 0, few))
            self.clear = to[0] if few else None
        self.kernels += kernels_of(prepare(self.plan, of), x, where, to, condition)

    def __call__(self) -> None:
        if self.clear is not None:
            self.clear.fill(0)
        for kernel in self.kernels:
            kernel.run()


def multivector_launch(
    build: Build, item: Pull, k: int, values: Array | np.generic, frontiers: tuple[Frontier, Frontier]
) -> Launch:
    """The launch of such a product in copy k of a round; -1: before the first one or after the last."""
    assert isinstance(item.product, MultivectorProduct)
    known = k >= 0 and item.product.u == build.condition and build.remaining is not None
    # Changes by the round before this product are not counted: more entries make it slower, but not wrong.
    counted = build.number(*build.condition_at(k)).view(np.int64) if known else None
    mask = build.mask(item.mask)[0]
    lines = MultivectorLaunch(build.device, item.product, values, *frontiers, item.mask, mask, counted)
    build.launched = str(lines.plan)
    return lines

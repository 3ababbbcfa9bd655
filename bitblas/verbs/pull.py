"""Pull kernels of a product, prepared with one epilogue: one launch for rows, one for segments of very long rows."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings.dtypes import BOOL, DataType, cast_scalar

from ..device import Device
from ..formats import EVERYWHERE
from ..kernels.prologue import Variant
from ..plan.ending import End
from ..plan.product import COUNT, VALUES, WORDS, staged_lanes
from ..store import BITS, NONE, VectorStore, words
from .operands import Allowed, Input, Old, Output, Rows, dummy, no_mask, stored
from .schedule import READ_EARLY, pull_blocks, unit_bounds
from .variants import hubs_variant, pull_variant

if TYPE_CHECKING:
    from .product import PreparedProduct


@functools.cache
def compiled(device: Device, variant: Variant) -> Any:
    return device.kernel(variant)


class PullKernels:
    """The kernels of a pull with one epilogue."""

    __slots__ = (
        "bounds",
        "device",
        "end",
        "extra",
        "head",
        "hubs",
        "join",
        "kernel",
        "longest",
        "nothing",
        "of",
        "one",
        "parts",
        "units",
        "value",
        "variants",
        "whole",
    )

    def __init__(self, of: PreparedProduct, end: End, w: DataType, masked: bool) -> None:
        device, plan, form = of.device, of.plan, of.form
        types, semiring, kind, a_type, options = of.algebra
        self.of, self.end, self.device = of, end, device
        staged = 0 if not of.staged else 2 if masked else 1  # as in pull.cu
        padded = not device.shares_rows or form.ncols % form.rows_per_unit != 0
        variants = functools.partial(
            pull_variant, form.key, types, semiring, kind, a_type, of.u_type, padded=padded, **options
        )
        width = form.format.fixed_width(form) if staged == 1 else 0
        lanes = plan.lanes if not staged else staged_lanes(plan.lanes, form.units) if staged == 1 else 1
        # Any entry will do, and all products are equal: a row ends at its first entry, whatever its length.
        of_any = kind == VALUES and semiring is not None and semiring.op.monoid.name == "any"
        first = of_any and options["full"] and device.shares_rows and form.rows_per_unit == 1
        lanes = 1 if first else lanes
        self.variants: tuple[Variant, ...] = (variants(end=end, lanes=lanes, staged=staged, width=width),)
        self.kernel = compiled(device, self.variants[0])
        self.value = end.z.np_type.type(of.value)
        self.one = cast_scalar(of.value, w)
        self.nothing = no_output(device, end.w)
        most = READ_EARLY if kind == WORDS else 0 if kind == COUNT and options["full"] else None
        self.units, self.bounds = form.units, unit_bounds(form, device, most=most)
        self.longest, self.extra, self.hubs = 1 << 62, 0, None
        self.head = self.units, self.longest, *of.arguments
        self.parts: Any = None
        self.join: Any = None
        self.whole = self.bounds is None and not device.shares_rows
        if first or not device.shares_rows:
            return
        per, presence = form.rows_per_unit, kind == WORDS and not end.store
        self.longest = form.format.longest(kind, lanes, staged=staged > 0)
        self.extra = pull_blocks(form.units, per, lanes)
        part = self.longest if presence else min(self.longest, form.format.segment())
        self.hubs = form.hubs(self.longest, part, form.format.share(kind))
        if self.hubs is not None and not presence:  # presence needs no sums of segments
            cut = variants(end=End(end.z, end.z), lanes=form.format.part_lanes), hubs_variant(semiring, kind, per, end)
            self.parts, self.join = (compiled(device, variant) for variant in cut)
            self.variants += cut

    def scratch(self) -> Output:
        """Scratch memory for the sums of segments; None if no rows are split, or no values are summed."""
        if self.hubs is None or self.join is None:
            return Output(None, None)
        size = self.hubs.segments * self.of.form.rows_per_unit
        return Output(self.of.bits(size), self.of.dense(size, self.end.z))

    def run(self, u: Input, mask: Allowed, old: Old, to: Output, scratch: Output | None = None) -> None:
        """Compute the product into the output. scratch: result of `scratch`, for callers that must not allocate now."""
        if self.whole:  # building unused arguments costs the host as much as the call
            self.kernel(*self.head, *u, *mask, self.value, *old, *to)
            return
        of, hubs = self.of, self.hubs
        tail = *u, *mask, self.value, *old, *to
        self.kernel(self.units, self.longest, *of.arguments, *tail, bounds=self.bounds, extra_blocks=self.extra)
        if hubs is None:
            return
        segments = of.matrix._replace(rows=Rows(hubs.begin, hubs.end, hubs.row_of, 1)).flat()
        if self.join is None:
            self.kernel(hubs.segments, self.longest, *segments, *tail)
            return
        # Process segments of open rows like rows of a vector of their own; then one block per long row combines them.
        device, per = self.device, of.form.rows_per_unit
        parts = scratch or self.scratch()
        rest = *u, *mask, self.value, *no_output(device, self.end.z), *parts
        extra = pull_blocks(hubs.segments, per, self.of.form.format.part_lanes)
        self.parts(hubs.segments, EVERYWHERE, *segments, *rest, extra_blocks=extra)
        self.join(len(hubs.rows) * per, hubs.rows, hubs.first, *parts, *mask, *old, *to)


class Reached:
    """t = the rows that have entries: the presence-only product with a full vector. Computed once per format."""

    __slots__ = ("copy", "of", "pull", "variants")

    def __init__(self, of: PreparedProduct) -> None:
        self.of, self.pull = of, PullKernels(of, End(BOOL, BOOL, store=False), of.z, False)
        self.copy, self.variants = compiled(of.device, BITS), (*self.pull.variants, BITS)

    def run(self, given: Input, mask: Allowed, u: VectorStore, free: VectorStore | None) -> VectorStore:
        """The product: a new store, or `free`, which is overwritten."""
        of, nothing = self.of, self.pull.nothing
        t: VectorStore | None = of.form.cache.get("reached")
        if t is None:
            bits = of.bits(of.size)
            self.pull.run(given, no_mask(of.device), nothing, Output(bits, nothing.array))
            t = of.form.cache["reached"] = VectorStore(of.device, of.size, BOOL, bits, np.True_)
        whole = mask.stride == 0
        w = free if free is not None and free.dtype is of.z else VectorStore(of.device, of.size, of.z, None, of.value)
        every = whole and of.device.host_memory and w.count == of.size == t.nvals  # w already has all entries
        if w.bits is None:
            w.bits = of.device.xp.empty(words(of.size), np.uint64)
        if whole and not every:
            w.bits[:] = t.bits
        elif not whole:
            self.copy(words(of.size), of.size, w.bits, t.bits, 1, NONE, *mask, 1)
        w.values, w.count, w.least = of.value, t.nvals if whole and of.device.host_memory else None, 0
        return w


@functools.cache
def no_output(device: Device, dtype: DataType) -> Old:
    """The old content of an output of which nothing is kept."""
    return Old(dummy(device, "uint64"), *stored(device, dtype, dtype.np_type.type(0)))

"""The kernels of a pull with one end of a statement: for the rows, and for segments of rows that are too long."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from semirings.dtypes import DataType, cast

from ..device import Device
from ..formats import EVERYWHERE, Hubs
from ..kernels.prologue import Variant
from ..plan.ending import End
from ..plan.product import WORDS, staged_lanes
from .operands import dummy, mask_arguments, stored
from .schedule import padding_blocks, unit_bounds
from .variants import hubs_variant, pull_variant

if TYPE_CHECKING:
    from .product import Product

PART_LANES = 32  # that share a segment of a long row, where rows are summed


@functools.cache
def compiled(device: Device, variant: Variant) -> Any:
    return device.kernel(variant)


class Pull:
    """The kernels of a pull with one end of a statement."""

    __slots__ = (
        "device",
        "end",
        "extra",
        "hubs",
        "join",
        "kernel",
        "longest",
        "nothing",
        "of",
        "one",
        "parts",
        "value",
    )

    def __init__(self, of: Product, end: End, w: DataType, masked: bool) -> None:
        device, plan, form = of.device, of.plan, of.form
        types, semiring, kind, a_type, options = of.algebra
        self.of, self.end, self.device = of, end, device
        staged = of.staged and not masked
        padded = not device.is_gpu or form.ncols % form.rows_per_unit != 0
        variants = functools.partial(
            pull_variant, plan.key, types, semiring, kind, a_type, of.u_type, padded=padded, **options
        )
        width = form.format.fixed_width(form) if staged else 0
        lanes = staged_lanes(plan.lanes, form.units) if staged else plan.lanes
        self.kernel = compiled(device, variants(end=end, lanes=lanes, staged=staged, width=width))
        self.value = end.z.np_type.type(of.value)
        self.one = cast(of.value, w)
        self.nothing = no_output(device, end.w)
        self.longest, self.extra, self.hubs = 1 << 62, 0, None
        self.parts: Any = None
        self.join: Any = None
        if not device.is_gpu:
            return
        per, presence = form.rows_per_unit, kind == WORDS and not end.store
        self.longest = form.format.longest(kind, lanes, staged=staged)
        self.extra = padding_blocks(form.units, per, lanes)
        part = self.longest if presence else min(self.longest, form.format.segment())
        self.hubs = form.hubs(self.longest, part, form.format.share(kind))
        if self.hubs is not None and not presence:  # presence alone needs no sums of segments
            self.parts = compiled(device, variants(end=End(end.z, end.z), lanes=PART_LANES))
            self.join = compiled(device, hubs_variant(semiring, kind, per, end))

    def scratch(self) -> tuple[Any, Any] | None:
        """Bits and values for the sums of segments; None where no rows are cut."""
        if self.hubs is None or self.join is None:
            return None
        size = self.hubs.segments * self.of.form.rows_per_unit
        return self.of.bits(size), self.of.dense(size, self.end.z)

    def run(
        self, operands: tuple[Any, ...], old: tuple[Any, ...], t_bits: Any, t_val: Any, scratch: Any = None
    ) -> None:
        """The product into t; old: bits, values, iso value and step of w, whether it moves, whether it is replaced.
        scratch: what `scratch` gave, for those who must not take memory now."""
        form, hubs = self.of.form, self.hubs
        tail = (self.value, *old, t_bits, t_val)
        bounds = unit_bounds(form, self.device, early=self.of.plan.kind == WORDS)
        self.kernel(form.units, self.longest, *operands, *tail, bounds=bounds, extra_blocks=self.extra)
        if hubs is None:
            return
        segments = (hubs.begin, hubs.end, hubs.row_of, 1)
        if self.join is None:
            self.kernel(hubs.segments, self.longest, *segments, *operands[4:], *tail)
        else:
            self._join(hubs, segments, operands, tail, scratch or self.scratch())

    def _join(
        self, hubs: Hubs, segments: tuple[Any, ...], operands: tuple[Any, ...], tail: tuple[Any, ...], scratch: Any
    ) -> None:
        """Segments as rows of a vector of their own, then one block per long row joins them."""
        device, per, z = self.device, self.of.form.rows_per_unit, self.end.z
        n = hubs.segments
        part_bits, part_val = scratch
        extra = padding_blocks(n, per, PART_LANES)
        bare = (*mask_arguments(device, None), self.value, *no_output(device, z), part_bits, part_val)
        self.parts(n, EVERYWHERE, *segments, *operands[4:-3], *bare, extra_blocks=extra)
        self.join(len(hubs.rows) * per, hubs.rows, hubs.first, part_bits, part_val, *operands[-3:], *tail[1:])


@functools.cache
def no_output(device: Device, dtype: DataType) -> tuple[Any, ...]:
    """Bits, values, iso value and step of an output of which nothing stays; it is not moved, nor replaced."""
    return dummy(device, "uint64"), *stored(device, dtype, dtype.np_type.type(0)), 0, 0

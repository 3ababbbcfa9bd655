"""A product by rows inside a program: the kernels of single statements, with memory that was taken before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ..device import Device
from ..plan import WORDS, plan_mxv
from ..store import VectorStore, dense_values, words
from ..verbs.operands import dummy, mask_arguments, stored
from ..verbs.product import Product as Planned
from ..verbs.variants import hubs_variant
from .buffers import Frontier
from .ir import Product


class PullLaunch:
    """t<mask> = the product of a frontier's vector, all of it, into the buffers of t."""

    def __init__(self, device: Device, product: Product, values: Any, u: Frontier, t: Frontier) -> None:
        self.device, self.u, self.t = device, u, t
        like = VectorStore(device, product.u.size, product.u.dtype, u.at(u.bits), values, None)
        like.count = product.u.size // 2 + 1  # neither sparse nor full: the plan must hold for any entries
        plan, value = plan_mxv(product.matrix, like, product.semiring, transpose=product.transpose, flip=product.flip)
        self.planned = Planned(plan, value, product.matrix, like, product.semiring, product.flip)

    def launch(self, mask: tuple[Any, Any, Any]) -> Callable[[], None]:
        planned, device, form = self.planned, self.device, self.planned.form
        u, t, words_only = self.u, self.t, self.planned.plan.kind == WORDS
        u_values = planned.u_values or stored(device, self.u.vec.dtype, u.at(u.values) if u.values else u.iso)
        bits = t.at(t.bits)
        values = dummy(device, "uint64") if words_only or not t.values else t.at(t.values)
        operands = (*planned.head, u.at(u.bits), *u_values, *mask)
        run: list[Callable[[], None]] = [
            lambda: clear(device, bits),
            lambda: clear(device, values) if t.vec.dtype is BOOL else None,
            lambda: planned.kernel(form.units, planned.longest, *operands, planned.value, bits, values),
        ]
        hubs = planned.hubs
        if hubs is not None:
            per = form.rows_per_unit
            size = hubs.segments * per
            part_bits = device.xp.zeros(words(size), np.uint64)
            part_values = dense_values(device, size, planned.z) if not words_only else dummy(device, "uint64")
            parts = (hubs.begin, hubs.end, hubs.row_of, 1, *operands[4:-3], *mask_arguments(device, None))
            join = device.kernel(hubs_variant(planned.variant, per))
            run += [
                lambda: clear(device, part_bits),
                lambda: planned.kernel(hubs.segments, planned.longest, *parts, planned.value, part_bits, part_values),
                lambda: join(
                    len(hubs.rows) * per, hubs.rows, hubs.first, part_bits, part_values, *mask, bits, values
                ),
            ]  # fmt: skip

        def launch() -> None:
            for step in run:
                step()

        return launch


def clear(device: Device, array: Any) -> None:
    """Zero an array; a plain memset, which a conditional graph may hold."""
    if hasattr(array, "data") and hasattr(array.data, "memset_async"):
        array.data.memset_async(0, array.nbytes)
    else:
        array.fill(0)


__all__ = ["PullLaunch", "clear"]

"""A product by rows inside a program: the kernels of single statements, with memory that was taken before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..plan.product import plan_mxv
from ..store import VectorStore
from ..verbs.operands import stored
from ..verbs.product import Product as Planned
from .buffers import Frontier
from .ir import Product


class PullLaunch:
    """t<mask> = the product of a frontier's vector, all of it, into the buffers of t."""

    def __init__(self, device: Any, product: Product, values: Any, u: Frontier, t: Frontier, masked: bool) -> None:
        self.device, self.u, self.t = device, u, t
        like = VectorStore(device, product.u.size, product.u.dtype, u.at(u.bits), values, None)
        like.count = product.u.size // 2 + 1  # neither sparse nor full: the plan must hold for any entries
        plan, value = plan_mxv(product.matrix, like, product.semiring, transpose=product.transpose, flip=product.flip)
        self.planned = Planned(plan, value, product.matrix, like, product.semiring, product.flip, full=False)
        self.pull = self.planned.pull(self.planned.z, None, None, False, masked)

    def launch(self, mask: tuple[np.ndarray, np.int64, np.uint64]) -> Callable[[], None]:
        """The product as a launch; mask: its words, step and flip."""
        planned, pull, u, t = self.planned, self.pull, self.u, self.t
        u_values = planned.u_values or stored(self.device, u.vec.dtype, u.at(u.values) if u.values else u.iso)
        operands = (*planned.head, u.at(u.bits), *u_values, *mask)
        bits, values = t.at(t.bits), t.at(t.values) if pull.end.store else pull.nothing[1]
        scratch = pull.scratch()
        return lambda: pull.run(operands, pull.nothing, bits, values, scratch)

"""A product by rows inside a program: the kernels of single statements, with memory that was taken before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...plan.direction import Known, pulled
from ...plan.product import VALUES
from ...verbs import deciding
from ...verbs.operands import Allowed, Input, Output, stored
from ...verbs.product import PreparedProduct
from ..buffers import Frontier
from ..recorded.ir import Product


class PullLaunch:
    """t<mask> = the product of a frontier's vector, all of it, into the buffers of t."""

    def __init__(
        self, device: Any, product: Product, values: Any, u: Frontier, t: Frontier, *, masked: bool, full: bool
    ) -> None:
        self.device, self.u, self.t = device, u, t
        A, semiring, flip = product.matrix, product.semiring, product.flip
        case = deciding.case(A, values, semiring, transpose=product.transpose, flip=flip)
        plan = deciding.planned(A, pulled(case), case, Known(product.u.size))
        full = full and plan.kind == VALUES
        self.prepared = PreparedProduct(plan, case.product, A, product.u.dtype, semiring, flip, full=full)
        self.pull = self.prepared.pull(self.prepared.z, None, None, False, masked)

    def launch(self, mask: Allowed) -> Callable[[], None]:
        """The product as a launch."""
        prepared, pull, u, t = self.prepared, self.pull, self.u, self.t
        u_values = prepared.u_values or stored(self.device, u.vec.dtype, u.at(u.values) if u.values else u.iso)
        given = Input(u.at(u.bits), *u_values)
        to = Output(t.at(t.bits), t.at(t.values) if pull.end.store else pull.nothing.array)
        scratch = pull.scratch()
        return lambda: pull.run(given, mask, pull.nothing, to, scratch)

"""Product by rows (pull) inside a program: the kernels of single statements, with preallocated memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semirings.dtypes import lookup_dtype

from ...formats import CSR
from ...plan.direction import Known, pulled
from ...plan.product import VALUES
from ...verbs import deciding
from ...verbs.operands import Allowed, Input, Output, Values, stored
from ...verbs.product import PreparedProduct
from ..buffers import Frontier
from ..fused import layout
from ..fused.fuse import Pull
from ..fused.steps import Opens, activate_variant, is_opened, some_variant
from ..recorded.ir import LineProduct, Masked, Product, Statement
from .activate import ALL
from .operands import launchable


def listed_form(device: Any, product: Product, mask: Masked | None, iso: Any) -> str:
    """The key of the format whose rows a product traverses if its mask lists them; "" if there is none. CSR in addition
    to tiles, if the mask is the product's own frontier (independent sets, milliseconds: Delaunay mesh 0.49 by tiles,
    0.37; grid 1.12, 0.83)."""
    opens = mask is not None and mask.structure and not mask.complement
    if not opens or isinstance(product, LineProduct) or not device.shares_rows:
        return ""
    primary, own = product.matrix.structure.primary, mask is not None and mask.vec == product.u
    key = CSR if own and not primary.format.by_rows and not primary.compact else primary.key
    return key if is_opened(key, product.semiring, layout.kind(product, iso)[0]) else ""


def is_listed(build: Any, item: Pull) -> bool:
    """Whether a product by rows traverses only the rows that its mask lists."""
    return listed_form(build.device, item.product, item.mask, build.iso) != ""


def goes_by_rows(device: Any, s: Statement, iso: Any) -> bool:
    """Whether a product that could push pulls the rows of its mask instead: if these are the rows of its own frontier,
    which are as many as it would push along, and need no atomics."""
    assert isinstance(s.value, Product)
    own = s.mask is not None and s.mask.vec == s.value.u
    return own and listed_form(device, s.value, s.mask, iso) != ""


class PullLaunch:
    """t<mask> = the product of a frontier's vector, computed whole, into the buffers of t."""

    def __init__(
        self, device: Any, product: Product, values: Any, u: Frontier, t: Frontier, *, masked: bool, full: bool,
        key: str = "",
    ) -> None:  # fmt: skip
        """key: the format to traverse; "": the one that a single statement would use."""
        self.device, self.u, self.t = device, u, t
        A, semiring, flip = product.matrix, product.semiring, product.flip
        case = deciding.case(A, values, semiring, transpose=product.transpose, flip=flip)
        case = case._replace(key=key or case.key)
        plan = deciding.planned(A, pulled(case), case, Known(product.u.size))
        full = full and plan.kind == VALUES
        self.prepared = PreparedProduct(plan, case.product, A, product.u.dtype, semiring, flip, full=full)
        self.pull = self.prepared.pull(self.prepared.z, None, None, False, masked)

    def bound(self, build: Any, item: Pull, k: int) -> Callable[[], None]:
        """The launch of a round's item; k < 0: outside of the rounds, where nothing is listed."""
        if k >= 0 and item.mask is not None and is_listed(build, item):
            state = build.number(build.activations[k, build.round.items.index(item)])
            return self.launch_some(build, build.buffers[item.mask.vec], state, build._head(k))
        build.launched = str(self.prepared.plan)
        return self.launch(build.mask(item.mask))

    def launch(self, mask: Allowed) -> Callable[[], None]:
        """The product as a launch."""
        pull, u, t = self.pull, self.u, self.t
        given = Input(u.at(u.bits), *self._u_values)
        to = Output(t.at(t.bits), t.at(t.values) if pull.end.store else pull.nothing.array)
        scratch = pull.scratch()
        return lambda: pull.run(given, mask, pull.nothing, to, scratch)

    @property
    def _u_values(self) -> Values:
        found: Values | None = self.prepared.u_values
        u = self.u
        return found or stored(self.device, u.vec.dtype, u.at(u.values) if u.values else u.iso)

    def launch_some(self, build: Any, mask: Frontier, state: Any, head: tuple[Any, ...]) -> Callable[[], None]:
        """The product of the rows where a mask has entries, which are listed first, as a launch: only these rows are
        read, and many warps share few rows. head: of a launch of the round."""
        prepared, u, t, form = self.prepared, self.u, self.t, self.prepared.form
        types, _, _, a_type, how = prepared.algebra
        semiring = prepared.semiring
        longest, n = np.int64(build.longest(form)), np.int64(mask.vec.size)
        rows = build.scratch.array(max(1, form.units), np.uint32)
        segments = build.scratch.array(max(1, 2 * form.segments(int(longest))), np.uint32)
        to = t.at(t.bits), t.at(t.values)
        opens = Opens.of(semiring, full=how["full"])
        listed = build.launcher(
            activate_variant(1, 1, lookup_dtype(form.ptr.dtype), opens), build.grid(int(n)),
            (n, n, longest, ALL, mask.at(mask.bits), form.ptr, rows, state, segments, *head, *to),
        )  # fmt: skip
        variant = some_variant(
            form.key, types, semiring, a_type, prepared.u_type, flip=how["flip"], full=how["full"], packed=how["packed"]
        )
        given = launchable((u.at(u.bits), *self._u_values))
        matrix = launchable((form.ptr, *prepared.matrix.contents, *prepared.matrix.values))
        args = (n, longest, *head, rows, state, segments, *given, *matrix, *to)
        pulled = build.launcher(variant, build.grid(32 * int(n)), args)

        def both() -> None:
            listed()
            pulled()

        return both


__all__ = ["PullLaunch", "is_listed"]

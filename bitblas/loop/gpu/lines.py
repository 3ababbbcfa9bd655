"""Product with a multivector inside a program: over all rows of the result, or along the rows that have entries. The
device chooses, by its count of entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ...plan.narrow import ALPHA
from ...plan.product import WORDS
from ...store import VectorStore
from ...verbs.narrow_product import Narrow
from ...verbs.narrow_sums import ALWAYS, Asked, Call, always
from ...verbs.operands import nothing
from ..buffers import Frontier
from ..recorded.ir import LineProduct, Masked


class LineLaunch:
    """t<mask> = the product, computed whole, into the buffers of t. counted: the number of entries of u, if it is
    known on the device; None: the product runs over all rows of the result."""

    def __init__(
        self, device: Any, product: LineProduct, values: Any, u: Frontier, t: Frontier, mask: Masked | None,
        mask_bits: Any, counted: Any,
    ) -> None:  # fmt: skip
        x = VectorStore(device, product.u.size, product.u.dtype, u.at(u.bits), u.at(u.values) if u.values else u.iso)
        pull = Narrow(
            product.matrix, product.transpose, product.u.dtype, values, product.inner, product.lines,
            product.semiring, flip=product.flip,
        )  # fmt: skip
        bits, sums = t.at(t.bits), t.at(t.values) if t.values else nothing(device, BOOL)
        where = None if mask is None else (mask_bits, mask.complement)
        self.plan, ask = pull.plan, always(device)
        calls: list[Call] = []
        if counted is not None and pull.kind == WORDS:  # sums of values depend on the order
            few = product.inner.number // ALPHA[device.kind]
            push, ask = pull.along(), Asked(counted, few, ALWAYS)
            calls += push.calls(x, where, bits, sums, Asked(counted, 0, few))
        calls += pull.calls(x, where, bits, sums, ask)
        self.clear = bits if len(calls) > 1 and ask.least else None
        self.device, self.calls = device, calls

    def launch(self) -> Callable[[], None]:
        """The product as a launch."""

        def run() -> None:
            if self.clear is not None:
                self.clear.fill(0)
            for call in self.calls:
                call.run(self.device)

        return run


def along_lines(build: Any, item: Any, k: int, values: Any, frontiers: tuple[Frontier, Frontier]) -> Callable[[], None]:
    """The launch of such a product in copy k of a round; -1: before the first one or after the last."""
    known = k >= 0 and item.product.u == build.condition and build.remaining is not None
    # Changes by the round before this product are not counted: more entries make it slower, but not wrong.
    counted = build.number(*build.condition_at(k)).view(np.int64) if known else None
    mask = build.mask(item.mask)[0]
    lines = LineLaunch(build.device, item.product, values, *frontiers, item.mask, mask, counted)
    build.launched = str(lines.plan)
    return lines.launch()

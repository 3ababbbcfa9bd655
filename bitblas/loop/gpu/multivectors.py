"""Advances of multivectors in the rounds of a GPU loop: a round costs the words that have entries, not all rows.

A frontier lists the 64-bit words of its bitmap that have entries (formats/bitmap/advance.cu). Each advance lists those of
the next one, and the element-wise kernels that do nothing elsewhere follow the list too (elementwise.cu).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL

from ... import tuning
from ...formats.csr.layout import Rows
from ...formats.schedule import hubs_of
from ...kernels.variant import Variant
from ...operations.multivector import walks_lines, words_of
from ...operations.operands import dummy
from ...plan.direction import multivector_round_limit
from ...plan.product import WORDS, power_of_two
from .. import analysis
from ..buffers import BUFFERS, Argument, Launch
from ..fuse import Advance
from ..ir import IsoValues, MultivectorProduct

if TYPE_CHECKING:
    from ...device import Device
    from .build import Build


def may_advance(product: MultivectorProduct, iso: IsoValues) -> bool:
    """Whether an advance computes a product: presence only, by a square matrix whose rows are read as they are stored.
    Lists have word numbers of 32 bits."""
    values = analysis.planned_operand(product, iso)
    if product.inner != product.lines or product.lines.words >= 1 << 32:
        return False
    if walks_lines(analysis.lines_product(product, values).key):
        return False
    return analysis.product_kind(product, iso)[0] == WORDS


def segmented(device: Device, rows: Rows, longest: int) -> tuple[Argument, ...]:
    """Rows, and the segments of those with more than `longest` entries, as kernel arguments."""
    hubs = hubs_of(rows, longest)
    if hubs is None:
        return rows.ptr, rows.col, np.int64(rows.width), rows.ptr, rows.ptr, dummy(device, "int64"), np.int64(0)
    return rows.ptr, rows.col, np.int64(rows.width), hubs.begin, hubs.end, hubs.row_of, np.int64(hubs.segments)


def multivector_advance(
    build: Build, item: Advance, product: MultivectorProduct, k: int, compacted: int | None, first: int
) -> Launch:
    """The launch of an advance in copy k of a round. compacted: the state of the worklist of its operand, if another
    launch makes it. first: the first state of the target's buffers."""
    device, lines, structure = build.device, product.lines, product.matrix.structure
    u, t = build.buffers[product.u], build.buffers[item.target]
    u_state = compacted
    if u_state is None:
        assert product.u == item.target
        u_state = first + 1
    push, pull = (structure.rows(transposed=product.transpose != pushed) for pushed in (True, False))
    length = pull.nvals / max(1, pull.nrows)
    lanes = power_of_two(length / tuning.value("multivector.entries_per_lane"), 1, 32)
    bits, longest, per_line = min(64, lines.stride), tuning.count("multivector.segment"), words_of(lines)
    variant = Variant(
        "formats/bitmap/advance",
        (*push.format.view.types(push, False), ("Z", BOOL)),
        (("BITS", bits), ("LANES", lanes), ("KIND", WORDS), ("PACKED", int(push.format.packed))),
    )
    last = np.uint64((1 << (lines.width - 64 * (per_line - 1))) - 1)
    read = u.at(u.bits), u.at(u.lists), build.number(u_state)
    written = t.at(t.bits, 1), t.at(t.lists, 1), build.number(first + 2)
    cleared = t.at(t.bits, 2), t.at(t.lists, 2), build.number(first)
    args = (
        np.int64(lines.words),
        np.int64(lines.number),
        np.int64(per_line),
        last,
        np.int64(longest),
        np.uint64(multivector_round_limit(push.nvals, per_line)),
        *build.head(k),
        *read,
        *written,
        *cleared,
        *build.mask(item.mask),
        *segmented(device, push, longest),
        *segmented(device, pull, longest),
    )
    t.current = (t.current + 1) % BUFFERS
    return build.launcher(variant, build.grid(max(lanes * lines.number * per_line, lines.words)), args)

"""Advances: the format, values and operands of a frontier's product, and the compaction of frontiers.

Operands are in the order of the kernels' arguments (kernels/step_rows.cuh, b2sr/advance.cu). activate.cu counts and
lists the entries of a frontier, unless an advance finds them itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, DataType, lookup_dtype

from ...formats.packing import PackedValues
from ...operations.operands import dummy, entry_values
from ...plan.auxiliary_formats import is_available
from ...plan.direction import round_limits
from ...plan.product import VALUES, WORDS
from ...store import Raw
from .. import analysis
from ..buffers import Argument, Launch
from ..codegen.advance_variants import AdvanceKernel, advance_lanes, can_pull, compact_variant
from ..fuse import Activate, Step
from ..ir import Product, Vec

if TYPE_CHECKING:
    from ...device import Device
    from ...formats.contract import Layout
    from ...typing import Array
    from .build import Build

# ---- Operands of an advance, in the order of its kernels' arguments: kernels/step_rows.cuh, b2sr/advance.cu.


class Head(NamedTuple):
    """The amount of work, the limits above which an advance pulls, and whether the round runs."""

    units: np.int64
    size: np.int64  # of the result
    longest: np.int64
    most_work: np.uint64
    most_entries: np.uint64
    condition: Array
    rounds: Array
    ahead: np.int64


class Source(NamedTuple):
    """The frontier that is read."""

    bits: Array
    array: Array
    iso: np.generic
    stride: int
    units: Array  # the list of those with entries
    state: Array
    segments: Array


class Target(NamedTuple):
    """The frontier that is written."""

    bits: Array
    array: Array
    units: Array
    state: Array
    segments: Array


class Cleared(NamedTuple):
    """The frontier that is cleared, for the next advance to write."""

    bits: Array
    array: Array
    units: Array
    state: Array


def launch_arguments(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Convert Python ints for a launch."""
    return tuple(np.int64(x) if isinstance(x, int) else x for x in arguments)


# ---- The matrix side of an advance: its format and values, and how the kernel for them is compiled.


@dataclass(frozen=True, eq=False)
class AdvanceMatrix:
    """The format that an advance traverses, with the types and values of its product."""

    layout: Layout
    segments: int  # of its long rows
    kind: int
    semiring: Typed[Semiring] | None
    values: Raw
    ranked: bool
    a_type: DataType
    u_type: DataType
    pulls: bool
    in_share: bool  # whether its vector has other positions than the result

    @classmethod
    def of(cls, build: Build, item: Step) -> AdvanceMatrix:
        """The matrix side of an advance of a program; the build notes a missing transpose."""
        product = item.product
        A, (layout, segments) = product.matrix, build.rows_of(product)
        kind, _ = analysis.product_kind(product, build.iso)
        values: Raw = A.raw_for(layout.key, not product.transpose) if kind == VALUES else np.bool_(True)
        pulls = can_pull(layout.key, product.semiring, kind)
        if pulls and not is_available(A.structure, transposed=product.transpose, valued=kind == VALUES and not A.iso):
            pulls = False
            build.missing_transposes[id(A.structure)] = A.structure
        return cls(
            layout,
            segments,
            kind,
            None if kind == WORDS else product.semiring,
            values,
            layout.format.ranked and not isinstance(values, np.generic),
            A.dtype if kind == VALUES else BOOL,
            product.u.dtype if kind == VALUES else BOOL,
            pulls,
            product.in_share,
        )

    @property
    def lanes(self) -> int:
        return advance_lanes(self.layout.work, self.layout.units, skewed=self.segments > 0)

    @property
    def scans(self) -> bool:
        """Whether the advance can find the entries of its vector itself, without a worklist: if it needs neither the
        number of their edges nor their long rows, and if its vector and its result have the same size."""
        scans = self.layout.format.kernels["advance"].scans
        return scans and not self.pulls and not self.segments and not self.in_share

    def kernel(self, item: Step, *, scans: bool = False, weighs: bool = True) -> AdvanceKernel:
        """The kernel of the advance."""
        return AdvanceKernel(
            self.layout.key,
            self.layout.format.view.types(self.layout, self.ranked),
            self.semiring,
            self.kind,
            self.a_type,
            self.u_type,
            item.product.flip,
            self.lanes,
            self.ranked,
            isinstance(self.values, PackedValues),
            item.also,
            self.pulls,
            scans,
            weighs,
        )

    def matrix(self, device: Device, longest: int) -> tuple[Argument, ...]:
        """The arguments for the matrix: its arrays, with rows of more than `longest` items in segments, and its
        values."""
        contents = launch_arguments(self.layout.format.kernels["advance"].pushed(self.layout, self.ranked, longest))
        return *contents, *launch_arguments(entry_values(device, self.a_type, self.values))

    def back(self, device: Device, back: Layout | None, product: Product) -> tuple[Argument, ...]:
        """The matrix by rows of the result, for pulling; if it does not exist, the same arrays again, which are
        unused."""
        layout, advance = self.layout, self.layout.format.kernels["advance"]
        pulled = advance.pulled(layout if back is None else back, self.ranked, read=back is not None)
        arguments = launch_arguments(pulled)
        if not advance.reads_values:
            return arguments
        transposed = product.transpose if back is not None else not product.transpose
        values: Raw = product.matrix.raw_for(layout.key, transposed) if self.kind == VALUES else np.bool_(True)
        return *arguments, entry_values(device, self.a_type, values).array


# ---- Compact vectors into frontiers: count and list their entries for the advances of a round (activate.cu), unless
# an advance finds them itself.

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
        longest = build.longest(layout)
        args = bits, layout.ptr, frontier.at(frontier.lists), to, frontier.at(frontier.segments)
        variant = compact_variant(layout.rows_per_unit, 1, lookup_dtype(layout.ptr.dtype), late=bool(late))
    head = np.int64(vec.size), np.int64(vec.size), np.int64(longest), most
    return build.launcher(variant, build.grid(vec.size), (*head, *args, *late))


def finds_own_entries(build: Build, number: int, vec: Vec) -> bool:
    """Whether the advances for which item `number` of a round lists a vector's entries find these themselves."""
    return not build.advances_of.get(vec) and all(AdvanceMatrix.of(build, x).scans for x in _steps(build, number, vec))


def most_work(build: Build, number: int) -> np.uint64:
    """The work in the entries listed by item `number` of a round beyond which no advance needs the list: all of them
    then pull, and find the entries for their statements by the bits."""
    item = build.round.items[number]
    assert isinstance(item, Activate)
    vec = item.vec
    along = [AdvanceMatrix.of(build, x) for x in _steps(build, number, vec)]
    if build.advances_of.get(vec) or not all(a.pulls for a in along):
        return ALL
    return max((limits(a.layout)[0] for a in along), default=ALL)


def limits(layout: Layout, *, masked: bool = False, back: Layout | None = None) -> tuple[np.uint64, np.uint64]:
    """The work, and the entries, of a frontier above which an advance pulls. back: the layout by rows of the result,
    whose arguments have been made."""
    tries_likely = back is not None and back.format.kernels["advance"].tries_hub_columns(back)
    found = round_limits(layout, masked=masked, tries_likely=tries_likely)
    return np.uint64(found.items), np.uint64(found.entries)


def _steps(build: Build, number: int, vec: Vec) -> list[Step]:
    """The advances for which item `number` of a round lists a vector's entries; those of the next round if it is
    late."""
    items = build.round.items
    item = items[number]
    after = items if isinstance(item, Activate) and item.late else items[number + 1 :]
    rest = itertools.takewhile(lambda x: not (isinstance(x, Activate) and x.vec == vec), after)
    return [x for x in rest if isinstance(x, Step) and x.product.u == vec]

"""Compact vectors into frontiers: count and list their entries for the advances of a round (activate.cu), unless an
advance finds them itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from semirings.dtypes import lookup_dtype

from ...verbs.operands import dummy
from ..fused.fuse import Activate, Step
from ..fused.steps import activate_variant
from ..recorded.ir import Product, Vec
from .along import Along

ALL = np.uint64(np.iinfo(np.uint64).max)


def activation(
    build: Any, vec: Vec, product: Product | None, state: int, most: np.uint64 = ALL, late: tuple[Any, ...] = ()
) -> Callable[[], None]:  # fmt: skip
    """The launch that counts the entries of a vector, and lists them if an advance needs that. most: with more work
    than this, no advance needs the list. late: the head of a launch of the round, if the list is for the next round."""
    frontier, device, longest = build.buffers[vec], build.device, 1
    bits, to = frontier.at(frontier.bits), build.number(state)
    if product is None:
        none = dummy(device, "uint32")
        args: tuple[Any, ...] = bits, dummy(device, "int32"), none, to, none
        variant = activate_variant(1, 0, lookup_dtype(np.int32))
    else:
        form, _ = build.rows_of(product)
        longest = build.longest(form)
        args = bits, form.ptr, frontier.at(frontier.lists), to, frontier.at(frontier.segments)
        variant = activate_variant(form.rows_per_unit, 1, lookup_dtype(form.ptr.dtype), late=bool(late))
    head = np.int64(vec.size), np.int64(vec.size), np.int64(longest), most
    launch: Callable[[], None] = build.launcher(variant, build.grid(vec.size), (*head, *args, *late))
    return launch


def is_scanned(build: Any, number: int, vec: Vec) -> bool:
    """Whether the advances for which item `number` of a round lists a vector's entries find these themselves."""
    return not build.steps_of.get(vec) and all(Along.of(build, x).scans for x in _steps(build, number, vec))


def most_work(build: Any, number: int) -> np.uint64:
    """The work in the entries listed by item `number` of a round beyond which no advance needs the list: all of them
    then pull, and find the entries for their statements by the bits."""
    vec = build.round.items[number].vec
    along = [Along.of(build, x) for x in _steps(build, number, vec)]
    if build.steps_of.get(vec) or not all(a.pulls for a in along):
        return ALL
    return max((threshold(a.form) for a in along), default=ALL)


def threshold(form: Any) -> np.uint64:
    """The work in a frontier beyond which an advance pulls."""
    return np.uint64(form.format.pull_threshold(form))


def _steps(build: Any, number: int, vec: Vec) -> list[Step]:
    """The advances for which item `number` of a round lists a vector's entries; those of the next round if it is
    late."""
    items = build.round.items
    after = items if items[number].late else items[number + 1 :]
    rest = itertools.takewhile(lambda x: not (isinstance(x, Activate) and x.vec == vec), after)
    return [x for x in rest if isinstance(x, Step) and x.product.u == vec]

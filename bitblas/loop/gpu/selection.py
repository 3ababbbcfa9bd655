"""Greedy selection by fixed priorities, as in independent sets: the whole loop in one launch, in any order.

In a round of such a body, waiting vertices whose priority exceeds those of all waiting neighbours are selected; they
and their neighbours stop waiting. If neighbours have different priorities and the graph is undirected, a vertex is
selected if and only if no neighbour of better priority is, so vertices may be decided in any order with the same
result. A body is recognized by its effect (effects.py).

The launch precedes the rounds of the body, which then find nothing to do; if it finds neighbours of the same priority,
it changes nothing, and they do all of the work.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL, lookup_dtype

from ... import tuning
from ...formats.schedule import longest_unit
from ...kernels.variant import Variant
from ..buffers import Launch
from ..ir import NO_LIMIT, Body, MultivectorProduct, Product, Scal, Statement, Vec
from .effects import BETTER, VALUES_AT, Place, Unknown, only_written, plain_statements
from .products import may_hold_rows

if TYPE_CHECKING:
    from ...typing import Array
    from .build import Build


@dataclass(frozen=True)
class Selection:
    """waiting: the undecided vertices, with their priorities. members: the selected ones. best: the product that finds
    the best priority of the waiting neighbours. gone: the product that finds the neighbours of selected vertices."""

    waiting: Vec
    members: Vec
    best: Product
    gone: Product

    @property
    def least(self) -> bool:
        """Whether lower priorities are better."""
        return self.best.semiring.op.monoid.name == "min"


def selection(body: Body, condition: Vec | Scal) -> Selection | str:
    """Recognize what a body selects, or return why it is not recognized."""
    try:
        return _selection(body, condition)
    except Unknown as unknown:
        return str(unknown)


def _selection(body: Body, condition: Vec | Scal) -> Selection:
    if not isinstance(condition, Vec) or condition.dtype.kind not in "iu":
        raise Unknown("the loop condition is not a vector of integers")
    statements = plain_statements(body)
    products = [s.value for s in statements if isinstance(s.value, Product)]
    ranked = [p for p in products if p.semiring.op.monoid.name in BETTER]
    others = [p for p in products if p.semiring.op.binaryop.name in ("pair", "oneb")]
    if len(products) != 2 or len(ranked) != 1 or len(others) != 1 or products[0] is not ranked[0]:
        raise Unknown("the body has not two products, of the best priority and of neighbours")
    (best,), (gone,) = ranked, others
    if isinstance(best, MultivectorProduct) or best.matrix.structure is not gone.matrix.structure:
        raise Unknown("the products are of different matrices")
    if best.semiring.op.binaryop.name != ("first" if best.flip else "second"):
        raise Unknown(f"{best.semiring} does not take the priority of the neighbour")
    members = only_written(body, statements, condition)
    if members.dtype is not BOOL or not condition.size == members.size == best.outer:
        raise Unknown("types or sizes differ")
    if not best.u.dtype == best.semiring.return_type == condition.dtype:
        raise Unknown("priorities change their type")
    found = Selection(condition, members, best, gone)
    _try_all(statements, found)
    return found


def _try_all(statements: Sequence[Statement], found: Selection) -> None:
    """Raise Unknown if a round does anything other than selecting at a position."""
    better, arrives = BETTER[found.best.semiring.op.monoid.name], (None, *VALUES_AT)
    for own, chosen, best, gone in itertools.product(arrives, (None, True), arrives, (None, True)):
        place = Place({found.waiting: own, found.members: chosen}, {}, {found.best: best, found.gone: gone})
        for s in statements:
            place.statement(s)
        selects = own is not None and (best is None or not better(best, own))
        stays = own is not None and not selects and gone is None
        if place.pushed[found.best] != own or (place.pushed[found.gone] is not None) is not selects:
            raise Unknown("the values that go along edges are not those of waiting and of selected vertices")
        if place.held[found.waiting] != (own if stays else None):
            raise Unknown("a round does not only select vertices and their neighbours")
        if place.held[found.members] != (True if selects else chosen):
            raise Unknown("a round does not only select vertices and their neighbours")


def select_at_once(build: Build, found: Selection | str) -> SelectionLaunch | str:
    """The launch that selects all vertices of a body, or why there is none."""
    if isinstance(found, str):
        return found
    structure = found.best.matrix.structure
    if not may_hold_rows(structure):
        return "the matrix may not be stored as plain rows"
    if not structure.symmetric:
        return "the matrix is not symmetric"
    if structure.nvals > tuning.value("selection.degree") * structure.nrows:
        return f"too many entries a row ({structure.nvals / structure.nrows:.1f})"
    if build.iso.get(found.members.id) != np.True_ or found.waiting.id in build.iso:
        return "selected vertices have values, or all priorities are equal"
    if build.buffers[found.waiting].rotates or build.buffers[found.members].rotates:
        return "a product writes the waiting or the selected vertices"
    return SelectionLaunch(build, found)


class SelectionLaunch:
    """The launch, and its memory. cleared: arrays, and what fills them before it."""

    text = "evaluated in any order, in one launch before the rounds: vertices are selected by fixed priorities"

    def __init__(self, build: Build, found: Selection) -> None:
        device, n = build.device, found.waiting.size
        rows = found.best.matrix.structure.plain_rows()
        ptr, col = rows.ptr, rows.col
        types = (
            ("PTR", lookup_dtype(ptr.dtype)),
            ("COL", lookup_dtype(col.dtype)),
            ("P", found.waiting.dtype),
        )
        threads, resident = tuning.count("selection.threads"), tuning.count("selection.blocks")
        constants = {"THREADS": threads, "RESIDENT": resident, "MEETS": 1, "LEAST": int(found.least)}
        constants["SHORT"] = short = tuning.count("selection.short_row")
        constants["HUBS"] = int(longest_unit(rows) > short)
        self.variant = Variant("loop/gpu/select_by_priority", types, tuple(constants.items()))
        key, passed = (build.scratch.array(max(1, n), np.uint32) for _ in range(2))
        numbers: Array = device.xp.zeros(5, np.uint64)
        self.cleared = [(numbers, np.uint64(0))]
        waiting, members = build.buffers[found.waiting], build.buffers[found.members]
        grid = device.multiprocessors * resident
        undecided = build.scratch.array(max(-(-n // 32), grid * threads // 32), np.uint32)
        size, unlimited = np.int64(n), np.int64(NO_LIMIT)
        graph = ptr, col, waiting.values[0], key, passed
        state = waiting.bits[0], members.bits[0], undecided, build.rounds, unlimited, numbers
        self.launch: Launch = build.launcher(self.variant, grid, (size, size, *graph, *state), threads)

    def __call__(self) -> None:
        self.launch()

"""Relaxation loops, d min= q min.+ A for the vertices q at which d has improved: the whole loop in one launch.

Such a loop has one result, its fixpoint, in whatever order edges are relaxed. A body is recognized by its effect
(effects.py). The launch (formats/csr/relaxation.cu) precedes the rounds of the body, which then find nothing to do;
where it does not apply, they do all of the work.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL

from ... import tuning
from ...formats.contract import CSR
from ...formats.packing import PackedValues
from ...operations.operands import entry_values
from ...operations.variants import initial_sum
from ...plan.product import VALUES
from ..buffers import Launch
from ..ir import NO_LIMIT, Body, Product, Scal, Statement, Vec
from .effects import BETTER, SCALARS, VALUES_AT, Place, Sample, Unknown, only_written, plain_statements
from .products import AdvanceKernel, has_atomic, launch_arguments, may_hold_rows

if TYPE_CHECKING:
    from ...device.base import Device
    from ...formats.contract import Layout
    from ...store import Raw
    from ...typing import Array
    from .build import Build

# Multiplications that are monotone in their first operand: a better operand gives no worse product.
MONOTONE = ("plus", "min", "max", "first", "second")


@dataclass(frozen=True)
class Relaxation:
    """best: the vector that reaches the fixpoint. waiting: the active vertices, where `best` has improved, with the
    same values (`held`) or as truth values."""

    best: Vec
    waiting: Vec
    product: Product

    @property
    def held(self) -> bool:
        return self.waiting.dtype is not BOOL


def relaxation(body: Body, condition: Vec | Scal, full: frozenset[Vec] = frozenset()) -> Relaxation | str:
    """Recognize what a body relaxes, or return why it is not recognized. full: vectors with an entry everywhere."""
    try:
        return _relaxation(body, condition, full)
    except Unknown as unknown:
        return str(unknown)


def _relaxation(body: Body, condition: Vec | Scal, full: frozenset[Vec]) -> Relaxation:
    if not isinstance(condition, Vec):
        raise Unknown("the loop condition is a scalar")
    statements = plain_statements(body)
    products = [s.value for s in statements if isinstance(s.value, Product)]
    if len(products) != 1:
        raise Unknown(f"the body has {len(products)} products")
    (product,) = products
    semiring = product.semiring.op
    if semiring.monoid.name not in BETTER or semiring.binaryop.name not in MONOTONE:
        raise Unknown(f"{product.semiring} is not min or max with a monotone operator, which keeps the order")
    dtype, z = product.u.dtype, product.semiring.return_type
    best = only_written(body, statements, condition)
    if not best.dtype == dtype == z or best.size != condition.size or condition.dtype not in (BOOL, dtype):
        raise Unknown("types or sizes differ")
    found = Relaxation(best, condition, product)
    _try_all(statements, found, BETTER[semiring.monoid.name], _places(best in full))
    return found


def _try_all(
    statements: Sequence[Statement],
    relaxed: Relaxation,
    better: Callable[[float, float], bool],
    places: Sequence[tuple[Sample, bool, Sample]],
) -> None:
    """Raise Unknown if a round does anything other than relaxing at a position."""
    scalars = sorted({x.id for s in statements if isinstance(s.target, Vec) for x in s.terms if isinstance(x, Scal)})
    if len(scalars) > tuning.count("loop.relaxation_scalars"):
        raise Unknown(f"{len(scalars)} scalars are read")
    d, q = relaxed.best, relaxed.waiting
    truth = q.dtype is BOOL
    for known in itertools.product(SCALARS, repeat=len(scalars)):
        for was, waits, found in places:
            held = {d: was, q: (True if truth else was) if waits else None}
            place = Place(held, dict(zip(scalars, known)), {relaxed.product: found})
            for s in statements:
                place.statement(s)
            pushed = place.pushed[relaxed.product]
            if pushed not in (None, was) or (pushed is not None and not waits):
                raise Unknown("the values pushed along edges are not those of the active vertices")
            gains = found is not None and (was is None or better(found, was))
            now = found if gains else was
            still = waits and pushed is None
            then = (True if truth else now) if gains or still else None
            if place.held[d] != now or place.held[q] != then:
                raise Unknown("a round does not only relax edges")


def _places(full: bool) -> list[tuple[Sample, bool, Sample]]:
    """All cases at a position: its value, whether it is active, and the value that arrives along edges."""
    values = (None, *VALUES_AT)
    cases = itertools.product(VALUES_AT if full else values, (False, True), values)
    return [(was, waits, found) for was, waits, found in cases if was is not None or not waits]


SAMPLES = 1 << 12  # number of sampled values


def window(device: Device, product: Product, values: Raw, nvals: int) -> float | None:
    """How far the limit of the values within which edges are relaxed moves at a time, from a sample of the weights;
    None: no limit, because products do not grow along a path."""
    if product.semiring.op.monoid.name != "min" or product.semiring.op.binaryop.name != "plus" or not nvals:
        return None
    if not isinstance(values, np.generic):
        places = device.xp.arange(min(SAMPLES, nvals), dtype=np.int64) * nvals // min(SAMPLES, nvals)
        values = values.taken(places).plain() if isinstance(values, PackedValues) else values[places]
        values = device.to_host(values)
    mean = float(np.abs(np.asarray(values, np.float64)).mean())
    width = tuning.value("relaxation.window") * mean * product.matrix.nrows / nvals
    return width if 0 < width < 2**61 else None


def relax_at_once(build: Build, found: Relaxation | str) -> RelaxationLaunch | str:
    """The launch that relaxes all edges of a body, or why there is none."""
    if isinstance(found, str):
        return found
    product, dtype = found.product, found.best.dtype
    if found.best.id in build.iso or found.held is (found.waiting.id in build.iso):
        return "values are iso, or active vertices are stored as an array of truth values"
    if not has_atomic(dtype, product.semiring.op.monoid.name):
        return f"{product.semiring} has no hardware atomic"
    A = product.matrix
    if A.nrows != A.ncols or not may_hold_rows(A.structure):
        return "the matrix is not square, or may not be stored as plain rows"
    if A.nrows < tuning.count("relaxation.vertices"):
        return f"too few vertices ({A.nrows})"
    rows = A.structure.plain_rows(transposed=not product.transpose)
    if rows.format.kernels["advance"].segments(rows, build.longest(rows)):
        return "some rows are long"
    return RelaxationLaunch(build, found, rows)


class RelaxationLaunch:
    """The launch, and its memory. cleared: arrays, and what fills them before it."""

    text = "evaluated in any order, in one launch before the rounds: edges are relaxed until nothing changes"

    def __init__(self, build: Build, found: Relaxation, rows: Layout) -> None:
        device, xp, product, n = build.device, build.device.xp, found.product, found.best.size
        A, dtype = product.matrix, found.best.dtype
        values = A.raw_for(CSR, not product.transpose)
        advance = AdvanceKernel(
            *(CSR, rows.format.view.types(rows, False), product.semiring, VALUES, A.dtype, dtype),
            flip=product.flip,
            packed=isinstance(values, PackedValues),
            counts_work=False,
        ).variant()
        width = window(device, product, values, rows.nvals)
        width = width if width is None or dtype.kind == "f" else int(width) + 1
        threads, resident = tuning.count("relaxation.threads"), tuning.count("relaxation.blocks")
        constants = {**dict(advance.constants), "THREADS": threads, "RESIDENT": resident, "MEETS": 1}
        item, pointer = dtype.np_type.itemsize, rows.ptr.dtype.itemsize
        queue = tuning.count("relaxation.queue_bytes") // (20 + 3 * item + 2 * pointer)
        constants |= {"QUEUE": queue, "TURNS": tuning.count("relaxation.turns")}
        constants["EDGES"] = tuning.count("relaxation.edges")
        constants |= {"WINDOW": int(width is not None), "HELD": int(found.held)}
        constants["FULL"] = int(found.best.id in build.full)
        self.variant = dataclasses.replace(
            advance, kernel="formats/csr/relaxation", constants=tuple(constants.items()), text=""
        )
        capacity = max(1, int(tuning.value("relaxation.listed") * n))
        lists = build.scratch.array(4 * capacity, np.uint32), build.scratch.array(4 * capacity, dtype.np_type)
        room = np.uint64(capacity), np.uint64(tuning.count("relaxation.near"))
        self.numbers: Array = xp.zeros(11, np.uint64)
        d, q = build.buffers[found.best], build.buffers[found.waiting]
        self.least: Array = xp.zeros(3, d.values[0].dtype)
        begin = dtype.np_type.type(initial_sum(product.semiring.op.monoid, dtype))
        self.cleared = [(self.numbers, np.uint64(0)), (self.least, begin)]
        relaxed = d.bits[0], d.values[0], q.bits[0], q.values[0] if found.held else d.values[0]
        pushed = rows.format.kernels["advance"].pushed(rows, False, build.longest(rows))
        matrix = launch_arguments((*pushed, *entry_values(device, A.dtype, values)))
        size, around = np.int64(n), (build.rounds, np.int64(NO_LIMIT), build.outermost)
        args = (
            size,
            size,
            *lists,
            *room,
            self.numbers,
            self.least,
            *relaxed,
            dtype.np_type.type(width or 0),
            *around,
            *matrix,
        )
        grid = min(device.multiprocessors * resident, max(1, -(-n // threads)))
        self.launch: Launch = build.launcher(self.variant, grid, args, threads)

    def __call__(self) -> None:
        self.launch()

"""Facts for the plan of mxv and vxm: read from the operands, counted only if the decision needs the number."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import lookup_dtype

from ..device import Device
from ..formats import CSR, Form, longest_unit
from ..kernels.prologue import Variant
from ..plan.beside import is_repaid, may_lie_beside
from ..plan.direction import PULLED, Ask, Case, Direction, Known, case_of, direction, plan_mxv
from ..plan.product import WORDS, Plan
from ..plan.transpose import at_hand
from ..store import MatrixStore, Raw, VectorStore, words

# Monoids that end a row early; lor at the first true value, since most values of a Boolean object are true
ENDS = ("any", "lor")


def case(A: MatrixStore, u: Raw, semiring: Typed[Semiring], *, transpose: bool, flip: bool) -> Case:
    """The case of A (+).(x) u, of the transpose if `transpose`; u: the vector's values, np.generic if iso."""
    form = A.structure.primary
    made = case_of(semiring, form.key, A.raw, u, transpose=transpose, flip=flip, device=A.device)
    nvals = A.structure.nvals
    made = made._replace(few=nvals <= PULLED[A.device.kind])
    if may_lie_beside(form) and not made.valued:
        if A.structure.has(CSR, transposed=made.push_of):
            made = made._replace(beside=nvals / max(1, form.work))
    ends = made.kind == WORDS or semiring.op.monoid.name in ENDS  # whether a pull may stop at the first hit of a row
    together = form.format.rows_per_unit
    if together > 1:  # at the first hit of the last of several rows
        ends = made.kind == WORDS and form.format.ends_units
    if not ends or A.device.shares_rows:
        return made
    last = sum(1 / k for k in range(1, together + 1))  # mean number of hits of one row until each row has one
    return made._replace(early=nvals / max(1, A.ncols if transpose else A.nrows) / last)


class Ways:
    """A case, and the prepared products of it: pushed or not, with a full vector or not. lasting: decisions by number
    of vector entries, if that alone decides."""

    __slots__ = ("case", "lasting", "products")

    def __init__(self, of: Case) -> None:
        self.case = of
        self.lasting: dict[int | None, Any] = {}
        self.products: dict[tuple[bool, bool], Any] = {}


def decide(A: MatrixStore, u: VectorStore, of: Case) -> tuple[Direction, Case, Known]:
    """Push or pull, with the case and the facts about the vector that were needed. Builds no format."""
    known = Known(u.size, u.least, u.count)
    while isinstance(found := direction(of, known), Ask):
        form = A.structure.held(of.push_key, transposed=of.push_of)
        if found is Ask.NVALS:
            known = known._replace(nvals=u.nvals)
        elif found is Ask.BACK:
            of = of._replace(back=at_hand(A.structure, transposed=True, valued=of.valued))
        elif form is None:
            # A matrix whose format was requested for its size gets no second format for pushes.
            made = not A.structure.primary.compact
            of = of._replace(rows=at_hand(A.structure, transposed=of.push_of, valued=of.valued, made=made))
        elif found is Ask.ROWS:
            of = of._replace(rows=True, work=form.work, longest=longest_unit(form))
        else:
            known = known._replace(active=active_entries(u, form))
    return found, of, known


def lie_beside(A: MatrixStore, plan: Plan, entries: float) -> None:
    """Count entries that are pushed along tiles: auxiliary CSR rows are built once that is amortized."""
    A.structure.pushed += entries
    if is_repaid(A.structure):
        A.structure.form(CSR, transposed=plan.transposed)
        A.prepared.clear()


def explained(A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool) -> Plan:
    """The plan that `mxv` would use now."""
    return planned(A, *decide(A, u, case(A, u.values, semiring, transpose=transpose, flip=flip)))


def planned(A: MatrixStore, found: Direction, of: Case, known: Known) -> Plan:
    """The plan of a case with a known direction."""
    kind, push = of.kind, found.push
    transposed = of.push_of if push else of.pull_of
    primary, nrows = A.structure.primary, A.ncols if transposed else A.nrows
    lanes = primary.format.lanes(primary, nrows, kind, push=push) if A.device.shares_rows else 1
    return plan_mxv(of, known, found, lanes)


def active_entries(u: VectorStore, form: Form) -> int:
    """Number of entries (tiles) in the rows (tile rows) of a format where u has entries."""
    device = u.device
    found: int | None = form.format.active(form, u.present)
    if found is not None:
        return found
    total, ptr = device.xp.zeros(1, np.uint64), form.ptr
    _weigh(device, ptr.dtype.char, form.rows_per_unit)(words(u.size), u.present, ptr, total)
    return int(device.to_host(total)[0])


@functools.cache
def _weigh(device: Device, pointer: str, rows: int) -> Any:
    return device.kernel(Variant("kernels/weigh", (("PTR", lookup_dtype(pointer)),), (("ROWS", rows), ("LANES", 1))))

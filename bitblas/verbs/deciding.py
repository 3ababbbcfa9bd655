"""Facts for the plan of mxv and vxm: read off the operands, and counted where the decision asks for them."""

from __future__ import annotations

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import lookup_dtype

from ..formats import Form
from ..kernels.prologue import Variant
from ..plan.direction import Ask, Case, Direction, Seen, case_of, direction, plan_mxv
from ..plan.product import Plan, choose_lanes, longest_row
from ..store import MatrixStore, Raw, VectorStore, words


def case(A: MatrixStore, u: Raw, semiring: Typed[Semiring], *, transpose: bool, flip: bool) -> Case:
    """The case of A (+).(x) u, of the transpose where `transpose`; u: the vector's values, np.generic where iso."""
    key = A.structure.primary.key
    return case_of(semiring, key, A.raw, u, transpose=transpose, flip=flip, gpu=A.device.is_gpu)


def decide(A: MatrixStore, u: VectorStore, of: Case) -> tuple[Direction, Seen]:
    """Push or pull, and what was looked at to say so. Makes no form."""
    seen = Seen(u.size, u.least, u.count)
    while isinstance(found := direction(of, seen), Ask):
        seen = _rows(A, of, seen) if found is Ask.ROWS else _counted(A, u, of, seen, found)
    return found, seen


def _rows(A: MatrixStore, of: Case, seen: Seen) -> Seen:
    structure = A.structure
    if not structure.has(of.key, transposed=not of.pull_of):
        return seen._replace(rows=not structure.primary.compact)
    form = structure.form(of.key, transposed=not of.pull_of)
    return Seen(seen.size, seen.least, seen.nvals, True, form.work, form.cache.get("longest"))


def _counted(A: MatrixStore, u: VectorStore, of: Case, seen: Seen, what: Ask) -> Seen:
    if what is Ask.NVALS:
        return seen._replace(nvals=u.nvals)
    form = A.structure.form(of.key, transposed=of.push_of)
    return (
        seen._replace(longest=longest_row(form))
        if what is Ask.LONGEST
        else seen._replace(active=active_entries(u, form))
    )


def explained(A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool) -> Plan:
    """The plan by which `mxv` would run now."""
    of = case(A, u.values, semiring, transpose=transpose, flip=flip)
    return planned(A, of, *decide(A, u, of))


def planned(A: MatrixStore, of: Case, found: Direction, seen: Seen) -> Plan:
    """The plan of a case for which a direction was found."""
    key, kind, push = of.key, of.kind, found.push
    transposed = of.push_of if push else of.pull_of
    gpu = A.device.is_gpu
    lanes = choose_lanes(key, A.nvals, A.ncols if transposed else A.nrows, kind, A.structure, push) if gpu else 1
    return plan_mxv(of, seen, found, lanes)


def active_entries(u: VectorStore, form: Form) -> int:
    """The entries (tiles) of the rows (tile rows) of a form where u has entries."""
    per, device = form.rows_per_unit, u.device
    if device.is_gpu:
        total = device.xp.zeros(1, np.uint64)
        variant = Variant("kernels/weigh", (("PTR", lookup_dtype(form.ptr.dtype)),), (("ROWS", per), ("LANES", 1)))
        device.kernel(variant)(words(u.size), u.present, form.ptr, total)
        return int(device.to_host(total)[0])
    if per < 8:
        units = np.flatnonzero(np.unpackbits(u.present.view(np.uint8), bitorder="little")) // per
    else:
        units = np.flatnonzero(u.present.view(f"uint{per}"))
    return int((form.ptr[units + 1] - form.ptr[units]).sum())

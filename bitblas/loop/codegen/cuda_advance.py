"""Kernel variants of advances, the products of frontiers (kernels/step_rows.cuh, b2sr/advance.cu), and their cost."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from semirings import Monoid, Semiring, Typed
from semirings.dtypes import DataType

from ... import tuning
from ...formats import format_of
from ...kernels.variant import Variant, value
from ...operations.variants import ATOMICS, CELLS, algebra_of, initial_sum, push_variant
from ...plan.product import VALUES, WORDS, any_order
from .cuda_statements import CudaText, macro


def advance_variant(
    key: str,
    types: tuple[tuple[str, DataType], ...],
    semiring: Typed[Semiring] | None,
    kind: int,
    a: DataType,
    u: DataType,
    *,
    flip: bool,
    ranked: bool,
    also: bool,
    pulls: bool,
    lanes: int,
    entry: tuple[CudaText, str] | None = None,
    packed: bool = False,
    scans: bool = False,
    weighs: bool = True,
) -> Variant:
    """The advance of a format for a semiring (None for WORDS). entry: statements that run at entries. scans: the
    entries of its vector have not been listed. weighs: its result will be pushed along, so it sums up the work in
    it."""
    plain = push_variant(key, types, semiring, kind, a, u, flip=flip, ranked=ranked, lanes=lanes, packed=packed)
    _, _, monoid, z = algebra_of(semiring)
    text, at_entry = entry if entry is not None else (CudaText({}), macro("AT_ENTRY(i)", ["(void)(i);"]))
    parameters = macro("PARAMETERS", [f", {p.declaration}" for p in text.parameters])
    return dataclasses.replace(
        plain,
        kernel=format_of(key).kernel("step"),
        constants=(
            *plain.constants,
            ("ALSO", int(also)),
            ("PULLS", int(pulls)),
            ("SCANS", int(scans)),
            ("WEIGHS", int(weighs)),
            *_join(monoid, z),
        ),
        values=(*plain.values, value("BEGIN", z, initial_sum(monoid, z))),
        functions=(*plain.functions, *text.functions),
        label=f"{plain.label}{' with statements' if text.functions or text.parameters else ''}",
        text=f"{parameters}\n{at_entry}\n",
    )


def _join(monoid: Monoid, z: DataType) -> tuple[tuple[str, int], ...]:
    """The hardware atomic that accumulates products into a cell (kernels/step.cuh)."""
    by = ATOMICS.get(monoid.name, 0) if z in CELLS and (z.kind != "f" or monoid.name == "min") else 0
    return ("JOIN", by), ("JOIN_FLOAT", int(by > 0 and z.kind == "f"))


def compact_variant(per: int, lists: int, ptr: DataType, opens: Opens | None = None, *, late: bool = False) -> Variant:
    """The kernel that counts and lists the entries of a vector by units of `per` rows. opens: the vector is the mask of
    a pull of these rows. late: for the next round, if this one ran."""
    constants = (
        ("PER", per),
        ("LISTS", lists),
        ("LANES", 1),
        ("OPENS", 0 if opens is None else 1 + opens.full),
        ("LATE", int(late)),
    )
    plain = Variant("loop/gpu/activate", (("PTR", ptr),), constants)
    if opens is None:
        return plain
    more = macro("PARAMETERS", [", const u64* condition, const i64* rounds, i64 ahead, u64* t_bits, C_T* t_val"])
    types = (*plain.types, ("C", opens.cell))
    return dataclasses.replace(plain, types=types, values=(opens.begin,), text=f"{more}\n")


class Opens(NamedTuple):
    """The initial state of a pull of some rows: the type of its cells and their value. full: the vector is full."""

    cell: DataType
    begin: tuple[str, DataType, str]
    full: bool

    @classmethod
    def of(cls, semiring: Typed[Semiring], *, full: bool) -> Opens:
        _, _, monoid, z = algebra_of(semiring)
        return cls(z, value("BEGIN", z, initial_sum(monoid, z)), full)


def listed_pull_variant(
    key: str,
    types: tuple[tuple[str, DataType], ...],
    semiring: Typed[Semiring],
    a: DataType,
    u: DataType,
    *,
    flip: bool,
    full: bool,
    packed: bool = False,
) -> Variant:
    """The pull of the rows on a worklist. full: of a vector with an entry everywhere."""
    step = advance_variant(
        key, types, semiring, VALUES, a, u, flip=flip, ranked=False, also=False, pulls=False, lanes=32, packed=packed
    )
    constants = tuple({**dict(step.constants), "U_FULL": int(full)}.items())
    return dataclasses.replace(step, kernel=format_of(key).kernel("pull_some"), constants=constants, text="")


def can_pull_listed(key: str, semiring: Typed[Semiring], kind: int) -> bool:
    """Whether a pull may process only listed rows: segments of long rows are combined in any order."""
    joined = kind == VALUES and semiring.op.monoid.name != "any" and any_order(semiring, kind)
    return joined and format_of(key).opens and semiring.return_type in CELLS


def can_pull(key: str, semiring: Typed[Semiring], kind: int) -> bool:
    """Whether finding one entry of the frontier is enough."""
    return kind == WORDS or (kind == VALUES and format_of(key).reads_values and semiring.op.monoid.name == "any")


def advance_lanes(words: int, units: int, skewed: bool) -> int:
    """Lanes for a row or tile row, by its average number of entries or tiles."""
    if skewed:
        return tuning.count("loop.lanes_skewed")
    each = tuning.count("loop.lane_entries")
    return next((lanes for lanes in (8, 16) if lanes * units >= each * words), 32)

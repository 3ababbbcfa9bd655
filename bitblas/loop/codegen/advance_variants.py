"""Kernel variants of advances, the products of frontiers (kernels/step_rows.cuh, b2sr/advance.cu), and their cost."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

from semirings import Monoid, Semiring, Typed
from semirings.dtypes import DataType

from ... import tuning
from ...formats import format_of
from ...kernels.variant import Variant, value
from ...operations.variants import ATOMICS, CELLS, Algebra, Types, algebra_of, initial_sum, push_variant
from ...plan.product import VALUES, WORDS, any_order
from .cuda_dialect import CudaKernel, macro


@dataclass(frozen=True)
class AdvanceKernel:
    """The advance of a format for a semiring (None for WORDS), and what is fixed when its kernel is compiled. a, u: the
    types of the matrix and of the frontier. also: the mask counts the frontier's entries as set. pulls: it may pull.
    scans: the entries of its vector have not been listed. weighs: its result will be pushed along, so it sums up the
    work in it."""

    key: str
    types: Types
    semiring: Typed[Semiring] | None
    kind: int
    a: DataType
    u: DataType
    flip: bool = True
    lanes: int = 8
    ranked: bool = False
    packed: bool = False
    also: bool = False
    pulls: bool = False
    scans: bool = False
    weighs: bool = True

    def variant(self, entry: tuple[CudaKernel, str] | None = None) -> Variant:
        """The kernel. entry: statements that run at entries."""
        what = self.key, self.types, self.semiring, self.kind, self.a, self.u, self.flip, self.ranked, self.packed
        plain = push_variant(Algebra(*what), self.lanes)
        _, _, monoid, z = algebra_of(self.semiring)
        kernel, at_entry = entry if entry is not None else (CudaKernel({}), macro("AT_ENTRY(i)", ["(void)(i);"]))
        parameters = macro("PARAMETERS", [f", {p.declaration}" for p in kernel.parameters])
        flags = ("ALSO", self.also), ("PULLS", self.pulls), ("SCANS", self.scans), ("WEIGHS", self.weighs)
        return dataclasses.replace(
            plain,
            kernel=format_of(self.key).kernels["advance"].kernel,
            constants=(*plain.constants, *((name, int(flag)) for name, flag in flags), *_join(monoid, z)),
            values=(*plain.values, value("BEGIN", z, initial_sum(monoid, z))),
            functions=(*plain.functions, *kernel.functions),
            label=f"{plain.label}{' with statements' if kernel.functions or kernel.parameters else ''}",
            text=f"{parameters}\n{at_entry}\n",
        )

    def pull_of_listed_rows(self, full: bool) -> Variant:
        """The pull of the rows on a worklist. full: of a vector with an entry everywhere."""
        step = dataclasses.replace(self, lanes=32).variant()
        constants = tuple({**dict(step.constants), "U_FULL": int(full)}.items())
        return dataclasses.replace(
            step, kernel=format_of(self.key).kernels["mxv.pull.listed"], constants=constants, text=""
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
    more = macro("PARAMETERS", [", Control control, u64* t_bits, C_T* t_val"])
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


def can_pull_listed(key: str, semiring: Typed[Semiring], kind: int) -> bool:
    """Whether a pull may process only listed rows: segments of long rows are combined in any order."""
    joined = kind == VALUES and semiring.op.monoid.name != "any" and any_order(semiring, kind)
    return joined and "mxv.pull.listed" in format_of(key).kernels and semiring.return_type in CELLS


def can_pull(key: str, semiring: Typed[Semiring], kind: int) -> bool:
    """Whether finding one entry of the frontier is enough."""
    return kind == WORDS or (
        kind == VALUES and format_of(key).kernels["advance"].reads_values and semiring.op.monoid.name == "any"
    )


def advance_lanes(words: int, units: int, skewed: bool) -> int:
    """Lanes for a row or tile row, by its average number of entries or tiles."""
    if skewed:
        return tuning.count("loop.lanes_skewed")
    each = tuning.count("loop.lane_entries")
    return next((lanes for lanes in (8, 16) if lanes * units >= each * words), 32)

"""The variants of steps, which are products of frontiers (csr/step.cu, b2sr/step.cu), how much they take at once."""

from __future__ import annotations

import dataclasses

from semirings import Semiring, Typed
from semirings.dtypes import DataType

from ..formats import ROWS, Form
from ..kernels.prologue import Variant, value
from ..plan.product import VALUES, WORDS, longest_row
from ..verbs.variants import algebra_of, beginning, push_variant
from .pointwise import Text, macro

LONGEST = 512  # entries of a row that a group of lanes walks; longer rows are cut into segments of that length
# A frontier with more than 1/16 of all entries pulls (Beamer's alpha is 14; his graphs are RMAT too); with over 1/4
# of all tiles, because a tile row counts with all its tiles where one row is active (a search in a 27-point stencil:
# 1.23, 1.32, 1.67 ms with 4, 8, 16; in a Delaunay mesh: the same with each); a Split's entries of the rest count alike
# (not measured).
ALPHA, ALPHA_TILES = 16, 4
UNCUT = 1 << 13  # items that a group of lanes goes through in less time than a pull takes (estimated)
BLOCKS = 4  # for each multiprocessor, at most: a launch walks through what is more (a pass has one part of a sum each)


def step_variant(
    key: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int, a: DataType,
    u: DataType, *, flip: bool, ranked: bool, also: bool, pulls: bool, lanes: int,
    entry: tuple[Text, str] | None = None, packed: bool = False,
) -> Variant:  # fmt: skip
    """The step of a form for a semiring (None for WORDS); entry: the statements that go along."""
    folder = "csr" if key in ROWS else "b2sr"
    plain = push_variant(key, types, semiring, kind, a, u, flip=flip, ranked=ranked, lanes=lanes, packed=packed)
    _, _, monoid, z = algebra_of(semiring)
    text, at_entry = entry if entry is not None else (Text({}), macro("AT_ENTRY(i)", ["(void)(i);"]))
    parameters = macro("PARAMETERS", [f", {p.declaration}" for p in text.parameters])
    return dataclasses.replace(
        plain,
        kernel=f"formats/{folder}/step",
        constants=(*plain.constants, ("ALSO", int(also)), ("PULLS", int(pulls))),
        values=(*plain.values, value("BEGIN", z, beginning(monoid, z))),
        functions=(*plain.functions, *text.functions),
        label=f"{plain.label}{' with statements' if text.functions or text.parameters else ''}",
        text=f"{parameters}\n{at_entry}\n",
    )


def can_pull(key: str, semiring: Typed[Semiring], kind: int) -> bool:
    """Whether looking for one entry of the frontier is enough."""
    return kind == WORDS or (kind == VALUES and key in ROWS and semiring.op.monoid.name == "any")


def choose_lanes(words: int, units: int, skewed: bool) -> int:
    """Lanes for a row or tile row with that many entries or tiles on average: where rows are alike, so many that most
    end after one trip to memory, because a round on a mesh lasts as long as its longest chain of loads. Measured on an
    H200, microseconds a level with 4, 8, 16, 32 lanes: Delaunay mesh, 8.7 tiles a tile row: 8.8, 7.3, 6.6, 6.5; grid,
    5 tiles: -, 5.4, 5.3, 5.1; RMAT 20, milliseconds in all with 8 and 32: 0.25, 0.28."""
    if skewed:
        return 8
    return next((lanes for lanes in (8, 16) if lanes * units >= 3 * words), 32)


def turn(form: Form) -> int:
    """Entries (items: tiles, and entries of a Split's rest) in the rows (tile rows) of a frontier beyond which a step
    pulls. Long rows are cut into segments, long tile rows are not: a frontier that has one of these pulls."""
    if form.key in ROWS:
        return form.work // ALPHA
    longest = longest_row(form)
    return min(form.work // ALPHA_TILES, longest - 1 if longest > UNCUT else form.work)


__all__ = ["BLOCKS", "LONGEST", "can_pull", "choose_lanes", "step_variant", "turn"]

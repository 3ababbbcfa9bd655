"""The variants of steps, which are products of frontiers (csr/step.cu, b2sr/step.cu), how much they take at once."""

from __future__ import annotations

import dataclasses

from semirings import Semiring, Typed
from semirings.dtypes import DataType

from ..kernels.prologue import Variant, value
from ..plan import VALUES, WORDS
from ..verbs.variants import algebra_of, beginning, mxv_variant
from .pointwise import Text, macro

LONGEST = 512  # entries of a row that a group of lanes walks; longer rows are cut into segments of that length
ALPHA = 16  # a frontier with more than 1/16 of all entries pulls (Beamer's alpha is 14; his graphs are RMAT too)
BLOCKS = 528  # 4 blocks for each of 132 multiprocessors: what a step may keep busy
LANES = {"csr": 8, "b2sr": 8}


def step_variant(
    key: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int, a: DataType,
    u: DataType, *, flip: bool, ranked: bool, also: bool, pulls: bool, entry: tuple[Text, str] | None = None,
) -> Variant:  # fmt: skip
    """The step of a form for a semiring (None for WORDS); entry: the statements that go along."""
    folder = "csr" if key == "csr" else "b2sr"
    plain = mxv_variant(
        "push", key, types, semiring, kind, a, u, flip=flip, full=False, ranked=ranked, lanes=LANES[folder]
    )
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
    return kind == WORDS or (kind == VALUES and key == "csr" and semiring.op.monoid.name == "any")


def blocks(units: int, key: str) -> int:
    lanes = LANES["csr" if key == "csr" else "b2sr"]
    return max(1, min(BLOCKS, -(-units * lanes // 256)))


__all__ = ["ALPHA", "LONGEST", "blocks", "can_pull", "step_variant"]

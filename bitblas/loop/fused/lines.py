"""The text of `explain` for a round: one line per launch."""

from __future__ import annotations

from typing import NamedTuple

from .fuse import Between, Item, Pass, Pull, Step


class Line(NamedTuple):
    """One launch of a round: a step, a pass, a pull or the making of a list; the statements in it; the variant. Of a
    loop inside the round: "block", what it goes on by, how many rounds a run of its body has; its launches follow."""

    kind: str
    statements: tuple[str, ...]
    variant: str


def texts_of(item: Item) -> tuple[str, ...]:
    """The statements that a kernel runs."""
    if isinstance(item, (Pass, Between)):
        return tuple(s.text for s in item.statements)
    if isinstance(item, Step):
        return (*(s.text for s in item.before), item.text)
    return (item.text,) if isinstance(item, Pull) else ()

"""The text of `explain` for a round: one line per launch."""

from __future__ import annotations

from typing import NamedTuple

from .fuse import Between, Item, Pass, Pull, Step


class Line(NamedTuple):
    """One launch of a round: an advance ("step"), an element-wise kernel ("pass"), a pull or the compaction of a
    frontier ("activate"); its statements; its variant. For a nested loop: "block", the condition, the rounds in a run
    of its body, followed by its launches."""

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

"""Stacks: a loop saves where a frontier has entries, and a later loop takes the frontiers back in reverse order."""

from __future__ import annotations

from typing import Any

from ..core.hooks import state


class Stack:
    """Frontiers that a loop saves, to be read in reverse order: the backward sweep of a search follows them level by
    level, at the cost of what was in a level.

    Inside a captured body on a GPU, `push`, `pop` and `clear` take a BOOL Matrix of the body (docs/loops.md,
    Multivectors); elsewhere any Vector or Matrix of any library. Only presence is saved, not values.
    """

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def push(self, x: Any) -> None:
        """Save the positions of the entries of x."""
        if state.recorder is not None:
            state.recorder.stack_statement(self, "push", x)
        else:
            self._kept.append(x.dup())

    def pop(self, x: Any) -> None:
        """x = true at the positions that were saved last, without other entries; none if the stack is empty. x: BOOL,
        of the same shape."""
        if state.recorder is not None:
            state.recorder.stack_statement(self, "pop", x)
            return
        x.clear()
        if self._kept:
            x(self._kept.pop().S) << True

    def clear(self) -> None:
        """Empty the stack. A captured loop begins with an empty one."""
        if state.recorder is not None:
            state.recorder.stack_statement(self, "clear", None)
        else:
            self._kept.clear()

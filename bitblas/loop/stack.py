"""Stacks: a loop saves where a frontier has entries, and a later loop takes the frontiers back in reverse order."""

from __future__ import annotations

from typing import Any

from ..core.hooks import state
from ..exceptions import DimensionMismatch


class Stack:
    """Frontiers that a loop saves, to be read in reverse order: the backward sweep of a search follows them level by
    level, and each step costs the entries of its level.

    Inside a captured body on a GPU, `push` takes a Matrix of the body and `pop` a BOOL one (docs/loops.md,
    Multivectors); elsewhere any Vector or Matrix of any library. Only presence is saved, not values.
    """

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def push(self, x: Any) -> None:
        """Save the positions of the entries of x. TypeError unless x is a Vector or a Matrix."""
        _check_frontier(x)
        if state.recorder is not None:
            state.recorder.stack_statement(self, "push", x)
        else:
            self._kept.append(x.dup())

    def pop(self, x: Any) -> None:
        """x = true at the positions that were saved last, without other entries; none if the stack is empty. TypeError
        unless x is a Vector or a Matrix of BOOL, DimensionMismatch unless it has the shape of what was saved."""
        _check_frontier(x)
        if state.recorder is not None:
            state.recorder.stack_statement(self, "pop", x)
            return
        if x.dtype.name != "BOOL":
            raise TypeError(f"x: expected a Vector or a Matrix of BOOL, got one of {x.dtype}")
        if self._kept and self._kept[-1].shape != x.shape:
            raise DimensionMismatch(f"x: expected shape {self._kept[-1].shape}, got {x.shape}")
        x.clear()
        if self._kept:
            x(self._kept.pop().S) << True

    def clear(self) -> None:
        """Empty the stack. A captured loop begins with an empty one."""
        if state.recorder is not None:
            state.recorder.stack_statement(self, "clear", None)
        else:
            self._kept.clear()


def _check_frontier(x: Any) -> None:
    if not hasattr(type(x), "nvals"):  # in a body its value would be computed
        raise TypeError(f"x: expected a Vector or a Matrix, got {type(x).__name__}")

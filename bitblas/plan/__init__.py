"""The planner: pure functions from facts about the operands to a frozen, printable decision. Kernels decide nothing."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from ..later import module_of

if TYPE_CHECKING:
    from . import (
        beside,
        choice,
        costs,
        direction,
        ending,
        facts,
        forms,
        limit,
        mxm,
        narrow,
        patches,
        product,
        profile,
        saving,
        transpose,
        values,
        walk,
    )


def __getattr__(name: str) -> ModuleType:
    return module_of(__name__, name)

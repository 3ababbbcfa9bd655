"""The planner: pure functions from facts about the operands to a frozen, printable decision. Kernels decide nothing."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from ..extras import module_of

if TYPE_CHECKING:
    from . import cost_model, direction, facts, format_choice, operation, pattern, product, profile, ranks


def __getattr__(name: str) -> ModuleType:
    return module_of(__name__, name)

"""Build a matrix from entries: sort, combine duplicates, store in the format that the planner chooses."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from ..later import module_of

if TYPE_CHECKING:
    from . import (
        bands,
        chosen,
        chunks,
        duplicates,
        entries,
        stores,
    )


def __getattr__(name: str) -> ModuleType:
    return module_of(__name__, name)

"""Operators by name, with python-graphblas' call style: `semiring.min_plus`, `binary["plus"]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Namespace:
    """Operators by name: `semiring.min_plus`, `binary["plus"]`; iterates over the names.

    `missing` may make an entry on demand (semirings are the product of two lists).
    """

    def __init__(self, family: str, entries: Mapping[str, Any], missing: Callable[[str], Any] | None = None) -> None:
        self._family, self._entries, self._missing = family, entries, missing

    def __getattr__(self, name: str) -> Any:
        if name in self._entries:
            return self._entries[name]
        found = self._missing(name) if self._missing is not None and not name.startswith("_") else None
        if found is None:
            raise AttributeError(f"{self._family} has no operator {name!r}; known: {', '.join(self._entries)}")
        return found

    __getitem__ = __getattr__

    @property
    def ss(self) -> Namespace:
        """python-graphblas keeps SuiteSparse's positional operators here; in bitblas they are the same entries."""
        return self

    def __iter__(self) -> Any:
        return iter(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __dir__(self) -> list[str]:
        return [*self._entries, "ss"]

    def __repr__(self) -> str:
        return f"<{self._family}: {', '.join(self._entries)}>"

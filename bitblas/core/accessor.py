"""`A.ss` and `v.ss` as properties that load core/ss on first use, and `__sizeof__`."""

from __future__ import annotations

from typing import Any

from .above import above


class Accessor:
    """`A.ss`: the extras of an object; `Matrix.ss`: their class. Loaded at first use."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, parent: Any, owner: type) -> Any:
        kind = above[self.name]()
        return kind if parent is None else kind(parent)


class Sized:
    """`sys.getsizeof` of an object includes its arrays, on its device too."""

    __slots__ = ()

    def __sizeof__(self) -> int:
        held: Any = self
        return object.__sizeof__(self) + int(held.memory().total)

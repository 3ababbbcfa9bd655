"""Base class of tile layouts: bit tiles alone (B2SR), or with single entries (Split)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import sound
from ..choice import Format


class Tiled:
    """Shared by B2SR and Split. `value_ptr`: ranks, computed by `ranks` on first use."""

    tile: int
    value_ptr: Any

    if TYPE_CHECKING:

        @property
        def format(self) -> Format: ...

    @property
    def key(self) -> str:
        return self.format.key

    @property
    def rows_per_unit(self) -> int:
        return self.tile

    def equals(self, other: Any) -> bool:
        return sound.same(self, other)

    def adopt(self, twin: Any) -> None:
        if self.value_ptr is None:
            self.value_ptr = twin.value_ptr

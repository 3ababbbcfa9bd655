"""Call style of Matrix and Vector, local or distributed, in terms of the methods that each class defines."""

from __future__ import annotations

from typing import Any

from ..options import check_options
from .axes import parse
from .base import Output, Updater
from .mask import Mask


class Styled(Output):
    """C.S, C.V, C[I] = x, del C[I]."""

    __slots__ = ()

    @property
    def S(self) -> Mask:
        """The structural mask: where there is an entry, whatever its value."""
        return Mask(self, True)

    @property
    def V(self) -> Mask:
        """The value mask: where there is an entry that is not zero."""
        return Mask(self, False)

    def __setitem__(self, key: Any, value: Any, **opts: Any) -> None:
        if opts:
            check_options(opts)
        self._assign(parse(self, key), value, None, None, False, False)

    def __delitem__(self, key: Any) -> None:
        del Updater(self, None, None, False)[key]

"""Base class of Matrix and Vector: a store, and pending writes of single entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semirings.dtypes import DataType

from ...device import Device
from ..accessor import Sized
from ..show import Shown
from .styled import Styled


class Tensor(Sized, Styled, Shown):
    """`_data`: the store; `_pending`: the writes that it lacks yet; `_stored`: the store with them, as it lies."""

    __slots__ = ("__weakref__", "_data", "_pending", "name")
    _data: Any

    if TYPE_CHECKING:

        @property
        def _stored(self) -> Any: ...

    @property
    def dtype(self) -> DataType:
        return self._data.dtype

    @property
    def device(self) -> Device:
        return self._data.device

    @property
    def nvals(self) -> int:
        """The number of entries."""
        try:
            return self._stored.nvals
        except self.device.errors as error:
            return self.device.fail(error)

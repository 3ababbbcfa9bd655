"""v[I] of a Vector: reading and writing by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import verbs
from ...sparse import SparseStore
from ...store import VectorStore
from ..accessor import Accessor
from ..statement.axes import Axis
from ..statement.expr import ScalarExpression, VectorExpression
from ..statement.recording import Listed
from .stored import StoredVector


class VectorIndex(StoredVector):
    """Indices are ints (negative ones count from the end), slices, lists or arrays of ints, integer Scalars; out of
    range raises IndexError, another type TypeError."""

    __slots__ = ()

    def _extract(self, axes: tuple[Axis, ...]) -> Any:
        (index,) = axes
        if index.size is None:
            i = index.at
            return ScalarExpression("__getitem__", (self,), None, lambda mask: self._element(i), self.dtype)

        def run(mask: Any) -> VectorStore:
            if index.at is None:
                return self._in_users_order.copy()
            store = self._stored
            if index.region and type(store) is SparseStore and store.order is None:
                return verbs.local.extract_range(store, index.region)
            at = index.array(self.device)
            return verbs.local.extract(store, at if store.order is None else store.order.places(at))

        args = (self, index.at) if type(index.at) is Listed else (self,)
        return VectorExpression(index.size, "__getitem__", args, None, run, self.dtype)

    def _element(self, i: int) -> np.generic | None:
        store = self._stored
        return verbs.elements.get(store, i if store.order is None else store.order.place(i))

    ss = Accessor("VectorExtras")

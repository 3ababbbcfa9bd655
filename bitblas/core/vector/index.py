"""v[I] of a Vector: reading and writing by index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ...sparse import SparseStore
from ...store import VectorStore
from ...verbs import elements, local
from ..accessor import Accessor
from ..convert import one_shown
from ..statement.axes import Axis, One, Several, parse
from ..statement.expr import ScalarExpression, VectorExpression
from ..statement.indexing import IndexExpr
from ..statement.operand import describe
from ..statement.recording import Listed
from .stored import StoredVector

if TYPE_CHECKING:
    from ..scalar import Scalar
    from .vector import Vector


class VectorIndex(StoredVector):
    """Indices are ints (negative ones count from the end), slices, lists or arrays of ints, integer Scalars; out of
    range raises IndexError, another kind TypeError."""

    __slots__ = ()
    to_coo: Any

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
                return local.extract_range(store, index.region)
            at = index.array(self.device)
            return local.extract(store, at if store.order is None else store.order.places(at))

        args = (self, index.at) if type(index.at) is Listed else (self,)
        return VectorExpression(index.size, "__getitem__", args, None, run, self.dtype)

    def _element(self, i: int) -> np.generic | None:
        store = self._stored
        return elements.get(store, i if store.order is None else store.order.place(i))

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: One) -> IndexExpr[Scalar]: ...
        @overload
        def __getitem__(self, key: Several) -> IndexExpr[Vector]: ...
        @overload
        def __getitem__(self, key: Any) -> IndexExpr[Any]: ...

    def __getitem__(self, key: Any) -> IndexExpr[Any]:
        return IndexExpr(self, parse(self, key))

    def __contains__(self, index: Any) -> bool:
        (at,) = parse(self, index)
        if at.size is not None:
            raise TypeError(f"index in v: expected an integer, got {describe(index)}")
        return self._element(at.at) is not None

    def __iter__(self) -> Iterator[Any]:
        """The indices of the entries, ascending."""
        indices, _ = self.to_coo(values=False)
        return iter(self.device.to_host(indices))

    def get(self, index: Any, default: Any = None) -> Any:
        """v[index] as a Python scalar, or `default` where there is no entry. IndexError out of range."""
        (at,) = parse(self, index)
        if at.size is not None:
            raise ValueError(f"index: expected a single one, got {describe(index)}")
        found = self._element(at.at)
        return default if found is None else one_shown(found, self.dtype)

    ss = Accessor("VectorExtras")

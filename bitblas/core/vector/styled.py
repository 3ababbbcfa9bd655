"""Methods of Vector, local or distributed, in terms of its `from_coo`, `to_coo` and `_element`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ...device import Device
from ..convert import one_shown
from ..exact import keys_of
from ..statement.axes import One, Several, parse
from ..statement.indexing import IndexExpr
from ..statement.operand import describe

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..scalar import Scalar


class StyledVector:
    """from_dict, from_pairs; v[I], i in v, iteration, get."""

    __slots__ = ()
    device: Any
    dtype: Any
    from_coo: Any
    to_coo: Any
    _element: Any

    @classmethod
    def from_dict(
        cls, d: Mapping[Any, Any], dtype: Any = None, *, size: Any = None, name: str | None = None,
        device: str | Device | None = None,
    ) -> Self:  # fmt: skip
        """A Vector from {index: value}."""
        if size is None and not d:
            size = 0
        values: Any = list(d.values())
        if not d and dtype is None:
            values = np.zeros(0)
        return cls.from_coo(keys_of(lambda: d, len(d)), values, dtype, size=size, name=name, device=device)

    @classmethod
    def from_pairs(
        cls, pairs: Any, dtype: Any = None, *, size: Any = None, dup_op: Any = None, name: str | None = None,
        device: str | Device | None = None,
    ) -> Self:  # fmt: skip
        """A Vector from (index, value) pairs. ValueError for items of another length."""
        if hasattr(pairs, "dtype"):
            raise TypeError("pairs: expected a list of (index, value), got an array; use Vector.from_coo")
        parts = list(zip(*pairs, strict=True))
        if len(parts) not in (0, 2):
            raise ValueError(f"pairs: expected two elements in each item, got {len(parts)}")
        indices, values = parts or ((), ())
        return cls.from_coo(list(indices), list(values), dtype, size=size, dup_op=dup_op, name=name, device=device)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: One) -> IndexExpr[Scalar]: ...
        @overload
        def __getitem__(self, key: Several) -> IndexExpr[Self]: ...
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
        """v[index] as a Python scalar, or `default` if there is no entry. IndexError out of range."""
        (at,) = parse(self, index)
        if at.size is not None:
            raise ValueError(f"index: expected a single index, got {describe(index)}")
        found = self._element(at.at)
        return default if found is None else one_shown(found, self.dtype)

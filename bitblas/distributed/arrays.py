"""Distributed arrays: the results of `to_dense` and `to_coo` inside a loop body, of which each rank has its share. Used
as index vectors (docs/loops.md) they return to statements without a gather; any other use gathers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.statement.recording import Listed
from . import exchange
from .shares import Shares


class SharedArray:
    """local: this rank's elements. shares: the partition of the vector that they belong to. at: their positions in it
    (None: all positions of this rank)."""

    __slots__ = ("_full", "at", "local", "shares")

    def __init__(self, local: Any, shares: Shares, at: Any = None) -> None:
        self.local, self.shares, self.at, self._full = local, shares, at, None

    def full(self) -> Any:
        """The whole array, on every rank."""
        if self._full is None:
            self._full = exchange.concatenated([self.local])[0]
        return self._full

    def __len__(self) -> int:
        return self.shares.size if self.at is None else len(self.full())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, SharedArray) and self.at is None and key.at is key.local and key.shares is self.shares:
            if type(key.local) is Listed:
                return SharedArray(self.local[key.local], self.shares, key.at)
            places = key.local.astype(np.int64) - self.shares.low
            return SharedArray(self.local[places], self.shares, key.at)
        return self.full()[key.full() if isinstance(key, SharedArray) else key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.full().tolist())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        full = self.full()
        return np.asarray(full.get() if hasattr(full, "get") else full, dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.full(), name)

    def __repr__(self) -> str:
        """Without the elements: printing on one rank is not a collective."""
        return "a distributed array"


def _forwarded(name: str) -> Any:
    def run(self: SharedArray, *others: Any) -> Any:
        return getattr(self.full(), name)(*(x.full() if isinstance(x, SharedArray) else x for x in others))

    return run


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(SharedArray, f"__{_name}__", _forwarded(f"__{_name}__"))
    setattr(SharedArray, f"__r{_name}__", _forwarded(f"__r{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "invert", "abs"):
    setattr(SharedArray, f"__{_name}__", _forwarded(f"__{_name}__"))

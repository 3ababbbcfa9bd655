"""A.reorder: the same matrix, stored in another order of its vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import Device
from ..exceptions import DimensionMismatch, InvalidValue
from ..order import order_of
from ..verbs.reorder import matrix_in
from .convert import index_array
from .door import guarded

if TYPE_CHECKING:
    from .matrix import Matrix


class MatrixOrder:
    __slots__ = ()

    @property
    def order(self: Matrix) -> Any:  # type: ignore[misc]
        """The permutation in which rows and columns are stored (INT64: order[stored place] = user's number); None where
        that is the user's numbering."""
        return None if self._order is None else self._order.perm.astype(np.int64)

    @guarded
    def reorder(self: Matrix, order: Any, *, name: str | None = None) -> Matrix:
        """The same entries, stored in another order of the vertices: rows and columns are permuted alike.

        order: "degree", "rcm" or "community" (bitblas.reorder computes them); a permutation of 0 .. n - 1 with
        order[new] = old; None for the user's numbering. Nothing that is read from the result changes: its indices are
        the user's. Raises DimensionMismatch (A is not square), InvalidValue (no permutation, unknown name), ValueError.
        """
        if self.nrows != self.ncols:
            raise DimensionMismatch(
                f"reorder: expected a square matrix, whose rows and columns are the same vertices, got {self.shape}; "
                "A[rows, columns] permutes the two by themselves"
            )
        if isinstance(order, str):
            from .. import reorder

            order = reorder.by_name(order)(self)
        found = None if order is None else order_of(self.device, permutation(self.device, order, self.nrows))
        layout = self._layout
        return type(self)._from_store(matrix_in(self._stored, found, *layout[:2]), name, layout)


def permutation(device: Device, data: Any, n: int) -> Any:
    """`data` as an INT64 array of the device. InvalidValue unless it has each of 0 .. n - 1 once."""
    perm = index_array(device, data, "order")
    hint = "order[new] = old holds each of them once"
    if len(perm) != n:
        raise InvalidValue(f"order: expected a permutation of the {n} numbers 0 .. {n - 1}, got {len(perm)}; {hint}")
    if not n:
        return perm
    low, high = int(perm.min()), int(perm.max())
    if low < 0 or high >= n:
        raise InvalidValue(f"order: expected numbers from 0 to {n - 1}, got {low if low < 0 else high}; {hint}")
    found = device.xp.zeros(n, bool)
    found[perm] = True
    if not bool(found.all()):
        missing = int(device.xp.argmin(found))
        raise InvalidValue(f"order: expected a permutation of 0 .. {n - 1}, got one without {missing}; {hint}")
    return perm


__all__ = ["MatrixOrder", "permutation"]

"""A.reorder: the same matrix, stored in another vertex order; A.profile: facts and predictions of the planner."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ... import operations
from ...device import Device
from ...exceptions import DimensionMismatch, InvalidValue
from ...order import Order, order_of
from ..convert import index_array
from ..late_binding import late
from ..statement.running import guarded
from .stored import StoredMatrix

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...operations.virtual_nodes import VirtualNodes
    from ...plan.profile import Orders, Profile
    from ..typing import Array, IndicesLike


class MatrixOrder(StoredMatrix):
    __slots__ = ()

    @property
    def order(self) -> Array | None:
        """The permutation in which rows and columns are stored (INT64: order[stored position] = user's index); None for
        the user's numbering."""
        return None if self._order is None else self._order.perm.astype(np.int64)

    @guarded
    def reorder(self, order: str | IndicesLike | None, *, name: str | None = None) -> Self:
        """The same entries, stored in another order of the vertices: rows and columns are permuted alike.

        order: "degree", "bfs", "rcm", "community", "llp" or "gorder" (bitblas.reorder computes them); a permutation of
        0 .. n - 1 with order[new] = old; None for the user's numbering. Nothing that is read from the result changes:
        its indices are the user's. Raises DimensionMismatch (A is not square), InvalidValue (no permutation, unknown
        name), ValueError.
        """
        found = self._order_named("reorder", order)
        layout = self._layout
        return type(self)._from_store(operations.permute.matrix_in(self._stored, found, *layout[:2]), name, layout)

    if TYPE_CHECKING:

        @overload
        def profile(self, *, measure: bool = False, orders: Literal[False] = False) -> Profile: ...
        @overload
        def profile(self, *, measure: bool = False, orders: Literal[True] | Sequence[str]) -> Orders: ...
        @overload
        def profile(self, *, virtual_nodes: Literal[True]) -> VirtualNodes: ...

    def profile(
        self, *, measure: bool = False, orders: bool | Sequence[str] = False, virtual_nodes: bool = False
    ) -> Any:
        """The planner's predictions for every stored format: bytes, and microseconds of Boolean mxv, plus_second mxv
        and breadth-first search (min_plus mxv if values differ); and its choice, with when that will be built if A has
        another format now. A is unchanged. Prints as a table.

        measure: also measure the predicted times on the device, in every format, and report how good the choice is.
        orders: the same under each order of `bitblas.reorder`, or under those named, with the best pair of order and
        format, the share of each format's bytes that an order saves, and the seconds that finding it took. This
        computes the orders and sorts the entries by each, which takes as long as `reorder` does (by far the longest for
        "llp"); for large A the bytes are estimated from a sample of entries. A is unchanged. virtual_nodes: instead,
        the bytes if rows with common columns share a virtual node that has them: A = R or L V, mined on the host (0.1
        to 0.3 us an entry), stored by format="virtual"; A is unchanged.

        Raises DimensionMismatch (orders of a matrix that is not square), InvalidValue (two of them, unknown name,
        virtual nodes of a matrix whose values differ).
        """
        with self.device.guard:
            return self._profile(measure, orders, virtual_nodes)

    def _profile(self, measure: bool, orders: bool | Sequence[str], virtual_nodes: bool) -> Any:
        from ...plan import profile as plan_profile

        if measure and orders:
            raise InvalidValue("profile: expected measure or orders, got both; A.reorder(order).profile(measure=True)")
        if virtual_nodes:
            if measure or orders:
                raise InvalidValue(
                    "profile: expected virtual_nodes alone; A.reorder(order).profile(virtual_nodes=True)"
                )
            from ...operations.virtual_nodes import virtual_nodes as found

            return found(self._stored)
        if measure:
            return late["measured"]()(self, plan_profile.profile(self._stored, asked=self._layout.asks))
        if not orders:
            return plan_profile.profile(self._stored, asked=self._layout.asks)
        stores, seconds = {plan_profile.AS_IT_IS: self._stored}, {}
        for order in late["orders"]() if orders is True else orders:
            begin = time.perf_counter()
            found_order = self._order_named("profile", order)
            self.device.synchronize()
            seconds[order] = time.perf_counter() - begin
            stores[order] = operations.permute.matrix_in(self._stored, found_order, "csr")
        return plan_profile.orders(stores, self.device.kind, seconds)

    def spy(self, **options: Any) -> Any:
        """A matplotlib Figure of the positions of the entries: see `bitblas.plots.spy`. ImportError without
        matplotlib."""
        return late["plots"]().spy(self, **options)

    def _order_named(self, verb: str, order: str | IndicesLike | None) -> Order | None:
        """A name or a permutation as an Order of this device."""
        if self.nrows != self.ncols:
            raise DimensionMismatch(
                f"{verb}: expected a square matrix, whose rows and columns are the same vertices, got {self.shape}; "
                "A[rows, columns] permutes the two by themselves"
            )
        if isinstance(order, str):
            known = late["orders"]()
            if order not in known:
                names = ", ".join(map(repr, known))
                raise InvalidValue(f"order: expected {names} or a permutation, got {order!r}")
            order = known[order](self)
        return None if order is None else order_of(self.device, permutation(self.device, order, self.nrows))


def permutation(device: Device, data: IndicesLike, n: int) -> Array:
    """`data` as an INT64 array of the device. InvalidValue unless it contains each of 0 .. n - 1 once."""
    perm = index_array(device, data, "order")
    hint = "order[new] = old contains each index once"
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

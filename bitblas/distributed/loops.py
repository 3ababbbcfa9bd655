"""Symbolic execution of distributed loops: statements on shares, and exchanges in the captured round.

A product gathers its vector and traverses the rows of its result. Each rank chooses push or pull for itself; what is
sent is decided once, by all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Typed, indexunary
from semirings.dtypes import INT64

from ..core import Scalar
from ..core import Vector as Whole
from ..core.hooks import SymbolicArray
from ..core.hooks import state as recording
from ..core.operators import monoid_of, typed
from ..core.statement.infix import Operand
from ..loop.symbolic.control_flow import OnHost
from ..operations.variants import binary_of
from ..typing import Array
from . import exchange
from .group import Group
from .shares import WORD, Shares
from .start import current

if TYPE_CHECKING:
    from ..core.typing import DTypeArg, OperatorArg, ValuesLike

# ---- Distributed arrays: the results of `to_dense` and `to_coo` in a captured loop body.


class DistributedArray:
    """An index vector (docs/loops.md), which returns to statements without a gather. local: this rank's elements.
    shares: the partition of the vector that they belong to. at: their positions in it (None: all positions of this
    rank)."""

    __slots__ = ("at", "local", "shares")

    def __init__(self, local: SymbolicArray, shares: Shares, at: SymbolicArray | None = None) -> None:
        self.local, self.shares, self.at = local, shares, at

    def __getitem__(self, key: object) -> DistributedArray:
        if not isinstance(key, DistributedArray) or key.at is not key.local or key.shares is not self.shares:
            return self._refuse()
        return DistributedArray(self.local[key.local], self.shares, key.at)

    def _refuse(self, *args: object) -> Any:
        """Any other use needs the elements, and so the host."""
        return self.local._refuse()

    __array__ = __iter__ = __len__ = __bool__ = __eq__ = __lt__ = __add__ = __sub__ = __getattr__ = _refuse
    __hash__ = object.__hash__


# ---- Symbolic execution of distributed loops (bitblas/loop): operations on a share become statements on that share,
# and communication becomes exchange statements in the captured round.


def is_recording() -> bool:
    """Whether a body is being executed symbolically."""
    return bool(recording.threads) and recording.recorder is not None


def require_host() -> None:
    """Mark an operation that needs the host: raise OnHost during symbolic execution, so that the loop stays a plain
    one."""
    if is_recording():
        raise OnHost


@contextmanager
def recording_paused() -> Iterator[None]:
    """Suspend symbolic execution, if there is one, for facts that all ranks find together while each executes the body
    symbolically. Raises OnHost if only this rank records, as on CPUs, when rounds by statements have taken long."""
    recorder = recording.recorder if is_recording() else None
    if recorder is None:
        yield
        return
    if recorder.host:
        raise OnHost
    recording.recorder = None
    try:
        yield
    finally:
        recording.recorder = recorder


# ---- exchange patterns ----------------------------------------------------------------------------------------------


class GatherAll:
    """Allgather: copy a whole vector to every rank."""

    text, gathers, takes = "all of", True, False

    def __init__(self, group: Group, shares: Shares) -> None:
        self.group, self.shares = group, shares

    def counts(self, bits: bool) -> list[int]:
        return self.shares.words if bits else self.shares.counts

    def run(self, source: Array, target: Array, bits: bool) -> None:
        counts = self.counts(bits)
        self.group._allgather(source[: counts[self.group.rank]], target[: sum(counts)], counts)

    def sent(self, source: Array, bits: bool) -> int:
        """The bytes that leave this rank."""
        return (self.group.size - 1) * self.counts(bits)[self.group.rank] * source.itemsize

    def own(self) -> TakeShare:
        """The inverse pattern."""
        return TakeShare(self.group, self.shares)


class TakeShare(GatherAll):
    """Take this rank's share out of a whole vector, which every rank has: nothing is sent."""

    text, gathers, takes = "this rank's share of", False, True

    def run(self, source: Array, target: Array, bits: bool) -> None:
        low, count = self.shares.low, self.shares.mine
        if bits:
            low, count = low // WORD, self.shares.words[self.shares.rank]
        target[:count] = source[low : low + count]

    def sent(self, source: Array, bits: bool) -> int:
        return 0


class BroadcastScalar:
    """Broadcast one rank's Scalar. The Scalars of all ranks are sent at once, to arrays with one element per rank; the
    first rank's call represents all of them."""

    gathers = takes = False

    def __init__(self, group: Group, root: int) -> None:
        self.group, self.root = group, root
        self.text = f"rank {root}'s"

    def run(self, source: Array, target: Array, bits: bool) -> None:
        self.group._allgather(source, target, [1] * self.group.size)

    def sent(self, source: Array, bits: bool) -> int:
        return (self.group.size - 1) * source.nbytes


class ScatterShares(GatherAll):
    """Scatter: one rank's values for all positions are sent to the owners of the positions."""

    gathers = takes = False

    def __init__(self, group: Group, shares: Shares, root: int) -> None:
        super().__init__(group, shares)
        self.root, self.text = root, f"the share in rank {root}'s"

    def run(self, source: Array, target: Array, bits: bool) -> None:
        counts, me = self.counts(bits), self.group.rank
        received = [counts[me] if rank == self.root else 0 for rank in range(self.group.size)]
        sent = counts if me == self.root else [0] * self.group.size
        self.group._alltoall(source[: sum(sent)], target[: counts[me]], sent, received)

    def sent(self, source: Array, bits: bool) -> int:
        counts = self.counts(bits)
        others = sum(counts) - counts[self.group.rank]
        return others * source.itemsize if self.group.rank == self.root else 0


# ---- statements on shares -------------------------------------------------------------------------------------------


def gather_vector(part: Whole, shares: Shares) -> Whole:
    """A whole vector; gathered once, until it is written again."""
    found = recording.recorder.exchanged(part, GatherAll)
    if found is None:
        found = Whole(
            exchange.check_exchangeable(part.dtype), shares.size, name=f"all of {part.name}", device=part.device
        )
        recording.recorder.exchange(found, part, GatherAll(current(), shares))
    return found


def sum_scalars(mine: Scalar, monoid: Typed, default: np.generic | None = None) -> Scalar:
    """The monoid's sum of a Scalar of each rank, in rank order; default: used if no rank has a value."""
    group = current()
    exchange.check_exchangeable(mine.dtype)
    total = mine
    if group.size > 1:
        each = [Scalar(mine.dtype, name=f"{mine.name} of rank {rank}") for rank in range(group.size)]
        total = _sum_exchanged(mine, each, [BroadcastScalar(group, rank) for rank in range(group.size)], monoid)
    if default is None:
        return total
    found = Scalar(mine.dtype)
    found << default
    found(binary_of(monoid)) << total
    return found


def sum_vectors(partial: Whole, shares: Shares, monoid: Typed) -> Whole:
    """This rank's share of the element-wise sum of a vector that each rank has for all positions."""
    group = current()
    if group.size == 1:
        return partial
    exchange.check_exchangeable(partial.dtype)
    each = [Whole(partial.dtype, shares.mine, device=partial.device) for _ in range(group.size)]
    return _sum_exchanged(partial, each, [ScatterShares(group, shares, rank) for rank in range(group.size)], monoid)


def _sum_exchanged(source: Operand, each: Sequence[Any], patterns: Sequence[object], monoid: Typed) -> Any:
    """Exchange `source` into one object per pattern, and add these up in rank order."""
    for target, pattern in zip(each, patterns):
        recording.recorder.exchange(target, source, pattern)
    return reduce(lambda total, one: total.ewise_add(one, monoid).new(), each)


def from_index_vectors(
    indices: DistributedArray,
    values: ValuesLike | DistributedArray,
    dtype: DTypeArg,
    shares: Shares,
    dup_op: OperatorArg,
) -> Whole:
    """Vector.from_coo(indices, values, dtype, size=, dup_op=) from index vectors: each rank combines its own entries,
    then the ranks combine theirs."""
    low = indices.shares.low
    i = _global_indices(indices.local, low)
    x = _global_indices(values.local, low) if isinstance(values, DistributedArray) else values
    partial = Whole.from_coo(i, x, dtype, size=shares.size, dup_op=dup_op)
    add = typed("any", "monoid", partial.dtype)
    if dup_op is not None:
        op = monoid_of(typed(dup_op, "binary", partial.dtype).op)
        assert op is not None  # otherwise the recorder has refused it
        add = op[partial.dtype]
    return sum_vectors(partial, shares, add)


def _global_indices(elements: SymbolicArray, low: int) -> SymbolicArray:
    """Convert indices of a share to indices of the whole; values are returned unchanged."""
    if elements.vector is not None or current().size == 1:
        return elements
    numbers = elements.where.apply(indexunary.index[INT64], low).new()
    return SymbolicArray(numbers, elements.where, elements.size)

"""Communication patterns on the four calls of a Group: gather a vector, combine sums, send entries to the owners of
their rows, reduce a scalar. All combine in rank order, so the same number of ranks gives the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL, DataType, lookup_dtype

from ..core import Matrix, Vector
from ..exceptions import InvalidValue, NotImplementedException
from ..store import MatrixStore, VectorStore, dense_values, full_bits
from ..store import words as words_of
from . import lists
from .group import Group
from .lists import as_bytes, narrow
from .shares import Shares
from .start import current


def plain(dtype: DataType) -> DataType:
    """The type, which ranks can send to each other: not a user-defined one, whose values each numbers by itself."""
    if dtype._is_udt:
        raise NotImplementedException(f"{dtype}: values of user-defined types do not go between ranks")
    return dtype


class Told(NamedTuple):
    """What all ranks know of an object in shares: the entries on each, and the one value of them all, None if there are
    several."""

    counts: np.ndarray
    one: np.generic | None

    @property
    def entries(self) -> int:
        return int(self.counts.sum())


def told_of(store: VectorStore | MatrixStore) -> Told:
    """What this rank's share has, told to all."""
    group = current()
    group.settle()
    own: Any = store.values if store.iso else store.dtype.np_type.type(0)
    if group.size == 1:
        return Told(np.array([store.nvals]), own if store.iso or not store.nvals else None)
    head = np.zeros(1, [("count", np.int64), ("iso", np.bool_), ("value", store.dtype.np_type)])
    head["count"], head["iso"], head["value"] = store.nvals, store.iso, own
    found = group.told(head.view(np.uint8))
    heads = np.ascontiguousarray(found).view(head.dtype)[:, 0]
    some = heads[heads["count"] > 0]
    if not len(some):
        return Told(heads["count"], own)
    values = np.ascontiguousarray(some["value"])
    same = bool(some["iso"].all()) and len({v.tobytes() for v in values}) == 1
    return Told(heads["count"], values[0] if same else None)


def alike(array: Any, kind: DataType, count: int) -> tuple[Any, DataType]:
    """The values that this rank gives, and their type, as all ranks have them: an array on all, or the same scalar on
    all. count: the entries that they are of; ranks without any take the type of the others. InvalidValue where the
    types differ."""
    group = current()
    if group.size == 1:
        return array, kind
    one = isinstance(array, np.generic)
    told = group.texts(f"{count} {kind.name} {array.tobytes().hex() if one else '-'}", "the types of values")
    each = [text.split() for text in told]
    some = [words for words in each if words[0] != "0"] or each[:1]
    names = {words[1]: rank for rank, words in reversed(list(enumerate(each))) if words in some}
    if len(names) > 1:
        got = ", ".join(f"{name} on rank {rank}" for name, rank in sorted(names.items(), key=lambda item: item[1]))
        raise InvalidValue(f"values: expected one type on all ranks, got {got}. Hint: dtype= chooses it")
    kind = plain(kind) if kind.name in names else lookup_dtype(next(iter(names)))
    values = {words[2] for words in some}
    if len(values) == 1 and "-" not in values:
        return np.frombuffer(bytes.fromhex(values.pop()), kind.np_type)[0], kind
    if one:
        array = group.device.full(count, kind.np_type.type(array) if count else kind.np_type.type(0))
    return array.astype(kind.np_type, copy=False), kind


def slots(store: VectorStore) -> Any:
    """The values by position, as an array, or as a bitset for BOOL."""
    if not store.iso:
        return store.values
    device = store.device
    if store.dtype is not BOOL:
        return device.full(max(1, store.size), store.values)
    return store.present.copy() if store.values else device.xp.zeros(words_of(store.size), np.uint64)


def gathered(part: Vector, shares: Shares, known: Told, *, values: bool = True, before: Any = None) -> Vector:
    """All of a vector on every rank. part: this rank's share; known: of it; values: whether they are wanted, else all
    are one; before: the values of all ranks when they were gathered last, which are brought up to date.

    Sends a bit for each position, unless all have an entry or none, and the values unless all are one: those that
    changed, or all where few are left.
    """
    group, store = current(), part._stored
    if group.size == 1:
        return part
    dtype, device, size = plain(store.dtype), store.device, shares.size
    count, one = known.entries, known.one
    if not values and one is None:
        one = dtype.np_type.type(1)
    if count == 0:
        return Vector(dtype, size, device=device)
    if count == size:
        bits = full_bits(device, size)
    else:
        bits = _joined_words(group, store.present, shares)
    if one is not None:
        held: Any = one
    elif dtype is BOOL:
        held = _joined_words(group, slots(store), shares)
    else:
        mine = slots(store)[: shares.mine]
        held = None if isinstance(before, (np.generic, NoneType)) else lists.changed(mine, before, shares)
        if held is None:
            held = narrow(group, mine, lambda raw: group.allgather(raw, shares.counts))
    return Vector._from_store(VectorStore(device, size, dtype, bits, held, count))


def _joined_words(group: Group, bits: Any, shares: Shares) -> Any:
    return group.allgather(bits[: shares.words[shares.rank]], shares.words)


def joined(partial: Vector, shares: Shares, monoid: Typed) -> Vector:
    """This rank's share of the sum, by position, of what all ranks have for all positions."""
    group, store = current(), partial._stored
    if group.size == 1:
        return partial
    dtype, device, mine = plain(store.dtype), store.device, shares.mine
    counts, one = told = told_of(store)
    total = Vector(dtype, mine, device=device)
    if not counts.sum():
        return total
    found = lists.joined(partial, shares, monoid, told)
    if found is not None:
        return found
    per_word = [shares.words[shares.rank]] * group.size
    bits = group.alltoall(store.present[: sum(shares.words)], shares.words, per_word)
    if one is not None:
        held: Any = None
    elif dtype is BOOL:
        held = group.alltoall(slots(store)[: sum(shares.words)], shares.words, per_word)
    else:
        send = lambda raw: group.alltoall(raw, shares.counts, [mine] * group.size)
        held = narrow(group, slots(store)[: shares.size], send)
    step, length = (per_word[0],) * 2 if dtype is BOOL else (mine, max(1, mine))
    for rank in range(group.size if mine else 0):
        if not counts[rank]:
            continue
        piece: Any = one
        if held is not None:
            piece = dense_values(device, mine, dtype)
            piece[:length] = held[rank * step : rank * step + length]
        present = bits[rank * per_word[0] : (rank + 1) * per_word[0]].copy()
        other = Vector._from_store(VectorStore(device, mine, dtype, present, piece))
        if total.nvals:
            total(monoid) << other
        else:
            total << other
    return total


def folded(found: np.generic | None, monoid: Typed) -> np.generic | None:
    """The monoid's sum of what the ranks have found, of those that have."""
    group = current()
    if group.size == 1:
        return found
    dtype = plain(monoid.return_type)
    head = np.zeros(1, [("some", np.bool_), ("value", dtype.np_type)])
    head["some"], head["value"] = found is not None, 0 if found is None else found
    heads = np.ascontiguousarray(group.told(head.view(np.uint8))).view(head.dtype)[:, 0]
    values = np.ascontiguousarray(heads["value"][heads["some"]])
    if not len(values):
        return None
    few = Vector.from_coo(np.arange(len(values)), values, dtype, size=len(values), device="cpu")
    total: np.generic | None = few.reduce(monoid).new()._value
    return total


def everywhere(found: np.generic | None, dtype: DataType, root: int) -> np.generic | None:
    """What one rank has found, on all of them."""
    group = current()
    head = np.zeros(1, [("some", np.bool_), ("value", plain(dtype).np_type)])
    head["some"], head["value"] = found is not None, 0 if found is None else found
    told = np.ascontiguousarray(group.told(head.view(np.uint8))).view(head.dtype)[root, 0]
    return dtype.np_type.type(told["value"]) if told["some"] else None


def total(x: int) -> int:
    """The sum of a number of each rank."""
    return int(current().allreduce(np.array([x], np.int64))[0])


def every(x: bool) -> bool:
    """Whether it is so on all ranks."""
    return bool(current().allreduce(np.array([x]), np.logical_and)[0])


def concatenated(arrays: Sequence[Any]) -> list[Any]:
    """The arrays of all ranks, which are as long as each other on one, one after the other."""
    group = current()
    counts = group.told(np.array([len(arrays[0])]))[:, 0].tolist()
    return [narrow(group, x, lambda raw: as_bytes(raw, lambda sent: group.allgather(sent, counts))) for x in arrays]


def dealt(owners: Any, arrays: Sequence[Any]) -> list[Any]:
    """Each element brought to the rank that `owners` names; what comes is in the order of ranks, and as each had it."""
    group = current()
    if group.size == 1:
        return list(arrays)
    xp = group.device.xp
    order = xp.argsort(owners, kind="stable") if group.device.host_memory else _stable(xp, owners)
    sent = group.device.to_host(xp.bincount(owners, minlength=group.size)).tolist()
    received = group.told(np.array(sent, np.int64))[:, group.rank].tolist()
    return [
        narrow(group, x[order], lambda y: as_bytes(y, lambda raw: group.alltoall(raw, sent, received))) for x in arrays
    ]


def _stable(xp: Any, owners: Any) -> Any:
    """CuPy promises no order of equal keys."""
    return xp.argsort(owners.astype(np.int64) * len(owners) + xp.arange(len(owners), dtype=np.int64))


def whole(part: Matrix, shares: Shares) -> Matrix:
    """All of a matrix on every rank. part: its rows of this rank."""
    group = current()
    if group.size == 1:
        return part
    plain(part.dtype)
    i, j, x = part.to_coo()
    rows, columns, values = concatenated([i.astype(np.int64) + shares.low, j.astype(np.int64), x])
    return Matrix.from_coo(
        rows, columns, values, part.dtype, nrows=shares.size, ncols=part.ncols, device=part.device
    )  # fmt: skip

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
    """Check that ranks can exchange values of a type: not those of user-defined types, which each rank numbers
    itself."""
    if dtype._is_udt:
        raise NotImplementedException(f"{dtype}: values of user-defined types cannot be sent between ranks")
    return dtype


class Told(NamedTuple):
    """Facts about a distributed object that all ranks share: the number of entries on each rank, and the single value
    of all entries, None if there are several."""

    counts: np.ndarray
    one: np.generic | None

    @property
    def entries(self) -> int:
        return int(self.counts.sum())


def told_of(store: VectorStore | MatrixStore) -> Told:
    """Share the facts of this rank's part with all ranks."""
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
    """Unify the values that ranks pass: an array on all ranks, or the same scalar on all. count: number of entries;
    ranks without entries adopt the type of the others. InvalidValue if the types differ."""
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
        raise InvalidValue(f"values: expected one type on all ranks, got {got}. Hint: pass dtype=")
    kind = plain(kind) if kind.name in names else lookup_dtype(next(iter(names)))
    values = {words[2] for words in some}
    if len(values) == 1 and "-" not in values:
        return np.frombuffer(bytes.fromhex(values.pop()), kind.np_type)[0], kind
    if one:
        array = group.device.full(count, kind.np_type.type(array) if count else kind.np_type.type(0))
    return array.astype(kind.np_type, copy=False), kind


def slots(store: VectorStore) -> Any:
    """The values by position, as an array, or as a bitset if BOOL."""
    if not store.iso:
        return store.values
    device = store.device
    if store.dtype is not BOOL:
        return device.full(max(1, store.size), store.values)
    return store.present.copy() if store.values else device.xp.zeros(words_of(store.size), np.uint64)


def gathered(part: Vector, shares: Shares, known: Told, *, values: bool = True, before: Any = None) -> Vector:
    """A whole vector on every rank. part: this rank's share. known: facts about the vector. values: whether the values
    are read; otherwise all are set to one. before: the previously gathered values, to be updated.

    Sends one bit per position, unless all or none have an entry. Sends the values unless all are equal: only changed
    ones, or all of them if that is shorter.
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
    """This rank's share of the element-wise sum of a vector that each rank has for all positions."""
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
    """The monoid's sum of the ranks' values, without ranks that have none."""
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
    """Broadcast one rank's value."""
    group = current()
    head = np.zeros(1, [("some", np.bool_), ("value", plain(dtype).np_type)])
    head["some"], head["value"] = found is not None, 0 if found is None else found
    told = np.ascontiguousarray(group.told(head.view(np.uint8))).view(head.dtype)[root, 0]
    return dtype.np_type.type(told["value"]) if told["some"] else None


def total(x: int) -> int:
    """The sum of a number over all ranks."""
    return int(current().allreduce(np.array([x], np.int64))[0])


def every(x: bool) -> bool:
    """Whether x is true on all ranks."""
    return bool(current().allreduce(np.array([x]), np.logical_and)[0])


def concatenated(arrays: Sequence[Any]) -> list[Any]:
    """Concatenate the arrays of all ranks; on one rank all arrays have the same length."""
    group = current()
    counts = group.told(np.array([len(arrays[0])]))[:, 0].tolist()
    return [narrow(group, x, lambda raw: as_bytes(raw, lambda sent: group.allgather(sent, counts))) for x in arrays]


def dealt(owners: Any, arrays: Sequence[Any]) -> list[Any]:
    """Send each element to the rank in `owners`. Received elements are in rank order, and in order within each rank."""
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
    """A stable argsort: CuPy guarantees no order of equal keys."""
    return xp.argsort(owners.astype(np.int64) * len(owners) + xp.arange(len(owners), dtype=np.int64))


def whole(part: Matrix, shares: Shares) -> Matrix:
    """A whole matrix on every rank. part: this rank's rows."""
    group = current()
    if group.size == 1:
        return part
    plain(part.dtype)
    i, j, x = part.to_coo()
    rows, columns, values = concatenated([i.astype(np.int64) + shares.low, j.astype(np.int64), x])
    return Matrix.from_coo(
        rows, columns, values, part.dtype, nrows=shares.size, ncols=part.ncols, device=part.device
    )  # fmt: skip

"""Communication patterns on the four calls of a Group: gathers, sums, redistribution, sparse exchange.

Gather a vector, combine sums, send entries to the owners of their rows, reduce a scalar. All combine in rank order, so
the same number of ranks gives the same bits.

Sparse exchange sends lists of (index, value) if these are shorter than the dense vector: values that changed since they
were last sent, sums with few entries, requested indices. Numbers are sent in 32 bits if all fit. The lengths of all
lists are exchanged before the decision, so all ranks decide alike. Indices count from the first index of the owning
rank, which 32 bits can hold.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL, DataType, lookup_dtype

from .. import tuning
from ..core import Matrix, Vector
from ..exceptions import InvalidValue, NotImplementedException
from ..formats.csr.kernels import index_type
from ..store import MatrixStore, VectorStore, dense_values, full_bits
from ..store import words as words_of
from ..typing import Array
from .group import Group
from .shares import WORD, Shares
from .start import current

if TYPE_CHECKING:
    from ..core.typing import ArrayOrValue
    from .vector import Vector as DistributedVector

Send = Callable[[Array], Array]

# ---- Sparse exchange between ranks: send lists of (index, value) if these are shorter than the dense vector.

PLACE = 4  # bytes of an index in a list
LONG = np.iinfo(np.uint32).max  # maximum index within a rank


def is_shorter(group: Group, shares: Shares, entries: int, nbytes: int, whole: int) -> bool:
    """Whether lists with `entries` in total over all ranks are shorter than `whole` bytes."""
    return entries * (PLACE + nbytes) * tuning.value("exchange.gain") <= whole and max(shares.counts) <= LONG


def count_per_rank(group: Group, at: Array, shares: Shares) -> list[int]:
    """The number of positions, out of ascending ones, that each rank owns."""
    xp = group.device.xp
    return np.diff(group.device.to_host(xp.searchsorted(at, xp.asarray(shares.bounds, at.dtype)))).tolist()


def update_changed(mine: Array, before: Array, shares: Shares) -> Array | None:
    """Update `before`, the values of all ranks, where those of this rank (`mine`) have changed. None if sending all
    values is as short."""
    group = current()
    xp, size = group.device.xp, mine.dtype.itemsize
    if before.nbytes < tuning.count("exchange.least") or size not in (1, 2, 4, 8) or before.dtype != mine.dtype:
        return None
    bits = f"u{size}"  # compares bits: NaN differs from itself, and -0.0 equals 0.0
    places = xp.flatnonzero(mine.view(bits) != before[shares.low : shares.high].view(bits))
    counts = group.gather_host(np.array([len(places)]))[:, 0].tolist()
    as_bits = sum(counts) * PLACE > shares.size // 8  # a bit per position is shorter than the list
    if as_bits and (sum(counts) * size + shares.size // 8) * tuning.value("exchange.gain") > before.nbytes:
        return None
    if not as_bits and not is_shorter(group, shares, sum(counts), size, before.nbytes):
        return None
    values = send_narrow(group, mine[places], lambda raw: group.allgather(raw, counts))
    if as_bits:
        flags = xp.zeros(shares.words[shares.rank] * WORD, bool)
        flags[places] = True
        words = group.allgather(xp.packbits(flags, bitorder="little").view(np.uint64), shares.words)
        at = xp.flatnonzero(xp.unpackbits(words.view(np.uint8), bitorder="little"))
    else:
        at = group.allgather(places.astype(np.uint32), counts).astype(np.int64)
        at += xp.repeat(xp.asarray(shares.bounds[:-1], np.int64), counts)
    before[at] = values
    return before


def send_narrow(group: Group, values: Array, send: Send) -> Array:
    """Apply send(values); 64-bit integers are sent in 32 bits if those of all ranks fit."""
    if values.dtype.kind not in "iu" or values.itemsize < 8 or not group.lists:
        return send(values)
    dtype = np.dtype(f"{values.dtype.kind}4")
    some = len(values) > 0
    low, high = (int(values.min()), int(values.max())) if some else (0, 0)
    fits = np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max
    if not group.gather_host(np.array([fits])).all():
        return send(values)
    return send(values.astype(dtype)).astype(values.dtype)


def sum_as_lists(partial: Vector, shares: Shares, monoid: Typed, facts: SharedFacts) -> Vector | None:
    """This rank's share of a sum (`sum_vectors`), exchanged as lists of entries; None if these are not shorter.
    facts: the facts that all ranks share about their parts."""
    group = current()
    dtype, size, mine = partial.dtype, shares.size, shares.mine
    nbytes = 0 if facts.one is not None else dtype.np_type.itemsize
    whole = size // 8 + (0 if facts.one is not None else size // 8 if dtype is BOOL else size * nbytes)
    if (
        not group.lists
        or whole < tuning.count("exchange.least")
        or not is_shorter(group, shares, facts.entries, nbytes, group.size * whole)
    ):
        return None
    xp = group.device.xp
    at, values = partial.to_coo(values=nbytes > 0)
    sent = count_per_rank(group, at, shares)
    received = group.gather_host(np.array(sent, np.int64))[:, group.rank].tolist()
    begins = xp.repeat(xp.asarray(shares.bounds[:-1], np.uint64), sent)
    places = group.alltoall((at - begins).astype(np.uint32), sent, received)
    if nbytes:
        values = send_narrow(group, values, lambda raw: group.alltoall(raw, sent, received))
    total = Vector(dtype, mine, device=partial.device)
    ends = np.cumsum([0, *received]).tolist()
    for low, high in pairwise(ends):  # in rank order
        if high > low:
            dense = values[low:high] if facts.one is None else facts.one
            other = Vector.from_coo(places[low:high], dense, dtype, size=mine, device=partial.device)
            total(monoid) << other if total.nvals else total << other
    return total


# ---- Communication patterns on the four calls of a Group: gather a vector, combine sums, send entries to the owners
# of their rows, reduce a scalar. All combine in rank order, so the same number of ranks gives the same bits.


def check_exchangeable(dtype: DataType) -> DataType:
    """Check that ranks can exchange values of a type: not those of user-defined types, which each rank numbers
    itself."""
    if dtype._is_udt:
        raise NotImplementedException(f"{dtype}: values of user-defined types cannot be sent between ranks")
    return dtype


class SharedFacts(NamedTuple):
    """Facts about a distributed object that all ranks share: the number of entries on each rank, and the single value
    of all entries, None if there are several."""

    counts: np.ndarray
    one: np.generic | None

    @property
    def entries(self) -> int:
        return int(self.counts.sum())


def share_facts(store: VectorStore | MatrixStore) -> SharedFacts:
    """Share the facts of this rank's part with all ranks."""
    current().settle()
    return facts_of_ranks(store.nvals, store.values if store.iso else None, store.dtype)


def facts_of_ranks(count: int, one: np.generic | None, dtype: DataType) -> SharedFacts:
    """Share the number of this rank's entries and their single value with all ranks."""
    if current().size == 1:
        return SharedFacts(np.array([count]), dtype.np_type.type(0) if one is None and not count else one)
    counts, iso, values = gather_values(count, one, dtype)
    values = values[counts > 0]
    if not len(values):
        return SharedFacts(counts, dtype.np_type.type(0) if one is None else one)
    same = bool(iso[counts > 0].all()) and len({v.tobytes() for v in values}) == 1
    return SharedFacts(counts, values[0] if same else None)


def gather_values(count: int, value: np.generic | None, dtype: DataType) -> tuple[Array, Array, Array]:
    """Gather a number, whether there is a value, and the value (0: none) from each rank."""
    head = np.zeros(1, [("count", np.int64), ("some", np.bool_), ("value", dtype.np_type)])
    head["count"], head["some"] = count, value is not None
    if value is not None:
        head["value"] = value
    heads = np.ascontiguousarray(current().gather_host(head.view(np.uint8))).view(head.dtype)[:, 0]
    return heads["count"], heads["some"], np.ascontiguousarray(heads["value"])


def unify_values(array: ArrayOrValue, kind: DataType, count: int) -> tuple[ArrayOrValue, DataType]:
    """Unify the values that ranks pass: an array on all ranks, or the same scalar on all. count: number of entries;
    ranks without entries adopt the type of the others. InvalidValue if the types differ."""
    group = current()
    if group.size == 1:
        return array, kind
    value = array.tobytes().hex() if isinstance(array, np.generic) else "-"
    each = [text.split() for text in group.texts(f"{count} {kind.name} {value}", "the types of values")]
    some = [words for words in each if words[0] != "0"] or each[:1]
    names = {words[1]: rank for rank, words in reversed(list(enumerate(each))) if words in some}
    if len(names) > 1:
        got = ", ".join(f"{name} on rank {rank}" for name, rank in sorted(names.items(), key=lambda item: item[1]))
        raise InvalidValue(f"values: expected one type on all ranks, got {got}. Hint: pass dtype=")
    kind = check_exchangeable(kind) if kind.name in names else lookup_dtype(next(iter(names)))
    values = {words[2] for words in some}
    if len(values) == 1 and "-" not in values:
        return np.frombuffer(bytes.fromhex(values.pop()), kind.np_type)[0], kind
    if isinstance(array, np.generic):
        array = group.device.full(count, kind.np_type.type(array) if count else kind.np_type.type(0))
    return array.astype(kind.np_type, copy=False), kind


def slots(store: VectorStore) -> Array:
    """The values by position, as an array, or as a bitset if BOOL."""
    if not store.iso:
        return store.values
    device = store.device
    if store.dtype is not BOOL:
        return device.full(max(1, store.size), store.values)
    return store.present.copy() if store.values else device.xp.zeros(words_of(store.size), np.uint64)


def gather_vector(
    part: Vector, shares: Shares, known: SharedFacts, *, values: bool = True, before: ArrayOrValue | None = None
) -> Vector:
    """A whole vector on every rank. part: this rank's share. known: facts about the vector. values: whether the values
    are read; otherwise all are set to one. before: the previously gathered values, to be updated.

    Sends one bit per position, unless all or none have an entry. Sends the values unless all are equal: only changed
    ones, or all of them if that is shorter.
    """
    group, store = current(), part._stored
    if group.size == 1:
        return part
    dtype, device, size = check_exchangeable(store.dtype), store.device, shares.size
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
        return Vector._from_store(VectorStore(device, size, dtype, bits, one, count))
    if dtype is BOOL:
        return Vector._from_store(
            VectorStore(device, size, dtype, bits, _joined_words(group, slots(store), shares), count)
        )
    mine = slots(store)[: shares.mine]
    found = None if before is None or isinstance(before, np.generic) else update_changed(mine, before, shares)
    if found is None:
        found = send_narrow(group, mine, lambda raw: group.allgather(raw, shares.counts))
    return Vector._from_store(VectorStore(device, size, dtype, bits, found, count))


def _joined_words(group: Group, bits: Array, shares: Shares) -> Array:
    return group.allgather(bits[: shares.words[shares.rank]], shares.words)


def sum_vectors(partial: Vector, shares: Shares, monoid: Typed) -> Vector:
    """This rank's share of the element-wise sum of a vector that each rank has for all positions."""
    group, store = current(), partial._stored
    if group.size == 1:
        return partial
    dtype, device, mine = check_exchangeable(store.dtype), store.device, shares.mine
    counts, one = facts = share_facts(store)
    total = Vector(dtype, mine, device=device)
    if not counts.sum():
        return total
    found = sum_as_lists(partial, shares, monoid, facts)
    if found is not None:
        return found
    per_word = [shares.words[shares.rank]] * group.size
    bits = group.alltoall(store.present[: sum(shares.words)], shares.words, per_word)
    dense: Array | None = None
    if dtype is BOOL and one is None:
        dense = group.alltoall(slots(store)[: sum(shares.words)], shares.words, per_word)
    elif one is None:
        send: Send = lambda raw: group.alltoall(raw, shares.counts, [mine] * group.size)
        dense = send_narrow(group, slots(store)[: shares.size], send)
    step, length = (per_word[0],) * 2 if dtype is BOOL else (mine, max(1, mine))
    for rank in range(group.size if mine else 0):
        if not counts[rank]:
            continue
        present = bits[rank * per_word[0] : (rank + 1) * per_word[0]].copy()
        piece = VectorStore(device, mine, dtype, present, one)
        if dense is not None:
            piece.values = dense_values(device, mine, dtype)
            piece.values[:length] = dense[rank * step : rank * step + length]
        other = Vector._from_store(piece)
        if total.nvals:
            total(monoid) << other
        else:
            total << other
    return total


def reduce_scalars(found: np.generic | None, monoid: Typed) -> np.generic | None:
    """The monoid's sum of the ranks' values, without ranks that have none."""
    if current().size == 1:
        return found
    _, some, values = gather_values(0, found, check_exchangeable(monoid.return_type))
    count = int(some.sum())
    vector = Vector.from_coo(np.arange(count), values[some], monoid.return_type, size=count, device="cpu")
    return vector.reduce(monoid).new()._value if count else None


def broadcast(found: np.generic | None, dtype: DataType, root: int) -> np.generic | None:
    """Broadcast one rank's value."""
    _, some, values = gather_values(0, found, check_exchangeable(dtype))
    return dtype.np_type.type(values[root]) if some[root] else None


def owned_entries(
    s: Shares, indices: Sequence[Array], values: ArrayOrValue, kind: DataType, share: bool
) -> tuple[Sequence[Array], ArrayOrValue, DataType]:
    """The entries in this rank's share, and the type of their values. share: each rank passes other entries, which are
    sent to their owners; otherwise all pass the same."""
    group = current()
    if share:
        values, kind = unify_values(values, kind, len(indices[0]))
        indices = [i.astype(np.int64, copy=False) for i in indices]
        arrays = indices if isinstance(values, np.generic) else [*indices, values]
        arrays = redistribute(s.owners(group.device.xp, indices[0]), arrays)
        return arrays[: len(indices)], values if isinstance(values, np.generic) else arrays[-1], kind
    if group.size > 1:
        keep = s.has(indices[0])
        indices, values = [i[keep] for i in indices], values if isinstance(values, np.generic) else values[keep]
    return indices, values, kind


def maximum_of_ranks(x: int) -> int:
    """The maximum of a number over all ranks."""
    return int(current().allreduce(np.array([x]), np.maximum)[0])


def concatenate(arrays: Sequence[Array]) -> list[Array]:
    """Concatenate the arrays of all ranks; on one rank all arrays have the same length."""
    group = current()
    counts = group.gather_host(np.array([len(arrays[0])]))[:, 0].tolist()
    return [send_narrow(group, x, lambda raw: group.allgather(raw, counts)) for x in arrays]


def stack_rows(part: Matrix, heights: list[int]) -> Matrix:
    """The matrices of all ranks one below another, on every rank. heights: their numbers of rows. Sends row lengths,
    columns in the type that they are stored in, and values unless all are equal."""
    group, facts = current(), share_facts(part._stored)
    dtype, device, xp, counts = check_exchangeable(part.dtype), part.device, part.device.xp, facts.counts.tolist()
    if facts.one is None and 0 < facts.entries == sum(heights) * part.ncols:  # dense rows
        dense = group.allgather(part.to_dense().reshape(-1), [height * part.ncols for height in heights])
        return Matrix.from_dense(dense.reshape(-1, part.ncols), dtype=dtype, device=device)
    store = part._in_users_order
    if store.structure.primary.format.by_rows and not store.structure.hypersparse:
        layout, values = store.by_rows()
        lengths, columns = (layout.ptr[1:] - layout.ptr[:-1])[: part.nrows], layout.columns()
    else:
        rows, columns, values = part.to_coo(values=facts.one is None)
        lengths = xp.bincount(rows.astype(np.int64), minlength=part.nrows)
    ptr = xp.zeros(sum(heights) + 1, np.int64)
    xp.cumsum(group.allgather(lengths.astype(np.int64), heights), out=ptr[1:])
    columns = group.allgather(columns.astype(index_type(part.ncols), copy=False), counts)
    if facts.one is not None:
        values = facts.one
    else:
        values = device.full(counts[group.rank], values) if isinstance(values, np.generic) else values
        values = group.allgather(values[: counts[group.rank]], counts)
    return Matrix._from_rows(device, ptr, columns, values, dtype, sum(heights), part.ncols)


def redistribute(owners: Array, arrays: Sequence[Array]) -> list[Array]:
    """Send each element to the rank in `owners`. Received elements are in rank order, and in order within each rank."""
    group = current()
    if group.size == 1:
        return list(arrays)
    xp = group.device.xp
    if group.device.host_memory:
        order = xp.argsort(owners, kind="stable")
    else:  # CuPy guarantees no order of equal keys
        order = xp.argsort(owners.astype(np.int64) * len(owners) + xp.arange(len(owners), dtype=np.int64))
    sent = group.device.to_host(xp.bincount(owners, minlength=group.size)).tolist()
    received = group.gather_host(np.array(sent, np.int64))[:, group.rank].tolist()
    return [send_narrow(group, x[order], lambda raw: group.alltoall(raw, sent, received)) for x in arrays]


# ---- Remote gather: copy a whole distributed vector to every rank, updating an earlier copy; or fetch selected
# indices.


def remote_gather(x: DistributedVector, values: bool = True) -> Vector:
    """A whole distributed Vector on every rank, read-only; x keeps it for the next time. values: whether they are read;
    otherwise all are set to one."""
    group, facts = current(), x._shared_facts()
    if not (group.lists and group.size > 1):
        return gather_vector(x._part, x.shares, facts, values=values)
    if x._sent is not None and x._sent[0] is facts:
        return x._sent[1]
    if not values:
        return gather_vector(x._part, x.shares, facts, values=False)
    before = None if x._sent is None else x._sent[1]._stored.values
    x._sent = None  # until the whole vector has arrived
    found = gather_vector(x._part, x.shares, facts, before=before)
    if found._stored.values.nbytes >= tuning.count("exchange.least"):
        _keep(group, x, (facts, found))
    return found


def _keep(group: Group, x: DistributedVector, sent: tuple[SharedFacts, Vector]) -> None:
    """Keep the same few recent vectors on every rank, so that no rank needs to check whether another has a copy."""
    others = [ref for ref in group.kept if ref() is not x]
    oldest = max(0, len(others) + 1 - tuning.count("exchange.copies"))
    for ref in others[:oldest]:
        if (other := ref()) is not None:
            other._sent = None
    group.kept = [*others[oldest:], weakref.ref(x)]
    x._sent = sent


def gather_elements(x: DistributedVector, at: Array) -> Vector:
    """x[at] of a distributed Vector. at: an array of positions, different on each rank. Values of other ranks are
    requested, unless sending the whole vector is as short."""
    group, s, facts = current(), x.shares, x._shared_facts()
    dtype = x.dtype.np_type
    xp, nbytes, fresh = group.device.xp, dtype.itemsize, x._sent is not None and x._sent[0] is facts
    is_plain = facts.entries == s.size and facts.one is None and x.dtype is not BOOL and at.dtype.kind in "iu"
    if not (group.lists and group.size > 1 and is_plain) or fresh or s.size * nbytes < tuning.count("exchange.least"):
        return remote_gather(x)[at].new()
    is_requested = xp.zeros(s.size, bool)
    is_requested[at[(at >= 0) & (at < s.size)]] = True
    is_requested[s.low : s.high] = False
    requested = xp.flatnonzero(is_requested)
    sent = count_per_rank(group, requested, s)
    table = group.gather_host(np.array(sent, np.int64))
    if not is_shorter(group, s, int(table.sum()), nbytes, (group.size - 1) * s.size * nbytes):
        return remote_gather(x)[at].new()
    received = table[:, group.rank].tolist()
    begins = xp.repeat(xp.asarray(s.bounds[:-1], np.int64), sent)
    local_indices = group.alltoall((requested - begins).astype(np.uint32), sent, received)
    own = slots(x._part._stored)[: s.mine]
    values = xp.empty(s.size, dtype)  # positions that are not requested are not read
    values[s.low : s.high] = own
    values[requested] = send_narrow(group, own[local_indices], lambda raw: group.alltoall(raw, received, sent))
    store = VectorStore(x.device, s.size, x.dtype, full_bits(x.device, s.size), values, s.size)
    return Vector._from_store(store)[at].new()

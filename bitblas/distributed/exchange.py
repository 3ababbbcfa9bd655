"""Communication patterns on the four calls of a Group: gathers, sums, redistribution.

Gather a vector or a matrix, send entries to the owners of their rows, reduce a scalar. All combine in rank order, so
the same number of ranks gives the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL, DataType, lookup_dtype

from ..core import Matrix, Vector
from ..core.building import check_lengths
from ..core.convert import check_range, check_size, index_array, value_array
from ..exceptions import InvalidValue, NotImplementedException
from ..formats import Structure
from ..formats.csr.kernels import index_type
from ..formats.csr.layout import from_arrays
from ..store import MatrixStore, VectorStore, full_bits
from ..store import words as words_of
from ..typing import Array
from .shares import Shares
from .start import current

if TYPE_CHECKING:
    from ..core.typing import ArrayOrValue, DTypeArg, IndicesLike, SizeArg, ValuesLike

LONGEST = 1 << 60  # maximum size of GraphBLAS


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
    """Share the number of entries of this rank's part, and their single value, with all ranks."""
    current().settle()
    count, one, dtype = store.nvals, store.values if store.iso else None, store.dtype
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


def gather_vector(part: Vector, shares: Shares, known: SharedFacts, *, values: bool = True) -> Vector:
    """A whole vector on every rank. part: this rank's share. known: facts about the vector. values: whether the values
    are read; otherwise all are set to one.

    Sends one bit per position, unless all or none have an entry, and the values unless all are equal.
    """
    group, store = current(), part._stored
    dtype, device, size = check_exchangeable(store.dtype), store.device, shares.size
    count, one = known.entries, known.one
    if not values and one is None:
        one = dtype.np_type.type(1)
    if count == 0:
        return Vector(dtype, size, device=device)
    gather = lambda x, units: group.allgather(x[: units[shares.rank]], units)
    bits = full_bits(device, size) if count == size else gather(store.present, shares.words)
    found = gather(slots(store), shares.words if dtype is BOOL else shares.counts) if one is None else one
    return Vector._from_store(VectorStore(device, size, dtype, bits, found, count))


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


def check_entries(
    what: str,
    indices: Mapping[str, IndicesLike],
    sizes: Mapping[str, SizeArg],
    share: bool,
    values: ValuesLike = True,
    dtype: DTypeArg = None,
) -> tuple[list[Array], list[int], ArrayOrValue, DataType]:
    """The arguments of `from_coo` as arrays, checked: indices and sizes by name, of each dimension. share: each rank
    passes other entries; a size that is not given is derived from those of all ranks."""
    group = current()
    d = group.device

    def checked() -> tuple[list[Array], ArrayOrValue, DataType]:
        arrays = [index_array(d, x, name) for name, x in indices.items()]
        array, kind = value_array(d, values, dtype)
        check_lengths(array, *arrays)
        for x, (name, size), at in zip(arrays, sizes.items(), indices):
            check_range(x, LONGEST if size is None else check_size(name, size), at)
        return arrays, array, kind

    arrays, array, kind = group.all_or_none(what, checked) if share else checked()
    found = []
    for x, (name, size) in zip(arrays, sizes.items()):
        if size is None:
            end = int(x.max()) + 1 if len(x) else 0
            size = maximum_of_ranks(end) if share else end
            if not size:
                raise ValueError(f"{name}: expected a size, because there are no indices, got None")
        found.append(check_size(name, size))
    return arrays, found, array, kind


def maximum_of_ranks(x: int) -> int:
    """The maximum of a number over all ranks."""
    return int(current().allreduce(np.array([x]), np.maximum)[0])


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


def concatenate(arrays: Sequence[Array]) -> list[Array]:
    """Concatenate the arrays of all ranks; on one rank all arrays have the same length."""
    group = current()
    counts = group.gather_host(np.array([len(arrays[0])]))[:, 0].tolist()
    return [group.allgather(x, counts) for x in arrays]


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
    if facts.one is None:
        values = device.full(counts[group.rank], values) if isinstance(values, np.generic) else values
        values = group.allgather(values[: counts[group.rank]], counts)
    rows = from_arrays(device, sum(heights), part.ncols, ptr, columns)  # not checked, and so not copied
    return Matrix._from_store(MatrixStore(Structure(rows), dtype, values if facts.one is None else facts.one))


def redistribute(owners: Array, arrays: Sequence[Array]) -> list[Array]:
    """Send each element to the rank in `owners`. Received elements are in rank order, and in order within each rank."""
    group = current()
    if group.size == 1:
        return list(arrays)
    xp = group.device.xp
    # Keys that differ, because CuPy guarantees no order of equal ones.
    order = xp.argsort(owners.astype(np.int64) * len(owners) + xp.arange(len(owners), dtype=np.int64))
    sent = group.device.to_host(xp.bincount(owners, minlength=group.size)).tolist()
    received = group.gather_host(np.array(sent, np.int64))[:, group.rank].tolist()
    return [group.alltoall(x[order], sent, received) for x in arrays]

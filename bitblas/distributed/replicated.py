"""Replicated execution: on small graphs every GPU rank runs the whole algorithm on the whole matrix.

This pays if a round of the algorithm takes less time than its communication. Each rank then computes as one GPU would,
and only the answer is sent, from the first rank. All ranks decide together, once for the contents of a matrix.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import semiring
from semirings.dtypes import INT64

from .. import tuning
from ..config import config
from ..core import Matrix as WholeMatrix
from ..core import Scalar
from ..core import Vector as WholeVector
from ..exceptions import DistributedError
from ..store import VectorStore, dense_values, words
from ..typing import Array
from . import exchange, loops, shares
from .start import current

if TYPE_CHECKING:
    from .matrix import Matrix


def reason(entries: int, longest: int, nbytes: int, free: int) -> str | None:
    """Why a graph is not split, or None if it is. All ranks pass the same arguments: the number of entries, those of
    the longest row, the bytes of the matrix on one device, and the free bytes of each."""
    few = tuning.count("replicated.entries")
    if nbytes * tuning.value("replicated.memory") > free:
        return None
    if entries <= few:
        return f"its {entries} entries are few (at most {few})"
    if longest <= tuning.count("replicated.longest_row"):
        return f"its rows are short (at most {longest} entries), so searches have many small levels"
    return None


def why_replicated(A: Matrix) -> str | None:
    """Why each rank computes a distributed Matrix whole; None if it is split. A collective, once per contents."""
    group = current()
    if group.size == 1 or group.splits or A.device.host_memory or loops.is_recording():
        return None
    return A._cached(f"why replicated {tuning.version()}", lambda: _why(A))


def _why(A: Matrix) -> str | None:
    group, part, facts = current(), A._part, A._shared_facts()
    of_rows = part.mxv(WholeVector.from_scalar(True, A.ncols, device=A.device), semiring.plus_pair[INT64]).new()
    longest = of_rows.reduce("max").new().value or 0
    free = A.device.free_bytes()
    longest, tight = group.allreduce(np.array([longest, -free], np.int64), np.maximum).tolist()
    nbytes = 2 * (facts.entries * (4 + (0 if facts.one is not None else A.dtype.np_type.itemsize)) + 8 * A.nrows)
    return reason(facts.entries, longest, nbytes, -tight)


def run(program: Callable[..., Any], A: Matrix, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run program(A, *args, **options) with all of A on each rank; on the only rank, as without ranks."""
    whole = A._part if current().size == 1 else A._cached("whole", A._gathered)
    with current().statement(lambda: f"{program.__name__}({A.name})"):
        keywords = {name: _to_one_device(x) for name, x in options.items() if name != "gb"}
        arguments = tuple(map(_to_one_device, args))
        if current().size == 1:
            if A.device.name == config.device:  # otherwise the program sets it
                keywords["gb"] = sys.modules[__package__.partition(".")[0]]
                program = getattr(program, "__wrapped__", program)
            return _distribute(program(whole, *arguments, **keywords))
        result = current().all_or_none(program.__name__, lambda: program(whole, *arguments, **keywords), alike=True)
        kinds = current().texts(_describe_type(result))  # how an answer is distributed depends on its type
        for rank, kind in enumerate(kinds):
            if kind != kinds[0]:
                raise DistributedError(
                    f"{program.__name__}: the ranks' results differ: {kinds[0]} on rank 0, {kind} on rank {rank}"
                )
        return _distribute(result)


def _to_one_device(x: Any) -> Any:
    """Convert an argument to an object on one device."""
    if hasattr(x, "_ranks"):
        return x._part if x._ranks.size == 1 else x.gathered()
    return type(x)(map(_to_one_device, x)) if isinstance(x, (list, tuple)) and type(x) in (list, tuple) else x


def _distribute(result: Any) -> Any:
    """Distribute an answer: the first rank's is used by all."""
    one, library = current().size == 1, sys.modules[__package__]
    if isinstance(result, WholeVector):
        s = shares.of(result.size)
        return library.Vector._of(result if one else _scatter(result, s), s, result.name)
    if isinstance(result, WholeMatrix) and one:
        return library.Matrix._of(result, shares.of(result.nrows), result.name)
    if isinstance(result, WholeMatrix):
        i, j, x = (a if current().rank == 0 else a[:0] for a in result.to_coo())
        return library.Matrix.from_coo(i, j, x, result.dtype, nrows=result.nrows, ncols=result.ncols, share=True)
    if isinstance(result, Scalar) and not one:
        return result if result.value is None else Scalar.from_value(_broadcast_value(result.value), result.dtype)
    if isinstance(result, (list, tuple)):
        parts = map(_distribute, result)
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return _broadcast_value(result) if not one and isinstance(result, (bool, int, float, np.generic)) else result


def _describe_type(result: object) -> str:
    """The type of an answer and of its parts, which must be the same on all ranks."""
    if isinstance(result, (list, tuple)):
        return f"{type(result).__name__}({', '.join(map(_describe_type, result))})"
    size = f" of {getattr(result, 'shape', ())}" if hasattr(result, "dtype") else ""
    empty = " without a value" * (isinstance(result, Scalar) and result.value is None)
    return f"{type(result).__name__} {getattr(result, 'dtype', '')}{size}{empty}"


def _scatter(result: WholeVector, s: shares.Shares) -> WholeVector:
    """This rank's share of the first rank's vector. Every rank has a vector of that size and type."""
    group, store = current(), result._stored
    one = exchange.broadcast(store.values if store.iso else None, store.dtype, 0)

    def share(array: Array, counts: list[int]) -> Array:
        nothing = [0] * group.size
        sent = array[: sum(counts)] if group.rank == 0 else array[:0]
        return group.alltoall(sent, counts if group.rank == 0 else nothing, [counts[s.rank], *nothing[1:]])

    bits = share(store.present, s.words)
    if not len(bits):  # a rank without positions: kernels read one word of every bitset
        bits = store.device.xp.zeros(words(s.mine), np.uint64)
    part = VectorStore(store.device, s.mine, store.dtype, bits, one)
    if one is None:
        part.values = dense_values(store.device, s.mine, store.dtype)
        received = share(exchange.slots(store), s.units(store.dtype))
        part.values[: len(received)] = received
    return WholeVector._from_store(part)


def _broadcast_value(value: Any) -> Any:
    array = np.array([value])
    return type(value)(current().gather_host(array)[0, 0]) if array.dtype != object else value

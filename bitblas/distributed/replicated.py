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
from semirings.dtypes import BOOL, INT64

from .. import tuning
from ..config import config
from ..core import Matrix as WholeMatrix
from ..core import Scalar
from ..core import Vector as WholeVector
from ..exceptions import DistributedError
from ..store import VectorStore, dense_values, words
from ..typing import Array
from . import exchange, loops, shares
from .expressions import classes_by_ndim
from .start import current

if TYPE_CHECKING:
    from .matrix import Matrix


def reason(entries: int, longest: int, nbytes: int, free: int) -> str | None:
    """Why a graph is not split, or None if it is. All arguments are known to all ranks: the number of entries, those of
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
    return A._kept(f"why alone {tuning.version()}", lambda: _why(A))


def _why(A: Matrix) -> str | None:
    group, part, told = current(), A._part, A._told()
    of_rows = part.mxv(WholeVector.from_scalar(True, A.ncols, device=A.device), semiring.plus_pair[INT64]).new()
    longest = of_rows.reduce("max").new().value or 0
    free = A.device.free_bytes()
    longest, tight = group.allreduce(np.array([longest, -free], np.int64), np.maximum).tolist()
    nbytes = 2 * (told.entries * (4 + (0 if told.one is not None else A.dtype.np_type.itemsize)) + 8 * A.nrows)
    return reason(told.entries, longest, nbytes, -tight)


def run_replicated(program: Callable[..., Any], A: Matrix, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run program(A, *args, **options) with all of A on each rank."""
    whole = A._kept("whole", A._gathered)
    with current().statement(lambda: f"{program.__name__}({A.name})"):
        given = {name: _here(x) for name, x in options.items() if name != "gb"}
        arguments = tuple(map(_here, args))
        found = current().all_or_none(program.__name__, lambda: program(whole, *arguments, **given), alike=True)
        kinds = current().texts(_kind(found))  # how an answer is distributed depends on its type
        for rank, kind in enumerate(kinds):
            if kind != kinds[0]:
                raise DistributedError(
                    f"{program.__name__}: the ranks' results differ: {kinds[0]} on rank 0, {kind} on rank {rank}"
                )
        return _in_shares(found)


def run_on_single_rank(program: Callable[..., Any], A: Matrix, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run program(A, *args, **options) on the only rank, as without ranks."""
    given = {name: _here(x) for name, x in options.items() if name != "gb"}
    if A.device.name == config.device:  # otherwise the program sets it
        program, given["gb"] = getattr(program, "__wrapped__", program), sys.modules[__package__.partition(".")[0]]
    return _in_shares(program(A._part, *map(_here, args), **given))


def _here(x: Any) -> Any:
    """Convert an argument to an object on one device."""
    if hasattr(x, "_ranks"):
        return x._part if x._ranks.size == 1 else x.gathered()
    return type(x)(map(_here, x)) if isinstance(x, (list, tuple)) and type(x) in (list, tuple) else x


def _in_shares(found: Any) -> Any:
    """Distribute an answer: the first rank's is used by all."""
    one = current().size == 1
    if isinstance(found, WholeVector):
        s = shares.of(found.size)
        return classes_by_ndim[1]._of(found if one else _dealt(found, s), s, found.name)
    if isinstance(found, WholeMatrix):
        if one:
            return classes_by_ndim[2]._of(found, shares.of(found.nrows), found.name)
        first = current().rank == 0
        i, j, x = (a if first else a[:0] for a in found.to_coo())
        return classes_by_ndim[2].from_coo(i, j, x, found.dtype, nrows=found.nrows, ncols=found.ncols, share=True)
    if isinstance(found, Scalar) and not one:
        return found if found.value is None else Scalar.from_value(_of_first(found.value), found.dtype)
    if isinstance(found, (list, tuple)):
        return _each(found)
    return _of_first(found) if not one and isinstance(found, (bool, int, float, np.generic)) else found


def _kind(found: object) -> str:
    """The type of an answer and of its parts, which must be the same on all ranks."""
    if isinstance(found, (list, tuple)):
        return f"{type(found).__name__}({', '.join(map(_kind, found))})"
    size = f" of {getattr(found, 'shape', ())}" if hasattr(found, "dtype") else ""
    empty = " without a value" * (isinstance(found, Scalar) and found.value is None)
    return f"{type(found).__name__} {getattr(found, 'dtype', '')}{size}{empty}"


def _each(found: Any) -> Any:
    parts = [_in_shares(x) for x in found]
    return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)


def _dealt(found: WholeVector, s: shares.Shares) -> WholeVector:
    """This rank's share of the first rank's vector. Every rank has a vector of that size and type."""
    group, store = current(), found._stored
    head = np.zeros(1, [("iso", np.bool_), ("value", store.dtype.np_type)])
    head["iso"], head["value"] = store.iso, store.values if store.iso else 0
    iso, one = np.ascontiguousarray(group.told(head.view(np.uint8)))[0].view(head.dtype)[0]

    def share(array: Array, counts: list[int]) -> Array:
        nothing = [0] * group.size
        given = array[: sum(counts)] if group.rank == 0 else array[:0]
        return group.alltoall(given, counts if group.rank == 0 else nothing, [counts[s.rank], *nothing[1:]])

    bits = share(store.present, s.words)
    if not len(bits):  # a rank without positions: kernels read one word of every bitset
        bits = store.device.xp.zeros(words(s.mine), np.uint64)
    held = store.dtype.np_type.type(one)
    if not iso:
        held = dense_values(store.device, s.mine, store.dtype)
        came = share(exchange.slots(store), s.words if store.dtype is BOOL else s.counts)
        held[: len(came)] = came
    return WholeVector._from_store(VectorStore(store.device, s.mine, store.dtype, bits, held))


def _of_first(value: Any) -> Any:
    array = np.array([value])
    return type(value)(current().told(array)[0, 0]) if array.dtype != object else value


def explain_replication(A: Matrix) -> str:
    """How algorithms run on a distributed Matrix, and why."""
    why_not, ranks = why_replicated(A), current().size
    if why_not is None:
        return f"{A.name} on {ranks} ranks: split, each rank computes its rows"
    return f"{A.name} on {ranks} ranks: replicated, each rank computes the whole result: {why_not}"


__all__ = ["explain_replication", "reason", "run_replicated", "why_replicated"]

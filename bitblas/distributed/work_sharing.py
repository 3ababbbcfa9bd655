"""Algorithms with the whole graph on each rank: ranks share independent work, or each runs the whole algorithm.

`plan/ranks.py` chooses, by facts that all ranks share. Each rank then gathers the matrix once. An algorithm whose work
is independent (by sources, by rows of a mask) takes its part from `shared_work` of algorithms/_loops.py, which is a
`RankWork` here: partial answers are combined in rank order. Any other algorithm runs on each rank as on one GPU, and
nothing is sent: the same input gives the same bits, so that each rank keeps its share of its own answer.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from semirings import semiring
from semirings.dtypes import BOOL, INT64

from .. import tuning
from ..algorithms import _loops as algorithm_loops
from ..config import config
from ..core import Matrix as WholeMatrix
from ..core import Vector as WholeVector
from ..exceptions import DistributedError
from ..plan.ranks import SHARED, RankFacts, RankPlan, WorkKind, choose
from ..store import VectorStore, dense_values, words
from ..typing import Array
from . import exchange, loops, shares
from .group import CONFIRM, FAILED, LOCAL_ERRORS
from .start import current

if TYPE_CHECKING:
    from ..algorithms._algorithm import Facts
    from .matrix import Matrix

Some = TypeVar("Some", int, WholeVector, Array)


# ---- the plan -------------------------------------------------------------------------------------------------------


def copy_bytes(A: Matrix) -> int:
    """The bytes of the whole matrix on one rank, with its transpose unless it is known to be symmetric."""
    return (1 if A._known.get("symmetric") else 2) * (A._shared_facts().entries * _entry_bytes(A) + 8 * A.nrows)


def copy_room(A: Matrix) -> int:
    """The free bytes that a rank needs to gather the whole matrix: also for what it sends, and for lengths of rows."""
    return copy_bytes(A) + int(A._shared_facts().counts.max()) * _entry_bytes(A) + 16 * A.nrows


def _entry_bytes(A: Matrix) -> int:
    """The bytes of a column and a value as they are stored."""
    return (4 if A.ncols < 1 << 31 else 8) + (0 if A._shared_facts().one is not None else A.dtype.np_type.itemsize)


def facts_of(A: Matrix) -> RankFacts:
    """Facts that all ranks share. A collective, once for the contents of a matrix."""
    group, nbytes = current(), copy_bytes(A)

    def measured() -> list[int]:
        part, device = A._part, A.device
        of_rows = part.mxv(WholeVector.from_scalar(True, A.ncols, device=device), semiring.plus_pair[INT64]).new()
        free = device.free_bytes() // (group.size if device.host_memory else 1)
        numbers = np.array([of_rows.reduce("max").new().value or 0, -free], np.int64)
        return group.allreduce(numbers, np.maximum).tolist()

    longest, tight = A._cached(f"rank facts {tuning.version()}", measured)
    return RankFacts(group.size, A.device.host_memory, A.nrows, A._shared_facts().entries, longest, nbytes, -tight)


def work_kind(program: object) -> WorkKind:
    """The kind of work that an algorithm declares."""
    facts: Facts | None = getattr(program, "facts", None)
    return "" if facts is None else facts.work


def plan(A: Matrix, program: object) -> RankPlan:
    """How ranks run an algorithm on A; a collective, once for the contents of A and a kind of work."""
    kind, choice = work_kind(program), current().choice
    key = "plan", kind, choice, tuning.version(), A._known.get("symmetric")
    return A._cached(key, lambda: choose(facts_of(A), kind, choice))


def run_on_ranks(
    A: Matrix, program: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Callable[[], Any] | None:
    """How an algorithm runs if each rank has the whole matrix; None if it is partitioned."""
    if loops.is_recording():
        return None
    group, work = current(), algorithm_loops.ALL
    if group.size > 1:
        kind, choice = work_kind(program), group.choice
        if choice in ("", "shared"):
            choice = "partitioned" if A.device.host_memory and kind not in (*SHARED, "") else plan(A, program).choice
        if choice == "partitioned":
            return None
        work = RankWork() if choice == "shared" else work
    return lambda: run_on_copy(program, A, args, options, work)


# ---- running --------------------------------------------------------------------------------------------------------


def whole(A: Matrix) -> WholeMatrix:
    """All of A on this rank, read-only; kept until A changes. OutOfMemory, on all ranks, if it does not fit one."""
    group = current()

    def gathered() -> WholeMatrix:
        what = f"a copy of {A.name} on each of {group.size} ranks"
        room = copy_room(A)
        group.all_or_none(what, lambda: A.device.foresee(what, room), alike=True)
        try:
            copy = A._gathered()
        except MemoryError as error:  # memory is in more pieces than its sum tells
            A.device.fail(error)
        copy._stored.structure._symmetric = A._known.get("symmetric")  # otherwise each rank would test it again
        return copy

    return A._part if group.size == 1 else A._cached("whole", gathered)


def run_on_copy(
    program: Callable[..., Any],
    A: Matrix,
    args: tuple[Any, ...],
    options: dict[str, Any],
    work: algorithm_loops.SharedWork,
) -> Any:
    """Each rank runs its part of the independent `work`, or all of it. No rank waits for another before it has its
    answer: calls are compared at the next exchange."""
    group = current()
    with group.statement(lambda: f"{program.__name__}({A.name})"):
        call, copy = _on_one_device(program, A, args, options), whole(A)
        if group.size > 1:
            claim_call(program, args, options)
        claims = group.claims
        try:
            with algorithm_loops.sharing(work):
                result = call(copy)
        except Exception as error:
            if group.before is not None:
                compare_claims(error)
            elif claims and isinstance(error, LOCAL_ERRORS):  # all went on from the comparison, this rank failed later
                group.diverged(error)
            raise
        if len(group.claims) > tuning.count("group.claims"):
            compare_claims()
        return _distribute(result)


@lru_cache
def _parameters(program: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(signature(program).parameters)


def claim_call(program: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Note the arguments of a call, which all ranks must pass alike. They are compared before the next exchange."""
    group, passed = current(), [*zip(_parameters(program)[1:], args), *options.items()]
    group.claims.append((program.__name__, [(key, _fixed(x)) for key, x in passed if key != "gb"]))
    group.before = compare_claims


def compare_claims(error: Exception | None = None) -> None:
    """One exchange: whether a rank has failed, and whether all have made the same calls since the last comparison.
    Raises the error of a rank that failed; DistributedError if calls differ. The list of claims is replaced; it is
    cleared too if the ranks do not go on."""
    group = current()
    claims, group.claims, group.before = group.claims, [], None
    name = claims[-1][0]
    lines = [f"{call}: argument {key}: {x}" for call, passed in claims for key, x in [*sorted(passed), ("-", "")]]
    text = "\n".join(lines)
    numbers = group.gather_host(np.array([FAILED if error else 0, zlib.crc32(text.encode())], np.int64), CONFIRM)
    if (numbers == (0, numbers[0, 1])).all():
        return
    claims.clear()
    group.raise_remote_failures(name, numbers[:, 0], error, alike=True)
    if error is not None:
        return
    texts = group.texts(text, CONFIRM)
    rank = next(k for k, other in enumerate(texts) if other != texts[0])
    pairs = zip_longest(texts[0].split("\n"), texts[rank].split("\n"), fillvalue="another call: ")
    claim = next(one for one, other in pairs if one != other).rpartition(": ")[0]
    raise DistributedError(
        f"{claim}: expected the same on all ranks, got another one on rank {rank} than on rank 0. Hint: ranks share "
        "the work themselves; draw random arguments with one seed"
    )


def _fixed(x: object) -> object:
    """A number or a text; the hash of an array or a list, which may change until it is compared; "" for other objects,
    which are not compared."""
    if x is None or isinstance(x, (bool, int, float, complex, str, np.generic)):
        return x
    if isinstance(x, (list, tuple, range)):
        array = np.asarray(x)
        return zlib.crc32(repr(x).encode() if array.dtype == object else array.tobytes())
    return zlib.crc32(x.tobytes()) if hasattr(x, "tobytes") and hasattr(x, "dtype") else ""


def _on_one_device(
    program: Callable[..., Any], A: Matrix, args: tuple[Any, ...], options: dict[str, Any]
) -> Callable[[WholeMatrix], Any]:
    """The program as a function of a whole matrix. Gathers arguments that are distributed."""
    keywords = {name: _to_one_device(x) for name, x in options.items() if name != "gb"}
    arguments = tuple(map(_to_one_device, args))
    facts: Facts | None = getattr(program, "facts", None)
    if A.device.name == config.device and not any(facts.arrays if facts else (1,)):  # otherwise the program checks that
        keywords["gb"] = sys.modules[__package__.partition(".")[0]]
        program = getattr(program, "__wrapped__", program)
    return lambda whole: program(whole, *arguments, **keywords)


def _to_one_device(x: Any) -> Any:
    """Convert an argument to an object on one device."""
    if hasattr(x, "_ranks"):
        return x._part if x._ranks.size == 1 else x.gathered()
    return type(x)(map(_to_one_device, x)) if isinstance(x, (list, tuple)) and type(x) in (list, tuple) else x


# ---- shared work ----------------------------------------------------------------------------------------------------


class RankWork(algorithm_loops.SharedWork):
    """The independent work of an algorithm on several ranks. Answers are combined in rank order."""

    def __init__(self) -> None:
        self.group = current()

    def part(self, items: Any) -> Any:
        return self.group.part(items)

    def rows(self, n: int, cost: Callable[[], Array]) -> slice:
        device, ranks, bounds = self.group.device, self.group.size, [0] * self.group.size
        if n:
            ends = cost().cumsum().astype(np.float64)
            aims = device.asarray(float(ends[-1]) * np.arange(1, ranks) / ranks)
            bounds[1:] = device.to_host(ends.searchsorted(aims)).tolist()
        bounds.append(n)
        return slice(bounds[self.group.rank], bounds[self.group.rank + 1])

    def total(self, x: Some, op: str = "plus") -> Some:
        if isinstance(x, int):
            return int(self.group.allreduce(np.array([x]), np.add if op == "plus" else np.maximum)[0])
        if isinstance(x, WholeVector):
            return WholeVector.from_dense(self.total(x.to_dense(), op), dtype=x.dtype, device=x.device)
        group, xp, n = self.group, self.group.device.xp, len(x)
        bounds = [n * rank // group.size for rank in range(group.size + 1)]
        counts = np.diff(bounds).tolist()
        mine = counts[group.rank]
        pieces = group.alltoall(x, counts, [mine] * group.size).reshape(group.size, mine)
        total = pieces[0].copy()
        for piece in pieces[1:]:
            total = total + piece if op == "plus" else xp.maximum(total, piece)
        return group.allgather(total, counts)

    def stacked(self, C: WholeMatrix) -> WholeMatrix:
        heights = self.group.gather_host(np.array([C.nrows]))[:, 0].tolist()
        return exchange.stack_rows(C, heights)

    def union(self, C: WholeMatrix) -> WholeMatrix:
        one = exchange.share_facts(C._stored).one
        i, j, x = C.to_coo(values=one is None)
        rows, columns, *more = exchange.concatenate([i, j] if x is None else [i, j, x])
        values: Any = more[0] if more else one
        return WholeMatrix.from_coo(rows, columns, values, C.dtype, nrows=C.nrows, ncols=C.ncols, device=C.device)


# ---- answers --------------------------------------------------------------------------------------------------------


def _distribute(result: Any) -> Any:
    """Distribute an answer that each rank has: each keeps its share. Of an answer that may be any of several, a tree of
    shortest paths, the shares of different ones fit together: each parent is one level above."""
    one, library = current().size == 1, sys.modules[__package__]
    if isinstance(result, WholeVector):
        s = shares.of(result.size)
        return library.Vector._of(result if one else own_share(result, s), s, result.name)
    if isinstance(result, WholeMatrix):
        s = shares.of(result.nrows)
        return library.Matrix._of(result if one else result[s.low : s.high, :].new(), s, result.name)
    if isinstance(result, (list, tuple)):
        parts = map(_distribute, result)
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def own_share(result: WholeVector, s: shares.Shares) -> WholeVector:
    """This rank's share of a vector that it has alone: words of bits and values, which are not copied."""
    store = result._stored
    device, first = store.device, s.low // shares.WORD
    bits = store.present[first : first + s.words[s.rank]] if s.mine else device.xp.zeros(words(0), np.uint64)
    if store.iso:
        return WholeVector._from_store(VectorStore(device, s.mine, store.dtype, bits, store.values))
    if not s.mine:
        values = dense_values(device, 0, store.dtype)
    elif store.dtype is BOOL:
        values = store.values[first : first + s.words[s.rank]]
    else:
        values = store.values[s.low : s.high]
    return WholeVector._from_store(VectorStore(device, s.mine, store.dtype, bits, values))

"""A Group of ranks that run one program, and the four collective calls that all communication is built from."""

from __future__ import annotations

import builtins
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypedDict, TypeVar, cast

import numpy as np

from .. import exceptions, tuning
from ..core.hooks import state as recording
from ..device import Device, tracing
from ..exceptions import DistributedError
from ..loop.symbolic.control_flow import OnHost
from ..typing import Array
from .liveness_board import SLOT, LivenessBoard

if TYPE_CHECKING:
    from .shares import Shares

T = TypeVar("T")
Items = TypeVar("Items", bound="Sequence[Any] | Array")
# The type and the sizes of the arrays of a call, or nothing: the same on all ranks.
Sizes = tuple["np.dtype | int", ...]


class GroupOptions(TypedDict, total=False):
    timeout: float
    debug: bool


class Event(Protocol):
    """An event of a GPU's stream."""

    @property
    def done(self) -> bool: ...


TIMEOUT = 600.0  # maximum seconds that a rank waits for the others in a collective
CHECK_INTERVAL = 0.05  # seconds between two checks for ended ranks
STOPPED = 1.0  # a longer gap between checks means that this process was stopped: the gap does not count as waiting
_NUMBERED = re.compile(r"\b([vMs])_\d+")  # unnamed objects, which each rank numbers itself
TEXT_TIMEOUT = 1.0  # seconds that a rank waits for the others' descriptions before it raises an error without them
FAILED, CONFIRM = -2, "whether ranks go on"  # FAILED: sent by a rank that fails; other ranks send 0 or more, or -1

LOCAL_ERRORS = (MemoryError, exceptions.DeviceError, KeyboardInterrupt)  # errors that may occur on one rank only


class Group:
    """`size` ranks, of which this process is number `rank`; each stores its objects on its `device`. This class: of one
    rank, which sends nothing; those of transports.py send by MPI and NCCL.

    All ranks enter collectives in the same order. Whatever decides whether a collective is entered must be the same on
    all ranks: never how this rank stores its part, what it has measured, or its free memory.

    A rank raises DistributedError if it waits longer than `timeout` seconds, or if another rank has ended or is in
    another collective. The group is `broken` from then on, as it is when an exception, such as an interrupt, leaves a
    collective. Ranks of one host compare the call, the type and the sizes of each collective; with `debug` all ranks
    compare them, and the text of the statement, before each.

    sent, seconds: bytes that this rank has sent, and time that it spent in collectives. captures: whether captured
    loops contain collectives, which requires that all ranks are on one host; False runs such loops statement by
    statement. choice: how algorithms run, "shared", "replicated" or "partitioned"; "": as planned (plan/ranks.py). Both
    must be the same on all ranks.
    """

    def __init__(self, rank: int, size: int, device: Device, *, timeout: float = TIMEOUT, debug: bool = False) -> None:
        self.rank, self.size, self.device, self.timeout, self.debug = rank, size, device, timeout, debug
        self.board: LivenessBoard | None = None
        self.broken = ""
        self.sent, self.seconds, self.captures, self.choice = 0, 0.0, False, ""
        self.shares: dict[int, Shares] = {}  # the partition of objects by size (shares.py)
        # The names and arguments of this rank's last algorithms, which ranks will compare (work_sharing.py).
        self.claims: list[tuple[str, list[tuple[str, object]]]] = []
        self.before: Callable[[], None] | None = None  # runs before the next collective
        self._call: tuple[str, Sizes, str] = ("", (), "")  # the last collective that was entered
        self._statement: Callable[[], str] | None = None
        self._inside = False  # inside a loop of many calls
        self.pending = False  # whether transfers are still under way on a stream

    # ---- the four calls ----

    def allgather(self, x: Array, counts: list[int] | None = None, about: str = "") -> Array:
        """Concatenate the arrays of all ranks. x: one-dimensional, on the device, of the same dtype on all ranks.
        counts: elements per rank; None: all have the same length. about: as for `gather_host`."""
        counts = [len(x)] * self.size if counts is None else counts
        if self.size == 1:
            return x
        with self._entered("allgather", x.dtype, *counts, about=about):
            out = self.device.xp.empty(sum(counts), x.dtype)
            contiguous = self.device.xp.ascontiguousarray(x)
            self._traced("allgather", (self.size - 1) * x.nbytes, lambda: self._allgather(contiguous, out, counts))
        return out

    def alltoall(self, x: Array, sent: list[int], received: list[int]) -> Array:
        """Send a part of x to each rank, and return the parts received, in rank order. x: the parts for all ranks, of
        `sent` elements each. received: elements received from each rank."""
        if self.size == 1:
            return x
        with self._entered("alltoall", x.dtype):
            out = self.device.xp.empty(sum(received), x.dtype)
            contiguous, nbytes = self.device.xp.ascontiguousarray(x), x.itemsize * (sum(sent) - sent[self.rank])
            self._traced("alltoall", nbytes, lambda: self._alltoall(contiguous, out, sent, received))
        return out

    def allreduce(self, x: np.ndarray, fold: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.add) -> np.ndarray:
        """Fold the arrays of all ranks in rank order, so that the result is the same everywhere and every time. x: a
        small host array of the same length and dtype on all ranks."""
        found = self.gather_host(x)
        total: np.ndarray = found[0]
        for other in found[1:]:
            total = fold(total, other)
        return total

    def barrier(self) -> None:
        """Wait until every rank is here and has finished its work."""
        self.settle()
        self.device.synchronize()
        self.gather_host(np.zeros(1, np.uint8))

    # ---- on top of them ----

    def part(self, items: Items) -> Items:
        """This rank's consecutive part of a sequence of independent items: a list, a range or an array. The parts of
        all ranks differ by at most one item."""
        n = len(items)
        return cast("Items", items[n * self.rank // self.size : n * (self.rank + 1) // self.size])

    def gather_host(self, x: np.ndarray, about: str = "") -> np.ndarray:
        """Gather a small host array from each rank, as rows. about: its purpose; ranks in different statements may then
        meet in this call."""
        if self.size == 1:
            return x[None]
        if self.board is not None and self.board.carries_messages and x.nbytes <= SLOT:
            with self._entered("allgather", x.dtype, x.size, about=about) as signature:
                parts = self.board.exchange(x.tobytes(), signature, self.wait)
                if parts is None:
                    self._raise_difference()
                found = b"".join(parts)
        else:
            gathered = self.allgather(self.device.asarray(np.frombuffer(x.tobytes(), np.uint8)), about=about)
            self.settle()
            found = self.device.to_host(gathered).tobytes()
        return np.frombuffer(found, x.dtype).reshape(self.size, *x.shape)

    def texts(self, text: str, about: str = "") -> list[str]:
        """Gather a text from each rank. about: as for `gather_host`."""
        raw = np.frombuffer(text.encode(), np.uint8)
        counts = self.gather_host(np.array([len(raw)]), about)[:, 0].tolist()
        gathered = self.allgather(self.device.asarray(raw), counts, about)
        self.settle()
        joined = self.device.to_host(gathered).tobytes()
        ends = np.cumsum(counts)
        return [joined[end - count : end].decode() for end, count in zip(ends, counts)]

    def all_or_none(self, what: str, run: Callable[[], T], *, alike: bool = False) -> T:
        """Execute run(), which contains no collectives, on all ranks: if it fails on one, none continues.

        A rank on which it fails raises its own error. The others raise DistributedError with that rank's number and the
        text of its error; with `alike`, for arguments that are the same on all ranks, an error of the same type.
        """
        try:
            found = run()
        except Exception as error:
            self.confirm(what, error)
            raise
        self.confirm(what, alike=alike)
        return found

    def confirm(self, what: str, error: Exception | None = None, *, alike: bool = False) -> None:
        """Report to the other ranks that this one continues, or that it failed with an error. DistributedError if
        another rank failed. Does nothing in symbolic execution, where every rank creates the same objects."""
        if self.size > 1 and not (recording.threads and recording.recorder is not None):
            numbers = self.gather_host(np.array([FAILED if error else 0]), CONFIRM)[:, 0]
            self.raise_remote_failures(what, numbers, error, alike=alike)

    def raise_remote_failures(
        self, what: str, numbers: np.ndarray, error: Exception | None = None, *, alike: bool = False
    ) -> None:
        """If ranks have sent FAILED, exchange their errors, and raise that of the first failed rank unless this rank
        has an error of its own."""
        failed = np.flatnonzero(numbers == FAILED)
        if not len(failed):
            return
        texts = self.texts("" if error is None else f"{_public(error)}: {error}", CONFIRM)
        if error is None:
            rank = int(failed[0])
            name, _, message = texts[rank].partition(": ")
            if alike:
                kind = getattr(exceptions, name, None) or getattr(builtins, name)
                raise kind(f"{message} (found by rank {rank})")
            raise DistributedError(f"{what}: rank {rank} failed: {texts[rank]}")

    def diverged(self, error: BaseException) -> None:
        """Break the group: only this rank could not change its share, for lack of memory for instance, and the others
        may have changed theirs."""
        if self.size > 1 and not self.broken:
            self._break(f"rank {self.rank} failed in {self._text()}: {type(error).__name__}: {error}")

    @contextmanager
    def statement(self, text: Callable[[], str]) -> Iterator[None]:
        """Attribute the collectives inside to a statement, given as a function that returns its text."""
        before, self._statement = self._statement, text
        try:
            yield
        finally:
            self._statement = before

    def agree(self, what: str) -> None:
        """DistributedError on every rank unless all are about to do the same."""
        digest = np.array([zlib.crc32(_NUMBERED.sub(r"\1", what).encode())], np.uint64)
        debug, self.debug = self.debug, False
        try:
            found = self.gather_host(digest, "agree")[:, 0]
            if (found == found[0]).all():
                return
            texts = self.texts(what, "agree")
        finally:
            self.debug = debug
        raise DistributedError(_difference(texts))

    def _traced(self, call: str, nbytes: int, run: Callable[[], None]) -> None:
        """Run a call by which this rank sends `nbytes`; count the bytes and report the call to a trace."""
        self.sent += nbytes
        if tracing.active is None:
            run()
        else:
            tracing.active.note_call(self.device, call, nbytes, self._text(), run)

    # ---- implemented by subclasses, for more than one rank ----

    def _allgather(self, x: Array, out: Array, counts: list[int]) -> None:
        raise AssertionError("a single rank has nothing to gather")

    def _alltoall(self, x: Array, out: Array, sent: list[int], received: list[int]) -> None:
        raise AssertionError("a single rank has nothing to send")

    @contextmanager
    def together(self) -> Iterator[None]:
        """Combine the calls inside into one, if the implementation supports it."""
        yield

    @contextmanager
    def looping(self, text: Callable[[], str]) -> Iterator[None]:
        """Run many rounds that contain calls: other ranks wait for a rank until it has left them. An exception that
        ends the rounds ends them on all ranks alike."""
        with self.statement(text), self._entered("loop", breaks=False):
            self._inside = True
            try:
                yield
            finally:
                self._inside = False

    def await_event(self, event: Event) -> None:
        """Wait, with the timeout, for a device event that follows calls of this group."""
        self.wait(lambda: event.done)

    def settle(self) -> None:
        """Wait, with the timeout, until transfers are complete, before the host reads results that depend on them. For
        groups whose calls are asynchronous on a stream."""
        return

    def _abandon(self) -> None:
        """The group is broken: the end of the process must not wait for any part of it."""
        return

    def leave(self) -> None:
        """Called at the end of a process whose group is broken."""
        return

    def close(self) -> None:
        """Called at the end of a process whose group is not broken."""
        return

    # ---- faults ----

    @contextmanager
    def _entered(self, call: str, *how: np.dtype | int, about: str = "", breaks: bool = True) -> Iterator[int]:
        """The context of a collective; yields its signature, which is the same on all ranks. breaks: whether an
        exception inside breaks the group, because the others would wait for this rank in vain."""
        if self.broken:
            raise DistributedError(f"{self.broken} (the group has been broken since then)")
        if recording.threads and recording.recorder is not None:  # symbolic execution, maybe on this rank only
            raise OnHost
        if self.before is not None:
            self.before()
        if self.debug:
            self.agree(about or f"{self._text()}: {call} of {', '.join(map(str, how))}")
        self._call = call, how, about
        signature = self._signature(call, how, about)
        if self.board is not None:
            self.board.enter(signature)
        begin = time.perf_counter()
        try:
            yield signature
        except BaseException as error:
            if breaks and not self.broken:
                self._break(f"rank {self.rank} left {self._collective()} by {type(error).__name__}")
            raise
        if self.board is not None and not self.pending:
            self.board.leave()
        self.seconds += time.perf_counter() - begin

    def _signature(self, call: str, how: Sizes, about: str) -> int:
        """A hash of a call, its type and sizes, and the kind of its statement, the same on all ranks. how: a dtype and
        integers, or nothing."""
        code = None if about else getattr(self._statement, "__code__", None)
        return _hash_call(call, how, about, None if code is None else (code.co_name, code.co_firstlineno))

    def wait(self, done: Callable[[], bool]) -> None:
        """Wait for done(). DistributedError if a rank has ended or is in another collective, or after the timeout."""
        begin = time.monotonic()
        checked, pause, sleep = begin, begin + tuning.value("group.polling"), tuning.value("group.sleep")
        differed = False
        while not done():
            now = time.monotonic()
            if now > pause:
                time.sleep(sleep)
            else:
                os.sched_yield()  # yield to a rank that has no core
            if now - checked < CHECK_INTERVAL:
                continue
            if now - checked > STOPPED:
                begin += now - checked
            checked = now
            if self.board is not None:
                differs = self.board.differs()
                if differs and differed and not done():  # found twice: stores of other ranks may become visible late
                    self._raise_difference()
                differed = differs
                ended = self.board.ended()
                if ended and not done():
                    self.fail(ended, "")
            if now - begin > self.timeout:
                late = {} if self.board is None else self.board.late()
                self.fail(late, f" for {self.timeout:g} s")

    def fail(self, missing: dict[int, str], how_long: str) -> NoReturn:
        """Raise DistributedError because ranks are missing."""
        who = ", ".join(f"rank {rank} {what}" for rank, what in sorted(missing.items()))
        if not who:
            there = "its process is alive" if self.size == 2 else "their processes are alive"
            all_here = self.board is not None and self.board.all_on_this_host
            who = f"{there} and in this collective" if all_here else "no message from the others, maybe on other hosts"
        self._break(f"rank {self.rank} waited{how_long} in {self._text()}: {who}")
        raise DistributedError(self.broken)

    def _raise_difference(self) -> NoReturn:
        """Raise DistributedError because ranks are in different collectives, with a description of each."""
        assert self.board is not None
        self.board.write(self._collective())
        end = time.monotonic() + TEXT_TIMEOUT
        while not all(texts := self.board.texts()) and time.monotonic() < end:
            time.sleep(1e-3)
        late = self.board.late()
        self._break(_difference([text or late.get(rank, "another collective") for rank, text in enumerate(texts)]))
        raise DistributedError(self.broken)

    def _break(self, reason: str) -> None:
        self.broken = reason
        if self.board is not None:
            self.board.set_broken(reason)
        self._abandon()

    def _collective(self) -> str:
        call, how, about = self._call
        return about or f"{self._text()}: {call} of {', '.join(map(str, how))}"

    def _text(self) -> str:
        return "a collective outside of statements" if self._statement is None else f"`{self._statement()}`"


@lru_cache(tuning.count("group.signatures"))
def _hash_call(call: str, how: Sizes, about: str, statement: tuple[str, int] | None) -> int:
    sizes = [x.str if isinstance(x, np.dtype) else int(x) for x in how]
    return zlib.crc32(f"{call} {sizes} {about} {statement}".encode())  # the same for equal arguments


def _public(error: Exception) -> str:
    """The name of an error's type, or of its nearest public base class."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next(name for name in names if hasattr(exceptions, name) or hasattr(builtins, name))


def _difference(texts: list[str]) -> str:
    each = "; ".join(f"rank {rank}: {text}" for rank, text in enumerate(texts))
    return f"ranks differ in what they run: {each}. Hint: every rank must run the same statements"

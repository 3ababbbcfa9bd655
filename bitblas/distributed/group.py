"""A Group of ranks that run one program, and the four collective calls that all communication is built from."""

from __future__ import annotations

import builtins
import os
import re
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import numpy as np

from .. import exceptions
from ..core.statement.recording import state as recording
from ..device import Device, tracing
from ..exceptions import DistributedError
from ..loop.recorded.state import OnHost
from .roll import SLOT, Roll

T = TypeVar("T")

TIMEOUT = 600.0  # seconds that a rank waits for the others in one collective
LOOK = 0.05  # seconds between two looks at who has ended
ASLEEP = 1.0  # seconds between two looks in which this process was stopped: it did not wait then
_NUMBERED = re.compile(r"\b([vMs])_\d+")  # objects without a name of their own, which each rank numbers
TEXTS = 1.0  # seconds that a rank waits for what others say they are in, before it raises an error without
MOST_SIGNATURES = 1000  # that are remembered
FAILED, CONFIRM = -2, "whether ranks go on"  # what a rank tells where it fails; the others tell 0 or more, or -1
PATIENCE = 0.001  # seconds of asking again and again, before a rank that waits sleeps in between


OWN_FAULTS = (MemoryError, exceptions.DeviceError, KeyboardInterrupt)  # that one rank may meet in what all compute


class Group(ABC):
    """`size` ranks, of which this process is number `rank`; each has objects on its `device`.

    Collectives are entered by all ranks in the same order: whatever decides whether one is entered must be the same on
    all ranks, and never how this rank has stored its part, what it has measured, or the memory that it has left.

    A rank that waits longer than `timeout` seconds, or for one that has ended or is in another collective, raises
    DistributedError, and the group is `broken` from then on; so it is when an exception, such as an interrupt, leaves
    a collective. Ranks of one host compare the call, the type and the sizes of each collective; with `debug` all ranks
    compare them, and the text of the statement, before each.

    sent, seconds: the bytes that this rank has handed to others, and the time that it spent in collectives. captures:
    whether loops that a device records have their calls inside, which takes ranks of one host; False runs them
    statement by statement, and has to be the same for all ranks. lists: whether lists of positions go instead of all of
    a vector where they are shorter (lists.py), which ranks of several hosts on CPUs begin with, the same for all too.
    splits: whether algorithms on GPUs split every matrix, also where that does not pay (alone.py); chooses: whether
    captured loops send lists where these are shorter (loop/gpu/chosen.py). Both have to be the same for all.
    """

    def __init__(self, rank: int, size: int, device: Device, *, timeout: float = TIMEOUT, debug: bool = False) -> None:
        self.rank, self.size, self.device, self.timeout, self.debug = rank, size, device, timeout, debug
        self.roll: Roll | None = None
        self.broken = ""
        self.sent, self.seconds, self.captures, self.lists, self.splits = 0, 0.0, False, False, False
        self.chooses = True
        self.shares: dict[int, Any] = {}  # of the objects of a size (shares.py)
        self.kept: list[Any] = []  # weak references to the vectors that keep all of themselves (wanted.py)
        self._call: tuple[str, tuple[Any, ...], str] = ("", (), "")  # the collective that was entered last
        self._signatures: dict[Any, int] = {}
        self._statement: Callable[[], str] | None = None
        self._inside = False  # in a loop of many calls
        self.pending = False  # whether what was sent and received is left to a stream

    # ---- the four calls ----

    def allgather(self, x: Any, counts: list[int] | None = None, about: str = "") -> Any:
        """The arrays of all ranks, one after the other. x: one-dimensional, of the device, the same dtype everywhere.
        counts: the elements of each rank; None: as many everywhere. about: as for `told`."""
        counts = [len(x)] * self.size if counts is None else counts
        if self.size == 1:
            return x
        with self._entered("allgather", x.dtype, *counts, about=about):
            out = self.device.xp.empty(sum(counts), x.dtype)
            given = self.device.xp.ascontiguousarray(x)
            self._noted("allgather", (self.size - 1) * x.nbytes, lambda: self._allgather(given, out, counts))
        return out

    def alltoall(self, x: Any, sent: list[int], received: list[int] | None = None) -> Any:
        """What the others have for this rank, by rank. x: what this one has for them, by rank, `sent` elements for
        each; received: how many come from each; None: they are asked."""
        if received is None:
            received = self.told(np.array(sent))[:, self.rank].tolist()
        if self.size == 1:
            return x
        with self._entered("alltoall", x.dtype):
            out = self.device.xp.empty(sum(received), x.dtype)
            given, nbytes = self.device.xp.ascontiguousarray(x), x.itemsize * (sum(sent) - sent[self.rank])
            self._noted("alltoall", nbytes, lambda: self._alltoall(given, out, sent, received))
        return out

    def allreduce(self, x: np.ndarray, fold: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.add) -> np.ndarray:
        """fold of the arrays of all ranks, in their order, so that it is the same everywhere and every time. x: a small
        array of the host, of the same length and dtype everywhere."""
        found = self.told(x)
        total: np.ndarray = found[0]
        for other in found[1:]:
            total = fold(total, other)
        return total

    def barrier(self) -> None:
        """Wait until every rank is here, and has done what it was told before."""
        self.settle()
        self.device.synchronize()
        self.told(np.zeros(1, np.uint8))

    # ---- on top of them ----

    def told(self, x: np.ndarray, about: str = "") -> np.ndarray:
        """A small array of the host from each rank, as rows. about: what it is; ranks that are in different statements
        may then meet here."""
        if self.size == 1:
            return x[None]
        if self.roll is not None and self.roll.speaks and x.nbytes <= SLOT:
            with self._entered("allgather", x.dtype, x.size, about=about) as signature:
                given = self.roll.tell(x.tobytes(), signature, self.wait)
                if given is None:
                    self._differ()
                found = b"".join(given)
        else:
            gathered = self.allgather(self.device.asarray(np.frombuffer(x.tobytes(), np.uint8)), about=about)
            self.settle()
            found = self.device.to_host(gathered).tobytes()
        return np.frombuffer(found, x.dtype).reshape(self.size, *x.shape)

    def texts(self, text: str, about: str = "") -> list[str]:
        """A text from each rank. about: as for `told`."""
        raw = np.frombuffer(text.encode(), np.uint8)
        counts = self.told(np.array([len(raw)]), about)[:, 0].tolist()
        gathered = self.allgather(self.device.asarray(raw), counts, about)
        self.settle()
        joined = self.device.to_host(gathered).tobytes()
        ends = np.cumsum(counts)
        return [joined[end - count : end].decode() for end, count in zip(ends, counts)]

    def all_or_none(self, what: str, run: Callable[[], T], *, alike: bool = False) -> T:
        """run() on all ranks, which has no collectives in it: where it fails on one, none goes on.

        A rank on which it fails raises its own error. The others raise DistributedError with the number of that rank
        and the text of its error; an error of the same type with `alike`, for arguments that all ranks give alike.
        """
        try:
            found = run()
        except Exception as error:
            self.confirm(what, error)
            raise
        self.confirm(what, alike=alike)
        return found

    def confirm(self, what: str, error: Exception | None = None, *, alike: bool = False) -> None:
        """Tell the others that this rank goes on, or that it does not because of an error. DistributedError if another
        one does not. In a body that is written down every rank makes the same objects."""
        if self.size > 1 and not (recording.threads and recording.recorder is not None):
            numbers = self.told(np.array([FAILED if error else 0]), CONFIRM)[:, 0]
            self.hear_failures(what, numbers, error, alike=alike)

    def hear_failures(
        self, what: str, numbers: np.ndarray, error: Exception | None = None, *, alike: bool = False
    ) -> None:  # fmt: skip
        """Where ranks have told FAILED among their numbers: hear their errors, and raise that of the first unless this
        rank has one of its own."""
        failed = np.flatnonzero(numbers == FAILED)
        if not len(failed):
            return
        texts = self.texts("" if error is None else f"{_public(error)}: {error}", CONFIRM)
        if error is None:
            rank = int(failed[0])
            name, _, message = texts[rank].partition(": ")
            if alike:
                raise _kind_of(name)(f"{message} (found by rank {rank})")
            raise DistributedError(f"{what}: rank {rank} failed: {texts[rank]}")

    def diverged(self, error: BaseException) -> None:
        """This rank alone could not change its share, for want of memory for one, and the others may have changed
        theirs: nothing goes between ranks any more."""
        if self.size > 1 and not self.broken:
            self.broken = f"rank {self.rank} failed in {self._text()}: {type(error).__name__}: {error}"
            self._give_up()

    @contextmanager
    def statement(self, text: Callable[[], str]) -> Iterator[None]:
        """Collectives inside belong to the statement of that text."""
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
            found = self.told(digest, "agree")[:, 0]
            if (found == found[0]).all():
                return
            texts = self.texts(what, "agree")
        finally:
            self.debug = debug
        raise DistributedError(_different(texts))

    def _noted(self, call: str, nbytes: int, run: Callable[[], None]) -> None:
        """A call by which this rank sends so many bytes, which are counted, and told to a trace."""
        self.sent += nbytes
        if tracing.active is None:
            run()
        else:
            tracing.active.note_call(self.device, call, nbytes, self._text(), run)

    # ---- what an implementation brings ----

    @abstractmethod
    def _allgather(self, x: Any, out: Any, counts: list[int]) -> None: ...

    @abstractmethod
    def _alltoall(self, x: Any, out: Any, sent: list[int], received: list[int]) -> None: ...

    @contextmanager
    def together(self) -> Iterator[None]:
        """Calls inside go at once, where an implementation knows how."""
        yield

    @contextmanager
    def looping(self, text: Callable[[], str]) -> Iterator[None]:
        """Many rounds with calls of their own: a rank that has entered them is missed until it is out of them. An
        exception that ends them ends them on all ranks alike."""
        with self.statement(text), self._entered("loop", breaks=False):
            self._inside = True
            try:
                yield
            finally:
                self._inside = False

    def await_event(self, event: Any) -> None:
        """Wait, with the timeout, for an event of the device behind calls of this group."""
        self.wait(lambda: bool(event.done))

    def settle(self) -> None:
        """Wait, with the timeout, until what was sent and received is there: before the host reads what depends on it.
        For groups whose calls leave that to a stream."""
        return

    def _abandon(self) -> None:
        """The group is broken: nothing of it may be waited for at the end of the process."""
        return

    def leave(self) -> None:
        """At the end of a process whose group is broken."""
        return

    def close(self) -> None:
        """At the end of a process whose group is not broken."""
        return

    # ---- faults ----

    @contextmanager
    def _entered(self, call: str, *how: Any, about: str = "", breaks: bool = True) -> Iterator[int]:
        """Around a collective; its signature, which is the same on all ranks. breaks: whether an exception inside
        breaks the group, as the others then wait for this rank in vain."""
        if self.broken:
            raise DistributedError(f"{self.broken} (the group is broken since then)")
        if recording.threads and recording.recorder is not None:  # a body is written down, maybe by this rank alone
            raise OnHost
        if self.debug:
            self.agree(about or f"{self._text()}: {call} of {', '.join(map(str, how))}")
        self._call = call, how, about
        signature = self._signature(call, how, about)
        if self.roll is not None:
            self.roll.enter(signature)
        begin = time.perf_counter()
        try:
            yield signature
        except BaseException as error:
            if breaks and not self.broken:
                self.broken = f"rank {self.rank} left {self._collective()} by {type(error).__name__}"
                self._give_up()
            raise
        if self.roll is not None and not self.pending:
            self.roll.leave()
        self.seconds += time.perf_counter() - begin

    def _signature(self, call: str, how: tuple[Any, ...], about: str) -> int:
        """A number for a call, its type and sizes, and the kind of statement that it belongs to, the same on all ranks.
        how: a dtype and integers, or nothing."""
        code = None if about else getattr(self._statement, "__code__", None)
        key = call, how, about, None if code is None else (code.co_name, code.co_firstlineno)
        found = self._signatures.get(key)
        if found is None:
            if len(self._signatures) > MOST_SIGNATURES:
                self._signatures.clear()
            text = (
                f"{call} {how[0].str if how else ''} {list(map(int, how[1:]))} {about} {key[-1]}"  # of equal keys one
            )
            found = self._signatures[key] = zlib.crc32(text.encode())
        return found

    def wait(self, done: Callable[[], bool]) -> None:
        """Until done(). DistributedError when a rank has ended or is in another collective, or the timeout is over."""
        begin = time.monotonic()
        looked, pause = begin, begin + PATIENCE
        differed = False
        while not done():
            now = time.monotonic()
            if now > pause:
                time.sleep(2e-5)
            else:
                os.sched_yield()  # to a rank that has no core
            if now - looked < LOOK:
                continue
            if now - looked > ASLEEP:
                begin += now - looked
            looked = now
            if self.roll is not None:
                differs = self.roll.differs()
                if differs and differed and not done():  # twice: stores of others may come late
                    self._differ()
                differed = differs
                gone = self.roll.gone()
                if gone and not done():
                    self.fail(gone, "")
            if now - begin > self.timeout:
                late = {} if self.roll is None else self.roll.late()
                self.fail(late, f" for {self.timeout:g} s")

    def fail(self, missing: dict[int, str], how_long: str) -> NoReturn:
        """Raise DistributedError for ranks that do not come."""
        who = ", ".join(f"rank {rank} {what}" for rank, what in sorted(missing.items()))
        if not who:
            there = "its process lives" if self.size == 2 else "their processes live"
            all_here = self.roll is not None and self.roll.sees_all
            who = f"{there}, and all are in it" if all_here else "no word from the others, which may run on other hosts"
        self.broken = f"rank {self.rank} waited{how_long} in {self._text()}: {who}"
        self._give_up()
        raise DistributedError(self.broken)

    def _differ(self) -> NoReturn:
        """Raise DistributedError as ranks are in collectives that do not belong together: with what each is in."""
        assert self.roll is not None
        self.roll.write(self._collective())
        end = time.monotonic() + TEXTS
        while not all(texts := self.roll.texts()) and time.monotonic() < end:
            time.sleep(1e-3)
        late = self.roll.late()
        self.broken = _different([text or late.get(rank, "something else") for rank, text in enumerate(texts)])
        self._give_up()
        raise DistributedError(self.broken)

    def _give_up(self) -> None:
        if self.roll is not None:
            self.roll.give_up(self.broken)
        self._abandon()

    def _collective(self) -> str:
        call, how, about = self._call
        return about or f"{self._text()}: {call} of {', '.join(map(str, how))}"

    def _text(self) -> str:
        return "a collective outside of statements" if self._statement is None else f"`{self._statement()}`"


def _kind_of(name: str) -> Any:
    """The type of errors of that name."""
    return getattr(exceptions, name, None) or getattr(builtins, name)


def _public(error: Exception) -> str:
    """The name of the type of an error, or of the nearest one that programs know."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next(name for name in names if hasattr(exceptions, name) or hasattr(builtins, name))


def _different(texts: list[str]) -> str:
    told = "; ".join(f"rank {rank}: {text}" for rank, text in enumerate(texts))
    return f"ranks differ in what they run: {told}. Hint: every rank runs the same statements"


class Alone(Group):
    """One rank: nothing is sent."""

    def __init__(self, device: Device, **how: Any) -> None:
        super().__init__(0, 1, device, **how)

    def _allgather(self, x: Any, out: Any, counts: list[int]) -> None:
        raise AssertionError("one rank gathers nothing")

    def _alltoall(self, x: Any, out: Any, sent: list[int], received: list[int]) -> None:
        raise AssertionError("one rank sends nothing")

"""The ranks that run one program, and the four calls on which everything between them is written."""

from __future__ import annotations

import os
import re
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from ..device import Device, tracing
from ..exceptions import DistributedError
from .roll import SLOT, Roll

TIMEOUT = 600.0  # seconds that a rank waits for the others in one collective
LOOK = 0.05  # seconds between two looks at who has ended
ASLEEP = 1.0  # seconds between two looks in which this process was stopped: it did not wait then
_NUMBERED = re.compile(r"\b([vMs])_\d+")  # objects without a name of their own, which each rank numbers
PATIENCE = 0.001  # seconds of asking again and again, before a rank that waits sleeps in between


class Group(ABC):
    """`size` ranks, of which this process is number `rank`; each has objects on its `device`.

    Collectives are entered by all ranks in the same order. A rank that waits longer than `timeout` seconds, or for one
    that has ended, raises DistributedError, and the group is `broken` from then on. With `debug` every collective first
    compares what the ranks are about to do.

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
        self._statement: Callable[[], str] | None = None
        self._inside = 0  # 1: in a loop of many calls

    # ---- the four calls ----

    def allgather(self, x: Any, counts: list[int] | None = None) -> Any:
        """The arrays of all ranks, one after the other. x: one-dimensional, of the device, the same dtype everywhere.
        counts: the elements of each rank; None: as many everywhere."""
        counts = [len(x)] * self.size if counts is None else counts
        if self.size == 1:
            return x
        out = self.device.xp.empty(sum(counts), x.dtype)
        with self._entered("allgather", x.dtype, *counts):
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
        out = self.device.xp.empty(sum(received), x.dtype)
        with self._entered("alltoall", x.dtype):
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

    def told(self, x: np.ndarray) -> np.ndarray:
        """A small array of the host from each rank, as rows."""
        if self.size == 1:
            return x[None]
        if self.roll is not None and self.roll.speaks and x.nbytes <= SLOT:
            with self._entered("allgather", x.dtype, x.size):
                found = b"".join(self.roll.tell(x.tobytes(), self.wait))
        else:
            gathered = self.allgather(self.device.asarray(np.frombuffer(x.tobytes(), np.uint8)))
            self.settle()
            found = self.device.to_host(gathered).tobytes()
        return np.frombuffer(found, x.dtype).reshape(self.size, *x.shape)

    def texts(self, text: str) -> list[str]:
        """A text from each rank."""
        raw = np.frombuffer(text.encode(), np.uint8)
        counts = self.told(np.array([len(raw)]))[:, 0].tolist()
        gathered = self.allgather(self.device.asarray(raw), counts)
        self.settle()
        joined = self.device.to_host(gathered).tobytes()
        ends = np.cumsum(counts)
        return [joined[end - count : end].decode() for end, count in zip(ends, counts)]

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
            found = self.told(digest)[:, 0]
            if (found == found[0]).all():
                return
            texts = self.texts(what)
        finally:
            self.debug = debug
        told = "; ".join(f"rank {rank}: {text}" for rank, text in enumerate(texts))
        raise DistributedError(f"ranks differ in what they run: {told}. Hint: every rank runs the same statements")

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
        """Many rounds with calls of their own: a rank that has entered them is missed until it is out of them."""
        with self.statement(text), self._entered("loop"):
            self._inside = 1
            try:
                yield
            finally:
                self._inside = 0
        if self.roll is not None:
            self.roll.enter()

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
    def _entered(self, call: str, *how: Any) -> Iterator[None]:
        if self.broken:
            raise DistributedError(f"{self.broken} (the group is broken since then)")
        if self.debug:
            self.agree(f"{self._text()}: {call} of {', '.join(map(str, how))}")
        if self.roll is not None:
            self.roll.enter()
        begin = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - begin

    def wait(self, done: Callable[[], bool]) -> None:
        """Until done(). DistributedError when a rank has ended, or the timeout is over."""
        begin = time.monotonic()
        looked, pause = begin, begin + PATIENCE
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
            gone = {} if self.roll is None else self.roll.gone(self._inside)
            if gone and not done():
                self.fail(gone, "")
            if now - begin > self.timeout:
                late = {} if self.roll is None else self.roll.late(self._inside)
                self.fail(late, f" for {self.timeout:g} s")

    def fail(self, missing: dict[int, str], how_long: str) -> NoReturn:
        """Raise DistributedError for ranks that do not come."""
        who = ", ".join(f"rank {rank} {what}" for rank, what in sorted(missing.items()))
        who = who or "no word from the others, which may run on other hosts"
        self.broken = f"rank {self.rank} waited{how_long} in {self._text()}: {who}"
        self._abandon()
        raise DistributedError(self.broken)

    def _text(self) -> str:
        return "a collective outside of statements" if self._statement is None else f"`{self._statement()}`"


class Alone(Group):
    """One rank: nothing is sent."""

    def __init__(self, device: Device, **how: Any) -> None:
        super().__init__(0, 1, device, **how)

    def _allgather(self, x: Any, out: Any, counts: list[int]) -> None:
        raise AssertionError("one rank gathers nothing")

    def _alltoall(self, x: Any, out: Any, sent: list[int], received: list[int]) -> None:
        raise AssertionError("one rank sends nothing")

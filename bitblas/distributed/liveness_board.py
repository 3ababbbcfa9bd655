"""Liveness board: memory shared by the ranks of a host. It detects ranks that have ended, and passes small host arrays
between ranks within microseconds.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

# The words of a rank: its process; the number of collectives entered, and left; whether its program has ended; whether
# it has given up, after which it enters no collective; the number of messages. Then the signatures and texts of the
# last two collectives that it entered, and its last two messages: no rank writes the next message before all have
# written the last.
PROCESS, ENTERED, LEFT, ENDED, BROKEN, MESSAGES, SIGNATURES = range(7)
HEAD = SIGNATURES + 2  # words
TEXT = 1024  # bytes of a text: its length in the first 8, the number of its collective in the next 8
SLOT = 4096  # maximum bytes of a message
MESSAGE_OFFSET = (
    8 * HEAD + 3 * TEXT
)  # byte offset of the messages; the third text is why the rank has ended or given up
SIZE = (MESSAGE_OFFSET + 2 * (SLOT + 8)) // 8
SHARED = Path("/dev/shm")
ORDERED = ("x86_64", "AMD64")  # processors that make stores visible in order: ranks may exchange messages this way


class LivenessBoard:
    """The ranks of this host, as memory-mapped files; ranks of other hosts are not visible.

    token: text that only the ranks of one run share.
    """

    def __init__(self, token: str, rank: int, size: int) -> None:
        folder = SHARED if SHARED.is_dir() else Path(tempfile.gettempdir())
        self._files = [folder / f"bitblas-{os.getuid()}-{token}-{k}" for k in range(size)]
        self.rank = rank
        self._others: dict[int, np.ndarray] = {}
        self.mine = np.asarray(np.memmap(self._files[rank], np.int64, "w+", shape=(SIZE,)))
        self.entered = 0  # collectives
        self.carries_messages = False  # whether host messages are sent this way
        self._bytes = self.mine.view(np.uint8)
        self.mine[PROCESS] = os.getpid()
        atexit.register(self.end)

    def map_others(self) -> None:
        """Map the other ranks' files; called when all ranks have created theirs."""
        for rank, file in enumerate(self._files):
            if rank != self.rank:
                with suppress(OSError):
                    self._others[rank] = np.asarray(np.memmap(file, np.int64, "r", shape=(SIZE,)))

    @property
    def all_on_this_host(self) -> bool:
        """Whether all ranks are on this host."""
        return len(self._others) == len(self._files) - 1

    def exchange(self, x: bytes, signature: int, wait: Callable[[Callable[[], bool]], None]) -> list[bytes] | None:
        """Exchange at most SLOT bytes with each rank; None if the signatures of ranks differ. wait: blocks until its
        argument returns true."""
        number = int(self.mine[MESSAGES]) + 1
        begin = MESSAGE_OFFSET + (number & 1) * (SLOT + 8)
        self.mine[begin // 8] = signature
        begin += 8
        self._bytes[begin : begin + len(x)] = np.frombuffer(x, np.uint8)
        self.mine[MESSAGES] = number
        wait(lambda: all(word[MESSAGES] >= number for word in self._others.values()))
        if any(word[begin // 8 - 1] != signature for word in self._others.values()):
            return None
        found = {rank: word.view(np.uint8)[begin : begin + len(x)].tobytes() for rank, word in self._others.items()}
        return [x if rank == self.rank else found[rank] for rank in range(len(self._files))]

    def unlink_file(self) -> None:
        """Delete this rank's file when all have mapped it: mappings stay valid, and no file is left behind."""
        self._files[self.rank].unlink(missing_ok=True)

    def enter(self, signature: int) -> None:
        """Note that this rank enters another collective. signature: of the call, the same on all ranks."""
        self.entered = number = self.entered + 1
        self.mine[SIGNATURES + (number & 1)] = signature
        self.mine[ENTERED] = number

    def leave(self) -> None:
        """Note that all entered collectives are over."""
        self.mine[LEFT] = self.entered

    def write(self, text: str) -> None:
        """Describe the collective in which this rank waits, for messages of the others."""
        number = int(self.mine[ENTERED])
        self._write(number & 1, text, number)

    def set_broken(self, why: str) -> None:
        """Note that this rank will enter no more collectives, though its program continues."""
        self._write(2, why, 0)
        self.mine[BROKEN] = 1

    def end(self, why: str = "") -> None:
        """Note that the program of this rank has ended."""
        if self.mine[PROCESS] == os.getpid():  # not a forked child
            if why:
                self._write(2, why, 0)
            self.mine[ENDED] = 1

    def ended(self) -> dict[int, str]:
        """The ranks that will never finish the current collective, with the reason. Ranks that gave up before are
        listed only if there are no others, because the others' end is often why they gave up."""
        here = self.mine[ENTERED]
        found: dict[int, str] = {}
        broken_ranks: dict[int, str] = {}
        for rank, word in self._others.items():
            if word[LEFT] >= here:
                continue
            why = _text(word, 2, 0)
            if word[BROKEN]:
                broken_ranks[rank] = f"has given up: {why}"
            elif word[ENDED]:
                found[rank] = f"has ended ({why})" if why else "has ended"
            elif not _is_alive(word):
                found[rank] = "was killed, or ended by os._exit"
        return found or broken_ranks

    def differs(self) -> bool:
        """Whether a rank has entered another collective instead of the current one."""
        here = int(self.mine[ENTERED])
        at = SIGNATURES + (here & 1)
        return any(word[at] != self.mine[at] and word[ENTERED] == here for word in self._others.values())

    def texts(self) -> list[str]:
        """Each rank's description of its current collective; empty if there is none."""
        words = [self.mine if rank == self.rank else self._others[rank] for rank in range(len(self._files))]
        return [_text(word, int(word[ENTERED]) & 1, int(word[ENTERED])) for word in words]

    def late(self) -> dict[int, str]:
        """The ranks that have not reached the current collective, with their positions."""
        here = int(self.mine[ENTERED])
        return {
            rank: f"is at collective {int(word[ENTERED])} of {here}"
            for rank, word in self._others.items()
            if word[ENTERED] < here
        }

    def _write(self, place: int, text: str, number: int) -> None:
        begin = 8 * HEAD + place * TEXT
        raw = text.encode(errors="replace")[: TEXT - 16]
        self.mine[begin // 8] = 0
        self._bytes[begin + 16 : begin + 16 + len(raw)] = np.frombuffer(raw, np.uint8)
        self.mine[begin // 8 + 1] = number
        self.mine[begin // 8] = len(raw)


def _text(word: np.ndarray, place: int, number: int) -> str:
    begin = 8 * HEAD + place * TEXT
    length = int(word[begin // 8])
    if word[begin // 8 + 1] != number or not 0 < length <= TEXT - 16:
        return ""
    return word.view(np.uint8)[begin + 16 : begin + 16 + length].tobytes().decode(errors="replace")


def _is_alive(word: np.ndarray) -> bool:
    process = int(word[PROCESS])
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with suppress(OSError, IndexError):
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX"
    return True

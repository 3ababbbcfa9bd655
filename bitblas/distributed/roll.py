"""Who is there: memory that the ranks of a host share, so that nobody waits for one that has ended, and small arrays of
the host go between them in microseconds."""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

# What a rank tells: its process, the collectives that it entered, whether it ended, how often it has told something;
# then what that was, the last two times: nobody tells the next before all have told the last.
PROCESS, ENTERED, ENDED, TOLD = range(4)
SLOT = 4096  # bytes
SIZE = 4 + 2 * SLOT // 8
SHARED = Path("/dev/shm")
ORDERED = ("x86_64", "AMD64")  # processors that show stores to others in their order: ranks may tell each other so


class Roll:
    """The ranks of this host, by files of one name; those of other hosts are not seen.

    token: text that the ranks of one run, and no others, share.
    """

    def __init__(self, token: str, rank: int, size: int) -> None:
        folder = SHARED if SHARED.is_dir() else Path(tempfile.gettempdir())
        self._files = [folder / f"bitblas-{os.getuid()}-{token}-{k}" for k in range(size)]
        self.rank = rank
        self._words: dict[int, np.ndarray] = {}
        self.mine = np.asarray(np.memmap(self._files[rank], np.int64, "w+", shape=(SIZE,)))
        self.speaks = False  # whether what the host tells goes this way
        self._bytes = self.mine.view(np.uint8)
        self.mine[PROCESS] = os.getpid()
        atexit.register(self.end)

    def look(self) -> None:
        """Find the others; to be called when all have entered."""
        for rank, file in enumerate(self._files):
            if rank != self.rank:
                with suppress(OSError):
                    self._words[rank] = np.asarray(np.memmap(file, np.int64, "r", shape=(SIZE,)))

    @property
    def sees_all(self) -> bool:
        """Whether all ranks are on this host."""
        return len(self._words) == len(self._files) - 1

    def tell(self, x: bytes, wait: Callable[[Callable[[], bool]], None]) -> list[bytes]:
        """So many bytes from each rank, at most SLOT. wait: until what it is given is true."""
        number = int(self.mine[TOLD]) + 1
        begin = 4 * 8 + (number & 1) * SLOT
        self._bytes[begin : begin + len(x)] = np.frombuffer(x, np.uint8)
        self.mine[TOLD] = number
        wait(lambda: all(word[TOLD] >= number for word in self._words.values()))
        found = {rank: word.view(np.uint8)[begin : begin + len(x)].tobytes() for rank, word in self._words.items()}
        return [x if rank == self.rank else found[rank] for rank in range(len(self._files))]

    def hide(self) -> None:
        """When all have looked: who has the file keeps it, and nothing stays behind."""
        self._files[self.rank].unlink(missing_ok=True)

    def enter(self) -> int:
        """One more collective; its number."""
        self.mine[ENTERED] += 1
        return int(self.mine[ENTERED])

    def end(self) -> None:
        """This rank will enter no more."""
        if self.mine[PROCESS] == os.getpid():  # and not a child that was forked
            self.mine[ENDED] = 1

    def gone(self, inside: int = 0) -> dict[int, str]:
        """The ranks that have ended and will never enter the collective that this one is in, each with how. inside: 1
        in a loop, which they have to come out of as well."""
        here = self.mine[ENTERED] + inside
        behind = {rank: word for rank, word in self._words.items() if word[ENTERED] < here}
        found = {rank: "has ended" for rank, word in behind.items() if word[ENDED]}
        return found | {rank: "was killed" for rank, word in behind.items() if rank not in found and not _lives(word)}

    def late(self, inside: int = 0) -> dict[int, str]:
        """The ranks that have not entered the collective that this one is in, each with where it is. inside: as in
        `gone`."""
        here = int(self.mine[ENTERED]) + inside
        return {
            rank: f"is at collective {int(word[ENTERED])} of {here}"
            for rank, word in self._words.items()
            if word[ENTERED] < here
        }


def _lives(word: np.ndarray) -> bool:
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

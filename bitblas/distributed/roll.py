"""Who is there: words in shared memory for each rank of this host, so that nobody waits for one that has ended."""

from __future__ import annotations

import atexit
import os
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

PROCESS, ENTERED, ENDED = range(3)  # what a rank tells: its process, the collectives that it entered, whether it ended
SHARED = Path("/dev/shm")


class Roll:
    """The ranks of this host, by files of one name; those of other hosts are not seen.

    token: text that the ranks of one run, and no others, share.
    """

    def __init__(self, token: str, rank: int, size: int) -> None:
        folder = SHARED if SHARED.is_dir() else Path(tempfile.gettempdir())
        self._files = [folder / f"bitblas-{os.getuid()}-{token}-{k}" for k in range(size)]
        self.rank = rank
        self._words: dict[int, np.ndarray] = {}
        self.mine = np.memmap(self._files[rank], np.int64, "w+", shape=(3,))
        self.mine[PROCESS] = os.getpid()
        atexit.register(self.end)

    def look(self) -> None:
        """Find the others; to be called when all have entered."""
        for rank, file in enumerate(self._files):
            if rank != self.rank:
                with suppress(OSError):
                    self._words[rank] = np.memmap(file, np.int64, "r", shape=(3,))

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

    def gone(self) -> dict[int, str]:
        """The ranks that have ended and will never enter the collective that this one is in, each with how."""
        here = self.mine[ENTERED]
        behind = {rank: word for rank, word in self._words.items() if word[ENTERED] < here}
        found = {rank: "has ended" for rank, word in behind.items() if word[ENDED]}
        return found | {rank: "was killed" for rank, word in behind.items() if rank not in found and not _lives(word)}

    def late(self) -> dict[int, str]:
        """The ranks that have not entered the collective that this one is in, each with where it is."""
        here = int(self.mine[ENTERED])
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

"""The parent process of one rank under `bitblas run`: `supervise.py FOLDER RANK PROGRAM ARGUMENT ..`, run as a script.

MPI's launcher ends all ranks when one of its own children fails, before the others can raise DistributedError. So its
children are these parents: each starts the program of one rank, writes its process and its exit code to FOLDER,
forwards signals, and stays until the launcher removes FOLDER. It ends the program when its own parent is gone.
RANK: a number, or the name of the environment variable that contains it. Only the standard library is imported.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

LAUNCHER = "BITBLAS_LAUNCHER"  # the environment variable with the path of this rank's files, without their suffix
CHECK_INTERVAL = 0.05  # seconds between two checks of the program and the launcher
GRACE = 3.0  # seconds that the program gets to end after the launcher is gone
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux' prctl


def supervise(folder: Path, rank: str, command: list[str]) -> None:
    """Run the program until it ends, or this process's parent does."""
    parent = os.getppid()
    # MPICH passes its connection as an open file, which must stay open.
    program = subprocess.Popen(
        command,
        env=dict(os.environ, **{LAUNCHER: str(folder / rank)}),
        close_fds=False,
        start_new_session=True,
        preexec_fn=lambda: end_with_parent(signal.SIGKILL),
    )
    for number in FORWARDED:
        if signal.getsignal(number) != signal.SIG_IGN:  # ignored signals, as under nohup
            signal.signal(number, lambda number, frame: program.send_signal(number))
    _write(folder / f"{rank}.pid", program.pid)
    running = True
    while folder.exists() and os.getppid() == parent:
        if running and program.poll() is not None:
            running = False
            _write(folder / f"{rank}.code", program.returncode)
        time.sleep(CHECK_INTERVAL)
    if running:
        program.terminate()
        with suppress(subprocess.TimeoutExpired):
            program.wait(GRACE)
        with suppress(OSError):
            os.killpg(program.pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _write(file: Path, number: int) -> None:
    """Write a number; readers see all of it or no file."""
    with suppress(OSError):  # the launcher is gone
        temporary = file.with_suffix(f".{os.getpid()}")
        temporary.write_text(str(number))
        temporary.replace(file)


def end_with_parent(number: int) -> None:
    """Runs in a new process before its program: the process gets this signal when its parent ends (on Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, number)


if __name__ == "__main__":
    _, FOLDER, RANK, *COMMAND = sys.argv
    supervise(Path(FOLDER), RANK if RANK.isdecimal() else os.environ[RANK], COMMAND)

"""The parent process of one rank under `bitblas run`: `supervise.py SOCKET RANK PROGRAM ARGUMENT ..`, run as a script.

MPI's launcher ends all ranks when one of its own children fails, before the others can raise DistributedError. So its
children are supervisors: each starts the program of one rank, reports its exit code to `bitblas run`, forwards signals,
and stays alive until the launcher releases it. It ends the program when the launcher is gone, for whatever reason.
RANK: a number, or the name of the environment variable that contains it. Only the standard library is imported.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys

LAUNCHER = "BITBLAS_LAUNCHER"  # as in start.py, which this script must not import
CHECK_INTERVAL = 0.2  # seconds between two checks of the program if no signal reports its end
GRACE = 3.0  # seconds that the program gets to end after the launcher is gone
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux' prctl


class Supervisor:
    def __init__(self, address: str, rank: str, command: list[str]) -> None:
        self.reported = False
        self.launcher = socket.socket(socket.AF_UNIX)
        self.launcher.connect(address)
        reading, writing = os.pipe()  # signals wake `select`
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing)
        self.wakeup = reading
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in FORWARDED:
            if signal.getsignal(number) != signal.SIG_IGN:  # ignored signals, as under nohup
                signal.signal(number, lambda number, frame: self._signal(number))
        # MPICH passes its connection as an open file, which must stay open.
        environment = dict(os.environ, **{LAUNCHER: f"{rank} {address}"})
        self.program = subprocess.Popen(command, env=environment, close_fds=False, preexec_fn=_die_with_parent)
        self._report(f"rank {rank} {self.program.pid}")

    def run(self) -> None:
        """Run until the launcher releases this process, or is gone."""
        rest = b""
        while True:
            if not self.reported and self.program.poll() is not None:
                self.reported = True
                self._report(f"ended {self.program.returncode}")
            connection = self.launcher.fileno()
            ready, _, _ = select.select([connection, self.wakeup], [], [], CHECK_INTERVAL)
            if self.wakeup in ready:
                os.read(self.wakeup, 512)
            if connection not in ready:
                continue
            try:
                data = self.launcher.recv(512)
            except OSError:
                data = b""
            if not data:
                self._end_program()
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                word, _, number = line.partition(b" ")
                if word == b"leave":
                    return
                self._signal(int(number))

    def _report(self, text: str) -> None:
        try:
            self.launcher.sendall(text.encode() + b"\n")
        except OSError:  # the launcher is gone: the next read will detect it
            return

    def _signal(self, number: int) -> None:
        if number == signal.SIGKILL and os.getpgrp() == os.getpid():  # the program's child processes, and this process
            os.killpg(0, signal.SIGKILL)
        if self.program.poll() is None:
            self.program.send_signal(number)

    def _end_program(self) -> None:
        """SIGTERM, then SIGKILL if necessary."""
        self._signal(signal.SIGTERM)
        try:
            self.program.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)


def _die_with_parent() -> None:
    """Runs in the new process before the program, which then ends if the supervisor is killed (on Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)


if __name__ == "__main__":
    _, ADDRESS, RANK, *COMMAND = sys.argv
    Supervisor(ADDRESS, RANK if RANK.isdecimal() else os.environ[RANK], COMMAND).run()

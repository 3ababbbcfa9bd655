"""`bitblas run -n 4 program.py`: so many ranks of one program on this host.

On GPUs a process each, which learn from the environment who they are, as under torchrun; on CPUs mpirun starts them.
A rank that fails does not take the others along: they notice, and say which one it was.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .. import device as devices
from .. import extras
from ..exceptions import DistributedError, InvalidValue
from .nccl import MEETING_OFFSET

LOOK = 0.05  # seconds between two looks at the processes
LINGER = 30.0  # seconds that the others get to notice, and to say so, when one has failed
INTERRUPTED = 130


def run(ranks: int, program: Sequence[str], device: str | None = None) -> int:
    """Run the Python program (a file and its arguments) as that many ranks; the exit code of the first that failed.

    Raises InvalidValue (ranks), DistributedError (fewer GPUs than ranks, no mpirun).
    """
    if ranks < 1:
        raise InvalidValue(f"ranks: expected 1 or more, got {ranks}")
    chosen = device or os.environ.get("BITBLAS_DEVICE") or devices.default()
    command = [sys.executable, *program]
    environment = dict(os.environ, BITBLAS_DEVICE=chosen.partition(":")[0])
    if devices.get(chosen).host_memory:
        return subprocess.call([*mpirun(ranks, environment), *command], env=environment)
    count = devices.get("cuda").xp.cuda.runtime.getDeviceCount()
    if ranks > count:
        raise DistributedError(f"ranks: expected at most {count}, a GPU for each, got {ranks}")
    environment.update(WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(_free_port()))
    return _watch(
        [subprocess.Popen(command, env=dict(environment, RANK=str(k), LOCAL_RANK=str(k))) for k in range(ranks)]
    )


def mpirun(ranks: int, environment: dict[str, str]) -> list[str]:
    """The command that starts so many ranks and lets them go on where one fails; of the MPI beside this Python, else of
    the path."""
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        raise DistributedError(f"ranks on CPUs: there is no mpiexec; {extras.hint('mpi')}")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, env=environment).stdout
    if "open" not in version.lower():
        return [found, "-disable-auto-cleanup", "-n", str(ranks)]
    if os.geteuid() == 0:  # who calls this as root wants it so
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return [found, "--enable-recovery", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]


def _free_port() -> int:
    """A port after which the one where ranks meet is free too, as far as that can be known before."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            with suppress(OSError, OverflowError):
                second.bind(("127.0.0.1", port + MEETING_OFFSET))
                return port


def _watch(processes: list[subprocess.Popen[bytes]]) -> int:
    """Until all have ended; soon after one has failed, whose code it is. An interrupt goes to all."""
    code, failed = 0, 0.0
    try:
        left = processes
        while left:
            time.sleep(LOOK)
            if code and not failed:
                failed = time.monotonic()
            if code and time.monotonic() - failed > LINGER:
                for p in left:
                    p.kill()
            ended = [p.returncode for p in left if p.poll() is not None]
            code = code or next(filter(None, ended), 0)
            left = [p for p in left if p.returncode is None]
    except KeyboardInterrupt:
        for p in processes:
            p.terminate()
        for p in processes:
            p.wait()
        return INTERRUPTED
    return code if code >= 0 else 128 - code  # as shells tell a signal

"""Start ranks, and join them: `bitblas run -n 4 program.py`, and `init` in each rank.

`init` finds the number of a rank from the environment and connects to the other ranks. `bitblas run` starts N ranks of
one program on this host and ends them together. Each rank has its own parent process (supervise.py), which reports the
program's exit to the launcher. On GPUs the launcher starts these parents itself, and the ranks read their numbers from
the environment, as under torchrun; on CPUs mpirun starts them. If a rank fails, the others have LINGER seconds to raise
DistributedError, which names that rank. A signal to the launcher is passed to all ranks, and processes that remain
GRACE seconds later are killed. If the launcher itself is killed, the parents end their programs.
"""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple

import numpy as np

from .. import device as devices
from .. import extras
from ..config import config
from ..device import Device
from ..exceptions import DistributedError, InvalidValue
from .group import TIMEOUT, Group, GroupOptions
from .liveness_board import ORDERED, LivenessBoard
from .supervise import FORWARDED, LAUNCHER, end_with_parent
from .transports import MEETING_OFFSET, MpiGroup, NcclGroup

# ---- Start-up of a rank: find its number from the environment and connect to the other ranks.

# Environment variables with the rank, the number of ranks, and the rank on this host: torchrun and `bitblas run`, srun.
LAUNCHERS = (("RANK", "WORLD_SIZE", "LOCAL_RANK"), ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"))
UNDER_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")  # set by mpirun
JOINING, JOINED = "joining", "joined"  # messages to it: this rank waits for the others in `init`, all ranks are there
_group: Group | None = None


class Place(NamedTuple):
    """A rank, the number of ranks, and the rank's number on this host."""

    rank: int
    ranks: int
    local: int


def launched() -> Place | None:
    """Rank, number of ranks, and rank on this host, from the environment; None if it does not define them."""
    for names in LAUNCHERS:
        if names[0] in os.environ and names[1] in os.environ:
            texts = [os.environ.get(name, "0") for name in names]
            if not all(text.isdecimal() for text in texts) or not int(texts[0]) < int(texts[1]):
                got = ", ".join(f"{name}={text!r}" for name, text in zip(names, texts))
                raise DistributedError(f"environment: expected a rank below the number of ranks, got {got}")
            return Place(*map(int, texts))
    return None


def init(device: str | Device | None = None, *, timeout: float | None = None, debug: bool | None = None) -> Group:
    """Join the ranks that run this program; return the Group that all objects created from now on belong to.

    RANK, WORLD_SIZE, LOCAL_RANK (or Slurm's), MASTER_ADDR and MASTER_PORT identify the ranks, or MPI does; without them
    there is one rank. device: for this rank's shares; None: $BITBLAS_DEVICE, else the GPU with its number on this host,
    else "cpu". Ranks communicate by NCCL on GPUs, by MPI on CPUs. timeout: maximum seconds to wait in a collective
    ($BITBLAS_TIMEOUT, else 600). debug: compare what ranks run at each collective ($BITBLAS_DEBUG).
    Further calls return the same Group. Raises DistributedError (ranks cannot connect, NCCL or MPI missing, fewer GPUs
    than ranks, inconsistent environment), InvalidValue (timeout).
    """
    global _group
    if _group is not None:
        return _group
    seconds = float(os.environ.get("BITBLAS_TIMEOUT", TIMEOUT) if timeout is None else timeout)
    if not seconds > 0:
        raise InvalidValue(f"timeout: expected seconds above 0, got {timeout!r}")
    checks = os.environ.get("BITBLAS_DEBUG", "") not in ("", "0") if debug is None else bool(debug)
    place = launched()
    local_device = _device(device, place)
    how: GroupOptions = {"timeout": seconds, "debug": checks}
    _notify_launcher(JOINING)
    if place is None and not any(name in os.environ for name in UNDER_MPI):
        group: Group = Group(0, 1, local_device, **how)
    elif local_device.host_memory:
        group = MpiGroup(local_device, **how)
        if place is not None and place.ranks != group.size:
            raise DistributedError(
                f"environment: expected {place.ranks} ranks, MPI has {group.size}; on CPUs start with mpirun or "
                "`bitblas run --device cpu`"
            )
    elif place is None:
        raise DistributedError("environment: expected RANK and WORLD_SIZE for ranks on GPUs, got neither")
    elif place.ranks == 1:
        group = Group(0, 1, local_device, **how)
    else:
        group = NcclGroup(place.rank, place.ranks, local_device, **how)
    config.device = local_device.name
    if group.size > 1:
        _open_board(group)
        _notify_launcher(JOINED)
        atexit.register(_end, group)
    _group = group
    return group


def _notify_launcher(word: str) -> None:
    """Notify `bitblas run`, which ends ranks that wait for a rank that ended before it called `init`."""
    if place := os.environ.get(LAUNCHER):
        with suppress(OSError):
            Path(f"{place}.{word}").touch()


def _device(device: str | Device | None, place: Place | None) -> Device:
    """The device of this rank."""
    name = (os.environ.get("BITBLAS_DEVICE") or devices.default()) if device is None else device
    if isinstance(name, str) and name.partition(":")[0] == "cuda" and ":" not in name and place is not None:
        count = devices.get("cuda").xp.cuda.runtime.getDeviceCount()
        if place.local >= count:
            raise DistributedError(f"rank {place.rank}: expected one GPU per rank of this host, got {count}")
        name = f"cuda:{place.local}"
    elif isinstance(name, str) and name.startswith("cuda:") and device is None and place is not None:
        return _device("cuda", place)  # the default names one GPU of several, but ranks need different ones
    return devices.get(name)


def _open_board(group: Group) -> None:
    debug, group.debug = group.debug, False  # turned on for all ranks if one of them enables it
    token = np.frombuffer(uuid.uuid4().bytes, np.uint64)
    text = f"{int(group.gather_host(token)[0, 0]):x}"
    board = LivenessBoard(text, group.rank, group.size)
    group.barrier()
    board.map_others()
    group.captures = bool(group.allreduce(np.array([board.all_on_this_host]), np.logical_and)[0])
    board.carries_messages = group.captures and platform.machine() in ORDERED
    board.unlink_file()
    group.board = board
    group.debug = bool(group.allreduce(np.array([debug]), np.logical_or)[0])


def _end(group: Group) -> None:
    """Finish or abandon pending work: a process must not end before its GPU does."""
    if not group.broken:
        group.settle()
        if group.board is not None:
            error = getattr(sys, "last_value", None)  # the exception that ended the program
            group.board.end("" if error is None else f"{type(error).__name__}: {error}")
        group.close()
    else:
        group.leave()


def current() -> Group:
    """The Group of this process; calls `init` if it has not been called."""
    return init() if _group is None else _group


def rank_device(device: str | Device | None = None) -> Device:
    """The device of this rank, where its part of every object is stored. device: named by the program, which
    must be the same. InvalidValue for another device; TypeError, ValueError as in `device.get`."""
    local_device = current().device
    name = device.name if isinstance(device, Device) else device
    if name is None or name in (local_device.name, local_device.name.partition(":")[0]):
        return local_device
    if not isinstance(name, str) or name.partition(":")[0] != "cuda":
        devices.get(name)  # raises for unknown devices
    raise InvalidValue(
        f"device: expected {local_device.name}, the device of rank {current().rank}, got "
        f"{name!r}. Hint: init(device=) or `bitblas run --device` sets it for all distributed objects"
    )


# ---- `bitblas run -n 4 program.py`: start N ranks of one program on this host and end them together.

CHECK_INTERVAL = 0.05  # seconds between two checks of the processes
LINGER = 30.0  # seconds that the other ranks have to notice and report a failed rank
ABANDONED = 3.0  # the same for ranks that wait in `init` for a rank that ended before it called it
GRACE = 5.0  # seconds that ranks have to end after a signal, before they are killed
LAST = 3.0  # seconds that mpirun, or a rank's parent, has to end after all ranks have ended
Handler = Callable[[int, FrameType | None], object] | int | None  # of a signal


def run(ranks: int, program: Sequence[str], device: str | None = None) -> int:
    """Run the Python program (a file and its arguments) on `ranks` ranks; return the first failing rank's exit code.

    Raises InvalidValue (ranks), DistributedError (fewer GPUs than ranks, no mpirun).
    """
    if ranks < 1:
        raise InvalidValue(f"ranks: expected 1 or more, got {ranks}")
    device_name = device or os.environ.get("BITBLAS_DEVICE") or devices.default()
    command = [sys.executable, *program]
    environment = dict(os.environ, BITBLAS_DEVICE=device_name.partition(":")[0])
    on_cpus = devices.get(device_name).host_memory
    if not on_cpus:
        count = devices.get("cuda").xp.cuda.runtime.getDeviceCount()
        if ranks > count:
            raise DistributedError(f"ranks: expected at most {count}, one per GPU, got {ranks}")
        environment.update(WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(_free_port()))
    with Launcher(ranks) as launcher:
        if on_cpus:
            start, number = mpirun(ranks, environment)
            launcher.start([*start, *launcher.parent(number), *command], environment)
        else:
            for k in range(ranks):
                rank_environment = dict(environment, RANK=str(k), LOCAL_RANK=str(k))
                launcher.start([*launcher.parent(str(k)), *command], rank_environment)
        return launcher.wait()


def mpirun(ranks: int, environment: dict[str, str]) -> tuple[list[str], str]:
    """The command that starts the ranks, and the environment variable in which it passes each rank its number. Uses the
    mpiexec next to this Python, else the one on the path."""
    local = Path(sys.executable).parent / "mpiexec"
    found = str(local) if local.exists() else shutil.which("mpiexec")
    if found is None:
        raise DistributedError(f"ranks on CPUs: mpiexec not found; {extras.hint('mpi')}")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, env=environment).stdout
    if "open" not in version.lower():
        return [found, "-disable-auto-cleanup", "-n", str(ranks)], "PMI_RANK"
    if os.geteuid() == 0:  # root confirmed that by running this command
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = [found, "--enable-recovery", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    return command, "OMPI_COMM_WORLD_RANK"


def _free_port() -> int:
    """A free port such that the port where ranks connect is free too, as far as that can be checked in advance."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            with suppress(OSError, OverflowError):
                second.bind(("127.0.0.1", port + MEETING_OFFSET))
                return port


class Launcher:
    """Start the ranks' parents, and wait for the programs of all ranks. `folder` has a file RANK.pid for each program
    that was started, RANK.code with its exit code, and RANK.joining, RANK.joined of `init`."""

    def __init__(self, ranks: int) -> None:
        self.ranks = range(ranks)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.received: list[int] = []  # received signals
        self.before: dict[int, Handler] = {}

    def __enter__(self) -> Launcher:
        self.folder = Path(tempfile.mkdtemp(prefix="bitblas-"))
        if threading.current_thread() is threading.main_thread():
            for number in FORWARDED:
                if signal.getsignal(number) != signal.SIG_IGN:  # ignored signals, as under nohup
                    self.before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave no process behind: parents end their programs when the folder is gone."""
        shutil.rmtree(self.folder.rename(self.folder.with_suffix(".done")), ignore_errors=True)
        for process in self.processes:
            self._end(process)
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)

    def parent(self, number: str) -> list[str]:
        """The command of a rank's parent. number: the rank, or the environment variable that contains it."""
        return [sys.executable, "-I", "-S", str(Path(__file__).with_name("supervise.py")), str(self.folder), number]

    def start(self, command: list[str], environment: dict[str, str]) -> None:
        """Start a process in its own session, so that terminal signals reach only the launcher, which forwards them."""
        ends = lambda: end_with_parent(signal.SIGTERM)
        self.processes.append(subprocess.Popen(command, env=environment, start_new_session=True, preexec_fn=ends))

    def wait(self) -> int:
        """Wait until all programs have ended; return the first failing code, in the shell's form for signals."""
        failed = stopped = abandoned = 0.0  # times when a rank failed, a signal arrived, `init` lacked a rank
        signals = code = 0
        while len(codes := self.codes()) < len(self.ranks):
            time.sleep(CHECK_INTERVAL)
            now, running = time.monotonic(), [rank for rank in self.ranks if rank not in codes]
            for number in self.received[signals:]:
                # UCX, which MPI may use, interprets SIGHUP as a request for more output.
                self._signal(signal.SIGTERM if number == signal.SIGHUP else number, running)
                stopped = stopped or now
            signals = len(self.received)
            failed = failed or (now if any(codes.values()) else 0.0)
            missing = [*codes] if self._has("joining", running) and not self._has("joined", self.ranks) else []
            abandoned = (abandoned or now) if missing else 0.0
            if abandoned and now - abandoned > ABANDONED:
                if not code:
                    what = f"rank {missing[0]} ended with code {codes[missing[0]]} before it called init()"
                    print(f"bitblas run: {what}; stopping the other ranks, which wait for it there", file=sys.stderr)
                code = code or next(filter(None, codes.values()), 1)
                self._signal(signal.SIGKILL, running)
            elif (stopped and now - stopped > GRACE) or (failed and now - failed > LINGER) or signals > 1:
                self._signal(signal.SIGKILL, running)
        if self.received:
            return 128 + self.received[0]
        code = code or next(filter(None, codes.values()), 0)
        return code if code >= 0 else 128 - code

    def codes(self) -> dict[int, int]:
        """The exit codes of ranks that have ended, in the order of their ends."""
        files = sorted(self.folder.glob("*.code"), key=lambda file: file.stat().st_mtime_ns)
        found = {int(file.stem): int(file.read_text()) for file in files}
        for rank in self.ranks:
            process = self.processes[rank if len(self.processes) > 1 else 0]
            if rank not in found and process.poll() is not None:  # a parent was killed, or mpirun started no ranks
                found[rank] = process.returncode or 1
        return found

    def _has(self, what: str, ranks: Sequence[int]) -> bool:
        return any((self.folder / f"{rank}.{what}").exists() for rank in ranks)

    def _signal(self, number: int, running: Sequence[int]) -> None:
        """Signal the programs of these ranks; for SIGKILL with all processes that they started. Also the processes of
        this launcher if programs have not started yet: any of them for SIGKILL, else all."""
        kill, started = number == signal.SIGKILL, 0
        for rank in running:
            with suppress(OSError, ValueError):
                pid = int((self.folder / f"{rank}.pid").read_text())
                started += 1
                (os.killpg if kill else os.kill)(pid, number)
        if started < len(running) if kill else not started:
            for process in self.processes:
                if process.poll() is None:
                    with suppress(OSError):
                        os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for mpirun, or a rank's parent; kill it if it does not end."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(subprocess.TimeoutExpired):
                process.wait(LAST)
                return
            with suppress(OSError):
                os.killpg(process.pid, number)
        process.wait()

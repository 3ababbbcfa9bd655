"""The Device interface: memory, capabilities, kernel compilation and array helpers of a CPU or GPU."""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from semirings.cached import cached_property

from ..exceptions import DeviceError, OutOfMemory
from ..kernels.prologue import Variant
from . import held, ranges, targets
from .ranges import Bounds

_DLPACK_CPU = 1  # dlpack.h: kDLCPU
MEASURED_US = 2000.0  # that one measurement of time_us takes, at least
FORESEEN = 1 << 26  # bytes from which on a need of memory is compared with what is free: asking takes some us


class Cluster(NamedTuple):
    """Blocks that run at the same time and reach each other's shared memory: how many, of how many threads, and the
    bytes of it that a kernel keeps its lists in (48 KB it has without asking for more)."""

    blocks: int
    threads: int = 512
    queue_bytes: int = 45056


class Guard:
    """`with device.guard:` what the device raises inside becomes an error of bitblas."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None and isinstance(error, self.device.errors):
            seen = self.device.explained(error)
            if seen is not error:  # others go on as they are
                raise seen from error


class Device(ABC):
    """What every device offers. `name` is what users write: "cpu", "cuda", "cuda:1"."""

    name = "none"
    kind = "none"  # "cpu", "gpu": whose measured constants hold for it
    # What it can do.
    host_memory = False  # arrays are NumPy's: the host reads them as they lie, by NumPy where others take a kernel
    shares_rows = False  # threads share a row, long ones are cut, atomics join sums; else a thread has rows of its own
    sorts_keys = False  # sorting 64-bit keys is what it does best; else entries are counted into their places
    records_loops = False  # bodies of loops are written down and made kernels of; else their statements run one by one
    pins = False  # kernels reach memory of the host where it is page-locked, by an address; else as any array
    captures = False  # such a loop can run without the host: as a graph with a while node
    xp: Any = np  # the array module: NumPy or CuPy
    errors: tuple[type[BaseException], ...] = (MemoryError, ValueError)  # what `explained` looks at before a user does

    def __repr__(self) -> str:
        return f"<device {self.name}>"

    @property
    def stream(self) -> int:
        """The one that work goes to: of a GPU CuPy's current one."""
        return 0

    @property
    def capturing(self) -> bool:
        """Whether work is written into a graph now: nothing may wait for the device."""
        return False

    @property
    def is_gpu(self) -> bool:
        """For users. Inside of the library a device is asked for what it can do."""
        return self.kind == "gpu"

    @cached_property
    def guard(self) -> Guard:
        return Guard(self)

    @cached_property
    def block_shared_bytes(self) -> int:
        """Shared memory that a block of threads may have."""
        return 0

    @cached_property
    def picked_bytes(self) -> int:
        """Of the widest numbers of which one instruction of the processor picks any eight of eight."""
        return 0

    @cached_property
    def cluster(self) -> Cluster | None:
        """What a loop runs small rounds in; None: it has no thread-block clusters."""
        return None

    @abstractmethod
    def kernel(self, variant: Variant) -> Callable[..., None]:
        """The compiled variant: call it as kernel(n, *args, bounds=None, extra_blocks=0)."""

    # ---- threads of the host ----

    @property
    def threads(self) -> int:
        """Workers of the CPU's parallel kernels; 1 where the host runs none."""
        return 1

    @property
    def parts(self) -> int:
        """Ranges that they share, more than there are workers: who is done early takes another."""
        return 4 * self.threads

    def splits(self, work: int, least: int) -> bool:
        """Whether they share the units of a kernel: where the host runs it, from `least` of `work` on."""
        return False

    def ranges(
        self, n: int, least: int, *, work: int | None = None, parts: int | None = None, fresh: bool = False
    ) -> Bounds:
        """Even ranges of n units; None for one range, where `work` (without it, n) is below `least`. fresh: whether
        outputs are new arrays, so that an interrupt may end the launch: then those of long work are Chunks."""
        work = n if work is None else work
        parts = self.parts if parts is None else parts
        if fresh and (chunks := self.chunks(work)) > 1:
            return ranges.chunked(ranges.even(n, min(n, max(parts, chunks))))
        return ranges.even(n, parts) if self.splits(work, least) else None

    def chunks(self, work: int, least: int = 0) -> int:
        """Ranges that long work is divided into, so that it can be interrupted: where the host runs it. 1 for other
        work. least: the work of a range, unless CHUNK is more."""
        return 1

    @abstractmethod
    def source(self, variant: Variant) -> str:
        """The text that is compiled for a variant."""

    # ---- arrays ----

    def asarray(self, data: Any, dtype: Any = None) -> Any:
        """`data` as a contiguous array of this device; copies only where it must."""
        try:
            return self.xp.ascontiguousarray(self.xp.asarray(data, dtype=dtype))
        except self.errors as error:
            self.fail(error)

    def fill(self, array: Any, value: np.generic) -> Any:
        """The array, with that value everywhere, to the bit."""
        array.fill(value)
        return array

    def full(self, n: int, value: np.generic) -> Any:
        """An array of n times that value."""
        return self.fill(self.xp.empty(n, value.dtype), value)

    def adopt(self, data: Any, name: str) -> Any:
        """An array of another library (`__dlpack__`, or on a GPU `__cuda_array_interface__`) as one of this device's
        library, in the same memory; anything else as it is. DeviceError where it lies on another device."""
        if isinstance(data, (np.ndarray, np.generic)):
            return data
        foreign = hasattr(data, "__dlpack_device__")
        on_gpu = data.__dlpack_device__()[0] != _DLPACK_CPU if foreign else hasattr(data, "__cuda_array_interface__")
        if not foreign and not on_gpu:
            return data
        if on_gpu:
            raise DeviceError(
                f"{name}: expected data in host memory for device {self.name!r}, got an array on a GPU; "
                "copy it to the host first (.get(), .cpu()), or give device='cuda'"
            )
        return np.asarray(data) if hasattr(data, "__array__") else np.from_dlpack(data)

    def to_host(self, array: Any) -> np.ndarray:
        """An array of this device as a NumPy array; host arrays stay as they are."""
        return np.asarray(array)

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all work given to the device is done."""

    # ---- memory and faults ----

    def free_bytes(self) -> int:
        """Bytes that can still be allocated."""
        return 1 << 47  # what a process can address

    def foresee(self, what: str, nbytes: int) -> None:
        """OutOfMemory, before anything is done, unless `nbytes` are free and within the limit of the process."""
        if missing := self.missing(nbytes):
            raise OutOfMemory(f"{what}: needs {nbytes} bytes on device {self.name!r}, {missing}")

    def missing(self, nbytes: int) -> str:
        """What stands in the way of taking `nbytes`, and what to do about it; "" where nothing does."""
        if held.limit is not None and (now := held.bytes_on(self)) + nbytes > held.limit:
            limit = f"{now} are held, the limit is {held.limit} (config.memory_limit)"
            return f"{limit}; raise it, {self._advice()}"
        if nbytes >= FORESEEN and nbytes > (free := self.free_bytes()):
            return f"{free} are free; {self._advice()}"
        return ""

    def fail(self, error: BaseException) -> NoReturn:
        """Raise what a user sees for one of `errors`."""
        seen = self.explained(error)
        if seen is error:
            raise error
        raise seen from error

    def explained(self, error: BaseException) -> BaseException:
        """The error that a user sees for one of `errors`."""
        if isinstance(error, ValueError):
            return too_big(error, self.name) or error
        return error if isinstance(error, OutOfMemory) else OutOfMemory(f"{self.name}: {error}")

    def _advice(self) -> str:
        return "free matrices that are not needed"

    @property
    def model(self) -> str:
        """What measurements on it hold for."""
        return f"{targets.host().cpu} with {self.threads} threads"

    def described(self) -> str:
        """What it is, for people."""
        return f"{self.name}, {self.threads} threads"

    # ---- time ----

    def mark(self) -> Any:
        """A point in the device's time, for `elapsed`."""
        return time.perf_counter()

    def elapsed(self, begin: Any, end: Any) -> float:
        """Microseconds from one mark to another."""
        return 1e6 * (end - begin)

    def now(self) -> Any:
        """A point in the time that `time_us` measures."""
        return self.mark()

    def time_us(self, run: Callable[[], Any], samples: int = 7, *, captured: bool = True) -> float:
        """Microseconds that one call of `run` takes once it has run: the least of several measurements, since what else
        the machine does only adds to it. captured: of its kernels alone, where the device can tell; else `run` may wait
        for results, and the wait counts."""
        run()
        begin = self.now()
        run()
        times = max(1, min(1000, int(MEASURED_US / max(1.0, self.elapsed(begin, self.now())))))
        taken = []
        for _ in range(samples):
            begin = self.now()
            for _ in range(times):
                run()
            taken.append(self.elapsed(begin, self.now()) / times)
        return min(taken)


_TOO_BIG = ("array is too big", "Maximum allowed dimension exceeded", "Maximum allowed size exceeded")


def too_big(error: ValueError, device: str) -> OutOfMemory | None:
    """What a user sees where NumPy refuses a size that no machine has; None for every other ValueError."""
    if not str(error).startswith(_TOO_BIG):
        return None
    return OutOfMemory(f"{device}: an array needs {1 << 63} bytes or more ({error})")


@functools.cache
def dummy(device: Device, name: str) -> Any:
    """An array for an argument that the kernel does not read."""
    return device.xp.zeros(1, name)

"""The Device interface: memory, capabilities, kernel compilation and array helpers of a CPU or GPU."""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from semirings.cached import cached_property

from .. import tuning
from ..exceptions import DeviceError, OutOfMemory
from ..kernels.variant import Variant
from ..typing import Array, ArrayLike
from . import memory, native, threads
from .threads import Bounds

_DLPACK_CPU = 1  # dlpack.h: kDLCPU
# How the errors of NumPy begin that refuse an impossible size.
_TOO_BIG = ("array is too big", "Maximum allowed dimension exceeded", "Maximum allowed size exceeded")


Kernel: TypeAlias = Callable[..., None]  # kernel(n, *args, bounds=None, extra_blocks=0)
Mark: TypeAlias = Any  # a time stamp: seconds on a CPU, an event of CuPy on a GPU


class Cluster(NamedTuple):
    """Blocks that run at the same time and can access each other's shared memory: their number, threads per block, and
    bytes of shared memory: for a kernel's lists (up to 48 KB need no opt-in), and for the bits of a vector."""

    blocks: int
    threads: int = 512
    queue_bytes: int = 45056
    bits_bytes: int = 163840

    def holds(self, positions: int) -> bool:
        """Whether the bits of so many positions fit into the shared memory of all blocks."""
        return positions <= 8 * self.bits_bytes * self.blocks


class Guard:
    """`with device.guard:` converts the device's exceptions inside to errors of bitblas."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and isinstance(error, self.device.errors):
            converted = self.device.explained(error)
            if converted is not error:  # other exceptions are re-raised unchanged
                raise converted from error


class Device(ABC):
    """The interface of all devices. `name` is the name that users write: "cpu", "cuda", "cuda:1"."""

    name = "none"
    kind = "none"  # "cpu" or "gpu": selects the measured constants
    # Capabilities.
    host_memory = False  # arrays are NumPy's: the host reads them directly, by NumPy where other devices need a kernel
    is_simt = False  # SIMT: threads share a row, long rows are split, atomics combine sums; else one thread per row
    prefers_sorting = (
        False  # sorting 64-bit keys is its fastest way to order entries; else entries are counted into place
    )
    captures_bodies = False  # loop bodies are executed symbolically and compiled; else their statements run one by one
    pins = False  # kernels access page-locked host memory by its address; else host memory is used like any array
    captures = False  # such a loop can run without the host, as a graph with a while node
    xp: ModuleType = np  # the array module: NumPy or CuPy
    errors: tuple[type[BaseException], ...] = (MemoryError, ValueError)  # those that `explained` converts

    def __repr__(self) -> str:
        return f"<device {self.name}>"

    @property
    def stream(self) -> int:
        """The stream that work goes to: CuPy's current stream on a GPU."""
        return 0

    @property
    def capturing(self) -> bool:
        """Whether work is being captured into a graph: synchronizing with the device is then not allowed."""
        return False

    @property
    def is_gpu(self) -> bool:
        """For users. Inside the library, test a capability instead."""
        return self.kind == "gpu"

    @cached_property
    def guard(self) -> Guard:
        return Guard(self)

    @cached_property
    def multiprocessors(self) -> int:
        """Multiprocessors of a GPU; 0 on the CPU."""
        return 0

    @cached_property
    def block_shared_bytes(self) -> int:
        """Bytes of shared memory available to a thread block."""
        return 0

    @cached_property
    def permute_bytes(self) -> int:
        """Byte width of the widest element for which the CPU has an 8-lane permute."""
        return 0

    @cached_property
    def cluster(self) -> Cluster | None:
        """The thread block cluster that runs small rounds of a loop; None if the device has no clusters."""
        return None

    @abstractmethod
    def kernel(self, variant: Variant) -> Kernel:
        """The compiled variant: call it as kernel(n, *args, bounds=None, extra_blocks=0)."""

    # ---- host threads ----

    @property
    def threads(self) -> int:
        """Number of worker threads of parallel CPU kernels; 1 if the host runs none."""
        return 1

    @property
    def parts(self) -> int:
        """Number of ranges they share: more than the threads, so that a thread that finishes early takes another."""
        return tuning.count("parallel.ranges_per_thread") * self.threads

    def splits(self, work: int, least: int) -> bool:
        """Whether threads share the units of a kernel: on the CPU, if `work` is at least `least`."""
        return False

    def ranges(
        self, n: int, least: int, *, work: int | None = None, parts: int | None = None, fresh: bool = False
    ) -> Bounds:
        """Even ranges of n units; None for a single range, if `work` (default: n) is below `least`. fresh: whether
        outputs are new arrays, so that an interrupt may end the launch: long work is then split into Chunks."""
        work = n if work is None else work
        parts = self.parts if parts is None else parts
        if fresh and (chunks := self.chunks(work)) > 1:
            return threads.as_chunks(threads.even_ranges(n, min(n, max(parts, chunks))))
        return threads.even_ranges(n, parts) if self.splits(work, least) else None

    def chunks(self, work: int, least: int = 0) -> int:
        """Number of ranges that long work on the host is split into, so that it can be interrupted. 1 for other work.
        least: minimum work of a range, if larger than `interrupt.chunk_work`."""
        return 1

    @abstractmethod
    def source(self, variant: Variant) -> str:
        """The source text that is compiled for a variant."""

    # ---- arrays ----

    def asarray(self, data: ArrayLike, dtype: np.typing.DTypeLike | None = None) -> Array:
        """`data` as a contiguous array of this device; copied only if necessary."""
        try:
            return self.xp.ascontiguousarray(self.xp.asarray(data, dtype=dtype))
        except self.errors as error:
            self.fail(error)

    def fill(self, array: Array, value: np.generic) -> Array:
        """Fill the array with exactly the bits of `value`."""
        array.fill(value)
        return array

    def full(self, n: int, value: np.generic) -> Array:
        """A new array of n elements equal to `value`."""
        return self.fill(self.xp.empty(n, value.dtype), value)

    def adopt(self, data: Any, name: str) -> Any:
        """Convert an array of another library (`__dlpack__`, or on a GPU `__cuda_array_interface__`) to an array of
        this device's library that shares its memory. Other objects are returned unchanged. DeviceError if the array is
        on another device."""
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

    def to_host(self, array: Array | np.generic) -> np.ndarray:
        """An array of this device as a NumPy array; host arrays are returned unchanged."""
        return np.asarray(array)

    @abstractmethod
    def synchronize(self) -> None:
        """Block until all work submitted to the device is done."""

    # ---- memory and faults ----

    def free_bytes(self) -> int:
        """Bytes that can still be allocated."""
        return 1 << 47  # the address space of a process

    def foresee(self, what: str, nbytes: int) -> None:
        """Raise OutOfMemory, before any work, unless `nbytes` are free and within the memory limit of the process."""
        if missing := self.missing(nbytes):
            raise OutOfMemory(f"{what}: needs {nbytes} bytes on device {self.name!r}, {missing}")

    def missing(self, nbytes: int) -> str:
        """Why `nbytes` cannot be allocated, and a remedy; "" if they can."""
        if memory.limit is not None and (now := memory.bytes_on(self)) + nbytes > memory.limit:
            limit = f"{now} are in use, the limit is {memory.limit} (config.memory_limit)"
            return f"{limit}; raise it, {self._advice()}"
        if nbytes >= tuning.count("memory.checked_bytes") and nbytes > (free := self.free_bytes()):
            return f"{free} are free; {self._advice()}"
        return ""

    def fail(self, error: BaseException) -> NoReturn:
        """Raise the user's form of one of `errors`."""
        converted = self.explained(error)
        if converted is error:
            raise error
        raise converted from error

    def explained(self, error: BaseException) -> BaseException:
        """Convert one of `errors` to the error that a user sees."""
        if isinstance(error, ValueError):  # an impossible size, or any other error
            too_big = str(error).startswith(_TOO_BIG)
            return OutOfMemory(f"{self.name}: an array needs {1 << 63} bytes or more ({error})") if too_big else error
        return error if isinstance(error, OutOfMemory) else OutOfMemory(f"{self.name}: {error}")

    def _advice(self) -> str:
        return "free matrices that are not needed"

    @property
    def model(self) -> str:
        """The hardware name under which measurements are stored."""
        return f"{native.host().cpu} with {self.threads} threads"

    def described(self) -> str:
        """A description for users."""
        return f"{self.name}, {self.threads} threads"

    # ---- time ----

    def mark(self) -> Mark:
        """A time stamp on the device, for `elapsed`."""
        return time.perf_counter()

    def elapsed(self, begin: Mark, end: Mark) -> float:
        """Microseconds between two marks."""
        return 1e6 * (end - begin)

    def now(self) -> Mark:
        """A time stamp for `time_us`."""
        return self.mark()

    def time_us(self, run: Callable[[], object], samples: int = 7, *, captured: bool = True) -> float:
        """Microseconds per call of `run` after a first call: the minimum of several samples, because other load on the
        machine only adds time. captured: kernel time alone, if the device can measure it; otherwise `run` may wait for
        results, and the waiting counts."""
        run()
        begin = self.now()
        run()
        enough = tuning.value("measure.sample_us")
        times = max(1, min(1000, int(enough / max(1.0, self.elapsed(begin, self.now())))))
        means = []
        for _ in range(samples):
            begin = self.now()
            for _ in range(times):
                run()
            means.append(self.elapsed(begin, self.now()) / times)
        return min(means)


def address(array: Array) -> int:
    """The address of an array's first element."""
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


@functools.cache
def dummy(device: Device, name: str) -> Array:
    """A placeholder array for an argument that the kernel does not read."""
    return device.xp.zeros(1, name)

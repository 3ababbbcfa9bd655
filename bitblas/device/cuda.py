"""The CUDA device: a GPU with CuPy arrays, streams and memory. The only module that imports CuPy.

Work goes to CuPy's current stream. If there are several GPUs, each is a device of its own; an operation on an object
first makes the object's GPU current (`switch`).
"""

from __future__ import annotations

import ctypes
import functools
import re
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings.cached import cached_property

from .. import extras
from ..exceptions import DeviceError, OutOfMemory
from ..kernels.variant import Variant
from ..typing import Array
from . import cubins, jit, tracing
from .arrays import Arrays, Primitives
from .base import _DLPACK_CPU, Cluster, Device, Mark

if TYPE_CHECKING:
    from .threads import Bounds

# ---- Launch kernels through the driver API, with all arguments packed into one reused buffer: CuPy creates an object
# for every argument of every launch, which costs the host more than the launch itself.

CODES = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "float32": "f", "float64": "d"}
CODES |= {f"u{name}": code.upper() for name, code in CODES.items() if name.startswith("int")}
CODES |= {"complex64": "ff", "complex128": "dd"}  # real and imaginary part (Argument in complex.cuh)
# CU_LAUNCH_PARAM_BUFFER_POINTER, its address, CU_LAUNCH_PARAM_BUFFER_SIZE, its address, CU_LAUNCH_PARAM_END
BUFFER_POINTER, BUFFER_SIZE, END = 1, 2, 0


class Arguments:
    """The arguments of one kernel in the layout of a C struct; one object per thread, as threads launch
    concurrently.

    Views (kernels/views.cuh) take the same bytes as their fields one by one: they begin and end with fields of 8 bytes.
    """

    def __init__(self, codes: Sequence[str]) -> None:
        layout = "="
        for code in codes:
            layout += f"{-struct.calcsize(layout) % struct.calcsize(f'={code[0]}')}x{code}"
        self.pack = struct.Struct(layout).pack_into
        self.complex = [k for k, code in enumerate(codes) if len(code) == 2]
        self.buffer = ctypes.create_string_buffer(struct.calcsize(layout))
        self.size = ctypes.c_size_t(struct.calcsize(layout))
        places = BUFFER_POINTER, ctypes.addressof(self.buffer), BUFFER_SIZE, ctypes.addressof(self.size), END
        self.extra = (ctypes.c_void_p * len(places))(*places)
        self.address = ctypes.addressof(self.extra)

    def put(self, values: list[Any]) -> None:
        """Set the values of the arguments; complex values take two fields."""
        for k in reversed(self.complex):
            values[k : k + 1] = values[k].real, values[k].imag
        self.pack(self.buffer, 0, *values)


def launcher(
    xp: Any, load: Callable[[], Any], shared: int, cooperative: bool = False, meeting: int = 0
) -> Callable[..., None]:
    """A kernel as a function launch(grid, block, args): arrays of the GPU, NumPy scalars, and ints as 64-bit arguments,
    with the same types in every call. Work goes to the current stream. load: returns CuPy's function, at the first
    launch. shared: bytes of dynamic shared memory per block. cooperative: whether all blocks run at the same time,
    because they wait for each other. meeting: the GPU's multiprocessors, if they wait for each other in a graph, which
    refuses such launches; there are no more blocks then than run at the same time."""
    ndarray, known, function, most = xp.ndarray, threading.local(), 0, 0
    arrays = frozenset((xp.Array, ndarray))
    start, current = xp.cuda.driver.launchKernel, xp.cuda.get_current_stream

    def prepare(args: Sequence[Any], threads: int) -> Arguments:
        nonlocal function, most
        xp.cuda.runtime.free(0)  # creates the context for a thread that has not used the GPU yet
        function = function or load().ptr
        if meeting:
            most = meeting * xp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function, threads, shared)
        return Arguments([*map(code, args)])

    def code(x: Any) -> str:
        return "Q" if isinstance(x, ndarray) else "q" if type(x) is int else CODES[x.dtype.name]

    def launch(grid: tuple[int], block: tuple[int], args: Sequence[Any], *, early: bool = False) -> None:
        arguments: Arguments | None = getattr(known, "arguments", None)
        if arguments is None:
            arguments = known.arguments = prepare(args, block[0])
        arguments.put([a.data.ptr if type(a) in arrays else a for a in args])
        if meeting:
            grid = (min(grid[0], most),)
        if early or cooperative:
            start_as(cooperative, function, grid[0], block[0], shared, current().ptr, arguments.address)
        else:
            start(function, grid[0], 1, 1, block[0], 1, 1, shared, current().ptr, 0, arguments.address)

    return launch


def start_as(cooperative: bool, function: int, grid: int, block: int, shared: int, stream: int, arguments: int) -> None:
    """Launch a kernel whose blocks all run at the same time (cooperative), or one that may begin while its predecessor
    in the stream still runs, until it waits for that kernel (await_previous in kernels/base.cuh). This hides the
    launch latency."""
    from cuda.bindings import driver

    config, attribute = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    if cooperative:
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        attribute.value.cooperative = 1
    else:
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
    config.gridDimX, config.gridDimY, config.gridDimZ = grid, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = block, 1, 1
    config.sharedMemBytes, config.hStream = shared, driver.CUstream(stream)
    config.attrs, config.numAttrs = [attribute], 1
    (error,) = driver.cuLaunchKernelEx(config, driver.CUfunction(function), 0, arguments)
    if error:
        raise RuntimeError(f"cuLaunchKernelEx: {error.name}")


@functools.cache
def grid_of(device: Cuda, variant: Variant) -> tuple[Callable[[int, int], int], int]:
    """The blocks of a launch of the variant for n units and more blocks, as a function; and the threads of a block."""
    lanes, threads = variant.constant("LANES", 1), variant.constant("THREADS", jit.BLOCK)
    resident = variant.constant("RESIDENT")  # persistent blocks per multiprocessor, which iterate over the units
    most = resident * device.multiprocessors if resident else 1 << 31
    return lambda n, extra: min(-(-n * lanes // threads) + extra, most), threads


@functools.cache
def kernel(device: Cuda, variant: Variant) -> Callable[..., None]:
    """The variant's kernel as a function call(n, *args) for n units; used as `Cuda.kernel`."""
    try:
        launch, (blocks_of, threads) = device.load(variant), grid_of(device, variant)
    except device.errors as error:
        device.fail(error)

    def call(n: int, *args: Any, bounds: Bounds = None, extra_blocks: int = 0) -> None:
        if tracing.active is not None:
            return tracing.active.note(device, variant, call, n, *args, bounds=bounds, extra_blocks=extra_blocks)
        blocks = blocks_of(n, extra_blocks)
        if blocks >= 1 << 31:
            raise OutOfMemory(f"{variant.kernel}: {n} units exceed the largest CUDA grid")
        if blocks:
            try:
                launch((blocks,), (threads,), (n, *args))
            except device.errors as error:
                device.fail(error)

    return call


OLDEST_CUPY = 13
OLDEST_GPU = 70  # compute capability, times ten
INSTALL = extras.hint("cuda13", jit.AS_THE_DRIVER)
# Errors after which the CUDA context of a process is lost (CUDA Runtime API, cudaError_t): ECC, time-out, assert,
# hardware stack, illegal instruction, misaligned and illegal addresses, launch failure, and errors of earlier kernels.
LOST = {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721}
# The driver's errors for a kernel for another GPU, or of a newer compiler (CUDA Driver API, cudaError_enum): invalid
# image, no binary for this GPU, invalid PTX, unsupported PTX version.
NOT_LOADED = {200, 209, 218, 222}
FIRST_WITH_CLUSTERS = 90  # compute capability, times ten
PORTABLE_CLUSTER = 8  # blocks per cluster that every GPU with clusters supports; more need an attribute
NON_PORTABLE_CLUSTER = 14  # CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: needed for more than 48 KB
_DLPACK_GPU = (2, 13)  # dlpack.h: kDLCUDA, kDLCUDAManaged
NO_DRIVER, NO_GPU = 35, 100  # cudaErrorInsufficientDriver, cudaErrorNoDevice


@functools.cache
def create_context(ordinal: int | None) -> None:
    """Begin to create a GPU's primary context, in a thread: it takes 0.3 s, most of it in the driver, in which CuPy is
    imported and kernels are found. Errors are left to CuPy, which meets them again. Nothing is done if the program may
    have made another GPU current: as a rank does, whose context must not be on the first GPU."""
    if ordinal is None and not {"cupy", "torch"}.isdisjoint(sys.modules):
        return

    def create() -> None:
        try:
            driver = ctypes.CDLL("libcuda.so.1")
        except OSError:
            return
        number, context = ctypes.c_int(), ctypes.c_void_p()
        if not driver.cuInit(0) and not driver.cuDeviceGet(ctypes.byref(number), ordinal or 0):
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number)

    threading.Thread(target=create, name="bitblas-context", daemon=True).start()


@functools.cache
def import_cupy() -> ModuleType:
    """Import CuPy, check its version, and find a driver and a GPU. DeviceError names what is missing."""
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(f"device 'cuda': CuPy cannot be imported ({error}); {INSTALL}") from error
    version = str(cupy.__version__)
    if int(version.split(".")[0]) < OLDEST_CUPY:
        raise DeviceError(f"device 'cuda': expected CuPy {OLDEST_CUPY} or newer, got {version}; {INSTALL}")
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        driver, built = runtime.driverGetVersion(), runtime.runtimeGetVersion()
        if error.status == NO_DRIVER and not driver:
            raise DeviceError("device 'cuda': this machine has no NVIDIA driver; bitblas works on the CPU") from error
        if error.status == NO_DRIVER:
            versions = f"the driver supports CUDA {_dotted(driver)}, this CuPy is for {_dotted(built)}"
            raise DeviceError(f"device 'cuda': {versions}; update the driver, or {INSTALL}") from error
        if error.status != NO_GPU:
            raise DeviceError(f"device 'cuda': no usable GPU or driver ({error})") from error
        count = 0
    if count == 0:
        raise DeviceError("device 'cuda': this machine has no GPU; bitblas works on the CPU")
    return cupy


# ---- What array code (arrays.py) takes from CuPy: precompiled kernels.


def _scan(x: Any) -> None:
    from cupy.cuda import cub

    if cub.cub_scan(x, cub.CUPY_CUB_CUMSUM) is None:
        raise DeviceError(f"CuPy's CUB has no sum of prefixes of {x.dtype}")


def _argsort(x: Any) -> Any:
    from cupy.cuda import thrust

    order = type(x)(x.shape, np.int64)
    thrust.argsort(x.dtype, order.data.ptr, x.data.ptr, 0, x.shape)
    return order


def _copy(to: Any, source: Any) -> None:
    if to.nbytes:
        to.data.copy_from_device_async(source.data, to.nbytes)


def _clear(x: Any) -> None:
    if x.nbytes:
        x.data.memset_async(0, x.nbytes)


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


class Cuda(Device):
    """One GPU: CuPy arrays and CUDA C++ kernels."""

    kind = "gpu"
    is_simt = prefers_sorting = captures_bodies = pins = captures = True
    xp: Any = None  # the module of arrays.py
    ordinal: int | None = None  # the GPU's number
    lost = ""  # the fault after which this process cannot use the GPU; "" if none

    def __init__(self, ordinal: int | None = None) -> None:
        cupy = import_cupy()
        self.xp = Arrays(cupy, self, Primitives(_scan, _argsort, _copy, _clear))
        self._functions: dict[Variant, Callable[[], Any]] = {}  # loaded kernels, or those being compiled
        self.runtime = runtime = cupy.cuda.runtime
        count = runtime.getDeviceCount()
        self.ordinal = runtime.getDevice() if ordinal is None else ordinal
        if not 0 <= self.ordinal < count:
            raise DeviceError(f"device 'cuda:{self.ordinal}': expected 0..{count - 1} ({count} GPUs visible)")
        self.name = "cuda" if count == 1 else f"cuda:{self.ordinal}"
        major, minor = (
            runtime.deviceGetAttribute(number, self.ordinal) for number in (75, 76)
        )  # cudaDevAttrComputeCapabilityMajor, Minor
        if 10 * major + minor < OLDEST_GPU:
            oldest = f"{OLDEST_GPU // 10}.{OLDEST_GPU % 10}"
            raise DeviceError(
                f"device {self.name!r}: expected compute capability {oldest} or newer, got {major}.{minor}; "
                "bitblas works on the CPU"
            )
        self.arch = f"sm_{major}{minor}"
        self.errors = (
            MemoryError,
            runtime.CUDARuntimeError,
            cupy.cuda.driver.CUDADriverError,
            cupy.cuda.memory.OutOfMemoryError,
        )

    def check(self) -> None:
        """DeviceError if this process has lost the GPU."""
        if self.lost:
            raise DeviceError(
                f"device {self.name!r}: unusable in this process after a kernel fault ({self.lost}); its data is "
                "lost; use device='cpu' or restart the process"
            )

    # ---- kernels ----

    def load(self, variant: Variant) -> Callable[..., None]:
        """The variant's kernel as a function launch(grid, block, args). It is compiled meanwhile, if it has to be."""
        if variant not in self._functions:
            image = cubins.start(variant, self.arch)
            self._functions[variant] = functools.cache(lambda: self._function(variant, image))
        shared, cooperative = variant.constant("SHARED_BYTES"), bool(variant.constant("COOPERATIVE"))
        meeting = self.multiprocessors if variant.constant("MEETS") else 0
        return launcher(self.xp, self._functions[variant], shared, cooperative, meeting)

    def _function(self, variant: Variant, image: Callable[[], bytes]) -> Any:
        driver, module = self.xp.cuda.driver, self.xp.cuda.function.Module()
        try:
            try:
                module.load(image())
            except driver.CUDADriverError as error:
                if error.status not in NOT_LOADED or not cubins.find_shipped(jit.cuda_source(variant), self.arch):
                    raise
                cubins.not_used(self.arch, f"this driver cannot load it ({error})")
                module.load(cubins.start(variant, self.arch, shipped=False)())
        except driver.CUDADriverError as error:
            if error.status not in NOT_LOADED:
                raise
            supported = _dotted(self.xp.cuda.runtime.driverGetVersion())
            raise DeviceError(
                f"device {self.name!r}: the driver, which supports CUDA {supported}, cannot load a kernel compiled by "
                f"NVRTC {cubins.nvrtc_version()} for {self.arch} ({error}). Hint: update the driver, or {INSTALL}"
            ) from error
        function = module.get_function(variant.entry)
        if variant.constant("CLUSTER", 1) > PORTABLE_CLUSTER:
            driver.funcSetAttribute(function.ptr, NON_PORTABLE_CLUSTER, 1)
        if shared := variant.constant("SHARED_BYTES"):
            driver.funcSetAttribute(function.ptr, DYNAMIC_SHARED, shared)
        return function

    kernel = kernel  # a method, cached by C code

    def source(self, variant: Variant) -> str:
        return jit.cuda_source(variant)

    # ---- arrays ----

    def fill(self, array: Array, value: np.generic) -> Array:
        """CuPy clears memory if the value equals 0, which -0.0 does too, so the bits are filled instead."""
        size = value.dtype.itemsize
        if size > 8:
            array.view("u8").reshape(-1, size // 8)[:] = self.asarray(value.reshape(1).view("u8"))
        else:
            array.view(f"u{size}").fill(value.view(f"u{size}"))
        return array

    def adopt(self, data: Any, name: str) -> Any:
        if not isinstance(data, (self.xp.ndarray, np.ndarray, np.generic, list, tuple)):
            try:
                data = self._foreign(data)
            except (BufferError, RuntimeError, TypeError) as error:  # for example a tensor that requires a gradient
                raise DeviceError(f"{name}: an array of {type(data).__module__} cannot be read: {error}") from error
        if isinstance(data, self.xp.ndarray) and data.device.id != self.ordinal:
            raise DeviceError(
                f"{name}: expected an array on device {self.name!r}, got one on GPU {data.device.id}; copy it "
                f"there, or give device='cuda:{data.device.id}'"
            )
        return self.xp.asarray(data) if isinstance(data, self.xp.ndarray) else data

    def _foreign(self, data: Any) -> Any:
        """An array of another library, without a copy: on this GPU, another GPU or the host."""
        if hasattr(data, "__cuda_array_interface__"):
            return self.xp.asarray(data)
        if not hasattr(data, "__dlpack_device__") or data.__dlpack_device__()[0] not in (*_DLPACK_GPU, _DLPACK_CPU):
            return data
        if data.__dlpack_device__()[0] == _DLPACK_CPU:
            return super().adopt(data, "")
        return self.xp.from_dlpack(data)

    def to_host(self, array: Array | np.generic) -> np.ndarray:
        if not isinstance(array, self.xp.ndarray):
            return np.asarray(array)
        try:
            return self.xp.asnumpy(array)
        except self.errors as error:
            self.fail(error)

    def synchronize(self) -> None:
        try:
            self.xp.cuda.get_current_stream().synchronize()
        except self.errors as error:
            self.fail(error)

    @property
    def stream(self) -> int:
        return int(self.xp.cuda.get_current_stream().ptr)

    @property
    def capturing(self) -> bool:
        return bool(self.xp.cuda.get_current_stream().is_capturing())

    # ---- memory and faults ----

    def free_bytes(self) -> int:
        free, _ = self.xp.cuda.runtime.memGetInfo()
        return int(free + self.xp.get_default_memory_pool().free_bytes())  # memory in CuPy's pool is available

    def explained(self, error: BaseException) -> BaseException:
        if isinstance(error, (OutOfMemory, DeviceError)):
            return error
        if isinstance(error, MemoryError):
            found = re.search(r"allocating ([\d,]+) bytes \(allocated so far: ([\d,]+) bytes", str(error))
            if found is None:
                return OutOfMemory(f"{self.name}: {error}; {self.free_bytes()} bytes are free")
            bytes_needed, used = (int(number.replace(",", "")) for number in found.groups())
            # What was free then: what the statement had allocated before may be free by now.
            free = self.free_bytes() + self.xp.get_default_memory_pool().used_bytes() - used
            return OutOfMemory(
                f"allocation: needs {bytes_needed} bytes on device {self.name!r}, {free} are free; {self._advice()}"
            )
        status = getattr(error, "status", 0)
        if status in LOST:
            self.lost = self.lost or str(error)
            try:
                self.check()
            except DeviceError as lost:
                return lost
        return DeviceError(f"device {self.name!r}: {error}")

    def _advice(self) -> str:
        smaller = "choose a smaller format (A.profile() lists them), or use the CPU: device='cpu'"
        return f"{super()._advice()}, {smaller}"

    @cached_property
    def multiprocessors(self) -> int:
        return int(self.xp.cuda.runtime.deviceGetAttribute(16, self.ordinal))  # cudaDevAttrMultiProcessorCount

    @cached_property
    def block_shared_bytes(self) -> int:
        """Bytes of shared memory available to a block."""
        return int(self.xp.cuda.runtime.deviceGetAttribute(97, self.ordinal))  # cudaDevAttrMaxSharedMemoryPerBlockOptin

    @cached_property
    def cluster(self) -> Cluster | None:
        """16 blocks if a part of the GPU (a GPC) can run that many at once, else 8, which every GPU with clusters
        can."""
        if int(self.arch[3:]) < FIRST_WITH_CLUSTERS:
            return None
        from cuda.bindings import driver

        finish = Variant("loop/gpu/finish")  # any kernel with low resource use
        function = self._function(finish, cubins.start(finish, self.arch))
        self.xp.cuda.driver.funcSetAttribute(function.ptr, NON_PORTABLE_CLUSTER, 1)
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = 2 * PORTABLE_CLUSTER, 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = jit.BLOCK, 1, 1
        cluster = Cluster(2 * PORTABLE_CLUSTER)
        config.sharedMemBytes = cluster.queue_bytes
        _, most = driver.cuOccupancyMaxPotentialClusterSize(driver.CUfunction(function.ptr), config)
        if int(most) < cluster.blocks:
            cluster = cluster._replace(blocks=PORTABLE_CLUSTER)
        # A KB for other variables. GPUs with less shared memory leave the bits where they are.
        fits = cluster.queue_bytes + cluster.bits_bytes + 1024 <= self.block_shared_bytes
        return cluster if fits else cluster._replace(bits_bytes=0)

    @property
    def launches_early(self) -> bool:
        """Whether a kernel may be launched while its predecessor still runs (kernels that use `await_previous`)."""
        return int(self.arch[3:]) >= FIRST_WITH_CLUSTERS

    @property
    def model(self) -> str:
        return str(self.xp.cuda.runtime.getDeviceProperties(self.ordinal)["name"].decode())

    def described(self) -> str:
        runtime = self.xp.cuda.runtime
        free, total = runtime.memGetInfo()
        versions = f"CuPy {self.xp.__version__}, driver for CUDA {_dotted(runtime.driverGetVersion())}"
        return f"{self.model}, {self.arch}, {free >> 20} of {total >> 20} MiB free, {versions}"

    # ---- time ----

    def mark(self) -> Mark:
        """An event on the current stream; None while the stream is captured into a graph."""
        if self.capturing:
            return None
        event = self.xp.cuda.Event()
        event.record()
        return event

    def elapsed(self, begin: Mark, end: Mark) -> float:
        end.synchronize()
        return 1e3 * float(self.xp.cuda.get_elapsed_time(begin, end))

    def time_us(self, run: Callable[[], object], samples: int = 7, *, captured: bool = True) -> float:
        """Kernel time: `run` is captured ten times into a CUDA graph, so that host time does not count."""
        if not captured:
            return super().time_us(run, samples)
        stream = self.xp.cuda.Stream(non_blocking=True)
        with stream:
            for _ in range(2):  # compiles, and allocates the memory that the captured calls will use
                run()
            stream.synchronize()
            stream.begin_capture(self.xp.cuda.runtime.streamCaptureModeRelaxed)
            for _ in range(10):
                run()
            graph = stream.end_capture()
            return super().time_us(lambda: graph.launch(stream), samples) / 10


_home = threading.local()  # the GPU that the program itself selected, and the one that `switch` last selected


def current() -> int:
    """The GPU that the program made current; calls of `switch` do not count."""
    runtime = import_cupy().cuda.runtime
    now = runtime.getDevice()
    return int(_home.chosen) if now == getattr(_home, "ours", None) else int(now)


def switch(device: Cuda) -> None:
    """Make a device's GPU current for this thread, and remember the program's own choice."""
    if device.runtime.getDevice() == device.ordinal == getattr(_home, "ours", None):
        return  # the common case: statements of a rank call this several times each
    _home.chosen = current()
    device.runtime.setDevice(device.ordinal)
    _home.ours = device.ordinal

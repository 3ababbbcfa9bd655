"""Launch CUDA kernels through the driver API, with all arguments packed into one reused buffer.

CuPy creates an object for every argument of every launch, which costs the host more than the launch itself.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..exceptions import OutOfMemory
from ..kernels.variant import Variant
from . import jit, tracing

if TYPE_CHECKING:
    from .cuda import Cuda
    from .threads import Bounds

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


def launcher(xp: ModuleType, kernel: Any, shared: int) -> Callable[..., None]:
    """`kernel` (a CuPy RawKernel) as a function launch(grid, block, args): arrays of the GPU, NumPy scalars, and ints
    as 64-bit arguments, with the same types in every call. Work goes to the current stream. shared: bytes of dynamic
    shared memory per block."""
    function, ndarray, known = kernel.kernel.ptr, xp.ndarray, threading.local()
    start, current = xp.cuda.driver.launchKernel, xp.cuda.get_current_stream

    def prepare(args: Sequence[Any]) -> Arguments:
        xp.cuda.runtime.free(0)  # creates the context for a thread that has not used the GPU yet
        return Arguments([*map(code, args)])

    def code(x: Any) -> str:
        return "Q" if type(x) is ndarray else "q" if type(x) is int else CODES[x.dtype.name]

    def launch(grid: tuple[int], block: tuple[int], args: Sequence[Any], *, early: bool = False) -> None:
        arguments: Arguments | None = getattr(known, "arguments", None)
        if arguments is None:
            arguments = known.arguments = prepare(args)
        arguments.put([a.data.ptr if type(a) is ndarray else a for a in args])
        if early:
            start_early(function, grid[0], block[0], shared, current().ptr, arguments.address)
        else:
            start(function, grid[0], 1, 1, block[0], 1, 1, shared, current().ptr, 0, arguments.address)

    return launch


def start_early(function: int, grid: int, block: int, shared: int, stream: int, arguments: int) -> None:
    """Launch a kernel that may begin while its predecessor in the stream still runs, until it waits for that kernel
    (await_previous in kernels/base.cuh). This hides the launch latency."""
    from cuda.bindings import driver

    config, attribute = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
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
def kernel(device: Cuda, variant: Variant) -> Callable[..., None]:
    """The variant's kernel as a function call(n, *args) for n units; used as `Cuda.kernel`."""
    try:
        launch, lanes = device.load(variant), variant.constant("LANES", 1)
    except device.errors as error:
        device.fail(error)
    threads = variant.constant("THREADS", jit.BLOCK)
    resident = variant.constant("RESIDENT")  # persistent blocks per multiprocessor, which iterate over the units
    most = resident * device.multiprocessors if resident else 1 << 31

    def call(n: int, *args: Any, bounds: Bounds = None, extra_blocks: int = 0) -> None:
        if tracing.active is not None:
            return tracing.active.note(device, variant, call, n, *args, bounds=bounds, extra_blocks=extra_blocks)
        blocks = min(-(-n * lanes // threads) + extra_blocks, most)
        if blocks >= 1 << 31:
            raise OutOfMemory(f"{variant.kernel}: {n} units of {lanes} lanes exceed the largest CUDA grid")
        if blocks:
            try:
                launch((blocks,), (threads,), (n, *args))
            except device.errors as error:
                device.fail(error)

    return call

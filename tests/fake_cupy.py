"""A CuPy without a GPU: NumPy's arrays, and a runtime whose replies a test sets."""

from __future__ import annotations

import types

import numpy as np


class CUDARuntimeError(RuntimeError):
    def __init__(self, status, text="cudaErrorFake"):
        super().__init__(f"{text}: status {status}")
        self.status = status


class CUDADriverError(RuntimeError):
    status = 1


class OutOfMemoryError(MemoryError):
    def __init__(self, size):
        super().__init__(f"Out of memory allocating {size:,} bytes (allocated so far: 5,120 bytes).")


class Memory:
    """The memory of an array."""

    def __init__(self, array):
        self.array, self.ptr = array, array.ctypes.data

    def memset_async(self, value, size):
        self.array.reshape(-1).view(np.uint8)[:size] = value

    def copy_from_device_async(self, source, size):
        self.array[...] = source.array


class ndarray(np.ndarray):
    """An array on a GPU."""

    ordinal = 0
    data = property(lambda self: Memory(self.view(np.ndarray)))

    def __array_finalize__(self, other):
        self.ordinal = getattr(other, "ordinal", 0)

    @property
    def device(self):
        return types.SimpleNamespace(id=self.ordinal)


def prefix_sums(x, op):
    x = x.view(np.ndarray)
    return np.cumsum(x, out=x)


def on_gpu(data, ordinal=0):
    """An array of CuPy on that GPU."""
    array = np.array(data).view(ndarray)
    array.ordinal = ordinal
    return array


class Cupy(types.ModuleType):
    """count GPUs of one compute capability; `error`: the status of the first call; driver, runtime: CUDA versions."""

    def __init__(
        self, count=1, capability=(9, 0), error=0, driver=13000, runtime=13000, version="14.0.0", free=1 << 34
    ):
        super().__init__("cupy")
        self.__version__ = version
        self.ndarray = ndarray
        self.made_current: list[int] = []
        at = [0]

        def device_count():
            if error:
                raise CUDARuntimeError(error)
            return count

        def set_device(k):
            self.made_current.append(k)
            at[0] = k

        calls = types.SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError, getDeviceCount=device_count, getDevice=lambda: at[0],
            setDevice=set_device, driverGetVersion=lambda: driver, runtimeGetVersion=lambda: runtime,
            getDeviceProperties=lambda k: {"name": b"Fake GPU"},
            deviceGetAttribute=lambda number, k: 132 if number == 16 else capability[number - 75],
            memGetInfo=lambda: (free, 1 << 35),
        )  # fmt: skip
        stream = types.SimpleNamespace(synchronize=lambda: None, is_capturing=lambda: False)
        self.cuda = types.SimpleNamespace(
            runtime=calls, driver=types.SimpleNamespace(CUDADriverError=CUDADriverError),
            memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError), get_current_stream=lambda: stream,
            cub=types.SimpleNamespace(cub_scan=prefix_sums, CUPY_CUB_CUMSUM=0),
        )  # fmt: skip

    def get_default_memory_pool(self):
        return types.SimpleNamespace(free_bytes=lambda: 0, used_bytes=lambda: 20)

    def asnumpy(self, array):
        return np.asarray(array)

    def __getattr__(self, name):
        return getattr(np, name)

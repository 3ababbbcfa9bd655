"""cuSPARSE's SpMV in FP32 and FP64 and SpMM in FP32, called through ctypes: CuPy refuses them while a stream is
captured, cuSPARSE does not."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

R_32F, R_64F, INDEX_32I, BASE_ZERO, NON_TRANSPOSE, ALG_DEFAULT = 0, 1, 2, 0, 0, 0  # cusparse.h, library_types.h
FP32 = np.dtype(np.float32)
ORDER_ROW = 2
SPMM_ALGORITHMS = {"default": 0, "csr_alg1": 4, "csr_alg2": 6, "csr_alg3": 12}


def _library() -> ctypes.CDLL:
    from cuda.pathfinder import load_nvidia_dynamic_lib

    return ctypes.CDLL(load_nvidia_dynamic_lib("cusparse").abs_path)


class _Product(ABC):
    """A CSR of 32-bit indices and FP32 or FP64 values in cuSPARSE."""

    def __init__(self, ptr: Any, col: Any, values: Any, nrows: int, ncols: int, kind: np.dtype = FP32) -> None:
        import cupy as cp

        self.lib, self.cp = _library(), cp
        self.ptr, self.col = ptr.astype(cp.int32), col.astype(cp.int32)
        self.data, self.real = values.astype(kind), R_32F if kind == FP32 else R_64F
        number = ctypes.c_float if kind == FP32 else ctypes.c_double
        self.one, self.zero = number(1), number(0)
        self.handle, self.matrix = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cusparseCreate", ctypes.byref(self.handle))
        i64, at = ctypes.c_int64, self._at
        shape, arrays = (i64(nrows), i64(ncols), i64(len(col))), (at(self.ptr), at(self.col), at(self.data))
        types = INDEX_32I, INDEX_32I, BASE_ZERO, self.real
        self._call("cusparseCreateCsr", ctypes.byref(self.matrix), *shape, *arrays, *types)

    @staticmethod
    def _at(array: Any) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.data.ptr)

    @abstractmethod
    def _arguments(self) -> tuple[Any, ...]:
        """What all functions of the product take first."""

    def _prepare(self, name: str) -> None:
        """Allocate the buffer of a function, and let it look at the matrix."""
        size = ctypes.c_size_t()
        self._call(f"{name}_bufferSize", *self._arguments(), ctypes.byref(size))
        self.buffer = self.cp.zeros(max(1, size.value), self.cp.uint8)
        self._call(f"{name}_preprocess", *self._arguments(), self._at(self.buffer))
        self.cp.cuda.get_current_stream().synchronize()

    def _launch(self, name: str) -> None:
        """Launch a function on CuPy's current stream."""
        stream = self.cp.cuda.get_current_stream()
        self._call("cusparseSetStream", self.handle, ctypes.c_void_p(stream.ptr))
        self._call(name, *self._arguments(), self._at(self.buffer))

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self.lib, name)(*args)
        if status:
            raise RuntimeError(f"{name} returned {status}")


class Spmv(_Product):
    """y = A x, set up in advance: `run` only launches."""

    def __init__(self, ptr: Any, col: Any, values: Any, nrows: int, ncols: int, kind: np.dtype = FP32) -> None:
        super().__init__(ptr, col, values, nrows, ncols, kind)
        cp, i64 = self.cp, ctypes.c_int64
        self.x, self.y = cp.zeros(ncols, kind), cp.zeros(nrows, kind)
        self.vx, self.vy = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cusparseCreateDnVec", ctypes.byref(self.vx), i64(ncols), self._at(self.x), self.real)
        self._call("cusparseCreateDnVec", ctypes.byref(self.vy), i64(nrows), self._at(self.y), self.real)
        self._prepare("cusparseSpMV")

    def _arguments(self) -> tuple[Any, ...]:
        one, zero = ctypes.byref(self.one), ctypes.byref(self.zero)
        return self.handle, NON_TRANSPOSE, one, self.matrix, self.vx, zero, self.vy, self.real, ALG_DEFAULT

    def run(self) -> Any:
        self._launch("cusparseSpMV")
        return self.y


class Spmm(_Product):
    """Y = A X for row-major X and Y, set up in advance: `run` only launches. algorithm: of SPMM_ALGORITHMS."""

    def __init__(self, ptr: Any, col: Any, values: Any, nrows: int, x: Any, algorithm: str = "csr_alg2") -> None:
        ncols, width = x.shape
        super().__init__(ptr, col, values, nrows, ncols)
        self.x, self.y = x, self.cp.zeros((nrows, width), self.cp.float32)
        self.mx, self.my = ctypes.c_void_p(), ctypes.c_void_p()
        self.algorithm = SPMM_ALGORITHMS[algorithm]
        for matrix, array in ((self.mx, self.x), (self.my, self.y)):
            shape = (ctypes.c_int64(k) for k in (*array.shape, width))
            self._call("cusparseCreateDnMat", ctypes.byref(matrix), *shape, self._at(array), R_32F, ORDER_ROW)
        self._prepare("cusparseSpMM")

    def _arguments(self) -> tuple[Any, ...]:
        one, zero = ctypes.byref(self.one), ctypes.byref(self.zero)
        operands = one, self.matrix, self.mx, zero, self.my
        return self.handle, NON_TRANSPOSE, NON_TRANSPOSE, *operands, R_32F, self.algorithm

    def run(self) -> Any:
        self._launch("cusparseSpMM")
        return self.y

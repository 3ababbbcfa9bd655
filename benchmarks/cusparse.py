"""cuSPARSE's SpMV in FP32 and FP64, SpMM and SDDMM with FP32 sums, called through ctypes: CuPy refuses them while a
stream is captured, cuSPARSE does not."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from typing import Any

R_32F, R_64F, INDEX_32I, BASE_ZERO, NON_TRANSPOSE, ALG_DEFAULT = 0, 1, 2, 0, 0, 0  # cusparse.h, library_types.h
TRANSPOSE, R_16F, R_16BF = 1, 2, 14
ORDER_ROW = 2
SPMM_ALGORITHMS = {"default": 0, "csr_alg1": 4, "csr_alg2": 6, "csr_alg3": 12}


def _library() -> ctypes.CDLL:
    from cuda.pathfinder import load_nvidia_dynamic_lib

    return ctypes.CDLL(load_nvidia_dynamic_lib("cusparse").abs_path)


class _Product(ABC):
    """A CSR of 32-bit indices in cuSPARSE. kind: of values, R_32F, R_64F, R_16F, or R_16BF, whose bits are in a UINT16
    array."""

    def __init__(self, ptr: Any, col: Any, values: Any, nrows: int, ncols: int, kind: int = R_32F) -> None:
        import cupy as cp

        self.lib, self.cp, self.kind = _library(), cp, kind
        self.ptr, self.col = ptr.astype(cp.int32), col.astype(cp.int32)
        self.data = values.astype(cp.float32) if kind == R_32F else cp.ascontiguousarray(values)
        number = ctypes.c_double if kind == R_64F else ctypes.c_float
        self.one, self.zero = number(1), number(0)
        self.handle, self.matrix = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cusparseCreate", ctypes.byref(self.handle))
        i64, at = ctypes.c_int64, self._at
        shape, arrays = (i64(nrows), i64(ncols), i64(len(col))), (at(self.ptr), at(self.col), at(self.data))
        types = INDEX_32I, INDEX_32I, BASE_ZERO, kind
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

    def __init__(self, ptr: Any, col: Any, values: Any, nrows: int, ncols: int, kind: int = R_32F) -> None:
        super().__init__(ptr, col, values, nrows, ncols, kind)
        cp, i64 = self.cp, ctypes.c_int64
        self.x, self.y = cp.zeros(ncols, self.data.dtype), cp.zeros(nrows, self.data.dtype)
        self.vx, self.vy = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cusparseCreateDnVec", ctypes.byref(self.vx), i64(ncols), self._at(self.x), self.kind)
        self._call("cusparseCreateDnVec", ctypes.byref(self.vy), i64(nrows), self._at(self.y), self.kind)
        self._prepare("cusparseSpMV")

    def _arguments(self) -> tuple[Any, ...]:
        one, zero = ctypes.byref(self.one), ctypes.byref(self.zero)
        return self.handle, NON_TRANSPOSE, one, self.matrix, self.vx, zero, self.vy, self.kind, ALG_DEFAULT

    def run(self) -> Any:
        self._launch("cusparseSpMV")
        return self.y


class _WithDense(_Product):
    """A product with row-major dense matrices."""

    def _dense(self, array: Any) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        shape = (ctypes.c_int64(k) for k in (*array.shape, array.shape[1]))
        self._call("cusparseCreateDnMat", ctypes.byref(made), *shape, self._at(array), self.kind, ORDER_ROW)
        return made


class Spmm(_WithDense):
    """Y = A X for row-major X and Y, set up in advance: `run` only launches. algorithm: of SPMM_ALGORITHMS."""

    def __init__(
        self, ptr: Any, col: Any, values: Any, nrows: int, x: Any, algorithm: str = "csr_alg2", kind: int = R_32F
    ) -> None:
        ncols, width = x.shape
        super().__init__(ptr, col, values, nrows, ncols, kind)
        self.x, self.y = x, self.cp.zeros((nrows, width), x.dtype)
        self.algorithm = SPMM_ALGORITHMS[algorithm]
        self.mx, self.my = self._dense(self.x), self._dense(self.y)
        self._prepare("cusparseSpMM")

    def _arguments(self) -> tuple[Any, ...]:
        one, zero = ctypes.byref(self.one), ctypes.byref(self.zero)
        operands = one, self.matrix, self.mx, zero, self.my
        return self.handle, NON_TRANSPOSE, NON_TRANSPOSE, *operands, R_32F, self.algorithm

    def run(self) -> Any:
        self._launch("cusparseSpMM")
        return self.y


class Sddmm(_WithDense):
    """The products of rows of X and Y at the entries of a CSR: its values, overwritten."""

    def __init__(self, ptr: Any, col: Any, x: Any, y: Any, kind: int = R_32F) -> None:
        import cupy as cp

        super().__init__(ptr, col, cp.zeros(len(col), x.dtype), len(x), len(y), kind)
        self.x, self.y = x, y
        self.mx, self.my = self._dense(x), self._dense(y)
        self._prepare("cusparseSDDMM")

    def _arguments(self) -> tuple[Any, ...]:
        one, zero = ctypes.byref(self.one), ctypes.byref(self.zero)
        operands = one, self.mx, self.my, zero, self.matrix
        return self.handle, NON_TRANSPOSE, TRANSPOSE, *operands, R_32F, ALG_DEFAULT

    def run(self) -> Any:
        self._launch("cusparseSDDMM")
        return self.data

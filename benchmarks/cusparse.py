"""cuSPARSE's SpMV in FP32, called through ctypes: CuPy refuses it while a stream is captured, cuSPARSE does not."""

from __future__ import annotations

import ctypes
from typing import Any

R_32F, INDEX_32I, BASE_ZERO, NON_TRANSPOSE, ALG_DEFAULT = 0, 2, 0, 0, 0  # cusparse.h, library_types.h


def _library() -> ctypes.CDLL:
    from cuda.pathfinder import load_nvidia_dynamic_lib

    return ctypes.CDLL(load_nvidia_dynamic_lib("cusparse").abs_path)


class Spmv:
    """y = A x for a CSR of 32-bit indices and FP32 values, set up in advance: `run` only launches."""

    def __init__(self, ptr: Any, col: Any, values: Any, nrows: int, ncols: int) -> None:
        import cupy as cp

        self.lib, self.cp = _library(), cp
        self.ptr, self.col = ptr.astype(cp.int32), col.astype(cp.int32)
        self.data = values.astype(cp.float32)
        self.x, self.y = cp.zeros(ncols, cp.float32), cp.zeros(nrows, cp.float32)
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)
        self.handle, self.matrix, self.vx, self.vy = (ctypes.c_void_p() for _ in range(4))
        self._call("cusparseCreate", ctypes.byref(self.handle))
        i64, at = ctypes.c_int64, self._at
        self._call(
            "cusparseCreateCsr", ctypes.byref(self.matrix), i64(nrows), i64(ncols), i64(len(col)), at(self.ptr),
            at(self.col), at(self.data), INDEX_32I, INDEX_32I, BASE_ZERO, R_32F,
        )  # fmt: skip
        self._call("cusparseCreateDnVec", ctypes.byref(self.vx), i64(ncols), at(self.x), R_32F)
        self._call("cusparseCreateDnVec", ctypes.byref(self.vy), i64(nrows), at(self.y), R_32F)
        size = ctypes.c_size_t()
        self._call("cusparseSpMV_bufferSize", *self._arguments(), ctypes.byref(size))
        self.buffer = cp.zeros(max(1, size.value), cp.uint8)
        self._call("cusparseSpMV_preprocess", *self._arguments(), at(self.buffer))
        cp.cuda.get_current_stream().synchronize()

    @staticmethod
    def _at(array: Any) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.data.ptr)

    def _arguments(self) -> tuple[Any, ...]:
        one, zero = ctypes.byref(self.one), ctypes.byref(self.zero)
        return self.handle, NON_TRANSPOSE, one, self.matrix, self.vx, zero, self.vy, R_32F, ALG_DEFAULT

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self.lib, name)(*args)
        if status:
            raise RuntimeError(f"{name} returned {status}")

    def run(self) -> Any:
        """Launch y = A x on CuPy's current stream."""
        stream = self.cp.cuda.get_current_stream()
        self._call("cusparseSetStream", self.handle, ctypes.c_void_p(stream.ptr))
        self._call("cusparseSpMV", *self._arguments(), self._at(self.buffer))
        return self.y

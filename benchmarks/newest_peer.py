"""The process of SuiteSparse:GraphBLAS 10 for newest.py: products, a search and triangles by the C functions of the
package suitesparse-graphblas. Its environment needs this package and NumPy, nothing else; it imports no bitblas.

Reads pickled (name, arguments) from standard input, and writes (whether it succeeded, result).
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import suitesparse_graphblas
from suitesparse_graphblas import ffi, lib

NONE, NO_ACCUM = ffi.NULL, ffi.NULL
Answer = tuple[np.ndarray, np.ndarray]  # positions and values


def check(code: int) -> None:
    if code not in (lib.GrB_SUCCESS, lib.GrB_NO_VALUE):
        raise RuntimeError(f"SuiteSparse:GraphBLAS returned {code}")


def new(kind: str, make: Callable[..., int], *args: Any) -> Any:
    """A new object, which is freed with its handle."""
    handle = ffi.new(f"GrB_{kind}*")
    check(make(handle, *args))
    return ffi.gc(handle, getattr(lib, f"GrB_{kind}_free"))


def given(ctype: str, array: np.ndarray) -> Any:
    return ffi.cast(f"{ctype}*", ffi.from_buffer(array))


TYPES: dict[str, tuple[str, type]] = {
    "BOOL": ("bool", np.bool_),
    "FP32": ("float", np.float32),
    "INT64": ("int64_t", np.int64),
}


class Peer:
    """A graph, and the calls on it."""

    def __init__(self, threads: int) -> None:
        suitesparse_graphblas.initialize(blocking=False, memory_manager="c")
        check(lib.GrB_Global_set_INT32(lib.GrB_GLOBAL, threads, lib.GxB_NTHREADS))

    def version(self) -> str:
        return str(suitesparse_graphblas.__version__)

    def load(self, path: str) -> None:
        """The graph, and the vectors that it is multiplied with, from the parent's file."""
        with np.load(path) as data:
            self.ptr, self.col = data["ptr"].astype(np.uint64), data["col"].astype(np.uint64)
            self.weights, self.source = data["weights"].astype(np.float32), int(data["source"])
            present, numbers = data["present"], data["numbers"].astype(np.float32)
        self.n = len(self.ptr) - 1
        self.A = self._matrix("BOOL", np.ones(len(self.col), np.bool_))
        self.W = self._matrix("FP32", self.weights)
        self.some = self._vector("BOOL", np.flatnonzero(present), np.ones(int(present.sum()), np.bool_))
        self.all = self._vector("FP32", np.arange(self.n), numbers)
        self.w = {name: self._empty(name) for name in TYPES}

    def _matrix(self, name: str, values: np.ndarray) -> Any:
        ctype, _ = TYPES[name]
        A = new(
            "Matrix", getattr(lib, f"GrB_Matrix_import_{name}"), getattr(lib, f"GrB_{name}"), self.n, self.n,
            given("GrB_Index", self.ptr), given("GrB_Index", self.col), given(ctype, values), len(self.ptr),
            len(self.col), len(values), lib.GrB_CSR_FORMAT,
        )  # fmt: skip
        check(lib.GrB_Matrix_wait(A[0], lib.GrB_MATERIALIZE))
        return A

    def _empty(self, name: str) -> Any:
        return new("Vector", lib.GrB_Vector_new, getattr(lib, f"GrB_{name}"), self.n)

    def _vector(self, name: str, places: np.ndarray, values: np.ndarray) -> Any:
        v, places = self._empty(name), places.astype(np.uint64)
        build = getattr(lib, f"GrB_Vector_build_{name}")
        check(build(v[0], given("GrB_Index", places), given(TYPES[name][0], values), len(values), NONE))
        check(lib.GrB_Vector_wait(v[0], lib.GrB_MATERIALIZE))
        return v

    def _answer(self, name: str, v: Any) -> Answer:
        count = ffi.new("GrB_Index*")
        check(lib.GrB_Vector_nvals(count, v[0]))
        ctype, dtype = TYPES[name]
        places, values = np.empty(count[0], np.uint64), np.empty(count[0], dtype)
        extract = getattr(lib, f"GrB_Vector_extractTuples_{name}")
        check(extract(given("GrB_Index", places), given(ctype, values), count, v[0]))
        return places.astype(np.int64), values

    def _product(self, name: str, semiring: Any, A: Any, u: Any) -> Any:
        w = self.w[name]
        check(lib.GrB_mxv(w[0], NONE, NO_ACCUM, semiring, A[0], u[0], NONE))
        check(lib.GrB_Vector_wait(w[0], lib.GrB_MATERIALIZE))
        return w

    def _levels(self) -> Any:
        """levels<q> = round; q<!levels, replace> = q any.pair A."""
        levels, q = self._empty("INT64"), self._empty("BOOL")
        check(lib.GrB_Vector_setElement_BOOL(q[0], True, self.source))
        count, level = ffi.new("GrB_Index*"), 0
        while True:
            check(lib.GrB_Vector_nvals(count, q[0]))
            if not count[0]:
                break
            everywhere = lib.GrB_ALL
            check(lib.GrB_Vector_assign_INT64(levels[0], q[0], NO_ACCUM, level, everywhere, self.n, lib.GrB_DESC_S))
            check(lib.GrB_vxm(q[0], levels[0], NO_ACCUM, lib.GxB_ANY_PAIR_BOOL, q[0], self.A[0], lib.GrB_DESC_RSC))
            level += 1
        check(lib.GrB_Vector_wait(levels[0], lib.GrB_MATERIALIZE))
        return levels

    def _triangles(self) -> int:
        """C<L> = L plus.pair L'; sum(C)."""
        L = new("Matrix", lib.GrB_Matrix_new, lib.GrB_BOOL, self.n, self.n)
        C = new("Matrix", lib.GrB_Matrix_new, lib.GrB_INT64, self.n, self.n)
        check(lib.GrB_Matrix_select_INT64(L[0], NONE, NO_ACCUM, lib.GrB_TRIL, self.A[0], -1, NONE))
        check(lib.GrB_mxm(C[0], L[0], NO_ACCUM, lib.GxB_PLUS_PAIR_INT64, L[0], L[0], lib.GrB_DESC_ST1))
        total = ffi.new("int64_t*")
        check(lib.GrB_Matrix_reduce_INT64(total, NO_ACCUM, lib.GrB_PLUS_MONOID_INT64, C[0], NONE))
        return int(total[0])

    def run(self, verb: str) -> tuple[float, Answer]:
        """Seconds of one run, and its answer."""
        begin = time.perf_counter()
        if verb == "triangles":
            count = self._triangles()
            return time.perf_counter() - begin, (np.zeros(1, np.int64), np.array([count]))
        if verb == "bfs":
            name, w = "INT64", self._levels()
        elif verb == "mxv":
            name, w = "BOOL", self._product("BOOL", lib.GrB_LOR_LAND_SEMIRING_BOOL, self.A, self.some)
        elif verb == "plus_second":
            name, w = "FP32", self._product("FP32", lib.GxB_PLUS_SECOND_FP32, self.A, self.all)
        else:
            name, w = "FP32", self._product("FP32", lib.GrB_MIN_PLUS_SEMIRING_FP32, self.W, self.all)
        seconds = time.perf_counter() - begin
        return seconds, self._answer(name, w)

    def warm(self, verb: str, seconds: float) -> None:
        """Run for so long, which wakes the threads."""
        stop = time.perf_counter() + seconds
        while time.perf_counter() < stop:
            self.run(verb)


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")  # output of the library must not mix with the replies
    os.dup2(2, 1)
    peer = Peer(int(sys.argv[1]))
    while True:
        try:
            name, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            reply: Any = (True, getattr(peer, name)(*args))
        except Exception as error:
            reply = (False, f"{name}{args}: {type(error).__name__}: {error}")
        pickle.dump(reply, out)
        out.flush()


if __name__ == "__main__":
    main()

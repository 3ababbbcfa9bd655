"""Every kernel here is wrong, or hostile: the emulator must report it quickly, with kernel, block, thread and line."""

import os
import threading

import numpy as np
import pytest

from . import emu

pytestmark = pytest.mark.usefixtures("emulator")

SOURCE = r"""
#define FULL 0xffffffffu
#define KERNEL extern "C" __global__ void
typedef unsigned long long u64;
KERNEL oob_read(const int* x, int* y, int n) { int i = threadIdx.x; y[i % n] = x[i + 1]; }
KERNEL oob_write(int* y, int n) { y[threadIdx.x == 7 ? n : 0] = 1; }
KERNEL far_write(int* y) { if (threadIdx.x == 3) y[100000] = 1; }
KERNEL const_write(const int* y) { ((int*)y)[threadIdx.x] = 1; }
KERNEL diverging_barriers(int* y) {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  y[threadIdx.x] = 1;
}
KERNEL barrier_or_shuffle(int* y) {
  int v = threadIdx.x;
  if (threadIdx.x == 5) __syncthreads(); else v = __shfl_sync(FULL, v, 0);
  y[threadIdx.x] = v;
}
KERNEL not_in_mask(int* y) { y[threadIdx.x] = __shfl_sync(0xffffu, (int)threadIdx.x, 0); }
KERNEL two_masks(int* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_sync(FULL, 1, 0);
  else y[threadIdx.x] = __shfl_sync(0xffff0000u, 2, 16);
}
KERNEL right_masks(int* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_sync(0xffffu, (int)threadIdx.x, 3);
  else y[threadIdx.x] = __shfl_sync(0xffff0000u, (int)threadIdx.x, 19);
}
KERNEL missing_sync(const int* x, int* y) {
  __shared__ int s[256];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[255 - threadIdx.x];
}
KERNEL missing_syncwarp(const int* x, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[threadIdx.x ^ 1];
}
KERNEL uninitialised(int* y) {
  __shared__ int s[64];
  if (threadIdx.x < 63) s[threadIdx.x] = 1;
  __syncthreads();
  atomicAdd(y, s[threadIdx.x]);
}
__device__ int deep(volatile int* p, int n) {
  volatile char b[4096];
  b[0] = (char)n;
  return n ? deep(p, n - 1) + b[0] : *p;
}
KERNEL deep_recursion(int* y) { y[0] = deep(y, 1000); }
KERNEL forever(volatile int* y) { while (*y == 0) { } }
KERNEL misaligned(const unsigned* x, unsigned* y) { y[0] = ((const uint4*)(x + 1))->x; }
KERNEL wide_shift(unsigned* y) { y[0] = 1u << (threadIdx.x + 32); }
KERNEL index_overflow(int* y, int n) { y[0] = n * n; }
KERNEL float_to_int(int* y, float x) { y[0] = (int)x; }
KERNEL division_by_zero(int* y, int n) { y[0] = 7 / n; }
KERNEL static_oob(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x + 1];
}
KERNEL dynamic_oob(int* y) {
  extern __shared__ int d[];
  d[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = d[threadIdx.x + 1];
}
KERNEL failed_assertion(int* y) { assert(y[0] == 1); }
KERNEL spin_lock(int* lock, volatile int* y) {
  while (atomicCAS(lock, 0, 1) != 0) { }
  *y = *y + 1;
  __threadfence();
  atomicExch(lock, 0);
}
KERNEL early_exit(int* y, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads();
  y[threadIdx.x] = __ballot_sync(FULL, 1);
}
KERNEL reads_absent_lane(int* y) {
  if (threadIdx.x >= 8) return;
  y[threadIdx.x] = __shfl_down_sync(0xffu, (int)threadIdx.x, 4);
}
"""
i4, u4, f4 = np.int32, np.uint32, np.float32
POISON = np.array([0xCBCBCBCB], u4).view(i4)[0]
LINES = {}  # kernel -> the line where it begins
for number, text in enumerate(SOURCE.splitlines(), 1):
    if text.startswith("KERNEL"):
        LINES[text.split()[1].split("(")[0]] = number


@pytest.fixture(scope="module")
def module(emulator):
    return emu.RawModule(code=SOURCE, name_expressions=list(LINES))


def zeros(n, dtype=i4):
    return np.zeros(n, dtype)


# name, what the message must say, the line after the kernel's own (None: none is known), arguments, launch
BUGS = [
    ("oob_read", "illegal memory access", 0, (np.arange(32, dtype=i4), zeros(32), i4(32)), {}),
    ("oob_write", "wrote outside array argument|illegal", None, (zeros(31), i4(31)), {}),
    ("far_write", r"block \(0,0,0\) thread \(3,0,0\): illegal memory access", 0, (zeros(32),), {}),
    ("const_write", "illegal memory access", 0, (zeros(32),), {}),
    ("diverging_barriers", r"divergent .*kernel.cu:11.*kernel.cu:13", None, (zeros(64),), {"block": (64,)}),
    ("barrier_or_shuffle", "deadlock.*__shfl_sync.*__syncthreads", 2, (zeros(32),), {}),
    ("not_in_mask", "lane 16 is not in mask", 0, (zeros(32),), {}),
    ("two_masks", "have exited", 1, (zeros(32),), {"strict": True}),
    ("deep_recursion", "stack overflow", None, (zeros(1),), {"block": (1,)}),
    ("forever", "timeout after 200 ms", 0, (zeros(1),), {"block": (1,), "timeout": 0.2}),
    ("misaligned", "undefined behaviour: misaligned", 0, (zeros(8, u4), zeros(1, u4)), {"block": (1,)}),
    ("wide_shift", "undefined behaviour.*shift too wide", 0, (zeros(1, u4),), {"block": (1,)}),
    ("index_overflow", "undefined behaviour.*signed overflow", 0, (zeros(1), i4(50000)), {"block": (1,)}),
    ("float_to_int", "undefined behaviour.*float out of", 0, (zeros(1), f4(1e10)), {"block": (1,)}),
    ("division_by_zero", "division by zero|undefined", 0, (zeros(1), i4(0)), {"block": (1,)}),
    ("static_oob", "undefined behaviour.*index outside its array", 4, (zeros(32),), {}),
    ("dynamic_oob", "illegal memory access", 4, (zeros(32),), {"shared_mem": 128}),
    ("failed_assertion", r"assertion failed: y\[0\] == 1", None, (zeros(1),), {}),
    ("early_exit", "24 of 64 threads had exited before", 2, (zeros(40), i4(40)), {"block": (64,), "strict": True}),
    ("reads_absent_lane", "which does not take part", 2, (zeros(8),), {"strict": True}),
    ("forever", "invalid launch configuration", None, (zeros(1),), {"grid": (0,)}),
    ("forever", "invalid launch configuration", None, (zeros(1),), {"block": (2048,)}),
]


@pytest.mark.parametrize(("name", "message", "line", "args", "launch"), BUGS, ids=[b[0] for b in BUGS])
def test_bug_is_reported(module, name, message, line, args, launch):
    with pytest.raises(emu.EmulatorError, match=message) as error:
        module.get_function(name)(**{"grid": (1,), "block": (32,), "args": args, **launch})
    assert f"'{name}'" in str(error.value)
    if line is not None:
        assert f"kernel.cu:{LINES[name] + line}" in str(error.value)
    y = zeros(32)  # and the library stays usable
    module.get_function("right_masks")((1,), (32,), (y,), strict=True)
    assert np.array_equal(y, np.repeat([3, 19], 16))


@pytest.mark.parametrize(("name", "n", "flip"), [("missing_sync", 256, 255), ("missing_syncwarp", 32, 1)])
def test_missing_synchronisation_gives_wrong_results(module, name, n, flip):
    x = np.arange(n, dtype=i4)
    for seed in range(4):  # every order shows it: the reader meets poison
        y = zeros(n)
        module.get_function(name)((1,), (n,), (x, y), seed=seed)
        assert not np.array_equal(y, x ^ flip)


@pytest.mark.skipif(os.environ.get("EMU_MODE") == "tsan", reason="reads shared memory that was never written")
def test_shared_memory_is_poisoned(module):
    y = zeros(1)
    module.get_function("uninitialised")((1,), (64,), (y,))
    assert y[0] == 63 + POISON


def test_spin_lock_makes_progress(module):
    for seed in range(3):
        y = zeros(1)
        module.get_function("spin_lock")((3,), (64,), (zeros(1), y), seed=seed)
        assert y[0] == 192


def test_exited_lanes_are_allowed_unless_strict(module):
    y = zeros(40)
    module.get_function("early_exit")((1,), (64,), (y, i4(40)))
    assert y.view(u4).tolist() == [2**32 - 1] * 32 + [255] * 8
    y = zeros(8)
    module.get_function("reads_absent_lane")((1,), (32,), (y,))
    assert y.tolist() == [4, 5, 6, 7] + [POISON] * 4


READ_ONLY = zeros(32)
READ_ONLY.flags.writeable = False
x32 = zeros(32)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((x32, x32, 32), "argument 2: the kernel wants i4; pass NumPy scalars, got int"),
        ((x32, x32, np.int64(32)), "argument 2: the kernel wants i4, got int64"),
        ((zeros(32, f4), x32, i4(1)), "argument 0: the kernel wants a pointer to i4, got an array of float32"),
        ((x32, READ_ONLY, i4(1)), "may write; the array is read-only"),
        ((x32, zeros(64)[::2], i4(1)), "not contiguous"),
        ((x32, x32), "takes 3 arguments, got 2"),
        ((x32, x32, None), "argument 2: the kernel wants i4, got None"),
    ],
)
def test_arguments_of_the_wrong_type(module, args, message):
    with pytest.raises(TypeError, match=message):
        module.get_function("oob_read")((1,), (32,), args)


def test_what_cuda_has_no_instruction_for_does_not_compile():
    for body in ("atomicOr(x, (unsigned char)1)", "*x = __shfl_sync(~0u, *x, 0)", "std::max(1, 2)", "unknown()"):
        with pytest.raises(emu.EmulatorError, match=r"compiler refused(.|\n)*kernel.cu:1"):
            emu.RawModule(code=f'extern "C" __global__ void k(unsigned char* x) {{ {body}; }}')


def test_from_another_thread(module):
    """The clock's signal and the stack for its handler belong to the thread that launches."""
    errors = []

    def launch():
        try:
            module.get_function("forever")((1,), (1,), (zeros(1),), timeout=0.1)
        except emu.EmulatorError as error:
            errors.append(str(error))
        try:
            module.get_function("deep_recursion")((1,), (1,), (zeros(1),))
        except emu.EmulatorError as error:
            errors.append(str(error))

    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
    assert "timeout" in errors[0]
    assert "stack overflow" in errors[1]

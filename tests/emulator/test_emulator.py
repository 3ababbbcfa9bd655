"""Right kernels give right results in the emulator, in any order of lanes, warps and blocks. Wrong or hostile ones are
reported quickly, with kernel, block, thread and line. Thread-block clusters."""

import os
import re
import threading

import numpy as np
import pytest

from bitblas.device import jit

from . import compiling, emu

pytestmark = pytest.mark.usefixtures("emulator")

NAMES = ["block_reduce<float, 256>", "block_reduce<int, 128>", "block_scan<u32>", "block_scan<float>"]
NAMES += ["compact", "intrinsics"]
SEEDS = [0, 1, 7] if os.environ.get("EMU_MODE") != "tsan" else [0]
every_seed = pytest.mark.parametrize("seed", SEEDS)


@pytest.fixture(scope="module")
def module(emulator):
    return emu.RawModule(code=(compiling.HERE / "kernels.cu").read_text(), name_expressions=NAMES)


@every_seed
@pytest.mark.parametrize(("name", "dtype", "block"), [("float, 256", np.float32, 256), ("int, 128", np.int32, 128)])
def test_static_shared_memory(module, name, dtype, block, seed):
    x, out = np.random.default_rng(1).integers(0, 100, 1000).astype(dtype), np.zeros(1, dtype)
    module.get_function(f"block_reduce<{name}>")((-(-1000 // block),), (block,), (x, out, np.int32(1000)), seed=seed)
    assert out[0] == x.sum()


@every_seed
@pytest.mark.parametrize(("name", "dtype"), [("u32", np.uint32), ("float", np.float32)])
def test_dynamic_shared_memory(module, name, dtype, seed):
    x = np.random.default_rng(2).integers(0, 9, 500).astype(dtype)
    y = np.zeros_like(x)
    module.get_function(f"block_scan<{name}>")((2,), (256,), (x, y, np.int32(500)), shared_mem=8 * 4, seed=seed)
    assert np.array_equal(y, np.concatenate([np.cumsum(x[:256]), np.cumsum(x[256:])]))


@every_seed
def test_active_mask(module, seed):
    flags = (np.random.default_rng(5).random(700) < 0.4).astype(np.uint32)
    out, count = np.zeros(flags.sum(), np.uint32), np.zeros(1, np.int32)
    module.get_function("compact")((3,), (256,), (flags, out, count, np.int32(700)), seed=seed)
    assert count[0] == flags.sum()
    assert np.array_equal(np.sort(out), np.flatnonzero(flags))


@every_seed
def test_every_intrinsic(module, seed):
    x, y = 0x0123456789ABCDE0, 0xFEDCBA9876543210
    lo, hi, u64 = x & 0xFFFFFFFF, x >> 32, 2**64 - 1
    r, cells, words = np.zeros(20, np.uint64), np.zeros(9, np.uint64), np.zeros(16, np.uint32)
    cells[[0, 3, 5]], words[[3, 5]] = (5, u64, u64), 2**32 - 1
    module.get_function("intrinsics")((1,), (64,), (np.uint64(x), np.uint64(y), r, cells, words), seed=seed)

    def reverse(v, bits):
        return int(f"{v:0{bits}b}"[::-1], 2)

    permuted = int.from_bytes(x.to_bytes(8, "little")[1::2], "little")
    assert r.tolist() == [
        lo.bit_count(), x.bit_count(), 32 - lo.bit_length(), 64 - x.bit_length(), 6, 6, reverse(lo, 32), reverse(x, 64),
        (x >> 5) & 0xFFFFFFFF, (x << 5 >> 32) & 0xFFFFFFFF, hi, lo, permuted, lo * hi >> 32, x * y >> 64,
        20, x, y, lo, x,
    ]  # fmt: skip
    assert cells[1:8].tolist() == [64 * x & u64, u64, 0, 0, y, y + 63, 128]
    assert words[1:7].tolist() == [64 * lo & 0xFFFFFFFF, 2**32 - 1, 2**32 - 2**16, 0, 100, 163]
    assert int(words[7]) == sum(1 << lane for lane in range(0, 32, 3))
    assert words[8:14].tolist() == [496, 3, 31, 2**32 - 1, 2**32 - 256, 0]
    assert words[14:].tolist() == [31, 1 | 2 | 8 | 10 << 8]
    assert int(cells[8]) == (x + 0) + (y + 2) + x & u64


def test_arrays_that_share_memory():
    body = "b[threadIdx.x] = a[threadIdx.x] + 1;"
    module = emu.RawModule(code=f'extern "C" __global__ void shift(const int* a, int* b) {{ {body} }}')
    x = np.arange(64, dtype=np.int32)
    module.get_function("shift")((1,), (32,), (x[:32], x[16:48]))
    # Lanes from 16 on read values that a lower lane of the same run wrote, as in one memory.
    assert x[16:32].tolist() == list(range(1, 17))
    assert x[48:].tolist() == list(range(48, 64))
    module.get_function("shift")((1,), (32,), (x, x))


def test_a_graph_condition():
    module = emu.RawModule(
        code="""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned);
extern "C" __global__ void body(int* left, cudaGraphConditionalHandle h) { cudaGraphSetConditional(h, --*left > 0); }
"""
    )
    left, condition, rounds = np.array([10], np.int32), np.ones(1, np.uint32), 0
    while condition[0]:
        module.get_function("body")((1,), (1,), (left, np.uint64(condition.ctypes.data)))
        rounds += 1
    assert rounds == 10


# ---- wrong or hostile kernels --------------------------------------------------------------------------------------

WRONG = r"""
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
KERNEL missing_sync(const int* x, int* y, int flip) {
  __shared__ int s[256];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[threadIdx.x ^ flip];
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
KERNEL null_write(unsigned* y) { y[0] = 1; }
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
for number, text in enumerate(WRONG.splitlines(), 1):
    if text.startswith("KERNEL"):
        LINES[text.split()[1].split("(")[0]] = number


@pytest.fixture(scope="module")
def wrong(emulator):
    return emu.RawModule(code=WRONG, name_expressions=list(LINES))


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
    ("null_write", "illegal memory access", 0, (None,), {"block": (1,)}),
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
def test_bug_is_reported(wrong, name, message, line, args, launch):
    with pytest.raises(emu.EmulatorError, match=message) as error:
        wrong.get_function(name)(**{"grid": (1,), "block": (32,), "args": args, **launch})
    assert f"'{name}'" in str(error.value)
    if line is not None:
        assert f"kernel.cu:{LINES[name] + line}" in str(error.value)
    y = zeros(32)  # and the library stays usable
    wrong.get_function("right_masks")((1,), (32,), (y,), strict=True)
    assert np.array_equal(y, np.repeat([3, 19], 16))


@pytest.mark.parametrize(("n", "flip"), [(256, 255), (32, 1)], ids=["of the block", "of the warp"])
def test_missing_synchronisation_gives_wrong_results(wrong, n, flip):
    x = np.arange(n, dtype=i4)
    for seed in range(4):  # every order shows it: the reader meets poison
        y = zeros(n)
        wrong.get_function("missing_sync")((1,), (n,), (x, y, i4(flip)), seed=seed)
        assert not np.array_equal(y, x ^ flip)


@pytest.mark.skipif(os.environ.get("EMU_MODE") == "tsan", reason="reads shared memory that was never written")
def test_shared_memory_is_poisoned(wrong):
    y = zeros(1)
    wrong.get_function("uninitialised")((1,), (64,), (y,))
    assert y[0] == 63 + POISON


def test_spin_lock_makes_progress(wrong):
    for seed in range(3):
        y = zeros(1)
        wrong.get_function("spin_lock")((3,), (64,), (zeros(1), y), seed=seed)
        assert y[0] == 192


def test_exited_lanes_are_allowed_unless_strict(wrong):
    y = zeros(40)
    wrong.get_function("early_exit")((1,), (64,), (y, i4(40)))
    assert y.view(u4).tolist() == [2**32 - 1] * 32 + [255] * 8
    y = zeros(8)
    wrong.get_function("reads_absent_lane")((1,), (32,), (y,))
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
def test_arguments_of_the_wrong_type(wrong, args, message):
    with pytest.raises(TypeError, match=message):
        wrong.get_function("oob_read")((1,), (32,), args)


def test_what_cuda_has_no_instruction_for_does_not_compile():
    for body in ("atomicOr(x, (unsigned char)1)", "*x = __shfl_sync(~0u, *x, 0)", "std::max(1, 2)", "unknown()"):
        with pytest.raises(emu.EmulatorError, match=r"compiler refused(.|\n)*kernel.cu:1"):
            emu.RawModule(code=f'extern "C" __global__ void k(unsigned char* x) {{ {body}; }}')


def test_from_another_thread(wrong):
    """The clock's signal and the stack for its handler belong to the thread that launches."""
    errors = []

    def launch():
        for name in ("forever", "deep_recursion"):
            try:
                wrong.get_function(name)((1,), (1,), (zeros(1),), timeout=0.1)
            except emu.EmulatorError as error:
                errors.append(str(error))

    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
    assert "timeout" in errors[0]
    assert "stack overflow" in errors[1]


# ---- thread-block clusters: shared memory of peers, the barrier of all blocks, and their misuse --------------------

CLUSTER, THREADS = 4, 64
CLUSTERS = r"""
#define CLUSTER 4
#include "kernels/base.cuh"
#include "kernels/frontier.cuh"
#define KERNEL extern "C" __global__ void

// Each block sums what all blocks hold, round after round: every thread reads a place of every peer.
KERNEL sums(int* y, int rounds) {
  __shared__ int mine[2][64];
  extern __shared__ int dynamic[];
  const int t = threadIdx.x, rank = rank_in_cluster();
  mine[0][t] = blockIdx.x * 100 + t;
  dynamic[t] = rank;
  meet_in_cluster();
  int ranks = 0;
  for (int r = 0; r < CLUSTER; ++r) ranks += *at_peer(dynamic + t, r);
  for (int k = 0; k < rounds; ++k) {
    int sum = 0;
    for (int r = 0; r < CLUSTER; ++r) sum += *at_peer(&mine[k & 1][63 - t], (rank + r) % CLUSTER);
    mine[k + 1 & 1][t] = sum;
    meet_in_cluster();
  }
  y[blockIdx.x * 64 + t] = mine[rounds & 1][t] + 1000000 * ranks;
}
KERNEL counted(int* y) {  // all count in the memory of block 0
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  meet_in_cluster();
  const int at = atomicAdd(at_peer(&count, 0), 1);
  meet_in_cluster();
  y[blockIdx.x * 64 + threadIdx.x] = at;
}
KERNEL early_exit(int* y) { y[blockIdx.x * 64 + threadIdx.x] = 1; }

KERNEL no_barrier(int* y) {
  __shared__ int mine[64];
  mine[threadIdx.x] = threadIdx.x;
  y[blockIdx.x * 64 + threadIdx.x] = *at_peer(&mine[threadIdx.x], (rank_in_cluster() + 1) % CLUSTER);
  meet_in_cluster();
}
KERNEL gone(int* y) {
  __shared__ int mine[64];
  mine[threadIdx.x] = 1;
  meet_in_cluster();
  if (rank_in_cluster() == 2) return;
  for (int k = 0; k < 5; ++k) __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = *at_peer(&mine[threadIdx.x], 2);
}
KERNEL two_barriers(int* y) {
  if (rank_in_cluster() == 1) meet_in_cluster();
  else emu_cluster_barrier();
  y[0] = 1;
}
KERNEL one_stays_away(int* y) {
  if (rank_in_cluster() != 3) meet_in_cluster();
  else if (threadIdx.x < 32) __syncthreads();
  else meet_in_cluster();
  y[0] = 1;
}
KERNEL not_shared(int* y) { y[0] = *at_peer(y, 1); }
KERNEL no_such_block(int* y) {
  __shared__ int mine;
  mine = 0;
  meet_in_cluster();
  y[0] = *at_peer(&mine, CLUSTER);
}
"""


@pytest.fixture(scope="module")
def clusters(emulator):
    names = re.findall(r"^KERNEL (\w+)", CLUSTERS, re.M)
    return emu.RawModule(code=jit._inline(CLUSTERS, jit._CPP_INCLUDE, set()), name_expressions=names)


def run(clusters, name, *args, blocks=2 * CLUSTER, cluster=CLUSTER, **how):
    y = np.full(blocks * THREADS, -1, np.int32)
    kernel = clusters.get_function(name)
    kernel((blocks,), (THREADS,), (y, *args), cluster=cluster, shared_mem=4 * THREADS, **how)
    return y.reshape(blocks, THREADS)


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_blocks_read_each_other(clusters, seed):
    found = run(clusters, "sums", np.int32(3), seed=seed, strict=True)
    expected = np.arange(2 * CLUSTER)[:, None] * 100 + np.arange(THREADS)
    for _ in range(3):
        sums = expected.reshape(2, CLUSTER, THREADS).sum(1, keepdims=True)[:, :, ::-1]
        expected = np.broadcast_to(sums, (2, CLUSTER, THREADS)).reshape(2 * CLUSTER, THREADS)
    np.testing.assert_array_equal(found, expected + 6_000_000)


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_atomics_in_the_memory_of_a_peer(clusters, seed):
    found = run(clusters, "counted", seed=seed, strict=True)
    for half in found.reshape(2, -1):
        assert sorted(half) == list(range(CLUSTER * THREADS))


def test_a_cluster_may_exit_before_its_barrier(clusters):
    assert (run(clusters, "early_exit", strict=True) == 1).all()


def test_a_missing_barrier_reads_poison(clusters):
    """Memory that a peer has not written yet is poisoned, whichever block runs first."""
    expected = np.broadcast_to(np.arange(THREADS), (2 * CLUSTER, THREADS))
    assert not any((run(clusters, "no_barrier", seed=seed) == expected).all() for seed in (0, 1, 2))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone", "shared memory of block 2 of the cluster is asked for, which has exited"),
        ("two_barriers", "divergent barrier of a cluster"),
        ("one_stays_away", "deadlock"),
        ("not_shared", "of what is not shared"),
        ("no_such_block", "block 4 of a cluster of 4"),
    ],
)
def test_what_is_wrong_is_named(clusters, name, said):
    with pytest.raises(emu.EmulatorError, match=said):
        for seed in range(8):  # a block that goes early may be the last to run
            run(clusters, name, seed=seed)


def test_blocks_come_in_whole_clusters(clusters):
    for blocks, cluster in ((6, 4), (32, 32)):
        with pytest.raises(emu.EmulatorError, match=f"invalid launch configuration: cluster of {cluster}"):
            run(clusters, "early_exit", blocks=blocks, cluster=cluster)

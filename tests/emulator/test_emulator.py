"""Right kernels give right results in the emulator, in any order of lanes, warps and blocks."""

import os

import numpy as np
import pytest

from . import compiling, emu

pytestmark = pytest.mark.usefixtures("emulator")

NAMES = [
    "tiles_mxv<true>", "tiles_mxv<false>", "block_reduce<float, 256>", "block_reduce<int, 128>", "block_scan<u32>",
    "block_scan<float>", "relax", "compact", "intrinsics",
]  # fmt: skip
SEEDS = [0, 1, 7] if os.environ.get("EMU_MODE") != "tsan" else [0]
every_seed = pytest.mark.parametrize("seed", SEEDS)


@pytest.fixture(scope="module")
def module(emulator):
    return emu.RawModule(code=(compiling.HERE / "kernels.cu").read_text(), name_expressions=NAMES)


def tiles(rows, rng):
    """A random matrix of 32x32 bit tiles: dense, and as row pointers, tile columns and bits."""
    A = rng.random((rows * 32, rows * 32)) < 0.02
    A &= np.kron(rng.random((rows, rows)) < 0.3, np.ones((32, 32), bool))
    blocks = A.reshape(rows, 32, rows, 32).swapaxes(1, 2)
    i, j = np.nonzero(blocks.any(axis=(2, 3)))
    bits = np.packbits(blocks[i, j], axis=2, bitorder="little").reshape(-1).view(np.uint32)
    return A, np.searchsorted(i, np.arange(rows + 1)).astype(np.int32), j.astype(np.int32), bits


@every_seed
@pytest.mark.parametrize("ballot", ["true", "false"])
def test_warp_per_row_of_tiles(module, ballot, seed):
    rng, rows = np.random.default_rng(0), 13
    A, ptr, col, bits = tiles(rows, rng)
    flags = rng.random(rows * 32) < 0.1
    x = np.packbits(flags, bitorder="little").view(np.uint32)
    y = np.zeros(rows if ballot == "true" else rows * 32, np.uint32)
    kernel = module.get_function(f"tiles_mxv<{ballot}>")
    kernel(((rows * 32 + 127) // 128,), (128,), (ptr, col, bits, x, y, np.int32(rows)), seed=seed)
    expected = A.astype(int) @ flags.astype(int)
    if ballot == "true":
        assert np.array_equal(np.unpackbits(y.view(np.uint8), bitorder="little"), expected > 0)
    else:
        assert np.array_equal(y, expected)


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
def test_atomics_of_many_blocks(module, seed):
    rng, n, m = np.random.default_rng(4), 200, 1500
    src, dst = rng.integers(0, n, (2, m)).astype(np.int32)
    weight = rng.integers(1, 64, m).astype(np.float32)
    dist = np.full(n, np.inf, np.float32)
    dist[0] = 0
    expected, bits, changed = dist.copy(), dist.view(np.int32), np.ones(1, np.int32)
    while changed[0]:
        changed[0] = 0
        args = (src, dst, weight, bits, changed, np.int32(m))
        module.get_function("relax")(((m + 255) // 256,), (256,), args, seed=seed)
    for _ in range(n):
        np.minimum.at(expected, dst, expected[src] + weight)
    assert np.array_equal(dist, expected)


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

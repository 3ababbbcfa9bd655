"""Thread-block clusters in the emulator: shared memory of peers, the barrier of all blocks, and their misuse."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bitblas.device import jit

from . import emu

pytestmark = pytest.mark.usefixtures("emulator")

CLUSTER, THREADS = 4, 64
SOURCE = r"""
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
def module(emulator):
    names = re.findall(r"^KERNEL (\w+)", SOURCE, re.M)
    return emu.RawModule(code=jit._inline(SOURCE, jit._CPP_INCLUDE, set()), name_expressions=names)


def run(module, name, *args, blocks=2 * CLUSTER, cluster=CLUSTER, **how):
    y = np.full(blocks * THREADS, -1, np.int32)
    kernel = module.get_function(name)
    kernel((blocks,), (THREADS,), (y, *args), cluster=cluster, shared_mem=4 * THREADS, **how)
    return y.reshape(blocks, THREADS)


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_blocks_read_each_other(module, seed):
    found = run(module, "sums", np.int32(3), seed=seed, strict=True)
    expected = np.arange(2 * CLUSTER)[:, None] * 100 + np.arange(THREADS)
    for _ in range(3):
        sums = expected.reshape(2, CLUSTER, THREADS).sum(1, keepdims=True)[:, :, ::-1]
        expected = np.broadcast_to(sums, (2, CLUSTER, THREADS)).reshape(2 * CLUSTER, THREADS)
    np.testing.assert_array_equal(found, expected + 6_000_000)


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_atomics_in_the_memory_of_a_peer(module, seed):
    found = run(module, "counted", seed=seed, strict=True)
    for half in found.reshape(2, -1):
        assert sorted(half) == list(range(CLUSTER * THREADS))


def test_a_cluster_may_exit_before_its_barrier(module):
    assert (run(module, "early_exit", strict=True) == 1).all()


def test_a_missing_barrier_reads_poison(module):
    """Memory that a peer has not written yet is poisoned, whichever block runs first."""
    expected = np.broadcast_to(np.arange(THREADS), (2 * CLUSTER, THREADS))
    assert not any((run(module, "no_barrier", seed=seed) == expected).all() for seed in (0, 1, 2))


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
def test_what_is_wrong_is_named(module, name, said):
    with pytest.raises(emu.EmulatorError, match=said):
        for seed in range(8):  # a block that goes early may be the last to run
            run(module, name, seed=seed)


def test_blocks_come_in_whole_clusters(module):
    with pytest.raises(emu.EmulatorError, match="invalid launch configuration: cluster of 4"):
        run(module, "early_exit", blocks=6)
    with pytest.raises(emu.EmulatorError, match="cluster of 32"):
        run(module, "early_exit", blocks=32, cluster=32)

// Kernels that the whole grid runs in one launch: all blocks run at the same time and meet at barriers. COOPERATIVE: the
// launch guarantees it; MEETS: the grid has no more blocks than fit, in a graph, which refuses cooperative launches.
#define WARPS (THREADS / 32)

__device__ __forceinline__ i64 first_thread() { return (i64)blockIdx.x * THREADS + threadIdx.x; }
__device__ __forceinline__ i64 all_threads() { return (i64)gridDim.x * THREADS; }
__device__ __forceinline__ u32 lanes_below() { return (1u << (threadIdx.x & 31)) - 1u; }

// All threads of the grid, whose blocks run at the same time. gate: how often a block has come, 0 before the launch.
struct Barrier {
  u64* gate;
  u64 goal;
  __device__ __forceinline__ void meet() {
#ifdef __CUDA_EMU__
    __threadfence();
    emu_cluster_barrier(__FILE__, __LINE__);
#else
    goal += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(gate, 1ull);
      while (load_fresh(gate) < goal) {}
      __threadfence();
    }
    __syncthreads();
#endif
  }
  // Whether a warp visits again what waits for other warps, if it `waits`. A GPU runs the others meanwhile; the emulator
  // only where all meet, so there all go on as long as one waits. votes: three numbers, 0 before the launch.
  __device__ __forceinline__ bool visits_again(bool waits, u64* votes) {
#ifdef __CUDA_EMU__
    u64* vote = votes + goal % 3;
    if (waits) atomicAdd(vote, 1ull);
    meet();
    const bool again = load_fresh(vote) != 0;
    if (first_thread() == 0) votes[(goal + 2) % 3] = 0;
    ++goal;
    return again;
#else
    (void)votes;
    return waits;
#endif
  }
};

// The sum over the threads of a block.
__device__ __noinline__ i64 total_of_block(i64 x, i64* totals) {
#pragma unroll 1
  for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(ALL_LANES, x, d);
  if ((threadIdx.x & 31) == 0) totals[threadIdx.x / 32] = x;
  __syncthreads();
  x = 0;
#pragma unroll 4
  for (int w = 0; w < WARPS; ++w) x += totals[w];
  __syncthreads();
  return x;
}

// Shared parts of small rounds inside one cluster (rounds.cuh, listed.cuh).
#include "kernels/step.cuh"
#include "kernels/cluster.cuh"
#define GROUPS (32 / LANES)
#define WARPS (THREADS / 32)

// Where a warp begins that takes `share` of what there is, then those that are as many further as all warps take: dealt out
// to the blocks in turn, so that little work too goes to all of them.
__device__ __forceinline__ u32 first_of_warp(u32 rank, u32 share) { return (threadIdx.x / 32 * PEERS + rank) * share; }

// Where the three buffers of the frontier's vector lie: it is read, written and cleared.
struct Buffers {
  u64 *bits, *next_bits, *old_bits;
  C_T *val, *next_val, *old_val;
  __device__ __forceinline__ void turn() {
    u64* const b = old_bits;
    old_bits = bits, bits = next_bits, next_bits = b;
    C_T* const v = old_val;
    old_val = val, val = next_val, next_val = v;
  }
};

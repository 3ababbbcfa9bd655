// Small rounds inside one cluster (rounds.cuh, listed.cuh): limits, buffers, and the operands of a push along items.
// Include after the layout's header, which defines Units and Item. The including header then defines struct Along,
// which pushes along one item.
#include "kernels/step.cuh"
#include "kernels/cluster.cuh"
#define GROUPS (32 / LANES)
#define WARPS (THREADS / 32)

// First item of a warp that takes `share` items at a time; its next ones follow at the stride of all warps. Blocks take
// turns, so that even little work is spread over all of them.
__device__ __forceinline__ u32 first_of_warp(u32 rank, u32 share) { return (threadIdx.x / 32 * PEERS + rank) * share; }

// Limits for staying in the cluster: positions of a vector, the longest row, rounds that the grid runs before, and the
// most units and entries of a frontier.
struct Limits {
  i64 size, longest, from;
  u64 most, most_work;
};

// The three buffers of the frontier's vector: one is read, one written, one cleared.
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

// Input and output of a push; they swap from round to round.
struct Ends {
  const u64* u_bits;
  const STORED(U_T)* u_val;
  u64* t_bits;
  C_T* t_val;
};

// The other operands of a push.
struct Operands {
  Units form;
  Values values;
  U_T u_iso;
  i64 u_stride;
  MaskView mask;
};

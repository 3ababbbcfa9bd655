// Reductions over a cluster: each block reduces its part, then the parts are combined.
// For monoids whose result does not depend on the order.
#include "kernels/small.cuh"

template <class T> struct Parts {
  T of_warp[WARPS], sum, total;
  u32 in_warp[WARPS], some, any;
};
template <class T, class Add> __device__ __forceinline__ void join_warp(bool& some, T& sum, Add add) {
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const bool other = shuffle_xor(ALL_LANES, some, d);
    const T x = shuffle_xor(ALL_LANES, sum, d);
    if (other) sum = some ? add(sum, x) : x;
    some = some || other;
  }
}
// Store the block's part. Called by the whole block.
template <class T, class Add> __device__ __forceinline__ void put_part(Parts<T>& parts, bool some, T sum, Add add) {
  join_warp(some, sum, add);
  if (WARP_LANE == 0) parts.of_warp[threadIdx.x / 32] = sum, parts.in_warp[threadIdx.x / 32] = some;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  some = WARP_LANE < WARPS && parts.in_warp[WARP_LANE < WARPS ? WARP_LANE : 0];
  if (some) sum = parts.of_warp[WARP_LANE];
  join_warp(some, sum, add);
  if (WARP_LANE == 0) parts.sum = sum, parts.some = some;
}
// Combine the parts, after a cluster barrier. Called by the whole block.
template <class T, class Add> __device__ __forceinline__ void join_parts(Parts<T>& parts, bool& some, T& sum, Add add) {
  if (threadIdx.x < 32) {
    some = false;
    if (WARP_LANE < PEERS) {
      const Parts<T>* const there = at_peer(&parts, WARP_LANE);
      sum = there->sum, some = there->some;
    }
    join_warp(some, sum, add);
    if (WARP_LANE == 0) parts.total = sum, parts.any = some;
  }
  __syncthreads();
  some = parts.any, sum = parts.total;
}

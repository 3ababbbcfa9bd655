// Sums of entries over a cluster, in parts of warps. Only of those that are the same in any order.
#include "kernels/small.cuh"

template <class T> struct Parts {
  T sum[WARPS], total;
  u32 some[WARPS], any;
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
template <class T, class Add> __device__ __forceinline__ void put_part(Parts<T>& parts, bool some, T sum, Add add) {
  join_warp(some, sum, add);
  if (WARP_LANE == 0) parts.sum[threadIdx.x / 32] = sum, parts.some[threadIdx.x / 32] = some;
}
// After the cluster has met. The whole block calls it.
template <class T, class Add> __device__ __forceinline__ void join_parts(Parts<T>& parts, bool& some, T& sum, Add add) {
  if (threadIdx.x < 32) {
    some = false;
    for (int k = WARP_LANE; k < PEERS * WARPS; k += 32) {
      const Parts<T>* const there = at_peer(&parts, k / WARPS);
      const T x = there->sum[k % WARPS];
      if (!there->some[k % WARPS]) continue;
      sum = some ? add(sum, x) : x;
      some = true;
    }
    join_warp(some, sum, add);
    if (WARP_LANE == 0) parts.total = sum, parts.any = some;
  }
  __syncthreads();
  some = parts.any, sum = parts.total;
}

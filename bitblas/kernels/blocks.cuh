// Sums over the threads of a block.
template <class T> __device__ __forceinline__ T block_sum(T x) {  // once per kernel: `part` is written once
  __shared__ T part[BLOCK / 32];
#pragma unroll
  for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(ALL_LANES, x, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = x;
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int warp = 0; warp < BLOCK / 32; ++warp) sum += part[warp];
  return sum;
}

// The sum of x over the lower threads of the block, and over all of them.
__device__ __forceinline__ u32 block_sum_below(u32 x, u32* parts, u32& total) {
  const u32 below = group_sum_below<32>(x);
  if ((threadIdx.x & 31) == 31) parts[threadIdx.x / 32] = below + x;
  __syncthreads();
  u32 before = 0;
  total = 0;
#pragma unroll
  for (int w = 0; w < BLOCK / 32; ++w) {
    before += w < threadIdx.x / 32 ? parts[w] : 0;
    total += parts[w];
  }
  __syncthreads();
  return before + below;
}

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

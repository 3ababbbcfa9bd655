// Count set bits: counts[c] = number of set bits in chunk c of CHUNK words, one block per chunk.
// The sums give the number of entries of a vector and the offset of each chunk in a compacted list.
// words: number of 64-bit words of `bits`.
#include "kernels/blocks.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4) count(i64 n, i64 words, const u64* bits, u32* counts) {
  const i64 first = (i64)blockIdx.x * CHUNK;
  u32 sum = 0;
  for (i64 w = first + threadIdx.x; w < first + CHUNK && w < words; w += BLOCK) sum += __popcll(bits[w]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

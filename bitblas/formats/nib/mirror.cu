// Symmetry test on nibble rows: per group of rows, the hash difference of entries and mirror images.
// Hashes: kernels/scramble.cuh. A warp decodes one row after the other.
#include "formats/nib/walk.cuh"
#include "kernels/scramble.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
mirror(i64 n, i64 rows, const i64* heads, const u32* words, u64* sums) {
  const i64 group = thread_number() / 32;
  if (group >= n) return;
  const i64 first = group * GROUP_ROWS, end = first + GROUP_ROWS < rows ? first + GROUP_ROWS : rows;
  const int lane = threadIdx.x & 31;
  u64 sum = 0;
  for (i64 row = first; row < end; ++row) {
    const u64 left = scramble((u64)row);
    Walk<32, false> walk(row_extent(heads, words, row), row, 0);
    while (walk.more()) {
      Found found;
      walk.step(words, lane, found);
#pragma unroll
      for (int k = 0; k < COMPLETED; ++k)
        if (found.has(k)) sum += unlike_mirror(left, scramble((u64)found.at(k)));
    }
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if (lane == 0) sums[group] = sum;
}

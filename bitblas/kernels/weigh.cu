// Frontier work: count the entries (tiles) in the rows (tile rows) where u has an entry.
// The direction rule compares it with the work of a pull.
// ROWS: rows in a unit. A thread takes a word of u; blocks add integer sums to `total`, in any order.
// ptr: start of each row (tile row), in entries (tiles).
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
weigh(i64 n, const u64* u_bits, const PTR_T* ptr, u64* total) {
  const i64 word = thread_number();
  u64 sum = 0;
  for (u64 rest = word < n ? u_bits[word] : 0ull; rest;) {
    const int unit = (__ffsll(rest) - 1) / ROWS;
    const i64 at = word * (64 / ROWS) + unit;
    sum += ptr[at + 1] - ptr[at];
    rest &= ROWS == 64 ? 0ull : ~(((1ull << (ROWS & 63)) - 1) << (unit * ROWS));
  }
  __shared__ u64 sums[BLOCK / 32];
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < BLOCK / 32; ++k) sum += sums[k];
    if (sum) atomicAdd(total, sum);
  }
}

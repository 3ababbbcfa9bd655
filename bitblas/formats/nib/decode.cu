// Decode nibble rows to CSR rows, LANES lanes per row: all rows, or (row_stride 1) those listed in row_of.
// FILL 0: counts[k] = number of entries of the k-th row. FILL 1: write their columns from counts[k] on.
#include "formats/nib/walk.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
decode(i64 n, const i64* row_of, i64 row_stride, const i64* heads, const u32* words, i64* counts, int* col) {
  (void)col;
  const i64 k = thread_number() / LANES, row = row_stride && k < n ? row_of[k] : k;
  const int lane = threadIdx.x & (LANES - 1);
#if FILL
  Walk<LANES, true> walk;
  if (k < n) walk = Walk<LANES, true>(row_extent(heads, words, row), row, counts[k]);
  while (__any_sync(ALL_LANES, walk.more())) {
    Found found;
    walk.step(words, lane, found);
#pragma unroll
    for (int x = 0; x < COMPLETED; ++x)
      if (found.has(x)) col[found.number(x)] = (int)found.at(x);
  }
#else
  Extent x = {0, 0};
  if (k < n) x = row_extent(heads, words, row);
  i64 count = 0;
  for (i64 word = (x.at >> 3) + lane; word * 8 < x.end; word += LANES) {
    u32 stops = words[word] & STOPS;
    if (word * 8 < x.at) stops &= ~0u << 4 * (x.at & 7);
    if (x.end - word * 8 < 8) stops &= (1u << 4 * (x.end & 7)) - 1;
    count += __popc(stops);
  }
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) count += shuffle_xor(ALL_LANES, count, d);
  if (k < n && lane == 0) counts[k] = count;
#endif
}

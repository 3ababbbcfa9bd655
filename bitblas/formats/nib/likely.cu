// Hub columns for pulls: of each row the column, among its first ones, whose own row has most words (`length`).
// A pull most likely hits there if the vector was found along rows. ~0 for an empty row. LANES lanes per row.
// best: output.
#include "formats/nib/walk.cuh"
#define STEPS 32  // per row; the rest of longer rows is skipped

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
likely(i64 n, const i64* heads, const u32* words, const i64* length, u32* best) {
  const i64 row = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  Walk<LANES, false> walk;
  if (row < n) walk = Walk<LANES, false>(row_extent(heads, words, row), row, 0);
  i64 most = -1;
  u32 at = ~0u;
  for (int step = 0; step < STEPS && __any_sync(ALL_LANES, walk.more()); ++step) {
    Found found;
    walk.step(words, lane, found);
#pragma unroll
    for (int k = 0; k < COMPLETED; ++k) {
      const i64 here = found.has(k) ? length[found.at(k)] : -1;
      if (here > most) most = here, at = found.at(k);
    }
  }
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) {
    const i64 there = __shfl_xor_sync(ALL_LANES, most, d);
    const u32 j = __shfl_xor_sync(ALL_LANES, at, d);
    if (there > most) most = there, at = j;
  }
  if (row < n && lane == 0) best[row] = at;
}

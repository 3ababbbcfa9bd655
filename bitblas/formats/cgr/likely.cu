// Hub columns for pulls: of each row the column, among its first ones, whose own row has most words (`length`).
// A pull most likely hits there if the vector was found along rows. ~0 for an empty row. One lane per row.
// best: output.
#define TWO_PHASES 0  // in lockstep, rows would wait for the intervals of a hub and end without an entry
#include "formats/cgr/walk.cuh"
#define STEPS 256  // per row; the rest of longer rows is skipped

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
likely(i64 n, const i64* heads, const u32* words, i64 segment, const i64* length, u32* best) {
  const i64 row = thread_number();
  Extent x = {0, 0};
  if (row < n) x = row_extent(heads, words, row);
  Walk<1, false, false> walk(words, x, segment, row, 0, 0);
  i64 most = -1;
  u32 at = ~0u;
  for (int step = 0; step < STEPS && __any_sync(ALL_LANES, walk.more()); ++step) {
    Found found;
    walk.step(words, 0, found);
#pragma unroll
    for (int k = 0; k < TAKEN; ++k) {
      const i64 here = found.has[k] ? length[found.at[k]] : -1;
      if (here > most) most = here, at = found.at[k];
    }
  }
  if (row < n) best[row] = at;
}

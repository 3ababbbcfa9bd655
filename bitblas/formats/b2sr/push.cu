// Push SpMV on tiles: t = A' (+).(x) u by the tile rows where u has entries. A lane takes a tile.
#include "formats/b2sr/scatter.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, RowsView<PTR_T> rows, TilesView tiles, Values a, VectorView<U_T> u, MaskView mask,
     ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 tile_row = rows.row_stride ? rows.row_of[unit] : unit;
  const u64 active = tile_bits(u.bits, tile_row);
  if (!active) return;
  i64 tile = rows.begin[unit];
  const i64 stop = rows.end[unit];
  if (stop - tile > longest) return;  // a hub: its segments are processed by another launch
  for (tile += threadIdx.x & (LANES - 1); tile < stop; tile += LANES)
    scatter_tile(tile, tile_row, active, tiles, a, u, mask, t);
}

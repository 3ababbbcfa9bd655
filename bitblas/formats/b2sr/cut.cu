// Cut long tile rows into parts of about equally many entries.
// Cut j of the k in a tile row is the least tile column with at least j / (k + 1) of its entries before it. Found by
// bisection; each lane keeps the bounds of its rows.
#include "formats/b2sr/tile.cuh"
#include "formats/b2sr/parts.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
cut(i64 n, i64 tile_rows, i64 nrows, i64 tile_cols, const PTR_T* ptr, const COL_T* col, const i64* cuts,
    i64* cut_cols) {
  const i64 number = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (number >= n || number >= cuts[tile_rows]) return;
  const i64 tile_row = range_of(cuts, tile_rows, number);
  i64 first[LANE_ROWS], from[LANE_ROWS], to[LANE_ROWS], mine = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    const i64 row = tile_row * TILE + lane * LANE_ROWS + k;
    first[k] = from[k] = row < nrows ? (i64)ptr[row] : 0;
    to[k] = row < nrows ? (i64)ptr[row + 1] : 0;
    mine += to[k] - from[k];
  }
  const i64 entries = sum_of_group(mine), parts = cuts[tile_row + 1] - cuts[tile_row] + 1;
  const i64 j = number - cuts[tile_row] + 1, before = entries / parts * j + entries % parts * j / parts;
  i64 low = 0, high = tile_cols;
  while (low < high) {
    const i64 middle = (low + high) >> 1;
    i64 at[LANE_ROWS];
    mine = 0;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      at[k] = lower_bound(col, from[k], to[k], middle << LOG_TILE);
      mine += at[k] - first[k];
    }
    const bool enough = sum_of_group(mine) >= before;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) (enough ? to[k] : from[k]) = at[k];
    if (enough) high = middle;
    else low = middle + 1;
  }
  if (lane == 0) cut_cols[number] = low;
}

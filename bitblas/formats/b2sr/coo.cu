// List the row and column of every entry, in the order of the tiles' bits: lane r takes row r of a tile.
// rows, cols: output.
#include "formats/b2sr/tile.cuh"
#include "formats/csr/ranges.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
coo(i64 n, i64 tile_rows, const PTR_T* tile_ptr, const COL_T* tile_col, const word_t* bits, const PLACE_T* value_ptr,
    i64* rows, i64* cols) {
  const i64 tile = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (tile >= n) return;
  const i64 top = range_of(tile_ptr, tile_rows, tile) * TILE, left = (i64)tile_col[tile] * TILE;
  u32 mine = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(tile_row_bits(bits, tile, lane * LANE_ROWS + k));
  i64 place = (i64)value_ptr[tile] + group_sum_below<ROW_LANES>(mine);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    const int r = lane * LANE_ROWS + k;
    for (u64 rest = tile_row_bits(bits, tile, r); rest; rest &= rest - 1, ++place) {
      rows[place] = top + r;
      cols[place] = left + __ffsll(rest) - 1;
    }
  }
}

// Rows from tiles: lane r walks the tiles of its tile row and takes row r of each. FILL = 0 counts the entries of each
// row into ptr, FILL = 1 writes their columns at ptr (and with ORDER the ranks that they have in the tiles).
#include "formats/b2sr/tile.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
unbuild(i64 n, i64 nrows, const PTR_T* tile_ptr, const COL_T* tile_col, const word_t* bits, const PLACE_T* value_ptr,
        i64* ptr, COL_T* col, PLACE_T* places) {
  const i64 tile_row = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (tile_row >= n) return;
  i64 at[LANE_ROWS];
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    const i64 row = tile_row * TILE + lane * LANE_ROWS + k;
    at[k] = FILL && row < nrows ? ptr[row] : 0;
  }
  for (i64 tile = tile_ptr[tile_row]; tile < tile_ptr[tile_row + 1]; ++tile) {
    u32 mine = 0;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(tile_row_bits(bits, tile, lane * LANE_ROWS + k));
#if ORDER
    i64 place = (i64)value_ptr[tile] + group_sum_below<ROW_LANES>(mine);
#endif
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      u64 rest = tile_row_bits(bits, tile, lane * LANE_ROWS + k);
#if FILL
      for (; rest; rest &= rest - 1) {
        col[at[k]] = (COL_T)((i64)tile_col[tile] * TILE + __ffsll(rest) - 1);
#if ORDER
        places[at[k]] = (PLACE_T)place++;
#endif
        ++at[k];
      }
#else
      at[k] += __popcll(rest);
#endif
    }
    (void)mine;
  }
  if (!FILL)
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      const i64 row = tile_row * TILE + lane * LANE_ROWS + k;
      if (row < nrows) ptr[row] = at[k];
    }
}

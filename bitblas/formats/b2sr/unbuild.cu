// Convert tiles to CSR rows: lane r walks the tiles of a part of a tile row and takes row r of each.
// FILL = 0 counts the entries of each row in each part, row by row. FILL = 1 writes their columns at the offsets in
// `out`, the prefix sum of the counts, with ORDER also their ranks in the tiles, and the start of each row.
// cuts[I]: number of cuts in the tile rows before I; they cut a tile row into parts of equally many tiles.
#include "formats/b2sr/tile.cuh"
#include "formats/csr/ranges.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
unbuild(i64 n, i64 tile_rows, i64 nrows, const PTR_T* tile_ptr, const TILE_COL_T* tile_col, const word_t* bits,
        const PLACE_T* value_ptr, const i64* cuts, const i64* out, i64* counts, i64* ptr, COL_T* col, PLACE_T* places) {
  const i64 unit = thread_number() / ROW_LANES, cut = unit - tile_rows;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (unit >= n || cut >= cuts[tile_rows]) return;
  const i64 tile_row = cut < 0 ? unit : range_of(cuts, tile_rows, cut), before = cuts[tile_row];
  const i64 parts = cuts[tile_row + 1] - before + 1, part = cut < 0 ? 0 : cut - before + 1;
  const i64 first = tile_ptr[tile_row], tiles = (i64)tile_ptr[tile_row + 1] - first;
  const i64 slot = (tile_row + before) * TILE + part;
  i64 at[LANE_ROWS];
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
#if FILL
    const int r = lane * LANE_ROWS + k;
    at[k] = out[slot + r * parts];
    if (part == 0 && tile_row * TILE + r < nrows) ptr[tile_row * TILE + r] = at[k];
#else
    at[k] = 0;
#endif
  }
  const i64 end = first + tiles * (part + 1) / parts;
  for (i64 tile = first + tiles * part / parts; tile < end; ++tile) {
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
#if !FILL
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) counts[slot + (lane * LANE_ROWS + k) * parts] = at[k];
#endif
}

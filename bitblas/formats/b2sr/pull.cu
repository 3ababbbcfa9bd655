// Pull SpMV on tiles: w<mask, accum, replace> = A (+).(x) u by tile rows. LANES lanes share a tile row.
#include "formats/b2sr/close.cuh"

// Blocks per multiprocessor. A warp waits for its loads and for instructions of other warps (plus_second, a grid: 47 us
// with 8, 57 with 6).
#define RESIDENT (TILE > 8 || (KIND != WORDS && sizeof(U_T) > 4) ? 4 : KIND != WORDS && TILE == 4 ? 6 : 8)

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
pull(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_stride, const COL_T* col,
     const word_t* bits, const PLACE_T* value_ptr, const value_t* a_val, ARGUMENT(A_T) a_iso, i64 a_stride, const u64* u_bits,
     const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, const u64* mask, i64 mask_stride, u64 mask_invert, ARGUMENT(Z_T) product,
     const u64* w_bits, const STORED(W_T)* w_val, ARGUMENT(W_T) w_iso, i64 w_stride, i64 moved, i64 replace, u64* t_bits,
     STORED(W_T)* t_val) {
  const i64 unit = (i64)blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = unit < n;
  const i64 tile_row = row_stride && inside ? row_of[unit] : unit;
  // A hub: its segments are processed by another launch. For presence only, the hub's beginning is searched here, and
  // its segments set missing bits.
  const bool segment = PRESENCE && row_stride;
  bool hub = false;
  rows_t open = 0;  // the rows that the mask allows
  if (inside) open = (rows_t)((mask_stride ? tile_bits_now(mask, tile_row) : 0ull) ^ mask_invert) & ROW_MASK;
  if (segment && inside) open &= ~(rows_t)tile_bits_now(t_bits, tile_row);
  place_t tile = 0, stop = 0;
  if (open) {
    tile = (place_t)begin[unit];
    stop = (place_t)end[unit];
    if ((i64)(stop - tile) > longest) hub = !PRESENCE, stop = PRESENCE ? tile + (place_t)longest : tile;
    if (hub) open = 0;
  }
  const Output to = {n, unit, lane, inside, hub, open, w_bits, w_val, w_iso, w_stride, moved, replace, t_bits, t_val};
#if KIND == WORDS
  end_words(to, tile_row, hit_rows(tile, stop, lane, col, bits, u_bits), segment, product);
#else
  Sums of;
  const i64 row = tile_row * TILE + (lane & (ROW_LANES - 1)) * LANE_ROWS;
  sum_tiles(of, tile, stop, lane, row, col, bits, value_ptr, {a_val, a_iso, a_stride}, a_iso, u_bits, u_val, u_iso,
            u_stride);
  end_sums(to, of, product);
#endif
}

// Pull SpMV on Split: w<mask, accum, replace> = A (+).(x) u by tile rows.
// LANES lanes share a tile row, its tiles and then its single entries; the epilogue runs once, after both.
// begin and end hold `parts` numbers per unit: one for its tiles, and one per range of single entries.
#include "formats/split/rest.cuh"
#define SHARE (KIND != WORDS ? TILE : TILE == 16 ? 4 : 1)  // lanes that share a tile, its cost in entries

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_stride, const u32* col,
     i64 col_width, const word_t* bits, const PLACE_T* value_ptr, const u32* near, i64 near_width, const u32* far,
     i64 far_width, i64 in_tiles, i64 in_near, i64 parts, const value_t* a_val, ARGUMENT(A_T) a_iso, i64 a_stride,
     const u64* u_bits, const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, const u64* mask, i64 mask_stride,
     u64 mask_invert, ARGUMENT(Z_T) product, const u64* w_bits, const STORED(W_T)* w_val, ARGUMENT(W_T) w_iso, i64 w_stride, i64 moved,
     i64 replace, u64* t_bits, STORED(W_T)* t_val) {
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
  const Rest rest = {near, far, (u32)near_width, (u32)far_width, in_tiles, in_near, (int)parts};
  const PTR_T* starts = begin + parts * unit;
  const PTR_T* ends = end + parts * unit;
  place_t tile = 0, stop = 0, most = 0;  // most: entries per range
  if (open) {
    tile = (place_t)starts[0], stop = (place_t)ends[0], most = EVERY;
    i64 work = (i64)(stop - tile) * SHARE;
    for (int part = 1; part < parts; ++part) work += (i64)ends[part] - (i64)starts[part];
    if (!segment && work > longest) {
      hub = !PRESENCE;
      if (hub) open = 0;
      most = PRESENCE ? (place_t)longest : 0;
      const i64 tiles = PRESENCE ? longest / SHARE : 0;
      if ((i64)(stop - tile) > tiles) stop = tile + (place_t)tiles;
    }
  }
  const TileColumns columns = {col, (u32)col_width};
  const Output to = {n, unit, lane, inside, hub, open, w_bits, w_val, w_iso, w_stride, moved, replace, t_bits, t_val};
#if KIND == WORDS
  u32 rows = hit_rows(tile, stop, lane, columns, bits, u_bits);
#pragma unroll 1
  for (int part = 1; part < rest.parts; ++part)
    rows = hit_rest(rows, open, Range(rest, part, starts, ends, most), lane, u_bits);
  end_words(to, tile_row, rows, segment, product);
#else
  Sums of;
  const i64 top = tile_row * TILE, row = top + (lane & (TILE - 1));
  const Values values = {a_val, a_iso, a_stride};
  sum_tiles(of, tile, stop, lane, row, columns, bits, value_ptr, values, a_iso, u_bits, u_val, u_iso, u_stride);
#pragma unroll 1
  for (int part = 1; part < rest.parts; ++part)
    sum_rest(of, open, Range(rest, part, starts, ends, most), lane, top, values, a_iso, u_bits, u_val, u_iso, u_stride);
  end_sums(to, of, product);
#endif
}

// w<mask, accum, replace> = A (+).(x) u by tile rows: LANES lanes share a tile row, its tiles and then its rest; the
// statement ends once, after both. begin and end hold two numbers a unit: of tiles, of entries of the rest.
#include "formats/split/rest.cuh"
#define SHARE (KIND != WORDS ? TILE : TILE == 16 ? 4 : 1)  // lanes that share a tile: what it costs, in entries

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_step, const u32* col,
     i64 col_width, const word_t* bits, const PLACE_T* value_ptr, const u32* codes, i64 code_width, i64 in_tiles,
     const value_t* a_val, A_T a_iso, i64 a_step, const u64* u_bits, const STORED(U_T)* u_val, U_T u_iso, i64 u_step,
     const u64* mask, i64 mask_step, u64 mask_flip, Z_T product, const u64* w_bits, const STORED(W_T)* w_val, W_T w_iso,
     i64 w_step, i64 moved, i64 replace, u64* t_bits, STORED(W_T)* t_val) {
  const i64 unit = (i64)blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = unit < n;
  const i64 tile_row = row_step && inside ? row_of[unit] : unit;
  // A hub: its segments are units of another launch. Presence alone is looked for in the hub's beginning at once, and
  // its segments only set the bits that are missing.
  const bool segment = PRESENCE && row_step;
  bool hub = false;
  rows_t open = 0;  // the rows that the mask allows
  if (inside) open = (rows_t)((mask_step ? tile_bits(mask, tile_row) : 0ull) ^ mask_flip) & ROW_MASK;
  if (segment && inside) open &= ~(rows_t)tile_bits(t_bits, tile_row);
  place_t tile = 0, stop = 0, e = 0, last = 0;
  if (open) {
    tile = (place_t)begin[2 * unit], stop = (place_t)end[2 * unit];
    e = (place_t)begin[2 * unit + 1], last = (place_t)end[2 * unit + 1];
    if (!segment && (i64)(stop - tile) * SHARE + (i64)(last - e) > longest) {
      hub = !PRESENCE;
      if (hub) open = 0;
      const i64 tiles = PRESENCE ? longest / SHARE : 0, entries = PRESENCE ? longest : 0;
      if ((i64)(stop - tile) > tiles) stop = tile + (place_t)tiles;
      if ((i64)(last - e) > entries) last = e + (place_t)entries;
    }
  }
  const TileColumns columns = {col, (u32)col_width};
  const Output to = {n, unit, lane, inside, hub, open, w_bits, w_val, w_iso, w_step, moved, replace, t_bits, t_val};
#if KIND == WORDS
  const u32 rows = hit_rows(tile, stop, lane, columns, bits, u_bits);
  end_words(to, tile_row, hit_rest(rows, open, e, last, lane, codes, (u32)code_width, u_bits), segment, product);
#else
  Sums of;
  const i64 top = tile_row * TILE, row = top + (lane & (TILE - 1));
  sum_tiles(of, tile, stop, lane, row, columns, bits, value_ptr, {a_val, a_iso, a_step}, a_iso, u_bits, u_val, u_iso, u_step);
  sum_rest(of, open, e, last, lane, top, codes, (u32)code_width, in_tiles, {a_val, a_iso, a_step}, a_iso, u_bits, u_val, u_iso, u_step);
  end_sums(to, of, product);
#endif
}

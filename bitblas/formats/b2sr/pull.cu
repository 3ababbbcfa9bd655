// Pull SpMV on tiles: w<mask, accum, replace> = A (+).(x) u by tile rows. LANES lanes share a tile row.
#include "formats/b2sr/pull.cuh"

// Blocks per multiprocessor. A warp waits for its loads and for instructions of other warps (plus_second, a grid: 47 us
// with 8, 57 with 6).
#define RESIDENT (TILE > 8 || (KIND != WORDS && sizeof(U_T) > 4) ? 4 : KIND != WORDS && TILE == 4 ? (KIND == COUNT && !U_FULL ? 5 : 6) : 8)

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
pull(i64 n, i64 longest, RowsView<PTR_T> rows, TilesView tiles, Values a, VectorView<U_T> u, MaskView mask,
     ARGUMENT(Z_T) product, Epilogue to) {
  TileRow of(n, rows, mask, to.t.bits);
  place_t tile = 0, stop = 0;
  if (of.open) {
    tile = (place_t)rows.begin[of.unit];
    stop = (place_t)rows.end[of.unit];
    if ((i64)(stop - tile) > longest) of.hub = !PRESENCE, stop = PRESENCE ? tile + (place_t)longest : tile;
    if (of.hub) of.open = 0;
  }
#if KIND == WORDS
  end_words(of, hit_rows(tile, stop, of.lane, tiles, u.bits), product, to);
#else
  Sums x;
  sum_tiles(x, tile, stop, of.lane, of.row(), tiles, a, u);
  end_sums(of, x, product, to);
#endif
}

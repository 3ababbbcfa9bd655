// Pull SpMV on Split: w<mask, accum, replace> = A (+).(x) u by tile rows.
// LANES lanes share a tile row, its tiles and then its single entries; the epilogue runs once, after both.
// begin and end hold `parts` numbers per unit: one for its tiles, and one per range of single entries.
#include "formats/split/rest.cuh"
#define SHARE (KIND != WORDS ? TILE : TILE == 16 ? 4 : 1)  // lanes that share a tile, its cost in entries

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, RowsView<PTR_T> rows, PackedTilesView tiles, RestView singles, Values a, VectorView<U_T> u,
     MaskView mask, ARGUMENT(Z_T) product, Epilogue to) {
  TileRow of(n, rows, mask, to.t.bits);
  const PTR_T* starts = rows.begin + singles.parts * of.unit;
  const PTR_T* ends = rows.end + singles.parts * of.unit;
  place_t tile = 0, stop = 0, most = 0;  // most: entries per range
  if (of.open) {
    tile = (place_t)starts[0], stop = (place_t)ends[0], most = EVERY;
    i64 work = (i64)(stop - tile) * SHARE;
    for (int part = 1; part < (int)singles.parts; ++part) work += (i64)ends[part] - (i64)starts[part];
    if (!of.segment && work > longest) {
      of.hub = !PRESENCE;
      if (of.hub) of.open = 0;
      most = PRESENCE ? (place_t)longest : 0;
      const i64 whole = PRESENCE ? longest / SHARE : 0;
      if ((i64)(stop - tile) > whole) stop = tile + (place_t)whole;
    }
  }
#if KIND == WORDS
  u32 found = hit_rows(tile, stop, of.lane, tiles, u.bits);
#pragma unroll 1
  for (int part = 1; part < (int)singles.parts; ++part)
    found = hit_rest(found, of.open, Range(singles, part, starts, ends, most), of.lane, u.bits);
  end_words(of, found, product, to);
#else
  Sums x;
  sum_tiles(x, tile, stop, of.lane, of.row(), tiles, a, u);
#pragma unroll 1
  for (int part = 1; part < (int)singles.parts; ++part)
    sum_rest(x, of.open, Range(singles, part, starts, ends, most), of.lane, of.tile_row * TILE, a, u);
  end_sums(of, x, product, to);
#endif
}

// Extract a region from tiles.
// Keeps the bits of each tile in rows [row_low, row_high), columns [col_low, col_high) and diagonals column - row in
// [diag_low, diag_high].
// FILL = 0 counts what remains of tile row I: tiles[I + 1], entries[I + 1]. FILL = 1, after a prefix sum of both
// (entries starting at entries[0]), writes the tiles and the rank of the first bit of each. LANES lanes walk the tiles
// of a tile row.
// Arguments: the tiles; the region; tiles, entries: counts per tile row; left_col, left, ranks: output tiles.
#include "formats/b2sr/tile.cuh"
#define WORDS_IN_TILE (TILE == 4 ? 1 : TILE * TILE / 64)
#define ROWS_IN_WORD (TILE == 4 ? 4 : 64 / TILE)

struct Region { i64 row_low, row_high, col_low, col_high, diag_low, diag_high; };

// A limit relative to a tile, clamped to 32 bits.
__device__ __forceinline__ int close(i64 x) { return (int)min(max(x, -256ll), 256ll); }

// Word k of the tile at (top, first), without the bits outside the region.
__device__ __forceinline__ u64 clipped(u64 word, int k, i64 top, i64 first, const Region& in) {
  const int row_low = close(in.row_low - top), row_high = close(in.row_high - top);
  const int col_low = max(close(in.col_low - first), 0), col_high = min(close(in.col_high - first), TILE);
  const int diag_low = close(in.diag_low + top - first), diag_high = close(in.diag_high + 1 + top - first);
  u64 region = 0;
#pragma unroll
  for (int r = 0; r < ROWS_IN_WORD; ++r) {
    const int row = k * ROWS_IN_WORD + r;
    const int low = max(col_low, row + diag_low), high = min(col_high, row + diag_high);
    if (row >= row_low && row < row_high && low < high) region |= ~0ull >> (64 - (high - low)) << (r * TILE + low);
  }
  return word & region;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
clip(i64 n, const PTR_T* ptr, const COL_T* col, const word_t* bits, i64 row_low, i64 row_high, i64 col_low,
     i64 col_high, i64 diag_low, i64 diag_high, i64* tiles, i64* entries, COL_T* left_col, word_t* left,
     PLACE_T* ranks) {
  const Region region = {row_low, row_high, col_low, col_high, diag_low, diag_high};
  const i64 tile_row = thread_number() / LANES, top = tile_row * TILE;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = tile_row < n;
  const i64 begin = inside ? (i64)ptr[tile_row] : 0, stop = inside ? (i64)ptr[tile_row + 1] : 0;
  i64 tile_base = FILL && inside ? tiles[tile_row] : 0, bit_base = FILL && inside ? entries[tile_row] - entries[0] : 0;
  for (i64 tile = begin + lane; __any_sync(ALL_LANES, tile - lane < stop); tile += LANES) {
    u32 total = 0;
    const i64 first = tile < stop ? (i64)col[tile] * TILE : 0;
    for (int k = 0; tile < stop && k < WORDS_IN_TILE; ++k)
      total += __popcll(clipped(bits[tile * WORDS_IN_TILE + k], k, top, first, region));
    const u32 tiles_below = group_sum_below<LANES>(total > 0), bits_below = group_sum_below<LANES>(total);
#if FILL
    if (total) {
      const i64 at = tile_base + tiles_below;
      left_col[at] = col[tile];
      ranks[at] = (PLACE_T)(bit_base + bits_below);
      for (int k = 0; k < WORDS_IN_TILE; ++k)
        left[at * WORDS_IN_TILE + k] = (word_t)clipped(bits[tile * WORDS_IN_TILE + k], k, top, first, region);
    }
#endif
    tile_base += __shfl_sync(ALL_LANES, tiles_below + (total > 0), LANES - 1, LANES);
    bit_base += __shfl_sync(ALL_LANES, bits_below + total, LANES - 1, LANES);
  }
#if !FILL
  (void)left_col, (void)left, (void)ranks;
  if (inside && lane == 0) tiles[tile_row + 1] = tile_base, entries[tile_row + 1] = bit_base;
#endif
}

// Select and measure entries of tiles: a region, those with a flag, the number per tile, and symmetry.
#include "formats/b2sr/tile.cuh"

#ifdef KERNEL_clip
// Extract a region from tiles.
// Keeps the bits of each tile in rows [row_low, row_high), columns [col_low, col_high) and diagonals column - row in
// [diag_low, diag_high].
// FILL = 0 counts what remains of tile row I: tiles[I + 1], entries[I + 1]. FILL = 1, after a prefix sum of both
// (entries starting at entries[0]), writes the tiles and the rank of the first bit of each. LANES lanes walk the tiles
// of a tile row.
// Arguments: the tiles; the region; tiles, entries: counts per tile row; left_col, left, ranks: output tiles.
#define WORDS_IN_TILE (TILE == 4 ? 1 : TILE * TILE / 64)
#define ROWS_IN_WORD (TILE == 4 ? 4 : 64 / TILE)

struct Region {
  i64 row_low, row_high, col_low, col_high, diag_low, diag_high;
};

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
clip(i64 n, const PTR_T* ptr, const COL_T* col, const word_t* bits, Region region, i64* tiles, i64* entries,
     COL_T* left_col, word_t* left, PLACE_T* ranks) {
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
#endif  // KERNEL_clip

#ifdef KERNEL_filter
// Filter entries: clear the bits of entries that are not kept; `some` marks tiles that have any left.
// One thread per tile.
// keep: a flag per entry; left: output bits.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
filter(i64 n, const word_t* bits, const PLACE_T* value_ptr, const u8* keep, word_t* left, u8* some) {
  const i64 tile = thread_number();
  if (tile >= n) return;
  const int words = TILE == 4 ? 1 : TILE * TILE / 64;
  i64 rank = value_ptr[tile];
  bool any = false;
  for (int k = 0; k < words; ++k) {
    u64 word = 0;
    for (u64 rest = bits[tile * words + k]; rest; rest &= rest - 1)
      if (keep[rank++]) word |= rest & (~rest + 1);
    left[tile * words + k] = (word_t)word;
    any = any || word;
  }
  some[tile] = any;
}
#endif  // KERNEL_filter

#ifdef KERNEL_ranks
// Count the bits of each tile. Their prefix sums are the ranks by which values are found.
// counts: output.

extern "C" __global__ void __launch_bounds__(BLOCK, 4) ranks(i64 n, const word_t* bits, i64* counts) {
  const i64 tile = thread_number();
  if (tile >= n) return;
  const int words = TILE == 4 ? 1 : TILE * TILE / 64;
  i64 sum = 0;
  for (int k = 0; k < words; ++k) sum += __popcll(bits[tile * words + k]);
  counts[tile] = sum;
}
#endif  // KERNEL_ranks

#ifdef KERNEL_mirror
// Symmetry test on tiles: per chunk of CHUNK tiles, the hash difference of entries and mirror images.
// Hashes: kernels/views.cuh. A warp takes a chunk; lane r takes row r of a tile.
#include "formats/csr/search.cuh"
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
mirror(i64 n, i64 tile_rows, i64 tiles, const PTR_T* tile_ptr, const COL_T* tile_col, const word_t* bits, u64* sums) {
  const i64 chunk = thread_number() / 32;
  if (chunk >= n) return;
  const i64 end = (chunk + 1) * CHUNK, stop = end < tiles ? end : tiles;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  u64 sum = 0;
  for (i64 tile = chunk * CHUNK + (threadIdx.x & 31) / ROW_LANES; tile < stop; tile += 32 / ROW_LANES) {
    const i64 top = range_of(tile_ptr, tile_rows, tile) * TILE, left = (i64)tile_col[tile] * TILE;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      const int r = lane * LANE_ROWS + k;
      const u64 row = scramble((u64)(top + r));
      for (u64 rest = tile_row_bits(bits, tile, r); rest; rest &= rest - 1)
        sum += unlike_mirror(row, scramble((u64)(left + __ffsll(rest) - 1)));
    }
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if ((threadIdx.x & 31) == 0) sums[chunk] = sum;
}
#endif  // KERNEL_mirror

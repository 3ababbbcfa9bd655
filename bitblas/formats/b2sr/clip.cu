// The bits of each tile that lie in a region: rows [row_low, row_high), columns [col_low, col_high), and diagonals
// column - row in [diag_low, diag_high]; and how many there are. LANES lanes walk the tiles of a tile row.
#include "formats/b2sr/tile.cuh"
#define WORDS_IN_TILE (TILE == 4 ? 1 : TILE * TILE / 64)
#define ROWS_IN_WORD (TILE == 4 ? 4 : 64 / TILE)

// The lowest `count` bits of a row, for any count.
__device__ __forceinline__ u64 low_bits(i64 count) {
  return count <= 0 ? 0ull : count >= 64 ? ~0ull : (1ull << count) - 1;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
clip(i64 n, const PTR_T* ptr, const COL_T* col, const word_t* bits, i64 row_low, i64 row_high, i64 col_low,
     i64 col_high, i64 diag_low, i64 diag_high, word_t* left, i64* count) {
  const i64 tile_row = thread_number() / LANES;
  if (tile_row >= n) return;
  const i64 top = tile_row * TILE;
  for (i64 tile = ptr[tile_row] + (threadIdx.x & (LANES - 1)); tile < ptr[tile_row + 1]; tile += LANES) {
    const i64 first = (i64)col[tile] * TILE;
    i64 total = 0;
    for (int k = 0; k < WORDS_IN_TILE; ++k) {
      u64 region = 0;
      for (int r = 0; r < ROWS_IN_WORD; ++r) {
        const i64 row = top + k * ROWS_IN_WORD + r;
        const i64 low = max(col_low, row + diag_low) - first;
        const i64 high = min(min(col_high, row + diag_high + 1) - first, (i64)TILE);
        if (row >= row_low && row < row_high) region |= (low_bits(high) & ~low_bits(low)) << (r * TILE & 63);
      }
      const u64 word = bits[tile * WORDS_IN_TILE + k] & region;
      left[tile * WORDS_IN_TILE + k] = (word_t)word;
      total += __popcll(word);
    }
    count[tile] = total;
  }
}

// The product of two matrices of tiles, as tiles: C = A B at given tiles, for A by rows and B by columns (the tiles of B'
// by rows). Bit-GraphBLAS, section V, calls the counts bin-bin-sum.
// LANES lanes share a tile (I, J) of C, walk the shorter of tile row I of A and tile row J of B', and search in the
// longer one. Lane r owns row r of the tile, for T = 64 also row r + 32. Each tile column that both have gives AND and
// popcount of row r of A's tile with each row s of B's: position (r, s).
// WORDS: c_bits. COUNT: also count, T * T numbers per tile, in WIDE positions of a row at a time.
#include "formats/b2sr/tile.cuh"
#include "kernels/views.cuh"
#define WORDS 0
#define COUNT 1
#define WIDE (KIND == COUNT && TILE > 16 ? 512 / TILE : TILE)  // positions of a row per walk

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    mxm(i64 n, const CPTR_T* c_ptr, i64 c_rows, const CCOL_T* c_col, const PTR_T* a_ptr, const COL_T* a_col,
        const word_t* a_bits, const BPTR_T* b_ptr, const BCOL_T* b_col, const word_t* b_bits, i64 columns,
        word_t* c_bits, int* count) {
  (void)columns, (void)count;
  const i64 tile = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1), group = threadIdx.x & 31 & ~(LANES - 1);
  const bool inside = tile < n;
  const i64 top = row_of_warp(c_ptr, c_rows, min((thread_number() & ~31ll) / LANES, n - 1));
  const i64 I = inside ? row_from(c_ptr, top, c_rows, tile) : 0, J = inside ? (i64)c_col[tile] : 0;
  const i64 a_begin = inside ? a_ptr[I] : 0, a_end = inside ? a_ptr[I + 1] : 0;
  const i64 b_begin = inside ? b_ptr[J] : 0, b_end = inside ? b_ptr[J + 1] : 0;
  const bool by_a = a_end - a_begin <= b_end - b_begin;
  const i64 start = by_a ? a_begin : b_begin, stop = by_a ? a_end : b_end, longer_end = by_a ? b_end : a_end;
  u64 found[LANE_ROWS];
#pragma unroll
  for (int own = 0; own < LANE_ROWS; ++own) found[own] = 0;
  for (int first = 0; first < TILE; first += WIDE) {
    int sums[KIND == COUNT ? LANE_ROWS * WIDE : 1];
    if (KIND == COUNT) {
#pragma unroll
      for (int s = 0; s < LANE_ROWS * WIDE; ++s) sums[s] = 0;
    }
    i64 low = by_a ? b_begin : a_begin;
    for (i64 p = start + lane; __any_sync(ALL_LANES, p - lane < stop); p += LANES) {
      bool hit = false;
      if (p < stop) {
        const i64 k = by_a ? (i64)a_col[p] : (i64)b_col[p];
        i64 high = longer_end;
        while (low < high) {
          const i64 middle = (low + high) >> 1;
          if ((by_a ? (i64)b_col[middle] : (i64)a_col[middle]) < k) low = middle + 1;
          else high = middle;
        }
        hit = low < longer_end && (by_a ? (i64)b_col[low] : (i64)a_col[low]) == k;
      }
      const i64 my_x = by_a ? p : low, my_y = by_a ? low : p;
      u32 hits = (__ballot_sync(ALL_LANES, hit) & group_mask<LANES>()) >> group;
      for (; __any_sync(ALL_LANES, hits != 0); hits &= hits - 1) {
        const int from = hits ? __ffs(hits) - 1 : 0;
        const i64 x = __shfl_sync(ALL_LANES, my_x, from, LANES), y = __shfl_sync(ALL_LANES, my_y, from, LANES);
        if (!hits) continue;
#pragma unroll
        for (int own = 0; own < LANE_ROWS; ++own) {
          const u64 row = tile_row_bits(a_bits, x, lane + own * 32);
#pragma unroll
          for (int s = 0; s < WIDE; ++s) {
            const u64 common = row & tile_row_bits(b_bits, y, first + s);
            if (KIND == COUNT) sums[own * WIDE + s] += __popcll(common);
            else found[own] |= (u64)(common != 0) << s;
          }
        }
      }
    }
    if (KIND == COUNT && inside) {
#pragma unroll
      for (int own = 0; own < LANE_ROWS; ++own) {
#pragma unroll
        for (int s = 0; s < WIDE; ++s) {
          const int sum = sums[own * WIDE + s];
          count[(tile * TILE + lane + own * 32) * TILE + first + s] = sum;
          found[own] |= (u64)(sum != 0) << (first + s);
        }
      }
    }
  }
#if TILE == 4
  u32 bits = (u32)found[0] << (4 * lane);
  bits |= __shfl_xor_sync(ALL_LANES, bits, 1);
  bits |= __shfl_xor_sync(ALL_LANES, bits, 2);
  if (inside && lane == 0) c_bits[tile] = (word_t)bits;
#else
#pragma unroll
  for (int own = 0; own < LANE_ROWS; ++own)
    if (inside) ((row_t*)c_bits)[tile * TILE + lane + own * 32] = (row_t)found[own];
#endif
}

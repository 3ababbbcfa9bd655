// c = the dot products of rows of A and rows of B (B' by rows) at the bits of a mask, tile by tile: LANES lanes share a
// mask tile (I, J), walk the shorter of tile rows I of A and J of B, and search in the longer one. A common tile column
// adds popcount(row r of A's tile AND row s of B's tile) to every mask bit (r, s).
// Sums go to the place of the mask's entry; lanes add theirs in turns, so that the order is fixed.
#include "formats/b2sr/tile.cuh"
#include "kernels/product.cuh"

__device__ __forceinline__ i64 rank_in(const word_t* bits, i64 tile, int r, int c) {
  i64 rank = __popcll(tile_row_bits(bits, tile, r) & ((1ull << c) - 1));
  for (int above = 0; above < r; ++above) rank += __popcll(tile_row_bits(bits, tile, above));
  return rank;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2)
dot(i64 n, const i64* tile_rows, const COL_T* tile_cols, const word_t* m_bits, const PLACE_T* m_ranks, const PTR_T* a_ptr,
    const COL_T* a_col, const word_t* a_bits, const PLACE_T* a_ranks, const A_T* a_val, A_T a_iso, i64 a_step,
    const PTR_T* b_ptr, const COL_T* b_col, const word_t* b_bits, const PLACE_T* b_ranks, const B_T* b_val, B_T b_iso,
    i64 b_step, i64 inner, Z_T product, u8* present, Z_T* sums) {
  (void)inner;
  const i64 tile = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = tile < n;
  const i64 I = inside ? tile_rows[tile] : 0, J = inside ? (i64)tile_cols[tile] : 0;
  const i64 a = inside ? (i64)a_ptr[I] : 0, a_end = inside ? (i64)a_ptr[I + 1] : 0;
  const i64 b = inside ? (i64)b_ptr[J] : 0, b_end = inside ? (i64)b_ptr[J + 1] : 0;
  const bool by_a = a_end - a <= b_end - b;
  const COL_T* near = by_a ? a_col : b_col;
  const COL_T* far = by_a ? b_col : a_col;
  const i64 start = by_a ? a : b, stop = by_a ? a_end : b_end, far_start = by_a ? b : a, far_end = by_a ? b_end : a_end;
  i64 entry = inside ? (i64)m_ranks[tile] : 0;
  for (int r = 0; r < TILE; ++r) {
    u64 rest = inside ? tile_row_bits(m_bits, tile, r) : 0;
    while (__any_sync(ALL_LANES, rest != 0)) {
      const int s = rest ? __ffsll(rest) - 1 : 0;
      const bool active = rest != 0;
      bool some = false;
      Z_T sum = IDENTITY;
      i64 count = 0, low = far_start;
      for (i64 p = start + lane; active && p < stop; p += LANES) {
        const COL_T k = near[p];
        i64 high = far_end;
        while (low < high) {
          const i64 middle = (low + high) >> 1;
          if (far[middle] < k) low = middle + 1;
          else high = middle;
        }
        if (low == far_end) break;
        if (far[low] != k) continue;
        const i64 x = by_a ? p : low, y = by_a ? low : p;
        const u64 common = tile_row_bits(a_bits, x, r) & tile_row_bits(b_bits, y, s);
        if (KIND == VALUES) {
          for (u64 bits = common; bits; bits &= bits - 1) {
            const int c = __ffsll(bits) - 1;
            const A_T left = a_step ? a_val[a_ranks[x] + rank_in(a_bits, x, r, c)] : a_iso;
            const B_T right = b_step ? b_val[b_ranks[y] + rank_in(b_bits, y, s, c)] : b_iso;
            join(some, sum, true, mul(left, right, I * TILE + r, (i64)k * TILE + c, J * TILE + s));
          }
          if (is_final(some, sum)) break;
        } else {
          count += __popcll(common);
          if (KIND == WORDS && count) break;
        }
      }
      if (KIND == VALUES) {
        join_lanes(some, sum, 1);
      } else {
#pragma unroll
        for (int d = LANES / 2; d; d >>= 1) count += shuffle_xor(ALL_LANES, count, d);
        some = count > 0;
        if (some && KIND == COUNT) sum = repeated(product, count);
      }
      if (active && lane == 0) {
        present[entry] = some;
        if (KIND != WORDS) sums[entry] = sum;
      }
      entry += active;
      rest &= rest - 1;
    }
  }
}

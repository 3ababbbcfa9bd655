// t = A (+).(x) u by tile rows: LANES lanes share a tile row. WORDS works on whole words of tiles: spread the T bits of
// u over the rows of a word, AND, OR over the tiles, fold each row to a bit. COUNT and VALUES give each lane a row.
#include "formats/b2sr/tile.cuh"
#include "kernels/product.cuh"

#if TILE == 4
#define SPREAD 0x1111ull
#define WORD_ROWS 4
#define TILE_WORDS 1
#else
#define SPREAD (TILE == 8 ? 0x0101010101010101ull : TILE == 16 ? 0x0001000100010001ull : TILE == 32 ? 0x100000001ull : 1ull)
#define WORD_ROWS (64 / TILE)              // rows in a word
#define TILE_WORDS (TILE * TILE / 64)
#endif
#define WORD_LANES (TILE_WORDS < 32 ? TILE_WORDS : 32)  // lanes that share a tile
#define UNROLL (TILE < 16 ? 3 : TILE == 16 ? 2 : 1)      // tiles that a lane loads at once (measured for T = 8)
#define LANE_WORDS (TILE_WORDS / WORD_LANES)            // words of a tile per lane: 2 for T = 64
#define ROW_MASK (TILE == 64 ? ~0ull : (1ull << (TILE & 63)) - 1)

// Bit r of the result: whether row r of the word has a bit. The carry of an addition gathers each row in its top bit;
// 32-bit arithmetic throughout, because the instructions, not the bytes, bound this kernel.
__device__ __forceinline__ u32 tops(u32 half, u32 low) { return (half | ((half & low) + low)) & ~low; }
__device__ __forceinline__ u32 fold_rows(u64 word) {
  const u32 lo = (u32)word;
#if TILE > 4
  const u32 hi = (u32)(word >> 32);
#endif
#if TILE == 4
  const u32 t = tops(lo, 0x7777u) & 0x8888u;
  return (t >> 3 & 1u) | (t >> 6 & 2u) | (t >> 9 & 4u) | (t >> 12 & 8u);
#elif TILE == 8
  return (tops(lo, 0x7f7f7f7fu) >> 7) * 0x10204080u >> 28 | ((tops(hi, 0x7f7f7f7fu) >> 7) * 0x10204080u >> 24 & 0xf0u);
#elif TILE == 16
  const u32 a = tops(lo, 0x7fff7fffu), b = tops(hi, 0x7fff7fffu);
  return (a >> 15 & 1u) | (a >> 30 & 2u) | (b >> 13 & 4u) | (b >> 28 & 8u);
#elif TILE == 32
  return (u32)(lo != 0) | (u32)(hi != 0) << 1;
#else
  return (u32)((lo | hi) != 0);
#endif
}

__device__ __forceinline__ u64 or_lanes(u64 x, int from, int to) {
#pragma unroll
  for (int d = 16; d; d >>= 1)
    if (d < to && d >= from) x |= __shfl_xor_sync(ALL_LANES, x, d);
  return x;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_step, const COL_T* col,
     const word_t* bits, const PLACE_T* value_ptr, const A_T* a_val, A_T a_iso, i64 a_step, const u64* u_bits,
     const STORED(U_T)* u_val, U_T u_iso, i64 u_step, const u64* mask, i64 mask_step, u64 mask_flip, Z_T product,
     u64* t_bits, STORED(Z_T)* t_val) {
  const i64 tile_row = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = tile_row < n;
  // Whole words of t are written, so that it need not be cleared before: padding units write zeros.
  const bool in_words = tile_row < (n + 64 / TILE - 1) / (64 / TILE) * (64 / TILE);
  const u64 open = inside ? (mask_step ? tile_bits(mask, tile_row) : 0ull) ^ (mask_flip & ROW_MASK) : 0ull;
  i64 tile = 0, stop = 0;
  if (open) {
    tile = begin[tile_row];
    stop = end[tile_row];
    if (stop - tile > longest) stop = tile;  // a hub: its segments are rows of another launch
  }
#if KIND == WORDS
  // UNROLL tiles of a lane are loaded before the first is used; where they run out, the last one is ORed in again.
  u64 acc[LANE_WORDS];
#pragma unroll
  for (int k = 0; k < LANE_WORDS; ++k) acc[k] = 0;
  const int word = lane & (WORD_LANES - 1);
  const PTR_T last = (PTR_T)stop - 1;
  for (PTR_T t = (PTR_T)tile + lane / WORD_LANES; t <= last; t += UNROLL * (LANES / WORD_LANES)) {
    u64 u[UNROLL], w[UNROLL][LANE_WORDS];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const PTR_T next = t + i * (LANES / WORD_LANES), at = next < last ? next : last;
      u[i] = U_FULL ? ~0ull : (u64)col[at];
#pragma unroll
      for (int k = 0; k < LANE_WORDS; ++k) w[i][k] = bits[(i64)at * TILE_WORDS + word + k * WORD_LANES];
    }
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      if (!U_FULL) u[i] = tile_bits(u_bits, (i64)u[i]) * SPREAD;
#pragma unroll
      for (int k = 0; k < LANE_WORDS; ++k) acc[k] |= w[i][k] & u[i];
    }
  }
#if TILE == 64
  u64 rows = (u64)fold_rows(acc[0]) << word | (u64)fold_rows(acc[1]) << (word + 32);
#else
  u32 rows = fold_rows(acc[0]) << (word * WORD_ROWS);
#endif
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) rows |= shuffle_xor(ALL_LANES, rows, d);
  write_bits<TILE>(t_bits, tile_row, rows & open, in_words);
#else
  const int row_lane = lane & (ROW_LANES - 1);
  const i64 row = (row_step && inside ? row_of[tile_row] : tile_row) * TILE + row_lane * LANE_ROWS;
  bool some[LANE_ROWS];
  Z_T sum[LANE_ROWS];
  i64 count[LANE_ROWS];
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) some[k] = false, sum[k] = IDENTITY, count[k] = 0;
  for (tile += lane / ROW_LANES; tile < stop; tile += LANES / ROW_LANES) {
    const i64 left = (i64)col[tile] * TILE;
    const u64 u = U_FULL ? ~0ull : tile_bits(u_bits, col[tile]);
    u64 mine[LANE_ROWS];
    u32 entries = 0;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) mine[k] = tile_row_bits(bits, tile, row_lane * LANE_ROWS + k), entries += __popcll(mine[k]);
    i64 rank = RANKED ? (i64)value_ptr[tile] + group_sum_below<ROW_LANES>(entries) : 0;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      if (KIND == COUNT) {
        count[k] += __popcll(mine[k] & u);
      } else {
        if (!is_final(some[k], sum[k]))
          for (u64 rest = mine[k] & u; rest; rest &= rest - 1) {
            const int c = __ffsll(rest) - 1;
            const A_T a = RANKED ? a_val[rank + __popcll(mine[k] & ((1ull << c) - 1))] : a_iso;
            join(some[k], sum[k], true, mul(a, load<U_T>(u_val, u_iso, u_step, left + c), row + k, left + c));
          }
        rank += __popcll(mine[k]);
      }
    }
  }
  u64 rows = 0;
#if Z_BOOL
  u64 truths = 0;
#endif
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    if (KIND == COUNT) {
#pragma unroll
      for (int d = LANES / 2; d >= ROW_LANES; d >>= 1) count[k] += shuffle_xor(ALL_LANES, count[k], d);
      some[k] = count[k] > 0;
      if (some[k]) sum[k] = repeated(product, count[k]);
    } else {
      join_lanes(some[k], sum[k], ROW_LANES);
    }
    const int r = row_lane * LANE_ROWS + k;
    some[k] = some[k] && (open >> r & 1);
    rows |= (u64)some[k] << r;
#if Z_BOOL
    truths |= (u64)(some[k] && sum[k]) << r;
#else
    if (some[k] && lane < ROW_LANES) t_val[tile_row * TILE + r] = sum[k];
#endif
  }
  write_bits<TILE>(t_bits, tile_row, or_lanes(rows, 1, ROW_LANES), in_words);
#if Z_BOOL
  write_bits<TILE>(t_val, tile_row, or_lanes(truths, 1, ROW_LANES), in_words);
#endif
#endif
}

// The tiles of a tile row, gone through by LANES lanes. WORDS works on whole words of tiles: spread the T bits of u over
// the rows of a word, AND, OR over the tiles, fold each row to a bit. COUNT and VALUES give each lane a row.
#include "kernels/values.cuh"
#include "formats/b2sr/columns.cuh"
#include "kernels/ending.cuh"

typedef PLACE(PTR_T) place_t;

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
#define SPREADS (KIND == VALUES && TILE <= 8 && !RANKED && HAS_TERMINAL != 2)
#define BATCH (64 / TILE)  // tiles whose bits in one row make a word
#define AHEAD (HAS_TERMINAL == 2 ? 1 : SPREADS ? TILES_AHEAD : 2)  // products, or tiles, that a lane loads at once
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

#if KIND == WORDS
#if TILE == 64
typedef u64 rows_t;
#else
typedef u32 rows_t;
#endif
// The rows that have a hit, one bit each; all lanes of the group get them.
__device__ __forceinline__ rows_t hit_rows(place_t tile, place_t stop, int lane, const TileColumns& col,
                                           const word_t* bits, const u64* u_bits) {
  // UNROLL tiles of a lane are loaded before the first is used; where they run out, the last one is ORed in again.
  u64 acc[LANE_WORDS];
#pragma unroll
  for (int k = 0; k < LANE_WORDS; ++k) acc[k] = 0;
  const int word = lane & (WORD_LANES - 1);
  const place_t last = stop - 1;
  for (tile += lane / WORD_LANES; tile < stop; tile += UNROLL * (LANES / WORD_LANES)) {
    u64 u[UNROLL], w[UNROLL][LANE_WORDS];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const place_t next = tile + i * (LANES / WORD_LANES), at = next < last ? next : last;
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
  rows_t rows = (u64)fold_rows(acc[0]) << word | (u64)fold_rows(acc[1]) << (word + 32);
#else
  rows_t rows = fold_rows(acc[0]) << (word * WORD_ROWS);
#endif
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) rows |= shuffle_xor(ALL_LANES, rows, d);
  return rows;
}
#else
// The sums of the rows that a lane has.
struct Sums {
  bool some[LANE_ROWS];
  Z_T sum[LANE_ROWS];
  i64 count[LANE_ROWS];
};

// row: the lane's first.
__device__ __forceinline__ void sum_tiles(Sums& of, place_t tile, place_t stop, int lane, i64 row,
                                          const TileColumns& col, const word_t* bits, const PLACE_T* value_ptr,
                                          const Values& values, A_T a_iso, const u64* u_bits, const STORED(U_T)* u_val,
                                          U_T u_iso, i64 u_step) {
  const int row_lane = lane & (ROW_LANES - 1);
  (void)row, (void)row_lane;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) of.some[k] = false, of.sum[k] = SPREADS ? BEGIN : IDENTITY, of.count[k] = 0;
#if RANKED
  for (tile += lane / ROW_LANES; tile < stop; tile += LANES / ROW_LANES) {
    const i64 left = (i64)col[tile] * TILE;
    const u64 u = U_FULL ? ~0ull : tile_bits(u_bits, col[tile]);
    u64 mine[LANE_ROWS];
    u32 entries = 0;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) mine[k] = tile_row_bits(bits, tile, row_lane * LANE_ROWS + k), entries += __popcll(mine[k]);
    i64 rank = (i64)value_ptr[tile] + group_sum_below<ROW_LANES>(entries);
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      if (!is_final(of.some[k], of.sum[k]))
        for (u64 rest = mine[k] & u; rest; rest &= rest - 1) {
          const int c = __ffsll(rest) - 1;
          const A_T a = values[rank + __popcll(mine[k] & ((1ull << c) - 1))];
          join(of.some[k], of.sum[k], true, mul(a, load<U_T>(u_val, u_iso, u_step, left + c), row + k, left + c));
        }
      rank += __popcll(mine[k]);
    }
  }
#elif SPREADS
  // A lane loads u at its column of a tile, hands it to the other rows and sums its own: no load waits for a bit to be
  // found. BEGIN is neutral.
  for (tile += lane / ROW_LANES; __any_sync(ALL_LANES, tile < stop); tile += AHEAD * (LANES / ROW_LANES)) {
    u32 mine[AHEAD];
    col_t J[AHEAD];
    U_T x[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const place_t at = tile + i * (LANES / ROW_LANES);
      J[i] = at < stop ? col[at] : 0;
      mine[i] = at < stop ? (u32)tile_row_bits(bits, at, row_lane) : 0u;
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      u32 u = tile + i * (LANES / ROW_LANES) < stop ? (u32)ROW_MASK : 0u;
      if (!U_FULL || PADDED) u = u ? (u32)tile_bits(u_bits, J[i]) : 0u;  // padding of u is not there to be read
      mine[i] &= u;
      x[i] = u >> row_lane & 1 ? load<U_T>(u_val, u_iso, u_step, (i64)J[i] * TILE + row_lane) : U_T();
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (i && !__any_sync(ALL_LANES, mine[i])) continue;
      of.some[0] = of.some[0] || mine[i];
#pragma unroll
      for (int c = 0; c < TILE; ++c) {
        const U_T y = shuffle_from<ROW_LANES>(x[i], c);
        if (mine[i] >> c & 1) of.sum[0] = add(of.sum[0], mul(a_iso, y, row, (i64)J[i] * TILE + c));
      }
    }
  }
#else
  // A lane gathers its row of BATCH tiles into one word, so that no load waits for another, and walks the word's bits.
  for (tile += lane / ROW_LANES * BATCH; tile < stop; tile += LANES / ROW_LANES * BATCH) {
    u64 u = U_FULL ? ~0ull : 0ull, mine[LANE_ROWS];
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) mine[k] = 0;
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      if (tile + i >= stop) continue;
      if (!U_FULL) u |= tile_bits(u_bits, col[tile + i]) << (i * TILE);
#pragma unroll
      for (int k = 0; k < LANE_ROWS; ++k)
        mine[k] |= tile_row_bits(bits, tile + i, row_lane * LANE_ROWS + k) << (i * TILE);
    }
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
#if KIND == COUNT
      of.count[k] += __popcll(mine[k] & u);
#else
      for (u64 rest = mine[k] & u; rest && !is_final(of.some[k], of.sum[k]);) {
        i64 j[AHEAD];
        U_T x[AHEAD];
        bool has[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
          has[i] = rest != 0;
          const int c = has[i] ? __ffsll(rest) - 1 : 0;
          rest &= rest - 1;
          j[i] = (i64)col[tile + (c >> LOG_TILE)] * TILE + (c & (TILE - 1));
          x[i] = has[i] ? load<U_T>(u_val, u_iso, u_step, j[i]) : U_T();
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i)
          if (has[i] && !is_final(of.some[k], of.sum[k])) join(of.some[k], of.sum[k], true, mul(a_iso, x[i], row + k, j[i]));
      }
#endif
    }
  }
#endif
}
#endif

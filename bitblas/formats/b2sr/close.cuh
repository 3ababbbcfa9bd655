// Epilogue of a tile row: mask, accumulator and `replace`, applied once after all of its parts (kernels/ending.cuh).
#include "formats/b2sr/walk.cuh"

struct Output {
  i64 n, unit;
  int lane;
  bool inside, hub;  // hub: its segments are processed by another launch, and its rows stay unchanged
  rows_t open;       // the rows that the mask allows; none for a hub
  const u64* w_bits;
  const STORED(W_T)* w_val;
  W_T w_iso;
  i64 w_stride, moved, replace;
  u64* t_bits;
  STORED(W_T)* t_val;

  __device__ __forceinline__ Ending end_row(int r, bool some, Z_T sum) const {
    return finish(unit * TILE + r, open >> r & 1, some, sum, w_bits, w_val, w_iso, w_stride, moved,
                  hub ? 0 : replace, t_val);
  }
};

#if KIND == WORDS
// T bits of a word that other threads also write.
__device__ __forceinline__ void or_bits(u64* bits, i64 tile_row, u64 value) {
  const i64 place = tile_row * TILE;
  if (TILE == 64) atomicOr(bits + (place >> 6), value);
  else atomicOr((u32*)bits + (place >> 5), (u32)value << (place & 31));
}

// segment: presence only; sets missing bits and clears none.
__device__ __forceinline__ void end_words(const Output& to, i64 tile_row, rows_t rows, bool segment, Z_T product) {
#if PRESENCE
  rows_t news = rows & to.open;
  if (segment) {
    if (news && to.lane == 0) or_bits(to.t_bits, tile_row, news);
    return;
  }
#if MERGE
  const rows_t had = to.inside ? (rows_t)tile_bits_now(to.w_bits, tile_row) : 0;
  news |= had & (ACCUM ? (to.replace ? to.open : ~(rows_t)0) : to.replace ? 0 : ~to.open);
#endif
  write_bits<TILE>(to.t_bits, to.n, to.unit, news);
#else
  u64 present = 0;
#if W_BOOL
  u64 truths = 0;
#endif
  for (int r = to.lane; r < TILE; r += LANES) {
    if (!to.inside) break;
    const Ending done = to.end_row(r, rows >> r & 1, product);
    present |= (u64)done.present << r;
#if W_BOOL
    truths |= (u64)done.value << r;
#endif
  }
  write_bits<TILE>(to.t_bits, to.n, to.unit, or_lanes(present, 1, LANES));
#if W_BOOL
  write_bits<TILE>(to.t_val, to.n, to.unit, or_lanes(truths, 1, LANES));
#endif
#endif
}
#else
// Bit r of the result: the vote of the lane that has row r. Bit k of `yes` is for its k-th row.
__device__ __forceinline__ u64 rows_where(u32 yes, int lane) {
#if LANE_ROWS == 1
  return __ballot_sync(ALL_LANES, yes) >> (threadIdx.x & 31 & ~(LANES - 1)) & ROW_MASK;
#else
  return or_lanes((u64)yes << (lane * LANE_ROWS & 63), 1, ROW_LANES);
#endif
}

__device__ __forceinline__ void end_sums(const Output& to, Sums& of, Z_T product) {
  u32 present = 0;
#if W_BOOL
  u32 truths = 0;
#endif
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    if (KIND == COUNT) {
#pragma unroll
      for (int d = LANES / 2; d >= ROW_LANES; d >>= 1) of.count[k] += shuffle_xor(ALL_LANES, of.count[k], d);
      of.some[k] = of.count[k] > 0;
      if (of.some[k]) of.sum[k] = repeated(product, of.count[k]);
    } else {
      join_lanes(of.some[k], of.sum[k], ROW_LANES);
    }
    if (!to.inside || to.lane >= ROW_LANES) continue;
    const Ending done = to.end_row(to.lane * LANE_ROWS + k, of.some[k], of.sum[k]);
    present |= (u32)done.present << k;
#if W_BOOL
    truths |= (u32)done.value << k;
#endif
  }
  write_bits<TILE>(to.t_bits, to.n, to.unit, rows_where(present, to.lane));
#if W_BOOL
  write_bits<TILE>(to.t_val, to.n, to.unit, rows_where(truths, to.lane));
#endif
}
#endif

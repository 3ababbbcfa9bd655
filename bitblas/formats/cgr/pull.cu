// Pull SpMV on CGR rows: w<mask, accum, replace> = A (+).(x) u.
// LANES lanes read the segments of a row and stop at a terminal value.
// begin: heads of groups of rows; for parts of long rows (row_stride 1), marks. `longest` is in words. For presence or
// counts, an interval is a range test on u.
#include "kernels/pull_rows.cuh"
#include "formats/cgr/walk.cuh"

#if KIND == VALUES
// Add the intervals of lanes to their sums. Long ones are shared by all lanes of the warp, in an order that depends
// only on the length.
#define LONG 64
__device__ __forceinline__ void take_ranges(const Found& found, Sum& x, const Values& a, i64 row,
                                            const VectorView<U_T>& u) {
  const u32 lane = threadIdx.x & 31;
  u32 longs = __ballot_sync(ALL_LANES, found.length >= LONG);
  for (; longs; longs &= longs - 1) {
    const int owner = __ffs(longs) - 1;
    const u32 from = __shfl_sync(ALL_LANES, found.from, owner), length = __shfl_sync(ALL_LANES, found.length, owner);
    const i64 e = __shfl_sync(ALL_LANES, found.entry, owner), i = __shfl_sync(ALL_LANES, row, owner);
    Sum share = {false, IDENTITY, 0};
    for (u32 k = lane; k < length && !share.done(); k += 32) {
      bool has[1] = {true};
      const u32 j[1] = {from + k};
      share.take(has, j, [&](int) { return RANKED ? a.at(e + k) : a.iso; }, a.iso, i, u);
    }
#pragma unroll
    for (int d = 16; d; d >>= 1) {
      const bool other = shuffle_xor(ALL_LANES, share.some, d);
      const Z_T z = shuffle_xor(ALL_LANES, share.sum, d);
      join(share.some, share.sum, other, z);
    }
    if (lane == (u32)owner && !x.done()) join(x.some, x.sum, share.some, share.sum);
  }
  if (found.length >= LONG) return;
  for (u32 k = 0; k < found.length && !x.done(); k += TAKEN) {
    bool has[TAKEN];
    u32 j[TAKEN];
#pragma unroll
    for (int s = 0; s < TAKEN; ++s) has[s] = k + s < found.length, j[s] = found.from + k + s;
    x.take(has, j, [&](int s) { return RANKED ? a.at(found.entry + k + s) : a.iso; }, a.iso, row, u);
  }
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, KIND == VALUES && sizeof(Z_T) > 4 ? 3 : 4)
pull(i64 n, i64 longest, RowsView<i64> rows, const u32* words,
     i64 segment, const PLACE_T* value_ptr, Values a, VectorView<U_T> u, MaskView mask, ARGUMENT(Z_T) product,
     Epilogue to) {
  Row of(n, rows, mask, to.t.bits);
  typedef Walk<LANES, RANKED, true> Lanes;
  Lanes walk;
  if (of.open) {
    const i64 number = RANKED ? (i64)value_ptr[of.row] : 0;
    if (rows.row_stride) {
      walk = Lanes(words, rows.begin + MARK * of.unit, segment, of.row, number, of.lane);
    } else {
      Extent x = row_extent(rows.begin, words, of.row);
      // Presence is searched in the segments of a hub; they set the bit themselves.
      if (words_of(x) > longest) of.hub = !PRESENCE, x.end = x.at;
      walk = Lanes(words, x, segment, of.row, number, of.lane);
    }
  }
  (void)a;
  Sum x = {false, IDENTITY, 0};
#if KIND == WORDS && U_FULL
  if (of.open) {  // a part belongs to a nonempty row
    const Extent all = rows.row_stride ? Extent{0, 1} : row_extent(rows.begin, words, of.row);
    x.some = all.at < all.end;
  }
#else
  while (__any_sync(ALL_LANES, walk.more())) {
    Found found;
    walk.step(words, of.lane, found);
#if KIND == WORDS
    x.some = x.some || (found.length && any_in(u.bits, found.from, found.length));
#elif KIND == VALUES
    take_ranges(found, x, a, of.row, u);
#else
    x.count += U_FULL ? (i64)found.length : count_in(u.bits, found.from, found.length);
#endif
    x.take(found.has, found.at, [&](int k) { return RANKED ? a.at(found.entry + k) : a.iso; }, a.iso, of.row, u);
#if KIND == WORDS || (KIND == VALUES && HAS_TERMINAL)
    if (LANES == 1 ? x.done() : (__ballot_sync(ALL_LANES, x.done()) & group_mask<LANES>()) != 0) walk.stop();
#endif
  }
#endif
  end_row(of, x, product, to);
}

// Pull SpMV on nibble rows: w<mask, accum, replace> = A (+).(x) u.
// LANES lanes decode a row together and stop at a terminal value. For presence only, one lane decodes AT_ONCE values
// at a time until it has a hit.
// begin: heads of groups of rows; for segments of long rows (row_stride 1), marks, and `end` the end of each.
// `longest` is in words, as a lane reads them.
#include "kernels/pull_rows.cuh"
#include "formats/nib/walk.cuh"
#define AT_ONCE 4

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, const i64* begin, const i64* end, const i64* row_of, i64 row_stride, const u32* words,
     const PLACE_T* value_ptr, const value_t* a_val, A_T a_iso, i64 a_stride, const u64* u_bits,
     const STORED(U_T)* u_val, U_T u_iso, i64 u_stride, const u64* mask, i64 mask_stride, u64 mask_invert, Z_T product,
     const u64* w_bits, const STORED(W_T)* w_val, W_T w_iso, i64 w_stride, i64 moved, i64 replace, u64* t_bits,
     STORED(W_T)* t_val) {
  Row of(n, row_of, row_stride, mask, mask_stride, mask_invert, t_bits);
#if KIND == WORDS
  Scan walk;
#else
  Walk<LANES, RANKED> walk;
#endif
  if (of.open) {
    const i64 number = RANKED ? (i64)value_ptr[of.row] : 0;
    if (row_stride) {
      walk = decltype(walk)(begin + 3 * of.unit, end[of.unit], number);
    } else {
      Extent x = row_extent(begin, words, of.row);
      if (words_of(x) > longest) of.hub = !PRESENCE, x.end = PRESENCE ? x.at + 8 * longest : x.at;
      walk = decltype(walk)(x, of.row, number);
    }
  }
  const Values values = {a_val, a_iso, a_stride};
  (void)values;
  Sum x = {false, IDENTITY, 0};
#if KIND == WORDS && U_FULL
  x.some = walk.more();
#elif KIND == WORDS
  while (walk.more() && !x.some) {
    bool has[AT_ONCE];
    u32 j[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      has[k] = walk.more();
      j[k] = has[k] ? walk.next(words) : 0;
    }
    x.take(has, j, [&](int) { return a_iso; }, a_iso, of.row, u_bits, u_val, u_iso, u_stride);
  }
#else
  while (__any_sync(ALL_LANES, walk.more())) {
    Found found;
    walk.step(words, of.lane, found);
    bool has[COMPLETED];
    u32 j[COMPLETED];
#pragma unroll
    for (int k = 0; k < COMPLETED; ++k) {
      has[k] = found.has(k);
      j[k] = found.at(k);
    }
    x.take(has, j, [&](int k) { return RANKED ? values.at(found.number(k)) : a_iso; }, a_iso, of.row, u_bits, u_val, u_iso,
           u_stride);
#if KIND == VALUES && HAS_TERMINAL
    if (LANES == 1 ? x.done() : (__ballot_sync(ALL_LANES, x.done()) & group_mask<LANES>()) != 0) walk.stop();
#endif
  }
#endif
  end_row(of, x, product, w_bits, w_val, w_iso, w_stride, moved, replace, t_bits, t_val);
}

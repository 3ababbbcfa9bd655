// Pull SpMV on nibble rows: w<mask, accum, replace> = A (+).(x) u.
// LANES lanes decode a row together and stop at a terminal value. For presence only, one lane decodes AT_ONCE values
// at a time until it has a hit.
// begin: heads of groups of rows; for segments of long rows (row_stride 1), marks, and `end` the end of each.
// `longest` is in words, as a lane reads them.
#include "kernels/pull_rows.cuh"
#include "formats/nib/walk.cuh"
#define AT_ONCE 4

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, RowsView<i64> rows, const u32* words,
     const PLACE_T* value_ptr, Values a, VectorView<U_T> u, MaskView mask, ARGUMENT(Z_T) product,
     Epilogue to) {
  Row of(n, rows, mask, to.t.bits);
#if KIND == WORDS
  Scan walk;
#else
  Walk<LANES, RANKED> walk;
#endif
  if (of.open) {
    const i64 number = RANKED ? (i64)value_ptr[of.row] : 0;
    if (rows.row_stride) {
      walk = decltype(walk)(rows.begin + 3 * of.unit, rows.end[of.unit], number);
    } else {
      Extent x = row_extent(rows.begin, words, of.row);
      if (words_of(x) > longest) of.hub = !PRESENCE, x.end = PRESENCE ? x.at + 8 * longest : x.at;
      walk = decltype(walk)(x, of.row, number);
    }
  }
  (void)a;
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
    x.take(has, j, [&](int) { return a.iso; }, a.iso, of.row, u);
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
    x.take(has, j, [&](int k) { return RANKED ? a.at(found.number(k)) : a.iso; }, a.iso, of.row, u);
#if KIND == VALUES && HAS_TERMINAL
    if (LANES == 1 ? x.done() : (__ballot_sync(ALL_LANES, x.done()) & group_mask<LANES>()) != 0) walk.stop();
#endif
  }
#endif
  end_row(of, x, product, to);
}

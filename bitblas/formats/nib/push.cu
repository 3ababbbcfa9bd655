// Push SpMV on nibble rows: t = A' (+).(x) u along the rows where u has an entry. LANES lanes decode a row together.
#include "kernels/product.cuh"
#include "formats/nib/walk.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, RowsView<i64> rows, const u32* words, const PLACE_T* value_ptr, Values a, VectorView<U_T> u,
     MaskView mask, ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const i64 row = rows.row_stride && unit < n ? rows.row_of[unit] : unit;
  Walk<LANES, RANKED> walk;
  if (unit < n && u.has(row)) {
    const i64 number = RANKED ? (i64)value_ptr[row] : 0;
    if (rows.row_stride) {
      walk = Walk<LANES, RANKED>(rows.begin + 3 * unit, rows.end[unit], number);
    } else {
      Extent x = row_extent(rows.begin, words, row);
      if (words_of(x) > longest) x.end = x.at;  // a hub: its segments are processed by another launch
      walk = Walk<LANES, RANKED>(x, row, number);
    }
  }
  while (__any_sync(ALL_LANES, walk.more())) {
    Found found;
    walk.step(words, lane, found);
#pragma unroll 1
    for (int k = 0; k < found.count; ++k) {
      const i64 j = found.next();
      if (!mask.allows(j)) continue;
      if (KIND == WORDS) {
        if (!bit_now(t.bits, j)) mark(t.bits, j);
      } else {
        scatter(t.bits, t.values, j, mul(RANKED ? a.at(found.entry + k) : A_T(a.iso), u.at(row), j, row));
      }
    }
  }
}

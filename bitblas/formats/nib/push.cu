// Push SpMV on nibble rows: t = A' (+).(x) u along the rows where u has an entry. LANES lanes decode a row together.
#include "kernels/push.cuh"
#include "kernels/values.cuh"
#include "formats/nib/walk.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, const i64* begin, const i64* end, const i64* row_of, i64 row_stride, const u32* words,
     const PLACE_T* value_ptr, const value_t* a_val, ARGUMENT(A_T) a_iso, i64 a_stride, const u64* u_bits,
     const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, const u64* mask, i64 mask_stride, u64 mask_invert, ARGUMENT(Z_T) product,
     i64* counts, u64* t_bits, C_T* t_val) {
  (void)product, (void)counts;
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const i64 row = row_stride && unit < n ? row_of[unit] : unit;
  Walk<LANES, RANKED> walk;
  if (unit < n && bit_of(u_bits, row)) {
    const i64 number = RANKED ? (i64)value_ptr[row] : 0;
    if (row_stride) {
      walk = Walk<LANES, RANKED>(begin + 3 * unit, end[unit], number);
    } else {
      Extent x = row_extent(begin, words, row);
      if (words_of(x) > longest) x.end = x.at;  // a hub: its segments are processed by another launch
      walk = Walk<LANES, RANKED>(x, row, number);
    }
  }
  const Values values = {a_val, a_iso, a_stride};
  (void)values;
  while (__any_sync(ALL_LANES, walk.more())) {
    Found found;
    walk.step(words, lane, found);
#pragma unroll 1
    for (int k = 0; k < found.count; ++k) {
      const i64 j = found.next();
      if (!allowed(mask, mask_stride, mask_invert, j)) continue;
      if (KIND == WORDS) {
        if (!bit_now(t_bits, j)) mark(t_bits, j);
      } else {
        const A_T a = RANKED ? values.at(found.entry + k) : a_iso;
        scatter(t_bits, t_val, j, mul(a, load<U_T>(u_val, u_iso, u_stride, row), j, row));
      }
    }
  }
}

// t = A (+).(x) u row by row: LANES lanes share a row, a masked-out row is not read, a terminal value ends it.
#include "kernels/product.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_step, const COL_T* col,
     const A_T* a_val, A_T a_iso, i64 a_step, const u64* u_bits, const STORED(U_T)* u_val, U_T u_iso, i64 u_step,
     const u64* mask, i64 mask_step, u64 mask_flip, Z_T product, u64* t_bits, STORED(Z_T)* t_val) {
  const i64 row = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = row < n;
  i64 e = 0, stop = 0;
  if (inside && allowed(mask, mask_step, mask_flip, row)) {
    e = begin[row];
    stop = end[row];
    if (stop - e > longest) stop = e;  // a hub: its segments are rows of another launch
  }
  const i64 out = row_step && inside ? row_of[row] : row;
  bool some = false;
  Z_T sum = IDENTITY;
  i64 count = 0;
  for (e += lane; e < stop; e += LANES) {
    const i64 j = col[e];
    if (!U_FULL && !bit_of(u_bits, j)) continue;
    if (KIND == VALUES) {
      join(some, sum, true, mul(a_step ? a_val[e] : a_iso, load<U_T>(u_val, u_iso, u_step, j), out, j));
      if (is_final(some, sum)) break;
    } else {
      some = true;
      ++count;
      if (KIND == WORDS) break;
    }
  }
  if (KIND == COUNT) {
#pragma unroll
    for (int d = LANES / 2; d; d >>= 1) count += shuffle_xor(ALL_LANES, count, d);
    some = count > 0;
    if (some) sum = repeated(product, count);
  } else {
    join_lanes(some, sum, 1);
  }
  write_bits<1>(t_bits, row, some, inside);
  if (KIND != WORDS) {
#if Z_BOOL
    write_bits<1>(t_val, row, some && sum, inside);
#else
    if (inside && some && lane == 0) t_val[row] = sum;
#endif
  }
}

// c = the dot products of rows of A and rows of B (B' by rows) at the entries of a mask: LANES lanes share an entry,
// walk the shorter row and search in the longer one.
#include "formats/csr/search.cuh"
#include "kernels/product.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
dot(i64 n, const i64* rows, const i64* cols, const PTR_T* a_ptr, const COL_T* a_col, const A_T* a_val, A_T a_iso,
    i64 a_step, const PTR_T* b_ptr, const COL_T* b_col, const B_T* b_val, B_T b_iso, i64 b_step, i64 inner,
    Z_T product, u8* present, Z_T* sums) {
  (void)inner;
  const i64 entry = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  bool some = false;
  Z_T sum = IDENTITY;
  i64 count = 0, i = 0, j = 0;
  if (entry < n) {
    i = rows[entry], j = cols[entry];
    const i64 a = a_ptr[i], a_end = a_ptr[i + 1], b = b_ptr[j], b_end = b_ptr[j + 1];
    const bool by_a = a_end - a <= b_end - b;
    const COL_T* near = by_a ? a_col : b_col;
    const COL_T* far = by_a ? b_col : a_col;
    const i64 stop = by_a ? a_end : b_end, far_end = by_a ? b_end : a_end;
    i64 low = by_a ? b : a;
    for (i64 p = (by_a ? a : b) + lane; p < stop; p += LANES) {
      const COL_T k = near[p];
      low = lower_bound(far, low, far_end, k);  // from `low` on: the near row ascends
      if (low == far_end) break;
      if (far[low] != k) continue;
      if (KIND == VALUES) {
        const i64 x = by_a ? p : low, y = by_a ? low : p;
        join(some, sum, true, mul(a_step ? a_val[x] : a_iso, b_step ? b_val[y] : b_iso, i, k, j));
        if (is_final(some, sum)) break;
      } else {
        some = true;
        ++count;
        if (KIND == WORDS) break;
      }
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
  if (entry < n && lane == 0) {
    present[entry] = some;
    if (KIND != WORDS) sums[entry] = sum;
  }
}

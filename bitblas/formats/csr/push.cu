// Push SpMV by rows: t = A' (+).(x) u by the entries of u.
// LANES lanes share a row of A; rows without an entry of u are not read.
#include "kernels/push.cuh"
#include "kernels/values.cuh"
#include "formats/csr/columns.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_stride,
     const column_t* col, i64 width, const value_t* a_val, A_T a_iso, i64 a_stride, const u64* u_bits,
     const STORED(U_T)* u_val, U_T u_iso, i64 u_stride, const u64* mask, i64 mask_stride, u64 mask_invert, Z_T product,
     i64* counts, u64* t_bits, C_T* t_val) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 row = row_stride ? row_of[unit] : unit;
  if (!bit_of(u_bits, row)) return;
  i64 e = begin[unit];
  const i64 stop = end[unit];
  if (stop - e > longest) return;  // a hub: its segments are processed by another launch
  e += threadIdx.x & (LANES - 1);
  const Values values = {a_val, a_iso, a_stride};
  for (Columns entries(col, width, e); e < stop; e += LANES, entries.skip(LANES)) {
    const i64 j = entries.at(e, 0);
    if (!allowed(mask, mask_stride, mask_invert, j)) continue;
    if (KIND == WORDS) {
      if (!bit_now(t_bits, j)) mark(t_bits, j);
    } else {
      scatter(t_bits, t_val, j, mul(values.at(e), load<U_T>(u_val, u_iso, u_stride, row), j, row));
    }
  }
}

// Push SpMV by rows: t = A' (+).(x) u by the entries of u.
// LANES lanes share a row of A; rows without an entry of u are not read.
#include "kernels/product.cuh"
#include "formats/csr/columns.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView col, Values a, VectorView<U_T> u, MaskView mask,
         ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 row = rows.row_stride ? rows.row_of[unit] : unit;
  if (!u.has(row)) return;
  i64 e = rows.begin[unit];
  const i64 stop = rows.end[unit];
  if (stop - e > longest) return;  // a hub: its segments are processed by another launch
  e += threadIdx.x & (LANES - 1);
  for (Columns entries(col, e); e < stop; e += LANES, entries.skip(LANES)) {
    const i64 j = entries.at(e, 0);
    if (!mask.allows(j)) continue;
    if (KIND == WORDS) {
      if (!bit_now(t.bits, j)) mark(t.bits, j);
    } else {
      scatter(t.bits, t.values, j, mul(a.at(e), u.at(row), j, row));
    }
  }
}

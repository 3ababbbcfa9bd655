// Validate CSR arrays from outside.
// wrong[0] = 1 if pointers do not rise from 0 to `nvals`, wrong[1] if a column is outside of `ncols`, wrong[2] if
// columns do not ascend within a row. Valid input leaves `wrong` unchanged.
// One thread per entry, and one per row: in rows without an order few row starts coincide with a descent.
#include "formats/csr/ranges.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
check(i64 n, i64 nrows, i64 nvals, i64 ncols, const PTR_T* ptr, const COL_T* col, u8* wrong) {
  const i64 k = thread_number();
  if (k < nrows) {
    const i64 begin = ptr[k], end = ptr[k + 1];
    if (begin > end || (k == 0 && begin != 0) || (k == nrows - 1 && end != nvals)) wrong[0] = 1;
  }
  if (k >= nvals) return;
  const i64 j = col[k];
  if ((u64)j >= (u64)ncols) wrong[1] = 1;
  if (k > 0 && (i64)col[k - 1] >= j && (i64)ptr[range_of(ptr, nrows, k)] != k) wrong[2] = 1;
}

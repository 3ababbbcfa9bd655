// Find each entry of A in B: the lower bound of its column in the same row of B, and whether B has that entry.
// Arguments: A and B by rows; output per entry of A: place and hit.
#include "formats/csr/operands.cuh"
#include "kernels/rows.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
match(i64 n, i64 rows, const PTR_T* a_ptr, const AColumn::stored* a_col, i64 a_width, const BPTR_T* b_ptr,
      const BColumn::stored* b_col, i64 b_width, BPTR_T* place, u8* hit) {
  const i64 entry = thread_number();
  const i64 top = row_of_warp(a_ptr, rows, min(entry & ~31ll, n - 1));
  if (entry >= n) return;
  const i64 i = row_from(a_ptr, top, rows, entry), end = b_ptr[i + 1];
  const BColumn in_b(b_col, b_width);
  const COL_T j = AColumn(a_col, a_width)[entry];
  const i64 found = lower_bound(in_b, (i64)b_ptr[i], end, j);
  place[entry] = (BPTR_T)found;
  hit[entry] = found < end && in_b[found] == j;
}

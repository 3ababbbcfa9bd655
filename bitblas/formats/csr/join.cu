// Element-wise operation on matrices on a GPU: eWiseAdd, eWiseUnion, and with INTERSECT eWiseMult. Uses match.cu.
// The entries of A (SIDE 0), or those only in B (SIDE 1), are written to their positions in C, combined with the other
// operand's entry if it has one. `place` and `hit` are match.cu's results for the entries of A; before[e] is the
// number of hits among the entries before e. An entry of one operand alone is cast, or (FILLED) combined with the
// other's default.
// Arguments: A and B by rows with values and defaults; place, hit and before; output c_col and c_val.
#include "formats/csr/operands.cuh"
#include "kernels/rows.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
join(i64 n, i64 rows, const PTR_T* a_ptr, const AColumn::stored* a_col, i64 a_width, const A_T* a_val, ARGUMENT(A_T) a_iso,
     i64 a_stride, ARGUMENT(A_T) a_default, const BPTR_T* b_ptr, const BColumn::stored* b_col, i64 b_width, const B_T* b_val,
     ARGUMENT(B_T) b_iso, i64 b_stride, ARGUMENT(B_T) b_default, const BPTR_T* place, const u8* hit, const PTR_T* before, COL_T* c_col,
     Z_T* c_val) {
  const i64 entry = thread_number();
#if PLACES || SIDE
#if SIDE
  const BPTR_T* ptr = b_ptr;
#else
  const PTR_T* ptr = a_ptr;
#endif
  const i64 top = row_of_warp(ptr, rows, min(entry & ~31ll, n - 1));
  if (entry >= n) return;
  const i64 i = row_from(ptr, top, rows, entry);
#else
  if (entry >= n) return;
  const i64 i = 0;
#endif
  (void)rows, (void)i, (void)place, (void)hit;
  const AColumn in_row(a_col, a_width);
#if SIDE
  const COL_T j = BColumn(b_col, b_width)[entry];
  const i64 end = a_ptr[i + 1], p = lower_bound(in_row, (i64)a_ptr[i], end, j), q = entry;
  if (p < end && in_row[p] == j) return;
  const i64 c = q + p - before[p];
  const bool in_a = false, in_b = true;
#else
  const COL_T j = in_row[entry];
  const i64 p = entry, q = place[p];
  const bool in_a = true, in_b = hit[p];
  if (INTERSECT && !in_b) return;
  const i64 c = INTERSECT ? (i64)before[p] : p + q - before[p];
#endif
  c_col[c] = j;
#if VALUED
  const A_T x = !in_a ? a_default : a_stride ? a_val[p] : a_iso;
  const B_T y = !in_b ? b_default : b_stride ? b_val[q] : b_iso;
  c_val[c] = (in_a && in_b) || FILLED ? both(x, y, i, (i64)j) : in_a ? only_a(x) : only_b(y);
#else
  (void)in_a, (void)in_b;
#endif
}

// Element-wise operations on matrices on a GPU: find the entries of A in B, then combine them.
#include "formats/csr/columns.cuh"
#include "formats/csr/search.cuh"
#include "kernels/views.cuh"
typedef CsrView<PTR_T, AnyColumn<A_PACKED, COL_T>> MatrixA;
typedef CsrView<BPTR_T, AnyColumn<B_PACKED, COL_T>> MatrixB;

#ifdef KERNEL_match
// Find each entry of A in B: the lower bound of its column in the same row of B, and whether B has that entry.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    match(i64 n, i64 rows, MatrixA A, MatrixB B, BPTR_T* place, u8* hit) {
  const i64 entry = thread_number();
  const i64 top = row_of_warp(A.ptr, rows, min(entry & ~31ll, n - 1));
  if (entry >= n) return;
  const i64 i = row_from(A.ptr, top, rows, entry), end = B.ptr[i + 1];
  const auto in_b = B.columns();
  const COL_T j = A.columns()[entry];
  const i64 found = lower_bound(in_b, (i64)B.ptr[i], end, j);
  place[entry] = (BPTR_T)found;
  hit[entry] = found < end && in_b[found] == j;
}
#endif  // KERNEL_match

#ifdef KERNEL_join
// Element-wise operation on matrices: eWiseAdd, eWiseUnion, and with INTERSECT eWiseMult.
// The entries of A (SIDE 0), or those only in B (SIDE 1), are written to their positions in C, combined with the other
// operand's entry if it has one. `place` and `hit` are the results of `match` for the entries of A; before[e] is the
// number of hits among the entries before e. An entry of one operand alone is cast, or (FILLED) combined with the
// other's default.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    join(i64 n, i64 rows, MatrixA A, MatrixValues<A_T> a, ARGUMENT(A_T) a_default, MatrixB B, MatrixValues<B_T> b,
         ARGUMENT(B_T) b_default, const BPTR_T* place, const u8* hit, const PTR_T* before, COL_T* c_col, Z_T* c_val) {
  const i64 entry = thread_number();
#if PLACES || SIDE
#if SIDE
  const BPTR_T* ptr = B.ptr;
#else
  const PTR_T* ptr = A.ptr;
#endif
  const i64 top = row_of_warp(ptr, rows, min(entry & ~31ll, n - 1));
  if (entry >= n) return;
  const i64 i = row_from(ptr, top, rows, entry);
#else
  if (entry >= n) return;
  const i64 i = 0;
#endif
  (void)rows, (void)i, (void)place, (void)hit;
  const auto in_row = A.columns();
#if SIDE
  const COL_T j = B.columns()[entry];
  const i64 end = A.ptr[i + 1], p = lower_bound(in_row, (i64)A.ptr[i], end, j), q = entry;
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
  const A_T x = in_a ? a.at(p) : A_T(a_default);
  const B_T y = in_b ? b.at(q) : B_T(b_default);
  c_val[c] = (in_a && in_b) || FILLED ? both(x, y, i, (i64)j) : in_a ? only_a(x) : only_b(y);
#else
  (void)in_a, (void)in_b;
#endif
}
#endif  // KERNEL_join

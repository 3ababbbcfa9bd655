// Distribute the entries of a chunk to their rows, in any order within a row.
// Rows are `first` .. `first` + `some` - 1.
// at[row]: the next free slot; it only grows. COUNT: count only. Slots from end[row] on belong to other rows and are
// not written.
// Arguments: rows, cols: the chunk; at, end: next and last slot of each row; col: output.
#include "kernels/base.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
deal(i64 n, const i64* rows, const i64* cols, i64 first, i64 some, i64* at, const i64* end, COL_T* col) {
  const i64 entry = thread_number();
  if (entry >= n) return;
  const i64 row = rows[entry] - first;
  if (row < 0 || row >= some) return;
  const u64 place = atomicAdd((u64*)at + row, 1ull);
#if !COUNT
  if ((i64)place < end[row]) col[place] = (COL_T)cols[entry];
#else
  (void)cols, (void)end, (void)col, (void)place;
#endif
}

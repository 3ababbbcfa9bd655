// Entries of a chunk, each into its row, in any order: of rows from `first` on, of which there are `some`. at[row]: the
// next free place, which only grows; COUNT: no more than that. Places from end[row] on are others', and are not taken.
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

// Hub columns for pulls: of each row the column, among its first MOST, that has most entries itself.
// A pull most likely hits there if the vector was found along rows. Square matrices only; empty rows get none.
// best: output.
#include "formats/csr/any_column.cuh"
#define MOST 1024
typedef AnyColumn<PACKED, COL_T> Column;

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
likely(i64 n, const PTR_T* ptr, const Column::stored* col, i64 width, COL_T* best) {
  const i64 row = thread_number() / LANES;
  const Column column(col, width);
  i64 most = -1;
  COL_T at = 0;
  if (row < n) {
    const i64 begin = ptr[row], stop = ptr[row + 1], end = stop - begin < MOST ? stop : begin + MOST;
#pragma unroll 4
    for (i64 e = begin + (threadIdx.x & (LANES - 1)); e < end; e += LANES) {
      const COL_T j = column[e];
      const i64 length = (i64)ptr[j + 1] - (i64)ptr[j];
      if (length > most) most = length, at = j;
    }
  }
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) {
    const i64 length = __shfl_xor_sync(ALL_LANES, most, d);
    const COL_T j = __shfl_xor_sync(ALL_LANES, at, d);
    if (length > most) most = length, at = j;
  }
  if (row < n && (threadIdx.x & (LANES - 1)) == 0) best[row] = at;
}

// Symmetry test on rows: per chunk of CHUNK entries, the hash difference of entries and mirror images.
// Hashes: kernels/scramble.cuh. A warp takes a chunk.
#include "formats/csr/any_column.cuh"
#include "formats/csr/ranges.cuh"
#include "kernels/scramble.cuh"
typedef AnyColumn<PACKED, COL_T> Column;

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
mirror(i64 n, i64 rows, i64 nvals, const PTR_T* ptr, const Column::stored* col, i64 width, u64* sums) {
  const i64 chunk = thread_number() / 32;
  if (chunk >= n) return;
  const i64 end = (chunk + 1) * CHUNK, stop = end < nvals ? end : nvals;
  const Column column(col, width);
  i64 e = chunk * CHUNK + (threadIdx.x & 31);
  i64 row = e < stop ? range_of(ptr, rows, e) : 0;
  u64 sum = 0;
  for (; e < stop; e += 32) {
    for (int near = 0; near < 4 && (i64)ptr[row + 1] <= e; ++near) ++row;
    if ((i64)ptr[row + 1] <= e) row += range_of(ptr + row, rows - row, e);
    sum += unlike_mirror(scramble((u64)row), scramble((u64)column[e]));
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if ((threadIdx.x & 31) == 0) sums[chunk] = sum;
}

// Expand row pointers: the row number of every entry. One thread per entry.
#include "formats/csr/ranges.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4) rows(i64 n, i64 nrows, const PTR_T* ptr, i64* out) {
  const i64 entry = thread_number();
  if (entry < n) out[entry] = range_of(ptr, nrows, entry);
}

// Sort keys for a transpose: column, then row.
// With ORDER the number of the entry replaces the row, which gives the same order. One thread per entry.
// shift: bits of the row, or of the entry number; key: output.
#include "formats/csr/any_column.cuh"
#include "formats/csr/ranges.cuh"
typedef AnyColumn<PACKED, COL_T> Column;

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
keys(i64 n, i64 rows, i64 shift, const PTR_T* ptr, const Column::stored* col, i64 width, u64* key) {
  const i64 entry = thread_number();
  if (entry >= n) return;
#if ORDER
  const i64 second = entry;
#else
  const i64 second = range_of(ptr, rows, entry);
#endif
  key[entry] = (u64)Column(col, width)[entry] << shift | (u64)second;
}

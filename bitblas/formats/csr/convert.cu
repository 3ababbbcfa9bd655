// Conversions of matrices by rows: expand row pointers, check arrays, extract a region, sort keys, distribute entries.
#include "formats/csr/any_column.cuh"
#include "formats/csr/ranges.cuh"
#include "formats/csr/search.cuh"

#ifdef KERNEL_rows
// Expand row pointers: the row number of every entry. One thread per entry.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) rows(i64 n, i64 nrows, const PTR_T* ptr, i64* out) {
  const i64 entry = thread_number();
  if (entry < n) out[entry] = range_of(ptr, nrows, entry);
}
#endif  // KERNEL_rows

#ifdef KERNEL_check
// Validate CSR arrays from outside.
// wrong[0] = 1 if pointers do not rise from 0 to `nvals`, wrong[1] if a column is outside of `ncols`, wrong[2] if
// columns do not ascend within a row. Valid input leaves `wrong` unchanged.
// One thread per entry, and one per row: in rows without an order few row starts coincide with a descent.
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
#endif  // KERNEL_check

#ifdef KERNEL_clip
// Extract a region by rows.
// Keeps the part of each row in rows [row_low, row_high), columns [col_low, col_high) and diagonals column - row in
// [diag_low, diag_high]. Columns ascend, so the part is one run, found by binary search.
// FILL = 0 writes the start of each row's run, and its length to out[row + 1]. FILL = 1 copies the runs to the offsets
// in `out`. LANES lanes share a row.
// begin, out: start and length of each row's run; left, places: kept columns, and with ORDER their positions.
typedef AnyColumn<PACKED, COL_T> Column;
typedef CsrView<PTR_T, Column> Matrix;

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
clip(i64 n, Matrix A, i64 row_low, i64 row_high, i64 col_low, i64 col_high, i64 diag_low, i64 diag_high, PLACE_T* begin,
     PLACE_T* out, COL_T* left, PLACE_T* places) {
  const i64 row = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  if (row >= n) return;
  const Column column = A.columns();
#if FILL
  const i64 source = begin[row], target = out[row], count = out[row + 1] - target;
  for (i64 k = lane; k < count; k += LANES) {
    left[target + k] = column[source + k];
#if ORDER
    places[target + k] = (PLACE_T)(source + k);
#endif
  }
#else
  if (lane) return;
  i64 first = A.ptr[row], stop = A.ptr[row + 1];
  const i64 low = max(col_low, row + diag_low), high = min(col_high, row + diag_high + 1);
  if (row >= row_low && row < row_high && low < high) {
    first = lower_bound(column, first, stop, low);
    stop = lower_bound(column, first, stop, high);
  } else {
    stop = first;
  }
  begin[row] = (PLACE_T)first;
  out[row + 1] = (PLACE_T)(stop - first);
  if (row == 0) out[0] = 0;
#endif
}
#endif  // KERNEL_clip

#ifdef KERNEL_keys
// Sort keys for a transpose: column, then row.
// With ORDER the number of the entry replaces the row, which gives the same order. One thread per entry.
// shift: bits of the row, or of the entry number; key: output.
typedef AnyColumn<PACKED, COL_T> Column;
typedef CsrView<PTR_T, Column> Matrix;

extern "C" __global__ void __launch_bounds__(BLOCK, 4) keys(i64 n, i64 rows, i64 shift, Matrix A, u64* key) {
  const i64 entry = thread_number();
  if (entry >= n) return;
#if ORDER
  const i64 second = entry;
#else
  const i64 second = range_of(A.ptr, rows, entry);
#endif
  key[entry] = (u64)A.columns()[entry] << shift | (u64)second;
}
#endif  // KERNEL_keys

#ifdef KERNEL_deal
// Distribute the entries of a chunk to their rows, in any order within a row.
// Rows are `first` .. `first` + `some` - 1.
// at[row]: the next free slot; it only grows. COUNT: count only. Slots from end[row] on belong to other rows and are
// not written.
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
#endif  // KERNEL_deal

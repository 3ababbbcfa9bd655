// Extract a region by rows.
// Keeps the part of each row in rows [row_low, row_high), columns [col_low, col_high) and diagonals column - row in
// [diag_low, diag_high]. Columns ascend, so the part is one run, found by binary search.
// FILL = 0 writes the start of each row's run, and its length to out[row + 1]. FILL = 1 copies the runs to the offsets
// in `out`. LANES lanes share a row.
// Arguments: rows (ptr, col, width); the region; begin, out: start and length of each row's run; left, places: kept
// columns, and with ORDER their positions.
#include "formats/csr/any_column.cuh"
#include "formats/csr/search.cuh"
typedef AnyColumn<PACKED, COL_T> Column;

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
clip(i64 n, const PTR_T* ptr, const Column::stored* col, i64 width, i64 row_low, i64 row_high, i64 col_low,
     i64 col_high, i64 diag_low, i64 diag_high, PLACE_T* begin, PLACE_T* out, COL_T* left, PLACE_T* places) {
  const i64 row = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  if (row >= n) return;
  const Column column(col, width);
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
  i64 first = ptr[row], stop = ptr[row + 1];
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

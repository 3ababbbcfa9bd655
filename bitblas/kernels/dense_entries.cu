// A number for each entry of a matrix from two dense arrays: the product of a row of g and a row of x, which is the
// derivative of a product with a dense array (dense_spmm.cu) for the values of the matrix.
// Rows of g are those of the result, rows of x those that it was multiplied with: the entry's row and column, exchanged
// if TRANSPOSED. PICK: only positions whose winner (`won`) is this row of x count.
// LANES lanes share the positions of an entry, and add their sums in a fixed order.
#include "formats/csr/columns.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    dense_entries(i64 n, i64 nrows, RowsView<PTR_T> rows, ColumnsView all, i64 width, const Z_T* g, const Z_T* x,
                  const WINNER_T* won, Z_T* y) {
  const i64 e = thread_number() / LANES;
  if (e >= n) return;
  i64 row = 0;  // the last one that begins at e or before, and is not empty
  for (i64 above = nrows; above - row > 1;) {
    const i64 middle = (row + above) / 2;
    if ((i64)rows.begin[middle] <= e) row = middle;
    else above = middle;
  }
  const i64 column = (i64)AnyColumn<PACKED, COL_T>(all.col, all.width)[e];
  const i64 to = TRANSPOSED ? column : row, from = TRANSPOSED ? row : column;
  Z_T sum = 0;
  for (i64 c = threadIdx.x & (LANES - 1); c < width; c += LANES)
    if (!PICK || won[to * width + c] == from) sum += g[to * width + c] * x[from * width + c];
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) sum += shuffle_xor(group_mask<LANES>(), sum, d);
  if ((threadIdx.x & (LANES - 1)) == 0) y[e] = sum;
}

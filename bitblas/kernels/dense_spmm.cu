// Product of a sparse matrix and a dense array by rows: y = A x, with rows of `width` numbers.
// MODE: SUM; BEST, the largest (MAX) or smallest product of each position, and the column of A that it comes from
// (`winner`, -1 in an empty row; the first of equal ones; NaN wins); PICK, the derivative of BEST: rows are those of A',
// and a product counts if `won` (the winners) says that it comes from this row.
// PART: ROWS of y; PARTS, segments of long rows, each with a row of y of its own; JOIN combines rows of x, which are
// such segments: A is not read.
// LANES lanes share the positions of a row side by side, so each sum is taken by one thread, in the order of its row's
// entries.
#include "formats/csr/columns.cuh"

#define SUM 0
#define BEST 1
#define PICK 2
#define ROWS 0
#define PARTS 1
#define JOIN 2
#define AHEAD 4  // entries that a thread loads before it uses the first

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    dense_spmm(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView all, MatrixValues<A_T> a, i64 width, const Z_T* x,
               const WINNER_T* won, Z_T* y, WINNER_T* winner) {
  const i64 unit = thread_number() / LANES, pieces = (width + LANES - 1) / LANES;
  if (unit >= n) return;
  const i64 number = unit / pieces, c = unit % pieces * LANES + (threadIdx.x & (LANES - 1));
  const i64 stop = rows.end[number], first = rows.begin[number];
  if (c >= width || stop - first > longest) return;  // the segments of a long row are processed by another launch
  const i64 row = rows.row_stride ? rows.row_of[number] : number;
  const AnyColumn<PACKED, COL_T> columns(all.col, all.width);
  Z_T sum = 0;
  i64 best = -1;
  for (i64 e = first; e < stop; e += AHEAD) {
    Z_T v[AHEAD];
    i64 from[AHEAD];
    bool counts[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const i64 entry = e + i < stop ? e + i : e, k = PART == JOIN ? entry : (i64)columns[entry];
      v[i] = x[k * width + c];
      from[i] = k, counts[i] = e + i < stop;
      if (PART != JOIN) v[i] *= (Z_T)a.at(entry);
      if (MODE == PICK && PART != JOIN) counts[i] = counts[i] && won[k * width + c] == row;
      if (MODE == BEST && PART == JOIN) from[i] = won[k * width + c];
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (!counts[i]) continue;
      if (MODE != BEST) sum += v[i];
      else if (best < 0 || (MAX ? v[i] > sum : v[i] < sum) || (v[i] != v[i] && sum == sum)) sum = v[i], best = from[i];
    }
  }
  const i64 to = (PART == PARTS ? number : row) * width + c;
  y[to] = sum;
  if (MODE == BEST) winner[to] = (WINNER_T)best;
}

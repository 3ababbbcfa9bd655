// Product of a sparse matrix and a dense array by rows: y = A x, with rows of `width` numbers.
// MODE: SUM; BEST, the largest (MAX) or smallest product of each position, and the column of A that it comes from
// (`winner`, -1 in an empty row; the first of equal ones; NaN wins); PICK, the derivative of BEST: rows are those of A',
// and a product counts if `won` (the winners) says that it comes from this row.
// PART: ROWS of y; PARTS, segments of long rows, each with a row of y of its own; JOIN combines rows of x, which are
// such segments: A is not read.
// LANES lanes share the positions of a row side by side. Each takes PIECES times VEC positions, which it loads and stores
// at once: with VEC > 1, x, y and winners begin at multiples of 16 bytes, and VEC (and with two pieces LANES * VEC * 2)
// divides width. A sum is taken by one thread, in the order of its row's entries.
#include "formats/csr/columns.cuh"

#define SUM 0
#define BEST 1
#define PICK 2
#define ROWS 0
#define PARTS 1
#define JOIN 2
#define AHEAD 4  // entries that a thread loads before it uses the first

#include "kernels/positions.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    dense_spmm(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView all, MatrixValues<A_T> a, i64 width, const Z_T* x,
               const WINNER_T* won, Z_T* y, WINNER_T* winner) {
  constexpr int mine = PIECES * VEC;
  const i64 unit = thread_number() / LANES, parts = (width + LANES * mine - 1) / (LANES * mine);
  if (unit >= n) return;
  const i64 number = unit / parts, c = unit % parts * LANES * mine + (threadIdx.x & (LANES - 1)) * VEC;
  const i64 stop = rows.end[number], first = rows.begin[number];
  if (c >= width || stop - first > longest) return;  // the segments of a long row are processed by another launch
  const i64 row = rows.row_stride ? rows.row_of[number] : number;
  const AnyColumn<PACKED, COL_T> columns(all.col, all.width);
  Share<Z_T> sum;
  Share<WINNER_T> best;
#pragma unroll
  for (int j = 0; j < mine; ++j) sum[j] = 0, best[j] = -1;
  for (i64 e = first; e < stop; e += AHEAD) {
    Share<Z_T> v[AHEAD];
    Share<WINNER_T> from[AHEAD];  // BEST: the column; PICK: the winner
    Z_T value[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const i64 entry = e + i < stop ? e + i : e, k = PART == JOIN ? entry : (i64)columns[entry];
      v[i].read(x + k * width + c);
      if (MODE != SUM && (MODE == BEST) == (PART == JOIN)) from[i].read(won + k * width + c);
      if (PART != JOIN) value[i] = (Z_T)a.at(entry);
#pragma unroll
      for (int j = 0; j < mine; ++j) {
        if (MODE == BEST && PART != JOIN) from[i][j] = (WINNER_T)k;
      }
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (e + i >= stop) break;
#pragma unroll
      for (int j = 0; j < mine; ++j) {
        const Z_T z = PART == JOIN ? v[i][j] : v[i][j] * value[i], old = sum[j];
        if (MODE == PICK && PART != JOIN && from[i][j] != row) continue;
        if (MODE != BEST) sum[j] += z;
        else if (best[j] < 0 || (MAX ? z > old : z < old) || (z != z && old == old)) sum[j] = z, best[j] = from[i][j];
      }
    }
  }
  const i64 to = (PART == PARTS ? number : row) * width + c;
  sum.write(y + to);
  if (MODE == BEST) best.write(winner + to);
}

// Product of a sparse matrix and a dense array by rows: y = A x, with rows of `width` numbers.
// MODE: SUM; BEST, the largest (MAX) or smallest product of each position, and the column of A that it comes from
// (`winner`, -1 in an empty row; the first of equal ones; NaN wins); PICK, the derivative of BEST: rows are those of A',
// and a product counts if `won` (the winners) says that it comes from this row. MEAN: a sum is divided by the number of
// entries of its row.
// PART: ROWS of y; PARTS, segments of long rows, each with a row of y of its own; JOIN combines rows of x, which are
// such segments: A is not read, and `entries` has the number of entries of each row for a MEAN.
// Numbers of x and y may be stored in 16 bits (kernels/half.cuh); products, sums and segments are of type Z_T. ISO: all
// values of A are equal; a test in the loop would delay the loads that follow.
// SIDE lanes share the positions of a row side by side. Each takes PIECES times VEC positions, which it loads and stores
// at once: with VEC > 1, x, y and winners begin at multiples of 16 bytes, and VEC (and with two pieces SIDE * VEC * 2)
// divides width. A sum is taken by one thread, in the order of its row's entries; with SHARES > 1 by as many threads,
// each of which takes every SHARES-th group of AHEAD entries, and then their sums in a fixed order.
#include "formats/csr/columns.cuh"
#include "kernels/half.cuh"

#define SUM 0
#define BEST 1
#define PICK 2
#define ROWS 0
#define PARTS 1
#define JOIN 2
#define AHEAD 4  // entries that a thread loads before it uses the first
#define SIDE (LANES / SHARES)

#include "kernels/positions.cuh"

// What a lane reads: `width` numbers from one row of x to the next.
struct Source {
  AnyColumn<PACKED, COL_T> columns;
  const MatrixValues<A_T>& a;
  const X_T* x;
  const WINNER_T* won;
  i64 width;

  // Columns of 4 bytes are not negative: one multiplication.
  __device__ __forceinline__ i64 at(COL_T k) const {
    return sizeof(COL_T) == 4 ? (i64)((u64)(u32)k * (u32)width) : (i64)k * width;
  }
};

// The sums of the positions of a lane.
struct Sums {
  Share<Z_T> sum;
  Share<WINNER_T> best;

  // origin: BEST: the column; PICK: the winner.
  __device__ __forceinline__ void add(int j, Z_T z, WINNER_T origin, i64 row) {
    const Z_T old = sum[j];
    if (MODE == PICK && PART != JOIN && origin != row) return;
    if (MODE != BEST) sum[j] += z;
    else if (best[j] < 0 || (MAX ? z > old : z < old) || (z != z && old == old)) sum[j] = z, best[j] = origin;
  }

  // Add AHEAD entries from e on, or (not FULL) those before `stop`. All are loaded first; missing ones repeat the first.
  template <bool FULL> __device__ __forceinline__ void step(const Source& of, i64 first, int e, int stop, i64 row) {
    COL_T column[AHEAD];
    A_T value[AHEAD];
    Share<X_T> v[AHEAD];
    Share<WINNER_T> from[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const i64 entry = first + (FULL || e + i < stop ? e + i : e);
      column[i] = PART == JOIN ? (COL_T)entry : of.columns[entry];
      value[i] = ISO ? A_T(of.a.iso) : of.a.values[entry];
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      v[i].read(of.x + of.at(column[i]));
      if (MODE != SUM && (MODE == BEST) == (PART == JOIN)) from[i].read(of.won + of.at(column[i]));
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (!FULL && e + i >= stop) break;
#pragma unroll
      for (int j = 0; j < PIECES * VEC; ++j) {
        const Z_T given = Numbers<Z_T, X_T>::number(v[i][j]);
        const WINNER_T origin = MODE == BEST && PART != JOIN ? (WINNER_T)column[i] : from[i][j];
        add(j, PART == JOIN ? given : given * (Z_T)value[i], origin, row);
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
    dense_spmm(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView all, MatrixValues<A_T> a, i64 width, const X_T* x,
               const WINNER_T* won, const i64* entries, Y_T* y, WINNER_T* winner) {
  constexpr int mine = PIECES * VEC;
  const i64 unit = thread_number() / LANES, parts = (width + SIDE * mine - 1) / (SIDE * mine);
  if (unit >= n) return;
  const i64 number = unit / parts, c = unit % parts * SIDE * mine + (threadIdx.x & (SIDE - 1)) * VEC;
  const i64 first = rows.begin[number], length = rows.end[number] - first;
  if (length > longest) return;  // the segments of a long row are processed by another launch
  if (SHARES == 1 && c >= width) return;
  const i64 row = rows.row_stride ? rows.row_of[number] : number;
  const Source of = {AnyColumn<PACKED, COL_T>(all.col, all.width), a, x + c, won + c, width};
  Sums sums;
#pragma unroll
  for (int j = 0; j < mine; ++j) sums.sum[j] = 0, sums.best[j] = -1;
  const int share = SHARES == 1 ? 0 : threadIdx.x / SIDE & (SHARES - 1), stop = c < width ? (int)length : 0;
  int e = share * AHEAD;
  for (; e + AHEAD <= stop; e += AHEAD * SHARES) sums.step<true>(of, first, e, stop, row);
  if (e < stop) sums.step<false>(of, first, e, stop, row);
#pragma unroll
  for (int d = SIDE; d < LANES; d <<= 1) {
#pragma unroll
    for (int j = 0; j < mine; ++j) sums.sum[j] += shuffle_xor(group_mask<LANES>(), sums.sum[j], d);
  }
  if (share || c >= width) return;
  const Z_T count = !MEAN || !length ? Z_T(1) : (Z_T)(PART == JOIN ? entries[number] : length);
  Share<Y_T> found;
#pragma unroll
  for (int j = 0; j < mine; ++j) found[j] = Numbers<Z_T, Y_T>::rounded(MEAN ? sums.sum[j] / count : sums.sum[j]);
  const i64 to = (PART == PARTS ? number : row) * width + c;
  found.write(y + to);
  if (MODE == BEST) sums.best.write(winner + to);
}

// Product of a sparse matrix and a dense array by rows: y = A x, with rows of `width` numbers.
// MODE: SUM; BEST, the largest (MAX) or smallest product of each position, and the column of A that it comes from
// (`winner`, -1 in an empty row; the first of equal ones; NaN wins); PICK, the derivative of BEST: rows are those of A',
// and a product counts if `won` (the winners) says that it comes from this row. MEAN: a sum is divided by the number of
// entries of its row.
// PART: ROWS of y; PARTS, segments of long rows, each with a row of y of its own; JOIN combines rows of x, which are
// such segments: A is not read, and `entries` has the entries of each row for a MEAN.
// Numbers of x and y may be stored in 16 bits (kernels/half.cuh); products, sums and the segments are of type Z_T.
// LANES lanes share the positions of a row side by side. Each takes PIECES times VEC positions, which it loads and stores
// at once: with VEC > 1, x, y and winners begin at multiples of 16 bytes, and VEC (and with two pieces SIDE * VEC * 2)
// divides width. A sum is taken by one thread, in the order of its row's entries.
#include "formats/csr/columns.cuh"
#include "kernels/half.cuh"

#define SUM 0
#define BEST 1
#define PICK 2
#define ROWS 0
#define PARTS 1
#define JOIN 2
#define SIDE (LANES / SHARES)

#include "kernels/positions.cuh"

// Entries of a row that a thread holds: their columns, or numbers of segments, and values.
template <int N> struct Entries {
  COL_T column[N];
  A_T value[N];

  __device__ __forceinline__ void read(int i, const ColumnsView& all, const A_T* a, i64 e) {
    const AnyColumn<PACKED, COL_T> columns(all.col, all.width);
    if (PART == JOIN) column[i] = (COL_T)e;
#if !PACKED
    else if (STREAM) column[i] = load_once(all.col + e);
#endif
    else column[i] = columns[e];
    if (PART != JOIN && !ISO) value[i] = STREAM ? load_once(a + e) : a[e];
  }
};

// The first number of a row. Columns of 4 bytes are not negative: one multiplication.
__device__ __forceinline__ i64 row_of(COL_T k, i64 width) {
  return sizeof(COL_T) == 4 ? (i64)((u64)(u32)k * (u32)width) : (i64)k * width;
}

// The sums of the positions of a lane.
struct Sums {
  Share<Z_T> sum;
  Share<WINNER_T> best;

  // Add a product, or an entry of x that comes from `origin`.
  __device__ __forceinline__ void add(int j, Z_T z, WINNER_T origin, i64 row) {
    const Z_T old = sum[j];
    if (MODE == PICK && PART != JOIN && origin != row) return;
    if (MODE != BEST) sum[j] += z;
    else if (best[j] < 0 || (MAX ? z > old : z < old) || (z != z && old == old)) sum[j] = z, best[j] = origin;
  }

  template <bool FULL>
  __device__ __forceinline__ void step(const ColumnsView& all, const MatrixValues<A_T>& a, i64 first, int e, int count,
                                       const X_T* x, const WINNER_T* won, i64 width, i64 row) {
    Entries<AHEAD> now;
    Share<X_T> v[AHEAD];
    Share<WINNER_T> from[AHEAD];  // BEST: the column; PICK: the winner
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) now.read(i, all, a.values, first + (FULL || e + i < count ? e + i : e));
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      v[i].read(x + row_of(now.column[i], width));
      if (MODE != SUM && (MODE == BEST) == (PART == JOIN)) from[i].read(won + row_of(now.column[i], width));
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (!FULL && e + i >= count) break;
      const Z_T value = PART == JOIN || ISO ? (Z_T)A_T(a.iso) : (Z_T)now.value[i];
#pragma unroll
      for (int j = 0; j < PIECES * VEC; ++j) {
        const Z_T given = Stored16<Z_T, X_T>::number(v[i][j]);
        const WINNER_T origin = MODE == BEST && PART != JOIN ? (WINNER_T)now.column[i] : from[i][j];
        add(j, PART == JOIN ? given : given * value, origin, row);
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
    dense_spmm(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView all, MatrixValues<A_T> a, i64 width, const X_T* x,
               const WINNER_T* won, const i64* entries, Y_T* y, WINNER_T* winner) {
  typedef Stored16<Z_T, X_T> Given;
  constexpr int mine = PIECES * VEC;
  const i64 unit = thread_number() / (LANES), parts = (width + SIDE * mine - 1) / (SIDE * mine);
  if (unit >= n) return;
  const i64 per = n / parts, number = SLOW ? unit % per : unit / parts, first = rows.begin[number];
  const int lane = threadIdx.x & (SIDE - 1), c = (int)(SLOW ? unit / per : unit % parts) * SIDE * mine + lane * VEC;
  const int count = (int)(rows.end[number] - first > longest ? -1 : rows.end[number] - first);
  if (count < 0) return;  // the segments of a long row are processed by another launch
  const i64 row = rows.row_stride ? rows.row_of[number] : number;
  x += c;
  won += c;
  Sums sums;
#pragma unroll
  for (int j = 0; j < mine; ++j) sums.sum[j] = 0, sums.best[j] = -1;
#if SHARED
  const u32 group = group_mask<SIDE>();
  Entries<1> held;
#if PIPE
  if (lane < count) held.read(0, all, a.values, first + lane);
#endif
  for (int e = 0; e < count; e += SIDE) {
#if PIPE
    const Entries<1> now = held;
    if (e + SIDE + lane < count) held.read(0, all, a.values, first + e + SIDE + lane);
#else
    if (e + lane < count) held.read(0, all, a.values, first + e + lane);
    const Entries<1> now = held;
#endif
    const int here = count - e < SIDE ? count - e : SIDE;
    for (int k = 0; k < here; k += AHEAD) {
      Share<X_T> v[AHEAD];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
        const COL_T column = __shfl_sync(group, now.column[0], k + i, SIDE);
        if (k + i < here && c < width) v[i].read(x + row_of(column, width));
      }
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
        const Z_T value = ISO ? (Z_T)A_T(a.iso) : (Z_T)__shfl_sync(group, (Z_T)now.value[0], k + i, SIDE);
        if (k + i < here) {
#pragma unroll
          for (int j = 0; j < mine; ++j) sums.add(j, Given::number(v[i][j]) * value, 0, row);
        }
      }
    }
  }
  if (c >= width) return;
#else
  const int share = SHARES > 1 ? threadIdx.x / SIDE & (SHARES - 1) : 0;
  if (SHARES == 1 && c >= width) return;
#if CLAMP != 2
  Entries<AHEAD> next;
#endif
#if PIPE
#pragma unroll
  for (int i = 0; i < AHEAD; ++i)
    if (i < count) next.read(i, all, a.values, first + i);
#endif
#if CLAMP == 2
  int e = share * AHEAD;
  const int till = SHARES == 1 || c < width ? count : 0;
  for (; e + AHEAD <= till; e += AHEAD * SHARES) sums.step<true>(all, a, first, e, till, x, won, width, row);
  if (e < till) sums.step<false>(all, a, first, e, till, x, won, width, row);
  if (SHARES > 1) {
#pragma unroll
    for (int d = SIDE; d < LANES; d <<= 1) {
#pragma unroll
      for (int j = 0; j < mine; ++j) sums.sum[j] += shuffle_xor(group_mask<LANES>(), sums.sum[j], d);
    }
    if (share || c >= width) return;
  }
#else
  for (int e = 0; e < count; e += AHEAD) {
#if !PIPE
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (CLAMP || e + i < count) next.read(i, all, a.values, first + (e + i < count ? e + i : e));
#endif
    const Entries<AHEAD> now = next;
    Share<X_T> v[AHEAD];
    Share<WINNER_T> from[AHEAD];  // BEST: the column; PICK: the winner
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (!CLAMP && e + i >= count) continue;
      v[i].read(x + row_of(now.column[i], width));
      if (MODE != SUM && (MODE == BEST) == (PART == JOIN)) from[i].read(won + row_of(now.column[i], width));
    }
#if PIPE
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (e + AHEAD + i < count) next.read(i, all, a.values, first + (e + AHEAD + i));
#endif
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (e + i >= count) break;
      const Z_T value = PART == JOIN || ISO ? (Z_T)A_T(a.iso) : (Z_T)now.value[i];
#pragma unroll
      for (int j = 0; j < mine; ++j) {
        const Z_T given = Given::number(v[i][j]);
        const WINNER_T origin = MODE == BEST && PART != JOIN ? (WINNER_T)now.column[i] : from[i][j];
        sums.add(j, PART == JOIN ? given : given * value, origin, row);
      }
    }
  }
#endif
#endif
  Share<Y_T> found;
  const Z_T divisor = MEAN && count ? (Z_T)(PART == JOIN ? entries[number] : count) : Z_T(1);
#pragma unroll
  for (int j = 0; j < mine; ++j) found[j] = Stored16<Z_T, Y_T>::rounded(MEAN ? sums.sum[j] / divisor : sums.sum[j]);
  const i64 to = (PART == PARTS ? number : row) * width + c;
#if STREAM && !defined(__CUDA_EMU__)
  found.stream(y + to);
#else
  found.write(y + to);
#endif
  if (MODE == BEST) sums.best.write(winner + to);
}

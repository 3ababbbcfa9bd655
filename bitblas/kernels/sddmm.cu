// Sampled product of two dense arrays (SDDMM): for each entry (i, j) of a matrix, the sum of the products of row i of g
// and row j of x, each of `width` numbers; with TRANSPOSED, of row j of g and row i of x.
// PICK (the derivative of a largest or smallest product for the values of its matrix): only positions count whose winner
// (`won`) is the row of x. Numbers of g, x and y may be stored in 16 bits (kernels/half.cuh).
// LANES lanes share an entry, and add their sums in a fixed order; each takes VEC adjacent positions, which it loads at
// once, then those LANES * VEC further: with VEC > 1, rows begin at multiples of 16 bytes. LANES * VEC is at most width,
// so that each lane has a product. A group of lanes takes RUN entries, AHEAD of them at once: adjacent entries mostly
// share a row of g.
#include "formats/csr/columns.cuh"
#include "kernels/half.cuh"

#define AHEAD 4
#define PIECES 1

#include "kernels/positions.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
    sddmm(i64 n, i64 nvals, i64 nrows, RowsView<PTR_T> rows, ColumnsView all, i64 width, const G_T* g, i64 g_stride,
          const X_T* x, i64 x_stride, const WINNER_T* won, Y_T* y) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const int lane = threadIdx.x & (LANES - 1);
  const AnyColumn<PACKED, COL_T> columns(all.col, all.width);
  i64 e = unit * RUN, row = row_from(rows.begin, 0, nrows, e);
  const i64 end = e + RUN < nvals ? e + RUN : nvals;
  for (; e < end; e += AHEAD) {
    i64 to[AHEAD], from[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const i64 entry = e + i < end ? e + i : end - 1;
      while ((i64)rows.end[row] <= entry) ++row;
      const i64 column = (i64)columns[entry];
      to[i] = TRANSPOSED ? column : row, from[i] = TRANSPOSED ? row : column;
    }
    Z_T sum[AHEAD];
    for (i64 c = lane * VEC; c < width; c += LANES * VEC) {
      Share<G_T> u[AHEAD];
      Share<X_T> v[AHEAD];
      Share<WINNER_T> winner[AHEAD];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
        u[i].read(g + to[i] * g_stride + c);
        v[i].read(x + from[i] * x_stride + c);
        if (PICK) winner[i].read(won + to[i] * width + c);
      }
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
          Z_T z = mul(Numbers<A_T, G_T>::number(u[i][j]), Numbers<B_T, X_T>::number(v[i][j]), to[i], c + j, from[i]);
          if (PICK && winner[i][j] != from[i]) z = 0;
          sum[i] = j == 0 && c == lane * VEC ? z : add(sum[i], z);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
#pragma unroll
      for (int d = LANES / 2; d; d >>= 1) sum[i] = add(sum[i], shuffle_xor(group_mask<LANES>(), sum[i], d));
      if (lane == (i & (LANES - 1)) && e + i < end) y[e + i] = Numbers<Z_T, Y_T>::rounded(sum[i]);
    }
  }
}

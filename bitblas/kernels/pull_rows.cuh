// Prologue and epilogue of a pull by rows: what happens before and after a row is read.
// The layout defines how a row is walked, product.cuh the epilogue.
#include "kernels/product.cuh"

// A row as its LANES lanes see it. A hub's segments are rows of another launch. For presence only, the hub's beginning
// is searched at once, and its segments set the bit if it is still missing.
struct Row {
  i64 n, unit, row;
  int lane;
  bool inside, segment, open, hub;
  template <class P>
  __device__ __forceinline__ Row(i64 units, const RowsView<P>& rows, const MaskView& mask, const u64* t_bits)
      : n(units), unit(thread_number() / LANES), lane(threadIdx.x & (LANES - 1)), inside(unit < n),
        segment(PRESENCE && rows.row_stride), hub(false) {
    row = rows.row_stride && inside ? rows.row_of[unit] : unit;
    open = inside && mask.allows(row) && !(segment && bit_now(t_bits, row));
  }
};

// A lane's part of a row's sum.
struct Sum {
  bool some;
  Z_T sum;
  i64 count;

  // Add entries of the row that a lane has found together: N columns, a flag for each, and value(k). All operands are
  // loaded before the first is used.
  template <int N, class J, class V>
  __device__ __forceinline__ void take(bool (&has)[N], const J (&j)[N], V value, A_T a_iso, i64 row,
                                       const VectorView<U_T>& u) {
#if KIND == VALUES
    A_T a[N];
    U_T x[N];
#pragma unroll
    for (int k = 0; k < N; ++k) a[k] = has[k] ? value(k) : a_iso;
#endif
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (!U_FULL) has[k] = has[k] && u.has(j[k]);
#if KIND == VALUES
      x[k] = has[k] ? u.at(j[k]) : U_T();
#else
      some = some || has[k];
      count += has[k];
#endif
    }
#if KIND == VALUES
#pragma unroll
    for (int k = 0; k < N; ++k)
      if (has[k] && !is_final(some, sum)) join(some, sum, true, mul(a[k], x[k], row, j[k]));
#endif
  }
  // Whether the sum is final (terminal value).
  __device__ __forceinline__ bool done() const { return KIND == WORDS ? some : KIND == VALUES && is_final(some, sum); }
};

__device__ __forceinline__ void end_row(const Row& of, Sum x, Z_T product, const Epilogue& to) {
  if (KIND == COUNT) {
#pragma unroll
    for (int d = LANES / 2; d; d >>= 1) x.count += shuffle_xor(ALL_LANES, x.count, d);
    x.some = x.count > 0;
    if (x.some) x.sum = repeated(product, x.count);
  } else {
    if (KIND == WORDS) x.sum = product;
    join_lanes(x.some, x.sum, 1);
  }
  if (of.segment) {
    if (x.some && of.lane == 0) atomicOr((u32*)to.t.bits + (of.row >> 5), 1u << (of.row & 31));
    return;
  }
  Ending done = {false, false};
  if (of.inside && of.lane == 0) done = finish(of.unit, of.open && !of.hub, x.some, x.sum, to, of.hub ? 0 : to.replace);
  write_bits<1>(to.t.bits, of.n, of.unit, done.present);
#if STORE && W_BOOL
  write_bits<1>(to.t.values, of.n, of.unit, done.value);
#endif
}

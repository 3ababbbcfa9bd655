// Push SpMV on CGR rows: t = A' (+).(x) u along the rows where u has an entry.
// LANES lanes share a row, one segment each. The columns of intervals that a lane decodes are distributed over the warp.
#include "kernels/product.cuh"
#include "formats/cgr/walk.cuh"

// f(has, owner, k) for item k of lane `owner` of the warp, which has `length` items; one per lane at a time.
template <class F> __device__ __forceinline__ void shared_out(u32 length, F f) {
  const u32 lane = threadIdx.x & 31;
  u32 upto = length;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const u32 below = __shfl_up_sync(ALL_LANES, upto, d);
    if (lane >= d) upto += below;
  }
  const u32 total = __shfl_sync(ALL_LANES, upto, 31);
  for (u32 x = lane; x - lane < total; x += 32) {
    int owner = 0;
#pragma unroll
    for (int d = 16; d; d >>= 1) {
      const u32 until = __shfl_sync(ALL_LANES, upto, owner + d - 1);
      if (until <= x) owner += d;
    }
    f(x < total, owner, x - __shfl_sync(ALL_LANES, upto - length, owner));
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, RowsView<i64> rows, const u32* words, i64 segment, const PLACE_T* value_ptr, Values a,
     VectorView<U_T> u, MaskView mask, ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const i64 row = rows.row_stride && unit < n ? rows.row_of[unit] : unit;
  typedef Walk<LANES, RANKED, true> Lanes;
  Lanes walk;
  if (unit < n && u.has(row)) {
    const i64 number = RANKED ? (i64)value_ptr[row] : 0;
    if (rows.row_stride) {
      walk = Lanes(words, rows.begin + MARK * unit, segment, row, number, lane);
    } else {
      Extent x = row_extent(rows.begin, words, row);
      if (words_of(x) > longest) x.end = x.at;  // a hub: its parts are processed by another launch
      walk = Lanes(words, x, segment, row, number, lane);
    }
  }
  const auto reach = [&](i64 i, i64 j, i64 e) {
    if (!mask.allows(j)) return;
    if (KIND == WORDS) {
      if (!bit_now(t.bits, j)) mark(t.bits, j);
    } else {
      scatter(t.bits, t.values, j, mul(RANKED ? a.at(e) : A_T(a.iso), u.at(i), j, i));
    }
  };
  while (__any_sync(ALL_LANES, walk.more())) {
    Found of;
    walk.step(words, lane, of);
#if KIND == WORDS
    words_in(of.from, of.length, [&](u32 k, u32 bits) {
      bits &= mask.half(k);
      if (bits & ~peek((const u32*)t.bits + k)) atomicOr((u32*)t.bits + k, bits);
      return true;
    });
#else
    if (__any_sync(ALL_LANES, of.length))
      shared_out(of.length, [&](bool has, int owner, u32 k) {
        const u32 from = __shfl_sync(ALL_LANES, of.from, owner);
        const i64 i = __shfl_sync(ALL_LANES, row, owner), e = __shfl_sync(ALL_LANES, of.entry, owner);
        if (has) reach(i, from + k, e + k);
      });
#endif
#pragma unroll
    for (int k = 0; k < TAKEN; ++k)
      if (of.has[k]) reach(row, of.at[k], of.entry + k);
  }
}

// Push SpMV on CGR rows: t = A' (+).(x) u along the rows where u has an entry.
// LANES lanes share a row, one segment each.
// SHARED: what a lane decodes is distributed over the warp: 1, intervals; 2, residuals too (task stealing of Sha, Li
// and Tan).
#include "kernels/push.cuh"
#include "kernels/values.cuh"
#include "formats/cgr/range.cuh"
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
push(i64 n, i64 longest, const i64* begin, const i64* end, const i64* row_of, i64 row_stride, const u32* words,
     i64 segment, const PLACE_T* value_ptr, const value_t* a_val, ARGUMENT(A_T) a_iso, i64 a_stride, const u64* u_bits,
     const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, const u64* mask, i64 mask_stride, u64 mask_invert, ARGUMENT(Z_T) product,
     i64* counts, u64* t_bits, C_T* t_val) {
  (void)product, (void)counts, (void)end;
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const i64 row = row_stride && unit < n ? row_of[unit] : unit;
  typedef Walk<LANES, RANKED, SHARED || KIND == WORDS> Lanes;
  Lanes walk;
  if (unit < n && bit_of(u_bits, row)) {
    const i64 number = RANKED ? (i64)value_ptr[row] : 0;
    if (row_stride) {
      walk = Lanes(words, begin + MARK * unit, segment, row, number, lane);
    } else {
      Extent x = row_extent(begin, words, row);
      if (words_of(x) > longest) x.end = x.at;  // a hub: its parts are processed by another launch
      walk = Lanes(words, x, segment, row, number, lane);
    }
  }
  const Values values = {a_val, a_iso, a_stride};
  (void)values;
  const auto reach = [&](i64 i, i64 j, i64 e) {
    if (!allowed(mask, mask_stride, mask_invert, j)) return;
    if (KIND == WORDS) {
      if (!bit_now(t_bits, j)) mark(t_bits, j);
    } else {
      scatter(t_bits, t_val, j, mul(RANKED ? values.at(e) : a_iso, load<U_T>(u_val, u_iso, u_stride, i), j, i));
    }
  };
#if SHARED == 2
  __shared__ u32 stolen[BLOCK * TAKEN];
  u32* mine = stolen + threadIdx.x / 32 * 32 * TAKEN;
#endif
  while (__any_sync(ALL_LANES, walk.more())) {
    Found of;
    walk.step(words, lane, of);
#if KIND == WORDS
    words_in(of.from, of.length, [&](u32 k, u32 bits) {
      bits &= ((const u32*)mask)[(i64)k * mask_stride] ^ (u32)mask_invert;
      if (bits & ~((const u32*)t_bits)[k]) atomicOr((u32*)t_bits + k, bits);
      return true;
    });
#elif SHARED
    if (__any_sync(ALL_LANES, of.length))
      shared_out(of.length, [&](bool has, int owner, u32 k) {
        const u32 from = __shfl_sync(ALL_LANES, of.from, owner);
        const i64 i = __shfl_sync(ALL_LANES, row, owner), e = __shfl_sync(ALL_LANES, of.entry, owner);
        if (has) reach(i, from + k, e + k);
      });
#endif
#if SHARED == 2
    u32 some = 0;
#pragma unroll
    for (int k = 0; k < TAKEN; ++k)
      if (of.has[k]) mine[(threadIdx.x & 31) * TAKEN + k] = of.at[k], ++some;
    __syncwarp();
    shared_out(some, [&](bool has, int owner, u32 k) {
      const i64 i = __shfl_sync(ALL_LANES, row, owner), e = __shfl_sync(ALL_LANES, of.entry, owner);
      if (has) reach(i, mine[owner * TAKEN + k], e + k);
    });
    __syncwarp();
#else
#pragma unroll
    for (int k = 0; k < TAKEN; ++k)
      if (of.has[k]) reach(row, of.at[k], of.entry + k);
#endif
  }
}

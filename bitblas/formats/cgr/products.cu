// Products of CGR rows: pulls and pushes.
#include "formats/cgr/walk.cuh"
#define HAS_RANGES 1

#ifdef KERNEL_pull
// LANES lanes read the segments of a row. For presence or counts, an interval is a range test on u.
#include "kernels/pull_rows.cuh"
typedef Walk<LANES, RANKED, true> PullWalk;

// Add the intervals of lanes to their sums. For sums of values, long ones are shared by all lanes of the warp, in an order that depends
// only on the length.
#define LONG 64
__device__ __forceinline__ void take_ranges(const Found& found, Sum& x, const Values& a, i64 row,
                                            const VectorView<U_T>& u) {
#if KIND == WORDS
  x.some = x.some || (found.length && any_in(u.bits, found.from, found.length));
#elif KIND == COUNT
  x.count += U_FULL ? (i64)found.length : count_in(u.bits, found.from, found.length);
#else
  const u32 lane = threadIdx.x & 31;
  u32 longs = __ballot_sync(ALL_LANES, found.length >= LONG);
  for (; longs; longs &= longs - 1) {
    const int owner = __ffs(longs) - 1;
    const u32 from = __shfl_sync(ALL_LANES, found.from, owner), length = __shfl_sync(ALL_LANES, found.length, owner);
    const i64 e = __shfl_sync(ALL_LANES, found.entry, owner), i = __shfl_sync(ALL_LANES, row, owner);
    Sum share = {false, IDENTITY, 0};
    for (u32 k = lane; k < length && !share.done(); k += 32) {
      bool has[1] = {true};
      const u32 j[1] = {from + k};
      share.take(has, j, [&](int) { return RANKED ? a.at(e + k) : a.iso; }, a.iso, i, u);
    }
#pragma unroll
    for (int d = 16; d; d >>= 1) {
      const bool other = shuffle_xor(ALL_LANES, share.some, d);
      const Z_T z = shuffle_xor(ALL_LANES, share.sum, d);
      join(share.some, share.sum, other, z);
    }
    if (lane == (u32)owner && !x.done()) join(x.some, x.sum, share.some, share.sum);
  }
  if (found.length >= LONG) return;
  for (u32 k = 0; k < found.length && !x.done(); k += TAKEN) {
    bool has[TAKEN];
    u32 j[TAKEN];
#pragma unroll
    for (int s = 0; s < TAKEN; ++s) has[s] = k + s < found.length, j[s] = found.from + k + s;
    x.take(has, j, [&](int s) { return RANKED ? a.at(found.entry + k + s) : a.iso; }, a.iso, row, u);
  }
#endif
}
#define PULL
#define PULL_BLOCKS (KIND == VALUES && sizeof(Z_T) > 4 ? 3 : 4)
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_pull

#ifdef KERNEL_push
// LANES lanes share a row, one segment each. The columns of intervals that a lane decodes are distributed over the warp.
#include "kernels/product.cuh"

// f(has, owner, k) for item k of lane `owner` of the warp, which has `length` items; one per lane at a time.
template <class F> __device__ __forceinline__ void shared_out(u32 length, F f) {
  const u32 lane = threadIdx.x & 31;
  const u32 upto = sum_upto<32>(length, lane);
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

// Push the intervals of lanes.
template <class F>
__device__ __forceinline__ void push_ranges(const Found& found, i64 row, const OutputView<C_T>& t, const MaskView& mask,
                                            F reach) {
#if KIND == WORDS
  words_in(found.from, found.length, [&](u32 k, u32 bits) {
    bits &= mask.half(k);
    if (bits & ~peek((const u32*)t.bits + k)) atomicOr((u32*)t.bits + k, bits);
    return true;
  });
#else
  if (__any_sync(ALL_LANES, found.length))
    shared_out(found.length, [&](bool has, int owner, u32 k) {
      const u32 from = __shfl_sync(ALL_LANES, found.from, owner);
      const i64 i = __shfl_sync(ALL_LANES, row, owner), e = __shfl_sync(ALL_LANES, found.entry, owner);
      if (has) reach(i, from + k, e + k);
    });
#endif
}
#define PUSH
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_push

#ifdef KERNEL_pull_lines
#include "formats/bitmap/lines.cuh"
#define LINES
#define PULL_LINES
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_pull_lines

#ifdef KERNEL_push_lines
#include "formats/bitmap/lines.cuh"
#define LINES
#define PUSH_LINES
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_push_lines

// Gamma and zeta codes of CGR (layout.py), in a string of 32-bit words, most significant bit first.
#include "formats/blocks.cuh"
#define LEAST 4  // least columns of an interval

__device__ __forceinline__ Extent row_extent(const i64* heads, const u32* words, i64 row) {
  return extent_of<32>(heads, words, row);
}
__device__ __forceinline__ i64 words_of(const Extent& x) { return (x.end - x.at + 31) >> 5; }

// The 64 bits from bit `at` on.
__device__ __forceinline__ u64 window(const u32* words, i64 at) {
  const u32* word = words + (at >> 5);
  const u32 shift = (u32)at & 31;
  return (u64)__funnelshift_l(word[1], word[0], shift) << 32 | __funnelshift_l(word[2], word[1], shift);
}

// Gamma code of a number: h zeros, a 1, and h more bits, which together with the 1 are the number plus 1.
__device__ __forceinline__ u32 gamma_at(const u32* words, i64& at) {
  const u64 bits = window(words, at);
  const int h = __clzll((i64)bits);
  at += 2 * h + 1;
  return (u32)(bits >> (63 - 2 * h)) - 1;
}

// zeta_3: h zeros, a 1, and 3 (h + 1) bits, which are the number plus 1. `used`: bits of the window read so far.
__device__ __forceinline__ u32 zeta_in(u64 window, u32& used) {
  const u64 bits = window << used;
  const u32 h = (u32)__clzll((i64)bits), size = 3 * (h + 1);
  used += 4 * (h + 1);
  return (u32)(bits << (h + 1) >> (64 - size)) - 1;
}
#define ZETA_BITS 44  // at most

// The signed distance of a segment's first value from the row.
__device__ __forceinline__ u32 unfolded(u32 value) { return (value >> 1) ^ (0u - (value & 1)); }

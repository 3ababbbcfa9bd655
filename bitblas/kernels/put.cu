// Scattered single writes in place. Indices are distinct.
// Item k is (index, whether the entry is present afterwards, the bits of its value in whole words).
#include "kernels/views.cuh"

__device__ __forceinline__ void write_bit(u64* bits, i64 i, bool on) {
  u32* half = (u32*)bits + (i >> 5);
  const u32 bit = 1u << (i & 31);
  if (on) atomicOr(half, bit); else atomicAnd(half, ~bit);
}

#define VALUE_WORDS ((sizeof(U_T) + 7) / 8)
#define ITEM (2 + VALUE_WORDS)

extern "C" __global__ void __launch_bounds__(BLOCK, 4) put(i64 n, const u64* items, u64* w_bits, STORED(U_T)* w_val) {
  const i64 k = thread_number();
  if (k >= n) return;
  const i64 i = (i64)items[ITEM * k];
  const bool stays = items[ITEM * k + 1] != 0;
  write_bit(w_bits, i, stays);
#if DENSE && U_BOOL
  write_bit(w_val, i, stays && (items[ITEM * k + 2] & 1));
#elif DENSE
  union { u64 raw[VALUE_WORDS]; U_T value; } x;
#pragma unroll
  for (int word = 0; word < VALUE_WORDS; ++word) x.raw[word] = items[ITEM * k + 2 + word];
  if (stays) w_val[i] = x.value;
#endif
}

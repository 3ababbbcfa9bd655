// What the products of every format share. Work is a list of rows begin[i] .. end[i] (for a matrix: its pointers, and
// its pointers one further); row_of (step 1) numbers them where they are segments of long rows.
// KIND: WORDS, only presence counts (all products are equal and their sum is that value); COUNT, all products are equal
// and the sum of k of them is known; VALUES, the general case.
#include "kernels/vector.cuh"
#define WORDS 0
#define COUNT 1
#define VALUES 2

// Sums with a flag for "no product yet": GraphBLAS knows no implicit zero.
__device__ __forceinline__ void join(bool& some, Z_T& sum, bool more, Z_T z) {
  if (more) sum = some ? add(sum, z) : z;
  some = some || more;
}
__device__ __forceinline__ bool is_final(bool some, Z_T sum) {
  return HAS_TERMINAL == 2 ? some : HAS_TERMINAL == 1 ? some && sum == TERMINAL : false;
}

// The sum over lanes `first`, 2 * `first`, .. apart within groups of LANES: every lane of the group gets it.
__device__ __forceinline__ void join_lanes(bool& some, Z_T& sum, int first) {
#pragma unroll
  for (int d = LANES / 2; d >= 1; d >>= 1) {
    if (d < first) break;
    const bool other = shuffle_xor(ALL_LANES, some, d);
    const Z_T z = shuffle_xor(ALL_LANES, sum, d);
    join(some, sum, other, z);
  }
}

// BITS bits for unit `unit` of the bitset t, which is zero before; the first lane of every group of LANES brings them.
template <int BITS> __device__ __forceinline__ void write_bits(u64* t_bits, i64 unit, u64 value, bool inside) {
  static_assert(BITS >= 8 || BITS <= LANES, "a warp's bits must fit one half word");
  const int units = 32 / BITS > 0 ? 32 / BITS : 1;  // units in a 32-bit half word
  const bool first = inside && (threadIdx.x & (LANES - 1)) == 0;
  if (BITS == 64) {
    if (first) t_bits[unit] = value;
  } else if (BITS == 32) {
    if (first) ((u32*)t_bits)[unit] = (u32)value;
  } else if (BITS == 16) {
    if (first) ((u16*)t_bits)[unit] = (u16)value;
  } else if (BITS == 8) {
    if (first) ((u8*)t_bits)[unit] = (u8)value;
  } else {
    u32 half = first ? (u32)value << (BITS * (int)(unit & (units - 1))) : 0u;  // a warp's units share one half word
#pragma unroll
    for (int d = 16; d; d >>= 1) half |= __shfl_xor_sync(ALL_LANES, half, d);
    if ((threadIdx.x & 31) == 0 && half) atomicOr((u32*)t_bits + unit / units, half);
  }
}

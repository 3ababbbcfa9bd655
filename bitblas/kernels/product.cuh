// What the products of every format share. Work is a list of rows begin[i] .. end[i] (for a matrix: its pointers, and
// its pointers one further); row_of (stride 1) numbers them where they are segments of long rows.
// KIND: WORDS, only presence counts (all products are equal and their sum is that value); COUNT, all products are equal
// and the sum of k of them is known; VALUES, the general case.
#include "kernels/vector.cuh"
#define WORDS 0
#define COUNT 1
#define VALUES 2

// Unsigned places, so that a lane may step past the end of 2^31 entries.
template <class T> struct Unsigned { typedef u64 type; };
template <> struct Unsigned<int> { typedef u32 type; };
#define PLACE(T) typename Unsigned<T>::type

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

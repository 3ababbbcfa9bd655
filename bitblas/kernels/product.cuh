// Shared parts of all product kernels: how sums are kept, combined and ended early.
// Work is a list of rows begin[i] .. end[i]; for a whole matrix these are its row pointers, and its row pointers
// shifted by one. row_of (stride 1) gives the row numbers if the list holds segments of long rows.
// KIND: WORDS, only presence matters (all products are equal, and so is any sum of them); COUNT, all products are
// equal and the sum of k of them has a closed form; VALUES, the general case.
// Arguments of products: rows (the rows to compute); the layout's arrays; a (matrix values); u; mask; product (the value of
// all products; KIND WORDS and COUNT); to or t (the result).
#include "kernels/views.cuh"
#define WORDS 0
#define COUNT 1
#define VALUES 2

// Unsigned positions, so that a lane may step past the end of 2^31 entries.
template <class T> struct Unsigned { typedef u64 type; };
template <> struct Unsigned<int> { typedef u32 type; };
#define PLACE(T) typename Unsigned<T>::type

// Sums with a flag for "no product yet": GraphBLAS has no implicit zero.
__device__ __forceinline__ void join(bool& some, Z_T& sum, bool more, Z_T z) {
  if (more) sum = some ? add(sum, z) : z;
  some = some || more;
}
__device__ __forceinline__ bool is_final(bool some, Z_T sum) {
  return HAS_TERMINAL == 2 ? some : HAS_TERMINAL == 1 ? some && sum == TERMINAL : false;
}

// The sum over lanes that are `first`, 2 * `first`, .. apart within groups of LANES; every lane of the group gets it.
__device__ __forceinline__ void join_lanes(bool& some, Z_T& sum, int first) {
#pragma unroll
  for (int d = LANES / 2; d >= 1; d >>= 1) {
    if (d < first) break;
    const bool other = shuffle_xor(ALL_LANES, some, d);
    const Z_T z = shuffle_xor(ALL_LANES, sum, d);
    join(some, sum, other, z);
  }
}

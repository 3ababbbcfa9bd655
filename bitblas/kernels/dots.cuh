// Finish a dot product at an entry of the mask: reduce the partial sums of the lanes and write the result.
#include "kernels/product.cuh"

struct Sum {
  bool some;
  Z_T sum;
  i64 count;
};

// The sum over groups of G lanes; all lanes get it.
template <int G> __device__ __forceinline__ void gather(Sum& t) {
#pragma unroll
  for (int d = G / 2; d; d >>= 1) {
    if (KIND == VALUES) {
      const bool more = shuffle_xor(ALL_LANES, t.some, d);
      const Z_T z = shuffle_xor(ALL_LANES, t.sum, d);
      join(t.some, t.sum, more, z);
    } else {
      t.count += shuffle_xor(ALL_LANES, t.count, d);
    }
  }
}

__device__ __forceinline__ void write(const Sum& t, i64 entry, Z_T product, u8* present, Z_T* sums) {
  const bool some = KIND == VALUES ? t.some : t.count > 0;
  present[entry] = some;
  if (KIND == VALUES) sums[entry] = t.sum;
  if (KIND == COUNT) sums[entry] = some ? repeated(product, t.count) : IDENTITY;
}

// Reduce each line of a bitmap (row or column reduction of a multivector) with LANES lanes.
// The bits of t are zero before the launch.
// KIND COUNT: all values are `product`. The order of additions depends only on the shape.
#include "kernels/product.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
across(i64 n, i64 words, const LINE_T* x_bits, const STORED(U_T)* x_val, ARGUMENT(U_T) x_iso, i64 x_stride, ARGUMENT(Z_T) product,
       u64* t_bits, STORED(Z_T)* t_val) {
  const i64 line = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  bool some = false;
  Z_T sum = product;
  i64 count = 0;
  for (i64 w = 0; line < n && w < words; ++w) {
    const u64 x = x_bits[line * words + w];
    if constexpr (KIND == COUNT) {
      count += __popcll(x);
    } else {
      for (int b = lane; b < BITS; b += LANES)
        if (x >> b & 1)
          join(some, sum, true, cast<Z_T>(load<U_T>(x_val, x_iso, x_stride, (line * words + w) * BITS + b)));
    }
  }
  if (KIND == COUNT) {
    some = count > 0;
    if (some) sum = repeated(product, count);
  } else {
    join_lanes(some, sum, 1);
  }
  if (lane || !some) return;
  const u32 bit = 1u << (line & 31);
  atomicOr((u32*)t_bits + (line >> 5), bit);
#if Z_BOOL
  if (sum) atomicOr((u32*)t_val + (line >> 5), bit);
#else
  t_val[line] = sum;
#endif
}

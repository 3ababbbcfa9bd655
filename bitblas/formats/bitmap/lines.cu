// Lines of a bitmap: reduce each, assign a scalar at positions, set the bits at positions.

#ifdef KERNEL_across
// Reduce each line of a bitmap (row or column reduction of a multivector) with LANES lanes.
// The bits of t are zero before the launch.
// KIND COUNT: all values are `product`. The order of additions depends only on the shape.
#include "formats/bitmap/lines.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
across(i64 n, i64 words, LinesView x, ARGUMENT(Z_T) product, OutputView<Z_T> t) {
  const i64 line = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  bool some = false;
  Z_T sum = product;
  i64 count = 0;
  for (i64 w = 0; line < n && w < words; ++w) {
    const u64 there = x.bits[line * words + w];
    if constexpr (KIND == COUNT) {
      count += __popcll(there);
    } else {
      for (int b = lane; b < BITS; b += LANES)
        if (there >> b & 1)
          join(some, sum, true, cast<Z_T>(x.at((line * words + w) * BITS + b)));
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
  atomicOr((u32*)t.bits + (line >> 5), bit);
#if Z_BOOL
  if (sum) atomicOr((u32*)t.values + (line >> 5), bit);
#else
  t.values[line] = sum;
#endif
}
#endif  // KERNEL_across

#ifdef KERNEL_fill
// Assign a scalar at the positions of t: w<mask, replace> = x, word by word.
// A warp takes 32 words and writes the values of each together.
// (kernels/merge.cu uses a thread per position; in a bitmap most of them would be idle.)
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
fill(i64 n, const u64* t_bits, ARGUMENT(W_T) x, MaskView mask, i64 replace, u64* w_bits, W_T* w_val) {
  const i64 word = thread_number();
  u64 news = 0;
  if (word < n) {
    const u64 open = mask.word(word);
    news = t_bits[word] & open;
    w_bits[word] = news | (replace ? 0 : w_bits[word] & ~open);
  }
  const int lane = threadIdx.x & 31;
  for (u32 left = __ballot_sync(ALL_LANES, news != 0); left; left &= left - 1) {
    const int k = __ffs(left) - 1;
    const u32 low = __shfl_sync(ALL_LANES, (u32)news, k), high = __shfl_sync(ALL_LANES, (u32)(news >> 32), k);
    W_T* at = w_val + ((word - lane + k) << 6) + lane;
    if (low >> lane & 1) at[0] = x;
    if (high >> lane & 1) at[32] = x;
  }
}
#endif  // KERNEL_fill

#ifdef KERNEL_mark
// Set the bits at a list of distinct positions.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
mark(i64 n, const i64* places, u64* bits) {
  const i64 e = thread_number();
  if (e < n) atomicOr((u32*)bits + (places[e] >> 5), 1u << (places[e] & 31));
}
#endif  // KERNEL_mark

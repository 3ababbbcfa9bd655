// Assign a scalar at the positions of t: w<mask, replace> = x, word by word.
// A warp takes 32 words and writes the values of each together.
// (kernels/merge.cu uses a thread per position; in a bitmap most of them would be idle.)
#include "kernels/base.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
fill(i64 n, const u64* t_bits, ARGUMENT(W_T) x, const u64* mask, i64 mask_stride, u64 mask_invert, i64 replace, u64* w_bits,
     W_T* w_val) {
  const i64 word = thread_number();
  u64 news = 0;
  if (word < n) {
    const u64 open = mask[word * mask_stride] ^ mask_invert;
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

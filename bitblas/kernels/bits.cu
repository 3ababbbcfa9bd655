// w<mask, replace> = t on bitsets alone, in place. A stride of 0 reads one word for all (of t, inverted or not: all
// or nothing).
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
bits(i64 n, i64 size, u64* w, const u64* t, i64 t_stride, u64 t_invert, const u64* mask, i64 mask_stride,
     u64 mask_invert, i64 replace) {
  const i64 word = thread_number();
  if (word >= n) return;
  const i64 left = size - word * 64;
  const u64 inside = left >= 64 ? ~0ull : left > 0 ? (1ull << left) - 1 : 0ull;
  const u64 open = mask[word * mask_stride] ^ mask_invert, fresh = t[word * t_stride] ^ t_invert;
  w[word] = inside & ((fresh & open) | (replace ? 0ull : w[word] & ~open));
}

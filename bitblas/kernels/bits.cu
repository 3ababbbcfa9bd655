// Masked assignment on presence bits: w<mask, replace> = t in place, for vectors whose values do not change.
// A stride of 0 reads one word for all positions; as t, inverted or not, that means all entries or none.
// w: output bits; t, t_stride, t_invert: input bits; then the mask.
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

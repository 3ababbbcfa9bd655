// w<mask, replace> = t on bitsets alone, in place. A step of 0 reads one word for all (t: with a flip, all or nothing).
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
bits(i64 n, i64 size, u64* w, const u64* t, i64 t_step, u64 t_flip, const u64* mask, i64 mask_step, u64 mask_flip,
     i64 replace) {
  const i64 word = thread_number();
  if (word >= n) return;
  const i64 left = size - word * 64;
  const u64 inside = left >= 64 ? ~0ull : left > 0 ? (1ull << left) - 1 : 0ull;
  const u64 open = mask[word * mask_step] ^ mask_flip, fresh = t[word * t_step] ^ t_flip;
  w[word] = inside & ((fresh & open) | (replace ? 0ull : w[word] & ~open));
}

// Read a range of positions from a bitset, word by word: an interval needs no list of columns.

// f(k, bits): half word number k, and its bits within the range; stops when f returns false.
template <class F> __device__ __forceinline__ void words_in(u32 from, u32 length, F f) {
  if (!length) return;
  const u32 last = from + length - 1;
  for (u32 k = from >> 5; k <= last >> 5; ++k) {
    u32 bits = ~0u;
    if (k == from >> 5) bits &= ~0u << (from & 31);
    if (k == last >> 5) bits &= ~0u >> (31 - (last & 31));
    if (!f(k, bits)) return;
  }
}
__device__ __forceinline__ bool any_in(const u64* set, u32 from, u32 length) {
  bool found = false;
  words_in(from, length, [&](u32 k, u32 bits) { return !(found = (((const u32*)set)[k] & bits) != 0); });
  return found;
}
__device__ __forceinline__ i64 count_in(const u64* set, u32 from, u32 length) {
  i64 found = 0;
  words_in(from, length, [&](u32 k, u32 bits) { return found += __popc(((const u32*)set)[k] & bits), true; });
  return found;
}

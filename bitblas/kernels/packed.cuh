// Packed integers: numbers of `width` bits (1 to 32) in a little-endian string of 32-bit words.
// Number k occupies bits [k * width, (k + 1) * width). One padding word follows the last, so that two words can always
// be read.
__device__ __forceinline__ u32 low_bits(u32 width) { return 0xffffffffu >> (32 - width); }

__device__ __forceinline__ u32 packed_at(const u32* string, i64 k, u32 width) {
  const u64 at = (u64)k * width;
  const u32* word = string + (at >> 5);
  return __funnelshift_r(word[0], word[1], (u32)at & 31) & low_bits(width);
}

// Values as offsets from a base, modulo 2^64; floats here are integers that fit 64 bits.
template <class T> __device__ __forceinline__ T based(T base, u32 number) { return (T)(i64)((u64)(i64)base + number); }
template <class T> __device__ __forceinline__ u32 above(T value, T base) {
  return (u32)((u64)(i64)value - (u64)(i64)base);
}

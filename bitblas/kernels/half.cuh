// Numbers of 16 bits in memory, which are computed with as FP32. HALF: 1 for FP16 (IEEE binary16), 2 for BF16 (the upper
// half of an FP32), 0 if there are none. Numbers are rounded to the nearest, ties to even.
template <class Z, class X> struct Numbers {  // X: as in memory
  static __device__ __forceinline__ Z number(X x) { return (Z)x; }
  static __device__ __forceinline__ X rounded(Z z) { return (X)z; }
};

#if HALF == 2
template <> struct Numbers<float, u16> {
  static __device__ __forceinline__ float number(u16 x) { return __int_as_float((int)((u32)x << 16)); }
  static __device__ __forceinline__ u16 rounded(float z) {
    const u32 bits = (u32)__float_as_int(z);
    return z != z ? 0x7fff : (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};
#elif HALF == 1 && !defined(__CUDA_EMU__)
template <> struct Numbers<float, u16> {
  static __device__ __forceinline__ float number(u16 x) {
    float z;
    asm("cvt.f32.f16 %0, %1;" : "=f"(z) : "h"(x));
    return z;
  }
  static __device__ __forceinline__ u16 rounded(float z) {
    u16 x;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x) : "f"(z));
    return x;
  }
};
#elif HALF == 1
// What the two instructions compute. Exponents have 5 bits and a bias of 15, instead of 8 and 127; numbers below 2^-14
// are multiples of 2^-24.
template <> struct Numbers<float, u16> {
  static float number(u16 x) {
    const u32 size = x & 0x7fff, sign = (u32)(x & 0x8000) << 16;
    if (size < 0x400) return __int_as_float((int)sign) + (sign ? -1.0f : 1.0f) * (float)size * 0x1p-24f;
    return __int_as_float((int)(sign | (size << 13) + ((size < 0x7c00 ? 127 - 15 : 255 - 31) << 23)));
  }
  static u16 rounded(float z) {
    const u32 bits = (u32)__float_as_int(z), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return 0x7fff;
    if (size >= 0x47800000) return (u16)(sign | 0x7c00);  // 2^16 and above
    if (size < 0x38800000)  // below 2^-14: the sum rounds to multiples of 2^-24
      return (u16)(sign | (u32)(__float_as_int(__int_as_float((int)size) + 0.5f) - __float_as_int(0.5f)));
    return (u16)(sign | ((size - ((127 - 15) << 23) + 0xfff + (size >> 13 & 1)) >> 13));
  }
};
#endif

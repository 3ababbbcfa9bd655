// Lines of a bitmap as operands of products, and their sums.
#include "kernels/product.cuh"

// A LINE per word of a line, and values.
struct LinesView {
  const LINE_T* bits;
  const STORED(U_T)* values;
  ARGUMENT(U_T) iso;
  i64 stride;
  __device__ __forceinline__ U_T at(i64 i) const { return load<U_T>(values, iso, stride, i); }
};

#ifdef MODE
// MODE: WHOLE, lines of T; PARTS, segments of long rows, whose sums are lines of a bitmap of their own (WORDS: joined
// to T); JOIN, reduce runs of lines of X, for example to combine parts; A is not read.
#define WHOLE 0
#define PARTS 1
#define JOIN 2
#if Z_BOOL
typedef LINE_T sums_t;
#else
typedef Z_T sums_t;
#endif

// The mask, a LINE per word.
struct LinesMask {
  const LINE_T* bits;
  i64 stride;
  u64 invert;
  // The positions of word w of a line that the mask allows (`last`: the valid positions of a line's last word).
  __device__ __forceinline__ u64 open(u64 last, i64 words, i64 line, i64 w) const {
    // Always loaded: a test would cost registers.
    const u64 open = MaskView{(const u64*)bits, 1, invert}.part<BITS>((line * words + w) * stride);
    return w == words - 1 ? open & last : open;
  }
};

struct LinesOutput {
  LINE_T* bits;
  sums_t* values;
};

// Add positions to those of a word that other threads also write.
__device__ __forceinline__ void or_places(LINE_T* bits, i64 at, u64 places) {
  const i64 first = at * BITS;
  u32* half = (u32*)bits + (first >> 5);
  if ((u32)places) atomicOr(half, (u32)places << (first & 31));
  if (BITS == 64 && places >> 32) atomicOr(half + 1, (u32)(places >> 32));
}
#endif

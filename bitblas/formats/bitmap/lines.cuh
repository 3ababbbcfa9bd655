// Shared parts of the products with a bitmap (multivector).
// A line of X or of the result is `words` LINEs of BITS bits each. The sum of a position is stored at the number of
// its bit; BOOL sums are bits.
#include "kernels/product.cuh"
#include "kernels/values.cuh"
#include "formats/csr/any_column.cuh"
#define FULL (~0ull >> (64 - BITS))
#if Z_BOOL
typedef LINE_T sums_t;
#else
typedef Z_T sums_t;
#endif
typedef AnyColumn<PACKED, COL_T> Columns;
typedef Columns::stored column_t;

// The positions of a word of a line that the mask allows; `last`: the valid positions of a line's last word.
__device__ __forceinline__ u64 open_places(const LINE_T* mask, i64 stride, u64 invert, u64 last, i64 words, i64 line,
                                           i64 w) {
  const u64 open = ((u64)mask[(line * words + w) * stride] ^ invert) & FULL;
  return w == words - 1 ? open & last : open;
}

// Add positions to those of a word that other threads also write.
__device__ __forceinline__ void or_places(LINE_T* bits, i64 at, u64 places) {
  const i64 first = at * BITS;
  u32* half = (u32*)bits + (first >> 5);
  if ((u32)places) atomicOr(half, (u32)places << (first & 31));
  if (BITS == 64 && places >> 32) atomicOr(half + 1, (u32)(places >> 32));
}

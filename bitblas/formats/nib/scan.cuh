// Walk a nibble row with one lane, value by value from a window of 16 nibbles.
// For pulls that end at the first hit: they read few nibbles, while walk.cuh would decode whole words. A value has at
// most 11 nibbles.
#include "formats/nib/row.cuh"
#define STOPS 0x88888888u

// The 3 low bits of each of eight nibbles, concatenated.
__device__ __forceinline__ u32 without_stops(u32 w) {
  w = (w & 0x07070707u) | (w & 0x70707070u) >> 1;
  w = (w & 0x003f003fu) | (w & 0x3f003f00u) >> 2;
  return (w & 0xfffu) | (w >> 16) << 12;
}

struct Scan {
  i64 at;      // the next nibble
  u32 left;    // nibbles left
  u32 column;  // the previous column; before the first value the row
  bool first;  // no value has been read yet
  u64 window;  // from `at` on; zeros if nothing was loaded

  __device__ __forceinline__ Scan() : at(0), left(0), column(0), first(false), window(0) {}
  // As a Walk, which also numbers entries: from the beginning of row `row`, or from a mark on.
  __device__ __forceinline__ Scan(const Extent& x, i64 row, i64)
      : at(x.at), left((u32)(x.end - x.at)), column((u32)row), first(true), window(0) {}
  __device__ __forceinline__ Scan(const i64* mark, i64 stop, i64)
      : at(mark[0]), left((u32)(stop - mark[0])), column((u32)mark[1]), first(mark[2] == 0), window(0) {}

  __device__ __forceinline__ bool more() const { return left != 0; }

  // The next column, as long as there are more.
  __device__ __forceinline__ u32 next(const u32* words) {
    const u64 stops = (u64)STOPS << 32 | STOPS;
    if (!(window & stops)) {
      const u32* word = words + (at >> 3);
      const u32 shift = (u32)(at & 7) * 4, middle = word[1];
      window = (u64)__funnelshift_r(middle, word[2], shift) << 32 | __funnelshift_r(word[0], middle, shift);
    }
    const int bits = __ffsll((i64)(window & stops));
    const u64 mine = window & (~0ull >> (64 - bits));
    u32 value = without_stops((u32)mine);
    if (mine >> 32) value |= without_stops((u32)(mine >> 32)) << 24;
    window >>= bits;
    at += bits >> 2, left -= min((u32)bits >> 2, left);  // the remaining nibbles may end within a value
    column += first ? (value >> 1) ^ (0u - (value & 1)) : value + 1;
    first = false;
    return column;
  }
};

// Read the nibbles of a row.
#include "formats/blocks.cuh"

__device__ __forceinline__ Extent row_extent(const i64* heads, const u32* words, i64 row) {
  return extent_of<8>(heads, words, row);
}
__device__ __forceinline__ i64 words_of(const Extent& x) { return (x.end - x.at + 7) >> 3; }

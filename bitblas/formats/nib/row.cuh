// Where the nibbles of a row stand (format.py). 32 rows are a group: heads[g] is the first word of its block, and in the
// low 6 bits the width of the 32 numbers that the block begins with, each row's end in nibbles; then come the nibbles.
#define GROUP_ROWS 32
#define HEAD_BITS 6

// The number of `width` bits, below 64, that begins at bit `start` of a string.
__device__ __forceinline__ u64 bits_at(const u32* string, u32 start, u32 width) {
  const u32* word = string + (start >> 5);
  const u32 shift = start & 31;
  u64 found = (word[0] | (u64)word[1] << 32) >> shift;
  if (shift + width > 64) found |= (u64)word[2] << (64 - shift);
  return found & ((1ull << width) - 1);
}

// Nibbles of a string, from `at` to below `end`.
struct Extent {
  i64 at, end;
};

__device__ __forceinline__ Extent row_extent(const i64* heads, const u32* words, i64 row) {
  const i64 head = heads[row / GROUP_ROWS];
  const u32 width = (u32)head & ((1u << HEAD_BITS) - 1), number = (u32)row % GROUP_ROWS;
  if (!width) return {0, 0};  // no entry in 32 rows
  const u32* block = words + (head >> HEAD_BITS);
  const i64 first = ((head >> HEAD_BITS) + width) * 8;
  const i64 before = number ? (i64)bits_at(block, (number - 1) * width, width) : 0;
  return {first + before, first + (i64)bits_at(block, number * width, width)};
}
__device__ __forceinline__ i64 words_of(const Extent& x) { return (x.end - x.at + 7) >> 3; }

// Where the codes of a row stand (blocks.py). 32 rows are a group: heads[g] is the first word of its block, and in the low
// 6 bits the width of the 32 numbers that the block begins with, each row's end in units; then come the units, UNITS of
// them in a word: nibbles, or bits.
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

// ORs up to 44 bits into a string.
__device__ __forceinline__ void put_bits(u32* string, u64 start, u64 bits) {
  u32* word = string + (start >> 5);
  const u32 shift = (u32)start & 31;
  const u64 low = bits << shift, high = shift ? bits >> (64 - shift) : 0;
  if ((u32)low) atomicOr(word, (u32)low);
  if (low >> 32) atomicOr(word + 1, (u32)(low >> 32));
  if (high) atomicOr(word + 2, (u32)high);
}

// Units of a string, from `at` to below `end`.
struct Extent {
  i64 at, end;
};

template <int UNITS> __device__ __forceinline__ Extent extent_of(const i64* heads, const u32* words, i64 row) {
  const i64 head = heads[row / GROUP_ROWS];
  const u32 width = (u32)head & ((1u << HEAD_BITS) - 1), number = (u32)row % GROUP_ROWS;
  if (!width) return {0, 0};  // no entry in 32 rows
  const u32* block = words + (head >> HEAD_BITS);
  const i64 first = ((head >> HEAD_BITS) + width) * UNITS;
  const i64 before = number ? (i64)bits_at(block, (number - 1) * width, width) : 0;
  return {first + before, first + (i64)bits_at(block, number * width, width)};
}

// Where the units of a row begin, of which ends[row] says where they end in the group; to be written.
template <int UNITS> __device__ __forceinline__ i64 begin_of(const i64* heads, const i64* ends, i64 row) {
  const i64 head = heads[row / GROUP_ROWS];
  const u32 width = (u32)head & ((1u << HEAD_BITS) - 1);
  return ((head >> HEAD_BITS) + width) * UNITS + (row % GROUP_ROWS ? ends[row - 1] : 0);
}

// Writes where row `row` of n ends; of the last row also the ends of those that its group lacks, which are its own.
__device__ __forceinline__ void put_end(const i64* heads, const i64* ends, u32* words, i64 row, i64 n) {
  const i64 head = heads[row / GROUP_ROWS];
  const u32 width = (u32)head & ((1u << HEAD_BITS) - 1);
  const u64 start = (u64)(head >> HEAD_BITS) * 32 + (u64)(row % GROUP_ROWS) * width;
  i64 more = 0;
  do {
    put_bits(words, start + more * width, (u64)ends[row] & 0xffffffffull);
    if (width > 32) put_bits(words, start + more * width + 32, (u64)ends[row] >> 32);
    ++more;
  } while (row == n - 1 && (row + more) % GROUP_ROWS);
}

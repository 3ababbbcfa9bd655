// Row positions in blocks of 32 coded rows (see coded.py).
// heads[g] holds the first word of block g, and in its low 6 bits the width of the 32 numbers at the start of the
// block. The units follow, UNITS per word: nibbles or bits. Number r gives, in zigzag coding, how much later row r
// ends than if all rows of the group were equally long.
#define GROUP_ROWS 32
#define HEAD_BITS 6

// The number of `width` bits (below 64) that begins at bit `start` of a string.
__device__ __forceinline__ u64 bits_at(const u32* string, u32 start, u32 width) {
  const u32* word = string + (start >> 5);
  const u32 shift = start & 31;
  if (width <= 32) return __funnelshift_r(word[0], word[1], shift) & (u32)((1ull << width) - 1);
  u64 found = (word[0] | (u64)word[1] << 32) >> shift;
  if (shift + width > 64) found |= (u64)word[2] << (64 - shift);
  return found & ((1ull << width) - 1);
}

// OR up to 44 bits into a string.
__device__ __forceinline__ void put_bits(u32* string, u64 start, u64 bits) {
  u32* word = string + (start >> 5);
  const u32 shift = (u32)start & 31;
  const u64 low = bits << shift, high = shift ? bits >> (64 - shift) : 0;
  if ((u32)low) atomicOr(word, (u32)low);
  if (low >> 32) atomicOr(word + 1, (u32)(low >> 32));
  if (high) atomicOr(word + 2, (u32)high);
}

// The view of coded rows: heads of groups of rows, the string, and the number of each row's first entry.
template <class P> struct CodesView {
  const i64* heads;
  const u32* words;
  const P* numbers;
};

// Units `at` .. `end` of a string.
struct Extent {
  i64 at, end;
};

// A group: its block, the width of its numbers, the first word of its units, and their number.
template <int UNITS> struct Group {
  u64 block, first, room;
  u32 width;

  __device__ __forceinline__ Group(const i64* heads, i64 row) {
    const u64 group = (u64)row / GROUP_ROWS, head = (u64)heads[group];
    width = (u32)head & ((1u << HEAD_BITS) - 1);
    block = head >> HEAD_BITS;
    first = block + width;
    room = ((u64)heads[group + 1] >> HEAD_BITS) - first;
  }
  // Where `number` rows would end if all rows were equal.
  __device__ __forceinline__ u64 even(u32 number) const { return room * number / (GROUP_ROWS / UNITS); }
  // Where the first `number` rows end.
  __device__ __forceinline__ u64 end(const u32* words, u32 number) const {
    const u64 later = bits_at(words + block, (number - 1) * width, width);
    return even(number) + ((later >> 1) ^ (0 - (later & 1)));
  }
};

template <int UNITS> __device__ __forceinline__ Extent extent_of(const i64* heads, const u32* words, i64 row) {
  const Group<UNITS> of(heads, row);
  const u32 number = (u32)row % GROUP_ROWS;
  const u64 first = of.first * UNITS, before = number ? of.end(words, number) : 0;
  return {(i64)(first + before), (i64)(first + of.end(words, number + 1))};
}

// The first unit of a row that is to be written; ends[row] is its end within the group.
template <int UNITS> __device__ __forceinline__ i64 begin_of(const i64* heads, const i64* ends, i64 row) {
  return (i64)Group<UNITS>(heads, row).first * UNITS + (row % GROUP_ROWS ? ends[row - 1] : 0);
}

// Write the end of a row.
template <int UNITS> __device__ __forceinline__ void put_end(const i64* heads, const i64* ends, u32* words, i64 row) {
  const Group<UNITS> of(heads, row);
  const u32 number = (u32)row % GROUP_ROWS;
  const i64 apart = ends[row] - (i64)of.even(number + 1);
  const u64 start = of.block * 32 + number * of.width, later = (u64)apart << 1 ^ (u64)(apart >> 63);
  put_bits(words, start, later & 0xffffffffull);
  if (of.width > 32) put_bits(words, start + 32, later >> 32);
}

// The sum of x over the lower lanes of a group of G and this lane; called by the whole warp.
template <int G, class T> __device__ __forceinline__ T sum_upto(T x, int lane) {
#pragma unroll
  for (int d = 1; d < G; d <<= 1) {
    const T below = __shfl_up_sync(ALL_LANES, x, d, G);
    if (lane >= d) x += below;
  }
  return x;
}

// 64-bit numbers that look random, one for each number (Steele, Lea, Flood: Fast splittable pseudorandom number
// generators. OOPSLA 2014), and how much an entry's place differs from its mirror image's: 0 on the diagonal, and
// summed over all entries (modulo 2^64, in any order) 0 where each has its mirror image. Where not, the sum is 0 with a
// chance of 2^-64.
__device__ __forceinline__ u64 scramble(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// row, column: scrambled.
__device__ __forceinline__ u64 unlike_mirror(u64 row, u64 column) {
  return scramble(row * 3 + column) - scramble(column * 3 + row);
}

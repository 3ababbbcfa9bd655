// Hashes of indices for the symmetry test.
// 64-bit pseudorandom numbers (Steele, Lea, Flood: Fast splittable pseudorandom number generators. OOPSLA 2014).
// Each entry contributes the difference between the hash of its position and that of its mirror image. It is 0 on the
// diagonal. The sum over all entries (modulo 2^64, in any order) is 0 if every entry has its mirror image; otherwise
// it is 0 with probability 2^-64.
__device__ __forceinline__ u64 scramble(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// row, column: hashed
__device__ __forceinline__ u64 unlike_mirror(u64 row, u64 column) {
  return scramble(row * 3 + column) - scramble(column * 3 + row);
}

// Mark the positions that an advance along tile rows reaches in its output vector.

// Set bits of tile column j. Returns those that were not set before, and whether none of the T was.
__device__ __forceinline__ u64 mark_tile(u64* bits, i64 j, u64 hit, bool& first) {
#if TILE == 64
  const u64 before = atomicOr(bits + j, hit);
#else
  const int at = (int)(j * TILE & 31);
  const u64 before = (u64)(atomicOr((u32*)bits + (j * TILE >> 5), (u32)hit << at) >> at) & ROW_MASK;
#endif
  first = before == 0;
  return hit & ~before;
}

#if KIND != WORDS
// Combine a product with entry `at`, in tile column j. `fresh` gets its bit if it is new; `first` whether it is the
// first of the tile column.
__device__ __forceinline__ void put_in_tile(u64* bits, C_T* val, i64 j, i64 at, Z_T z, u64& fresh, bool& first) {
  bool opened = false;
  u64 new_bit = 0;
#if CELLS_BEGIN
  const bool may = join_anew(val + at, z, cell_at(val + at));
#else
  const bool may = true;
#endif
  if (may && !bit_now(bits, at)) new_bit = mark_tile(bits, j, 1ull << (at & (TILE - 1)), opened);
  if (!CELLS_BEGIN && new_bit) val[at] = C_T(z);
  fresh |= new_bit;
  first = first || opened;
}
#endif

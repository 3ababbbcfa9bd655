// Push one tile: WORDS ORs its active rows into the T bits of its tile column; VALUES scatters their products.
#include "kernels/values.cuh"
#include "formats/b2sr/columns.cuh"
#include "kernels/push.cuh"

// The columns that the active rows of a tile reach.
__device__ __forceinline__ u64 reached(const word_t* bits, i64 tile, u64 active) {
#if TILE == 8
  u64 rows = active * 0x0101010101010101ull & 0x8040201008040201ull;  // byte r holds bit r
  rows = (((rows + 0x7f7f7f7f7f7f7f7full) | rows) >> 7 & 0x0101010101010101ull) * 0xffull;
  u64 hit = bits[tile] & rows;
  hit |= hit >> 32;
  hit |= hit >> 16;
  return (hit | hit >> 8) & 0xffull;
#else
  u64 hit = 0;
  for (u64 rest = active; rest; rest &= rest - 1) hit |= tile_row_bits(bits, tile, __ffsll(rest) - 1);
  return hit;
#endif
}

#if KIND != WORDS
// put(j, z) for each product of a tile's active rows with u, at the columns j in `open`; `left` is its first column.
template <class Put>
__device__ __forceinline__ void products_of_tile(i64 tile, i64 tile_row, i64 left, u64 active, u64 open,
                                                 const word_t* bits, const PLACE_T* value_ptr, const Values& values,
                                                 A_T a_iso, const STORED(U_T)* u_val, U_T u_iso, i64 u_stride,
                                                 Put put) {
  i64 rank = RANKED ? (i64)value_ptr[tile] : 0;
  int ranked = 0;  // rows of the tile whose bits are included in `rank`
  for (u64 rows = open ? active : 0ull; rows; rows &= rows - 1) {
    const int r = __ffsll(rows) - 1;
    if (RANKED)
      for (; ranked < r; ++ranked) rank += __popcll(tile_row_bits(bits, tile, ranked));
    const u64 row_bits = tile_row_bits(bits, tile, r);
    const i64 i = tile_row * TILE + r;
    const U_T u = load<U_T>(u_val, u_iso, u_stride, i);
    for (u64 rest = row_bits & open; rest; rest &= rest - 1) {
      const int c = __ffsll(rest) - 1;
      const A_T a = RANKED ? values[rank + __popcll(row_bits & ((1ull << c) - 1))] : a_iso;
      put(left + c, mul(a, u, left + c, i));
    }
  }
  (void)ranked;
}
#endif

__device__ __forceinline__ void scatter_tile(i64 tile, i64 tile_row, u64 active, const TileColumns& col,
                                             const word_t* bits, const PLACE_T* value_ptr, const Values& values, A_T a_iso,
                                             const STORED(U_T)* u_val, U_T u_iso, i64 u_stride, const u64* mask,
                                             i64 mask_stride, u64 mask_invert, u64* t_bits, C_T* t_val) {
  const i64 left = (i64)col[tile] * TILE;
  const u64 open = mask_stride ? tile_bits(mask, col[tile]) ^ mask_invert : mask_invert;
#if KIND == WORDS
  const u64 hit = reached(bits, tile, active) & open & ~tile_bits_now(t_bits, col[tile]);
  if (TILE == 64) {
    if (hit) atomicOr(t_bits + left / 64, hit);
  } else if (hit) {
    atomicOr((u32*)t_bits + (left >> 5), (u32)hit << (left & 31));
  }
#else
  products_of_tile(tile, tile_row, left, active, open, bits, value_ptr, values, a_iso, u_val, u_iso, u_stride,
                   [&](i64 j, Z_T z) { scatter(t_bits, t_val, j, z); });
#endif
}

// A tile in a push: WORDS ORs its active rows into the T bits of its tile column; VALUES scatters their products.
#include "kernels/values.cuh"
#include "formats/b2sr/columns.cuh"
#include "kernels/push.cuh"

__device__ __forceinline__ void scatter_tile(i64 tile, i64 tile_row, u64 active, const TileColumns& col,
                                             const word_t* bits, const PLACE_T* value_ptr, const Values& values, A_T a_iso,
                                             const STORED(U_T)* u_val, U_T u_iso, i64 u_step, const u64* mask,
                                             i64 mask_step, u64 mask_flip, u64* t_bits, C_T* t_val) {
  const i64 left = (i64)col[tile] * TILE;
  const u64 open = mask_step ? tile_bits(mask, col[tile]) ^ mask_flip : mask_flip;
#if KIND == WORDS
  u64 hit = 0;
  for (u64 rest = active; rest; rest &= rest - 1) hit |= tile_row_bits(bits, tile, __ffsll(rest) - 1);
  hit &= open & ~tile_bits(t_bits, col[tile]);
  if (TILE == 64) {
    if (hit) atomicOr(t_bits + left / 64, hit);
  } else if (hit) {
    atomicOr((u32*)t_bits + (left >> 5), (u32)hit << (left & 31));
  }
#else
  i64 rank = RANKED ? (i64)value_ptr[tile] : 0;
  int ranked = 0;  // rows of the tile whose bits `rank` counts
  for (u64 rows = active; rows; rows &= rows - 1) {
    const int r = __ffsll(rows) - 1;
    if (RANKED)
      for (; ranked < r; ++ranked) rank += __popcll(tile_row_bits(bits, tile, ranked));
    const u64 row_bits = tile_row_bits(bits, tile, r);
    const i64 k = tile_row * TILE + r;
    const U_T u = load<U_T>(u_val, u_iso, u_step, k);
    for (u64 rest = row_bits & open; rest; rest &= rest - 1) {
      const int c = __ffsll(rest) - 1;
      const A_T a = RANKED ? values[rank + __popcll(row_bits & ((1ull << c) - 1))] : a_iso;
      scatter(t_bits, t_val, left + c, mul(a, u, left + c, k));
    }
  }
  (void)ranked;
#endif
}

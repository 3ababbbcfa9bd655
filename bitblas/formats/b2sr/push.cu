// Push SpMV on tiles: t = A' (+).(x) u by the tile rows where u has entries. A lane takes a tile. Pushes of Split and
// advances include all but the kernel.
// WORDS ORs a tile's active rows into the T bits of its tile column; VALUES scatters their products.
#include "kernels/product.cuh"
#include "formats/b2sr/tile.cuh"

#if TILE == 8
// The bits of a tile in its active rows.
__device__ __forceinline__ u64 active_bits(const word_t* bits, i64 tile, u64 active) {
  u64 rows = active * 0x0101010101010101ull & 0x8040201008040201ull;  // byte r holds bit r
  rows = (((rows + 0x7f7f7f7f7f7f7f7full) | rows) >> 7 & 0x0101010101010101ull) * 0xffull;
  return bits[tile] & rows;
}
#endif

// The columns that the active rows of a tile reach.
__device__ __forceinline__ u64 reached(const word_t* bits, i64 tile, u64 active) {
#if TILE == 8
  u64 hit = active_bits(bits, tile, active);
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
// put(j, z) for each product of a tile's active rows with u (u.at(i) for row i), at the columns j in `open`; if sums are
// any of their products, for one product of each column. `left` is the tile's first column.
template <class U, class Emit>
__device__ __forceinline__ void products_of_tile(i64 tile, i64 tile_row, i64 left, u64 active, u64 open,
                                                 const Tiles& tiles, const Values& a, const U& u, Emit emit) {
#if TILE == 8 && KIND == VALUES && HAS_TERMINAL == 2 && !RANKED
  // Lanes have different rows: it is faster to go through the columns, which are few.
  const u64 bits = active_bits(tiles.bits, tile, active);
  for (; open; open &= open - 1) {
    const int c = __ffsll(open) - 1;
    const u64 column = bits >> c & 0x0101010101010101ull;
    if (!column) continue;
    const i64 i = tile_row * TILE + (__ffsll(column) - 1) / TILE;
    emit(left + c, mul(A_T(a.iso), u.at(i), left + c, i));
  }
#else
  i64 rank = RANKED ? (i64)tiles.value_ptr[tile] : 0;
  int ranked = 0;  // rows of the tile whose bits are included in `rank`
  for (u64 rows = active; rows && open; rows &= rows - 1) {
    const int r = __ffsll(rows) - 1;
    if (RANKED)
      for (; ranked < r; ++ranked) rank += __popcll(tile_row_bits(tiles.bits, tile, ranked));
    const u64 row_bits = tile_row_bits(tiles.bits, tile, r);
    const i64 i = tile_row * TILE + r;
    const U_T x = u.at(i);
    for (u64 rest = row_bits & open; rest; rest &= rest - 1) {
      const int c = __ffsll(rest) - 1;
      const A_T value = RANKED ? a[rank + __popcll(row_bits & ((1ull << c) - 1))] : A_T(a.iso);
      emit(left + c, mul(value, x, left + c, i));
    }
    if (KIND == VALUES && HAS_TERMINAL == 2) open &= ~row_bits;
  }
  (void)ranked;
#endif
}
#endif

__device__ __forceinline__ void scatter_tile(i64 tile, i64 tile_row, u64 active, const Tiles& tiles, const Values& a,
                                             const VectorView<U_T>& u, const MaskView& mask, const OutputView<C_T>& t) {
  const i64 j = tiles.col[tile];
  const u64 open = mask.part<TILE>(j);
#if KIND == WORDS
  const u64 hit = reached(tiles.bits, tile, active) & open & ~part_now<TILE>(t.bits, j);
  if (hit) or_tile(t.bits, j, hit);
#else
  products_of_tile(tile, tile_row, j * TILE, active, open, tiles, a, u,
                   [&](i64 at, Z_T z) { scatter(t.bits, t.values, at, z); });
#endif
}

#ifdef KERNEL_push
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push(i64 n, i64 longest, RowsView<PTR_T> rows, TilesView tiles, Values a, VectorView<U_T> u, MaskView mask,
         ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 tile_row = rows.row_stride ? rows.row_of[unit] : unit;
  const u64 active = tile_bits(u.bits, tile_row);
  if (!active) return;
  i64 tile = rows.begin[unit];
  const i64 stop = rows.end[unit];
  if (stop - tile > longest) return;  // a hub: its segments are processed by another launch
  for (tile += threadIdx.x & (LANES - 1); tile < stop; tile += LANES)
    scatter_tile(tile, tile_row, active, tiles, a, u, mask, t);
}
#endif  // KERNEL_push

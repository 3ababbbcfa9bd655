// A T x T tile of bits, row-major: rows as machine words, the lanes that share a tile row, and the view of all tiles.
#include "kernels/views.cuh"

typedef UInt<TILE == 4 ? 16 : 64>::type word_t;  // a tile of 4 x 4, or some rows of a larger one
typedef UInt<TILE>::type row_t;                  // one row of a tile of at least 8 x 8
#define LOG_TILE (TILE == 4 ? 2 : TILE == 8 ? 3 : TILE == 16 ? 4 : TILE == 32 ? 5 : 6)
#define ROW_LANES (TILE < 32 ? TILE : 32)  // lanes for the rows of a tile
#define LANE_ROWS (TILE / ROW_LANES)  // consecutive rows per lane: 1, or 2 for T = 64; such loops need no unroll
#define WORD_ROWS (TILE == 4 ? 4 : 64 / TILE)  // rows in a word
#define TILE_WORDS (TILE == 4 ? 1 : TILE * TILE / 64)
#define ROW_MASK (~0ull >> (64 - TILE))
// T bits times SPREAD: the same in each row of a word.
#define SPREAD                              \
  (TILE == 4        ? 0x1111ull             \
       : TILE == 8  ? 0x0101010101010101ull \
       : TILE == 16 ? 0x0001000100010001ull \
       : TILE == 32 ? 0x100000001ull        \
                    : 1ull)

__device__ __forceinline__ u64 tile_row_bits(const word_t* bits, i64 tile, int r) {
  return TILE == 4 ? (bits[tile] >> (4 * r)) & 15u : ((const row_t*)bits)[tile * TILE + r];
}

// T bits of a bitset, aligned to T: the entries covered by one tile column, or tile row.
__device__ __forceinline__ u64 tile_bits(const u64* bits, i64 tile) {
  return TILE == 4 ? (((const u8*)bits)[tile >> 1] >> (4 * (tile & 1))) & 15u : ((const row_t*)bits)[tile];
}

// Set T bits of a bitset to which other threads write. Returns the T bits before.
__device__ __forceinline__ u64 or_tile(u64* bits, i64 tile, u64 value) {
  if (TILE == 64) return atomicOr(bits + tile, value);
  const int at = (int)(tile * TILE & 31);
  return (atomicOr((u32*)bits + (tile * TILE >> 5), (u32)value << at) >> at) & ROW_MASK;
}

// Bit r of the result: whether row r of the word has a bit. The carry of an addition collects each row in its top bit;
// 32-bit arithmetic throughout, because instructions, not bytes, bound the kernels.
__device__ __forceinline__ u32 tops(u32 half, u32 low) { return (half | ((half & low) + low)) & ~low; }
__device__ __forceinline__ u32 fold_rows(u64 word) {
  const u32 lo = (u32)word, hi = (u32)(word >> 32);
  if (TILE == 4) {
    const u32 t = tops(lo, 0x7777u) & 0x8888u;
    return (t >> 3 & 1u) | (t >> 6 & 2u) | (t >> 9 & 4u) | (t >> 12 & 8u);
  }
  if (TILE == 8)
    return (tops(lo, 0x7f7f7f7fu) >> 7) * 0x10204080u >> 28 |
        ((tops(hi, 0x7f7f7f7fu) >> 7) * 0x10204080u >> 24 & 0xf0u);
  if (TILE == 16) {
    const u32 a = tops(lo, 0x7fff7fffu), b = tops(hi, 0x7fff7fffu);
    return (a >> 15 & 1u) | (a >> 30 & 2u) | (b >> 13 & 4u) | (b >> 28 & 8u);
  }
  return TILE == 32 ? (u32)(lo != 0) | (u32)(hi != 0) << 1 : (u32)((lo | hi) != 0);
}

#ifdef PACKED  // in products
// The view of all tiles: tile columns, plain or packed, bits, and the rank of each tile's first entry.
#if PACKED
#include "kernels/views.cuh"
typedef u32 col_t;
struct TileColumns {
  const u32* col;
  i64 width;
  __device__ __forceinline__ col_t operator[](i64 tile) const { return packed_at(col, tile, (u32)width); }
};
struct PackedTilesView {
  TileColumns col;
  const word_t* bits;
  const PLACE_T* value_ptr;
};
typedef PackedTilesView Tiles;
#else
typedef COL_T col_t;
struct TilesView {
  const COL_T* col;
  const word_t* bits;
  const PLACE_T* value_ptr;
};
typedef TilesView Tiles;
#endif
#endif

// A T x T tile of bits, row-major: rows as machine words, and the lanes that share a tile row.
#if TILE == 4
typedef u16 word_t;  // a whole tile
#define LOG_TILE 2
#elif TILE == 8
typedef u64 word_t;
typedef u8 row_t;  // one row of a tile
#define LOG_TILE 3
#elif TILE == 16
typedef u64 word_t;
typedef u16 row_t;
#define LOG_TILE 4
#elif TILE == 32
typedef u64 word_t;
typedef u32 row_t;
#define LOG_TILE 5
#else
typedef u64 word_t;
typedef u64 row_t;
#define LOG_TILE 6
#endif
#define ROW_LANES (TILE < 32 ? TILE : 32)  // lanes for the rows of a tile
#define LANE_ROWS (TILE / ROW_LANES)       // consecutive rows per lane: 2 for T = 64

__device__ __forceinline__ u64 tile_row_bits(const word_t* bits, i64 tile, int r) {
#if TILE == 4
  return (bits[tile] >> (4 * r)) & 15u;
#else
  return ((const row_t*)bits)[tile * TILE + r];
#endif
}

// T bits of a bitset, aligned to T: the entries covered by one tile column, or tile row.
__device__ __forceinline__ u64 tile_bits(const u64* bits, i64 tile) {
#if TILE == 4
  return (((const u8*)bits)[tile >> 1] >> (4 * (tile & 1))) & 15u;
#else
  return ((const row_t*)bits)[tile];
#endif
}

#if TILE == 4
#define SPREAD 0x1111ull
#define WORD_ROWS 4
#define TILE_WORDS 1
#else
#define SPREAD (TILE == 8 ? 0x0101010101010101ull : TILE == 16 ? 0x0001000100010001ull : TILE == 32 ? 0x100000001ull : 1ull)
#define WORD_ROWS (64 / TILE)  // rows in a word
#define TILE_WORDS (TILE * TILE / 64)
#endif

// Bit r of the result: whether row r of the word has a bit. The carry of an addition collects each row in its top bit;
// 32-bit arithmetic throughout, because instructions, not bytes, bound the kernels.
__device__ __forceinline__ u32 tops(u32 half, u32 low) { return (half | ((half & low) + low)) & ~low; }
__device__ __forceinline__ u32 fold_rows(u64 word) {
  const u32 lo = (u32)word;
#if TILE > 4
  const u32 hi = (u32)(word >> 32);
#endif
#if TILE == 4
  const u32 t = tops(lo, 0x7777u) & 0x8888u;
  return (t >> 3 & 1u) | (t >> 6 & 2u) | (t >> 9 & 4u) | (t >> 12 & 8u);
#elif TILE == 8
  return (tops(lo, 0x7f7f7f7fu) >> 7) * 0x10204080u >> 28 | ((tops(hi, 0x7f7f7f7fu) >> 7) * 0x10204080u >> 24 & 0xf0u);
#elif TILE == 16
  const u32 a = tops(lo, 0x7fff7fffu), b = tops(hi, 0x7fff7fffu);
  return (a >> 15 & 1u) | (a >> 30 & 2u) | (b >> 13 & 4u) | (b >> 28 & 8u);
#elif TILE == 32
  return (u32)(lo != 0) | (u32)(hi != 0) << 1;
#else
  return (u32)((lo | hi) != 0);
#endif
}

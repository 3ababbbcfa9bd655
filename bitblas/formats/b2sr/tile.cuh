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

// T bits of a bitset, aligned to T: the entries that one tile column, or tile row, covers.
__device__ __forceinline__ u64 tile_bits(const u64* bits, i64 tile) {
#if TILE == 4
  return (((const u8*)bits)[tile >> 1] >> (4 * (tile & 1))) & 15u;
#else
  return ((const row_t*)bits)[tile];
#endif
}

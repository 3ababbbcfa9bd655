// Tile layouts as an advance reads them.
// A tile row holds items, which are its tiles and then, for Split (PACKED), its single entries.
// The start of the single entries is stored next to the start of the tiles: one number per part and tile row.
#include "formats/b2sr/scatter.cuh"
#define PER TILE  // positions per unit
#define ROW_MASK (TILE == 64 ? ~0ull : (1ull << (TILE & 63)) - 1)

#if PACKED
#include "formats/split/hits.cuh"
#define FORM(of)                                                                                                     \
  const PTR_T *of##ptr, const u32 *of##col, i64 of##col_width, const word_t *of##bits, const PLACE_T *of##value_ptr, \
    const u32 *of##near, i64 of##near_width, const u32 *of##far, i64 of##far_width, i64 of##in_tiles,                \
    i64 of##in_near, i64 of##parts
#define FORM_OF(of)                                                                                                  \
  {of##ptr, {of##col, (u32)of##col_width}, of##bits, of##value_ptr,                                                  \
   {of##near, of##far, (u32)of##near_width, (u32)of##far_width, of##in_tiles, of##in_near, (int)of##parts}}
#else
#define FORM(of) const PTR_T *of##ptr, const COL_T *of##col, const word_t *of##bits, const PLACE_T *of##value_ptr
#define FORM_OF(of) {of##ptr, of##col, of##bits, of##value_ptr}
#endif

// The T bits of a tile column that the mask allows. ALSO: the entries of u count as set, as in kernels/step.cuh.
struct Open {
  const u64* mask;
  i64 stride;
  u64 invert;
  const u64* u_bits;
  __device__ __forceinline__ u64 operator[](i64 j) const {
    return ((stride ? tile_bits_now(mask, j) : 0ull) | (ALSO ? tile_bits_now(u_bits, j) : 0ull)) ^ (invert & ROW_MASK);
  }
};

// The items of a tile row: their number, and the tiles. For Split also the entries of each range of single entries.
struct Items {
  i64 count, tile, tiles;
#if PACKED
  i64 near, nears, far;
#endif
};

struct Form {
  const PTR_T* ptr;
  TileColumns col;
  const word_t* bits;
  const PLACE_T* value_ptr;
#if PACKED
  Rest rest;

  struct Entry {
    u32 code;
    i64 rank;
  };
  __device__ __forceinline__ Entry entry(const Items& of, i64 item) const {
    const i64 k = item - of.tiles;
    const bool is_near = k < of.nears;
    const i64 e = is_near ? of.near + k : of.far + k - of.nears;
    const u32 code = packed_at(is_near ? rest.near : rest.far, e, is_near ? rest.near_width : rest.far_width);
    return {code, rest.in_tiles + (is_near ? 0 : rest.in_near) + e};
  }
#endif

  __device__ __forceinline__ Items items(i64 tile_row) const {
#if PACKED
    const int parts = rest.parts, last = parts - 1;
    const PTR_T *from = ptr + tile_row * parts, *to = from + parts;
    const i64 tiles = (i64)to[0] - from[0], nears = parts == 3 ? (i64)to[1] - from[1] : 0;
    return {tiles + nears + ((i64)to[last] - from[last]), from[0], tiles, from[1], nears, from[last]};
#else
    const i64 tile = ptr[tile_row], count = ptr[tile_row + 1] - tile;
    return {count, tile, count};
#endif
  }

#if KIND == WORDS
  // The bits of tile column j that the active rows of an item reach.
  __device__ __forceinline__ u64 reach(const Items& of, i64 item, u64 active, i64& j) const {
#if PACKED
    if (item >= of.tiles) {
      const u32 code = entry(of, item).code;
      j = code >> 2 * LOG_TILE;
      return (active >> row_in_tile(code) & 1) << (code & (TILE - 1));
    }
#endif
    j = col[of.tile + item];
    return reached(bits, of.tile + item, active);
  }
#else
  // put(k, z) for each product of an item's active rows with u, at the allowed columns k of tile column j.
  template <class Put>
  __device__ __forceinline__ void products(const Items& of, i64 item, i64 tile_row, u64 active, const Open& open,
                                           const Values& values, A_T a_iso, const STORED(U_T)* u_val, U_T u_iso,
                                           i64 u_stride, i64& j, Put put) const {
#if PACKED
    if (item >= of.tiles) {
      const Entry e = entry(of, item);
      j = e.code >> 2 * LOG_TILE;
      const i64 i = tile_row * TILE + row_in_tile(e.code), k = column_of(e.code);
      if (!(active >> row_in_tile(e.code) & open[j] >> (k & (TILE - 1)) & 1)) return;
      put(k, mul(RANKED ? values[e.rank] : a_iso, load<U_T>(u_val, u_iso, u_stride, i), k, i));
      return;
    }
#endif
    j = col[of.tile + item];
    products_of_tile(of.tile + item, tile_row, j * TILE, active, open[j], bits, value_ptr, values, a_iso, u_val, u_iso,
                     u_stride, put);
  }
#endif
};

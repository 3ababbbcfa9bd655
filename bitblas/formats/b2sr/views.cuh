// The view of all tiles: tile columns, plain or packed (PACKED), bits, and the rank of each tile's first entry.
#include "formats/b2sr/tile.cuh"

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

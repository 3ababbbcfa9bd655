// Read tile columns: plain, or packed (PACKED).
#include "formats/b2sr/tile.cuh"

#if PACKED
#include "kernels/packed.cuh"
typedef u32 col_t;
struct TileColumns {
  const u32* string;
  u32 width;
  __device__ __forceinline__ col_t operator[](i64 tile) const { return packed_at(string, tile, width); }
};
#else
typedef COL_T col_t;
typedef const COL_T* TileColumns;
#endif

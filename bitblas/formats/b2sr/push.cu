// Push SpMV on tiles: t = A' (+).(x) u by the tile rows where u has entries. A lane takes a tile.
#include "formats/b2sr/scatter.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_stride, const COL_T* col,
     const word_t* bits, const PLACE_T* value_ptr, const value_t* a_val, ARGUMENT(A_T) a_iso, i64 a_stride, const u64* u_bits,
     const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, const u64* mask, i64 mask_stride, u64 mask_invert, ARGUMENT(Z_T) product,
     i64* counts, u64* t_bits, C_T* t_val) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 tile_row = row_stride ? row_of[unit] : unit;
  const u64 active = tile_bits(u_bits, tile_row);
  if (!active) return;
  i64 tile = begin[unit];
  const i64 stop = end[unit];
  if (stop - tile > longest) return;  // a hub: its segments are processed by another launch
  for (tile += threadIdx.x & (LANES - 1); tile < stop; tile += LANES) {
    scatter_tile(tile, tile_row, active, col, bits, value_ptr, {a_val, a_iso, a_stride}, a_iso, u_val, u_iso, u_stride,
                 mask, mask_stride, mask_invert, t_bits, t_val);
  }
}

// Push SpMV on Split: t = A' (+).(x) u by the tile rows where u has entries.
// A lane takes a tile, then single entries.
// begin and end hold `parts` numbers per unit: one for its tiles, and one per range of single entries.
#include "formats/b2sr/scatter.cuh"
#include "formats/split/entries.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_stride, const u32* col,
     i64 col_width, const word_t* bits, const PLACE_T* value_ptr, const u32* near, i64 near_width, const u32* far,
     i64 far_width, i64 in_tiles, i64 in_near, i64 parts,
     const value_t* a_val, ARGUMENT(A_T) a_iso, i64 a_stride, const u64* u_bits, const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso,
     i64 u_stride, const u64* mask, i64 mask_stride, u64 mask_invert, ARGUMENT(Z_T) product, i64* counts,
     u64* t_bits, C_T* t_val) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 tile_row = row_stride ? row_of[unit] : unit;
  const u64 active = tile_bits(u_bits, tile_row);
  if (!active) return;
  const Rest rest = {near, far, (u32)near_width, (u32)far_width, in_tiles, in_near, (int)parts};
  const PTR_T* starts = begin + parts * unit;
  const PTR_T* ends = end + parts * unit;
  i64 work = 0;
  for (int part = 0; part < parts; ++part) work += (i64)ends[part] - (i64)starts[part];
  if (!row_stride && work > longest) return;  // a hub: its segments are processed by another launch
  const TileColumns columns = {col, (u32)col_width};
  const Values values = {a_val, a_iso, a_stride};
  const int lane = threadIdx.x & (LANES - 1);
  for (i64 tile = (i64)starts[0] + lane; tile < (i64)ends[0]; tile += LANES)
    scatter_tile(tile, tile_row, active, columns, bits, value_ptr, values, a_iso, u_val, u_iso, u_stride, mask,
                 mask_stride, mask_invert, t_bits, t_val);
#pragma unroll 1
  for (int part = 1; part < rest.parts; ++part) {
    i64 e = (i64)starts[part] + lane;
    Walk walk(rest.string(part), rest.width(part), e);
    for (; e < (i64)ends[part]; e += LANES, walk.skip(LANES)) {
      const u32 code = walk.at(0);
      const i64 j = column_of(code);
      if (!(active >> row_in_tile(code) & 1) || !allowed(mask, mask_stride, mask_invert, j)) continue;
#if KIND == WORDS
      if (!bit_now(t_bits, j)) mark(t_bits, j);
#else
      const i64 k = tile_row * TILE + row_in_tile(code);
      const A_T a = RANKED ? values[rest.first_rank(part) + e] : a_iso;
      scatter(t_bits, t_val, j, mul(a, load<U_T>(u_val, u_iso, u_stride, k), j, k));
#endif
    }
  }
}

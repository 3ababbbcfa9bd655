// Push SpMV on Split: t = A' (+).(x) u by the tile rows where u has entries.
// A lane takes a tile, then single entries.
// begin and end hold `parts` numbers per unit: one for its tiles, and one per range of single entries.
#include "formats/b2sr/scatter.cuh"
#include "formats/split/entries.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, RowsView<PTR_T> rows, PackedTilesView tiles, RestView singles, Values a, VectorView<U_T> u,
     MaskView mask, ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 tile_row = rows.row_stride ? rows.row_of[unit] : unit;
  const u64 active = tile_bits(u.bits, tile_row);
  if (!active) return;
  const PTR_T* starts = rows.begin + singles.parts * unit;
  const PTR_T* ends = rows.end + singles.parts * unit;
  i64 work = 0;
  for (int part = 0; part < (int)singles.parts; ++part) work += (i64)ends[part] - (i64)starts[part];
  if (!rows.row_stride && work > longest) return;  // a hub: its segments are processed by another launch
  const int lane = threadIdx.x & (LANES - 1);
  for (i64 tile = (i64)starts[0] + lane; tile < (i64)ends[0]; tile += LANES)
    scatter_tile(tile, tile_row, active, tiles, a, u, mask, t);
#pragma unroll 1
  for (int part = 1; part < (int)singles.parts; ++part) {
    i64 e = (i64)starts[part] + lane;
    Walk walk(singles.string(part), singles.width(part), e);
    for (; e < (i64)ends[part]; e += LANES, walk.skip(LANES)) {
      const u32 code = walk.at(0);
      const i64 j = column_of(code);
      if (!(active >> row_in_tile(code) & 1) || !mask.allows(j)) continue;
#if KIND == WORDS
      if (!bit_now(t.bits, j)) mark(t.bits, j);
#else
      const i64 k = tile_row * TILE + row_in_tile(code);
      scatter(t.bits, t.values, j, mul(RANKED ? a[singles.first_rank(part) + e] : A_T(a.iso), u.at(k), j, k));
#endif
    }
  }
}

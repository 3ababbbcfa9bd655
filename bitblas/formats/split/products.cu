// Products on Split by tile rows: LANES lanes share a tile row, its tiles and then its single entries.
// begin and end of rows hold `parts` numbers per unit: one for its tiles, and one per range of single entries.
#include "formats/split/entries.cuh"

#ifdef KERNEL_pull
// Pull SpMV: w<mask, accum, replace> = A (+).(x) u. The epilogue runs once, after tiles and single entries.
#include "formats/b2sr/pull.cu"
#define SHARE (KIND != WORDS ? TILE : TILE == 16 ? 4 : 1)  // lanes that share a tile, its cost in entries

#if KIND != WORDS
// T lanes take an entry each; then the lane of each row collects its row's products from them, in order.
__device__ __forceinline__ void sum_rest(Sums& of, u64 open, const Range& range, int lane, i64 top, const Values& a,
                                         const VectorView<U_T>& u) {
  const int mine = lane & (TILE - 1);
  const u32 mates = group_mask<TILE>();
  place_t e = range.begin, stop = range.end;
  Walk walk(range.string, range.width, (i64)e + lane);
  for (e += lane; __any_sync(ALL_LANES, e < stop); e += REST_AHEAD * LANES, walk.skip(REST_AHEAD * LANES)) {
    u32 code[REST_AHEAD];
    bool has[REST_AHEAD];
#pragma unroll
    for (int i = 0; i < REST_AHEAD; ++i) {
      has[i] = e + i * LANES < stop;
      code[i] = has[i] ? walk.at(i * LANES) : 0;
      has[i] = has[i] && (open >> row_in_tile(code[i]) & 1) && (U_FULL || u.has(column_of(code[i])));
    }
#if KIND == VALUES
    Z_T z[REST_AHEAD];
#pragma unroll
    for (int i = 0; i < REST_AHEAD; ++i) {
      const i64 j = column_of(code[i]);
      z[i] = Z_T();
      if (has[i])
        z[i] = mul(RANKED ? a[range.rank + (i64)e + i * LANES] : A_T(a.iso), u.at(j), top + row_in_tile(code[i]), j);
    }
#endif
#pragma unroll
    for (int i = 0; i < REST_AHEAD; ++i) {
      u32 theirs = __ballot_sync(ALL_LANES, has[i]) & mates;
#pragma unroll
      for (int b = 0; b < LOG_TILE; ++b) {
        const u32 set = __ballot_sync(ALL_LANES, row_in_tile(code[i]) >> b & 1);
        theirs &= mine >> b & 1 ? set : ~set;
      }
#if KIND == COUNT
      of.count[0] += __popc(theirs);
#else
      while (__any_sync(ALL_LANES, theirs)) {
        const Z_T next = shuffle_from<32>(z[i], theirs ? __ffs(theirs) - 1 : 0);
        if (theirs && !is_final(of.some[0], of.sum[0])) join(of.some[0], of.sum[0], true, next);
        theirs &= theirs - 1;
      }
#endif
    }
#if HAS_TERMINAL && KIND == VALUES
    const bool done = is_final(of.some[0], of.sum[0]) || !(open >> mine & 1);
    if ((__ballot_sync(ALL_LANES, done) & mates) == mates) stop = 0;  // the result is final
#endif
  }
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    pull(i64 n, i64 longest, RowsView<PTR_T> rows, PackedTilesView tiles, RestView singles, Values a, VectorView<U_T> u,
         MaskView mask, ARGUMENT(Z_T) product, Epilogue to) {
  TileRow of(n, rows, mask, to.t.bits);
  const PTR_T* starts = rows.begin + singles.parts * of.unit;
  const PTR_T* ends = rows.end + singles.parts * of.unit;
  place_t tile = 0, stop = 0, most = 0;  // most: entries per range
  if (of.open) {
    tile = (place_t)starts[0], stop = (place_t)ends[0], most = EVERY;
    i64 work = (i64)(stop - tile) * SHARE;
    for (int part = 1; part < (int)singles.parts; ++part) work += (i64)ends[part] - (i64)starts[part];
    if (!of.segment && work > longest) {
      of.hub = !PRESENCE;
      if (of.hub) of.open = 0;
      most = PRESENCE ? (place_t)longest : 0;
      const i64 whole = PRESENCE ? longest / SHARE : 0;
      if ((i64)(stop - tile) > whole) stop = tile + (place_t)whole;
    }
  }
#if KIND == WORDS
  u32 found = hit_rows(tile, stop, of.lane, tiles, u.bits);
#pragma unroll 1
  for (int part = 1; part < (int)singles.parts; ++part)
    found = hit_rest(found, of.open, Range(singles, part, starts, ends, most), of.lane, u.bits);
  end_words(of, found, product, to);
#else
  Sums x;
  sum_tiles(x, tile, stop, of.lane, of.row(), tiles, a, u);
#pragma unroll 1
  for (int part = 1; part < (int)singles.parts; ++part)
    sum_rest(x, of.open, Range(singles, part, starts, ends, most), of.lane, of.tile_row * TILE, a, u);
  end_sums(of, x, product, to);
#endif
}
#endif  // KERNEL_pull

#ifdef KERNEL_push
// Push SpMV: t = A' (+).(x) u by the tile rows where u has entries. A lane takes a tile, then single entries.
#include "formats/b2sr/push.cu"

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
    const bool is_far = singles.is_far(part);
    i64 e = (i64)starts[part] + lane;
    Walk walk(singles.string(is_far), singles.width(is_far), e);
    for (; e < (i64)ends[part]; e += LANES, walk.skip(LANES)) {
      const u32 code = walk.at(0);
      const i64 j = column_of(code);
      if (!(active >> row_in_tile(code) & 1) || !mask.allows(j)) continue;
#if KIND == WORDS
      if (!bit_now(t.bits, j)) mark(t.bits, j);
#else
      const i64 k = tile_row * TILE + row_in_tile(code);
      scatter(t.bits, t.values, j, mul(RANKED ? a[singles.first_rank(is_far) + e] : A_T(a.iso), u.at(k), j, k));
#endif
    }
  }
}
#endif  // KERNEL_push

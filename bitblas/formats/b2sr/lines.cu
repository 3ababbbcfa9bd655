// Products with a multivector along the rows of tiles (formats/bitmap/walked.cuh).
// A row is walked by LANES lanes: each takes a tile of its tile row, and the bits of the row in it.
#include "formats/bitmap/lines.cuh"
#include "formats/b2sr/tile.cuh"
#include "formats/blocks.cuh"

struct LinesWalk {
  enum { FOUND = 4 };
  struct Found {
    bool some[FOUND];
    u32 column[FOUND];
    i64 entry;  // the number of the first
    __device__ __forceinline__ bool has(int k) const { return some[k]; }
    __device__ __forceinline__ u32 at(int k) const { return column[k]; }
    __device__ __forceinline__ i64 number(int k) const { return entry + k; }
  };
  i64 tile, stop_tile, number;  // the lane's next tile, the end of the tile row; the entry of the next bit
  u64 bits;  // those left of the present tile
  u32 left;  // the present tile's first column
  int r;

  __device__ __forceinline__ LinesWalk() : tile(0), stop_tile(0), number(0), bits(0), left(0), r(0) {}
  __device__ __forceinline__ LinesWalk(i64 begin, i64 end, i64 row, int lane)
      : tile(begin + lane), stop_tile(end), number(0), bits(0), left(0), r((int)(row & (TILE - 1))) {}
  __device__ __forceinline__ bool more() const { return bits || tile < stop_tile; }
  __device__ __forceinline__ void stop() { bits = 0, tile = stop_tile; }
  __device__ __forceinline__ void step(const Tiles& tiles, int, Found& to) {
    if (!bits && tile < stop_tile) {
      bits = tile_row_bits(tiles.bits, tile, r), left = (u32)tiles.col[tile] * TILE;
      if (RANKED) {
        number = tiles.value_ptr[tile];
        for (int above = 0; above < r; ++above) number += __popcll(tile_row_bits(tiles.bits, tile, above));
      }
      tile += LANES;
    }
    to.entry = number;
#pragma unroll
    for (int k = 0; k < FOUND; ++k) {
      to.some[k] = bits != 0;
      to.column[k] = left + (bits ? __ffsll((i64)bits) - 1 : 0);
      number += bits != 0;
      bits &= bits - 1;
    }
  }
};
#include "formats/bitmap/walked.cuh"

#ifdef KERNEL_pull_lines
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    pull_lines(i64 n, i64 longest, RowsView<PTR_T> rows, TilesView tiles, Values a, i64 per_line, u64 last, LinesView x,
               LinesMask mask, NodesView nodes, LinesOutput t, const i64* needed, i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  (void)longest;
  const auto begin = [&](i64, i64 row, int lane) {
    return LinesWalk((i64)rows.begin[row / TILE], (i64)rows.end[row / TILE], row, lane);
  };
  pull_along(n, rows, tiles, begin, a, per_line, last, x, mask, nodes, t);
}
#endif  // KERNEL_pull_lines

#ifdef KERNEL_push_lines
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push_lines(i64 n, i64 longest, RowsView<PTR_T> rows, TilesView tiles, Values a, i64 per_line, u64 last, LinesView x,
               LinesMask mask, NodesView nodes, LinesOutput t, const i64* needed, i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  (void)a, (void)nodes;
  (void)longest;
  const auto begin = [&](i64, i64 row, int lane) {
    return LinesWalk((i64)rows.begin[row / TILE], (i64)rows.end[row / TILE], row, lane);
  };
  push_along(n, rows, tiles, begin, per_line, last, x, mask, t);
}
#endif  // KERNEL_push_lines

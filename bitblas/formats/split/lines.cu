// Products with a multivector along the rows of Split (formats/bitmap/walked.cuh).
// A row is walked by LANES lanes: first each takes a tile of its tile row and the bits of the row in it, then single
// entries of the tile row, of which those of the row count.
#include "formats/bitmap/lines.cuh"
#include "formats/blocks.cuh"
#include "formats/split/entries.cuh"

struct Split {
  const PackedTilesView& tiles;
  const RestView& singles;
};

struct LinesWalk {
  enum { FOUND = 4 };
  struct Found {
    bool some[FOUND];
    u32 column[FOUND];
    i64 entry, apart;  // the number of the first; of the next ones
    __device__ __forceinline__ bool has(int k) const { return some[k]; }
    __device__ __forceinline__ u32 at(int k) const { return column[k]; }
    __device__ __forceinline__ i64 number(int k) const { return entry + k * apart; }
  };
  place_t tile, stop_tile;  // the lane's next tile, the end of the tile row
  place_t e, stop_e, far, stop_far;  // its next single entry in the present range, and in the far one if that follows
  i64 number;  // the entry of the next bit
  u64 bits;  // those left of the present tile
  u32 left;  // the present tile's first column
  int r;
  bool is_far;  // the present range is that of far entries

  __device__ __forceinline__ LinesWalk()
      : tile(0), stop_tile(0), e(0), stop_e(0), far(0), stop_far(0), number(0), bits(0), left(0), r(0), is_far(true) {}
  // begin, end: a number for each of `parts`.
  __device__ __forceinline__ LinesWalk(const PTR_T* begin, const PTR_T* end, int parts, i64 row, int lane)
      : LinesWalk() {
    r = (int)(row & (TILE - 1));
    tile = (place_t)begin[0] + lane, stop_tile = (place_t)end[0];
    far = (place_t)begin[parts - 1] + lane, stop_far = (place_t)end[parts - 1];
    is_far = parts == 2;
    if (is_far) e = far, stop_e = stop_far, far = stop_far;
    else e = (place_t)begin[1] + lane, stop_e = (place_t)end[1];
  }
  __device__ __forceinline__ bool more() const { return bits || tile < stop_tile || e < stop_e || far < stop_far; }
  __device__ __forceinline__ void stop() { bits = 0, tile = stop_tile, e = stop_e, far = stop_far; }
  __device__ __forceinline__ void step(const Split& of, int, Found& to) {
    if (!bits && tile < stop_tile) {
      bits = tile_row_bits(of.tiles.bits, (i64)tile, r), left = of.tiles.col[(i64)tile] * TILE;
      if (RANKED) {
        number = of.tiles.value_ptr[tile];
        for (int above = 0; above < r; ++above) number += __popcll(tile_row_bits(of.tiles.bits, (i64)tile, above));
      }
      tile += LANES;
    } else if (!bits) {
      if (e >= stop_e && far < stop_far) e = far, stop_e = stop_far, far = stop_far, is_far = true;
      const Walk walk(of.singles.string(is_far), of.singles.width(is_far), (i64)e);
      to.entry = of.singles.first_rank(is_far) + (i64)e, to.apart = LANES;
#pragma unroll
      for (int k = 0; k < FOUND; ++k) {
        const u32 code = e + k * LANES < stop_e ? walk.at(k * LANES) : 0;
        to.some[k] = e + k * LANES < stop_e && row_in_tile(code) == r, to.column[k] = column_of(code);
      }
      e = e < stop_e && stop_e - e > FOUND * LANES ? e + FOUND * LANES : stop_e;
      return;
    }
    to.entry = number, to.apart = 1;
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

// begin and end of rows hold `parts` numbers per tile row, or per segment of a row.
struct BeginWalk {
  const RowsView<PTR_T>& rows;
  i64 longest;
  int parts;
  __device__ __forceinline__ LinesWalk operator()(i64 unit, i64 row, int lane) const {
    const i64 at = parts * (rows.row_stride ? unit : row / TILE);
    const PTR_T *begin = rows.begin + at, *end = rows.end + at;
    i64 items = 0;
    for (int part = 0; part < parts; ++part) items += (i64)end[part] - (i64)begin[part];
    if (items > longest) return LinesWalk();  // its segments are processed by another launch
    return LinesWalk(begin, end, parts, row, lane);
  }
};

#ifdef KERNEL_pull_lines
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    pull_lines(i64 n, i64 longest, RowsView<PTR_T> rows, PackedTilesView tiles, RestView singles, Values a,
               i64 per_line, u64 last, LinesView x, LinesMask mask, NodesView nodes, LinesOutput t, const i64* needed,
               i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  const Split of = {tiles, singles};
  pull_along(n, rows, of, BeginWalk{rows, longest, (int)singles.parts}, a, per_line, last, x, mask, nodes, t);
}
#endif  // KERNEL_pull_lines

#ifdef KERNEL_push_lines
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push_lines(i64 n, i64 longest, RowsView<PTR_T> rows, PackedTilesView tiles, RestView singles, Values a,
               i64 per_line, u64 last, LinesView x, LinesMask mask, NodesView nodes, LinesOutput t, const i64* needed,
               i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  (void)a, (void)nodes;
  const Split of = {tiles, singles};
  push_along(n, rows, of, BeginWalk{rows, longest, (int)singles.parts}, per_line, last, x, mask, t);
}
#endif  // KERNEL_push_lines

// Parts of long tile rows: runs of tile columns, so that several groups of lanes share a tile row.
// cuts[I]: number of cuts in the tile rows before I. Cut x begins a part at tile column cut_cols[x]. Unit I <
// tile_rows is the first part of tile row I; unit tile_rows + x is the part that cut x begins.
#include "formats/csr/ranges.cuh"
#include "formats/csr/search.cuh"

struct Part {
  i64 tile_row, begin, end;  // tile columns
  i64 number;                // number among all cuts, tile row by tile row; -1: no such cut
};

#define LAST_COLUMN 0x7fffffffffffffffll

__device__ __forceinline__ Part part_of(i64 unit, i64 tile_rows, const i64* cuts, const i64* cut_cols) {
  Part part = {unit, 0, LAST_COLUMN, -1};
  i64 next;  // the cut at its end
  if (unit < tile_rows) {
    next = cuts[unit];
    part.number = unit + next;
  } else {
    const i64 cut = unit - tile_rows;
    if (cut >= cuts[tile_rows]) return part;
    part.tile_row = range_of(cuts, tile_rows, cut);
    part.begin = cut_cols[cut];
    next = cut + 1;
    part.number = part.tile_row + next;
  }
  if (next < cuts[part.tile_row + 1]) part.end = cut_cols[next];
  return part;
}

__device__ __forceinline__ i64 sum_of_group(i64 x) {
#pragma unroll
  for (int d = ROW_LANES / 2; d; d >>= 1) x += shuffle_xor(group_mask<ROW_LANES>(), x, d);
  return x;
}

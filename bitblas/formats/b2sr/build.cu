// Build tiles from CSR rows: merge the rows of each tile row by tile column, one lane per row.
// The least next tile column becomes the next tile, and each row contributes its entries there.
// FILL = 0 counts the tiles of each part of a tile row; FILL = 1 writes them from tile out[part] on.
// SPLIT: only tiles with at least `least_near` entries (`least_far` from tile column `limit` on) are stored. The
// entries of other tiles are counted too, near ones and then far ones after the tile counts, and written as codes
// (split/entries.cuh), near ones first. They follow the `in_tiles` entries of tiles.
// Arguments: rows (ptr, col); cuts, cut_cols: parts.cuh; limit, least_near, least_far, in_tiles: SPLIT; out, counts:
// offsets and counts per part; output tiles: tile_col, bits, value_ptr; places: with ORDER the positions of entries;
// rest: codes of single entries.
#include "formats/b2sr/tile.cuh"
#include "formats/b2sr/parts.cuh"

__device__ __forceinline__ i64 least_of_group(i64 x) {
#pragma unroll
  for (int d = ROW_LANES / 2; d; d >>= 1) {
    const i64 other = shuffle_xor(group_mask<ROW_LANES>(), x, d);
    x = other < x ? other : x;
  }
  return x;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
build(i64 n, i64 tile_rows, i64 nrows, const PTR_T* ptr, const COL_T* col, const i64* cuts, const i64* cut_cols,
      i64 limit, i64 least_near, i64 least_far, i64 in_tiles, const i64* out, i64* counts, TILE_COL_T* tile_col,
      word_t* bits, PLACE_T* value_ptr, PLACE_T* places, u32* rest) {
  const i64 unit = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (unit >= n) return;
  const Part part = part_of(unit, tile_rows, cuts, cut_cols);
  if (part.number < 0) return;
  const i64 none = LAST_COLUMN;
  i64 entry[LANE_ROWS], end[LANE_ROWS], next[LANE_ROWS], skipped = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    const i64 row = part.tile_row * TILE + lane * LANE_ROWS + k;
    const i64 first = row < nrows ? (i64)ptr[row] : 0;
    end[k] = row < nrows ? (i64)ptr[row + 1] : 0;
    entry[k] = part.begin ? lower_bound(col, first, end[k], part.begin << LOG_TILE) : first;
    next[k] = entry[k] < end[k] ? (i64)col[entry[k]] >> LOG_TILE : none;
    skipped += entry[k] - first;
  }
  i64 tile = FILL ? out[part.number] : 0;
#if SPLIT
  const i64 in_near = FILL ? out[2 * n + 1] : 0;
  i64 near = FILL ? out[n + 1 + part.number] : 0, far = FILL ? in_near + out[2 * n + 2 + part.number] : 0;
#endif
#if ORDER
  i64 rank = (i64)ptr[part.tile_row * TILE] + (part.begin ? sum_of_group(skipped) : 0);
#if SPLIT
  rank -= near + far - in_near;
#endif
#endif
  (void)skipped, (void)limit, (void)least_near, (void)least_far, (void)in_tiles, (void)rest;
  for (;;) {
    i64 mine = next[0];
#pragma unroll
    for (int k = 1; k < LANE_ROWS; ++k) mine = next[k] < mine ? next[k] : mine;
    const i64 at = least_of_group(mine);
    if (at >= part.end) break;
#if FILL
    u64 row_bits[LANE_ROWS];
#endif
#if ORDER || SPLIT
    u32 taken = 0;
#endif
#if ORDER
    const i64 first = entry[0];
#if LANE_ROWS > 1
    const i64 second = entry[1];
#endif
#endif
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
#if FILL
      u64 word = 0;
#endif
      i64 e = entry[k];
      if (next[k] == at) {
        i64 c = col[e];
        do {
#if FILL
          word |= 1ull << (c & (TILE - 1));
#endif
#if ORDER || SPLIT
          ++taken;
#endif
          ++e;
          c = e < end[k] ? (i64)col[e] : none;
        } while (c >> LOG_TILE == at);
        next[k] = c == none ? none : c >> LOG_TILE;
      }
      entry[k] = e;
#if FILL
      row_bits[k] = word;
#endif
    }
#if ORDER || SPLIT
    const u32 below = group_sum_below<ROW_LANES>(taken);
    const u32 entries = __shfl_sync(group_mask<ROW_LANES>(), below + taken, ROW_LANES - 1, ROW_LANES);
    (void)below, (void)entries;
#endif
#if ORDER
    i64 place = rank + below;
#endif
#if SPLIT
    const bool is_near = at < limit;
    if (entries < (is_near ? least_near : least_far)) {
#if FILL
      const i64 other = is_near ? near : far;
#endif
#if FILL
      i64 code = other + below;
      for (u64 word = row_bits[0]; word; word &= word - 1)
        rest[code++] = (u32)(at << 2 * LOG_TILE) | (u32)(lane << LOG_TILE | (__ffsll(word) - 1));
#endif
#if ORDER
      place = in_tiles + other + below;
      for (i64 e = first; e < entry[0]; ++e) places[place++] = (PLACE_T)e;
#endif
      (is_near ? near : far) += entries;
      continue;
    }
#endif
#if FILL
    if (lane == 0) tile_col[tile] = (TILE_COL_T)at;
#if TILE == 4
    u32 whole = (u32)row_bits[0] << (4 * lane);
    whole |= shuffle_xor(group_mask<4>(), whole, 1);
    whole |= shuffle_xor(group_mask<4>(), whole, 2);
    if (lane == 0) bits[tile] = (u16)whole;
#else
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) ((row_t*)bits)[tile * TILE + lane * LANE_ROWS + k] = (row_t)row_bits[k];
#endif
#if ORDER
    if (lane == 0) value_ptr[tile] = (PLACE_T)rank;
    for (i64 e = first; e < entry[0]; ++e) places[place++] = (PLACE_T)e;
#if LANE_ROWS > 1
    for (i64 e = second; e < entry[LANE_ROWS - 1]; ++e) places[place++] = (PLACE_T)e;
#endif
    rank += entries;
#endif
#endif
    ++tile;
  }
  if (!FILL && lane == 0) {
    counts[part.number] = tile;
#if SPLIT
    counts[n + part.number] = near;
    counts[2 * n + part.number] = far;
#endif
  }
}

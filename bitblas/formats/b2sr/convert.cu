// Convert CSR rows to tiles and back; list the entries of tiles; transpose tiles.
#include "formats/b2sr/tile.cuh"
#include "formats/csr/search.cuh"

// Parts of long tile rows: runs of tile columns, so that several groups of lanes share a tile row.
// cuts[I]: number of cuts in the tile rows before I. Cut x begins a part at tile column cut_cols[x]. Unit I <
// tile_rows is the first part of tile row I; unit tile_rows + x is the part that cut x begins.

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

#ifdef KERNEL_cut
// Cut long tile rows into parts of about equally many entries.
// Cut j of the k in a tile row is the least tile column with at least j / (k + 1) of its entries before it. Found by
// bisection; each lane keeps the bounds of its rows.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
cut(i64 n, i64 tile_rows, i64 nrows, i64 tile_cols, const PTR_T* ptr, const COL_T* col, const i64* cuts,
    i64* cut_cols) {
  const i64 number = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (number >= n || number >= cuts[tile_rows]) return;
  const i64 tile_row = range_of(cuts, tile_rows, number);
  i64 first[LANE_ROWS], from[LANE_ROWS], to[LANE_ROWS], mine = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    const i64 row = tile_row * TILE + lane * LANE_ROWS + k;
    first[k] = from[k] = row < nrows ? (i64)ptr[row] : 0;
    to[k] = row < nrows ? (i64)ptr[row + 1] : 0;
    mine += to[k] - from[k];
  }
  const i64 entries = sum_of_group(mine), parts = cuts[tile_row + 1] - cuts[tile_row] + 1;
  const i64 j = number - cuts[tile_row] + 1, before = entries / parts * j + entries % parts * j / parts;
  i64 low = 0, high = tile_cols;
  while (low < high) {
    const i64 middle = (low + high) >> 1;
    i64 at[LANE_ROWS];
    mine = 0;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      at[k] = lower_bound(col, from[k], to[k], middle << LOG_TILE);
      mine += at[k] - first[k];
    }
    const bool enough = sum_of_group(mine) >= before;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) (enough ? to[k] : from[k]) = at[k];
    if (enough) high = middle;
    else low = middle + 1;
  }
  if (lane == 0) cut_cols[number] = low;
}
#endif  // KERNEL_cut

#ifdef KERNEL_build
// Build tiles from CSR rows: merge the rows of each tile row by tile column, one lane per row.
// The least next tile column becomes the next tile, and each row contributes its entries there.
// FILL = 0 counts the tiles of each part of a tile row; FILL = 1 writes them from tile out[part] on.
// SPLIT: only tiles with at least `least_near` entries (`least_far` from tile column `limit` on) are stored. The
// entries of other tiles are counted too, near ones and then far ones after the tile counts, and written as codes
// (split/entries.cuh), near ones first. They follow the `in_tiles` entries of tiles.
// Arguments: rows (ptr, col); cuts, cut_cols: part_of; limit, least_near, least_far, in_tiles: SPLIT; out, counts:
// offsets and counts per part; output tiles: tile_col, bits, value_ptr; places: with ORDER the positions of entries;
// rest: codes of single entries.

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
#endif  // KERNEL_build

#ifdef KERNEL_unbuild
// Convert tiles to CSR rows: lane r walks the tiles of a part of a tile row and takes row r of each.
// FILL = 0 counts the entries of each row in each part, row by row. FILL = 1 writes their columns at the offsets in
// `out`, the prefix sum of the counts, with ORDER also their ranks in the tiles, and the start of each row.
// cuts[I]: number of cuts in the tile rows before I; they cut a tile row into parts of equally many tiles.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
unbuild(i64 n, i64 tile_rows, i64 nrows, const PTR_T* tile_ptr, const TILE_COL_T* tile_col, const word_t* bits,
        const PLACE_T* value_ptr, const i64* cuts, const i64* out, i64* counts, i64* ptr, COL_T* col, PLACE_T* places) {
  const i64 unit = thread_number() / ROW_LANES, cut = unit - tile_rows;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (unit >= n || cut >= cuts[tile_rows]) return;
  const i64 tile_row = cut < 0 ? unit : range_of(cuts, tile_rows, cut), before = cuts[tile_row];
  const i64 parts = cuts[tile_row + 1] - before + 1, part = cut < 0 ? 0 : cut - before + 1;
  const i64 first = tile_ptr[tile_row], tiles = (i64)tile_ptr[tile_row + 1] - first;
  const i64 slot = (tile_row + before) * TILE + part;
  i64 at[LANE_ROWS];
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
#if FILL
    const int r = lane * LANE_ROWS + k;
    at[k] = out[slot + r * parts];
    if (part == 0 && tile_row * TILE + r < nrows) ptr[tile_row * TILE + r] = at[k];
#else
    at[k] = 0;
#endif
  }
  const i64 end = first + tiles * (part + 1) / parts;
  for (i64 tile = first + tiles * part / parts; tile < end; ++tile) {
    u32 mine = 0;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(tile_row_bits(bits, tile, lane * LANE_ROWS + k));
#if ORDER
    i64 place = (i64)value_ptr[tile] + group_sum_below<ROW_LANES>(mine);
#endif
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      u64 rest = tile_row_bits(bits, tile, lane * LANE_ROWS + k);
#if FILL
      for (; rest; rest &= rest - 1) {
        col[at[k]] = (COL_T)((i64)tile_col[tile] * TILE + __ffsll(rest) - 1);
#if ORDER
        places[at[k]] = (PLACE_T)place++;
#endif
        ++at[k];
      }
#else
      at[k] += __popcll(rest);
#endif
    }
    (void)mine;
  }
#if !FILL
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) counts[slot + (lane * LANE_ROWS + k) * parts] = at[k];
#endif
}
#endif  // KERNEL_unbuild

#ifdef KERNEL_coo
// List the row and column of every entry, in the order of the tiles' bits: lane r takes row r of a tile.
// rows, cols: output.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
coo(i64 n, i64 tile_rows, const PTR_T* tile_ptr, const COL_T* tile_col, const word_t* bits, const PLACE_T* value_ptr,
    i64* rows, i64* cols) {
  const i64 tile = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (tile >= n) return;
  const i64 top = range_of(tile_ptr, tile_rows, tile) * TILE, left = (i64)tile_col[tile] * TILE;
  u32 mine = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(tile_row_bits(bits, tile, lane * LANE_ROWS + k));
  i64 place = (i64)value_ptr[tile] + group_sum_below<ROW_LANES>(mine);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    const int r = lane * LANE_ROWS + k;
    for (u64 rest = tile_row_bits(bits, tile, r); rest; rest &= rest - 1, ++place) {
      rows[place] = top + r;
      cols[place] = left + __ffsll(rest) - 1;
    }
  }
}
#endif  // KERNEL_coo

#ifdef KERNEL_transpose
// Transpose the bits of tiles: tile k of the result is the transpose of tile source[k].
// ORDER = 0 writes the bits. ORDER = 1 writes, for each entry of the transpose, its position in the original tiles. A
// lane takes a row (two for T = 64). Bits move by butterfly exchanges: rows and columns whose numbers differ in one
// bit swap.
// value_ptr, t_value_ptr: ranks of the original tiles and of the result's (ORDER); t_bits, places: output.

#if TILE == 64
typedef u64 bits_t;
#else
typedef u32 bits_t;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
transpose(i64 n, const PTR_T* source, const word_t* bits, const PLACE_T* value_ptr, const PLACE_T* t_value_ptr,
     word_t* t_bits, PLACE_T* places) {
  const i64 tile = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (tile >= n) return;
  const u32 group = group_mask<ROW_LANES>();
  const i64 from = source[tile];
  bits_t row[LANE_ROWS];
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) row[k] = (bits_t)tile_row_bits(bits, from, lane * LANE_ROWS + k);
#if ORDER
  __shared__ bits_t straight[BLOCK * LANE_ROWS];
  __shared__ u32 before[BLOCK * LANE_ROWS];  // entries of the tile before each row
  const int head = threadIdx.x / ROW_LANES * TILE;
  u32 mine = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(row[k]);
  u32 below = group_sum_below<ROW_LANES>(mine);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    straight[head + lane * LANE_ROWS + k] = row[k];
    before[head + lane * LANE_ROWS + k] = below;
    below += __popcll(row[k]);
  }
  __syncwarp(group);
#endif
#pragma unroll
  for (int d = TILE / 2; d; d >>= 1) {
    const bits_t low = (bits_t)(~0ull / ((1ull << d) + 1));  // columns whose number has bit d clear
    if (d < LANE_ROWS) {
      const bits_t upper = row[0], lower = row[LANE_ROWS - 1];
      row[0] = (upper & low) | ((lower & low) << d);
      row[LANE_ROWS - 1] = ((upper >> d) & low) | (lower & ~low);
    } else {
#pragma unroll
      for (int k = 0; k < LANE_ROWS; ++k) {
        const bits_t other = shuffle_xor(group, row[k], d / LANE_ROWS);
        row[k] = (lane * LANE_ROWS) & d ? ((other >> d) & low) | (row[k] & ~low) : (row[k] & low) | ((other & low) << d);
      }
    }
  }
#if ORDER
  mine = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(row[k]);
  i64 place = (i64)t_value_ptr[tile] + group_sum_below<ROW_LANES>(mine);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k)
    for (bits_t rest = row[k]; rest; rest &= rest - 1) {
      const int r = head + __ffsll(rest) - 1;
      const bits_t left = straight[r] & (((bits_t)1 << (lane * LANE_ROWS + k)) - 1);
      places[place++] = (PLACE_T)((i64)value_ptr[from] + before[r] + __popcll(left));
    }
#elif TILE == 4
  u32 whole = row[0] << (4 * lane);
  whole |= shuffle_xor(group, whole, 1);
  whole |= shuffle_xor(group, whole, 2);
  if (lane == 0) t_bits[tile] = (u16)whole;
#else
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) ((row_t*)t_bits)[tile * TILE + lane * LANE_ROWS + k] = (row_t)row[k];
#endif
}
#endif  // KERNEL_transpose

// Convert CSR rows to tiles and back; list, transpose, select and measure the entries of tiles.
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

// Write a tile of which each lane has LANE_ROWS rows.
template <class T> __device__ __forceinline__ void write_tile(word_t* bits, i64 tile, int lane,
                                                              const T (&rows)[LANE_ROWS]) {
#if TILE == 4
  u32 whole = (u32)rows[0] << (4 * lane);
  whole |= shuffle_xor(group_mask<ROW_LANES>(), whole, 1);
  whole |= shuffle_xor(group_mask<ROW_LANES>(), whole, 2);
  if (lane == 0) bits[tile] = (word_t)whole;
#else
  for (int k = 0; k < LANE_ROWS; ++k) ((row_t*)bits)[tile * TILE + lane * LANE_ROWS + k] = (row_t)rows[k];
#endif
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
    for (int k = 0; k < LANE_ROWS; ++k) {
      at[k] = lower_bound(col, from[k], to[k], middle << LOG_TILE);
      mine += at[k] - first[k];
    }
    const bool enough = sum_of_group(mine) >= before;
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
  for (int k = 0; k < LANE_ROWS; ++k) {
    const i64 row = part.tile_row * TILE + lane * LANE_ROWS + k;
    const i64 first = row < nrows ? (i64)ptr[row] : 0;
    end[k] = row < nrows ? (i64)ptr[row + 1] : 0;
    entry[k] = part.begin ? lower_bound(col, first, end[k], part.begin << LOG_TILE) : first;
    next[k] = entry[k] < end[k] ? (i64)col[entry[k]] >> LOG_TILE : none;
    skipped += entry[k] - first;
  }
  i64 tile = FILL ? out[part.number] : 0;
  const i64 in_near = SPLIT && FILL ? out[2 * n + 1] : 0;
  i64 near = SPLIT && FILL ? out[n + 1 + part.number] : 0;  // the next single entry
  i64 far = SPLIT && FILL ? in_near + out[2 * n + 2 + part.number] : 0;
  i64 rank = 0;
  if (ORDER) rank = (i64)ptr[part.tile_row * TILE] + (part.begin ? sum_of_group(skipped) : 0) - (near + far - in_near);
  for (;;) {
    i64 mine = next[0];
    for (int k = 1; k < LANE_ROWS; ++k) mine = next[k] < mine ? next[k] : mine;
    const i64 at = least_of_group(mine);
    if (at >= part.end) break;
    u64 row_bits[LANE_ROWS];
    i64 first[LANE_ROWS];
    u32 taken = 0;
    for (int k = 0; k < LANE_ROWS; ++k) {
      u64 word = 0;
      i64 e = first[k] = entry[k];
      if (next[k] == at) {
        i64 c = col[e];
        do {
          word |= 1ull << (c & (TILE - 1));
          ++taken, ++e;
          c = e < end[k] ? (i64)col[e] : none;
        } while (c >> LOG_TILE == at);
        next[k] = c == none ? none : c >> LOG_TILE;
      }
      entry[k] = e;
      row_bits[k] = word;
    }
    u32 below = 0, entries = 0;
    if (ORDER || SPLIT) {
      below = group_sum_below<ROW_LANES>(taken);
      entries = __shfl_sync(group_mask<ROW_LANES>(), below + taken, ROW_LANES - 1, ROW_LANES);
    }
    const bool is_near = at < limit, single = SPLIT && entries < (is_near ? least_near : least_far);
    const i64 other = is_near ? near : far;
    if (FILL && single) {
      i64 code = other + below;
      for (u64 word = row_bits[0]; word; word &= word - 1)
        rest[code++] = (u32)(at << 2 * LOG_TILE) | (u32)(lane << LOG_TILE | (__ffsll(word) - 1));
    }
    if (FILL && !single) {
      if (lane == 0) tile_col[tile] = (TILE_COL_T)at;
      write_tile(bits, tile, lane, row_bits);
      if (ORDER && lane == 0) value_ptr[tile] = (PLACE_T)rank;
    }
    i64 place = (single ? in_tiles + other : rank) + below;
    for (int k = 0; ORDER && k < LANE_ROWS; ++k)
      for (i64 e = first[k]; e < entry[k]; ++e) places[place++] = (PLACE_T)e;
    if (single) (is_near ? near : far) += entries;
    else ++tile, rank += entries;
  }
  if (!FILL && lane == 0) {
    counts[part.number] = tile;
    if (SPLIT) counts[n + part.number] = near, counts[2 * n + part.number] = far;
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
            const PLACE_T* value_ptr, const i64* cuts, const i64* out, i64* counts, i64* ptr, COL_T* col,
            PLACE_T* places) {
  const i64 unit = thread_number() / ROW_LANES, cut = unit - tile_rows;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (unit >= n || cut >= cuts[tile_rows]) return;
  const i64 tile_row = cut < 0 ? unit : range_of(cuts, tile_rows, cut), before = cuts[tile_row];
  const i64 parts = cuts[tile_row + 1] - before + 1, part = cut < 0 ? 0 : cut - before + 1;
  const i64 first = tile_ptr[tile_row], tiles = (i64)tile_ptr[tile_row + 1] - first;
  const i64 slot = (tile_row + before) * TILE + part;
  i64 at[LANE_ROWS];
  for (int k = 0; k < LANE_ROWS; ++k) {
    const int r = lane * LANE_ROWS + k;
    at[k] = FILL ? out[slot + r * parts] : 0;
    if (FILL && part == 0 && tile_row * TILE + r < nrows) ptr[tile_row * TILE + r] = at[k];
  }
  const i64 end = first + tiles * (part + 1) / parts;
  for (i64 tile = first + tiles * part / parts; tile < end; ++tile) {
    u32 mine = 0;
    for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(tile_row_bits(bits, tile, lane * LANE_ROWS + k));
    i64 place = ORDER ? (i64)value_ptr[tile] + group_sum_below<ROW_LANES>(mine) : 0;
    for (int k = 0; k < LANE_ROWS; ++k) {
      u64 rest = tile_row_bits(bits, tile, lane * LANE_ROWS + k);
      if (!FILL) at[k] += __popcll(rest);
      for (; FILL && rest; rest &= rest - 1, ++at[k]) {
        col[at[k]] = (COL_T)((i64)tile_col[tile] * TILE + __ffsll(rest) - 1);
        if (ORDER) places[at[k]] = (PLACE_T)place++;
      }
    }
  }
  for (int k = 0; !FILL && k < LANE_ROWS; ++k) counts[slot + (lane * LANE_ROWS + k) * parts] = at[k];
}
#endif  // KERNEL_unbuild

#ifdef KERNEL_coo
// List the row and column of every entry, in the order of the tiles' bits: lane r takes row r of a tile.
// rows, cols: output.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    coo(i64 n, i64 tile_rows, const PTR_T* tile_ptr, const COL_T* tile_col, const word_t* bits,
        const PLACE_T* value_ptr, i64* rows, i64* cols) {
  const i64 tile = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (tile >= n) return;
  const i64 top = range_of(tile_ptr, tile_rows, tile) * TILE, left = (i64)tile_col[tile] * TILE;
  u32 mine = 0;
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(tile_row_bits(bits, tile, lane * LANE_ROWS + k));
  i64 place = (i64)value_ptr[tile] + group_sum_below<ROW_LANES>(mine);
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

typedef UInt<TILE == 64 ? 64 : 32>::type bits_t;

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    transpose(i64 n, const PTR_T* source, const word_t* bits, const PLACE_T* value_ptr, const PLACE_T* t_value_ptr,
              word_t* t_bits, PLACE_T* places) {
  const i64 tile = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (tile >= n) return;
  const u32 group = group_mask<ROW_LANES>();
  const i64 from = source[tile];
  bits_t row[LANE_ROWS];
  for (int k = 0; k < LANE_ROWS; ++k) row[k] = (bits_t)tile_row_bits(bits, from, lane * LANE_ROWS + k);
#if ORDER
  __shared__ bits_t straight[BLOCK * LANE_ROWS];
  __shared__ u32 before[BLOCK * LANE_ROWS];  // entries of the tile before each row
  const int head = threadIdx.x / ROW_LANES * TILE;
  u32 mine = 0;
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(row[k]);
  u32 below = group_sum_below<ROW_LANES>(mine);
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
      for (int k = 0; k < LANE_ROWS; ++k) {
        const bits_t other = shuffle_xor(group, row[k], d / LANE_ROWS);
        row[k] =
            (lane * LANE_ROWS) & d ? ((other >> d) & low) | (row[k] & ~low) : (row[k] & low) | ((other & low) << d);
      }
    }
  }
#if ORDER
  mine = 0;
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(row[k]);
  i64 place = (i64)t_value_ptr[tile] + group_sum_below<ROW_LANES>(mine);
  for (int k = 0; k < LANE_ROWS; ++k)
    for (bits_t rest = row[k]; rest; rest &= rest - 1) {
      const int r = head + __ffsll(rest) - 1;
      const bits_t left = straight[r] & (((bits_t)1 << (lane * LANE_ROWS + k)) - 1);
      places[place++] = (PLACE_T)((i64)value_ptr[from] + before[r] + __popcll(left));
    }
#else
  write_tile(t_bits, tile, lane, row);
#endif
}
#endif  // KERNEL_transpose

#ifdef KERNEL_clip
// Extract a region from tiles.
// Keeps the bits of each tile in rows [row_low, row_high), columns [col_low, col_high) and diagonals column - row in
// [diag_low, diag_high].
// FILL = 0 counts what remains of tile row I: tiles[I + 1], entries[I + 1]. FILL = 1, after a prefix sum of both
// (entries starting at entries[0]), writes the tiles and the rank of the first bit of each. LANES lanes walk the tiles
// of a tile row.
// Arguments: the tiles; the region; tiles, entries: counts per tile row; left_col, left, ranks: output tiles.

struct Region {
  i64 row_low, row_high, col_low, col_high, diag_low, diag_high;
};

// A limit relative to a tile, clamped to 32 bits.
__device__ __forceinline__ int close(i64 x) { return (int)min(max(x, -256ll), 256ll); }

// Word k of the tile at (top, first), without the bits outside the region.
__device__ __forceinline__ u64 clipped(u64 word, int k, i64 top, i64 first, const Region& in) {
  const int row_low = close(in.row_low - top), row_high = close(in.row_high - top);
  const int col_low = max(close(in.col_low - first), 0), col_high = min(close(in.col_high - first), TILE);
  const int diag_low = close(in.diag_low + top - first), diag_high = close(in.diag_high + 1 + top - first);
  u64 region = 0;
#pragma unroll
  for (int r = 0; r < WORD_ROWS; ++r) {
    const int row = k * WORD_ROWS + r;
    const int low = max(col_low, row + diag_low), high = min(col_high, row + diag_high);
    if (row >= row_low && row < row_high && low < high) region |= ~0ull >> (64 - (high - low)) << (r * TILE + low);
  }
  return word & region;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    clip(i64 n, const PTR_T* ptr, const COL_T* col, const word_t* bits, Region region, i64* tiles, i64* entries,
         COL_T* left_col, word_t* left, PLACE_T* ranks) {
  const i64 tile_row = thread_number() / LANES, top = tile_row * TILE;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = tile_row < n;
  const i64 begin = inside ? (i64)ptr[tile_row] : 0, stop = inside ? (i64)ptr[tile_row + 1] : 0;
  i64 tile_base = FILL && inside ? tiles[tile_row] : 0, bit_base = FILL && inside ? entries[tile_row] - entries[0] : 0;
  for (i64 tile = begin + lane; __any_sync(ALL_LANES, tile - lane < stop); tile += LANES) {
    u32 total = 0;
    const i64 first = tile < stop ? (i64)col[tile] * TILE : 0;
    for (int k = 0; tile < stop && k < TILE_WORDS; ++k)
      total += __popcll(clipped(bits[tile * TILE_WORDS + k], k, top, first, region));
    const u32 tiles_below = group_sum_below<LANES>(total > 0), bits_below = group_sum_below<LANES>(total);
    if (FILL && total) {
      const i64 at = tile_base + tiles_below;
      left_col[at] = col[tile];
      ranks[at] = (PLACE_T)(bit_base + bits_below);
      for (int k = 0; k < TILE_WORDS; ++k)
        left[at * TILE_WORDS + k] = (word_t)clipped(bits[tile * TILE_WORDS + k], k, top, first, region);
    }
    tile_base += __shfl_sync(ALL_LANES, tiles_below + (total > 0), LANES - 1, LANES);
    bit_base += __shfl_sync(ALL_LANES, bits_below + total, LANES - 1, LANES);
  }
  if (!FILL && inside && lane == 0) tiles[tile_row + 1] = tile_base, entries[tile_row + 1] = bit_base;
}
#endif  // KERNEL_clip

#ifdef KERNEL_filter
// Filter entries: clear the bits of entries that are not kept; `some` marks tiles that have any left.
// One thread per tile.
// keep: a flag per entry; left: output bits.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    filter(i64 n, const word_t* bits, const PLACE_T* value_ptr, const u8* keep, word_t* left, u8* some) {
  const i64 tile = thread_number();
  if (tile >= n) return;
  i64 rank = value_ptr[tile];
  bool any = false;
  for (int k = 0; k < TILE_WORDS; ++k) {
    u64 word = 0;
    for (u64 rest = bits[tile * TILE_WORDS + k]; rest; rest &= rest - 1)
      if (keep[rank++]) word |= rest & (~rest + 1);
    left[tile * TILE_WORDS + k] = (word_t)word;
    any = any || word;
  }
  some[tile] = any;
}
#endif  // KERNEL_filter

#ifdef KERNEL_ranks
// Count the bits of each tile. Their prefix sums are the ranks by which values are found.
// counts: output.

extern "C" __global__ void __launch_bounds__(BLOCK, 4) ranks(i64 n, const word_t* bits, i64* counts) {
  const i64 tile = thread_number();
  if (tile >= n) return;
  i64 sum = 0;
  for (int k = 0; k < TILE_WORDS; ++k) sum += __popcll(bits[tile * TILE_WORDS + k]);
  counts[tile] = sum;
}
#endif  // KERNEL_ranks

#ifdef KERNEL_mirror
// Symmetry test on tiles: per chunk of CHUNK tiles, the hash difference of entries and mirror images.
// Hashes: kernels/scramble.cuh. A warp takes a chunk; lane r takes row r of a tile.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4) mirror(i64 n, i64 tile_rows, i64 tiles, const PTR_T* tile_ptr,
                                                              const COL_T* tile_col, const word_t* bits, u64* sums) {
  const i64 chunk = thread_number() / 32;
  if (chunk >= n) return;
  const i64 end = (chunk + 1) * CHUNK, stop = end < tiles ? end : tiles;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  u64 sum = 0;
  for (i64 tile = chunk * CHUNK + (threadIdx.x & 31) / ROW_LANES; tile < stop; tile += 32 / ROW_LANES) {
    const i64 top = range_of(tile_ptr, tile_rows, tile) * TILE, left = (i64)tile_col[tile] * TILE;
    for (int k = 0; k < LANE_ROWS; ++k) {
      const int r = lane * LANE_ROWS + k;
      const u64 row = scramble((u64)(top + r));
      for (u64 rest = tile_row_bits(bits, tile, r); rest; rest &= rest - 1)
        sum += unlike_mirror(row, scramble((u64)(left + __ffsll(rest) - 1)));
    }
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if ((threadIdx.x & 31) == 0) sums[chunk] = sum;
}
#endif  // KERNEL_mirror

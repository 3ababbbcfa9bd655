// Pull SpMV on tiles: w<mask, accum, replace> = A (+).(x) u by tile rows. LANES lanes share a tile row. The pull of Split
// includes all but the kernel: a tile row's prologue, its sums along tiles, and its epilogue.
// WORDS works on whole tile words: spread the T bits of u over the rows of a word, AND, OR over the tiles, fold each
// row to a bit. COUNT and VALUES give each lane a row. The mask is applied before a tile row is read; mask, accumulator
// and `replace` once after all of its parts (kernels/product.cuh).
#include "kernels/product.cuh"
#include "formats/b2sr/tile.cuh"

typedef PLACE(PTR_T) place_t;

#define WORD_LANES (TILE_WORDS < 32 ? TILE_WORDS : 32)  // lanes that share a tile
#define UNROLL (TILE < 16 ? 3 : TILE == 16 ? 2 : 1)  // tiles that a lane loads at once (measured for T = 8)
#define LANE_WORDS (TILE_WORDS / WORD_LANES)  // words of a tile per lane: 2 for T = 64
#define BATCH (64 / TILE)  // tiles whose bits in one row fill a word
#define GATHERS (KIND == VALUES && TILE <= 32 && !RANKED && HAS_TERMINAL != 2)
#define AHEAD (HAS_TERMINAL == 2 ? 1 : 2)  // products that a lane loads at once if it does not gather rows
typedef UInt<TILE == 64 ? 64 : 32>::type rows_t;  // rows of a tile row, one bit each

__device__ __forceinline__ u64 or_lanes(u64 x, int lanes) {
#pragma unroll
  for (int d = lanes / 2; d; d >>= 1) x |= __shfl_xor_sync(ALL_LANES, x, d);
  return x;
}

#if KIND == WORDS
// The rows that have a hit, one bit each; all lanes of the group get them.
__device__ __forceinline__ rows_t hit_rows(place_t tile, place_t stop, int lane, const Tiles& tiles,
                                           const u64* u_bits) {
  // UNROLL tiles of a lane are loaded before the first is used; at the end the last one is repeated, which OR ignores.
  u64 acc[LANE_WORDS];
  for (int k = 0; k < LANE_WORDS; ++k) acc[k] = 0;
  const int word = lane & (WORD_LANES - 1);
  const place_t last = stop - 1;
  for (tile += lane / WORD_LANES; tile < stop; tile += UNROLL * (LANES / WORD_LANES)) {
    u64 u[UNROLL], w[UNROLL][LANE_WORDS];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const place_t next = tile + i * (LANES / WORD_LANES), at = next < last ? next : last;
      u[i] = U_FULL ? ~0ull : (u64)tiles.col[at];
      for (int k = 0; k < LANE_WORDS; ++k) w[i][k] = tiles.bits[(i64)at * TILE_WORDS + word + k * WORD_LANES];
    }
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      if (!U_FULL) u[i] = tile_bits(u_bits, (i64)u[i]) * SPREAD;
      for (int k = 0; k < LANE_WORDS; ++k) acc[k] |= w[i][k] & u[i];
    }
  }
#if TILE == 64
  rows_t rows = (u64)fold_rows(acc[0]) << word | (u64)fold_rows(acc[1]) << (word + 32);
#else
  rows_t rows = fold_rows(acc[0]) << (word * WORD_ROWS);
#endif
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) rows |= shuffle_xor(ALL_LANES, rows, d);
  return rows;
}
#else
// The sums of a lane's rows.
struct Sums {
  bool some[LANE_ROWS];
  Z_T sum[LANE_ROWS];
  i64 count[LANE_ROWS];
};

#if GATHERS
// STEP tiles at a time, whose 32 columns are the bits of a word. A lane loads LOADS pieces of PIECE entries of u into
// shared memory: those of tile `lane % STEP` of the word, and of the one ROW_LANES further.
#define STEP (32 / TILE)
#define LOADS (STEP > ROW_LANES ? STEP / ROW_LANES : 1)
#define PIECE (32 / (ROW_LANES * LOADS))
#define ALL_THERE ((1u << PIECE) - 1)
#define SPAN (32 + 8)  // entries of u per row, plus padding that puts groups of lanes in different banks
struct alignas(PIECE * sizeof(U_T) < 16 ? PIECE * sizeof(U_T) : 16) Piece {
  U_T x[PIECE];
};

// What a lane reads of a word's tiles. T = 8: four rows of one tile, otherwise its own row of each tile.
struct Word {
  u32 there[LOADS];  // the columns with entries
  col_t J[LOADS];
  u32 part[STEP];

  __device__ __forceinline__ void read(place_t tile, place_t stop, int row_lane, const Tiles& tiles,
                                       const u32* halves) {
    for (int k = 0; k < LOADS; ++k) {
      const place_t at = tile + k * ROW_LANES + row_lane % STEP;
      there[k] = at < stop ? (u32)ROW_MASK : 0u;
      J[k] = at < stop ? tiles.col[at] : 0;
      if (TILE == 8) part[k] = at < stop ? halves[2 * (i64)at] : 0u;
    }
#pragma unroll
    for (int i = 0; TILE != 8 && i < STEP; ++i)
      part[i] = tile + i < stop ? (u32)tile_row_bits(tiles.bits, tile + i, row_lane) : 0u;
  }

  // The bits of the lane's row in columns where u has entries.
  __device__ __forceinline__ u32 row(u32 pick, u32 pick_next) const {
    if (TILE == 8) {  // four lanes transpose their words: byte k of lane r becomes byte r of lane k
      const u32 four = U_FULL ? part[0] : part[0] & there[0] * 0x01010101u;
      const u32 two = picked_bytes(four, shuffle_xor(ALL_LANES, four, 2), pick);
      return picked_bytes(two, shuffle_xor(ALL_LANES, two, 1), pick_next);
    }
    u32 mine = 0;
#pragma unroll
    for (int i = 0; i < STEP; ++i)
      mine |= (part[i] & shuffle_from<ROW_LANES>(there[i / ROW_LANES], i % ROW_LANES)) << (i * TILE & 31);
    return mine;
  }
};
#endif

// row: the lane's first row.
__device__ __forceinline__ void sum_tiles(Sums& of, place_t tile, place_t stop, int lane, i64 row, const Tiles& tiles,
                                          const Values& a, const VectorView<U_T>& u) {
  const int row_lane = lane & (ROW_LANES - 1);
  (void)row, (void)row_lane;
  for (int k = 0; k < LANE_ROWS; ++k) of.some[k] = false, of.sum[k] = GATHERS ? BEGIN : IDENTITY, of.count[k] = 0;
#if RANKED
  for (tile += lane / ROW_LANES; tile < stop; tile += LANES / ROW_LANES) {
    const i64 left = (i64)tiles.col[tile] * TILE;
    const u64 there = U_FULL ? ~0ull : tile_bits(u.bits, tiles.col[tile]);
    u64 mine[LANE_ROWS];
    u32 entries = 0;
    for (int k = 0; k < LANE_ROWS; ++k)
      mine[k] = tile_row_bits(tiles.bits, tile, row_lane * LANE_ROWS + k), entries += __popcll(mine[k]);
    i64 rank = (i64)tiles.value_ptr[tile] + group_sum_below<ROW_LANES>(entries);
    for (int k = 0; k < LANE_ROWS; ++k) {
      if (!is_final(of.some[k], of.sum[k]))
        for (u64 rest = mine[k] & there; rest; rest &= rest - 1) {
          const int c = __ffsll(rest) - 1;
          const A_T value = a[rank + __popcll(mine[k] & ((1ull << c) - 1))];
          join(of.some[k], of.sum[k], true, mul(value, u.at(left + c), row + k, left + c));
        }
      rank += __popcll(mine[k]);
    }
  }
#elif GATHERS
  // The lanes load the entries of u that a word of tiles covers into shared memory, and each collects the bits of its
  // row in a word; then it walks these. No load depends on finding a bit. BEGIN is neutral.
  alignas(16) __shared__ char near[BLOCK / ROW_LANES * SPAN * sizeof(U_T)];
  const int mate = row_lane % STEP, first = row_lane / STEP * PIECE;
  const u32 group = threadIdx.x / ROW_LANES * SPAN;
  const u32 get = pinned_by_shuffle(group * (u32)sizeof(U_T)),
            put = pinned((group + mate * TILE + first) * (u32)sizeof(U_T));
  const u32* halves = pinned((const u32*)tiles.bits + (row_lane >> 2));
  const u32 pick = pinned(row_lane & 2 ? 0x3276u : 0x5410u), pick_next = pinned(row_lane & 1 ? 0x3715u : 0x6240u);
  const STORED(U_T)* from = U_BOOL ? u.values : pinned(u.values + first);
  const bool straight = !U_BOOL && __all_sync(ALL_LANES, u.stride && ((u64)u.values & (alignof(Piece) - 1)) == 0);
  u32 some = 0;
  Word word;
  tile += lane / ROW_LANES * STEP;
  word.read(tile, stop, row_lane, tiles, halves);
  for (; __any_sync(ALL_LANES, tile < stop); tile += LANES / ROW_LANES * STEP) {
    Piece piece[LOADS];
    for (int k = 0; k < LOADS; ++k) {
      const i64 left = (i64)word.J[k] * TILE;
      if (word.there[k] && (!U_FULL || PADDED)) word.there[k] = (u32)tile_bits(u.bits, word.J[k]);
      const u32 exist = word.there[k] >> first & ALL_THERE;
      if (straight && (!PADDED || exist == ALL_THERE)) {
        if (U_FULL || word.there[k]) piece[k] = *(const Piece*)(from + left);  // if there is no tile, repeat the first
        continue;
      }
#pragma unroll
      for (int i = 0; i < PIECE; ++i) piece[k].x[i] = exist >> i & 1 ? u.at(left + first + i) : U_T();
    }
    const u32 mine = word.row(pick, pick_next);
    some |= mine;
    for (int k = 0; k < LOADS; ++k) *(Piece*)(near + put + k * ROW_LANES * TILE * sizeof(U_T)) = piece[k];
    __syncwarp();
    // Of the next iteration, while this one is walked.
    word.read(tile + LANES / ROW_LANES * STEP, stop, row_lane, tiles, halves);
    for (u32 rest = __brev(mine); rest;) {  // from the left, the top bit
      const u32 c = left_bit(rest);
      rest &= 0x7fffffffu >> c;
      const i64 inner = (i64)tiles.col[tile + (c >> LOG_TILE)] * TILE + (c & (TILE - 1));
      of.sum[0] = add(of.sum[0], mul(a.iso, *(const U_T*)(near + get + c * sizeof(U_T)), row, inner));
    }
    __syncwarp();
  }
  of.some[0] = some != 0;
#else
  // A lane collects its row of BATCH tiles in one word, so that loads do not depend on each other, and walks the word's
  // bits.
  for (tile += lane / ROW_LANES * BATCH; tile < stop; tile += LANES / ROW_LANES * BATCH) {
    u64 there = U_FULL ? ~0ull : 0ull, mine[LANE_ROWS];
    for (int k = 0; k < LANE_ROWS; ++k) mine[k] = 0;
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      if (tile + i >= stop) continue;
      if (!U_FULL) there |= tile_bits(u.bits, tiles.col[tile + i]) << (i * TILE);
      for (int k = 0; k < LANE_ROWS; ++k)
        mine[k] |= tile_row_bits(tiles.bits, tile + i, row_lane * LANE_ROWS + k) << (i * TILE);
    }
    for (int k = 0; k < LANE_ROWS; ++k) {
      of.count[k] += __popcll(mine[k] & there);
      for (u64 rest = KIND == COUNT ? 0ull : mine[k] & there; rest && !is_final(of.some[k], of.sum[k]);) {
        i64 j[AHEAD];
        U_T x[AHEAD];
        bool has[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
          has[i] = rest != 0;
          const int c = has[i] ? __ffsll(rest) - 1 : 0;
          rest &= rest - 1;
          j[i] = (i64)tiles.col[tile + (c >> LOG_TILE)] * TILE + (c & (TILE - 1));
          x[i] = has[i] ? u.at(j[i]) : U_T();
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i)
          if (has[i] && !is_final(of.some[k], of.sum[k]))
            join(of.some[k], of.sum[k], true, mul(a.iso, x[i], row + k, j[i]));
      }
    }
  }
#endif
}
#endif

// A tile row as its LANES lanes see it. A hub's segments are tile rows of another launch, and its rows stay unchanged
// here. For presence only, the hub's beginning is searched at once, and its segments set missing bits.
struct TileRow {
  i64 n, unit, tile_row;
  int lane;
  bool inside, segment, hub;
  rows_t open;  // the rows that the mask allows; none for a hub

  __device__ __forceinline__ TileRow(i64 units, const RowsView<PTR_T>& rows, const MaskView& mask, const u64* t_bits)
      : n(units), unit((i64)blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES), lane(threadIdx.x & (LANES - 1)),
        inside(unit < n), segment(PRESENCE && rows.row_stride), hub(false), open(0) {
    tile_row = rows.row_stride && inside ? rows.row_of[unit] : unit;
    if (inside) open = (rows_t)mask.part<TILE>(tile_row);
    if (segment && inside) open &= ~(rows_t)part_now<TILE>(t_bits, tile_row);
  }
  // The first row of this lane.
  __device__ __forceinline__ i64 row() const { return tile_row * TILE + (lane & (ROW_LANES - 1)) * LANE_ROWS; }
  __device__ __forceinline__ Ending end_row(int r, bool some, Z_T sum, const Epilogue& to) const {
    return finish(unit * TILE + r, open >> r & 1, some, sum, to, hub ? 0 : to.replace);
  }
};

#if KIND == WORDS
// A segment (presence only) sets missing bits and clears none.
__device__ __forceinline__ void end_words(const TileRow& of, rows_t rows, Z_T product, const Epilogue& to) {
  if (PRESENCE) {
    rows_t news = rows & of.open;
    if (of.segment) {
      if (news && of.lane == 0) or_tile(to.t.bits, of.tile_row, news);
      return;
    }
    const rows_t had = MERGE && of.inside ? (rows_t)part_now<TILE>(to.w.bits, of.tile_row) : 0;
    news |= had & (ACCUM ? (to.replace ? of.open : ~(rows_t)0) : to.replace ? 0 : ~of.open);
    write_bits<TILE>(to.t.bits, of.n, of.unit, news);
    return;
  }
  u64 present = 0, truths = 0;
  for (int r = of.lane; r < TILE; r += LANES) {
    if (!of.inside) break;
    const Ending done = of.end_row(r, rows >> r & 1, product, to);
    present |= (u64)done.present << r;
    truths |= (u64)done.value << r;
  }
  write_bits<TILE>(to.t.bits, of.n, of.unit, or_lanes(present, LANES));
  if (W_BOOL) write_bits<TILE>((u64*)to.t.values, of.n, of.unit, or_lanes(truths, LANES));
}
#else
// Bit r of the result: the vote of the lane that has row r. Bit k of `yes` is for its k-th row.
__device__ __forceinline__ u64 rows_where(u32 yes, int lane) {
  if (LANE_ROWS == 1) return __ballot_sync(ALL_LANES, yes) >> (threadIdx.x & 31 & ~(LANES - 1)) & ROW_MASK;
  return or_lanes((u64)yes << (lane * LANE_ROWS & 63), ROW_LANES);
}

__device__ __forceinline__ void end_sums(const TileRow& of, Sums& x, Z_T product, const Epilogue& to) {
  u32 present = 0, truths = 0;
  for (int k = 0; k < LANE_ROWS; ++k) {
    if (KIND == COUNT) {
#pragma unroll
      for (int d = LANES / 2; d >= ROW_LANES; d >>= 1) x.count[k] += shuffle_xor(ALL_LANES, x.count[k], d);
      x.some[k] = x.count[k] > 0;
      if (x.some[k]) x.sum[k] = repeated(product, x.count[k]);
    } else {
      join_lanes(x.some[k], x.sum[k], ROW_LANES);
    }
    if (!of.inside || of.lane >= ROW_LANES) continue;
    const Ending done = of.end_row(of.lane * LANE_ROWS + k, x.some[k], x.sum[k], to);
    present |= (u32)done.present << k;
    truths |= (u32)done.value << k;
  }
  write_bits<TILE>(to.t.bits, of.n, of.unit, rows_where(present, of.lane));
  if (W_BOOL) write_bits<TILE>((u64*)to.t.values, of.n, of.unit, rows_where(truths, of.lane));
}
#endif

#ifdef KERNEL_pull
// Blocks per multiprocessor. A warp waits for its loads and for instructions of other warps (plus_second, a grid: 47 us
// with 8, 57 with 6).
#define RESIDENT                                                                       \
  (TILE > 8 || (KIND != WORDS && sizeof(U_T) > 4) ? 4                                  \
       : KIND != WORDS && TILE == 4               ? (KIND == COUNT && !U_FULL ? 5 : 6) \
                                                  : 8)

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    pull(i64 n, i64 longest, RowsView<PTR_T> rows, TilesView tiles, Values a, VectorView<U_T> u, MaskView mask,
         ARGUMENT(Z_T) product, Epilogue to) {
  TileRow of(n, rows, mask, to.t.bits);
  place_t tile = 0, stop = 0;
  if (of.open) {
    tile = (place_t)rows.begin[of.unit];
    stop = (place_t)rows.end[of.unit];
    if ((i64)(stop - tile) > longest) of.hub = !PRESENCE, stop = PRESENCE ? tile + (place_t)longest : tile;
    if (of.hub) of.open = 0;
  }
#if KIND == WORDS
  end_words(of, hit_rows(tile, stop, of.lane, tiles, u.bits), product, to);
#else
  Sums x;
  sum_tiles(x, tile, stop, of.lane, of.row(), tiles, a, u);
  end_sums(of, x, product, to);
#endif
}
#endif  // KERNEL_pull

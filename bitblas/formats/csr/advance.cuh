// Pushes and pulls along plain or packed rows in a round of a device loop (kernels/advance_rows.cuh, grid_rounds.cuh).
// A warp walks up to 32 rows as one concatenated row, and four warps share a segment of a long one.
// Rows that pull try the hub column first, then each lane a few of its own; what is left of a row is searched
// by several lanes, a long row by a warp or a block.
#include "formats/csr/rows.cuh"
#include "formats/csr/columns.cuh"
#include "formats/csr/search.cuh"
#include "kernels/joined.cuh"
#define FEW 4  // entries that a lane tests at a time
#define ALONE 12  // rows per warp from which on each lane searches its own
#define LOG_PARTS 2  // log2 of the warps per segment
#define MANY 256  // entries of a row from which on a warp searches it,
#define LEFT 8  // or, once a warp has at most this many rows left,
#define FEWER 32  // from this many on
#define TOGETHER 8  // lanes that share each of the other rows
#define PULL_FORM() PullView pulled
#define PULL_FORM_OF() {pulled, matrix.col.width}
#define BY_BLOCK 1
typedef COL_T guess_t;  // the hub column of a row
typedef PTR_T entry_t;  // index of an entry
typedef COL_T number_t;  // number of a row

// take(has, j, e, owner): entries e of rows, AT_ONCE per lane, in columns j; owner: the lane that owns the row.
template <class Take> struct WithColumns {
  const Rows& rows;
  Take& take;
  __device__ __forceinline__ void operator()(const bool* has, const PTR_T* e, const int* owner, u32, u32) const {
    COL_T j[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) j[k] = has[k] ? Columns(rows.col, e[k]).at((i64)e[k], 0) : COL_T(0);
    take(has, j, e, owner);
  }
};

template <class Take> __device__ __forceinline__ void walk_rows(const Rows& rows, const Item& mine, Take take) {
  walk_joined(mine.begin, mine.end, WithColumns<Take>{rows, take});
}

__device__ __forceinline__ u32 log_parts_of(u64, i64) { return LOG_PARTS; }
// Part `part` of segment s of row i.
template <class Take>
__device__ __forceinline__ void walk_segment(const Rows& rows, u32 i, u32 s, u32 part, u32, i64 longest, Take take) {
  const i64 size = (longest + (1 << LOG_PARTS) - 1) >> LOG_PARTS, begin = (i64)rows.ptr[i] + s * longest,
            end = rows.ptr[i + 1];
  const i64 first = begin + part * size, last = begin + longest < end ? begin + longest : end;
  walk_row((PTR_T)first, (PTR_T)(first + size < last ? first + size : last), WithColumns<Take>{rows, take});
}

struct pull_row_t {
  PTR_T begin, end;
};

// The rows that pull.
struct PullView {
  const PTR_T* ptr;
  const column_t* col;
  const COL_T* hub_column;  // hub column of each row (`hub_column` in convert.cu)
  const u64* filled;  // bits of the nonempty rows
  i64 guesses;  // 0: `hub_column` and `filled` are not available
  const value_t* val;
};

struct PullRows : PullView {
  i64 width;

  __device__ __forceinline__ COL_T guess(i64 j) const { return guesses ? hub_column[j] : COL_T(0); }
  __device__ __forceinline__ u32 some_of(i64 h) const { return guesses ? ((const u32*)filled)[h] : ~0u; }
  __device__ __forceinline__ bool some(const pull_row_t& x, COL_T) const { return x.begin < x.end; }
  // Position of column j in a row.
  __device__ __forceinline__ i64 place(const pull_row_t& x, i64 j) const {
    return lower_bound(AnyColumn<PACKED, COL_T>(col, width), (i64)x.begin, (i64)x.end, j);
  }
  // Whether u has an entry in a row; called by the whole warp.
  __device__ __forceinline__ Hit search(const pull_row_t& x, const u64* u_bits) const {
    __shared__ PTR_T rest_begin[BLOCK / 32][32], rest_end[BLOCK / 32][32];
    if (!__any_sync(ALL_LANES, x.begin < x.end)) return {false, 0, 0};
    i64 e = x.begin;
    const i64 stop = x.end;
    bool hit = false, left = e < stop;
    i64 from = 0, found = 0;
    // Each lane by itself, as long as many lanes have entries left to test: then other rows cost no additional time.
#pragma unroll 1
    do {
      COL_T first[FEW];
      u32 word[FEW];
      const Columns entry(col, width, e);
#pragma unroll
      for (int few = 0; few < FEW; ++few) first[few] = left && e + few < stop ? entry.at(e, few) : COL_T(0);
#pragma unroll
      for (int few = 0; few < FEW; ++few)
        word[few] = left && e + few < stop ? ((const u32*)u_bits)[first[few] >> 5] : 0;
#pragma unroll
      for (int few = FEW - 1; few >= 0; --few)
        if (word[few] >> (first[few] & 31) & 1) {
          hit = true;
          from = first[few], found = e + few;
        }
      e += FEW;
      left = left && !hit && e < stop;
    } while (__popc(__ballot_sync(ALL_LANES, left)) >= ALONE);
    // The rest: a long row by the warp, the others by groups of lanes, each taking the next row when it is done.
    const int many = __popc(__ballot_sync(ALL_LANES, left)) <= LEFT ? FEWER : MANY;
    const bool is_long = left && stop - e > many;
    if (!__any_sync(ALL_LANES, left)) return {hit, from, found};
    for (u32 rest = __ballot_sync(ALL_LANES, is_long); rest; rest &= rest - 1) {
      const int owner = __ffs(rest) - 1;
      const i64 last = __shfl_sync(ALL_LANES, stop, owner);
      i64 p = __shfl_sync(ALL_LANES, e, owner) + WARP_LANE, place = last;
      while (place == last && p - WARP_LANE < last) {
        COL_T next[FEW];
        bool has[FEW];
#pragma unroll
        for (int few = 0; few < FEW; ++few)
          next[few] = p + few * 32 < last ? Columns(col, width, p + few * 32).at(p + few * 32, 0) : COL_T(0);
#pragma unroll
        for (int few = 0; few < FEW; ++few) has[few] = p + few * 32 < last && bit_of(u_bits, next[few]);
#pragma unroll
        for (int few = 0; few < FEW; ++few, p += 32)
          if (has[few] && place == last) place = p;
        const u32 who = __ballot_sync(ALL_LANES, place < last);
        if (who) place = __shfl_sync(ALL_LANES, place, __ffs(who) - 1);
      }
      if (WARP_LANE == owner) e = place;
    }
    const u32 rest = __ballot_sync(ALL_LANES, left && !is_long);
    const int slot = __popc(rest & ((1u << WARP_LANE) - 1u));
    PTR_T* const begins = rest_begin[threadIdx.x / 32];
    PTR_T* const ends = rest_end[threadIdx.x / 32];
    if (left && !is_long) begins[slot] = (PTR_T)e, ends[slot] = (PTR_T)stop;
    __syncwarp();
    const int count = __popc(rest), in_group = WARP_LANE & (TOGETHER - 1);
    int row = WARP_LANE / TOGETHER;
    PTR_T p = row < count ? begins[row] : 0, last = row < count ? ends[row] : 0;
    while (__any_sync(ALL_LANES, row < count)) {
      PTR_T place = last;
      if (p + in_group < last && bit_of(u_bits, Columns(col, width, p + in_group).at((i64)p + in_group, 0)))
        place = p + in_group;
      const u32 who = __ballot_sync(ALL_LANES, place < last) & group_mask<TOGETHER>();
      after_vote();
      p += TOGETHER;
      if (row >= count || (!who && p < last)) continue;
      if (who ? (who & ((1u << WARP_LANE) - 1u)) == 0 && place < last : in_group == 0) begins[row] = place;
      row += 32 / TOGETHER;
      if (row < count) p = begins[row], last = ends[row];
      else p = last;
    }
    __syncwarp();
    if (left && !is_long) e = begins[slot];
    if (left && e < stop) {
      hit = true;
      from = Columns(col, width, e).at(e, 0), found = e;
    }
    return {hit, from, found};
  }
  // The same for one long row, by the whole block; some of its threads may have a hit already.
  __device__ __forceinline__ Hit search_by_block(const pull_row_t& x, const u64* u_bits) const {
    Hit hit = {false, 0, 0};
    for (i64 first = x.begin;; first += FEW * BLOCK) {
      COL_T next[FEW];
      bool has[FEW];
#pragma unroll
      for (int few = 0; few < FEW; ++few) {
        const i64 p = first + few * BLOCK + threadIdx.x;
        has[few] = p < (i64)x.end;
        next[few] = has[few] ? Columns(col, width, p).at(p, 0) : COL_T(0);
      }
#pragma unroll
      for (int few = 0; few < FEW; ++few)
        if (has[few] && bit_of(u_bits, next[few])) hit = {true, (i64)next[few], first + few * BLOCK + threadIdx.x};
      if (__syncthreads_or(hit.some) || (i64)x.end - first <= FEW * BLOCK) return hit;
    }
  }
};

__device__ __forceinline__ pull_row_t pull_row(const PullRows& back, i64 j) { return {back.ptr[j], back.ptr[j + 1]}; }
__device__ __forceinline__ Hit search_row(const PullRows& back, const pull_row_t& x, i64, const u64* u_bits) {
  return back.search(x, u_bits);
}
// Whether the rows that pull are those that the next advance pushes along, and the length of one.
__device__ __forceinline__ bool is_same(const PullRows& back, const Rows& rows) { return back.ptr == rows.ptr; }
__device__ __forceinline__ i64 pull_row_length(const pull_row_t& x) { return (i64)x.end - x.begin; }

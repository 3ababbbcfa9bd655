// c = the dot products of rows of A and rows of B (B' by rows) at the entries of a mask. A block takes 256 entries of
// the mask, whatever rows they are in. Where several stand in one row, that row of A goes into a table in shared memory,
// of a warp or of the block, and BESIDE lanes an entry look the row of B' up in it; the others walk the shorter row and search in the longer one,
// GROUP lanes an entry, or the whole block where even the shorter row is long.
#include "formats/csr/search.cuh"
#include "formats/csr/table.cuh"
#include "kernels/rows.cuh"
#include "kernels/dots.cuh"
#include "formats/csr/any_column.cuh"
#include "formats/csr/columns.cuh"
#define AHEAD 4  // loads in flight per lane
#define FEW 4    // columns of a row that a lane compares with all at once
#define WARP_SLOTS (SLOTS / 8)
#define TURNS 4  // of rows that begin in a block, a row a thread
typedef AnyColumn<PACKED, COL_T> Far;
typedef AnyColumn<M_PACKED, MCOL_T> MaskColumn;

struct Rows {
  i64 width;  // of the columns of both
  const PTR_T* a_ptr; const column_t* a_col; const A_T* a_val; A_T a_iso; i64 a_stride;
  const BPTR_T* b_ptr; const column_t* b_col; const B_T* b_val; B_T b_iso; i64 b_stride;
  __device__ __forceinline__ Z_T product(i64 x, i64 y, i64 i, i64 k, i64 j) const {
    return mul(a_stride ? a_val[x] : a_iso, b_stride ? b_val[y] : b_iso, i, k, j);
  }
};

// Where the rows of an entry begin and end.
struct Pair {
  i64 a, a_end, b, b_end;
};

// A place of A and one of B' that have column k: whether the sum is final by that.
__device__ __forceinline__ bool found(const Rows& m, i64 x, i64 y, i64 i, i64 k, i64 j, Sum& t) {
  if (KIND == VALUES) {
    join(t.some, t.sum, true, m.product(x, y, i, k, j));
    return is_final(t.some, t.sum);
  }
  ++t.count;
  return KIND == WORDS;
}

// One lane's share of an entry: from `lane` on every `lanes`-th place of the shorter row, searched for in the longer.
__device__ __forceinline__ void search(const Rows& m, const Pair& r, i64 i, i64 j, int lane, int lanes, Sum& t) {
  const bool by_a = r.a_end - r.a <= r.b_end - r.b;
  const Far far(by_a ? m.b_col : m.a_col, m.width);
  const i64 stop = by_a ? r.a_end : r.b_end, far_end = by_a ? r.b_end : r.a_end;
  i64 low = by_a ? r.b : r.a, p = (by_a ? r.a : r.b) + lane;
  Columns near(by_a ? m.a_col : m.b_col, m.width, p);
  if (far_end - low <= FEW) {  // no load waits for another
    COL_T there[FEW];
#pragma unroll
    for (int u = 0; u < FEW; ++u) there[u] = low + u < far_end ? (COL_T)far[low + u] : NO_KEY;
    for (; p < stop; p += lanes, near.skip(lanes)) {
      const COL_T k = near.at(p, 0);
#pragma unroll
      for (int u = 0; u < FEW; ++u) {
        if (there[u] == k && found(m, by_a ? p : low + u, by_a ? low + u : p, i, k, j, t)) return;
      }
    }
    return;
  }
  for (; p < stop; p += lanes, near.skip(lanes)) {
    const COL_T k = near.at(p, 0);
    low = lower_bound(far, low, far_end, k);  // from `low` on: the near row ascends
    if (low == far_end) return;
    if (far[low] == k && found(m, by_a ? p : low, by_a ? low : p, i, k, j, t)) return;
  }
}

template <int TEAM> __device__ __forceinline__ void wait() {
  if (TEAM == 32) __syncwarp();
  else __syncthreads();
}

// The row of each entry of a block, of which `top` has the first one: where rows begin is marked, and each entry takes
// the last mark up to it. Where that takes many turns, because rows are empty, the entry's own row is searched for.
__device__ __forceinline__ i64 row_in_block(const MPTR_T* ptr, i64 top, i64 rows, i64 first, int entries) {
  __shared__ int marks[BLOCK], in_warp[BLOCK / 32];
  const int thread = threadIdx.x, lane = thread & 31;
  marks[thread] = 0;
  __syncthreads();
  bool more = true;
  i64 row = top + 1 + thread;
  for (int turn = 0; more && turn < TURNS; ++turn, row += BLOCK) {
    const i64 at = row < rows ? (i64)ptr[row] - first : entries;
    if (at < entries) atomicMax(&marks[at], (int)(row - top));
    more = __syncthreads_or(thread == BLOCK - 1 && at < entries);
  }
  if (more) return thread < entries ? row_from(ptr, top, rows, first + thread) : top;
  int last = marks[thread];
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const int before = __shfl_up_sync(ALL_LANES, last, d);
    if (lane >= d) last = max(last, before);
  }
  if (lane == 31) in_warp[thread / 32] = last;
  __syncthreads();
  for (int w = 0; w < thread / 32; ++w) last = max(last, in_warp[w]);
  return top + last;
}

// What a block knows of its entries.
struct Entries {
  i64 row[BLOCK], b[BLOCK];  // of the mask and of A; where the row of B' begins
  COL_T b_size[BLOCK];
  MCOL_T column[BLOCK];
};

// The entries from `begin` to `end`, whose row of A is put into a table, by TEAM lanes, of which this is `member`.
template <int TEAM>
__device__ __forceinline__ void by_table(const Rows& m, const Entries& of, COL_T* keys, u16* places, int log_slots,
                                         int begin, int end, i64 first, int member, Z_T product, u8* present,
                                         Z_T* sums) {
  const int lane = member & (BESIDE - 1);
  const u32 beside = group_mask<BESIDE>();
  const i64 i = of.row[begin], a = m.a_ptr[i];
  const int size = (int)((i64)m.a_ptr[i + 1] - a);
  int shift = TEAM == 32 ? 26 : 23;  // 64 or 512 slots, or four for a key where there is room
  while (32 - shift < log_slots && 4 * size > 1 << (32 - shift)) --shift;
  const u32 last = (1u << (32 - shift)) - 1;
  wait<TEAM>();
  for (u32 slot = member; slot <= last; slot += TEAM) keys[slot] = NO_KEY;
  wait<TEAM>();
  Columns mine(m.a_col, m.width, a + member);
  for (int p = member; p < size; p += TEAM, mine.skip(TEAM)) {
    const int slot = -1 - insert(keys, last, shift, mine.at(a + p, 0));
    if (KIND == VALUES) places[slot] = (u16)p;
  }
  wait<TEAM>();
  for (int from = begin; from < end; from += TEAM / BESIDE) {
    const int e = from + member / BESIDE;
    Sum t = {false, IDENTITY, 0};
    if (e < end) {
      const i64 j = (i64)of.column[e], stop = of.b[e] + of.b_size[e];
      i64 q = of.b[e] + lane;
      for (Columns theirs(m.b_col, m.width, q); q - lane < stop;
           q += BESIDE * AHEAD, theirs.skip(BESIDE * AHEAD)) {
        COL_T k[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) k[u] = q + BESIDE * u < stop ? theirs.at(q, BESIDE * u) : NO_KEY;
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
          const int slot = k[u] == NO_KEY ? -1 : lookup(keys, last, shift, k[u]);
          if (slot < 0) continue;
          ++t.count;
          if (KIND == VALUES) join(t.some, t.sum, true, m.product(a + places[slot], q + BESIDE * u, i, k[u], j));
        }
        if (KIND == WORDS && __any_sync(beside, t.count > 0)) break;
        if (KIND == VALUES && HAS_TERMINAL && __any_sync(beside, is_final(t.some, t.sum))) break;
      }
    }
    gather<BESIDE>(t);
    if (e < end && lane == 0) write(t, first + e, product, present, sums);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS)
dot(i64 n, const MPTR_T* m_ptr, i64 m_rows, const MaskColumn::stored* m_col, i64 m_width, i64 width, const PTR_T* a_ptr,
    const column_t* a_col, const A_T* a_val, A_T a_iso, i64 a_stride, const BPTR_T* b_ptr, const column_t* b_col,
    const B_T* b_val, B_T b_iso, i64 b_stride, i64 inner, Z_T product, u8* present, Z_T* sums) {
  (void)inner;
  __shared__ COL_T keys[SLOTS];
  __shared__ u16 places[KIND == VALUES ? SLOTS : 1];  // of the key in its row of A
  __shared__ Entries of;
  __shared__ u16 tables[BLOCK], small[BLOCK], longs[BLOCK];
  __shared__ int table_count, small_count, long_count;
  const Rows m = {width, a_ptr, a_col, a_val, a_iso, a_stride, b_ptr, b_col, b_val, b_iso, b_stride};
  const MaskColumn mask_column(m_col, m_width);
  const int thread = threadIdx.x, lane = thread & 31;
  const i64 first = (i64)blockIdx.x * BLOCK;
  const int entries = n - first < BLOCK ? (int)(n - first) : BLOCK;
  if (thread == 0) table_count = small_count = long_count = 0;
  __syncthreads();
  const i64 top = row_of_warp(m_ptr, m_rows, first);
  Pair own = {0, 0, 0, 0};
  i64 own_row = 0, own_column = 0;
  bool searches = false;
#if HEADS
  const i64 i = row_in_block(m_ptr, top, m_rows, first, entries);
#else
  const i64 i = thread < entries ? row_from(m_ptr, top, m_rows, first + thread) : top;
#endif
  if (thread < entries) {
    const i64 j = (i64)mask_column[first + thread];
    own = {(i64)a_ptr[i], (i64)a_ptr[i + 1], (i64)b_ptr[j], (i64)b_ptr[j + 1]};
    own_row = i, own_column = j;
    const i64 a_size = own.a_end - own.a, b_size = own.b_end - own.b;
    const i64 begin = max((i64)m_ptr[i] - first, 0ll), end = min((i64)m_ptr[i + 1] - first, (i64)entries);
    const bool tabled = a_size >= TABLE_FROM && a_size <= SLOTS / 2 && end - begin >= TABLE_FOR;
    const bool is_long = !tabled && min(a_size, b_size) > LONG;
    of.row[thread] = i, of.column[thread] = (MCOL_T)j, of.b[thread] = own.b, of.b_size[thread] = (COL_T)b_size;
    searches = !tabled && !is_long;
    if (tabled && begin == thread) {
      if (a_size <= WARP_SLOTS / 2) small[atomicAdd(&small_count, 1)] = (u16)thread;
      else tables[atomicAdd(&table_count, 1)] = (u16)thread;
    }
    if (is_long) longs[atomicAdd(&long_count, 1)] = (u16)thread;
  }
  __syncthreads();

  const u32 searching = __ballot_sync(ALL_LANES, searches);
  for (int step = 0; step < GROUP; ++step) {  // 32 / GROUP entries of the warp at a time, told by their lanes
    const int owner = step * (32 / GROUP) + lane / GROUP;
    if (!(searching >> step * (32 / GROUP) & ALL_LANES >> (32 - 32 / GROUP))) continue;
    const Pair r = {shuffle_from<32>(own.a, owner), shuffle_from<32>(own.a_end, owner),
                    shuffle_from<32>(own.b, owner), shuffle_from<32>(own.b_end, owner)};
    const i64 i = shuffle_from<32>(own_row, owner), j = shuffle_from<32>(own_column, owner);
    const bool active = searching >> owner & 1;
    Sum t = {false, IDENTITY, 0};
    if (active) search(m, r, i, j, lane & (GROUP - 1), GROUP, t);
    gather<GROUP>(t);
    if (active && (lane & (GROUP - 1)) == 0) write(t, first + (thread & ~31) + owner, product, present, sums);
  }

  for (int s = thread / 32; s < small_count; s += BLOCK / 32) {
    const int begin = small[s], end = (int)min((i64)m_ptr[of.row[begin] + 1] - first, (i64)entries);
    const int mine = thread / 32 * WARP_SLOTS;
    by_table<32>(m, of, keys + mine, places + (KIND == VALUES ? mine : 0), LOG_SLOTS - 3, begin, end, first, lane,
                 product, present, sums);
  }

  for (int s = 0; s < table_count; ++s) {
    const int begin = tables[s], end = (int)min((i64)m_ptr[of.row[begin] + 1] - first, (i64)entries);
    by_table<BLOCK>(m, of, keys, places, LOG_SLOTS, begin, end, first, thread, product, present, sums);
  }

  __shared__ Sum part[BLOCK / 32];
  for (int s = 0; s < long_count; ++s) {
    const int e = longs[s];
    const i64 i = of.row[e];
    const Pair r = {(i64)a_ptr[i], (i64)a_ptr[i + 1], of.b[e], of.b[e] + of.b_size[e]};
    Sum t = {false, IDENTITY, 0};
    search(m, r, i, (i64)of.column[e], thread, BLOCK, t);
    gather<32>(t);
    __syncthreads();
    if (lane == 0) part[thread / 32] = t;
    __syncthreads();
    if (thread) continue;
    for (int w = 1; w < BLOCK / 32; ++w) {
      join(t.some, t.sum, part[w].some, part[w].sum);
      t.count += part[w].count;
    }
    write(t, first + e, product, present, sums);
  }
}

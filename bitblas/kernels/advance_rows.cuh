// Advance by rows, one round of a device loop: t<mask> = A' (+).(x) u for a frontier u.
// The bits of t were cleared before; t becomes a frontier.
// Small frontiers push: a warp takes up to 32 rows, and long rows are cut into segments. Large ones pull (PULLS): the
// rows of the transpose that the mask allows search for one entry of u, 32 rows of a warp at a time.
// The fused element-wise statements (AT_ENTRY) run first, at every entry of u. ALSO: they add these entries to the
// mask's vector. SCANS: the entries of u are not listed, and no row is long. `old` is the frontier of the previous
// round; it is cleared for the next round.
// Include after the layout's rows.cuh and the definitions of its advance.cu: how a warp walks rows (walk_rows,
// walk_segment, AT_ONCE entries per lane), how many warps share a segment (log_parts_of), and the rows that pull
// (PullRows, PULL_FORM, PULL_FORM_OF, pull_row, search_row; is_same, pull_row_length). A pull tries the hub column
// first (PullRows::guesses, guess, some, place). Rows without a hit there are deferred (Deferred); long ones
// go to search_by_block (BY_BLOCK).
// For layouts that decode rows from their beginning, kernels/decoded_rows.cuh defines most of these.
#include "kernels/advance_pull.cuh"

#if SCANS  // without a list, scan the bits of u, eight rows at a time, so that close ones go to many warps
#define ROWS 8
typedef u8 rows_t;
#else
#define ROWS 32
typedef u32 rows_t;
#endif

#ifndef EARLY
#define EARLY 1  // registers suffice to load rows before they are known to exist, or to be new
#endif
#ifndef ADVANCE_BLOCKS
#define ADVANCE_BLOCKS 4  // blocks per multiprocessor: 64 registers per thread
#endif

// ---- New entries: append them to the next frontier and add up its work. ----

struct Out {
  const FrontierView& t;
  Rows rows;  // rows that the next advance pushes along
  i64 longest;
};

// Position of the set bit that has `number` set bits below it.
__device__ __forceinline__ u32 place_of_bit(u32 bits, u32 number) {
  u32 place = 0;
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const u32 below = __popc(bits & ((1u << d) - 1));
    if (number < below) continue;
    number -= below, bits >>= d, place += d;
  }
  return place;
}

// Add up the work of pushing along newly found rows (`fresh`), if WEIGHS.
__device__ __forceinline__ void add_row_work(Stage& stage, const Out& out, bool fresh, i64 j, i64 length, u32& entries,
                                             u64& work) {
  entries += fresh;
  if (!COUNTS_WORK || !fresh) return;
  work += length;
  if (length <= out.longest) return;
  put_segments(stage, (u32)j, (u32)((length + out.longest - 1) / out.longest), out.t.segments, out.t.state);
}

// Called by the whole warp: entries j are new in t for lanes with `fresh`. known: their rows were loaded already.
__device__ __forceinline__ void found(Stage& stage, const Out& out, const bool* fresh, const number_t* j, Item* row,
                                      bool known, u32& entries, u64& work) {
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k)
    if (COUNTS_WORK && fresh[k] && !known) row[k] = out.rows.item((u32)j[k]);
  append_staged<AT_ONCE>(stage, fresh, j, out.t.list, out.t.state + LIST_LENGTH);
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) add_row_work(stage, out, fresh[k], j[k], out.rows.work_of(row[k]), entries, work);
}

// ---- The kernel. ----

// A frontier that is cleared for the next round.
struct ClearedView {
  u64* bits;
  C_T* values;
  const u32* list;
  const u64* state;
};

extern "C" __global__ void __launch_bounds__(BLOCK, ADVANCE_BLOCKS)
    advance(i64 n, AdvanceLimits limits, Control control, SourceView u, FrontierView t, ClearedView old, MaskView mask,
            FORM(), Values a, PULL_FORM() PARAMETERS) {
  await_previous();
  // All numbers are loaded before the first is used: each costs a trip to the L2 cache.
  const i64 begun[] = {control.rounds[0]};
  const u64 no_list = u.state[DENSE], no_old_list = old.state[DENSE], u_length = u.state[LIST_LENGTH],
            u_work = u.state[WORK], u_entries = u.state[ENTRIES];
  const u64 segments = u.state[SEGMENTS], old_length = old.state[LIST_LENGTH], seen = u.state[SEEN];
  // Consecutive warps are in different blocks, so that many blocks share the staging.
  const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x / 32), warps = gridDim.x * (BLOCK / 32);
  // Prefetch the row of a warp, in case the list is not longer than the number of warps.
  const u32 own = !EARLY || SCANS || warp >= n ? 0 : u.list[warp];
  const bool runs = control.runs();
  if (!runs_with(runs, no_list, no_old_list, u_length, u_work, segments, old_length, u_entries, seen, own)) return;
  const bool dense = SCANS || no_list, old_dense = no_old_list != 0;
  if (thread_number() == 0) {
    control.rounds[2] = begun[0] + control.ahead + 1;
    t.state[SEEN] = seen + u_work;
  }
  const bool pull = PULLS && limits.pulls(u_work, u_entries, seen);
  const Rows A = FORM_OF();
  const i64 size = limits.size, longest = limits.longest;
  const Out out = {t, A, longest};
  (void)a;
  u32 entries = 0;  // found by this thread
  u64 work = 0;
  __shared__ Stage stage;
  begin_stage(stage);

  // From the last thread on: small frontiers push with the first ones.
  clear_frontier(old_dense, old.list, (i64)old_length, size, old.bits, old.values, warps * 32 - 1 - thread_number(),
                 warps * 32);

  // With fewer entries than lanes, rows are loaded before they are known to be new, which saves one trip.
  const bool early = EARLY && COUNTS_WORK && !SCANS && u_work <= (u64)warps * 32;
  // Entries of rows, some per lane, all loaded before the first is used.
  u32 i = 0;  // row of this lane
  const auto push = [&](const bool* has, const number_t* j, const entry_t* e, const int* owner) {
    bool fresh[AT_ONCE];
    Item row[AT_ONCE];
    u32 masked[AT_ONCE], also[AT_ONCE];  // words that `open` reads
#if !CELLS_BEGIN
    u32 there[AT_ONCE];
#endif
#if KIND == VALUES
    const Factors factors(a, u, i, has, e, owner);
    Z_T z[AT_ONCE];
#if CELLS_BEGIN
    C_T cell[AT_ONCE];
    cell_t before[AT_ONCE];
#endif
#else
    (void)e, (void)owner;
#endif
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      masked[k] = has[k] ? mask.stored(j[k] >> 5) : 0;
      also[k] = ALSO && has[k] ? peek((const u32*)u.bits + (j[k] >> 5)) : 0;
#if CELLS_BEGIN
      cell[k] = has[k] ? cell_at(t.values + j[k]) : C_T(BEGIN);
#else
      there[k] = has[k] ? peek((const u32*)t.bits + (j[k] >> 5)) : 0;
#endif
      row[k] = {};
      if (early && has[k]) row[k] = A.item((u32)j[k]), A.issue_loads(row[k]);
    }
    // Results of loads and atomics are used only when all are in flight.
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) fresh[k] = has[k] & ((mask.allowed(masked[k] | also[k]) >> (j[k] & 31)) & 1);
#if KIND == VALUES
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) z[k] = has[k] ? factors.product(k, j[k]) : Z_T(BEGIN);
#endif
#if CELLS_BEGIN
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) before[k] = fresh[k] ? join_to(t.values + j[k], z[k], cell[k]) : cell_t(0);
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) fresh[k] = fresh[k] && is_initial(before[k]);
#else
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) fresh[k] = fresh[k] && !(there[k] >> (j[k] & 31) & 1);
#endif
    u32 word[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k)
      word[k] = fresh[k] ? atomicOr((u32*)t.bits + (j[k] >> 5), 1u << (j[k] & 31)) : ~0u;
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      fresh[k] = !(word[k] >> (j[k] & 31) & 1);
#if KIND == VALUES && !CELLS_BEGIN
      if (fresh[k]) t.values[j[k]] = C_T(z[k]);
#endif
    }
    found(stage, out, fresh, j, row, early, entries, work);
  };

  // Entries of u, one per lane: as many of the list as give every warp some, or those of 32 units of bits, which are
  // far apart but treated as contiguous.
  const u32 list_length = (u32)u_length;  // row numbers on lists have 32 bits
  u32 share = (list_length + warps - 1) / warps;
  if (share > 32) share = 32;
  const u32 units = dense ? (u32)((size + ROWS - 1) / ROWS) : list_length ? (list_length + share - 1) / share : 0;
  for (u32 first = warp; first < units; first += (dense ? 32 : 1) * warps) {
    const u32 unit = first + WARP_LANE * warps;
    const u32 rows = dense && unit < units ? (u32)((const rows_t*)u.bits)[unit] : 0;
    u32 before = 0, total = share;
    if (dense) before = group_sum_below<32>(__popc(rows)), total = __shfl_sync(ALL_LANES, before + __popc(rows), 31);
    for (u32 done = 0; done < total; done += 32) {
      const u32 x = done + WARP_LANE;
      bool mine = x < total;
      if (dense) {
        int owner = 0;  // last lane with at most x entries before its own
#pragma unroll
        for (int d = 16; d; d >>= 1)
          if (__shfl_sync(ALL_LANES, before, owner + d) <= x) owner += d;
        const u32 bits = __shfl_sync(ALL_LANES, rows, owner), number = x - __shfl_sync(ALL_LANES, before, owner);
        i = mine ? (first + owner * warps) * ROWS + place_of_bit(bits, number) : 0;
      } else {
        mine = mine && first * share + x < list_length;
        i = mine ? EARLY && share == 1 && first == warp ? own : u.list[first * share + x] : 0;
      }
      Item row = {};
      if (mine && !pull) row = A.item(i), A.issue_loads(row);
      if (!dense) mine = mine && u.has(i);  // later statements may have removed it
      if (!mine) row = {};
      if (mine) {
        const i64* const rounds = begun;
        const i64 ahead = control.ahead;
        (void)rounds, (void)ahead;
        AT_ENTRY((i64)i)
      }
      if (pull) continue;
      if (A.work_of(row) > longest) row = {};  // processed as segments
      walk_rows(A, row, push);
    }
  }
  if (!pull) {
    const u32 log = log_parts_of(segments, warps), parts = 1u << log;
    for (i64 s = warp; s < (i64)(segments << log); s += warps) {
      i = u.segments[2 * (s >> log)];
      if (u.has(i)) walk_segment(A, i, u.segments[2 * (s >> log) + 1], (u32)s & (parts - 1), parts, longest, push);
    }
  }
#if PULLS
  if (pull) {
    const PullRows back = PULL_FORM_OF();
    const bool same = is_same(back, A);
    __shared__ Deferred deferred;
    pull_rows(
        back, u, t, mask, a.stride, size, warp, warps, deferred, [&](const Hit& hit, i64 j, const pull_row_t& row) {
          pulled_value(back, u, t, a, hit, j);
          const i64 length = !COUNTS_WORK || !hit.some ? 0 : same ? pull_row_length(row) : A.work_of(A.item((u32)j));
          add_row_work(stage, out, hit.some, j, length, entries, work);
        });
    if (thread_number() == 0) t.state[DENSE] = 1;
  }
#endif
  flush_stage(stage, entries, work, t.list, t.segments, t.state);
}

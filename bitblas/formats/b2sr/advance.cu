// Advances on tiles, in the rounds of a device loop.
// A tile row holds items, which are its tiles and then, for Split (PACKED), its single entries.
// The start of the single entries is stored next to the start of the tiles: one number per part and tile row.
#include "formats/b2sr/push.cu"
#define PER TILE  // positions per unit
#include "kernels/advance.cuh"

#if PACKED
#include "formats/split/entries.cuh"
#endif
#define FORM(of) Form of##matrix
#define FORM_OF(of) of##matrix

// The T bits of a tile column that the mask allows. ALSO: the entries of u count as set, as in kernels/advance.cuh.
struct Open {
  MaskView mask;
  const u64* u_bits;
  __device__ __forceinline__ u64 operator[](i64 j) const {
    return mask.part<TILE>(j, ALSO ? part_now<TILE>(u_bits, j) : 0ull);
  }
};

// The items of a tile row: their number, and the tiles. For Split also the entries of each range of single entries.
template <class T> struct Items {
  T count, tile, tiles;
#if PACKED
  T near, nears, far;
#endif
};

// A tile row, or (PLACES) one position, and the items of its tile row, in integers as narrow as the pointers.
struct Item : Items<PTR_T> {
  u32 unit;
};

struct Form {
  const PTR_T* ptr;
  Tiles tiles;
#if PACKED
  RestView rest;

  struct Entry {
    u32 code;
    i64 rank;
  };
  template <class T> __device__ __forceinline__ Entry entry(const Items<T>& of, i64 item) const {
    const i64 k = item - of.tiles;
    const bool is_far = k >= of.nears;
    const i64 e = is_far ? of.far + k - of.nears : of.near + k;
    return {packed_at(rest.string(is_far), e, rest.width(is_far)), rest.first_rank(is_far) + e};
  }
#endif

  template <class T> __device__ __forceinline__ Items<T> items(i64 tile_row) const {
#if PACKED
    const int parts = (int)rest.parts, last = parts - 1;
    const PTR_T *from = ptr + tile_row * parts, *to = from + parts;
    const i64 tiles = (i64)to[0] - from[0], nears = parts == 3 ? (i64)to[1] - from[1] : 0;
    const i64 count = tiles + nears + ((i64)to[last] - from[last]);
    return {(T)count, (T)from[0], (T)tiles, (T)from[1], (T)nears, (T)from[last]};
#else
    const i64 tile = ptr[tile_row], count = ptr[tile_row + 1] - tile;
    return {(T)count, (T)tile, (T)count};
#endif
  }

  __device__ __forceinline__ Item item(u32 unit) const { return {items<PTR_T>(unit), unit}; }
  __device__ __forceinline__ Item item_at(u32 place) const { return {items<PTR_T>(place / TILE), place}; }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return x.count; }
  __device__ __forceinline__ void issue_loads(const Item& x) const { issue_load(x.count); }
  // Prefetch the first tiles of an item.
  __device__ __forceinline__ void prefetch_row(const Item& x) const {
#if !PACKED
    prefetch(tiles.col + x.tile);
#endif
    prefetch(tiles.bits + x.tile);
  }

#if !CELLS_BEGIN
  // The bits of tile column j that the active rows of an item reach.
  template <class T> __device__ __forceinline__ u64 reach(const Items<T>& of, i64 item, u64 active, i64& j) const {
#if PACKED
    if (item >= of.tiles) {
      const u32 code = entry(of, item).code;
      j = code >> 2 * LOG_TILE;
      return (active >> row_in_tile(code) & 1) << (code & (TILE - 1));
    }
#endif
    j = tiles.col[of.tile + item];
    return reached(tiles.bits, of.tile + item, active);
  }
#endif
#if KIND != WORDS
  template <class T> __device__ __forceinline__ i64 tile_column(const Items<T>& of, i64 item) const {
#if PACKED
    if (item >= of.tiles) return entry(of, item).code >> 2 * LOG_TILE;
#endif
    return tiles.col[of.tile + item];
  }
  // put(k, z) for each product of an item's active rows with u (u.at(i) for row i), at the columns k of its tile column
  // whose bits are in `open` (push.cu).
  template <class T, class U, class Emit>
  __device__ __forceinline__ void products(const Items<T>& of, i64 item, i64 tile_row, u64 active, u64 open,
                                           const Values& a, const U& u, Emit emit) const {
#if PACKED
    if (item >= of.tiles) {
      const Entry e = entry(of, item);
      const i64 i = tile_row * TILE + row_in_tile(e.code), k = column_of(e.code);
      if (!(active >> row_in_tile(e.code) & open >> (k & (TILE - 1)) & 1)) return;
      emit(k, mul(RANKED ? a[e.rank] : A_T(a.iso), u.at(i), k, i));
      return;
    }
#endif
    products_of_tile(of.tile + item, tile_row, tiles.col[of.tile + item] * TILE, active, open, tiles, a, u, emit);
  }
#endif
};
typedef Form Units;

// entry(i) for the active rows of a tile row, each by one of its STRIDE lanes, all at the same time.
template <int STRIDE, class Entry>
__device__ __forceinline__ void each_of_row(u64 active, i64 tile_row, int lane, Entry entry) {
  for (int r = lane; r < TILE; r += STRIDE)
    if (active >> r & 1) entry(tile_row * TILE + r);
}

// ---- Mark the positions that an advance reaches in its output vector. ----

// Set bits of tile column j. Returns those that were not set before, and whether none of the T was.
__device__ __forceinline__ u64 mark_tile(u64* bits, i64 j, u64 hit, bool& first) {
  const u64 before = or_tile(bits, j, hit);
  first = before == 0;
  return hit & ~before;
}

#if CELLS_BEGIN
// Combine a product with entry `at`, in tile column j. `fresh` gets its bit if it is new; `first` whether it is the
// first of the tile column.
__device__ __forceinline__ void combine_in_tile(u64* bits, C_T* val, i64 j, i64 at, Z_T z, u64& fresh, bool& first) {
  bool opened = false;
  if (!join_is_first(val + at, z, cell_at(val + at)) || bit_now(bits, at)) return;
  fresh |= mark_tile(bits, j, 1ull << (at & (TILE - 1)), opened);
  first = first || opened;
}
#endif

#ifdef CLUSTER  // small rounds in one cluster: kernels/rounds.cuh and kernels/worklist_rounds.cuh
#include "kernels/cluster.cuh"

typedef UInt<TILE == 64 ? 64 : 32>::type tile_t;  // the bits of a tile row, in the fewest registers

// Whether registers suffice to do other work while loads are in flight.
#define IN_FLIGHT ((KIND == WORDS || VISITED) && !PACKED && TILE < 64)

// Push along tile rows, one item per lane. All lanes of a warp call it; `stride` lanes share a tile row. PLACES: an
// item is one entry of u, otherwise all entries of its tile row. overlap(): work to do while the first loads are in
// flight.
struct ItemPush : Operands, PushVectors {
  template <class X, class Emit, class Overlap>
  __device__ __forceinline__ void operator()(const X& x, int lane, int stride, Emit emit, Overlap overlap) const {
    const Open open = {mask, u_bits};
    const i64 tile_row = PLACES ? x.unit / TILE : x.unit;
#if VISITED
    const tile_t active = x.active;
#else
    const tile_t active = (tile_t)(PLACES        ? 1ull << (x.unit & (TILE - 1))
                                       : x.count ? tile_bits(u_bits, tile_row)
                                                 : 0ull);
#endif
    (void)tile_row, (void)open;
    if (!IN_FLIGHT) overlap();
    i64 item = lane;
    do {
      i64 j = 0;
      u64 added = 0;
      UInt<(!CELLS_BEGIN && TILE < 64) ? 32 : 64>::type fresh = 0;
      bool first = false;
      QueueItem found = {};
#if !CELLS_BEGIN
      tile_t hit = 0, there = 0;
      if (item < x.count) {
        hit = (tile_t)form.reach(x, item, active, j);
#if !PLACES && !VISITED
        static_cast<Item&>(found) = form.item((u32)j);
        issue_load(found.tile), issue_load(found.count);
#endif
        there = (tile_t)part_now<TILE>(t_bits, j);
        issue_load(there);
#if !VISITED
        hit &= (tile_t)open[j];
#endif
      }
      if (IN_FLIGHT && item == lane) overlap();
#endif
      if (item < x.count) {
#if !CELLS_BEGIN
        hit &= ~there;
#if PLACES
        if (hit) added = emit.add(j * TILE, hit);
#endif
        if (hit) fresh = mark_tile(t_bits, j, hit, first);
#if VISITED
        if (hit) static_cast<Item&>(found) = form.item((u32)j);
        found.active = (tile_t)fresh, first = fresh != 0;
#endif
#if KIND == VALUES
        if (fresh)
          form.products(x, item, tile_row, active, fresh, values, *this, [&](i64 at, Z_T z) { t_val[at] = C_T(z); });
#endif
#else
        const auto emit_product = [&](i64 at, Z_T z) {
#if PLACES
          added |= emit.add(at, 1) << (at & (TILE - 1));
#endif
          combine_in_tile(t_bits, t_val, j, at, z, fresh, first);
        };
        j = form.tile_column(x, item);
        form.products(x, item, tile_row, active, open[j], values, *this, emit_product);
        if (!PLACES && first) static_cast<Item&>(found) = form.item((u32)j);
#endif
      }
#if PLACES
      (void)found;
      emit(added, j * TILE, __popcll(fresh));
#else
      (void)added;
      if (VISITED && first) form.prefetch_row(found);
      emit(first, found);
#endif
      item += stride;
    } while (__any_sync(ALL_LANES, item < x.count));
  }
  __device__ __forceinline__ U_T at(i64 i) const { return load<U_T>(u_val, u_iso, u_stride, i); }
  // entry(i) for the entries of u in an item, each by one of the lanes.
  template <class X, class Entry> __device__ __forceinline__ void entries(const X& x, int lane, Entry entry) const {
#if PLACES
    if (lane == 0) entry((i64)x.unit);
#else
#if VISITED
    const u64 active = x.active;
#else
    const u64 active = tile_bits(u_bits, x.unit);
#endif
    each_of_row<LANES>(active, x.unit, lane, entry);
#endif
  }
};
#endif

#ifdef KERNEL_rounds
// Small rounds of one advance along tile rows: LANES lanes share a tile row, one item per lane.
#include "kernels/rounds.cuh"
#endif  // KERNEL_rounds

#ifdef KERNEL_worklist_rounds
// Small rounds of a loop body with element-wise kernels and one advance, along tile rows.
// loop/codegen/cuda_kernels.py generates the text of the element-wise kernels.
#include "kernels/worklist_rounds.cuh"
#endif  // KERNEL_worklist_rounds

#ifdef KERNEL_advance
// Advance on tiles, one round of a device loop: t<mask> = A' (+).(x) u for a frontier u.
// See kernels/advance_rows.cuh.
// Units are tile rows. LANES lanes share one, however long it is; a lane takes an item: a tile, or a single entry of
// Split.
// WORDS also pulls, for large frontiers: fewer lanes share a tile row, each with some tiles in flight, and the fused
// statements run at the entries found in the bits of u.
#define GROUPS (32 / LANES)
// All lanes walk the single entries.
#define PULL_LANES (PACKED || LANES <= 8 ? LANES : LANES / 8)
#define PULL_GROUPS (32 / PULL_LANES)
#define TILES_AT_ONCE (TILE == 64 ? 1 : 3)
#define PREFETCH_LENGTHS (!CELLS_BEGIN && !PACKED)  // the length of a tile row is loaded together with its bits

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    advance(i64 n, i64 size, i64 longest, u64 most_work, u64 all_work, const u64* condition, i64* rounds, i64 ahead,
            VectorView<U_T> u, const u32* u_list, const u64* u_state, const u32* u_segments, u64* t_bits, C_T* t_val,
            u32* t_list, u64* t_state, u32* t_segments, u64* old_bits, C_T* old_val, const u32* old_list,
            const u64* old_state, MaskView mask, FORM(), Values a, FORM(pull_) PARAMETERS) {
  await_previous();
  (void)longest, (void)all_work, (void)u_segments, (void)t_segments;
  // All numbers are loaded before the first is used: each costs a trip to the L2 cache.
  const i64 begun[] = {rounds[0]};
  const u64 no_list = u_state[DENSE], no_old_list = old_state[DENSE];
  const u64 u_length = u_state[LIST_LENGTH], u_work = u_state[WORK], old_length = old_state[LIST_LENGTH];
  // Prefetch the tile row of a group, in case the list is not longer than the number of groups.
  const i64 warp = thread_number() / 32, warps = (i64)gridDim.x * (BLOCK / 32);
  const i64 ours = warp * GROUPS + WARP_LANE / LANES;
  const u32 own = !PACKED && ours < n ? u_list[ours] : 0;  // Split has no register left for it
  const bool runs = may_run(condition, rounds, ahead);
  if (!runs_with(runs, no_list, no_old_list, u_length, u_work, old_length, own)) return;
  const bool dense = no_list != 0, old_dense = no_old_list != 0;
  if (thread_number() == 0) rounds[2] = begun[0] + ahead + 1;
  const int lane = threadIdx.x & (LANES - 1), group = WARP_LANE / LANES;
  const bool pull = PULLS && u_work > most_work;
  const Form A = FORM_OF();
  const Open open = {mask, u.bits};
  (void)a;
  u64 entries = 0, work = 0;
  __shared__ Stage stage;
  begin_stage(stage);

  // From the last thread on: small frontiers push with the first ones.
  clear_frontier(old_dense, old_list, (i64)old_length, size, old_bits, old_val, warps * 32 - 1 - thread_number(),
                 warps * 32);

  const auto at_entry = [&](i64 i) {
    const i64* const rounds = begun;
    (void)rounds, (void)i;
    AT_ENTRY(i)
  };
  const i64 list_length = pull ? 0 : dense ? n : (i64)u_length;
  for (i64 k = warp * GROUPS; k < list_length; k += warps * GROUPS) {
    const i64 mine = k + group;
    const i64 tile_row = mine >= list_length ? 0
        : dense                              ? mine
        : !PACKED && mine == ours            ? (i64)own
                                             : (i64)u_list[mine];
    const u64 active = mine < list_length ? tile_bits(u.bits, tile_row) : 0ull;
    Items<i64> items = {};
    if (mine < list_length) items = A.items<i64>(tile_row);
    if (!active) items.count = 0;
    i64 item = lane;
    do {
      i64 j = 0;
      u64 fresh = 0;
      bool first = false;
      PTR_T begin = 0, end = 0;  // range of tile row j
#if !CELLS_BEGIN
      u64 hit = 0, closed = 0;
      if (item < items.count) {
        hit = A.reach(items, item, active, j);
        if (PREFETCH_LENGTHS) begin = A.ptr[j], end = A.ptr[j + 1], issue_load(begin), issue_load(end);
        closed = ~open[j] | part_now<TILE>(t_bits, j);
        issue_load(closed);
      }
#endif
      if (item == lane) {  // while the first loads are in flight
        each_of_row<LANES>(active, tile_row, lane, at_entry);
      }
      if (item < items.count) {
#if !CELLS_BEGIN
        hit &= ~closed;
        if (hit) fresh = mark_tile(t_bits, j, hit, first);
#if KIND == VALUES
        if (fresh) A.products(items, item, tile_row, active, fresh, a, u, [&](i64 at, Z_T z) { t_val[at] = C_T(z); });
#endif
#else
        const auto emit = [&](i64 at, Z_T z) { combine_in_tile(t_bits, t_val, j, at, z, fresh, first); };
        j = A.tile_column(items, item);
        A.products(items, item, tile_row, active, open[j], a, u, emit);
#endif
      }
      append_staged(stage, first, (u32)j, t_list, t_state + LIST_LENGTH);
      entries += __popcll(fresh);
      if (COUNTS_WORK && first) work += PREFETCH_LENGTHS ? (i64)end - begin : A.items<i64>(j).count;
      item += LANES;
    } while (__any_sync(ALL_LANES, item < items.count));
  }
#if PULLS
  if (pull) {
    const Form back = FORM_OF(pull_);
    each_entry(u.bits, n * TILE, thread_number(), warps * 32, at_entry);
    const int lane = threadIdx.x & (PULL_LANES - 1);
    for (i64 k = warp * PULL_GROUPS; k < n; k += warps * PULL_GROUPS) {
      const i64 j = k + WARP_LANE / PULL_LANES;
      const u64 needed = j < n ? open[j] : 0ull;
      Items<i64> items = {};
      if (j < n) items = back.items<i64>(j);  // loaded together with the mask, which saves one trip
      i64 tile = items.tile, stop = needed ? tile + items.tiles : tile;
      u64 hit = 0;
      for (tile += lane; __any_sync(ALL_LANES, tile < stop); tile += TILES_AT_ONCE * PULL_LANES) {
        u64 there[TILES_AT_ONCE], word[TILES_AT_ONCE];  // the first of each
#pragma unroll
        for (int i = 0; i < TILES_AT_ONCE; ++i) {
          const i64 at = tile + i * PULL_LANES;
          there[i] = at < stop ? tile_bits(u.bits, back.tiles.col[at]) : 0ull;
          word[i] = at < stop ? back.tiles.bits[at * TILE_WORDS] : 0ull;
        }
#pragma unroll
        for (int i = 0; i < TILES_AT_ONCE; ++i) {
          hit |= (u64)fold_rows(word[i] & there[i] * SPREAD);
          for (int w = 1; there[i] && w < TILE_WORDS; ++w)
            hit |= (u64)fold_rows(back.tiles.bits[(tile + i * PULL_LANES) * TILE_WORDS + w] & there[i] * SPREAD)
                << (w * WORD_ROWS);
        }
#pragma unroll
        for (int d = PULL_LANES / 2; d; d >>= 1) hit |= __shfl_xor_sync(ALL_LANES, hit, d);
        if ((hit & needed) == needed) tile = stop;
      }
#if PACKED
      const PTR_T* starts = back.ptr + back.rest.parts * j;
#pragma unroll 1
      for (int part = 1; part < (int)back.rest.parts; ++part) {
        const Range range(back.rest, part, starts, starts + back.rest.parts, needed ? EVERY : 0);
        hit = hit_rest((u32)hit, (u32)needed, range, lane, u.bits);
      }
#endif
      hit &= needed;
      if (lane == 0 && j < n) {
        entries += __popcll(hit);
        if (COUNTS_WORK && hit) work += A.items<i64>(j).count;
      }
      // Two tile rows of 4 share a byte, so the groups of a warp combine theirs; t was cleared before.
      if (lane == 0 && j < n && TILE != 4) ((row_t*)t_bits)[j] = (row_t)hit;
      if (lane == 0 && j < n && TILE == 4 && hit) or_tile(t_bits, j, hit);
    }
    if (thread_number() == 0) t_state[DENSE] = 1;
  }
#endif
  flush_stage(stage, entries, work, t_list, nullptr, t_state);
}
#endif  // KERNEL_advance

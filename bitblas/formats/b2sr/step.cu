// Advance on tiles, one round of a device loop: t<mask> = A' (+).(x) u for a frontier u.
// See kernels/step_rows.cuh.
// Units are tile rows. LANES lanes share one, however long it is; a lane takes an item: a tile, or a single entry of
// Split.
// WORDS also pulls, for large frontiers: fewer lanes share a tile row, each with some tiles in flight, and the fused
// statements run at the entries found in the bits of u.
#include "formats/b2sr/items.cuh"
#include "kernels/step.cuh"
#include "formats/b2sr/mark.cuh"
#define GROUPS (32 / LANES)
// All lanes walk the single entries.
#define PULL_LANES (PACKED || LANES <= 8 ? LANES : LANES / 8)
#define PULL_GROUPS (32 / PULL_LANES)
#define TILES_AT_ONCE (TILE == 64 ? 1 : 3)
#define BESIDE (KIND == WORDS && !PACKED)  // the length of a tile row is loaded together with its bits

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
step(i64 n, i64 size, i64 longest, u64 most_work, u64 most_entries, const u64* condition, i64* rounds, i64 ahead, const u64* u_bits,
     const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, const u32* u_list, const u64* u_state, const u32* u_segments,
     u64* t_bits, C_T* t_val, u32* t_list, u64* t_state, u32* t_segments, u64* old_bits, C_T* old_val,
     const u32* old_list, const u64* old_state, const u64* mask, i64 mask_stride, u64 mask_invert, FORM(),
     const value_t* a_val, ARGUMENT(A_T) a_iso, i64 a_stride, FORM(pull_) PARAMETERS) {
  await_previous();
  (void)longest, (void)most_entries, (void)u_segments, (void)t_segments;
  // All numbers are loaded before the first is used: each costs a trip to the L2 cache.
  const i64 begun[] = {rounds[0]};
  const u64 no_list = u_state[DENSE], no_old_list = old_state[DENSE];
  const u64 u_listed = u_state[LISTED], u_work = u_state[WORK], old_listed = old_state[LISTED];
  // Prefetch the tile row of a group, in case the list is not longer than the number of groups.
  const i64 warp = thread_number() / 32, warps = (i64)gridDim.x * (BLOCK / 32);
  const i64 ours = warp * GROUPS + WARP_LANE / LANES;
  const u32 own = !PACKED && ours < n ? u_list[ours] : 0;  // Split has no register left for it
  const bool runs = may_run(condition, rounds, ahead);
  if (!runs_with(runs, no_list, no_old_list, u_listed, u_work, old_listed, own)) return;
  const bool dense = no_list != 0, old_dense = no_old_list != 0;
  if (thread_number() == 0) rounds[2] = begun[0] + ahead + 1;
  const int lane = threadIdx.x & (LANES - 1), group = WARP_LANE / LANES;
  const bool pull = PULLS && u_work > most_work;
  const Form A = FORM_OF();
  const Open open = {mask, mask_stride, mask_invert, u_bits};
  const Values values = {a_val, a_iso, a_stride};
  (void)values;
  u64 entries = 0, work = 0;
  __shared__ Stage stage;
  open_stage(stage);

  // From the last thread on: small frontiers push with the first ones.
  clear_frontier(old_dense, old_list, (i64)old_listed, size, old_bits, old_val, warps * 32 - 1 - thread_number(), warps * 32);

  const auto at_entry = [&](i64 i) {
    const i64* const rounds = begun;
    (void)rounds, (void)i;
    AT_ENTRY(i)
  };
  const i64 listed = pull ? 0 : dense ? n : (i64)u_listed;
  for (i64 k = warp * GROUPS; k < listed; k += warps * GROUPS) {
    const i64 mine = k + group;
    const i64 tile_row = mine >= listed ? 0 : dense ? mine : !PACKED && mine == ours ? (i64)own : (i64)u_list[mine];
    const u64 active = mine < listed ? tile_bits(u_bits, tile_row) : 0ull;
    Items items = {};
    if (mine < listed) items = A.items(tile_row);
    for (u64 rest = active; rest; rest &= rest - 1) {
      const i64 i = tile_row * TILE + __ffsll(rest) - 1;
      if ((i & (LANES - 1)) == lane) at_entry(i);
    }
    if (!active) items.count = 0;
    for (i64 item = lane; __any_sync(ALL_LANES, item < items.count); item += LANES) {
      i64 j = 0;
      u64 fresh = 0;
      bool first = false;
#if BESIDE
      PTR_T begin = 0, end = 0;  // range of tile row j
#endif
      if (item < items.count) {
#if KIND == WORDS
        u64 hit = A.reach(items, item, active, j);
#if BESIDE
        begin = A.ptr[j], end = A.ptr[j + 1];
        asked(begin), asked(end);
#endif
        hit &= open[j] & ~tile_bits_now(t_bits, j);
        if (hit) fresh = mark_tile(t_bits, j, hit, first);
#else
        const auto put = [&](i64 at, Z_T z) {
          put_in_tile(t_bits, t_val, j, at, z, fresh, first);
        };
        A.products(items, item, tile_row, active, open, values, a_iso, u_val, u_iso, u_stride, j, put);
#endif
      }
      put_on(stage, first, (u32)j, t_list, t_state + LISTED);
      entries += __popcll(fresh);
#if BESIDE
      if (WEIGHS && first) work += (i64)end - begin;
#else
      if (WEIGHS && first) work += A.items(j).count;
#endif
    }
  }
#if PULLS
  if (pull) {
    const Form back = FORM_OF(pull_);
    each_entry(u_bits, n * TILE, thread_number(), warps * 32, at_entry);
    const int lane = threadIdx.x & (PULL_LANES - 1);
    for (i64 k = warp * PULL_GROUPS; k < n; k += warps * PULL_GROUPS) {
      const i64 j = k + WARP_LANE / PULL_LANES;
      const u64 wanted = j < n ? open[j] : 0ull;
      Items items = {};
      if (j < n) items = back.items(j);  // loaded together with the mask, which saves one trip
      i64 tile = items.tile, stop = wanted ? tile + items.tiles : tile;
      u64 hit = 0;
      for (tile += lane; __any_sync(ALL_LANES, tile < stop); tile += TILES_AT_ONCE * PULL_LANES) {
        u64 u[TILES_AT_ONCE], word[TILES_AT_ONCE];  // the first of each
#pragma unroll
        for (int a = 0; a < TILES_AT_ONCE; ++a) {
          const i64 at = tile + a * PULL_LANES;
          u[a] = at < stop ? tile_bits(u_bits, back.col[at]) : 0ull;
          word[a] = at < stop ? back.bits[at * TILE_WORDS] : 0ull;
        }
#pragma unroll
        for (int a = 0; a < TILES_AT_ONCE; ++a) {
          hit |= (u64)fold_rows(word[a] & u[a] * SPREAD);
          for (int w = 1; u[a] && w < TILE_WORDS; ++w)
            hit |= (u64)fold_rows(back.bits[(tile + a * PULL_LANES) * TILE_WORDS + w] & u[a] * SPREAD) << (w * WORD_ROWS);
        }
#pragma unroll
        for (int d = PULL_LANES / 2; d; d >>= 1) hit |= __shfl_xor_sync(ALL_LANES, hit, d);
        if ((hit & wanted) == wanted) tile = stop;
      }
#if PACKED
      const PTR_T* starts = pull_ptr + back.rest.parts * j;
#pragma unroll 1
      for (int part = 1; part < back.rest.parts; ++part) {
        const Range range(back.rest, part, starts, starts + back.rest.parts, wanted ? EVERY : 0);
        hit = hit_rest((u32)hit, (u32)wanted, range, lane, u_bits);
      }
#endif
      hit &= wanted;
      if (lane == 0 && j < n) {
        entries += __popcll(hit);
        if (WEIGHS && hit) work += A.items(j).count;
      }
      u64 word = lane == 0 && j < n ? hit : 0ull;
#if TILE == 64
      if (lane == 0 && j < n) t_bits[j] = word;
#elif TILE == 4
      // Two tile rows share a byte, so the groups of a warp combine theirs; t was cleared before.
      if (word) atomicOr((u32*)t_bits + (j * TILE >> 5), (u32)word << (j * TILE & 31));
#else
      if (lane == 0 && j < n) ((row_t*)t_bits)[j] = (row_t)word;
#endif
    }
    if (thread_number() == 0) t_state[DENSE] = 1;
  }
#endif
  close_stage(stage, entries, work, t_list, nullptr, t_state);
}

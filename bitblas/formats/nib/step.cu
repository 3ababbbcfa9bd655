// t<mask> = A' (+).(x) u for a frontier u, one round of a program on the device, along rows in nibbles: see csr/step.cu.
// LANES lanes decode a row together, a warp a segment of a long one. Many entries pull (PULLS, for WORDS): the first word
// of a row is decoded by one lane, what follows, where it is needed, by the warp.
#include "kernels/step.cuh"
#include "formats/nib/reach.cuh"
#define GROUPS (32 / LANES)

struct Out {
  u64* bits;
  C_T* val;
  u32* list;
  u64* state;
  u32* segments;
  Nibbles rows;  // that will be pushed along next
  i64 longest;
};

// The whole warp calls it: entry j is new in t for those who `fresh`.
__device__ __forceinline__ void found(Stage& stage, const Out& t, bool fresh, i64 j, u64& entries, u64& work, bool listed) {
  if (listed) put_on(stage, fresh, (u32)j, t.list, t.state + LISTED);
  if (!fresh) return;
  const i64 length = words_of(t.rows.row(j));
  ++entries;
  work += length;
  if (length <= t.longest) return;
  const i64 count = (length + t.longest - 1) / t.longest;
  const u64 first = atomicAdd(t.state + SEGMENTS, (u64)count);
  for (i64 s = 0; s < count; ++s) {
    t.segments[2 * (first + s)] = (u32)j;
    t.segments[2 * (first + s) + 1] = (u32)s;
  }
}

// reached(j, e, i) for the entries of row i that a walk comes to; lanes without one call it too, with has false.
template <class W, class F>
__device__ __forceinline__ void go_along(W walk, const u32* words, int lane, F reached) {
  while (__any_sync(ALL_LANES, walk.more())) {
    Found of;
    walk.step(words, lane, of);
#pragma unroll 1
    for (int k = 0; __any_sync(ALL_LANES, k < of.count); ++k) {
      const bool has = k < of.count;
      reached(has, has ? (i64)of.next() : 0, RANKED && has ? of.entry + k : 0);
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
step(i64 n, i64 size, i64 longest, u64 threshold, const u64* condition, i64* rounds, i64 ahead, const u64* u_bits,
     const STORED(U_T)* u_val, U_T u_iso, i64 u_stride, const u32* u_list, const u64* u_state, const u32* u_segments,
     u64* t_bits, C_T* t_val, u32* t_list, u64* t_state, u32* t_segments, u64* old_bits, C_T* old_val,
     const u32* old_list, const u64* old_state, const u64* mask, i64 mask_stride, u64 mask_invert, FORM(),
     const value_t* a_val, A_T a_iso, i64 a_stride, const i64* pull_heads, const u32* pull_words PARAMETERS) {
  (void)n, (void)pull_heads, (void)pull_words;
  // All numbers are asked for at once, before the first is looked at: each costs a trip to the L2 cache.
  const bool runs = may_run(condition, rounds, ahead), dense = u_state[DENSE] != 0, old_dense = old_state[DENSE] != 0;
  const u64 u_listed = u_state[LISTED], u_work = u_state[WORK], segments = u_state[SEGMENTS];
  const u64 old_listed = old_state[LISTED];
  if (!runs) return;
  if (thread_number() == 0) rounds[2] = rounds[0] + ahead + 1;
  const i64 warp = thread_number() / 32, warps = (i64)gridDim.x * (BLOCK / 32);
  const int lane = threadIdx.x & (LANES - 1), group = WARP_LANE / LANES;
  const bool pull = PULLS && u_work > threshold;
  const i64 halves = (size + 31) / 32;
  const Nibbles A = FORM_OF();
  const Out t = {t_bits, t_val, t_list, t_state, t_segments, A, longest};
  const Values values = {a_val, a_iso, a_stride};
  u64 entries = 0, work = 0;
  __shared__ Stage stage;
  open_stage(stage);

  // From the last thread on: while frontiers are small, others than those who push.
  const i64 clearing = warps * 32 - 1 - thread_number();
  if (old_dense) {
    for (i64 h = clearing; h < halves; h += warps * 32) ((u32*)old_bits)[h] = 0;
    for (i64 j = clearing; CELLS_BEGIN && j < size; j += warps * 32) old_val[j] = C_T(BEGIN);
  } else {
    for (i64 k = clearing; k < (i64)old_listed; k += warps * 32) {
      const u32 j = old_list[k];
      ((u32*)old_bits)[j >> 5] = 0;
      if (CELLS_BEGIN) old_val[j] = C_T(BEGIN);
    }
  }

  // The entries of u, a half word of bits or GROUPS of the list at a time; a group of lanes takes one of them.
  const i64 listed = dense ? halves * GROUPS : (i64)u_listed;
  for (i64 k = warp * GROUPS; k < listed; k += warps * GROUPS) {
    u32 todo = dense ? ((const u32*)u_bits)[k / GROUPS] : (1u << (listed - k < GROUPS ? listed - k : GROUPS)) - 1u;
    while (todo) {
      u32 mine = todo;
#pragma unroll
      for (int g = 0; g < GROUPS; ++g) {
        if (g < group) mine &= mine - 1;
        todo &= todo - 1;
      }
      const i64 at = __ffs(mine) - 1;
      const i64 i = mine ? dense ? k / GROUPS * 32 + at : (i64)u_list[k + at] : 0;
      Walk<LANES, RANKED> walk;
      if (mine && bit_of(u_bits, i)) {  // statements since may have taken it away
        const Extent row = A.row(i);
        if (!pull && words_of(row) <= longest) walk = Walk<LANES, RANKED>(row, i, A.number(i));  // else in segments
        if (lane == 0) {
          AT_ENTRY(i)
        }
      }
      if (pull) continue;
      go_along(walk, words, lane, [&](bool has, i64 j, i64 e) {
        const bool fresh = has && open(j) && reach(t_bits, t_val, j, e, i, values, u_val, u_iso, u_stride);
        found(stage, t, fresh, j, entries, work, true);
      });
    }
  }
  if (!pull) {
    for (i64 s = warp; s < (i64)segments; s += warps) {
      const i64 i = u_segments[2 * s];
      if (!bit_of(u_bits, i)) continue;
      go_along(A.segment(i, u_segments[2 * s + 1]), words, WARP_LANE, [&](bool has, i64 j, i64 e) {
        const bool fresh = has && open(j) && reach(t_bits, t_val, j, e, i, values, u_val, u_iso, u_stride);
        found(stage, t, fresh, j, entries, work, true);
      });
    }
  }
#if PULLS
  if (pull) {
    // Rows a warp: a power of two, so few that every warp has some. A row may have to be read to its end.
    int share = 32;
    while (share > 1 && size <= warps * (share / 2)) share /= 2;
    for (i64 k = warp; k * share < size; k += warps) {
      const i64 j = k * share + WARP_LANE;
      const bool wanted = WARP_LANE < share && j < size && open(j);
      Walk<1, false> alone;
      if (wanted) alone = Walk<1, false>(row_extent(pull_heads, pull_words, j), j, 0);
      bool hit = false;
      const auto look = [&](Found& of) {
#pragma unroll
        for (int at = 0; at < COMPLETED; ++at)
          if (at < of.count) hit = bit_of(u_bits, of.next()) || hit;
      };
      if (alone.more()) {
        Found of;
        alone.step(pull_words, 0, of);
        look(of);
      }
      u32 rest = __ballot_sync(ALL_LANES, !hit && alone.more());
      for (; rest; rest &= rest - 1) {
        const int owner = __ffs(rest) - 1;
        const bool before = hit;
        hit = false;
        Walk<32, false> walk;
        walk.at = __shfl_sync(ALL_LANES, alone.at, owner), walk.left = __shfl_sync(ALL_LANES, alone.left, owner);
        walk.column = __shfl_sync(ALL_LANES, alone.column, owner);
        walk.tail = __shfl_sync(ALL_LANES, alone.tail, owner), walk.tails = __shfl_sync(ALL_LANES, alone.tails, owner);
        walk.first = __shfl_sync(ALL_LANES, (int)alone.first, owner);
        u32 who = 0;
        while (walk.more() && !who) {
          Found of;
          walk.step(pull_words, WARP_LANE, of);
          look(of);
          who = __ballot_sync(ALL_LANES, hit);
        }
        hit = WARP_LANE == owner ? who != 0 : before;
      }
      const u32 hits = __ballot_sync(ALL_LANES, hit);
      const i64 at = k * share;
      if (WARP_LANE == 0 && share == 32) ((u32*)t_bits)[k] = hits;
      else if (WARP_LANE == 0 && hits) atomicOr((u32*)t_bits + (at >> 5), hits << (at & 31));  // t had no bits
      found(stage, t, hit, j, entries, work, false);
    }
    if (thread_number() == 0) t_state[DENSE] = 1;
  }
#endif
  close_stage(stage, entries, work, t_list, t_state);
}

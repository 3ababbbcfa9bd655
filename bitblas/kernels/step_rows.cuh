// The step of every form by rows: t<mask> = A' (+).(x) u for a frontier u, one round of a program on the device; t, whose
// bits were cleared, becomes a frontier. Few entries push: LANES lanes a row, long rows in segments. Many pull (PULLS): rows
// of the transpose that the mask allows look for one entry of u, up to 32 rows a warp.
// Before, the statements that were fused (AT_ENTRY) run at every entry of u; ALSO: they put these into the mask's vector.
// `old` is the frontier of the round before, which is cleared for the round after.
// Before it stand the form's rows.cuh and, of its step.cu, Back, PULL_FORM and PULL_FORM_OF: the rows that pull.
#define GROUPS (32 / LANES)

struct Out {
  u64* bits;
  C_T* val;
  u32* list;
  u64* state;
  u32* segments;
  Rows rows;  // that will be pushed along next
  i64 longest;
};

// The whole warp calls it: entry j is new in t for those who `fresh`.
__device__ __forceinline__ void found(Stage& stage, const Out& t, bool fresh, i64 j, u64& entries, u64& work, bool listed) {
  if (listed) put_on(stage, fresh, (u32)j, t.list, t.state + LISTED);
  if (!fresh) return;
  const i64 length = t.rows.work_of(t.rows.item((u32)j));
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

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
step(i64 n, i64 size, i64 longest, u64 threshold, const u64* condition, i64* rounds, i64 ahead, const u64* u_bits,
     const STORED(U_T)* u_val, U_T u_iso, i64 u_stride, const u32* u_list, const u64* u_state, const u32* u_segments,
     u64* t_bits, C_T* t_val, u32* t_list, u64* t_state, u32* t_segments, u64* old_bits, C_T* old_val,
     const u32* old_list, const u64* old_state, const u64* mask, i64 mask_stride, u64 mask_invert, FORM(),
     const value_t* a_val, A_T a_iso, i64 a_stride, PULL_FORM() PARAMETERS) {
  (void)n;
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
  const Rows A = FORM_OF();
  const Out t = {t_bits, t_val, t_list, t_state, t_segments, A, longest};
  const Values values = {a_val, a_iso, a_stride};
  u64 entries = 0, work = 0;
  __shared__ Stage stage;
  open_stage(stage);

  // From the last thread on: while frontiers are small, others than those who push.
  clear_frontier(old_dense, old_list, (i64)old_listed, size, old_bits, old_val, warps * 32 - 1 - thread_number(), warps * 32);

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
      Item row = {};
      if (mine && bit_of(u_bits, i)) {  // statements since may have taken it away
        row = A.item((u32)i);
        if (lane == 0) {
          AT_ENTRY(i)
        }
      }
      if (pull) continue;
      if (A.work_of(row) > longest) row = {};  // in segments
      A.along(row, lane, LANES, [&](bool has, i64 j, i64 e) {
        bool fresh = false;
        if (has && open(j)) fresh = reach(t_bits, t_val, j, e, i, values, u_val, u_iso, u_stride);
        found(stage, t, fresh, j, entries, work, true);
      });
    }
  }
  if (!pull) {
    for (i64 s = warp; s < (i64)segments; s += warps) {
      const i64 i = u_segments[2 * s];
      if (!bit_of(u_bits, i)) continue;
      A.along_segment(i, u_segments[2 * s + 1], longest, [&](bool has, i64 j, i64 e) {
        bool fresh = false;
        if (has && open(j)) fresh = reach(t_bits, t_val, j, e, i, values, u_val, u_iso, u_stride);
        found(stage, t, fresh, j, entries, work, true);
      });
    }
  }
#if PULLS
  if (pull) {
    const Back back = PULL_FORM_OF();
    // Rows a warp: a power of two, so few that every warp has some. A row may have to be read to its end.
    int share = 32;
    while (share > 1 && size <= warps * (share / 2)) share /= 2;
    for (i64 k = warp; k * share < size; k += warps) {
      const i64 j = k * share + WARP_LANE;
      const bool wanted = WARP_LANE < share && j < size && open(j);
      const Hit hit = back.look(j, wanted, u_bits);
      const u32 hits = __ballot_sync(ALL_LANES, hit.some);
      const i64 at = k * share;
      if (WARP_LANE == 0 && share == 32) ((u32*)t_bits)[k] = hits;
      else if (WARP_LANE == 0 && hits) atomicOr((u32*)t_bits + (at >> 5), hits << (at & 31));  // t had no bits
#if KIND == VALUES
      if (hit.some)
        t_val[j] = C_T(mul(Values{back.val, a_iso, a_stride}.at(hit.place), load<U_T>(u_val, u_iso, u_stride, hit.from), j,
                           hit.from));
#endif
      found(stage, t, hit.some, j, entries, work, false);
    }
    if (thread_number() == 0) t_state[DENSE] = 1;
  }
#endif
  close_stage(stage, entries, work, t_list, t_state);
}

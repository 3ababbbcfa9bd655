// t<mask> = A' (+).(x) u for a frontier u, one round of a program on the device; t, whose bits were cleared, becomes a
// frontier. Few entries push: LANES lanes a row of `ptr`, long rows in segments. Many pull (PULLS): rows of `pull_ptr`
// that the mask allows look for one entry of u; up to 32 rows a warp, first a few entries each, then one row after the
// other.
// Before, the statements that were fused (AT_ENTRY) run at every entry of u; ALSO: they put these into the mask's vector.
// `old` is the frontier of the round before, which is cleared for the round after.
#include "kernels/step.cuh"
#include "formats/csr/reach.cuh"
#include "formats/csr/columns.cuh"
#define GROUPS (32 / LANES)
#define FEW 4  // entries of a row that its lane looks at alone

struct Out {
  u64* bits;
  C_T* val;
  u32* list;
  u64* state;
  u32* segments;
  const PTR_T* ptr;  // of the rows that will be pushed along next
  i64 longest;
};

// The whole warp calls it: entry j is new in t for those who `fresh`.
__device__ __forceinline__ void found(Stage& stage, const Out& t, bool fresh, i64 j, u64& entries, u64& work, bool listed) {
  if (listed) put_on(stage, fresh, (u32)j, t.list, t.state + LISTED);
  if (!fresh) return;
  const i64 length = t.ptr[j + 1] - t.ptr[j];
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
     const u32* old_list, const u64* old_state, const u64* mask, i64 mask_stride, u64 mask_invert, const PTR_T* ptr,
     const column_t* col, i64 width, const value_t* a_val, A_T a_iso, i64 a_stride, const PTR_T* pull_ptr,
     const column_t* pull_col, const value_t* pull_val PARAMETERS) {
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
  const Out t = {t_bits, t_val, t_list, t_state, t_segments, ptr, longest};
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
      i64 e = 0, stop = 0;
      if (mine && bit_of(u_bits, i)) {  // statements since may have taken it away
        e = ptr[i];
        stop = ptr[i + 1];
        if (lane == 0) {
          AT_ENTRY(i)
        }
      }
      if (pull) continue;
      if (stop - e > longest) stop = e;  // in segments
      e += lane;
      for (Columns entry(col, width, e); __any_sync(ALL_LANES, e < stop); e += LANES, entry.skip(LANES)) {
        const i64 j = e < stop ? (i64)entry.at(e, 0) : 0;
        bool fresh = false;
        if (e < stop && open(j)) fresh = reach(t_bits, t_val, j, e, i, values, u_val, u_iso, u_stride);
        found(stage, t, fresh, j, entries, work, true);
      }
    }
  }
  if (!pull) {
    for (i64 s = warp; s < (i64)segments; s += warps) {
      const i64 i = u_segments[2 * s];
      if (!bit_of(u_bits, i)) continue;
      const i64 begin = ptr[i] + u_segments[2 * s + 1] * longest, end = ptr[i + 1];
      const i64 stop = begin + longest < end ? begin + longest : end;
      i64 e = begin + WARP_LANE;
      for (Columns entry(col, width, e); __any_sync(ALL_LANES, e < stop); e += 32, entry.skip(32)) {
        const i64 j = e < stop ? (i64)entry.at(e, 0) : 0;
        bool fresh = false;
        if (e < stop && open(j)) fresh = reach(t_bits, t_val, j, e, i, values, u_val, u_iso, u_stride);
        found(stage, t, fresh, j, entries, work, true);
      }
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
      i64 e = 0, stop = 0;
      if (wanted) e = pull_ptr[j], stop = pull_ptr[j + 1];
      bool hit = false;
      i64 from = 0;
#if KIND == VALUES
      i64 place = 0;
#define AT(e) place = e
#else
#define AT(e)
#endif
      Columns entry(pull_col, width, e);
      for (int few = 0; few < FEW && e < stop && !hit; ++few, ++e, entry.skip(1)) {
        from = entry.at(e, 0);
        hit = bit_of(u_bits, from);
        AT(e);
      }
      u32 rest = __ballot_sync(ALL_LANES, !hit && e < stop);
      for (; rest; rest &= rest - 1) {
        const int owner = __ffs(rest) - 1;
        const i64 end = __shfl_sync(ALL_LANES, stop, owner);
        u32 who = 0;
        i64 c = 0, p = __shfl_sync(ALL_LANES, e, owner) + WARP_LANE;
        for (Columns mine(pull_col, width, p); !who && p - WARP_LANE < end; p += 32, mine.skip(32)) {
          if (p < end) c = mine.at(p, 0);
          who = __ballot_sync(ALL_LANES, p < end && bit_of(u_bits, c));
        }
        if (!who) continue;
        const i64 first = __shfl_sync(ALL_LANES, c, __ffs(who) - 1);
        const i64 where = __shfl_sync(ALL_LANES, p - 32, __ffs(who) - 1);
        (void)where;
        if (WARP_LANE == owner) {
          from = first;
          hit = true;
          AT(where);
        }
      }
      const u32 hits = __ballot_sync(ALL_LANES, hit);
      const i64 at = k * share;
      if (WARP_LANE == 0 && share == 32) ((u32*)t_bits)[k] = hits;
      else if (WARP_LANE == 0 && hits) atomicOr((u32*)t_bits + (at >> 5), hits << (at & 31));  // t had no bits
#if KIND == VALUES
      if (hit) t_val[j] = C_T(mul(Values{pull_val, a_iso, a_stride}.at(place), load<U_T>(u_val, u_iso, u_stride, from),
                                  j, from));
#endif
      found(stage, t, hit, j, entries, work, false);
    }
    if (thread_number() == 0) t_state[DENSE] = 1;
  }
#endif
  close_stage(stage, entries, work, t_list, t_state);
}

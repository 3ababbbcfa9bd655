// Compact a vector into a frontier: count its entries and, with LISTS, list the units (PER rows) that have any, with the work
// in them, by `ptr`. Rows longer than `longest` are cut into segments (PER 1). most: with more work than this the list is not
// read, and is marked as absent, because all advances will pull. They also pull if one of MANY_PULL positions has an entry,
// because so long a list costs more than a pull: the work is then counted as more than `most`.
// LINE: the vector is a multivector (PER 64), whose work is its nonempty words.
// OPENS: the vector is the mask of a pull over the rows of the list (pull_worklist of formats/csr/advance.cu) into t, which this kernel prepares:
// it clears bits or, if each row with entries will have a sum (2), sets them; cells of long rows are initialized.
// LATE: run at the end of a round, for the next one.
#include "kernels/frontier.cuh"
#define MANY 128  // entries of 32 half words from which on a warp reserves their list positions together
#define AT_ONCE 4  // half words
#define AHEAD (OPENS ? 1 : 4)  // half words of a lane that are loaded before the first is processed
#define MANY_PULL 16
#define MANY_HERE 8  // the same for the positions that a warp loads together, which are far apart
#if LATE
#define PARAMETERS , Control control
#elif !OPENS
#define PARAMETERS
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    compact_frontier(i64 n, i64 size, i64 longest, u64 most, const u64* bits, const PTR_T* ptr, u32* list, u64* state,
                     u32* segments PARAMETERS) {
  await_previous();
  (void)n;
#if OPENS || LATE
  if (!control.runs()) return;
#endif
  __shared__ Stage stage;
  begin_stage(stage);
  u64 entries = 0, work = 0;
  // A warp processes 32 of its half words at a time.
  const i64 halves = (size + 31) / 32, warps = (i64)gridDim.x * (BLOCK / 32);
  u32 words[AHEAD] = {};
  int loaded = 0;
#if LISTS && !OPENS
  u64 known = 0, list_length = 0;  // valid in lane 0
#endif
  for (i64 begin = thread_number() / 32; begin < halves; begin += 32 * warps, --loaded) {
    const i64 mine = begin + WARP_LANE * warps;
#pragma unroll
    for (int k = 1; k < AHEAD; ++k) words[k - 1] = words[k];
    if (loaded == 0) {
      loaded = AHEAD;
#if LISTS && !OPENS
      if (WARP_LANE == 0 && most + 1 != 0)
        known = *(volatile const u64*)(state + WORK), list_length = *(volatile const u64*)(state + LIST_LENGTH);
#endif
#pragma unroll
      for (int k = 0; k < AHEAD; ++k)
        words[k] = mine + k * 32 * warps < halves ? ((const u32*)bits)[mine + k * 32 * warps] : 0;
#if LISTS && !OPENS
      if (most + 1 != 0 && begin + (32 * AHEAD - 1) * warps < halves) {
        u32 here = 0;
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) here += __popc(words[k]);
#pragma unroll
        for (int d = 16; d; d >>= 1) here += __shfl_xor_sync(ALL_LANES, here, d);
        if (WARP_LANE == 0 && here * MANY_HERE > 1024 * AHEAD && known <= most)
          atomicAdd(state + WORK, most + 1), known = most + 1;
      }
#endif
    }
    const u32 word = words[0];
    entries += __popc(word);
#if OPENS
    if (mine < halves && (OPENS == 1 || !word)) ((u32*)t_bits)[mine] = 0;
#endif
#if LISTS
#if !OPENS
    if (list_length * MANY_PULL > (u64)size && known <= most) atomicAdd(state + WORK, most + 1), known = most + 1;
    if (WARP_LANE == 0 && known > most) poke(state + DENSE, 1ull);
    if (__shfl_sync(ALL_LANES, (u32)(known > most), 0)) continue;
#endif
    u32 todo = __ballot_sync(ALL_LANES, word != 0);
#if PER == 1
    // For many entries, list positions are reserved together, bypassing the stage: its warps would serialize on the rest.
    const u32 before = group_sum_below<32>(__popc(word)), all = __shfl_sync(ALL_LANES, before + __popc(word), 31);
    u64 at = 0;
    if (all > MANY && WARP_LANE == 0) at = atomicAdd(state + LIST_LENGTH, (u64)all);
    at = __shfl_sync(ALL_LANES, at, 0);
#endif
    while (todo) {
      // Several half words at a time, whose pointers are loaded before the first is processed.
      bool add[AT_ONCE];
      i64 unit[AT_ONCE], length[AT_ONCE];
      u32 place[AT_ONCE];
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
        const int owner = todo ? __ffs(todo) - 1 : 0;
        const u32 half = todo ? __shfl_sync(ALL_LANES, word, owner) : 0;
        const i64 first = (begin + owner * warps) * 32;
        unit[k] = (first + WARP_LANE) / PER, place[k] = 0;
#if PER == 1
        add[k] = half >> WARP_LANE & 1;
        place[k] = __shfl_sync(ALL_LANES, before, owner) + __popc(half & ((1u << WARP_LANE) - 1u));
#else
        add[k] = false;
        if (half &&
            (PER <= 32 ? WARP_LANE % PER == 0 : (first & (PER - 1)) == 0 || !((const u32*)bits)[(first >> 5) - 1]))
          add[k] =
              PER == 64 ? WARP_LANE == 0 : ((half >> WARP_LANE) & (PER >= 32 ? ~0u : (1u << (PER & 31)) - 1u)) != 0;
#endif
#if LINE
        length[k] = add[k];
#else
        length[k] = add[k] ? (i64)ptr[unit[k] + 1] - ptr[unit[k]] : 0;
#endif
        todo &= todo - 1;
      }
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
#if PER == 1
        if (all > MANY) {
          if (add[k]) list[at + place[k]] = (u32)unit[k];
        } else
#endif
          append_staged(stage, add[k], (u32)unit[k], list, state + LIST_LENGTH);
        (void)place[k];
        work += length[k];
#if OPENS
        const u32 added = __ballot_sync(ALL_LANES, add[k]), filled = __ballot_sync(ALL_LANES, length[k] > 0);
        if (OPENS == 2 && added && WARP_LANE == 0) ((u32*)t_bits)[unit[k] >> 5] = filled;
        if (length[k] > longest) t_val[unit[k]] = C_T(BEGIN);
#endif
        if (PER == 1 && length[k] > longest)
          put_segments(stage, (u32)unit[k], (u32)((length[k] + longest - 1) / longest), segments, state);
      }
    }
    if (!OPENS &&
        __any_sync(ALL_LANES, work > most >> 18)) {  // other blocks learn of it soon, without too many atomics
      add_of_warp(state + WORK, work);
      work = 0;
    }
#else
    (void)most;
#endif
  }
  flush_stage(stage, entries, work, list, segments, state);
  if (threadIdx.x == 0 && stage.entries) atomicAdd(state + REMAINING, stage.entries);
}

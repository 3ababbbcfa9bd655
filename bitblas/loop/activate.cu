// A vector becomes a frontier: its entries are counted, and with LISTS the units (PER rows) that have any are listed, with
// the work in them, by `ptr`; rows longer than `longest` are cut into segments (PER 1).
#include "kernels/frontier.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
activate(i64 n, i64 size, i64 longest, const u64* bits, const PTR_T* ptr, u32* list, u64* state, u32* segments) {
  (void)n;
  u64 entries = 0;
#if LISTS
  u64 work = 0;
#endif
  for (i64 first = thread_number() - WARP_LANE; first < size; first += (i64)gridDim.x * BLOCK) {
    const u32 half = ((const u32*)bits)[first >> 5];
    if (!half) continue;
    if (WARP_LANE == 0) entries += __popc(half);
#if LISTS
    const i64 unit = (first + WARP_LANE) / PER;
    bool add = false;
    i64 length = 0;
    if (PER <= 32 ? WARP_LANE % PER == 0 : (first & (PER - 1)) == 0 || !((const u32*)bits)[(first >> 5) - 1])
      add = PER == 64 ? WARP_LANE == 0 : ((half >> WARP_LANE) & (PER >= 32 ? ~0u : (1u << (PER & 31)) - 1u)) != 0;
    if (add) length = (i64)ptr[unit + 1] - ptr[unit];
    append(add, (u32)unit, list, state + LISTED);
    work += length;
    if (PER == 1 && length > longest) {
      const i64 count = (length + longest - 1) / longest;
      const u64 at = atomicAdd(state + SEGMENTS, (u64)count);
      for (i64 s = 0; s < count; ++s) {
        segments[2 * (at + s)] = (u32)unit;
        segments[2 * (at + s) + 1] = (u32)s;
      }
    }
#endif
  }
  add_of_warp(state + ENTRIES, entries);
  add_of_warp(state + REMAINING, entries);
#if LISTS
  add_of_warp(state + WORK, work);
#endif
}

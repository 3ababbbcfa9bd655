// A vector becomes a frontier: its entries are counted, and with LISTS the units (PER rows) that have any are listed, with
// the work in them, by `ptr`; rows longer than `longest` are cut into segments (PER 1).
#include "kernels/frontier.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
activate(i64 n, i64 size, i64 longest, const u64* bits, const PTR_T* ptr, u32* list, u64* state, u32* segments) {
  (void)n;
  __shared__ Stage stage;
  open_stage(stage);
  u64 entries = 0, work = 0;
  // A warp looks at 32 of its half words at a time.
  const i64 halves = (size + 31) / 32, warps = (i64)gridDim.x * (BLOCK / 32);
  for (i64 begin = thread_number() / 32; begin < halves; begin += 32 * warps) {
    const i64 mine = begin + WARP_LANE * warps;
    const u32 word = mine < halves ? ((const u32*)bits)[mine] : 0;
    entries += __popc(word);
    u32 todo = LISTS ? __ballot_sync(ALL_LANES, word != 0) : 0;
    for (; todo; todo &= todo - 1) {
      const u32 half = __shfl_sync(ALL_LANES, word, __ffs(todo) - 1);
      const i64 first = (begin + (__ffs(todo) - 1) * warps) * 32;
      (void)half, (void)first;
#if LISTS
      const i64 unit = (first + WARP_LANE) / PER;
      bool add = false;
      i64 length = 0;
      if (PER <= 32 ? WARP_LANE % PER == 0 : (first & (PER - 1)) == 0 || !((const u32*)bits)[(first >> 5) - 1])
        add = PER == 64 ? WARP_LANE == 0 : ((half >> WARP_LANE) & (PER >= 32 ? ~0u : (1u << (PER & 31)) - 1u)) != 0;
      if (add) length = (i64)ptr[unit + 1] - ptr[unit];
      put_on(stage, add, (u32)unit, list, state + LISTED);
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
  }
  close_stage(stage, entries, work, list, state);
  if (threadIdx.x == 0 && stage.entries) atomicAdd(state + REMAINING, stage.entries);
}

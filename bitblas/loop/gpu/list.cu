// List the positions whose values ranks send each other instead of a dense vector: those with an entry or (DIFFERS) those
// whose value differs from the one last sent, which is updated. Up to `room` positions are listed. The others are only partly
// counted, because it only matters that there are more.
#include "kernels/frontier.cuh"
#define MANY 8  // half words that a warp processes together

extern "C" __global__ void __launch_bounds__(BLOCK, 3)
list(i64 n, i64 size, const u64* bits, const W_T* mine, W_T* before, u32* places, i64 room, u64* count) {
  (void)n, (void)bits, (void)mine, (void)before;
  const i64 halves = (size + 31) / 32, warps = (i64)gridDim.x * (BLOCK / 32);
  for (i64 first = thread_number() / 32 * MANY; first < halves; first += MANY * warps) {
    u64 known = 0;  // loaded together with the values
    if (WARP_LANE == 0) known = *(volatile const u64*)count;
    bool found[MANY];
#if DIFFERS
    W_T now[MANY], then[MANY];
#pragma unroll
    for (int k = 0; k < MANY; ++k) {
      const i64 p = (first + k) * 32 + WARP_LANE;
      now[k] = p < size ? mine[p] : W_T(0);
      then[k] = p < size ? before[p] : W_T(0);
    }
#pragma unroll
    for (int k = 0; k < MANY; ++k) {
      found[k] = now[k] != then[k];
      if (found[k]) before[(first + k) * 32 + WARP_LANE] = now[k];
    }
#else
    const u32 word = WARP_LANE < MANY && first + WARP_LANE < halves ? ((const u32*)bits)[first + WARP_LANE] : 0u;
    if (!__any_sync(ALL_LANES, word != 0)) continue;
#pragma unroll
    for (int k = 0; k < MANY; ++k) found[k] = __shfl_sync(ALL_LANES, word, k) >> WARP_LANE & 1;
#endif
    u32 who[MANY], all = 0;
#pragma unroll
    for (int k = 0; k < MANY; ++k) who[k] = __ballot_sync(ALL_LANES, found[k]), all += __popc(who[k]);
    if (!all || __shfl_sync(ALL_LANES, (u32)(known > (u64)room), 0)) continue;
    u64 at = 0;
    if (WARP_LANE == 0) at = atomicAdd(count, (u64)all);
    at = __shfl_sync(ALL_LANES, at, 0);
#pragma unroll
    for (int k = 0; k < MANY; ++k) {
      const u64 place = at + __popc(who[k] & ((1u << WARP_LANE) - 1u));
      if (found[k] && place < (u64)room) places[place] = (u32)((first + k) * 32 + WARP_LANE);
      at += __popc(who[k]);
    }
  }
}

// Gather values of listed positions from a vector (TAKES), or scatter them into one, setting bits if it has any (BITS).
#include "kernels/frontier.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 8)
places(i64 n, i64 room, const u64* count, const u32* at, const W_T* from, W_T* to, u64* bits) {
  (void)n, (void)bits;
  const i64 listed = *count < (u64)room ? (i64)*count : room;
  for (i64 k = thread_number(); k < listed; k += (i64)gridDim.x * BLOCK) {
#if TAKES
    to[k] = from[at[k]];
#else
    to[at[k]] = from[k];
#if BITS
    set_bit(bits, at[k]);
#endif
#endif
  }
}

// End a fixpoint by patches (formats/csr/patches.cu): d gets an entry wherever its cell has changed (FULL: everywhere), and no
// vertex stays active. If an odd product was seen, all vertices of d become active for the ordinary rounds.
#define PER 1  // positions per unit
#include "kernels/step.cuh"
#include "loop/gpu/patches.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
patches_end(i64 n, i64 size, const u32* state, i64* rounds, u64* d_bits, const C_T* d_val, u64* q_bits, C_T* q_val) {
  (void)n, (void)q_val;
  if (state[REFUSED]) return;
  const bool odd = state[ODD] != 0;
  const i64 step = (i64)gridDim.x * BLOCK;
  for (i64 v = thread_number(); v - WARP_LANE < size; v += step) {
    const C_T value = v < size ? d_val[v] : C_T(BEGIN);
    u32 bits = __ballot_sync(ALL_LANES, v < size && !is_begin(value));
    if (FULL) bits = __ballot_sync(ALL_LANES, v < size);
    else bits |= ((const u32*)d_bits)[v >> 5];
    if (WARP_LANE == 0) {
      if (!FULL) ((u32*)d_bits)[v >> 5] = bits;
      ((u32*)q_bits)[v >> 5] = odd ? bits : 0u;
    }
#if HELD
    if (odd && v < size) q_val[v] = value;
#endif
  }
  if (thread_number() == 0 && state[ROUNDS_DONE]) rounds[0] = rounds[2] = rounds[4] = state[ROUNDS_DONE];
}

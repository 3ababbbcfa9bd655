// Begin and end a fixpoint by patches (formats/csr/advance.cu); control.cu continues it.

#ifdef KERNEL_patches_begin
// Begin a fixpoint by patches (formats/csr/advance.cu), one block per patch. Cells of positions without an entry are set to
// the identity of the sum; patches with an active vertex are listed. `waits`: the active vertices of the loop. Their values
// (HELD) must equal those of d, otherwise their meaning is unknown and the run is refused; a run with a `limit` of rounds
// other than `unlimited` is refused too.
#define PER 1  // positions per unit
#include "kernels/advance.cuh"
#include "loop/gpu/patches.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    patches_begin(i64 n, i64 size, u32* state, u32* lists, u32* in_worklist, u32* waiting, const i64* rounds,
                  i64 unlimited, const u32* vertices, const u64* d_bits, C_T* d_val, const u64* q_bits,
                  const C_T* q_val) {
  (void)n, (void)vertices, (void)q_val;
  __shared__ u32 some;
  const i64 all = (size + PATCH - 1) / PATCH;
  bool refused = rounds[1] != unlimited;
  for (i64 r = blockIdx.x; r < all; r += gridDim.x) {
    if (threadIdx.x == 0) some = 0;
    __syncthreads();
    for (i64 p = r * PATCH + threadIdx.x; p < (r + 1) * PATCH; p += BLOCK) {
      const i64 v = p < size ? (i64)VERTEX(p) : 0;
      const bool has = p < size && bit_of(d_bits, v), waits = p < size && bit_of(q_bits, v);
      const C_T value = has ? d_val[v] : C_T(BEGIN);
      if (p < size && !has) d_val[v] = C_T(BEGIN);
      if (waits && (!has || !is_better(value, C_T(BEGIN)))) refused = true;
#if HELD
      if (waits && has && raw_of(q_val[v]) != raw_of(value)) refused = true;
#endif
      const u32 bits = __ballot_sync(ALL_LANES, waits);
      if (WARP_LANE == 0 && p < size) waiting[p >> 5] = bits;
      if (WARP_LANE == 0 && bits) poke(&some, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      in_worklist[r] = some;
      if (some) lists[atomicAdd(&state[0], 1u)] = (u32)r;
    }
    __syncthreads();
  }
  if (refused) poke(state + REFUSED, 1u);
}
#endif  // KERNEL_patches_begin

#ifdef KERNEL_patches_end
// End a fixpoint by patches (formats/csr/advance.cu): d gets an entry wherever its cell has changed (FULL: everywhere), and no
// vertex stays active. If an odd product was seen, all vertices of d become active for the ordinary rounds.
#define PER 1  // positions per unit
#include "kernels/advance.cuh"
#include "loop/gpu/patches.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    patches_end(i64 n, i64 size, const u32* state, i64* rounds, u64* d_bits, const C_T* d_val, u64* q_bits,
                C_T* q_val) {
  (void)n, (void)q_val;
  if (state[REFUSED]) return;
  const bool odd = state[ODD] != 0;
  const i64 step = (i64)gridDim.x * BLOCK;
  for (i64 v = thread_number(); v - WARP_LANE < size; v += step) {
    const C_T value = v < size ? d_val[v] : C_T(BEGIN);
    u32 bits = __ballot_sync(ALL_LANES, v < size && !holds_initial(value));
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
#endif  // KERNEL_patches_end

// Insert gaps into a vector at the positions of virtual nodes.
// t(p) = u(k), where p is the k-th position that is not in the bitset `nodes`. Positions in `nodes` get no entry.
// before: number of nodes before each 64-bit word. u_*: input vector; t_*: output. DENSE 0: the vector is iso, only
// bits are read and written.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
among(i64 n, i64 size, const u64* nodes, const u32* before, const u64* u_bits, const STORED(U_T)* u_val, u64* t_bits,
      STORED(U_T)* t_val) {
  const i64 p = thread_number();
  const u64 here = p < size ? nodes[p >> 6] : ~0ull;
  const bool other = !(here >> (p & 63) & 1);
  const i64 k = other ? p - before[p >> 6] - __popcll(here & ((1ull << (p & 63)) - 1)) : 0;
  const bool present = other && bit_of(u_bits, k);
  const u32 half = __ballot_sync(ALL_LANES, present);
  const bool writer = (p & 31) == 0 && p < n * 64;
  if (writer) ((u32*)t_bits)[p >> 5] = half;
#if DENSE && U_BOOL
  const u32 values = __ballot_sync(ALL_LANES, present && bit_of(u_val, k));
  if (writer) ((u32*)t_val)[p >> 5] = values;
#elif DENSE
  if (present) t_val[p] = u_val[k];
#endif
}

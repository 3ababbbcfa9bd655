// Gather: t(k) = u(where[k]), extraction by index. FULL: u has an entry everywhere.
// DENSE 0: u is iso, only bits are read.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
gather(i64 n, i64 size, const i64* where, const u64* u_bits, const STORED(U_T)* u_val, u64* t_bits,
       STORED(U_T)* t_val) {
  const i64 k = thread_number();
  const i64 i = k < size ? where[k] : 0;
  const bool present = k < size && (FULL || bit_of(u_bits, i));
  const u32 half = __ballot_sync(ALL_LANES, present);
  const bool writer = (k & 31) == 0 && k < n * 64;
  if (writer) ((u32*)t_bits)[k >> 5] = half;
#if DENSE && U_BOOL
  const u32 values = __ballot_sync(ALL_LANES, present && bit_of(u_val, i));
  if (writer) ((u32*)t_val)[k >> 5] = values;
#elif DENSE
  if (present) t_val[k] = u_val[i];
#endif
}

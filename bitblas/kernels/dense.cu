// Expand a vector to a plain dense array, with `fill` where there is no entry. BOOL values become one byte each.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
dense(i64 n, const u64* u_bits, const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, ARGUMENT(U_T) fill, U_T* out) {
  const i64 p = thread_number();
  if (p < n) out[p] = bit_of(u_bits, p) ? load<U_T>(u_val, u_iso, u_stride, p) : fill;
}

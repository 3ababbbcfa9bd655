// Compare two vectors of one type: set differ[0] = 1 if their entries or values differ, otherwise leave it unchanged.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
equal(i64 n, i64 size, const u64* u_bits, const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, const u64* v_bits,
      const STORED(U_T)* v_val, ARGUMENT(U_T) v_iso, i64 v_stride, u32* differ) {
  const i64 p = thread_number();
  bool other = false;
  if (p < size) {
    const bool has = bit_of(u_bits, p);
    other = has != bit_of(v_bits, p) ||
            (has && !(load<U_T>(u_val, u_iso, u_stride, p) == load<U_T>(v_val, v_iso, v_stride, p)));
  }
  if (__syncthreads_or(other) && threadIdx.x == 0) *differ = 1u;
}

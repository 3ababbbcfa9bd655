// Clear a vector before a push: no bit is set, and every cell holds the initial value of a sum.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4) blank(i64 n, i64 size, u64* bits, C_T* cells) {
  const i64 p = thread_number();
  if (p < size) cells[p] = C_T(BEGIN);
  if ((p & 63) == 0 && p < n * 64) bits[p >> 6] = 0;
}

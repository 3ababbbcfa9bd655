// Packed numbers (packed.cuh) as an array of integers.
#include "kernels/packed.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
widen(i64 n, i64 width, const u32* string, NUMBER_T* numbers) {
  const i64 k = thread_number();
  if (k < n) numbers[k] = (NUMBER_T)packed_at(string, k, (u32)width);
}

// Packed numbers (packed.cuh) as an array of integers; PLACES: those at `places`, not all of them.
#include "kernels/packed.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
widen(i64 n, i64 width, const u32* string, const i64* places, NUMBER_T* numbers) {
  const i64 k = thread_number();
  if (k < n) numbers[k] = (NUMBER_T)packed_at(string, PLACES ? places[k] : k, (u32)width);
}

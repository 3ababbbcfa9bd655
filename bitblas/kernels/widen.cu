// Unpack packed integers (packed.cuh), or values stored as offsets from a base, into an array.
// PLACES: only those at `places`.
// base is added to each number; numbers: output.
#include "kernels/packed.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
widen(i64 n, i64 width, const u32* string, const i64* places, ARGUMENT(NUMBER_T) base, NUMBER_T* numbers) {
  const i64 k = thread_number();
  if (k < n) numbers[k] = based(base, packed_at(string, PLACES ? places[k] : k, (u32)width));
}

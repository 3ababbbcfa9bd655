// Set the bits at a list of distinct positions.
#include "kernels/base.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
mark(i64 n, const i64* places, u64* bits) {
  const i64 e = thread_number();
  if (e < n) atomicOr((u32*)bits + (places[e] >> 5), 1u << (places[e] & 31));
}

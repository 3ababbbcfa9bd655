// Kernels on lists of indices and keys: range check, batched binary search, segmented reduction.

#ifdef KERNEL_range
// Range check of indices: flags[0] is set if one is negative, flags[1] if one is outside of -dim .. dim - 1.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) range(i64 n, i64 dim, const i64* indices, u32* flags) {
  const i64 k = thread_number();
  const i64 i = k < n ? indices[k] : 0;
  if (__syncthreads_or(i < 0) && threadIdx.x == 0) flags[0] = 1;
  if (__syncthreads_or(k < n && (i < -dim || i >= dim)) && threadIdx.x == 0) flags[1] = 1;
}
#endif  // KERNEL_range

#ifdef KERNEL_find
// Batched binary search: for each of `targets` its lower bound in the sorted `keys`, and whether it is present.
// places, hit: output per targets key.
#include "formats/csr/search.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
find(i64 n, const COL_T* keys, i64 count, const COL_T* targets, i64* places, u8* hit) {
  const i64 i = thread_number();
  if (i >= n) return;
  const i64 place = lower_bound(keys, 0, count, targets[i]);
  places[i] = place;
  hit[i] = place < count && keys[place] == targets[i];
}
#endif  // KERNEL_find

#ifdef KERNEL_fold
// Segmented reduction: sums[s] = the values of segment s combined from left to right.
// Used for duplicate input entries and groups of equal keys. ptr: segment boundaries.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) fold(i64 n, const i64* ptr, const A_T* values, Z_T* sums) {
  const i64 s = thread_number();
  if (s >= n) return;
  Z_T sum = cast<Z_T>(values[ptr[s]]);
  for (i64 p = ptr[s] + 1; p < ptr[s + 1]; ++p) sum = add(sum, cast<Z_T>(values[p]));
  sums[s] = sum;
}
#endif  // KERNEL_fold

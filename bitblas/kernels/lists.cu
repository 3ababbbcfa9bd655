// Kernels on lists of indices and keys: range check, batched binary search, segmented reduction, bit packing.
#include "kernels/views.cuh"

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

#ifdef KERNEL_narrow
// Bit packing: store numbers in `width` bits each. Each thread builds one 32-bit word from the numbers that overlap it.
// The packed number is `numbers[k]` - `base`. GATHER: `numbers` are positions in another packed string of the same
// width.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) narrow(i64 n, i64 size, i64 width, const NUMBER_T* numbers,
                                                              ARGUMENT(NUMBER_T) base, const u32* source, u32* string) {
  const i64 word = thread_number();
  if (word >= n) return;
  const i64 begin = word * 32, end = begin + 32;
  u32 bits = 0;
  for (i64 k = begin / width; k < size && k * width < end; ++k) {
    const u32 number = GATHER ? packed_at(source, (i64)numbers[k], (u32)width) : above(numbers[k], base);
    const i64 shift = k * width - begin;
    bits |= shift >= 0 ? number << shift : number >> -shift;
  }
  string[word] = bits;
}
#endif  // KERNEL_narrow

#ifdef KERNEL_widen
// Unpack packed integers, or values stored as offsets from a base, into an array. PLACES: only those at `places`.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    widen(i64 n, i64 width, const u32* string, const i64* places, ARGUMENT(NUMBER_T) base, NUMBER_T* numbers) {
  const i64 k = thread_number();
  if (k < n) numbers[k] = based(base, packed_at(string, PLACES ? places[k] : k, (u32)width));
}
#endif  // KERNEL_widen
